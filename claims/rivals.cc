// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The rivals in the same engine: what additive attention costs, how sparse and linear attention grow, and what becomes of
// softmax in them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "claims/claim.h"
#include "claims/timing.h"
#include "foveate/additive.h"
#include "foveate/linear.h"
#include "foveate/patterns.h"

namespace foveate::claims {
namespace {

constexpr int64_t kHeadDim = TimedHead::kDim;

// --- Additive attention ---

Evidence measure_additive(const Run& run) {
  Normal normal = run.normal("product-beats-additive");
  const int64_t longest = run.samples(2048, 512), times = run.samples(7, 3);
  const std::vector<float> w_q = draw<float>(normal, kHeadDim, kHeadDim), w_k = draw<float>(normal, kHeadDim, kHeadDim);
  const std::vector<float> w = draw<float>(normal, kHeadDim, 1);
  const AdditiveParameters parameters{.w_q = view(w_q.data(), kHeadDim, kHeadDim),
                                      .w_k = view(w_k.data(), kHeadDim, kHeadDim),
                                      .w = view(w.data(), kHeadDim)};
  Evidence evidence;
  Series& product = evidence.add(
      "seconds_product",
      {"seconds of one thread, dot product, d_k = d_v = 64, float32", "单线程秒数，点积，d_k = d_v = 64，float32"},
      "n");
  Series& additive = evidence.add("seconds_additive", {"the same, additive, d_a = 64", "同上，加性，d_a = 64"}, "n");
  Series& product_bytes = evidence.add("bytes_product", {"bytes of its workspace", "它的工作区字节数"}, "n");
  Series& additive_bytes = evidence.add("bytes_additive", {"the same, additive", "同上，加性"}, "n");
  for (int64_t n = 256; n <= longest; n *= 2) {
    TimedHead head(normal, n);
    const auto x = static_cast<double>(n);
    product.points.push_back({x,
                              seconds_of(times,
                                         [&] {
                                           require_ok(attention(head.in(head.q), head.in(head.k), head.in(head.v),
                                                                {.o = head.out()}, {}, {.stop = run.stop}));
                                         }),
                              {},
                              {}});
    additive.points.push_back({x,
                               seconds_of(times,
                                          [&] {
                                            require_ok(additive_attention(head.in(head.q), head.in(head.k),
                                                                          head.in(head.v), parameters,
                                                                          {.o = head.out()}, {}, {.stop = run.stop}));
                                          }),
                               {},
                               {}});
    const AttentionShape shape{.n_q = n, .n_kv = n, .d_k = kHeadDim, .d_v = kHeadDim};
    AttentionPlan of_product, of_additive;
    require_ok(attention_plan(shape, 1, &of_product));
    require_ok(additive_attention_plan(shape, kHeadDim, 1, &of_additive));
    product_bytes.points.push_back({x, plain(static_cast<double>(of_product.workspace_bytes)), {}, {}});
    additive_bytes.points.push_back({x, plain(static_cast<double>(of_additive.workspace_bytes)), {}, {}});
    run.step(n, longest);
  }
  const auto x = static_cast<double>(longest);
  evidence.add_single("slowdown",
                      {"time of additive over that of dot product, largest n", "最大的 n 处，加性与点积的时间之比"},
                      plain(additive.at(x).value / product.at(x).value, times));
  evidence.add_single("features_per_second",
                      {"tanh computed a second, in billions, largest n", "最大的 n 处每秒算的 tanh 个数，单位十亿"},
                      plain(x * x * kHeadDim / additive.at(x).value * 1e-9, times));
  return evidence;
}

Judgement judge_additive(const Evidence& evidence) {
  const double slowdown = evidence.value("slowdown");
  const Text figure = text("additive takes {:.1f} times as long", "加性用时是点积的 {:.1f} 倍", slowdown);
  if (slowdown > 1.5) {
    return {Verdict::holds, figure,
            text("Even fused, four tanh to a division, {:.0f} billion tanh a second: a pair costs d_a tanh where a "
                 "product costs "
                 "d_k multiply-adds.",
                 "即使融合计算、四个 tanh 共用一次除法，每秒也只有约 {1:.0f} 亿次 tanh：加性打分每对要 d_a 个 "
                 "tanh，点积只要 d_k "
                 "次乘加。",
                 evidence.value("features_per_second"), 10 * evidence.value("features_per_second"))};
  }
  return {slowdown > 1.1 ? Verdict::holds_in_part : Verdict::does_not_hold, figure,
          text("Additive attention takes {:.2f} times as long as the dot product.",
               "加性注意力的用时是点积的 {:.2f} 倍。", slowdown)};
}

Plot plot_additive(const Evidence& evidence) {
  const Series& product = evidence.series("seconds_product");
  return {.title = {"Additive and dot-product attention, same sizes", "同样大小的加性与点积注意力"},
          .x = {.title = kLength, .logarithmic = true, .ticks = ticks_of(product)},
          .y = {.title = kThreadTime, .logarithmic = true},
          .curves = {measured(evidence.series("seconds_additive"), {"additive, d_a = 64", "加性，d_a = 64"}),
                     measured(product, {"dot product, d_k = 64", "点积，d_k = 64"})},
          .note = kTimesNote};
}

// --- Growth ---

/// Two random blocks beside the diagonal's in each row of blocks.
struct Blocks {
  std::unique_ptr<bool[]> kept;
  AttentionOptions options;

