// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace foveate::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

bool agree(double x, double y, double tolerance) {
  if (std::isnan(y)) return std::isnan(x);
  // Where a value is infinite, its weight may have underflowed to 0 in a narrower type, and 0 * inf is NaN.
  if (std::isinf(y)) return x == y || std::isnan(x);
  return std::abs(x - y) <= tolerance;
}

void Fit::join(const Fit& other) {
  rows += other.rows;
  elements += other.elements;
  explained += other.explained;
  within = within && other.within;
  largest = std::max(largest, other.largest);
  squares += other.squares;
  lse_largest = std::max(lse_largest, other.lse_largest);
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

/// Along another axis, and without a softmax, there is no such sum of a row.
Comparison::Match Comparison::lse_match(const RowIndex& at, const Row& row, Fit& fit) const {
  if (!problem_.has_lse()) return Match::yes;
  if (variant_.axis != SoftmaxAxis::keys || variant_.exchanged) return Match::silent;
  // Nor do people agree on what it is where there is nothing to sum.
  const bool usual = variant_.empty == EmptyRow::zeros && variant_.lse == LseKind::natural &&
                     variant_.sink == SinkUse::counted && !variant_.one_added;
  if ((row.empty || row.lse == -kInfinity) && !usual) return Match::excused;
  const double mine = problem_.lse(at.b, at.h, at.i);
  const bool agrees = std::isinf(row.lse) ? mine == row.lse : agree(mine, row.lse, row.lse_tolerance);
  if (std::isfinite(mine) && std::isfinite(row.lse)) {
    fit.lse_largest = std::max(fit.lse_largest, std::abs(mine - row.lse));
  }
  return agrees ? Match::yes : Match::no;
}

/// Whether no key takes part in a row even where all is right: what is there then is no matter of another mistake.
bool Comparison::right_is_empty(const RowIndex& at) {
  if (!right_rows_) {
    right_ = right_way(problem_);
    right_rows_.emplace(problem_, *right_, true);
  }
  return right_rows_->row(at.b, at.h, at.i).empty;
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

Comparison::Match Comparison::match(const RowIndex& at, const Row& row, const double* mine, Fit& fit) {
  if (row.beyond) return Match::excused;
  if (row.open) return one_of(mine, row.o, row) ? Match::excused : Match::no;
  // Where no key takes part `plain` is the mean of all values.
  if (row.empty && variant_.empty == EmptyRow::any && (variant_.exchanged || !right_is_empty(at))) {
    return one_of(mine, row.plain, row) ? Match::silent : Match::no;
  }
  const bool narrow = size_of(variant_.precision) == 2 && !row.empty;
  // The tolerance is the mean's there, which this row is not to be.
  const bool exact = row.empty && variant_.empty == EmptyRow::any;
  bool agrees = true;
  for (size_t d = 0; d < row.o.size(); ++d) {
    agrees = agrees && agree(mine[d], row.o[d], exact ? 0 : row.tolerance[d]);
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
  if (!agrees) return Match::no;
  const Match lse = lse_match(at, row, fit);
  // What is not 0 where no key takes part is told by itself.
  const bool told = row.empty && std::any_of(mine, mine + row.o.size(), [](double x) { return x != 0; });
  return lse == Match::excused && told ? Match::silent : lse;
}

bool Comparison::add(const RowIndex& index, Fit& fit) {
  RowIndex at = index;
  if (variant_.exchanged) std::swap(at.h, at.i);
  const Row& row = rows_.row(at.b, at.h, at.i);
  ++fit.rows;
  fit.elements += static_cast<int64_t>(row.o.size());
  const Match matches = match(at, row, out_ + variant_.out.row(at.b, at.h, at.i), fit);
  fit.within = fit.within && matches != Match::no;
  fit.explained += (index.wrong && matches == Match::yes) || (index.out_wrong && matches == Match::silent);
  return fit.within;
}

}  // namespace foveate::diagnosis
