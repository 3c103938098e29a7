// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace foveate::diagnosis {

bool agree(double x, double y, double tolerance) {
  if (std::isnan(y)) return std::isnan(x);
  // Where a value is infinite, its weight may have underflowed to 0 in a narrower type, and 0 * inf is NaN.
  if (std::isinf(y)) return x == y || std::isnan(x);
  return std::abs(x - y) <= tolerance;
}

void Fit::join(const Fit& other) {
  rows += other.rows;
  elements += other.elements;
  within = within && other.within;
  largest = std::max(largest, other.largest);
  squares += other.squares;
  plain_largest = std::max(plain_largest, other.plain_largest);
  plain_squares += other.plain_squares;
  size = std::max(size, other.size);
}

double Fit::allowed(DType precision) const { return 2 * plain_largest + step_at(size, precision); }

bool Fit::accepted(DType precision) const {
  if (!within || size_of(precision) > 2) return within;
  const double count = std::max(1.0, static_cast<double>(elements));
  const double mean_square = std::sqrt(squares / count), plain = std::sqrt(plain_squares / count);
  return largest <= allowed(precision) && mean_square <= 2 * plain + step_at(size, precision) / 8;
}

Comparison::Comparison(const Problem& problem, const Variant& variant, bool sure)
    : problem_(problem), variant_(variant), out_(problem.data(Source::out)), rows_(problem, variant, sure) {}

bool Comparison::lse_agrees(const RowIndex& at, const Row& row) const {
  // Along another axis, and without a softmax, there is no such sum of a row.
  if (!problem_.has_lse() || variant_.axis != SoftmaxAxis::keys || variant_.exchanged) return true;
  if (row.empty && variant_.empty == EmptyRow::any) return true;
  if (row.empty && variant_.empty != EmptyRow::zeros) return true;
  const double mine = problem_.lse(at.b, at.h, at.i);
  return std::isinf(row.lse) ? mine == row.lse : agree(mine, row.lse, row.lse_tolerance);
}

/// Zeros, NaN, or else these numbers.
bool Comparison::one_of(const double* mine, const std::vector<double>& or_else, const Row& row) {
  const auto n = static_cast<int64_t>(or_else.size());
  if (std::all_of(mine, mine + n, [](double x) { return x == 0; })) return true;
  if (std::all_of(mine, mine + n, [](double x) { return std::isnan(x); })) return true;
  for (int64_t d = 0; d < n; ++d) {
    if (!agree(mine[d], or_else[static_cast<size_t>(d)], row.tolerance[static_cast<size_t>(d)])) return false;
  }
  return true;
}

bool Comparison::add(const RowIndex& row_index, Fit& fit) {
  RowIndex at = row_index;
  if (variant_.exchanged) std::swap(at.h, at.i);
  const Row& row = rows_.row(at.b, at.h, at.i);
  const double* mine = out_ + variant_.out.row(at.b, at.h, at.i);
  ++fit.rows;
  fit.elements += static_cast<int64_t>(row.o.size());
  // Where no key takes part `plain` is the mean of all values.
  const bool any_empty = row.empty && variant_.empty == EmptyRow::any;
  if (row.open || any_empty) {
    fit.within = fit.within && one_of(mine, any_empty ? row.plain : row.o, row);
    return fit.within;
  }
  const bool narrow = size_of(variant_.precision) == 2 && !row.empty;
  for (size_t d = 0; d < row.o.size(); ++d) {
    if (!agree(mine[d], row.o[d], row.tolerance[d])) fit.within = false;
    if (!std::isfinite(row.o[d]) || !std::isfinite(mine[d])) continue;
    const double difference = mine[d] - row.o[d];
    fit.largest = std::max(fit.largest, std::abs(difference));
    fit.squares += difference * difference;
    fit.size = std::max(fit.size, std::abs(row.o[d]));
    if (!narrow || !std::isfinite(row.plain[d])) continue;
    const double plain = row.plain[d] - row.o[d];
    fit.plain_largest = std::max(fit.plain_largest, std::abs(plain));
    fit.plain_squares += plain * plain;
  }
  fit.within = fit.within && lse_agrees(at, row);
  return fit.within;
}

}  // namespace foveate::diagnosis