  explicit Blocks(int64_t n) {
    const int64_t rows = n / 64;
    kept.reset(new bool[static_cast<size_t>(rows * rows)]);
    require_ok(
        make_blocks({.n_q = n, .n_kv = n, .block_size = 64, .random_blocks = 3}, view(kept.get(), 1, 1, rows, rows)));
    options.blocks = view(static_cast<const bool*>(kept.get()), 1, 1, rows, rows);
    options.block_size = 64;
  }
};

Evidence measure_growth(const Run& run) {
  Normal normal = run.normal("sparse-and-linear-grow-as-n");
  const int64_t longest = run.samples(16384, 8192), times = run.samples(7, 3);
  Evidence evidence;
  Series& dense = evidence.add("seconds_dense", {"seconds of one thread, all keys", "单线程秒数，所有键"}, "n");
  Series& blocks =
      evidence.add("seconds_blocks",
                   {"the same, 4 blocks of 64 keys to each block of queries", "同上，每块查询配 4 块各 64 个键"}, "n");
  Series& linear =
      evidence.add("seconds_linear", {"the same, linear attention (elu + 1)", "同上，线性注意力（elu + 1）"}, "n");
  for (int64_t n = 1024; n <= longest; n *= 2) {
    TimedHead head(normal, n);
    const Blocks pattern(n);
    const auto x = static_cast<double>(n);
    const auto attend = [&](const AttentionOptions& options) {
      require_ok(
          attention(head.in(head.q), head.in(head.k), head.in(head.v), {.o = head.out()}, options, {.stop = run.stop}));
    };
    if (4 * n <= longest) dense.points.push_back({x, seconds_of(times, [&] { attend({}); }), {}, {}});
    blocks.points.push_back({x, seconds_of(times, [&] { attend(pattern.options); }), {}, {}});
    linear.points.push_back({x,
                             seconds_of(times,
                                        [&] {
                                          require_ok(linear_attention(head.in(head.q), head.in(head.k), head.in(head.v),
                                                                      head.out(), {}, {.stop = run.stop}));
                                        }),
                             {},
                             {}});
    run.step(n, longest);
  }
  evidence.add_single("slope_blocks", {"slope of log seconds by log n, blocks", "log 秒数对 log n 的斜率，分块稀疏"},
                      slope_of(blocks), 1);
  evidence.add_single("slope_linear", {"the same, linear attention", "同上，线性注意力"}, slope_of(linear), 1);
  return evidence;
}

Judgement judge_growth(const Evidence& evidence) {
  const double blocks = evidence.value("slope_blocks"), linear = evidence.value("slope_linear");
  const Text figure =
      text("time ~ n^{:.2f} (blocks), n^{:.2f} (linear)", "时间 ~ n^{:.2f}（分块）、n^{:.2f}（线性）", blocks, linear);
  const auto grows_as_n = [](double slope) { return slope >= 0.75 && slope <= 1.3; };
  if (grows_as_n(blocks) && grows_as_n(linear)) {
    return {
        Verdict::holds,
        figure,
        {"Blocks that are not kept are not visited, and keys summed into one matrix are not visited again: twice the "
         "length takes about twice as long.",
         "没留下的块不访问，汇总成一个矩阵的键也不再逐个访问：长度加倍，时间大致加倍。"}};
  }
  return {grows_as_n(blocks) || grows_as_n(linear) ? Verdict::holds_in_part : Verdict::does_not_hold, figure,
          text("Slopes are {:.2f} and {:.2f}.", "斜率为 {:.2f} 和 {:.2f}。", blocks, linear)};
}

Plot plot_growth(const Evidence& evidence) {
  const Series& blocks = evidence.series("seconds_blocks");
  return {.title = {"Block-sparse and linear attention grow as n", "分块稀疏与线性注意力按 n 增长"},
          .x = {.title = kLength, .logarithmic = true, .ticks = ticks_of(blocks)},
          .y = {.title = kThreadTime, .logarithmic = true},
          .curves = {measured(evidence.series("seconds_dense"), {"all keys", "所有键"}),
                     measured(blocks, {"4 blocks of 64 keys a query", "每查询 4 块各 64 个键"}),
                     measured(evidence.series("seconds_linear"), {"linear (elu + 1)", "线性（elu + 1）"})},
          .note = kTimesNote};
}

// --- Softmax ---

constexpr int64_t kKeys = 64, kDraws = 200;

/// The largest weight of a row that looks for a planted key: 64 keys, one of them twice the query. Weights are
/// read off as outputs, the values being unit vectors.
struct Planted {
  std::vector<float> q, k, v;

