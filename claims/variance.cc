// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The variance of scores, and what dividing by sqrt(d_k) makes of it. Each score is of a query and a key of its own, so
// that all are independent.
#include <algorithm>
#include <cmath>

#include "claims/claim.h"
#include "claims/score_draws.h"

namespace foveate::claims {
namespace {

constexpr int64_t kDims[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int64_t kHeadDim = 64;

Estimate root(const Estimate& e) {
  return {std::sqrt(e.value), std::sqrt(e.low), std::sqrt(e.high), e.interval, e.samples};
}

const Text kHeadDimTitle = {"head dimension d_k (components)", "头维度 d_k（分量个数）"};

// --- Variance is d_k ---

Evidence measure_growth(const Run& run) {
  Normal normal = run.normal("variance-is-d_k");
  const int64_t draws = run.samples(200000, 8000);
  Evidence evidence;
  Series& variances = evidence.add("variance", {"variance of q·k", "q·k 的方差"}, "d_k");
  Series& deviations = evidence.add("deviation", {"standard deviation of q·k", "q·k 的标准差"}, "d_k");
  for (size_t i = 0; i < std::size(kDims); ++i) {
    const auto d_k = static_cast<double>(kDims[i]);
    const Estimate of = variance(draw_scores(run, normal, draws, kDims[i], 1, draw_independent));
    variances.points.push_back({d_k, of, d_k, {}});
    deviations.points.push_back({d_k, root(of), std::sqrt(d_k), {}});
    run.step(static_cast<int64_t>(i) + 1, std::ssize(kDims));
  }
  return evidence;
}

Judgement judge_growth(const Evidence& evidence) {
  const Series& variances = evidence.series("variance");
  const Estimate at_64 = evidence.series("deviation").at(kHeadDim);
  const Text figure = text("standard deviation {:.2f} ({:.2f}–{:.2f}) at d_k 64",
                           "d_k 64 时标准差 {:.2f}（{:.2f}–{:.2f}）", at_64.value, at_64.low, at_64.high);
  switch (fit(variances, kLow, kHigh)) {
    case Fit::within:
      return {Verdict::holds,
              figure,
              {"The variance is d_k at every d_k from 4 to 1024, within its interval.",
               "d_k 从 4 到 1024，方差处处等于 d_k，偏差在区间之内。"}};
    case Fit::undecided:
      return {Verdict::holds_in_part,
              figure,
              {"Some intervals reach further than 15 % from d_k.", "有的区间伸到了离 d_k 15 % 以外。"}};
    case Fit::outside:
      break;
  }
  return {Verdict::does_not_hold,
          figure,
          {"At some d_k the variance is off by more than 15 %.", "有的 d_k 处方差偏离超过 15 %。"}};
}

Plot plot_growth(const Evidence& evidence) {
  const Series& variances = evidence.series("variance");
  return {.title = {"Unscaled scores: variance grows as d_k", "不缩放时，分数的方差随 d_k 增长"},
          .x = {.title = kHeadDimTitle, .logarithmic = true, .ticks = ticks_of(variances)},
          .y = {.title = {"variance of q·k (score²)", "q·k 的方差（分数²）"}, .logarithmic = true},
          .curves = {measured(variances, {"measured", "实测"}, Mark::points), expected(variances, {"d_k", "d_k"})},
          .note = samples_note(variances)};
}

// --- Dividing by a divides it by a^2 ---

Evidence measure_division(const Run& run) {
  Normal normal = run.normal("square-root-restores-1");
  const int64_t draws = run.samples(200000, 8000);
  Evidence evidence;
  Series& scaled = evidence.add("scaled_variance", {"variance of q·k / √d_k", "q·k / √d_k 的方差"}, "d_k");
  for (size_t i = 0; i < std::size(kDims); ++i) {
    const auto d_k = static_cast<double>(kDims[i]);
    scaled.points.push_back(
        {d_k, variance(draw_scores(run, normal, draws, kDims[i], 1 / std::sqrt(d_k), draw_independent)), 1, {}});
    run.step(static_cast<int64_t>(i) + 1, std::ssize(kDims) + 1);
  }
  Series& divided = evidence.add("divided_variance",
                                 {"variance of q·k / a over that of q·k, the same draws, d_k = 64",
                                  "同一批抽样中 q·k / a 的方差与 q·k 的方差之比，d_k = 64"},
                                 "a");
  std::vector<double> q, k;
  draw_independent(normal, 2000, kHeadDim, &q, &k);
  const double undivided = variance(pair_scores(run, q, k, kHeadDim, 1)).value;
  for (const double a : {2.0, 3.0, 8.0, 64.0}) {
    divided.points.push_back(
        {a, plain(variance(pair_scores(run, q, k, kHeadDim, 1 / a)).value / undivided, 2000), 1 / (a * a), {}});
  }
  run.step(1, 1);
  return evidence;
}

Judgement judge_division(const Evidence& evidence) {
  const Series& scaled = evidence.series("scaled_variance");
  const bool by_square = fit(evidence.series("divided_variance"), 1 - 1e-9, 1 + 1e-9) == Fit::within;
  const Fit to_one = fit(scaled, kLow, kHigh);
  const Text figure = text("variance {:.2f} to {:.2f} for d_k 4 to 1024", "d_k 4 至 1024，方差 {:.2f} 至 {:.2f}",
                           scaled.least(), scaled.greatest());
  if (by_square && to_one == Fit::within) {
    return {Verdict::holds,
            figure,
            {"A divisor a divides the variance by a², to rounding, so √d_k leaves 1, given independent components.",
             "除以 a，方差恰好缩到 1/a²；分量独立时，√d_k 便使它回到 1。"}};
  }
  return {by_square || to_one == Fit::within ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"The variance does not follow the square of the divisor, or is not brought to 1.",
           "方差不随除数的平方变化，或没有回到 1。"}};
}

Plot plot_division(const Evidence& evidence) {
  const Series& scaled = evidence.series("scaled_variance");
  return {.title = {"Scores divided by √d_k: variance 1", "除以 √d_k 之后，方差为 1"},
          .x = {.title = kHeadDimTitle, .logarithmic = true, .ticks = ticks_of(scaled)},
          .y = {.title = {"variance of q·k / √d_k (score²)", "q·k / √d_k 的方差（分数²）"}, .low = 0.8, .high = 1.2},
          .curves = {measured(scaled, {"measured", "实测"}, Mark::points), expected(scaled, {"1", "1"})},
          .note = samples_note(scaled)};
}

}  // namespace

std::vector<Claim> variance_claims() {
  return {
      {.name = "variance-is-d_k",
       .family = "variance",
       .says = {"Scores of independent components with mean 0 and variance 1 have variance d_k: at d_k 64, their "
                "standard deviation is 8.",
                "分量互相独立、均值 0、方差 1 时，分数的方差就是 d_k；d_k = 64 时，分数的标准差为 8。"},
       .expectation = {"Variance d_k at each d_k from 4 to 1024, standard deviation 8 at 64. It holds if every "
                       "interval lies within 15 % of d_k, does not if one lies entirely outside; otherwise in part.",
                       "d_k 从 4 到 1024，方差处处为 d_k，64 处标准差为 8。所有区间都在 d_k 的 ±15 % "
                       "之内则成立，有一个完全在外则不成立，其余为部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 4,
       .measure = measure_growth,
       .judge = judge_growth,
       .plot = plot_growth},
      {.name = "square-root-restores-1",
       .family = "variance",
       .says = {"Dividing scores by a divides their variance by a², so dividing by √d_k brings it back to 1.",
                "分数除以 a，方差就除以 a²；所以除以 √d_k，方差便回到 1。"},
       .expectation = {"On the same draws the variance falls by a² to rounding; after √d_k every interval lies within "
                       "15 % of 1. Both: it holds; one: in part.",
                       "同一批抽样中方差恰按 a² 缩小（只差舍入）；除以 √d_k 后所有区间都在 1 ± 15 % "
                       "之内。两条都满足则成立，只满足一条则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 4,
       .measure = measure_division,
       .judge = judge_division,
       .plot = plot_division},
  };
}

}  // namespace foveate::claims
