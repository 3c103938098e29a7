// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Softmax as an exchange of scores for weights: sums and ratios.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numbers>
#include <utility>

#include "claims/claim.h"

namespace foveate::claims {
namespace {

// --- Rows sum to 1 ---

constexpr int64_t kRows = 64, kHeadDim = 64;

// eps. Each weight of 64 is right to some c eps, c about 60 (docs/numerics.md); so is their sum.
constexpr double kRowError = 64;

template <class T>
struct Sums {
  double row_error = 0;  ///< of all rows that see a key
  double blind = 0;      ///< the largest sum of a row that sees none
  std::vector<double> columns;
};

/// Square heads of random rows; plain, causal, in a window, and causal with the first 8 keys masked, so that rows 0 to
/// 7 see none.
template <class T>
Sums<T> sums_of_weights(const Run& run, Normal& normal, int64_t heads) {
  const std::vector<T> q = draw<T>(normal, heads * kRows, kHeadDim), k = draw<T>(normal, heads * kRows, kHeadDim);
  std::vector<T> weights(static_cast<size_t>(heads * kRows * kRows));
  bool allowed[kRows] = {};
  std::fill(allowed + 8, allowed + kRows, true);
  const ConstTensor mask{allowed, DType::boolean, {1, 1, 1, kRows}, {0, 0, 0, 1}};
  Sums<T> sums;
  for (const AttentionOptions& options :
       {AttentionOptions{}, AttentionOptions{.causal = true}, AttentionOptions{.window_left = 5, .window_right = 3},
        AttentionOptions{.causal = true, .mask = mask}}) {
    const ConstTensor keys = view(k.data(), 1, heads, kRows, kHeadDim);
    require_ok(attention(view(q.data(), 1, heads, kRows, kHeadDim), keys, keys,
                         {.weights = view(weights.data(), 1, heads, kRows, kRows)}, options, run.execution()));
    for (int64_t row = 0; row < heads * kRows; ++row) {
      double sum = 0;
      for (int64_t j = 0; j < kRows; ++j) sum += weights[static_cast<size_t>(row * kRows + j)];
      const bool blind = options.mask.present() && row % kRows < 8;
      if (blind) {
        sums.blind = std::max(sums.blind, sum);
      } else {
        sums.row_error = std::max(sums.row_error, std::abs(sum - 1));
      }
    }
    if (options.causal || options.window_left != kUnlimited) continue;
    for (int64_t column = 0; column < heads * kRows; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < kRows; ++i) {
        sum += weights[static_cast<size_t>((column / kRows * kRows + i) * kRows + column % kRows)];
      }
      sums.columns.push_back(sum);
    }
  }
  return sums;
}

Evidence measure_sums(const Run& run) {
  Normal normal = run.normal("rows-sum-to-one");
  const int64_t heads = run.samples(200, 40);
  const Sums<float> narrow = sums_of_weights<float>(run, normal, heads);
  run.step(1, 2);
  const Sums<double> wide = sums_of_weights<double>(run, normal, heads);
  Evidence evidence;
  evidence.add_bounded("row_error_f32", {"largest |row sum − 1|, float32", "|行和 − 1| 的最大值，float32"},
                       plain(narrow.row_error, heads * kRows * 4), kRowError * FLT_EPSILON);
  evidence.add_bounded("row_error_f64", {"the same, float64", "同上，float64"},
                       plain(wide.row_error, heads * kRows * 4), kRowError * DBL_EPSILON);
  evidence.add_single("blind_row_sum", {"sum of a row that sees no key", "看不到任何键的行之和"},
                      plain(std::max(narrow.blind, wide.blind), heads * 8), 0);
  Series& columns =
      evidence.add("column_sum_percentile", {"sums of columns, by percentile", "各列之和的百分位数"}, "percentile");
  constexpr double kPercents[] = {1, 5, 25, 50, 75, 95, 99};
  const std::vector<Estimate> of_columns = percentiles(wide.columns, kPercents, normal.random(), 200);
  for (size_t i = 0; i < std::size(kPercents); ++i) columns.points.push_back({kPercents[i], of_columns[i], {}, {}});
  run.step(1, 1);
  return evidence;
}

Judgement judge_sums(const Evidence& evidence) {
  const bool rows = within_bounds(evidence.series("row_error_f32")) && within_bounds(evidence.series("row_error_f64"));
  const Series& columns = evidence.series("column_sum_percentile");
  const bool columns_differ = columns.at(5).high < 0.9 && columns.at(95).low > 1.1;
  const Text figure = text("rows 1 ± {:.0e}; columns {:.2f} to {:.2f}", "行和 1 ± {:.0e}；列和 {:.2f} 至 {:.2f}",
                           evidence.value("row_error_f32"), columns.at(5).value, columns.at(95).value);
  if (rows && columns_differ) {
    return {Verdict::holds,
            figure,
            {"Queries spend one each, to rounding, if they see any key; keys get what they get. A row that sees no key "
             "is all "
             "zeros.",
             "只要看得到键，每个查询都分出 1（只差舍入）；键得多得少各不相同；看不到任何键的行则全为零。"}};
  }
  return {
      rows ? Verdict::holds_in_part : Verdict::does_not_hold,
      figure,
      {"Some row's sum is not 1 to rounding, or columns sum to 1 as well.", "有的行和不等于 1，或者列和也都是 1。"}};
}

Plot plot_sums(const Evidence& evidence) {
  const Series& columns = evidence.series("column_sum_percentile");
  Series rows = columns;
  for (Point& point : rows.points) point.expected = 1;
  return {.title = {"Rows sum to 1, columns do not", "行和为 1，列和不是"},
          .x = {.title = {"percentile of columns (%)", "各列的百分位（%）"}, .ticks = ticks_of(columns)},
          .y = {.title = {"sum of weights (1 = one query's whole)", "权重之和（1 = 一个查询的全部）"}, .low = 0},
          .curves = {measured(columns, {"columns: what a key gets", "列：一个键得到的"}),
                     expected(rows, {"rows: what a query gives", "行：一个查询给出的"})},
          .note = text("Bootstrap intervals of 95 %; {} columns of 64 × 64 weights, scaled, d_k = 64.",
                       "自助法 95 % 区间；64 × 64 权重的 {} 列，已缩放，d_k = 64。",
                       columns.points.front().estimate.samples)};
}

// --- One more is e times as much ---

/// The weights of two keys whose scores are `score` and `score` - `gap`: the query is 1.
template <class T>
std::vector<T> two_weights(const Run& run, double score, double gap) {
  return row_weights<T>(run, {T{1}}, {static_cast<T>(score), static_cast<T>(score - gap)}, 2, 1, 1);
}

Evidence measure_ratio(const Run& run) {
  Evidence evidence;
  Series& ratios = evidence.add(
      "ratio", {"ratio of two weights by the difference of scores, float64", "分数相差 gap 时两个权重之比，float64"},
      "gap");
  for (const double gap : {0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0}) {
    const std::vector<double> weights = two_weights<double>(run, 3, gap);
    ratios.points.push_back({gap, plain(weights[0] / weights[1]), std::exp(gap), {}});
  }
  double error = 0;
  for (double score = -8; score <= 8; score += 0.25) {  // exact in float32, and so are their differences
    const std::vector<float> weights = two_weights<float>(run, score, 1);
    error = std::max(error, std::abs(static_cast<double>(weights[0]) / weights[1] / std::numbers::e - 1));
  }
  evidence.add_bounded("error_f32",
                       {"largest relative error of the ratio for a difference of 1, float32",
                        "分数相差 1 时比值的最大相对误差，float32"},
                       plain(error, 65), 16 * FLT_EPSILON);
  run.step(1, 1);
  return evidence;
}

Judgement judge_ratio(const Evidence& evidence) {
  const double ratio = evidence.series("ratio").at(1).value;
  const Text figure = text("ratio {:.9f} at a difference of 1", "相差 1 时比值 {:.9f}", ratio);
  const bool of_one = std::abs(ratio / std::numbers::e - 1) < 1e-12 && within_bounds(evidence.series("error_f32"));
  const bool of_all = fit(evidence.series("ratio"), 1 - 1e-12, 1 + 1e-12) == Fit::within;
  if (of_one && of_all) {
    return {Verdict::holds,
            figure,
            {"A ratio of weights is e to the difference of scores, wherever the scores lie.",
             "权重之比等于 e 的分数差次方，与分数本身的大小无关。"}};
  }
  return {
      of_one || of_all ? Verdict::holds_in_part : Verdict::does_not_hold,
      figure,
      {"Some difference of scores gives another ratio than its exponential.", "有的分数差给出的比值不等于它的指数。"}};
}

Plot plot_ratio(const Evidence& evidence) {
  const Series& ratios = evidence.series("ratio");
  return {.title = {"Each further point of score: e times the weight", "分数每多 1，权重变为 e 倍"},
          .x = {.title = {"difference of two scores", "两个分数之差"}},
          .y = {.title = {"ratio of their weights (times)", "权重之比（倍）"}, .logarithmic = true},
          .curves = {measured(ratios, {"measured", "实测"}, Mark::points),
                     expected(ratios, {"e^difference", "e 的分数差次方"})},
          .note = {"float64; nothing is random, so there are no intervals.", "float64；没有随机量，故无区间。"}};
}

}  // namespace

