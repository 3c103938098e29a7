// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The output as an expectation: weights are probabilities, values what is averaged.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "claims/claim.h"
#include "claims/head.h"

namespace foveate::claims {
namespace {

// --- In the hull of the values ---

Evidence measure_hull(const Run& run) {
  Normal normal = run.normal("output-is-expectation");
  constexpr int64_t kQueries = 17, kLengths[] = {1, 2, 16, 64, 256};
  const int64_t heads = run.samples(100, 5);
  Evidence evidence;
  Series& excess = evidence.add("excess",
                                {"largest way out of the values' range, in eps of the largest value, d_v 1, 3 and 64",
                                 "越出值范围的最大距离，以最大值的 eps 计，d_v 为 1、3、64"},
                                "n");
  Series& sums = evidence.add(
      "sum_error",
      {"largest |o − Σ weight·value|, in eps of the largest value", "|o − Σ 权重·值| 的最大值，以最大值的 eps 计"},
      "n");
  Series* const places[] = {&evidence.add("place_5",
                                          {"place between the least (0) and the greatest (1) value, percentile 5",
                                           "在最小值（0）与最大值（1）之间的位置，第 5 百分位"},
                                          "n"),
                            &evidence.add("place_50", {"the same, percentile 50", "同上，第 50 百分位"}, "n"),
                            &evidence.add("place_95", {"the same, percentile 95", "同上，第 95 百分位"}, "n")};
  for (const int64_t n : kLengths) {
    double out = 0, off = 0;
    int64_t components = 0;
    std::vector<double> where;
    for (int64_t h = 0; h < heads; ++h) {
      for (const int64_t d_v : {1, 3, 64}) {
        const Head head(normal, kQueries, n, d_v);
        const Head::Result result = head.attend(run);
        const double unit = FLT_EPSILON * head.largest_value();
        for (int64_t at = 0; at < kQueries * d_v; ++at, ++components) {
          double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
          for (int64_t j = 0; j < n; ++j) {
            const double value = head.v[static_cast<size_t>(j * d_v + at % d_v)];
            low = std::min(low, value);
            high = std::max(high, value);
            sum += value * result.weights[static_cast<size_t>(at / d_v * n + j)];
          }
          const double o = result.o[static_cast<size_t>(at)];
          out = std::max({out, (o - high) / unit, (low - o) / unit});
          off = std::max(off, std::abs(o - sum) / unit);
          if (high > low) where.push_back((o - low) / (high - low));
        }
      }
    }
    const auto x = static_cast<double>(n);
    // The weights put out are rounded as o is: twice the sums' error lies between them.
    excess.points.push_back({x, plain(out, components), 2 * sum_error(n), {}});
    sums.points.push_back({x, plain(off, components), 2 * sum_error(n), {}});
    constexpr double kPercents[] = {5, 50, 95};
    if (n > 1) {
      const std::vector<Estimate> of = percentiles(where, kPercents, normal.random(), 200);
      for (size_t p = 0; p < std::size(of); ++p) places[p]->points.push_back({x, of[p], {}, {}});
    }
    run.step(std::ssize(excess.points), std::ssize(kLengths));
  }
  excess.bounded = sums.bounded = true;
  const Head head(normal, kQueries, 5, 3);
  std::vector<float> more(static_cast<size_t>((kQueries + 1) * 3));
  const Status status =
      attention(view(head.q.data(), 1, 1, kQueries, Head::kDim), view(head.k.data(), 1, 1, 5, Head::kDim),
                view(head.v.data(), 1, 1, 5, 3), {.o = view(more.data(), 1, 1, kQueries + 1, 3)});
  evidence.add_single("other_rows_refused",
                      {"1 if an output with one row more than queries is refused", "输出比查询多一行时若被拒绝则为 1"},
                      plain(status.code() == StatusCode::invalid_argument ? 1 : 0), 1);
  return evidence;
}

Judgement judge_hull(const Evidence& evidence) {
  const bool inside = within_bounds(evidence.series("excess")) && within_bounds(evidence.series("sum_error"));
  const double out = evidence.series("excess").greatest();
  const Text figure = out == 0 ? Text{"no component outside its values", "没有分量越出值的范围"}
                               : text("outside the values by at most {:.2g} eps", "越出值的范围至多 {:.2g} eps", out);
  const bool rows = evidence.value("other_rows_refused") == 1;
  if (inside && rows) {
    return {Verdict::holds,
            figure,
            {"Each component lies between its least and greatest value but for rounding, and each query gives one row.",
             "每个分量都在相应值的最小与最大之间（只差舍入），每个查询对应一行输出。"}};
  }
  return {inside || rows ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"An output left the range of its values by more than rounding, or has other rows than the queries.",
           "有的输出越出了值的范围而不止舍入，或者行数与查询不同。"}};
}

Plot plot_hull(const Evidence& evidence) {
  const Series& middle = evidence.series("place_50");
  return {.title = {"Where outputs lie between their values", "输出落在值的范围中何处"},
          .x = {.title = {"keys n", "键的个数 n"}, .logarithmic = true, .ticks = ticks_of(middle)},
          .y = {.title = {"place: 0 least value, 1 greatest", "位置：0 为最小值，1 为最大值"}, .low = 0, .high = 1},
          .curves = {measured(evidence.series("place_95"), {"percentile 95", "第 95 百分位"}),
                     measured(middle, {"median", "中位数"}),
                     measured(evidence.series("place_5"), {"percentile 5", "第 5 百分位"})},
          .note = text("Bootstrap intervals of 95 %; {} components a point. None lies outside but for rounding.",
                       "自助法 95 % 区间；每点 {} 个分量，除舍入外无一越界。", middle.points.front().estimate.samples)};
}

// --- Values do not weigh ---

Evidence measure_swap(const Run& run) {
  Normal normal = run.normal("values-do-not-weigh");
  constexpr int64_t kKeys = 32, kQueries = 40;
  const int64_t heads = run.samples(200, 40);
  double weights_moved = 0, off = 0;
  int64_t rows_moved = 0;
  Evidence evidence;
  Series& moves = evidence.add("move",
                               {"change of o by that of theory: (weight of key 1 − of key 2)(value 2 − value 1)",
                                "o 的变化，按理论值（键 1 与键 2 的权重之差乘以值 2 与值 1 之差）排列"},
                               "theory");
  for (int64_t h = 0; h < heads; ++h) {
    Head head(normal, kQueries, kKeys, 1);
    const Head::Result before = head.attend(run);
    std::swap(head.v[0], head.v[1]);
    const Head::Result after = head.attend(run);
    weights_moved = std::max(weights_moved, distance(before.weights, after.weights));
    for (size_t i = 0; i < before.o.size(); ++i) {
      const double theory = (static_cast<double>(before.weights[i * kKeys]) - before.weights[i * kKeys + 1]) *
                            (static_cast<double>(head.v[0]) - head.v[1]);
      const double move = static_cast<double>(after.o[i]) - before.o[i];
      off = std::max(off, std::abs(move - theory) / (FLT_EPSILON * head.largest_value()));
      rows_moved += move != 0;
      if (h == 0) moves.points.push_back({theory, plain(move), theory, {}});
    }
  }
  std::ranges::sort(moves.points, {}, &Point::x);
  evidence.add_single("weights_moved", {"largest change of a weight", "权重的最大变化"},
                      plain(weights_moved, heads * kQueries * kKeys), 0);
  evidence.add_single("rows_moved", {"share of rows whose output moved", "输出发生变化的行的比例"},
                      share(rows_moved, heads * kQueries), 1);
  evidence.add_bounded("move_error",
                       {"largest difference of the change from theory, in eps of the largest value",
                        "变化与理论值之差的最大值，以最大值的 eps 计"},
                       plain(off, heads * kQueries), 4 * sum_error(kKeys));
  run.step(1, 1);
  return evidence;
}

Judgement judge_swap(const Evidence& evidence) {
  const bool still = evidence.value("weights_moved") == 0;
  const bool moved = evidence.of("rows_moved").low > 0.95 && within_bounds(evidence.series("move_error"));
  const Text figure = text("weights change by {:g}, {:.1f} % of outputs change", "权重变化 {:g}，{:.1f} % 的输出改变",
                           evidence.value("weights_moved"), 100 * evidence.value("rows_moved"));
  if (still && moved) {
    return {Verdict::holds,
            figure,
            {"With two values exchanged the weights keep every bit, and outputs move by the two weights' difference "
             "times the values'.",
             "交换两个值，权重一位不变，输出的变化等于两权重之差乘以两值之差。"}};
  }
  return {still || moved ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"Weights moved with the values, or outputs did not as they should.",
           "权重随值而变，或输出没有如理论那样变化。"}};
}

