// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a dot product scores by: q . k = |q| |k| cos(angle).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "claims/claim.h"

namespace foveate::claims {
namespace {

constexpr int64_t kHeadDim = 64;
constexpr double kRounding = 1e-12;  // float64: d_k roundings of 1e-16 each, and room

double length(const double* x, int64_t d) {
  double squares = 0;
  for (int64_t i = 0; i < d; ++i) squares += x[i] * x[i];
  return std::sqrt(squares);
}

std::vector<double> lengths(const std::vector<double>& rows, int64_t d) {
  std::vector<double> all;
  for (int64_t at = 0; at < std::ssize(rows); at += d) all.push_back(length(&rows[static_cast<size_t>(at)], d));
  return all;
}

/// Rows of the same directions, each `to` long.
std::vector<double> of_length(std::vector<double> rows, int64_t d, double to) {
  for (int64_t at = 0; at < std::ssize(rows); at += d) {
    double* const row = &rows[static_cast<size_t>(at)];
    const double factor = to / length(row, d);
    for (int64_t i = 0; i < d; ++i) row[i] *= factor;
  }
  return rows;
}

// --- The formula ---

Evidence measure_geometry(const Run& run) {
  Normal normal = run.normal("dot-product-geometry");
  const int64_t draws = run.samples(20000, 4000);
  const std::vector<double> q = draw(normal, draws, kHeadDim), k = draw(normal, draws, kHeadDim);
  const std::vector<double> scores = pair_scores(run, q, k, kHeadDim, 1);
  const std::vector<double> cosines =
      pair_scores(run, of_length(q, kHeadDim, 1), of_length(k, kHeadDim, 1), kHeadDim, 1);
  const std::vector<double> q_lengths = lengths(q, kHeadDim), k_lengths = lengths(k, kHeadDim);
  double error = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double size = q_lengths[i] * k_lengths[i];
    error = std::max(error, std::abs(scores[i] - size * cosines[i]) / size);
  }

  // One query, and keys at every 15 degrees from it in a plane, of three lengths.
  const std::vector<double> across = draw(normal, 1, kHeadDim);
  const std::vector<double> ahead = of_length({q.begin(), q.begin() + kHeadDim}, kHeadDim, 1);
  std::vector<double> aside = across;
  const double along = pair_scores(run, ahead, across, kHeadDim, 1).front();
  for (size_t i = 0; i < aside.size(); ++i) aside[i] -= along * ahead[i];
  aside = of_length(aside, kHeadDim, 1);

