// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// All pairs in one matrix product, against a loop over pairs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "claims/claim.h"
#include "claims/pairwise.h"
#include "claims/timing.h"

namespace foveate::claims {
namespace {

constexpr int64_t kHeadDim = TimedHead::kDim;

/// A number that counts multiplications, additions and divisions; exp counts as none, for it is the same in all ways.
struct Counted {
  float value = 0;
  Counted(float from = 0) : value(from) {}  // NOLINT(google-explicit-constructor): stands for a float
  static inline thread_local int64_t operations = 0;

  friend Counted operator*(Counted a, Counted b) { return ++operations, Counted(a.value * b.value); }
  friend Counted operator-(Counted a, Counted b) { return ++operations, Counted(a.value - b.value); }
  friend Counted exp(Counted a) { return {std::exp(a.value)}; }
  friend bool operator<(Counted a, Counted b) { return a.value < b.value; }
  Counted& operator+=(Counted other) { return ++operations, value += other.value, *this; }
  Counted& operator/=(Counted other) { return ++operations, value /= other.value, *this; }
};

double products(int64_t n) { return 4.0 * static_cast<double>(n * n * kHeadDim); }

/// The loop's operations over those of the two products, 2 n^2 (d_k + d_v).
double counted_share(int64_t n) {
  const std::vector<Counted> x(static_cast<size_t>(n * kHeadDim), Counted(0.25F));
  std::vector<Counted> scores(static_cast<size_t>(n)), o(x.size());
  Counted::operations = 0;
  attend_by_pairs<Counted>(x.data(), x.data(), x.data(), n, kHeadDim, Counted(0.125F), scores.data(), o.data());
  return static_cast<double>(Counted::operations) / products(n);
}

/// Three ways to compute one head.
struct Ways : TimedHead {
  using TimedHead::TimedHead;

  void by_pairs() {
    std::vector<float> scores(static_cast<size_t>(n));
    attend_by_pairs_of_float(q.data(), k.data(), v.data(), n, kHeadDim, 1 / std::sqrt(static_cast<float>(kHeadDim)),
                             scores.data(), o.data());
  }
  void by_rows() {
    for (int64_t i = 0; i < n; ++i) attend(i, 1);
  }
  void at_once() { attend(0, n); }

