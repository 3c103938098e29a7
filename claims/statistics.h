// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Estimates with 95 % intervals, and what each interval is:
//
//   mean        mean +- t s / sqrt(n), Student's t of n - 1 degrees of freedom
//   share       Wilson's score interval (doi:10.1080/01621459.1927.10502953): also right near 0 and 1
//   percentile  the 2.5th to 97.5th percentile of the same percentile of resamples (Efron's bootstrap)
//   slope       of least squares through (log x, log y) +- t times its standard error, n - 2 degrees of freedom
#ifndef FOVEATE_CLAIMS_STATISTICS_H_
#define FOVEATE_CLAIMS_STATISTICS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "claims/random.h"

namespace foveate::claims {

enum class IntervalKind {
  none,       ///< a plain number: low = high = value
  t,          ///< of a mean
  wilson,     ///< of a share
  bootstrap,  ///< of a percentile
  slope,      ///< of a slope in logarithms
  range,      ///< no confidence interval: from the least to the greatest that was met
};

/// "t", "Wilson", ...
const char* name_of(IntervalKind kind);

struct Estimate {
  double value = 0, low = 0, high = 0;
  IntervalKind interval = IntervalKind::none;
  int64_t samples = 1;
};

/// A number that has no interval, of so many samples (the largest of them, say).
Estimate plain(double value, int64_t samples = 1);

/// The p-quantile of Student's t, 0.5 <= p < 1.
double t_quantile(double p, double degrees);

/// By linear interpolation between the nearest two of `sorted`; percent from 0 to 100.
double percentile_of_sorted(std::span<const double> sorted, double percent);

Estimate mean(std::span<const double> values);

/// Of independent values: the mean of squared distances from the mean, and that mean's interval.
Estimate variance(std::span<const double> values);

Estimate share(int64_t hits, int64_t of);

std::vector<Estimate> percentiles(std::vector<double> values, std::span<const double> percents, Random& random,
                                  int resamples = 1000);

Estimate median(std::vector<double> values, Random& random);

Estimate log_log_slope(std::span<const double> x, std::span<const double> y);

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_STATISTICS_H_
