// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The statistics of claims against published values, and their intervals against how often they are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "claims/evidence.h"
#include "claims/random.h"
#include "claims/statistics.h"

namespace foveate::claims {
namespace {

// Any table of Student's t, two-sided 95 % and 99 %.
TEST(Statistics, QuantilesOfT) {
  EXPECT_NEAR(t_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(t_quantile(0.975, 2), 4.30265, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 3), 3.18245, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 10), 2.22814, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 30), 2.04227, 1e-5);
  EXPECT_NEAR(t_quantile(0.975, 1e7), 1.95996, 1e-5);
  EXPECT_NEAR(t_quantile(0.995, 5), 4.03214, 1e-5);
  EXPECT_NEAR(t_quantile(0.5, 5), 0, 1e-9);
}

TEST(Statistics, MeanAndVarianceByHand) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const Estimate of_mean = mean(values);
  EXPECT_DOUBLE_EQ(of_mean.value, 3);
  EXPECT_NEAR(of_mean.high - 3, 2.776445 * std::sqrt(2.5 / 5), 1e-6);  // t of 4 degrees, s^2 = 2.5
  EXPECT_NEAR(of_mean.low + of_mean.high, 6, 1e-12);
  EXPECT_EQ(of_mean.interval, IntervalKind::t);
  EXPECT_EQ(of_mean.samples, 5);

  const Estimate of_variance = variance(values);  // squared distances 4, 1, 0, 1, 4
  EXPECT_DOUBLE_EQ(of_variance.value, 2);
  EXPECT_NEAR(of_variance.high - 2, 2.776445 * std::sqrt(3.5 / 5), 1e-6);
}

TEST(Statistics, OneValueHasNoWidth) {
  const Estimate one = mean(std::vector<double>{7});
  EXPECT_EQ(one.low, 7);
  EXPECT_EQ(one.high, 7);
}

// Wilson's interval of 10 of 20, 0 of 10 and 1 of 1 (R: prop.test(x, n, correct = FALSE)).
TEST(Statistics, WilsonsInterval) {
  const Estimate half = share(10, 20);
  EXPECT_DOUBLE_EQ(half.value, 0.5);
  EXPECT_NEAR(half.low, 0.299298, 1e-6);
  EXPECT_NEAR(half.high, 0.700702, 1e-6);
  const Estimate none = share(0, 10);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.277533, 1e-6);
  const Estimate all = share(1, 1);
  EXPECT_NEAR(all.low, 0.206549, 1e-6);
  EXPECT_EQ(all.high, 1);
}