Plot plot_swap(const Evidence& evidence) {
  const Series& moves = evidence.series("move");
  return {.title = {"Two values exchanged: the output moves, weights do not", "交换两个值：输出变，权重不变"},
          .x = {.title = {"theory: (weight 1 − weight 2)(value 2 − value 1)",
                          "理论值：（权重 1 − 权重 2）（值 2 − 值 1）"}},
          .y = {.title = {"measured change of o (units of v)", "o 的实测变化（v 的单位）"}},
          .curves = {measured(moves, {"a row each", "每点一行"}, Mark::points), expected(moves, {"equal", "相等"})},
          .note = {"One head, 40 queries, 32 keys, d_v 1. Differences are rounding: no interval would be seen.",
                   "一个头，40 个查询，32 个键，d_v 为 1。差异只是舍入，区间小到看不见。"}};
}

}  // namespace

std::vector<Claim> expectation_claims() {
  return {
      {.name = "output-is-expectation",
       .family = "expectation",
       .says = {"The output is an expectation: it never leaves the range of the values, and each query gives one row.",
                "输出是一个期望：绝不越出值的范围，而且一个查询对应一行。"},
       .expectation =
           {"Outside the least and greatest value, and away from Σ weight·value, by no more than twice the bound of "
            "docs/numerics.md; other rows are refused. Both: it holds; one: in part.",
            "越出最小、最大值的距离，以及与 Σ 权重·值 之差，都不超过 docs/numerics.md "
            "所给界的两倍；行数不符会被拒绝。都满足则成立，只满足一条则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 1,
       .measure = measure_hull,
       .judge = judge_hull,
       .plot = plot_hull},
      {.name = "values-do-not-weigh",
       .family = "expectation",
       .says = {"Queries and keys make the weights; values only get mixed.", "权重只由查询和键决定，值只是被混合。"},
       .expectation = {"With two values exchanged no weight changes a bit, and over 95 % of outputs move, by (a₁ − "
                       "a₂)(v₂ − v₁) to rounding. Both: it holds; one: in part.",
                       "交换两个值，权重一位不变，而 95 % 以上的输出改变，变化为 (a₁ − a₂)(v₂ − "
                       "v₁)，只差舍入。都满足则成立，只满足一条则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 0.3,
       .measure = measure_swap,
       .judge = judge_swap,
       .plot = plot_swap},
  };
}

}  // namespace foveate::claims