  Evidence evidence;
  evidence.add_bounded("formula_error",
                       {"largest |q·k − |q||k|cos θ| / |q||k|", "|q·k − |q||k|cos θ| / |q||k| 的最大值"},
                       plain(error, draws), kRounding);
  for (const auto& [name, key_length] : {std::pair("half", 0.5), std::pair("one", 1.0), std::pair("two", 2.0)}) {
    Series& series = evidence.add(
        fmt::format("score_length_{}", name),
        text("score of a key of length {:g}, query of length 1", "长度为 {:g} 的键与长度为 1 的查询的分数", key_length),
        "angle");
    for (int angle = 0; angle <= 180; angle += 15) {
      const double radians = angle * std::numbers::pi / 180;
      const double cosine = angle == 90 ? 0 : std::cos(radians);  // pi is rounded, and a right angle's cosine is not
      std::vector<double> key(ahead.size());
      for (size_t i = 0; i < key.size(); ++i) {
        key[i] = key_length * (cosine * ahead[i] + std::sin(radians) * aside[i]);
      }
      series.points.push_back({static_cast<double>(angle),
                               plain(pair_scores(run, ahead, key, kHeadDim, 1).front()),
                               key_length * cosine,
                               {}});
    }
  }
  run.step(1, 1);
  return evidence;
}

Judgement judge_geometry(const Evidence& evidence) {
  const double error = evidence.value("formula_error");
  const double lengths_count =
      evidence.series("score_length_two").at(0).value / evidence.series("score_length_one").at(0).value;
  const double directions_count =
      evidence.series("score_length_one").at(60).value / evidence.series("score_length_one").at(0).value;
  const bool length_counts = std::abs(lengths_count - 2) < kRounding;
  const bool direction_counts = std::abs(directions_count - 0.5) < kRounding;
  const Text figure = text("error at most {:.1e} of |q||k|", "误差不超过 |q||k| 的 {:.1e}", error);
  if (within_bounds(evidence.series("formula_error")) && length_counts && direction_counts) {
    return {Verdict::holds,
            figure,
            {"Formula and engine agree to rounding; a key twice as long scores twice as much, one at 60° half as much.",
             "公式与引擎的结果只差舍入误差；键的长度加倍，分数就加倍；转开 60°，分数减半。"}};
  }
  return {length_counts || direction_counts ? Verdict::holds_in_part : Verdict::does_not_hold, figure,
          text("Twice the length scores {:.3g} times as much, 60° off {:.3g} times.",
               "长度加倍，分数变为 {:.3g} 倍；转开 60°，变为 {:.3g} 倍。", lengths_count, directions_count)};
}

Plot plot_geometry(const Evidence& evidence) {
  const Series& one = evidence.series("score_length_one");
  return {.title = {"A score by angle and by length of the key", "分数随夹角与键的长度变化"},
          .x = {.title = {"angle between query and key (degrees)", "查询与键的夹角（度）"},
                .ticks = {0, 30, 60, 90, 120, 150, 180}},
          .y = {.title = {"score q·k (query of length 1)", "分数 q·k（查询长度为 1）"}},
          .curves = {measured(evidence.series("score_length_two"), {"key of length 2", "键长 2"}),
                     measured(one, {"length 1", "键长 1"}),
                     measured(evidence.series("score_length_half"), {"length 0.5", "键长 0.5"}),
                     expected(one, {"|q||k|cos θ, length 1", "|q||k|cos θ，键长 1"})},
          .note = {"d_k = 64. No intervals: nothing is random but the plane.",
                   "d_k = 64。除所在平面外没有随机量，故无区间。"}};
}

// --- The order of keys ---

/// How many of the draws put two keys in one order by score and in another by cosine.
Estimate disorder(const Run& run, Normal& normal, int64_t draws, int64_t d_k, bool one_length) {
  constexpr int64_t kChunk = 1000;
  int64_t other = 0;
  for (int64_t done = 0; done < draws; done += kChunk) {
    const std::vector<double> q = draw(normal, kChunk, d_k);
    double scores[2][kChunk], cosines[2][kChunk];
    for (const int key : {0, 1}) {
      std::vector<double> k = draw(normal, kChunk, d_k);
      if (one_length) k = of_length(k, d_k, std::sqrt(static_cast<double>(d_k)));
      std::ranges::copy(pair_scores(run, q, k, d_k, 1), scores[key]);
      std::ranges::copy(pair_scores(run, q, of_length(k, d_k, 1), d_k, 1), cosines[key]);
    }
    for (int64_t i = 0; i < kChunk; ++i) {
      other += (scores[0][i] < scores[1][i]) != (cosines[0][i] < cosines[1][i]);
    }
  }
  return share(other, draws);
}

/// For large d_k: the cosines differ by N(0, 2 / d_k), and lengths, N(1, 1 / (2 d_k)) beside their mean, turn those
/// around that differ by less than the lengths do: density of the difference at 0, times the means of |cosine| and of
/// |difference of lengths|.
double expected_disorder(int64_t d_k) {
  return 1 / (std::numbers::pi * std::sqrt(2 * std::numbers::pi * static_cast<double>(d_k)));
}

Evidence measure_order(const Run& run) {
  Normal normal = run.normal("smaller-angle-higher-score");
  const int64_t draws = run.samples(200000, 10000);
  Evidence evidence;
  Series& shares = evidence.add("disorder",
                                {"share of pairs of N(0, 1) keys that score and cosine put in another order",
                                 "成对的 N(0, 1) 键中，分数与余弦排序相反的比例"},
                                "d_k");
  constexpr int64_t kDims[] = {4, 16, 64, 256, 1024};
  for (size_t i = 0; i < std::size(kDims); ++i) {
    shares.points.push_back({static_cast<double>(kDims[i]),
                             disorder(run, normal, draws, kDims[i], false),
                             expected_disorder(kDims[i]),
                             {}});
    run.step(static_cast<int64_t>(i) + 1, std::ssize(kDims) + 1);
  }
  evidence.add_single("disorder_one_length",
                      {"the same of keys of one length, d_k = 64", "同上，但键的长度都相等，d_k = 64"},
                      disorder(run, normal, draws, kHeadDim, true), 0);
  run.step(1, 1);
  return evidence;
}

Judgement judge_order(const Evidence& evidence) {
  const Estimate of_64 = evidence.series("disorder").at(kHeadDim);
  const Estimate one_length = evidence.of("disorder_one_length");
  const Text figure = text("score and angle differ over {:.1f} % of key pairs",
                           "{:.1f} % 的键对，按分数与按夹角选出的不同", 100 * of_64.value);
  if (of_64.high < 0.01 && one_length.high < 0.01) {
    return {Verdict::holds,
            figure,
            {"Keys come in the order of their angles, to within 1 % of pairs.", "键按夹角排序，例外不到 1 %。"}};
  }
  if (of_64.high < 0.25 && one_length.high < 0.01) {
    return {Verdict::holds_in_part,
            figure,
            {"True among keys of one length; of others a longer key at a wider angle may win, and more often the "
             "smaller d_k.",
             "键的长度相等时成立；长度不等时，夹角更大但更长的键可能胜出，d_k 越小越常见。"}};
  }
  return {Verdict::does_not_hold,
          figure,
          {"Score and cosine often disagree about which key comes first.", "哪个键在前，分数与余弦常常意见不一。"}};
}

Plot plot_order(const Evidence& evidence) {
  const Series& shares = evidence.series("disorder");
  return {
      .title = {"How often the longer key beats the closer one", "更长的键胜过更同向的键，有多常见"},
      .x = {.title = {"head dimension d_k (components)", "头维度 d_k（分量个数）"},
            .logarithmic = true,
            .ticks = ticks_of(shares)},
      .y = {.title = {"pairs in another order (share)", "次序相反的键对（比例）"}, .logarithmic = true},
      .curves = {measured(shares, {"measured", "实测"}), expected(shares, {"1 / (π √(2π d_k))", "1 / (π √(2π d_k))"})},
      .note = text("Wilson intervals of 95 %; {} pairs a point.", "Wilson 95 % 区间；每点 {} 对。",
                   shares.points.front().estimate.samples)};
}

}  // namespace