  explicit Planted(Normal& normal)
      : q(draw<float>(normal, 1, kHeadDim)), k(draw<float>(normal, kKeys, kHeadDim)), v(kKeys * kKeys, 0) {
    for (int64_t i = 0; i < kHeadDim; ++i) k[static_cast<size_t>(i)] = 2 * q[static_cast<size_t>(i)];
    for (int64_t i = 0; i < kKeys; ++i) v[static_cast<size_t>(i * kKeys + i)] = 1;
  }

  ConstTensor query() const { return view(q.data(), 1, 1, 1, kHeadDim); }
  ConstTensor keys() const { return view(k.data(), 1, 1, kKeys, kHeadDim); }
  ConstTensor values() const { return view(v.data(), 1, 1, kKeys, kKeys); }
};

Evidence measure_kernel(const Run& run) {
  Normal normal = run.normal("core-never-changed");
  std::vector<double> softmax_weight, linear_weight;
  double difference = 0;
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const Planted planted(normal);
    std::vector<float> a(kKeys), b(kKeys), o(kKeys);
    const auto to = [](std::vector<float>& x) { return view(x.data(), 1, 1, 1, kKeys); };
    require_ok(attention(planted.query(), planted.keys(), planted.values(), {.o = to(a)}));
    require_ok(linear_attention(planted.query(), planted.keys(), planted.values(), to(b)));
    softmax_weight.push_back(static_cast<double>(a[0]));
    linear_weight.push_back(static_cast<double>(b[0]));

    // Blocks of which every second is kept, and the softmax of their keys alone.
    bool kept[kKeys / 8];
    for (size_t i = 0; i < kKeys / 8; ++i) kept[i] = i % 2 == 0;
    AttentionOptions blocks;
    blocks.blocks = view(static_cast<const bool*>(kept), 1, 1, 1, kKeys / 8);
    blocks.block_size = 8;
    require_ok(attention(planted.query(), planted.keys(), planted.values(), {.o = to(o)}, blocks));
    double sum = 0;
    for (int64_t j = 0; j < kKeys; ++j) sum += kept[j / 8] ? static_cast<double>(a[static_cast<size_t>(j)]) : 0;
    for (int64_t j = 0; j < kKeys; ++j) {
      const double want = kept[j / 8] ? static_cast<double>(a[static_cast<size_t>(j)]) / sum : 0;
      difference = std::max(difference, std::abs(static_cast<double>(o[static_cast<size_t>(j)]) - want));
    }
    run.step(draw + 1, kDraws);
  }
  Evidence evidence;
  evidence.add_bounded("blocks_difference",
                       {"largest difference of block-sparse weights from a softmax over the kept keys",
                        "分块稀疏的权重与只对留下的键做 softmax 的最大差异"},
                       plain(difference, kDraws), 1e-5);
  evidence.add_single(
      "softmax_weight",
      {"weight of a key twice the query among 64, softmax, mean", "64 个键中等于查询两倍的那个键的权重，softmax，均值"},
      mean(softmax_weight));
  evidence.add_single("linear_weight", {"the same, linear attention", "同上，线性注意力"}, mean(linear_weight));
  return evidence;
}

Judgement judge_kernel(const Evidence& evidence) {
  const double softmax = evidence.value("softmax_weight"), linear = evidence.value("linear_weight");
  const bool same_blocks = within_bounds(evidence.series("blocks_difference"));
  const Text figure =
      text("matching key: softmax {:.2f}, linear {:.3f}", "匹配的键：softmax {:.2f}，线性 {:.3f}", softmax, linear);
  const bool same_linear = std::abs(softmax - linear) < 0.1;
  if (same_blocks && same_linear) {
    return {Verdict::holds, figure, {"Both variants weigh keys as softmax does.", "两种变体的权重都与 softmax 一致。"}};
  }
  if (!same_blocks && !same_linear) {
    return {Verdict::does_not_hold,
            figure,
            {"Neither variant weighs keys as softmax does.", "两种变体的权重都与 softmax 不同。"}};
  }
  return {Verdict::holds_in_part,
          figure,
          {"Sparse attention is the same softmax over fewer keys; linear attention has none, and with random keys its "
           "weights stay nearly even, at 1/64 = 0.016.",
           "稀疏注意力仍是同一个 softmax，只是键少了；线性注意力没有 softmax，键随机时权重几乎均分（1/64 = 0.016）。"}};
}

Plot plot_kernel(const Evidence& evidence) {
  const std::vector<Text> names = {{"softmax", "softmax"}, {"linear (elu + 1)", "线性（elu + 1）"}};
  return {
      .title = {"Weight of the one key that matches, of 64", "64 个键中唯一匹配者的权重"},
      .x = {.title = {"kind of attention", "注意力的种类"}, .categories = names},
      .y = {.title = {"weight, mean of 200 draws", "权重，200 次抽样的均值"}, .low = 0, .high = 1},
      .curves = {{{"measured", "实测"},
                  Mark::bars,
                  {{0, evidence.of("softmax_weight"), {}, names[0]}, {1, evidence.of("linear_weight"), {}, names[1]}}}},
      .note = {"The key is twice the query; d_k 64. Intervals of 95 % (Student's t).",
               "该键等于查询的两倍，d_k 为 64。95 % 置信区间（t 分布）。"}};
}

}  // namespace