std::vector<Claim> softmax_claims() {
  return {
      {.name = "rows-sum-to-one",
       .family = "softmax",
       .says = {"A row of weights sums to 1, if it sees any key; a column need not.",
                "只要看得到键，一行权重的和就是 1；一列的和则不必。"},
       .expectation =
           {"Every row's sum within 64 eps of 1, plain, causal, in a window and masked; 5 % of columns below 0.9 and "
            "5 % above 1.1. Both: it holds; rows alone: in part.",
            "普通、因果、窗口、掩码四种情形下，每行之和与 1 相差都在 64 eps 之内；列和则有 5 % 低于 0.9、5 % 高于 1.1。"
            "两条都满足则成立，只有行满足则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 1,
       .measure = measure_sums,
       .judge = judge_sums,
       .plot = plot_sums},
      {.name = "one-more-is-e-times",
       .family = "softmax",
       .says = {"One more point of score is e times the weight.", "分数多 1，权重就是原来的 e 倍。"},
       .expectation = {"Ratio e^difference to 1e-12 in float64, and e to 16 eps in float32 at scores from -8 to 8. "
                       "Both: it holds; one: in part.",
                       "float64 下比值等于 e 的分数差次方，误差 1e-12；float32 下分数从 -8 到 8，比值等于 e，误差 16 "
                       "eps。都满足则成立，只满足一条则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 0.1,
       .measure = measure_ratio,
       .judge = judge_ratio,
       .plot = plot_ratio},
  };
}

}  // namespace foveate::claims