TEST(Statistics, PercentilesLieBetweenTheirNeighbours) {
  const std::vector<double> sorted = {0, 10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(percentile_of_sorted(sorted, 0), 0);
  EXPECT_DOUBLE_EQ(percentile_of_sorted(sorted, 50), 20);
  EXPECT_DOUBLE_EQ(percentile_of_sorted(sorted, 60), 24);
  EXPECT_DOUBLE_EQ(percentile_of_sorted(sorted, 100), 40);
  EXPECT_DOUBLE_EQ(percentile_of_sorted(std::vector<double>{3}, 95), 3);
}

TEST(Statistics, SlopesOfPowers) {
  const std::vector<double> x = {1, 2, 4, 8};
  const Estimate square = log_log_slope(x, std::vector<double>{3, 12, 48, 192});
  EXPECT_NEAR(square.value, 2, 1e-12);
  EXPECT_NEAR(square.high - square.low, 0, 1e-6);

  // Logarithms to base 2 are 0, 1, 1, 2: by hand the slope is 0.6, the rest 0.2, its error sqrt(0.1 / 5).
  const Estimate uneven = log_log_slope(x, std::vector<double>{1, 2, 2, 4});
  EXPECT_NEAR(uneven.value, 0.6, 1e-12);
  EXPECT_NEAR(uneven.high - uneven.value, 4.302653 * std::sqrt(0.1 / 5), 1e-6);
  EXPECT_EQ(uneven.interval, IntervalKind::slope);
}

// Of 400 experiments some 95 % have the truth within their interval. 5 standard deviations of that count are 5.4 %.
TEST(Statistics, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int kTimes = 400, kSamples = 200;
  int of_mean = 0, of_variance = 0, of_share = 0, of_median = 0;
  Normal normal(7);
  const auto holds = [](const Estimate& e, double truth) { return e.low <= truth && truth <= e.high; };
  for (int i = 0; i < kTimes; ++i) {
    std::vector<double> values(kSamples);
    for (double& value : values) value = 3 + 2 * normal();
    of_mean += holds(mean(values), 3);
    of_variance += holds(variance(values), 4);
    of_share += holds(share(std::ranges::count_if(values, [](double x) { return x > 3; }), kSamples), 0.5);
    constexpr double kHalf[] = {50};
    of_median += holds(percentiles(values, kHalf, normal.random(), 200).front(), 3);
  }
  for (const int count : {of_mean, of_variance, of_share, of_median}) {
    EXPECT_GE(count, static_cast<int>(kTimes * (0.95 - 0.06)));
    EXPECT_LE(count, kTimes - 1);
  }
}

TEST(Statistics, NormalNumbersAreNormal) {
  constexpr int kCount = 200000;
  Normal normal(3);
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  int within_one = 0, past_three = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = normal();
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
    within_one += std::abs(x) < 1;
    past_three += std::abs(x) > 3;
  }
  // Within 5 standard errors: of x^n, sqrt(E x^2n / count).
  EXPECT_NEAR(sum / kCount, 0, 5 * std::sqrt(1.0 / kCount));
  EXPECT_NEAR(squares / kCount, 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(cubes / kCount, 0, 5 * std::sqrt(15.0 / kCount));
  EXPECT_NEAR(fourths / kCount, 3, 5 * std::sqrt(96.0 / kCount));
  EXPECT_NEAR(static_cast<double>(within_one) / kCount, std::erf(1 / std::numbers::sqrt2),
              5 * 0.4656 / std::sqrt(kCount));
  EXPECT_NEAR(static_cast<double>(past_three) / kCount, std::erfc(3 / std::numbers::sqrt2),
              5 * 0.0519 / std::sqrt(kCount));
}

// The numbers themselves are part of what a seed promises.
TEST(Statistics, ASeedFixesTheNumbers) {
  Random random(1);
  EXPECT_EQ(random(), 0xcfc5d07f6f03c29bu);
  Normal one(1), same(1), other(2);
  const double first = one();
  EXPECT_EQ(first, same());
  EXPECT_NE(first, other());
}

Series series_of(double low, double high, std::optional<double> expected = {}) {
  Series series{"s", {}, "", {}, false};
  series.points.push_back({0, {(low + high) / 2, low, high, IntervalKind::t, 10}, expected, {}});
  return series;
}

TEST(Fit, ToldByIntervals) {
  EXPECT_EQ(fit(series_of(0.9, 1.1), 0.8, 1.2), Fit::within);
  EXPECT_EQ(fit(series_of(0.7, 0.9), 0.8, 1.2), Fit::undecided);
  EXPECT_EQ(fit(series_of(0.5, 2), 0.8, 1.2), Fit::undecided);
  EXPECT_EQ(fit(series_of(1.3, 1.4), 0.8, 1.2), Fit::outside);
  EXPECT_EQ(fit(series_of(57, 70, 64), 0.8, 1.2), Fit::within);
  EXPECT_EQ(fit(series_of(NAN, NAN), 0.8, 1.2), Fit::outside);
}

TEST(Fit, BoundsCountTheWholeInterval) {
  EXPECT_TRUE(within_bounds(series_of(0.1, 0.9, 1)));
  EXPECT_FALSE(within_bounds(series_of(0.1, 1.1, 1)));
  EXPECT_FALSE(within_bounds(series_of(NAN, NAN, 1)));
}

}  // namespace
}  // namespace foveate::claims
