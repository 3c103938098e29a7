// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What attention knows of the order of its keys.
#include <algorithm>
#include <cfloat>
#include <numeric>
#include <utility>

#include "claims/claim.h"
#include "claims/head.h"

namespace foveate::claims {
namespace {

Evidence measure_order(const Run& run) {
  Normal normal = run.normal("order-of-keys-is-nothing");
  constexpr int64_t kQueries = 16, kValueDim = 16, kLengths[] = {16, 64, 256, 1024, 4096};
  const int64_t shuffles = run.samples(20, 5);
  Evidence evidence;
  Series& changes = evidence.add("change",
                                 {"largest change of o under a permutation, in eps of the largest value",
                                  "打乱顺序后 o 的最大变化，以最大值的 eps 计"},
                                 "n");
  double causal = 0;
  for (const int64_t n : kLengths) {
    double change = 0;
    for (int64_t i = 0; i < shuffles; ++i) {
      const Head head(normal, kQueries, n, kValueDim);
      Head shuffled = head;
      std::vector<int64_t> places(static_cast<size_t>(n));
      std::iota(places.begin(), places.end(), 0);
      for (int64_t j = 0; j < n; ++j) {
        std::swap(places[static_cast<size_t>(j)],
                  places[static_cast<size_t>(j + normal.random().below(static_cast<int32_t>(n - j)))]);
        const int64_t from = places[static_cast<size_t>(j)];
        std::copy_n(&head.k[static_cast<size_t>(from * Head::kDim)], Head::kDim,
                    &shuffled.k[static_cast<size_t>(j * Head::kDim)]);
        std::copy_n(&head.v[static_cast<size_t>(from * kValueDim)], kValueDim,
                    &shuffled.v[static_cast<size_t>(j * kValueDim)]);
      }
      const double unit = FLT_EPSILON * head.largest_value();
      change = std::max(change, distance(head.attend(run).o, shuffled.attend(run).o) / unit);
      const AttentionOptions options{.causal = true, .align = Align::top_left};
      if (n == 16)
        causal = std::max(causal, distance(head.attend(run, options).o, shuffled.attend(run, options).o) / unit);
    }
    // Scores have the same bits in any order. What the maximum met before is taken off with a rounding of up to 10 u.
    changes.points.push_back(
        {static_cast<double>(n), plain(change, shuffles * kQueries * kValueDim), 2 * (sum_error(n) + 10), {}});
    run.step(std::ssize(changes.points), std::ssize(kLengths));
  }
  changes.bounded = true;
  evidence.add_single("change_causal", {"the same with a causal mask, n = 16", "同上，但用因果掩码，n = 16"},
                      plain(causal, shuffles * kQueries * kValueDim));
  return evidence;
}

Judgement judge_order(const Evidence& evidence) {
  const bool same = within_bounds(evidence.series("change"));
  const bool causal_differs = evidence.value("change_causal") > 1e4;
  const Text figure =
      text("output changes by at most {:.2g} eps", "输出变化至多 {:.2g} eps", evidence.series("change").greatest());
  if (same && causal_differs) {
    return {Verdict::holds,
            figure,
            {"Without a mask, keys are a set: order shows in the last bits only; a causal mask or a bias by position "
             "brings it in.",
             "没有掩码时，键只是一个集合，顺序只影响末位；因果掩码或按位置的偏置才引入顺序。"}};
  }
  return {same ? Verdict::holds_in_part : Verdict::does_not_hold,
          figure,
          {"A permutation changed outputs by more than rounding, or the causal mask's order made no difference.",
           "打乱顺序使输出的变化超出舍入，或者因果掩码也不在乎顺序。"}};
}

Plot plot_order(const Evidence& evidence) {
  const Series& changes = evidence.series("change");
  return {.title = {"Keys and values permuted together: rounding alone", "键与值一同打乱：只差舍入"},
          .x = {.title = {"keys n", "键的个数 n"}, .logarithmic = true, .ticks = ticks_of(changes)},
          .y = {.title = {"largest change of o (eps of the largest value)", "o 的最大变化（最大值的 eps）"},
                .logarithmic = true},
          .curves = {measured(changes, {"measured, float32", "实测，float32"}),
                     expected(changes, {"allowed by docs/numerics.md", "docs/numerics.md 所允许"})},
          .note = text("The largest of {} components a point, so there is no interval.",
                       "每点取 {} 个分量中的最大值，故无区间。", changes.points.front().estimate.samples)};
}

}  // namespace

std::vector<Claim> key_order_claims() {
  return {
      {.name = "order-of-keys-is-nothing",
       .family = "expectation",
       .says = {"Attention without a mask knows no order: keys permuted with their values change nothing.",
                "没有掩码的注意力不知顺序：键与值一同打乱，结果不变。"},
       .expectation = {"Outputs change by rounding alone, 2 (c + 10) eps with c of docs/numerics.md; under a causal "
                       "mask by more than 10⁴ eps. Both: it holds; the first: in part.",
                       "输出的变化只是舍入，即 2 (c + 10) eps，c 见 docs/numerics.md；因果掩码下则超过 10⁴ "
                       "eps。都满足则成立，只满足前者则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 1,
       .measure = measure_order,
       .judge = judge_order,
       .plot = plot_order}};
}

}  // namespace foveate::claims
