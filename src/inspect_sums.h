// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A head's figures on their way: rows join chunks, chunks join the head.
#ifndef FOVEATE_SRC_INSPECT_SUMS_H_
#define FOVEATE_SRC_INSPECT_SUMS_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "foveate/inspect.h"

namespace foveate {

inline double square(double x) { return x * x; }

/// The mean and the sum of squared deviations of two sets together.
inline void join(double n, double mean, double squares, double& all_n, double& all_mean, double& all_squares) {
  if (n == 0) return;
  const double off = mean - all_mean, sum = all_n + n;
  all_mean += off * n / sum;
  all_squares += squares + square(off) * all_n * n / sum;
  all_n = sum;
}

/// Sums where means will be.
struct HeadSums {
  HeadFigures figures;
  double pairs = 0, product_squares = 0;

  void add(int64_t i, const RowFigures& row, double product_squares_of_row, double sink) {
    ++figures.rows;
    if (row.keys == 0) {
      ++figures.empty;
      return;
    }
    if (!std::isfinite(row.lse)) {
      ++figures.not_finite;
      if (figures.first_not_finite < 0) figures.first_not_finite = i;
      return;
    }
    const auto keys = static_cast<double>(row.keys);
    if (std::isfinite(row.product_variance))
      foveate::join(keys, row.product_mean, product_squares_of_row, pairs, figures.product_mean, product_squares);
    raise(figures.largest_score, {row.largest_score, i, row.largest_key});
    if (row.keys > 1) {
      raise(figures.largest_weight, {row.largest_weight, i, row.largest_key});
      figures.saturated += row.largest_weight > kSaturatedWeight;
    }
    figures.lse_mean += row.lse;
    figures.entropy_mean += row.entropy;
    figures.effective_keys_mean += std::exp(row.entropy);
    figures.jacobian_mean += row.jacobian;
    figures.sink_mass += sink;
  }

  void join(const HeadSums& next) {
    const HeadFigures& f = next.figures;
    foveate::join(next.pairs, f.product_mean, next.product_squares, pairs, figures.product_mean, product_squares);
    if (figures.first_not_finite < 0) figures.first_not_finite = f.first_not_finite;
    for (int64_t HeadFigures::*count :
         {&HeadFigures::rows, &HeadFigures::empty, &HeadFigures::not_finite, &HeadFigures::saturated}) {
      figures.*count += f.*count;
    }
    if (f.largest_score.row >= 0) raise(figures.largest_score, f.largest_score);
    if (f.largest_weight.row >= 0) raise(figures.largest_weight, f.largest_weight);
    for (double HeadFigures::*sum :
         {&HeadFigures::lse_mean, &HeadFigures::entropy_mean, &HeadFigures::effective_keys_mean,
          &HeadFigures::jacobian_mean, &HeadFigures::sink_mass}) {
      figures.*sum += f.*sum;
    }
  }

  HeadFigures finished(double received_by_first) const {
    HeadFigures f = figures;
    const int64_t counted = f.rows - f.empty - f.not_finite;
    const double n =
        counted > 0 ? static_cast<double>(counted) : std::numeric_limits<double>::quiet_NaN();  // no rows: no means
    f.pairs = static_cast<int64_t>(pairs);
    f.product_mean = pairs > 0 ? f.product_mean : std::numeric_limits<double>::quiet_NaN();
    f.product_variance = product_squares / (pairs > 0 ? pairs : std::numeric_limits<double>::quiet_NaN());
    f.lse_mean /= n;
    f.entropy_mean /= n;
    f.effective_keys_mean /= n;
    f.jacobian_mean /= n;
    f.sink_mass /= n;
    f.first_key_mass = received_by_first / n;
    for (Extreme* most : {&f.largest_score, &f.largest_weight}) {
      if (most->row < 0) most->value = std::numeric_limits<double>::quiet_NaN();
    }
    return f;
  }

 private:
  static void raise(Extreme& most, const Extreme& other) {
    if (most.row < 0 || other.value > most.value) most = other;
  }
};

}  // namespace foveate

#endif  // FOVEATE_SRC_INSPECT_SUMS_H_
