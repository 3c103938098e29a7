// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Other divisors than sqrt(d_k), as they are met in the wild: the root forgotten, or d_model's taken.
#include <cmath>

#include "claims/claim.h"
#include "claims/score_draws.h"

namespace foveate::claims {
namespace {

constexpr int64_t kHeadDim = 64, kModel = 512, kKeys = 64;

Evidence measure_divisors(const Run& run) {
  Normal normal = run.normal("other-divisors-serve");
  const int64_t draws = run.samples(10000, 400), pairs = run.samples(200000, 8000);
  const struct {
    Text label;
    double divisor;
  } divisors[] = {{{"√d_k = 8", "√d_k = 8"}, std::sqrt(kHeadDim)},
                  {{"√d_model = 22.6", "√d_model = 22.6"}, std::sqrt(kModel)},
                  {{"d_k = 64", "d_k = 64"}, kHeadDim},
                  {{"d_model = 512", "d_model = 512"}, kModel}};
  Evidence evidence;
  Series& variances = evidence.add("variance", {"variance of q·k / divisor", "q·k / 除数 的方差"});
  Series& largest = evidence.add("largest_weight", {"median largest weight of 64 keys", "64 个键中最大权重的中位数"});
  const std::vector<double> q = draw(normal, pairs, kHeadDim), k = draw(normal, pairs, kHeadDim);
  for (const auto& [label, divisor] : divisors) {
    const auto at = static_cast<double>(variances.points.size());
    variances.points.push_back(
        {at, variance(pair_scores(run, q, k, kHeadDim, 1 / divisor)), kHeadDim / (divisor * divisor), label});
    largest.points.push_back(
        {at, median(largest_weights(run, normal, draws, kKeys, kHeadDim, 1 / divisor), normal.random()), {}, label});
    run.step(std::ssize(variances.points), std::ssize(divisors));
  }
  return evidence;
}

Judgement judge_divisors(const Evidence& evidence) {
  const Series& largest = evidence.series("largest_weight");
  int serve = 0;
  const std::deque<Point> all(evidence.series("variance").points.begin(), evidence.series("variance").points.end());
  for (size_t i = 1; i < all.size(); ++i) {
    Series one{"", {}, "", {all[i]}};
    one.points.front().expected = 1;
    serve += fit(one, kLow, kHigh) == Fit::within;
  }
  const Text figure = text("variance {:.3g} by d_k, {:.2g} by d_model", "除以 d_k 方差 {:.3g}，除以 d_model {:.2g}",
                           all[2].estimate.value, all[3].estimate.value);
  const int others = static_cast<int>(all.size()) - 1;
  if (serve == others) return {Verdict::holds, figure, {"All divisors give variance 1.", "各种除数都使方差为 1。"}};
  if (serve > 0)
    return {Verdict::holds_in_part, figure, {"Some other divisor gives variance 1.", "有别的除数也使方差为 1。"}};
  return {Verdict::does_not_hold, figure,
          text("They leave scores too alike to tell keys apart: the largest of 64 weights is {:.3f} by d_k and {:.3f} "
               "by d_model, where 1/64 = 0.016 is an even share, and {:.3f} by √d_k.",
               "分数被压得彼此难分：64 个权重中最大的，除以 d_k 只有 {:.3f}，除以 d_model 只有 "
               "{:.3f}，而毫无侧重的平均是 1/64 = 0.016；除以 √d_k 则为 {:.3f}。",
               largest.at(2).value, largest.at(3).value, largest.at(0).value)};
}

Plot plot_divisors(const Evidence& evidence) {
  const Series& largest = evidence.series("largest_weight");
  Series uniform = largest;
  for (Point& point : uniform.points) point.expected = 1.0 / kKeys;
  return {.title = {"Other divisors flatten the weights", "别的除数把权重压平"},
          .x = {.title = {"divisor of the scores (d_k = 64, d_model = 512)", "分数的除数（d_k = 64，d_model = 512）"},
                .categories = labels_of(largest)},
          .y = {.title = {"median largest of 64 weights (share)", "64 个权重中最大者的中位数（比例）"}},
          .curves = {measured(largest, {"measured", "实测"}, Mark::bars),
                     expected(uniform, {"uniform: 1/64", "均匀分配：1/64"})},
          .note = text("Bootstrap intervals of 95 %; {} rows a bar.", "自助法 95 % 区间；每柱 {} 行。",
                       largest.points.front().estimate.samples)};
}

}  // namespace

std::vector<Claim> divisor_claims() {
  return {
      {.name = "other-divisors-serve",
       .family = "variance",
       .says = {"Dividing by d_k without the root, or by d_model or its root, serves as well.",
                "不开根号、直接除以 d_k，或者除以 d_model 或它的平方根，效果也一样。"},
       .expectation =
           {"Variance d_k / divisor²: 1 by √d_k, 1/8 by √512, 1/64 by 64, 1/4096 by 512. It holds if each other "
            "divisor's interval lies within 15 % of 1, in part if one does.",
            "方差应为 d_k / 除数²：除以 √d_k 为 1，√512 为 1/8，64 为 1/64，512 为 1/4096。其他除数的区间都在 1 ± 15 % "
            "之内则成立，只有一个在内则部分成立。"},
       .recorded = Verdict::does_not_hold,
       .seconds = 5,
       .measure = measure_divisors,
       .judge = judge_divisors,
       .plot = plot_divisors}};
}

}  // namespace foveate::claims
