// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How the weights p of a row answer to its query: the Frobenius norm of d p / d q [keys, d_k], by the engine's backward
// pass.
#include <algorithm>
#include <cmath>
#include <utility>

#include "claims/claim.h"
#include "foveate/attention_backward.h"

namespace foveate::claims {
namespace {

constexpr int64_t kKeys = 64;
constexpr int64_t kDims[] = {16, 64, 256, 1024};
constexpr double kPercents[] = {5, 50, 95};

// A gradient is dead where it is below a tenth of the ordinary one, the median with scaling; explodes above ten times
// that.
constexpr double kTenth = 0.1, kTenfold = 10;

/// With the identity for values o is p, and row j of the identity as d_o asks for d p_j / d q: so all kKeys rows have
/// the one query. Of the largest weight the opposite is asked, all weights but it, with a minus: weights sum to 1, so
/// it is the same derivative, and 1 - p, which rounds to nothing where p nears 1, is not formed.
class Jacobian {
 public:
  Jacobian() : identity_(static_cast<size_t>(kKeys * kKeys)) {
    for (int64_t j = 0; j < kKeys; ++j) identity_[static_cast<size_t>(j * (kKeys + 1))] = 1;
  }

  /// The norms of `count` rows over keys of their own.
  std::vector<double> norms(const Run& run, const std::vector<double>& q, const std::vector<double>& k, int64_t d_k,
                            double scale) const {
    const int64_t count = std::ssize(q) / d_k;
    const AttentionOptions options{.scale = scale};
    const ConstTensor keys = view(k.data(), count, 1, kKeys, d_k);
    const ConstTensor values{identity_.data(), DType::f64, {count, 1, kKeys, kKeys}, {0, 0, kKeys, 1}};
    std::vector<double> p(static_cast<size_t>(count * kKeys)), lse(static_cast<size_t>(count));
    require_ok(attention(view(q.data(), count, 1, 1, d_k), keys, values,
                         {.o = view(p.data(), count, 1, 1, kKeys), .lse = view(lse.data(), count, 1, 1, 1)}, options,
                         run.execution()));

    const std::vector<double> d_o = asked(p, count);
    std::vector<double> dq(static_cast<size_t>(count * kKeys * d_k));
    const auto repeated = [count](const std::vector<double>& rows, int64_t d) {  // each row kKeys times: stride 0
      return ConstTensor{rows.data(), DType::f64, {count, 1, kKeys, d}, {d, 0, 0, 1}};
    };
    require_ok(attention_backward(repeated(q, d_k), keys, values, repeated(p, kKeys), repeated(lse, 1),
                                  view(d_o.data(), count, 1, kKeys, kKeys),
                                  {.dq = view(dq.data(), count, 1, kKeys, d_k)}, options, run.execution()));
    std::vector<double> all;
    for (auto entry = dq.begin(); entry != dq.end(); entry += kKeys * d_k) {
      double squares = 0;
      std::for_each_n(entry, kKeys * d_k, [&squares](double x) { squares += x * x; });
      all.push_back(std::sqrt(squares));
    }
    return all;
  }

 private:
  std::vector<double> asked(const std::vector<double>& p, int64_t count) const {
    std::vector<double> d_o;
    for (int64_t i = 0; i < count; ++i) {
      const auto row = p.begin() + i * kKeys;
      const int64_t largest = std::max_element(row, row + kKeys) - row;
      d_o.insert(d_o.end(), identity_.begin(), identity_.end());
      const auto opposite = d_o.end() - kKeys * kKeys + largest * kKeys;
      std::fill_n(opposite, kKeys, -1.0);
      opposite[largest] = 0;
    }
    return d_o;
  }