std::vector<Claim> dot_product_claims() {
  return {
      {.name = "dot-product-geometry",
       .family = "dot-product",
       .says =
           {"A score is the lengths of query and key times the cosine between them: direction and length both count.",
            "分数等于查询与键的长度乘以夹角余弦：方向和长度都算数。"},
       .expectation =
           {"q·k differs from |q||k|cos θ by less than 1e-12 |q||k| (float64), a key twice as long scores twice as "
            "much, and one at 60° half as much as one at 0°: then it holds; in part if only length or only direction "
            "counts.",
            "float64 下 q·k 与 |q||k|cos θ 之差小于 1e-12 |q||k|，键长加倍则分数加倍，60° 处的分数是 0° "
            "处的一半：三者都满足即成立；只有长度或只有方向起作用则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 0.2,
       .measure = measure_geometry,
       .judge = judge_geometry,
       .plot = plot_geometry},
      {.name = "smaller-angle-higher-score",
       .family = "dot-product",
       .says = {"The smaller the angle between query and key, the higher the score.",
                "键与查询的方向越接近，分数就越高。"},
       .expectation =
           {"Of two keys N(0, 1) at d_k 64, score and cosine choose another one in 1.6 % of draws, 1 / (π √(2π d_k)), "
            "since lengths differ; never where lengths are equal. It holds below 1 %, in part below 25 % and if keys "
            "of one length obey.",
            "d_k = 64 时任取两个 N(0, 1) 的键，长度不等，于是 1.6 %，即 1 / (π √(2π d_k)) "
            "的情形下分数与余弦选出不同的键；长度相等则绝不会。低于 1 % 为成立；低于 25 % "
            "且等长的键都服从，为部分成立。"},
       .recorded = Verdict::holds_in_part,
       .seconds = 4,
       .measure = measure_order,
       .judge = judge_order,
       .plot = plot_order},
  };
}

}  // namespace foveate::claims
