// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Adding one number to all scores of a row: softmax does not change, and exp needs it.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "claims/claim.h"

namespace foveate::claims {
namespace {

constexpr int64_t kKeys = 64;
constexpr double kLargestScore = 4;  // of the 64 keys drawn, in size

/// What two roundings of s + c, one in each row, and of its neighbours can do to a weight, relatively:
/// docs/numerics.md.
double allowed_change(double shift) { return 2 * FLT_EPSILON * (shift + kLargestScore) + 64 * FLT_EPSILON; }

Evidence measure_shift(const Run& run) {
  Normal normal = run.normal("shift-changes-nothing");
  const int64_t rows = run.samples(1000, 200);
  const std::vector<float> q(static_cast<size_t>(rows), 1.0F);
  std::vector<float> k = draw<float>(normal, rows, kKeys);  // scores outright: the query is 1
  for (float& score : k)
    score = std::clamp(score, -static_cast<float>(kLargestScore), static_cast<float>(kLargestScore));
  const std::vector<float> unshifted = row_weights(run, q, k, kKeys, 1, 1);

  Evidence evidence;
  Series& changes =
      evidence.add("change", {"largest relative change of a weight, float32", "权重的最大相对变化，float32"}, "shift");
  for (const float shift : {1.0F, 10.0F, 100.0F, 1e3F, 1e4F}) {
    const ConstTensor bias{&shift, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}};
    std::vector<float> weights(unshifted.size());
    const ConstTensor keys = view(std::as_const(k).data(), rows, 1, kKeys, 1);
    require_ok(attention(view(q.data(), rows, 1, 1, 1), keys, keys,
                         {.weights = view(weights.data(), rows, 1, 1, kKeys)}, {.scale = 1, .bias = bias},
                         run.execution()));
    double change = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      change = std::max(change, std::abs(static_cast<double>(weights[i]) / unshifted[i] - 1));
    }
    changes.points.push_back({shift, plain(change, std::ssize(weights)), allowed_change(shift), {}});
  }
  changes.bounded = true;
  double finite = 0, too_large = 1e3;  // exp of these, in float32
  while (too_large - finite > 1e-6) {
    const double middle = (finite + too_large) / 2;
    (std::isfinite(std::exp(static_cast<float>(middle))) ? finite : too_large) = middle;
  }
  evidence.add_single(
      "naive_overflow",
      {"score from which exp without a shift is infinite, float32", "不减最大值时 exp 变为无穷的分数，float32"},
      plain(finite), std::log(static_cast<double>(FLT_MAX)));
  bool right = true;
  for (const float score : {100.0F, 1e10F, 1e30F}) {
    const std::vector<float> weights = row_weights<float>(run, {1.0F}, {score, score, 0.0F}, 3, 1, 1);
    right = right && weights[0] == 0.5F && weights[1] == 0.5F && weights[2] == 0;
  }
  evidence.add_single(
      "engine_survives",
      {"1 if scores of 100, 1e10 and 1e30 give the right weights", "分数为 100、1e10、1e30 时权重仍正确则为 1"},
      plain(right ? 1 : 0, 3), 1);
  run.step(1, 1);
  return evidence;
}

Judgement judge_shift(const Evidence& evidence) {
  const double overflow = evidence.value("naive_overflow");
  const bool unchanged = within_bounds(evidence.series("change"));
  const bool needed = overflow > 88 && overflow < 89.5, saved = evidence.value("engine_survives") == 1;
  const Text figure = text("naive exp overflows at {:.2f}; engine not at 1e30",
                           "直接取 exp 在 {:.2f} 溢出，引擎到 1e30 也不会", overflow);
  if (unchanged && needed && saved) {
    return {Verdict::holds,
            figure,
            {"Adding one number to all scores moves no weight by more than rounding the sums does, and the maximum "
             "taken off keeps exp finite.",
             "所有分数同加一个数，权重的变化不超过加法的舍入；先减去最大值，exp 便不会溢出。"}};
  }
  return {unchanged || saved ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"A shift changed weights by more than rounding, or did not decide whether exp overflows.",
           "平移使权重的变化超出舍入，或者与是否溢出无关。"}};
}

Plot plot_shift(const Evidence& evidence) {
  const Series& changes = evidence.series("change");
  return {.title = {"A shift of all scores changes weights by rounding alone", "分数整体平移，权重只差舍入误差"},
          .x = {.title = {"number added to all scores", "加到所有分数上的数"}, .logarithmic = true},
          .y = {.title = {"largest relative change of a weight", "权重的最大相对变化"}, .logarithmic = true},
          .curves = {measured(changes, {"measured, float32", "实测，float32"}),
                     expected(changes, {"allowed: 2 eps (shift + 4) + 64 eps", "允许：2 eps（平移 + 4）+ 64 eps"})},
          .note = text("The largest of {} weights a point, so there is no interval.",
                       "每点取 {} 个权重中的最大值，故无区间。", changes.points.front().estimate.samples)};
}

}  // namespace

std::vector<Claim> shift_claims() {
  return {{.name = "shift-changes-nothing",
           .family = "softmax",
           .says = {"Taking the maximum off a row's scores changes no weight and keeps exp from overflowing.",
                    "先减去一行分数的最大值，权重不变，exp 也不会溢出。"},
           .expectation = {"Weights change by less than the rounding of the shifted scores allows; float32 exp alone "
                           "overflows at ln FLT_MAX = 88.72, the engine at no finite score. All: it holds; the first "
                           "or the last: in part.",
                           "权重的变化小于平移后舍入所允许的；float32 的 exp 在 ln FLT_MAX = 88.72 "
                           "处溢出，引擎对任何有限的分数都不溢出。全部满足则成立，"
                           "只满足首条或末条则部分成立。"},
           .recorded = Verdict::holds,
           .seconds = 0.2,
           .measure = measure_shift,
           .judge = judge_shift,
           .plot = plot_shift}};
}

}  // namespace foveate::claims