  std::vector<double> identity_;
};

std::vector<double> draw_norms(const Run& run, Normal& normal, int64_t draws, int64_t d_k, double scale) {
  constexpr int64_t kChunk = 20;
  const Jacobian jacobian;
  std::vector<double> all;
  for (int64_t done = 0; done < draws; done += kChunk) {
    const std::vector<double> q = draw(normal, kChunk, d_k), k = draw(normal, kChunk * kKeys, d_k);
    const std::vector<double> some = jacobian.norms(run, q, k, d_k, scale);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Both claims look at the same draws.
Evidence measure_norms(const Run& run) {
  Normal normal = run.normal("gradients");
  const int64_t draws = run.samples(4000, 200);
  Evidence evidence;
  const auto percentiles_of = [&evidence](const char* name, const Text& what) {
    std::vector<Series*> all;
    for (const double percent : kPercents) {
      all.push_back(
          &evidence.add(fmt::format("{}_{:g}", name, percent), text(what.en.c_str(), what.zh.c_str(), percent), "d_k"));
    }
    return all;
  };
  const std::vector<Series*> unscaled =
      percentiles_of("unscaled", {"norm of dp/dq (p: the row's weights), percentile {}, unscaled",
                                  "dp/dq 的范数（p 为该行的权重），第 {} 百分位，不缩放"});
  const std::vector<Series*> scaled =
      percentiles_of("scaled", {"norm of dp/dq, percentile {}, scaled", "dp/dq 的范数，第 {} 百分位，已缩放"});
  Series& dead = evidence.add(
      "dead",
      {"share of unscaled rows below a tenth of the scaled median", "不缩放的行中，低于缩放后中位数十分之一的比例"},
      "d_k");
  Series& exploding = evidence.add(
      "exploding",
      {"share of unscaled rows above ten times the scaled median", "不缩放的行中，高于缩放后中位数十倍的比例"}, "d_k");
  for (size_t i = 0; i < std::size(kDims); ++i) {
    const auto d_k = static_cast<double>(kDims[i]);
    const std::vector<double> raw = draw_norms(run, normal, draws, kDims[i], 1);
    run.step(2 * static_cast<int64_t>(i) + 1, 2 * std::ssize(kDims));
    const std::vector<Estimate> of_raw = percentiles(raw, kPercents, normal.random());
    const std::vector<Estimate> of_scaled =
        percentiles(draw_norms(run, normal, draws, kDims[i], 1 / std::sqrt(d_k)), kPercents, normal.random());
    for (size_t p = 0; p < std::size(kPercents); ++p) {
      unscaled[p]->points.push_back({d_k, of_raw[p], {}, {}});
      scaled[p]->points.push_back({d_k, of_scaled[p], {}, {}});
    }
    const double ordinary = of_scaled[1].value;
    dead.points.push_back(
        {d_k, share(std::ranges::count_if(raw, [&](double x) { return x < kTenth * ordinary; }), draws), {}, {}});
    exploding.points.push_back(
        {d_k, share(std::ranges::count_if(raw, [&](double x) { return x > kTenfold * ordinary; }), draws), {}, {}});
    run.step(2 * static_cast<int64_t>(i) + 2, 2 * std::ssize(kDims));
  }
  return evidence;
}

Judgement judge_vanish(const Evidence& evidence) {
  const Estimate dead = evidence.series("dead").at(1024), exploding = evidence.series("exploding").at(1024);
  const Text figure = text("at d_k 1024 {:.0f} % below 1/10, {:.0f} % above 10 x the scaled median",
                           "d_k 1024 时 {:.0f} % 不到缩放后中位数的 1/10，{:.0f} % 超过 10 倍", 100 * dead.value,
                           100 * exploding.value);
  if (dead.low > 0.9)
    return {Verdict::holds, figure, {"Nearly all rows have no gradient left.", "几乎所有行都不剩梯度。"}};
  if (dead.low > 0.25) {
    return {
        Verdict::holds_in_part,
        figure,
        {"Many rows lose their gradient, the more the larger d_k; those that keep one have one that is far too large.",
         "许多行的梯度消失，d_k 越大越多；剩下的行，梯度反而大得过分。"}};
  }
  return {Verdict::does_not_hold, figure, {"Few rows lose their gradient.", "失去梯度的行很少。"}};
}

Judgement judge_stable(const Evidence& evidence) {
  const double low = evidence.series("scaled_5").least_low(), high = evidence.series("scaled_95").greatest_high();
  const Text figure =
      text("norm {:.2f} to {:.2f} for d_k 16 to 1024", "d_k 16 至 1024，范数 {:.2f} 至 {:.2f}", low, high);
  if (high < 3 * low) {
    return {Verdict::holds,
            figure,
            {"From the 5th to the 95th percentile and at every d_k, gradients lie within a factor of two or so.",
             "从第 5 到第 95 百分位，不论 d_k 多大，梯度的大小相差约在两倍之内。"}};
  }
  return {high < 10 * low ? Verdict::holds_in_part : Verdict::does_not_hold, figure,
          text("Scaled gradients differ by a factor of {:.2g}.", "缩放后的梯度相差 {:.2g} 倍。", high / low)};
}

Text rows_note(const Series& series, const char* more = "", const char* more_zh = "") {
  return text("Percentiles of {0} rows over 64 keys, with bootstrap intervals of 95 %{1}.",
              "{0} 行、每行 64 个键的百分位数及其自助法 95 % 区间{2}。", series.points.front().estimate.samples, more,
              more_zh);
}

const Text kHeadDimTitle = {"head dimension d_k (components)", "头维度 d_k（分量个数）"};
const Text kNormTitle = {"Frobenius norm of dp/dq (per unit of q)", "dp/dq 的 Frobenius 范数（每单位 q）"};

Plot plot_vanish(const Evidence& evidence) {
  const Series& median = evidence.series("unscaled_50");
  return {.title = {"Unscaled: gradients of the weights die or grow too large", "不缩放：权重的梯度不是消失，就是过大"},
          .x = {.title = kHeadDimTitle, .logarithmic = true, .ticks = ticks_of(median)},
          .y = {.title = kNormTitle, .logarithmic = true, .low = 1e-12},
          .curves = {measured(evidence.series("unscaled_95"), {"unscaled: percentile 95", "不缩放：第 95 百分位"}),
                     measured(median, {"unscaled: median", "不缩放：中位数"}),
                     measured(evidence.series("unscaled_5"), {"unscaled: percentile 5", "不缩放：第 5 百分位"}),
                     measured(evidence.series("scaled_50"), {"divided by √d_k: median", "除以 √d_k：中位数"})},
          .note = rows_note(median, "; triangles lie below the axis", "；三角表示低于坐标轴")};
}

Plot plot_stable(const Evidence& evidence) {
  const Series& median = evidence.series("scaled_50");
  return {.title = {"Divided by √d_k: gradients of the weights", "除以 √d_k：权重的梯度"},
          .x = {.title = kHeadDimTitle, .logarithmic = true, .ticks = ticks_of(median)},
          .y = {.title = kNormTitle, .low = 0, .high = 0.3},
          .curves = {measured(evidence.series("scaled_95"), {"percentile 95", "第 95 百分位"}),
                     measured(median, {"median", "中位数"}),
                     measured(evidence.series("scaled_5"), {"percentile 5", "第 5 百分位"})},
          .note = rows_note(median)};
}

}  // namespace

std::vector<Claim> gradient_claims() {
  return {
      {.name = "gradients-vanish-unscaled",
       .family = "gradients",
       .says = {"Without scaling, softmax saturates and gradients all but vanish.",
                "不缩放，softmax 就会饱和，梯度几乎消失。"},
       .expectation = {"At d_k 1024 about half of the rows below a tenth of the scaled median norm, but others above "
                       "ten times it. It holds if over 90 % are below, in part if over 25 %, each by the interval's "
                       "low end.",
                       "d_k 为 1024 "
                       "时，约一半的行低于缩放后范数中位数的十分之一，另有一些却高于它的十倍。以区间下端计，低于的超过 "
                       "90 % 则成立，超过 25 % 则部分成立。"},
       .recorded = Verdict::holds_in_part,
       .seconds = 30,
       .measure = measure_norms,
       .judge = judge_vanish,
       .plot = plot_vanish},
      {.name = "scaling-steadies-gradients",
       .family = "gradients",
       .says = {"Dividing by √d_k keeps gradients steady, whatever d_k is.",
                "除以 √d_k，不论 d_k 多大，梯度都保持平稳。"},
       .expectation = {"Norm of dp/dq about 0.16, 0.18, 0.24 at percentiles 5, 50, 95 for every d_k. It holds if all "
                       "intervals from the 5th to the 95th lie within a factor of 3, in part within 10.",
                       "对每个 d_k，dp/dq 的范数在第 5、50、95 百分位约为 0.16、0.18、0.24。从第 5 到第 95 "
                       "百分位的所有区间相差不到 3 倍则成立，不到 10 倍则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 30,
       .measure = measure_norms,
       .judge = judge_stable,
       .plot = plot_stable},
  };
}

}  // namespace foveate::claims
