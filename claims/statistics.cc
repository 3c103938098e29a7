// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/statistics.h"

#include <algorithm>
#include <cmath>

namespace foveate::claims {
namespace {

constexpr double kUpper = 0.975;               // of the two-sided 95 %
constexpr double kNormal = 1.959963984540054;  // the normal distribution's quantile of kUpper

/// The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 500;
  constexpr double kTiny = 1e-300, kEnough = 1e-15;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      change = c * d;
      result *= change;
    }
    if (std::abs(change - 1) < kEnough) break;
  }
  return result;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on this side of the mean only.
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double t_distribution(double t, double degrees) {
  return 1 - incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
}

}  // namespace

const char* name_of(IntervalKind kind) {
  switch (kind) {
    case IntervalKind::none:
      return "none";
    case IntervalKind::t:
      return "t";
    case IntervalKind::wilson:
      return "Wilson";
    case IntervalKind::bootstrap:
      return "bootstrap";
    case IntervalKind::slope:
      return "slope";
    case IntervalKind::range:
      return "range";
  }
  return "unknown";
}

Estimate plain(double value, int64_t samples) { return {value, value, value, IntervalKind::none, samples}; }

double t_quantile(double p, double degrees) {
  double low = 0, high = 1;
  while (t_distribution(high, degrees) < p) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (t_distribution(middle, degrees) < p ? low : high) = middle;
  }
  return high;
}

double percentile_of_sorted(std::span<const double> sorted, double percent) {
  const double place = std::clamp(percent / 100, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place), high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

Estimate mean(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double center = sum / n;
  for (const double value : values) squares += (value - center) * (value - center);
  const double half = values.size() < 2 ? 0 : t_quantile(kUpper, n - 1) * std::sqrt(squares / (n - 1) / n);
  return {center, center - half, center + half, IntervalKind::t, std::ssize(values)};
}

Estimate variance(std::span<const double> values) {
  const double center = mean(values).value;
  std::vector<double> squares;
  squares.reserve(values.size());
  for (const double value : values) squares.push_back((value - center) * (value - center));
  return mean(squares);
}

Estimate share(int64_t hits, int64_t of) {
  const auto n = static_cast<double>(of);
  const double p = static_cast<double>(hits) / n, z2 = kNormal * kNormal;
  const double center = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kNormal / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  // At the ends the interval's end is exact; rounding must not move it.
  return {p, hits == 0 ? 0 : center - half, hits == of ? 1 : center + half, IntervalKind::wilson, of};
}

std::vector<Estimate> percentiles(std::vector<double> values, std::span<const double> percents, Random& random,
                                  int resamples) {
  std::sort(values.begin(), values.end());
  std::vector<std::vector<double>> of_resamples(percents.size());
  std::vector<double> resample(values.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : resample)
      value = values[static_cast<size_t>(random.below(static_cast<int32_t>(values.size())))];
    std::sort(resample.begin(), resample.end());
    for (size_t p = 0; p < percents.size(); ++p) {
      of_resamples[p].push_back(percentile_of_sorted(resample, percents[p]));
    }
  }
  std::vector<Estimate> estimates;
  for (size_t p = 0; p < percents.size(); ++p) {
    std::sort(of_resamples[p].begin(), of_resamples[p].end());
    estimates.push_back(
        {percentile_of_sorted(values, percents[p]), percentile_of_sorted(of_resamples[p], 100 * (1 - kUpper)),
         percentile_of_sorted(of_resamples[p], 100 * kUpper), IntervalKind::bootstrap, std::ssize(values)});
  }
  return estimates;
}

Estimate median(std::vector<double> values, Random& random) {
  constexpr double kHalf[] = {50};
  return percentiles(std::move(values), kHalf, random).front();
}

Estimate log_log_slope(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    xx += dx * dx;
    xy += dx * (std::log(y[i]) - mean_y);
  }
  const double slope = xy / xx;
  for (size_t i = 0; i < x.size(); ++i) {
    const double off = std::log(y[i]) - mean_y - slope * (std::log(x[i]) - mean_x);
    rest += off * off;
  }
  const double half = t_quantile(kUpper, n - 2) * std::sqrt(rest / (n - 2) / xx);
  return {slope, slope - half, slope + half, IntervalKind::slope, std::ssize(x)};
}

}  // namespace foveate::claims
