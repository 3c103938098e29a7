// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// No claim can only come out as recorded: each judge is shown evidence that was falsified, one measurement of it, and
// has to come to another verdict.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "claims/claim.h"
#include "tests/quick_evidence.h"

namespace foveate::claims {
namespace {

const Claim& claim_named(const std::string& name) {
  for (const Claim& claim : all_claims()) {
    if (claim.name == name) return claim;
  }
  throw std::out_of_range(name);
}

/// Times as they should be, in the place of those that were measured: other work on the machine must not decide.
const std::map<std::string, double> kIdealTimes = {
    {"slope_n", 2},  {"slope_d", 1},      {"slope_window", 1}, {"speedup", 20},
    {"slowdown", 3}, {"slope_blocks", 1}, {"slope_linear", 1},
};

Evidence steady(const Claim& claim) {
  Evidence evidence = quick_evidence(claim);
  if (!claim.timed) return evidence;
  for (const Series& series : evidence.all()) {
    if (const auto ideal = kIdealTimes.find(series.name); ideal != kIdealTimes.end())
      evidence.series(series.name).points.front().estimate = plain(ideal->second);
  }
  return evidence;
}

/// All points of a series become value, without an interval to speak of.
std::function<void(Evidence&)> set(const std::string& series, double value) {
  return [=](Evidence& evidence) {
    for (Point& point : evidence.series(series).points) point.estimate = plain(value);
  };
}

std::function<void(Evidence&)> times(const std::string& series, double factor) {
  return [=](Evidence& evidence) {
    for (Point& point : evidence.series(series).points) {
      point.estimate.value *= factor;
      point.estimate.low *= factor;
      point.estimate.high *= factor;
    }
  };
}

/// An interval so wide that it tells nothing.
std::function<void(Evidence&)> blur(const std::string& series) {
  return [=](Evidence& evidence) {
    for (Point& point : evidence.series(series).points) {
      point.estimate.low = 0;
      point.estimate.high *= 3;
    }
  };
}

/// An interval that reaches so far to either side.
std::function<void(Evidence&)> spread(const std::string& series, double by) {
  return [=](Evidence& evidence) {
    for (Point& point : evidence.series(series).points) {
      point.estimate.low = point.estimate.value - by;
      point.estimate.high = point.estimate.value + by;
    }
  };
}

std::function<void(Evidence&)> both(const std::function<void(Evidence&)>& a, const std::function<void(Evidence&)>& b) {
  return [=](Evidence& evidence) {
    a(evidence);
    b(evidence);
  };
}

struct Falsification {
  const char* claim;
  std::function<void(Evidence&)> plant;
  Verdict expected;
};

constexpr Verdict kHolds = Verdict::holds, kInPart = Verdict::holds_in_part, kNot = Verdict::does_not_hold;

const Falsification kFalsifications[] = {
    // A score by cosine alone: length counts for nothing. And one where nothing does.
    {"dot-product-geometry", times("score_length_two", 0.5), kInPart},
    {"dot-product-geometry",
     [](Evidence& evidence) {
       for (const char* name : {"score_length_one", "score_length_two"}) set(name, 1)(evidence);
     },
     kNot},
    {"dot-product-geometry", set("formula_error", 1e-3), kInPart},
    {"smaller-angle-higher-score", set("disorder", 0), kHolds},
    {"smaller-angle-higher-score", set("disorder", 0.4), kNot},
    {"smaller-angle-higher-score", set("disorder_one_length", 0.2), kNot},
    {"variance-is-d_k", times("variance", 1.3), kNot},
    {"variance-is-d_k", set("variance", 64), kNot},
    {"variance-is-d_k", blur("variance"), kInPart},
    {"square-root-restores-1", times("scaled_variance", 2), kInPart},
    {"square-root-restores-1", times("divided_variance", 2), kInPart},
    {"square-root-restores-1", both(times("scaled_variance", 2), times("divided_variance", 2)), kNot},
    {"root-suits-any-vectors", set("scaled_variance", 1), kHolds},
    {"root-suits-any-vectors", blur("scaled_variance"), kInPart},
    {"other-divisors-serve", set("variance", 1), kHolds},
    {"other-divisors-serve", [](Evidence& evidence) { evidence.series("variance").points[2].estimate = plain(1); },
     kInPart},
    {"rows-sum-to-one", set("row_error_f32", 0.01), kNot},
    {"rows-sum-to-one", set("row_error_f64", 1e-9), kNot},
    {"rows-sum-to-one", set("column_sum_percentile", 1), kInPart},
    {"one-more-is-e-times", set("ratio", 2), kNot},
    {"one-more-is-e-times", set("error_f32", 0.1), kInPart},
    {"one-more-is-e-times", [](Evidence& evidence) { evidence.series("ratio").points.back().estimate = plain(1); },
     kInPart},
    {"shift-changes-nothing", set("change", 1), kInPart},
    {"shift-changes-nothing", set("naive_overflow", 1e9), kInPart},
    {"shift-changes-nothing", both(set("change", 1), set("engine_survives", 0)), kNot},
    {"every-key-has-weight", both(set("vanishing_gap_f32", 4096), set("zeros_unscaled", 0)), kHolds},
    {"every-key-has-weight", set("vanishing_gap_f32", 10), kNot},
    {"every-key-has-weight", set("zeros_scaled", 0.1), kNot},
    {"one-hot-without-scaling", set("largest_unscaled", 0.1), kInPart},
    {"one-hot-without-scaling", set("largest_scaled", 0.9), kInPart},
    {"one-hot-without-scaling", both(set("largest_unscaled", 0.1), set("largest_scaled", 0.9)), kNot},
    {"gradients-vanish-unscaled", set("dead", 0.95), kHolds},
    {"gradients-vanish-unscaled", set("dead", 0.1), kNot},
    {"scaling-steadies-gradients", times("scaled_95", 3), kInPart},
    {"scaling-steadies-gradients", times("scaled_5", 1e-3), kNot},
    {"output-is-expectation", set("excess", 1e6), kInPart},
    {"output-is-expectation", set("sum_error", 1e6), kInPart},
    {"output-is-expectation", set("other_rows_refused", 0), kInPart},
    {"output-is-expectation", both(set("excess", 1e6), set("other_rows_refused", 0)), kNot},
    {"values-do-not-weigh", set("weights_moved", 1e-7), kInPart},
    {"values-do-not-weigh", set("rows_moved", 0), kInPart},
    {"values-do-not-weigh", set("move_error", 1e6), kInPart},
    {"values-do-not-weigh", both(set("weights_moved", 0.1), set("rows_moved", 0)), kNot},
    {"order-of-keys-is-nothing", set("change", 1e6), kNot},
    {"order-of-keys-is-nothing", set("change_causal", 0), kInPart},
    {"time-is-quadratic", set("slope_n", 1), kInPart},
    {"time-is-quadratic", both(set("slope_n", 3), set("slope_d", 2)), kNot},
    {"memory-is-quadratic", set("slope_n", 2), kHolds},
    {"memory-is-quadratic", set("slope_n", 1.5), kInPart},
    {"memory-is-quadratic", set("workspace_suffices", 0), kInPart},
    {"window-is-linear", set("slope_window", 1.5), kInPart},
    {"window-is-linear", set("slope_window", 2), kNot},
    {"one-product-beats-pairs", set("speedup", 1.5), kInPart},
    {"one-product-beats-pairs", set("speedup", 0.9), kNot},
    {"one-product-beats-pairs", set("counted_operations", 3), kInPart},
    {"one-product-beats-pairs", set("difference", 1), kInPart},
    {"product-beats-additive", set("slowdown", 1.2), kInPart},
    {"product-beats-additive", set("slowdown", 1), kNot},
    {"sparse-and-linear-grow-as-n", set("slope_blocks", 2), kInPart},
    {"sparse-and-linear-grow-as-n", both(set("slope_blocks", 2), set("slope_linear", 2)), kNot},
    {"core-never-changed", set("linear_weight", 0.99), kHolds},
    {"core-never-changed", set("blocks_difference", 0.1), kNot},
    {"additive-learns-as-product", set("last_additive_less_product_16", -0.03), kInPart},
    {"additive-learns-as-product", set("last_additive_less_product_64", 0.06), kNot},
    {"additive-learns-as-product", spread("last_additive_less_product_16", 0.025), kInPart},
    {"small-d_k-needs-no-scaling", set("last_unscaled_less_product_8", -0.03), kInPart},
    {"small-d_k-needs-no-scaling", set("last_unscaled_less_product_8", -0.1), kNot},
    {"large-d_k-needs-scaling", set("all_additive_less_unscaled_128", 0.01), kInPart},
    {"large-d_k-needs-scaling", set("all_product_less_unscaled_128", 0), kNot},
    {"large-d_k-needs-scaling", spread("all_product_less_unscaled_128", 1), kNot},
};

TEST(ClaimsJudges, FalsifiedEvidenceChangesTheVerdict) {
  for (const Falsification& falsification : kFalsifications) {
    const Claim& claim = claim_named(falsification.claim);
    EXPECT_NE(falsification.expected, claim.recorded) << claim.name << ": no falsification at all";
    Evidence evidence = steady(claim);
    EXPECT_EQ(text_of(claim.judge(evidence).verdict).en, text_of(claim.recorded).en) << claim.name;
    falsification.plant(evidence);
    const Judgement judgement = claim.judge(evidence);
    EXPECT_EQ(text_of(judgement.verdict).en, text_of(falsification.expected).en)
        << claim.name << ": " << judgement.why.en;
  }
}

TEST(ClaimsJudges, EachClaimIsAmongThem) {
  std::set<std::string> falsified;
  for (const Falsification& falsification : kFalsifications) falsified.insert(falsification.claim);
  for (const Claim& claim : all_claims()) EXPECT_TRUE(falsified.contains(claim.name)) << claim.name;
}

TEST(ClaimsJudges, JudgingTwiceGivesTheSame) {
  for (const char* name : {"variance-is-d_k", "every-key-has-weight"}) {
    const Claim& claim = claim_named(name);
    EXPECT_EQ(claim.judge(quick_evidence(claim)).figure.en, claim.judge(quick_evidence(claim)).figure.en);
  }
}

}  // namespace
}  // namespace foveate::claims
