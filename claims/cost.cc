// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What attention costs: processor time of one thread and memory, by length, head dimension and window. Rules for times
// are wide: other work on the machine slows some runs more than others.
#include <cmath>

#include "claims/claim.h"
#include "claims/timing.h"

namespace foveate::claims {
namespace {

constexpr int64_t kHeadDim = 64;

/// Fastest, and from it to the slowest, of some runs of a head of n queries and n keys.
Estimate attention_seconds(const Run& run, Normal& normal, int64_t n, int64_t d, const AttentionOptions& options) {
  const int64_t times = run.samples(9, 5);
  const std::vector<float> q = draw<float>(normal, n, d), k = draw<float>(normal, n, d), v = draw<float>(normal, n, d);
  std::vector<float> o(q.size());
  return seconds_of(times, [&] {
    require_ok(attention(view(q.data(), 1, 1, n, d), view(k.data(), 1, 1, n, d), view(v.data(), 1, 1, n, d),
                         {.o = view(o.data(), 1, 1, n, d)}, options, {.stop = run.stop}));
  });
}

bool between(const Estimate& slope, double low, double high) { return slope.value >= low && slope.value <= high; }

Text slope_text(const Estimate& slope) {
  return text("{:.2f} ({:.2f}–{:.2f})", "{:.2f}（{:.2f}–{:.2f}）", slope.value, slope.low, slope.high);
}

// --- Time ---

Evidence measure_time(const Run& run) {
  Normal normal = run.normal("time-is-quadratic");
  constexpr int64_t kLongest = 4096, kWidest = 1024;
  Evidence evidence;
  Series& by_length = evidence.add("seconds_by_n",
                                   {"seconds of one thread, n queries and keys, d_k = d_v = 64, float32",
                                    "单线程秒数，n 个查询与键，d_k = d_v = 64，float32"},
                                   "n");
  Series& by_width = evidence.add(
      "seconds_by_d", {"seconds of one thread, 512 queries and keys, float32", "单线程秒数，512 个查询与键，float32"},
      "d");
  for (int64_t n = 256; n <= kLongest; n *= 2) {
    by_length.points.push_back({static_cast<double>(n), attention_seconds(run, normal, n, kHeadDim, {}), {}, {}});
    run.step(n, 2 * kLongest);
  }
  for (int64_t d = 64; d <= kWidest; d *= 2) {
    by_width.points.push_back({static_cast<double>(d), attention_seconds(run, normal, 512, d, {}), {}, {}});
    run.step(kWidest + d, 2 * kWidest);
  }
  evidence.add_single("slope_n", {"slope of log seconds by log n", "log 秒数对 log n 的斜率"}, slope_of(by_length), 2);
  evidence.add_single("slope_d", {"slope of log seconds by log d", "log 秒数对 log d 的斜率"}, slope_of(by_width), 1);
  return evidence;
}

Judgement judge_time(const Evidence& evidence) {
  const Estimate n = evidence.of("slope_n"), d = evidence.of("slope_d");
  const Text figure = text("time ~ n^{:.2f}, d^{:.2f}", "时间 ~ n^{:.2f}、d^{:.2f}", n.value, d.value);
  const bool quadratic = between(n, 1.8, 2.2), linear = between(d, 0.75, 1.25);
  if (quadratic && linear) {
    return {Verdict::holds,
            figure,
            {"Twice the length takes four times as long, twice the head dimension twice, but for the share of exp.",
             "长度加倍，时间变为四倍；头维度加倍，除去 exp 的部分，时间变为两倍。"}};
  }
  const Text of_n = slope_text(n), of_d = slope_text(d);
  return {quadratic || linear ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"Slopes are " + of_n.en + " in n and " + of_d.en + " in d.",
           "对 n 的斜率为 " + of_n.zh + "，对 d 为 " + of_d.zh + "。"}};
}

/// A line of that slope through a series' last point.
Curve of_slope(const Series& series, double slope, const Text& name) {
  Curve curve{name, Mark::theory, series.points};
  const Point& last = series.points.back();
  for (Point& point : curve.points) point.estimate = plain(last.estimate.value * std::pow(point.x / last.x, slope));
  return curve;
}

Plot plot_time(const Evidence& evidence) {
  const Series& by_length = evidence.series("seconds_by_n");
  return {.title = {"Time by length: as n²", "时间随长度按 n² 增长"},
          .x = {.title = kLength, .logarithmic = true, .ticks = ticks_of(by_length)},
          .y = {.title = kThreadTime, .logarithmic = true},
          .curves = {measured(by_length, {"measured, d_k = d_v = 64, float32", "实测，d_k = d_v = 64，float32"}),
                     of_slope(by_length, 2, {"n²", "n²"})},
          .note = kTimesNote};
}

// --- Memory ---

double bytes_of_arrays(int64_t n) { return static_cast<double>(4 * n * kHeadDim) * sizeof(float); }

Evidence measure_memory(const Run& run) {
  Evidence evidence;
  Series& needed = evidence.add("bytes",
                                {"bytes of q, k, v, o and the workspace, one thread, float32, d 64",
                                 "q、k、v、o 与工作区的字节数，单线程，float32，d 为 64"},
                                "n");
  Series& matrix = evidence.add(
      "matrix_bytes", {"bytes of an n × n matrix of scores, float32", "n × n 分数矩阵的字节数，float32"}, "n");
  for (int64_t n = 1024; n <= 65536; n *= 2) {
    AttentionPlan plan;
    require_ok(attention_plan({.n_q = n, .n_kv = n, .d_k = kHeadDim, .d_v = kHeadDim}, 1, &plan));
    const auto x = static_cast<double>(n);
    needed.points.push_back({x, plain(bytes_of_arrays(n) + static_cast<double>(plan.workspace_bytes)), {}, {}});
    matrix.points.push_back({x, plain(x * x * sizeof(float)), {}, {}});
  }
  evidence.add_single("slope_n", {"slope of log bytes by log n", "log 字节数对 log n 的斜率"}, slope_of(needed), 1);

  // A call with a workspace handed in allocates nothing, so what it needs can be tried: that many bytes, and one fewer.
  constexpr int64_t kTried = 2048;
  AttentionPlan plan;
  require_ok(attention_plan({.n_q = kTried, .n_kv = kTried, .d_k = kHeadDim, .d_v = kHeadDim}, 1, &plan));
  const std::vector<float> x(static_cast<size_t>(kTried * kHeadDim), 0.5F);
  std::vector<float> o(x.size());
  std::vector<char> workspace(plan.workspace_bytes);
  const ConstTensor in = view(x.data(), 1, 1, kTried, kHeadDim);
  const auto code_with = [&](size_t bytes) {
    const Status status = attention(in, in, in, {.o = view(o.data(), 1, 1, kTried, kHeadDim)}, {},
                                    {.workspace = workspace.data(), .workspace_bytes = bytes});
    return status.code();
  };
  const bool right = code_with(workspace.size()) == StatusCode::ok &&
                     code_with(workspace.size() / 2) == StatusCode::workspace_too_small;
  evidence.add_single("workspace_suffices",
                      {"1 if a call runs in the planned workspace and is refused half of it, n = 2048",
                       "n = 2048 时，在所计划的工作区中能运行、只给一半则被拒绝，为 1"},
                      plain(right ? 1 : 0), 1);
  run.step(1, 1);
  return evidence;
}

Judgement judge_memory(const Evidence& evidence) {
  const Estimate slope = evidence.of("slope_n");
  const double share = evidence.series("bytes").at(65536).value / evidence.series("matrix_bytes").at(65536).value;
  const Text figure = text("memory ~ n^{:.2f}; at 65,536 {:.2g} % of the n x n matrix",
                           "内存 ~ n^{:.2f}；65,536 时为 n² 矩阵的 {:.2g} %", slope.value, 100 * share);
  if (slope.value > 1.8)
    return {Verdict::holds, figure, {"Memory grows with the square of the length.", "内存随长度的平方增长。"}};
  if (slope.value > 1.2 || evidence.value("workspace_suffices") != 1) {
    return {Verdict::holds_in_part,
            figure,
            {"Memory grows faster than the length, or more is used than was planned.",
             "内存增长快于长度，或者实际用得比计划的多。"}};
  }
  return {Verdict::does_not_hold,
          figure,
          {"Softmax can be carried on block by block, so the matrix of scores is never formed: memory is linear in n.",
           "softmax 可以逐块累计，分数矩阵从不整个生成：内存与 n 成正比。"}};
}

Plot plot_memory(const Evidence& evidence) {
  const Series& bytes = evidence.series("bytes");
  return {.title = {"Memory by length: as n", "内存随长度按 n 增长"},
          .x = {.title = kLength, .logarithmic = true, .ticks = ticks_of(bytes)},
          .y = {.title = {"memory (bytes)", "内存（字节）"}, .logarithmic = true},
          .curves = {measured(evidence.series("matrix_bytes"),
                              {"n × n scores, if they were formed", "假如生成 n × n 分数"}),
                     measured(bytes, {"this engine: q, k, v, o and workspace", "本引擎：q、k、v、o 与工作区"})},
          .note = {"float32, d_k = d_v = 64, one thread. Sizes are exact: no intervals.",
                   "float32，d_k = d_v = 64，单线程。大小是精确值，故无区间。"}};
}

// --- A window ---

Evidence measure_window(const Run& run) {
  Normal normal = run.normal("window-is-linear");
  const int64_t longest = run.samples(32768, 16384);
  Evidence evidence;
  Series& window = evidence.add(
      "seconds_window",
      {"seconds of one thread, each query sees the last 256 keys", "单线程秒数，每个查询看最近 256 个键"}, "n");
  Series& causal = evidence.add(
      "seconds_causal", {"the same, each query sees all keys up to itself", "同上，每个查询看到自己为止的所有键"}, "n");
  // From 2048 on: the first 256 queries see fewer keys, an eighth less work at 1024.
  for (int64_t n = 2048; n <= longest; n *= 2) {
    const auto x = static_cast<double>(n);
    window.points.push_back(
        {x, attention_seconds(run, normal, n, kHeadDim, {.window_left = 255, .window_right = 0}), {}, {}});
    if (2 * n <= longest)
      causal.points.push_back({x, attention_seconds(run, normal, n, kHeadDim, {.causal = true}), {}, {}});
    run.step(n, longest);
  }
  evidence.add_single("slope_window", {"slope of log seconds by log n, window", "log 秒数对 log n 的斜率，窗口"},
                      slope_of(window), 1);
  return evidence;
}

Judgement judge_window(const Evidence& evidence) {
  const Estimate slope = evidence.of("slope_window");
  const Text figure = text("time ~ n^{:.2f} with 256 keys a query", "每查询 256 个键，时间 ~ n^{:.2f}", slope.value);
  if (between(slope, 0.75, 1.25)) {
    return {Verdict::holds,
            figure,
            {"Keys outside the window are not visited, so twice the length takes twice as long.",
             "窗口之外的键根本不访问，长度加倍，时间也只加倍。"}};
  }
  const Text of = slope_text(slope);
  return {between(slope, 0, 1.6) ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"The slope is " + of.en + ".", "斜率为 " + of.zh + "。"}};
}

