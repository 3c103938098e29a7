// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which rows are wrong, and what that tells where no mistake explains all of them.
#ifndef FOVEATE_DIAGNOSIS_WRONG_ROWS_H_
#define FOVEATE_DIAGNOSIS_WRONG_ROWS_H_

#include <vector>

#include "diagnosis/diagnose.h"
#include "diagnosis/fit.h"
#include "diagnosis/problem.h"
#include "diagnosis/right.h"

namespace foveate::diagnosis {

/// In which heads and between which positions they lie.
WrongRows wrong_rows(const AttentionShape& shape, const Judged& judged);

/// Those to compare, in order: all, or `most` of them spread over all.
std::vector<RowIndex> wrong_rows_to_compare(const AttentionShape& shape, const Judged& judged, size_t most);

/// Whether a variant is far nearer than the right result is to each of these rows that is finite, and that they are enough
/// to tell: what is allowed for rounding may excuse what is not the variant's either.
bool explains_what_right_does_not(const Problem& problem, const Variant& variant, const std::vector<RowIndex>& rows);

/// Whether a variant is nearer than the right result to rows that are wrong, taken together; so too where none is finite.
bool nearer_than_right(const Problem& problem, const Variant& variant, const std::vector<RowIndex>& rows);

/// What right and wrong rows have in common, by how many keys they see.
Hint hint_of(const Problem& problem, const Judged& judged);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_WRONG_ROWS_H_