 private:
  void attend(int64_t first, int64_t count) {
    const auto at = static_cast<size_t>(first * kHeadDim);
    require_ok(attention(
        view(std::as_const(q).data() + at, 1, 1, count, kHeadDim), view(std::as_const(k).data(), 1, 1, n, kHeadDim),
        view(std::as_const(v).data(), 1, 1, n, kHeadDim), {.o = view(o.data() + at, 1, 1, count, kHeadDim)}));
  }
};

Evidence measure_ways(const Run& run) {
  Normal normal = run.normal("one-product-beats-pairs");
  const int64_t longest = run.samples(2048, 1024), times = run.samples(5, 3);
  const struct {
    const char* name;
    Text what;
    void (Ways::*compute)();
  } ways[] = {
      {"pairs", {"GFLOP/s of a loop over pairs", "逐对循环的 GFLOP/s"}, &Ways::by_pairs},
      {"rows", {"GFLOP/s of the engine, a query at a time", "引擎逐个查询计算的 GFLOP/s"}, &Ways::by_rows},
      {"at_once", {"GFLOP/s of the engine, all queries at once", "引擎一次算完所有查询的 GFLOP/s"}, &Ways::at_once}};
  Evidence evidence;
  for (const auto& way : ways) evidence.add(way.name, way.what, "n");
  Series& pairs_bytes = evidence.add(
      "pairs_bytes", {"bytes beside q, k, v and o: a loop's row of scores", "q、k、v、o 以外的字节数：循环的一行分数"},
      "n");
  Series& engine_bytes =
      evidence.add("engine_bytes", {"the same of the engine: its workspace", "同上，引擎的工作区"}, "n");
  Series& matrix_bytes =
      evidence.add("matrix_bytes", {"the same of the whole matrix of scores", "同上，整个分数矩阵"}, "n");
  double difference = 0;
  for (int64_t n = 128; n <= longest; n *= 2) {
    Ways head(normal, n);
    const auto x = static_cast<double>(n);
    std::vector<float> first;
    for (const auto& way : ways) {
      const std::vector<double> seconds = thread_seconds(times, [&] { (head.*way.compute)(); });
      const double work = products(n) * 1e-9;
      evidence.series(way.name).points.push_back(
          {x,
           {work / seconds.front(), work / seconds.back(), work / seconds.front(), IntervalKind::range, times},
           {},
           {}});
      if (first.empty()) first = head.o;
      for (size_t i = 0; i < first.size(); ++i)
        difference = std::max(difference, std::abs(static_cast<double>(first[i]) - head.o[i]));
      run.step(n, longest);
    }
    AttentionPlan plan;
    require_ok(attention_plan({.n_q = n, .n_kv = n, .d_k = kHeadDim, .d_v = kHeadDim}, 1, &plan));
    pairs_bytes.points.push_back({x, plain(x * sizeof(float)), {}, {}});
    engine_bytes.points.push_back({x, plain(static_cast<double>(plan.workspace_bytes)), {}, {}});
    matrix_bytes.points.push_back({x, plain(x * x * sizeof(float)), {}, {}});
  }
  const auto x = static_cast<double>(longest);
  evidence.add_single("speedup",
                      {"time of the loop over that of the engine at once, at the largest n",
                       "最大的 n 处，循环的时间与引擎一次算完的时间之比"},
                      plain(evidence.series("at_once").at(x).value / evidence.series("pairs").at(x).value, times));
  evidence.add_single("counted_operations",
                      {"operations of the loop, counted, over 4 n² d of the two products",
                       "循环的运算次数（逐次数出来的）与两个乘积的 4 n² d 之比"},
                      plain(counted_share(256)), 1);
  evidence.add_bounded(
      "difference",
      {"largest difference of the ways' outputs (values N(0, 1))", "各种算法输出的最大差异（值取 N(0, 1)）"},
      plain(difference), 1e-4);
  return evidence;
}

Judgement judge_ways(const Evidence& evidence) {
  const double speedup = evidence.value("speedup"), counted = evidence.value("counted_operations");
  const bool same_work = counted > 0.95 && counted < 1.1 && within_bounds(evidence.series("difference"));
  const Text figure = text("{:.0f} times as fast at the same FLOPs", "FLOPs 相同，快 {:.0f} 倍", speedup);
  if (speedup > 2 && same_work) {
    return {Verdict::holds, figure,
            text("Both take 4 n² d operations and give the same output; the product does {:.0f} GFLOP/s where the "
                 "loop does {:.1f}: the gain is throughput, not less work.",
                 "两者都要 4 n² d 次运算，结果相同；矩阵乘法每秒 {:.0f} GFLOP，循环 {:.1f}：省的不是运算，快在吞吐。",
                 evidence.series("at_once").points.back().estimate.value,
                 evidence.series("pairs").points.back().estimate.value)};
  }
  return {speedup > 1.2 ? Verdict::holds_in_part : Verdict::does_not_hold, figure,
          text("The product is {:.2g} times as fast, and the loop's operations are {:.3g} of 4 n² d.",
               "矩阵乘法快 {:.2g} 倍，循环的运算次数是 4 n² d 的 {:.3g} 倍。", speedup, counted)};
}

Plot plot_ways(const Evidence& evidence) {
  const Series& at_once = evidence.series("at_once");
  return {.title = {"The same 4 n² d operations at three rates", "同样的 4 n² d 次运算，三种速率"},
          .x = {.title = kLength, .logarithmic = true, .ticks = ticks_of(at_once)},
          .y = {.title = {"throughput of one thread (GFLOP/s)", "单线程吞吐（GFLOP/s）"}, .logarithmic = true},
          .curves = {measured(at_once, {"engine, all queries at once", "引擎，一次算完"}),
                     measured(evidence.series("rows"), {"engine, one query at a time", "引擎，逐个查询"}),
                     measured(evidence.series("pairs"), {"loop over pairs", "逐对循环"})},
          .note = kTimesNote};
}

}  // namespace

std::vector<Claim> matrix_product_claims() {
  return {
      {.name = "one-product-beats-pairs",
       .family = "matmul",
       .says = {"Scoring all pairs by one matrix product is much faster than one after the other.",
                "用一次矩阵乘法给所有配对打分，远快于逐对计算。"},
       .expectation =
           {"Both do 4 n² d operations, half to score and half to mix (the loop's are counted), and agree to 1e-4; the "
            "product is more than twice as fast at the largest n. Then it holds; in part above 1.2 times.",
            "两者都做 4 n² d 次运算，打分与加权求和各占一半（循环的次数是逐次数出来的），结果之差小于 1e-4；在最大的 n "
            "处矩阵乘法快两倍以上，则成立；1.2 倍以上则部分成立。"},
       .recorded = Verdict::holds,
       .timed = true,
       .seconds = 8,
       .measure = measure_ways,
       .judge = judge_ways,
       .plot = plot_ways}};
}

}  // namespace foveate::claims
