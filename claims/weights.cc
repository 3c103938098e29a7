// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How softmax shares out: whether each key gets something, and whether one gets nearly all.
#include <cmath>

#include "claims/claim.h"

namespace foveate::claims {
namespace {

constexpr int64_t kKeys = 64;
constexpr int64_t kDims[] = {16, 64, 256, 1024};

// --- Each key has some weight ---

/// How far below the other's score a key's has to lie for its weight to be 0: by bisection.
template <class T>
double vanishing_gap(const Run& run) {
  double positive = 0, zero = 4096;
  while (zero - positive > 1e-4) {
    const double middle = (positive + zero) / 2;
    const std::vector<T> weights = row_weights<T>(run, {T{1}}, {T{0}, static_cast<T>(-middle)}, 2, 1, 1);
    (weights[1] > 0 ? positive : zero) = middle;
  }
  return zero;
}

/// Of the weights of random rows, how many are 0 in float32.
Estimate zeros(const Run& run, Normal& normal, int64_t rows, int64_t d_k, double scale) {
  constexpr int64_t kChunk = 50;
  int64_t zero = 0;
  for (int64_t done = 0; done < rows; done += kChunk) {
    const std::vector<float> q = draw<float>(normal, kChunk, d_k), k = draw<float>(normal, kChunk * kKeys, d_k);
    for (const float weight : row_weights(run, q, k, kKeys, d_k, scale)) zero += weight == 0;
  }
  return share(zero, rows * kKeys);
}

Evidence measure_positive(const Run& run) {
  Normal normal = run.normal("every-key-has-weight");
  const int64_t rows = run.samples(10000, 400);
  Evidence evidence;
  evidence.add_single(
      "vanishing_gap_f32",
      {"gap of scores from which the lower key's weight is 0, float32", "较低的键权重变为 0 所需的分数差，float32"},
      plain(vanishing_gap<float>(run)), 87.34);
  evidence.add_single("vanishing_gap_f64", {"the same, float64", "同上，float64"}, plain(vanishing_gap<double>(run)),
                      708.74);
  Series& unscaled =
      evidence.add("zeros_unscaled", {"share of weights that are 0, unscaled", "为 0 的权重的比例，不缩放"}, "d_k");
  Series& scaled =
      evidence.add("zeros_scaled", {"share of weights that are 0, scaled", "为 0 的权重的比例，已缩放"}, "d_k");
  for (size_t i = 0; i < std::size(kDims); ++i) {
    const auto d_k = static_cast<double>(kDims[i]);
    unscaled.points.push_back({d_k, zeros(run, normal, rows, kDims[i], 1), {}, {}});
    scaled.points.push_back({d_k, zeros(run, normal, rows, kDims[i], 1 / std::sqrt(d_k)), 0, {}});
    run.step(static_cast<int64_t>(i) + 1, std::ssize(kDims));
  }
  return evidence;
}

Judgement judge_positive(const Evidence& evidence) {
  const double gap = evidence.value("vanishing_gap_f32");
  const Series& unscaled = evidence.series("zeros_unscaled");
  const Text figure = text("weight 0 from {:.2f} below the maximum (f32)", "低于最大值 {:.2f} 起权重为 0（f32）", gap);
  if (gap >= 4000 && unscaled.greatest() == 0) {
    return {Verdict::holds, figure, {"No weight was 0, however low the score.", "分数再低，也没有权重为 0。"}};
  }
  if (gap > 80 && evidence.series("zeros_scaled").greatest_high() < 1e-3) {
    return {
        Verdict::holds_in_part, figure,
        text("True in exact arithmetic; in float32 a weight is 0 from a gap of {:.1f} on: none was with scaling, "
             "{:.2g} % at d_k 1024 without.",
             "对实数成立；float32 中分数差到 {:.1f} 权重便是 0：缩放后从未遇到，不缩放且 d_k 为 1024 时占 {:.2g} %。",
             gap, 100 * unscaled.at(1024).value)};
  }
  return {
      Verdict::does_not_hold, figure, {"Weights of 0 are met at ordinary scores.", "普通的分数也会得到为 0 的权重。"}};
}

Plot plot_positive(const Evidence& evidence) {
  const Series& unscaled = evidence.series("zeros_unscaled");
  Series scaled = evidence.series("zeros_scaled");
  for (Point& point : scaled.points) point.x *= 1.08;  // beside the others, not over them
  return {.title = {"Weights that float32 rounds to nothing", "被 float32 舍入为零的权重"},
          .x = {.title = {"head dimension d_k (components)", "头维度 d_k（分量个数）"},
                .logarithmic = true,
                .ticks = ticks_of(unscaled)},
          .y = {.title = {"weights that are 0 (share)", "为 0 的权重（比例）"},
                .logarithmic = true,
                .low = 1e-6,
                .high = 1},
          .curves = {measured(unscaled, {"unscaled", "不缩放"}, Mark::points),
                     measured(scaled, {"divided by √d_k", "除以 √d_k"}, Mark::points)},
          .note = text("Wilson intervals of 95 %; {} weights a point, 64 keys a row; triangles: none was 0.",
                       "Wilson 95 % 区间；每点 {} 个权重，每行 64 个键；三角表示没有一个为 0。",
                       unscaled.points.front().estimate.samples)};
}

// --- One-hot ---

Evidence measure_one_hot(const Run& run) {
  Normal normal = run.normal("one-hot-without-scaling");
  const int64_t rows = run.samples(10000, 400);
  // Measured beforehand by another program, 400 rows.
  constexpr double kUnscaled[] = {0.53, 0.87, 0.992, 1.0}, kScaled[] = {0.09, 0.10, 0.10, 0.09};
  Evidence evidence;
  Series& unscaled = evidence.add(
      "largest_unscaled", {"median largest weight of 64 keys, unscaled", "64 个键中最大权重的中位数，不缩放"}, "d_k");
  Series& scaled = evidence.add(
      "largest_scaled", {"median largest weight of 64 keys, scaled", "64 个键中最大权重的中位数，已缩放"}, "d_k");
  for (size_t i = 0; i < std::size(kDims); ++i) {
    const auto d_k = static_cast<double>(kDims[i]);
    unscaled.points.push_back(
        {d_k, median(largest_weights(run, normal, rows, kKeys, kDims[i], 1), normal.random()), kUnscaled[i], {}});
    scaled.points.push_back(
        {d_k,
         median(largest_weights(run, normal, rows, kKeys, kDims[i], 1 / std::sqrt(d_k)), normal.random()),
         kScaled[i],
         {}});
    run.step(static_cast<int64_t>(i) + 1, std::ssize(kDims));
  }
  return evidence;
}

Judgement judge_one_hot(const Evidence& evidence) {
  const Series& unscaled = evidence.series("largest_unscaled");
  const Series& scaled = evidence.series("largest_scaled");
  const bool one_hot = unscaled.at(1024).low > 0.99 && unscaled.at(256).low > 0.9;
  const bool cured = scaled.least_low() > 0.06 && scaled.greatest_high() < 0.15;
  const Text figure = text("largest weight {:.2f} to {:.3f}; scaled {:.2f}", "最大权重 {:.2f} 至 {:.3f}；缩放后 {:.2f}",
                           unscaled.at(16).value, unscaled.at(1024).value, scaled.at(1024).value);
  if (one_hot && cured) {
    return {Verdict::holds,
            figure,
            {"Unscaled, one key of 64 takes nearly all from d_k 256 on; divided by √d_k it takes a tenth at any d_k.",
             "不缩放，d_k 从 256 起 64 个键中的一个几乎独得全部；除以 √d_k，任何 d_k 都只得一成。"}};
  }
  return {one_hot || cured ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"Unscaled weights are not one-hot at d_k 1024, or scaled ones depend on d_k.",
           "d_k 1024 时不缩放的权重并不独热，或缩放后的权重仍随 d_k 变化。"}};
}

Plot plot_one_hot(const Evidence& evidence) {
  const Series& unscaled = evidence.series("largest_unscaled");
  return {
      .title = {"The largest of 64 weights", "64 个权重中最大的一个"},
      .x = {.title = {"head dimension d_k (components)", "头维度 d_k（分量个数）"},
            .logarithmic = true,
            .ticks = ticks_of(unscaled)},
      .y = {.title = {"median largest weight (share of 1)", "最大权重的中位数（占 1 的比例）"}, .low = 0, .high = 1},
      .curves = {measured(unscaled, {"unscaled", "不缩放"}),
                 measured(evidence.series("largest_scaled"), {"divided by √d_k", "除以 √d_k"})},
      .note = text("Bootstrap intervals of 95 %; {} rows a point, queries and keys N(0, 1).",
                   "自助法 95 % 区间；每点 {} 行，查询与键取 N(0, 1)。", unscaled.points.front().estimate.samples)};
}

}  // namespace