std::vector<Claim> rival_claims() {
  return {
      {.name = "product-beats-additive",
       .family = "rivals",
       .says = {"Dot-product attention is much faster than additive attention.", "点积注意力比加性注意力快得多。"},
       .expectation =
           {"At d_k = d_a = 64 and the largest n, additive takes more than 1.5 times as long: it holds; above "
            "1.1 times: in part. Both keep memory linear, so speed alone decides.",
            "d_k = d_a = 64、n 取最大时，加性用时超过点积的 1.5 倍则成立，超过 1.1 倍则部分成立。两者内存都与 n "
            "成正比，所以只比速度。"},
       .recorded = Verdict::holds,
       .timed = true,
       .seconds = 6,
       .measure = measure_additive,
       .judge = judge_additive,
       .plot = plot_additive},
      {.name = "sparse-and-linear-grow-as-n",
       .family = "rivals",
       .says = {"Sparse and linear attention take time that grows with the length, not with its square.",
                "稀疏与线性注意力的用时与长度成正比，而不是与其平方。"},
       .expectation = {"Slopes of time by n in logarithms from 0.75 to 1.3, with 4 blocks of 64 keys a query and with "
                       "elu + 1 features: both, it holds; one, in part.",
                       "每个查询 4 块各 64 个键，以及 elu + 1 特征，时间对 n 的双对数斜率都在 0.75 至 1.3 "
                       "之间则成立，只有一个则部分成立。"},
       .recorded = Verdict::holds,
       .timed = true,
       .seconds = 6,
       .measure = measure_growth,
       .judge = judge_growth,
       .plot = plot_growth},
      {.name = "core-never-changed",
       .family = "rivals",
       .says = {"Whatever the variant, sparse or linear, the core of attention has stayed the same.",
                "无论稀疏还是线性，注意力的核心始终没变。"},
       .expectation =
           {"Block-sparse weights are a softmax over the kept keys, to 1e-5; linear attention gives a key that "
            "matches the query a weight within 0.1 of softmax's. Both: it holds; one: in part.",
            "分块稀疏的权重就是只对留下的键做 softmax，误差不超过 1e-5；线性注意力给匹配查询的键的权重与 softmax "
            "相差不到 "
            "0.1。两条都满足则成立，只满足一条则部分成立。"},
       .recorded = Verdict::holds_in_part,
       .seconds = 0.1,
       .measure = measure_kernel,
       .judge = judge_kernel,
       .plot = plot_kernel},
  };
}

}  // namespace foveate::claims
