// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Is the result right? By the engine, in float64; rows near the limits of rounding are looked at once more, one by one.
#ifndef FOVEATE_DIAGNOSIS_RIGHT_H_
#define FOVEATE_DIAGNOSIS_RIGHT_H_

#include <vector>

#include "diagnosis/diagnose.h"
#include "diagnosis/fit.h"
#include "diagnosis/problem.h"

namespace foveate::diagnosis {

/// Rows of [b, h_q, n_q], and which of them are right.
struct Judged {
  std::vector<char> right;
  std::vector<char> out_right;  ///< whatever their lse is

  bool all() const;
};

/// Row `row` of them all, and how it was judged.
RowIndex index_of(const AttentionShape& shape, const Judged& judged, int64_t row);

/// Compares every row and fills what `diagnosis` says of differences.
Status judge(const Problem& problem, const Execution& execution, Judged& judged, Diagnosis& diagnosis);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_RIGHT_H_