std::vector<Claim> weight_claims() {
  return {
      {.name = "every-key-has-weight",
       .family = "softmax",
       .says = {"Softmax is soft: each key that takes part gets some positive weight.",
                "softmax 是“软”的：凡参与的键都分得到一点正的权重。"},
       .expectation =
           {"float32 reaches e^-87 as a normal number and e^-104 at all, so a weight is 0 from a gap between these "
            "on. It holds if none is 0 up to a gap of 4000; in part if the gap is above 80 and scaled rows have less "
            "than 0.1 % zeros.",
            "float32 的规格化数小到 e^-87，再小到 e^-104 为止，因此分数差到了两者之间权重便是 0。分数差 4000 "
            "以内无一为 "
            "0 则成立；分数差要大于 80 才出现，且缩放后的行中零不到 0.1 "
            "%，则部分成立。"},
       .recorded = Verdict::holds_in_part,
       .seconds = 8,
       .measure = measure_positive,
       .judge = judge_positive,
       .plot = plot_positive},
      {.name = "one-hot-without-scaling",
       .family = "softmax",
       .says = {"Without scaling, softmax becomes one-hot as d_k grows; with it, it stays soft.",
                "不缩放，d_k 一大 softmax 就近乎独热；缩放之后则始终柔和。"},
       .expectation =
           {"Median largest of 64 weights at d_k 16, 64, 256, 1024: 0.53, 0.87, 0.992, 1.000 unscaled, 0.09 to 0.10 "
            "scaled. One-hot: above 0.9 at 256 and 0.99 at 1024. Soft: within 0.06 to 0.15 throughout. Both: it "
            "holds; one: in part.",
            "d_k 为 16、64、256、1024 时，64 个权重中最大者的中位数：不缩放 0.53、0.87、0.992、1.000，缩放后 0.09 至 "
            "0.10。独热指 256 处高于 0.9、1024 "
            "处高于 0.99；柔和指始终在 0.06 至 0.15。两条都满足则成立，只满足一条则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 8,
       .measure = measure_one_hot,
       .judge = judge_one_hot,
       .plot = plot_one_hot},
  };
}

}  // namespace foveate::claims
