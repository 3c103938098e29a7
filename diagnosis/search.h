// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which hypotheses explain somebody's result: all are screened on a few rows, where wrong ones fall on the first, and those
// left are compared on all rows, or as many as a budget allows.
#ifndef FOVEATE_DIAGNOSIS_SEARCH_H_
#define FOVEATE_DIAGNOSIS_SEARCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "diagnosis/fit.h"
#include "diagnosis/mistakes.h"
#include "diagnosis/problem.h"
#include "foveate/attention.h"

namespace foveate::diagnosis {

/// Thrown where the stop flag was raised.
struct Stopped {};

/// Runs task(0) ... task(n - 1) on the executor; throws Stopped where the flag was raised before all were done.
void run_tasks(const Execution& execution, int64_t n, const std::function<void(int64_t)>& task);

/// One mistake, or two.
struct Hypothesis {
  std::vector<const Mistake*> mistakes;
  Variant variant;
};

struct Accepted {
  Hypothesis hypothesis;
  Fit fit;
};

/// What a search looks through.
enum class Pool : uint8_t { structures, roundings, pairs_of_structures, pairs_with_rounding };

/// Those that have a meaning for the problem. `left_out` tells whether some pairs with a softmax over queries were, for the
/// work that they would take.
std::vector<Hypothesis> hypotheses(const Problem& problem, Pool pool, bool& left_out);

/// How many rows that is, at most.
int64_t most_rows(const Problem& problem);

/// The rows that a variant is compared on: all, or a sample within the budget.
std::vector<RowIndex> rows_to_compare(const Problem& problem);

/// How a variant fits on these rows.
Fit fit_on(const Problem& problem, const Variant& variant, const std::vector<RowIndex>& rows, bool sure,
           const Execution& execution);

/// Those that fit `sample` and then `rows`, as they came.
std::vector<Accepted> accepted(const Problem& problem, const std::vector<Hypothesis>& all,
                               const std::vector<RowIndex>& sample, const std::vector<RowIndex>& rows,
                               const Execution& execution);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_SEARCH_H_