Plot plot_window(const Evidence& evidence) {
  const Series& window = evidence.series("seconds_window");
  return {.title = {"A window of 256 keys: time grows as n", "256 个键的窗口：时间按 n 增长"},
          .x = {.title = kLength, .logarithmic = true, .ticks = ticks_of(window)},
          .y = {.title = kThreadTime, .logarithmic = true},
          .curves = {measured(evidence.series("seconds_causal"), {"all keys before", "之前的所有键"}),
                     measured(window, {"the last 256 keys", "最近 256 个键"}), of_slope(window, 1, {"n", "n"})},
          .note = kTimesNote};
}

}  // namespace

std::vector<Claim> cost_claims() {
  return {
      {.name = "time-is-quadratic",
       .family = "cost",
       .says = {"Time grows as n² d: with the square of the length, linearly with the head dimension.",
                "时间按 n² d 增长：与长度的平方成正比，与头维度成正比。"},
       .expectation = {"Slopes of time in logarithms: 1.8 to 2.2 by n, 0.75 to 1.25 by d (exp costs the same for any "
                       "d). Both: it holds; one: in part.",
                       "双对数下时间的斜率：对 n 为 1.8 至 2.2，对 d 为 0.75 至 1.25（exp 的花费与 d "
                       "无关）。都满足则成立，只满足一条则部分成立。"},
       .recorded = Verdict::holds,
       .timed = true,
       .seconds = 4,
       .measure = measure_time,
       .judge = judge_time,
       .plot = plot_time},
      {.name = "memory-is-quadratic",
       .family = "cost",
       .says = {"Attention needs memory that grows as n², for the matrix of scores.",
                "注意力要存下分数矩阵，内存按 n² 增长。"},
       .expectation = {"Here it should grow as n: slope in logarithms 1. The claim holds if the slope is above 1.8, "
                       "and does not below 1.2 if a call does run in the memory planned.",
                       "这里应按 n 增长，双对数斜率为 1。斜率大于 1.8 则成立；小于 1.2 "
                       "且调用确实能在所计划的内存中运行，则不成立。"},
       .recorded = Verdict::does_not_hold,
       .seconds = 0.2,
       .measure = measure_memory,
       .judge = judge_memory,
       .plot = plot_memory},
      {.name = "window-is-linear",
       .family = "cost",
       .says = {"With a sliding window, time grows linearly with the length.", "用滑动窗口，时间与长度成正比。"},
       .expectation =
           {"Slope of time by n in logarithms, at 256 keys a query: 0.75 to 1.25. Then it holds; up to 1.6 in part.",
            "每查询 256 个键时，时间对 n 的双对数斜率为 0.75 至 1.25，则成立；不超过 1.6 则部分成立。"},
       .recorded = Verdict::holds,
       .timed = true,
       .seconds = 3,
       .measure = measure_window,
       .judge = judge_window,
       .plot = plot_window},
  };
}

}  // namespace foveate::claims
