// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How well a variant fits somebody's result, row by row.
#ifndef FOVEATE_DIAGNOSIS_FIT_H_
#define FOVEATE_DIAGNOSIS_FIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnosis/problem.h"
#include "diagnosis/rows.h"
#include "diagnosis/variant.h"

namespace foveate::diagnosis {

/// A query row of the right result.
struct RowIndex {
  int64_t b = 0, h = 0, i = 0;
  bool wrong = false;      ///< somebody's is known to be another
  bool out_wrong = false;  ///< and not in lse alone
};

/// Row `row` of them all.
inline RowIndex row_at(const AttentionShape& s, int64_t row) {
  return {row / s.n_q / s.h_q, row / s.n_q % s.h_q, row % s.n_q};
}

/// Whether x is what y says: within the tolerance where both are numbers, of one kind where not.
bool agree(double x, double y, double tolerance);

/// Sums over the rows compared. Joins, so that threads can share them out.
struct Fit {
  int64_t rows = 0, elements = 0;
  int64_t explained = 0;                        ///< wrong rows that the variant has just so, with nothing left open
  bool within = true;                           ///< every row within its tolerances
  double largest = 0;                           ///< |result - variant|
  double squares = 0;                           ///< of it, summed
  double lse_largest = 0;                       ///< |lse - variant's|
  double plain_largest = 0, plain_squares = 0;  ///< |plain formula in 16 bits - variant|
  double size = 0;                              ///< the largest |variant|

  void join(const Fit& other);

  /// Whether the result is the variant's, as far as a precision tells: element by element; in 16 bits, where a bound that
  /// held for each element would excuse too much, by the largest error and the mean square beside the plain formula's.
  bool accepted(DType precision) const;

  /// How far off an element may be in 16 bits.
  double allowed(DType precision) const;
};

/// Compares row after row with a variant's. One thread's.
class Comparison {
 public:
  Comparison(const Problem& problem, const Variant& variant, bool sure);

  /// Adds a row to `fit`; false where it is out of tolerance.
  bool add(const RowIndex& row, Fit& fit);

  /// The variant's row that was added last.
  const Row& last() const { return rows_.last(); }

 private:
  /// silent: out is the variant's, which says nothing of lse.
  enum class Match : uint8_t { no, excused, silent, yes };

  Match match(const RowIndex& at, const Row& row, const double* mine, Fit& fit);
  Match lse_match(const RowIndex& at, const Row& row, Fit& fit) const;
  bool right_is_empty(const RowIndex& at);
  static bool one_of(const double* mine, const std::vector<double>& or_else, const Row& row);

  const Problem& problem_;
  const Variant& variant_;
  const double* out_;
  Rows rows_;
  std::optional<Variant> right_;  ///< made when first asked for
  std::optional<Rows> right_rows_;
};

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_FIT_H_
