// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which heads of a call attend nearly alike, without their matrices.
//
// With random signs r_j in R^m in place of the values, a head's output is o_i = sum_j p_ij r_j, and the mean of
// |o_i^g - o_i^h|^2 / m over the signs is |p_i^g - p_i^h|^2 (Achlioptas, 2003: doi:10.1016/S0022-0000(03)00025-4). So one
// attention call with m columns of signs, the same to all heads, stands for all rows.
#ifndef FOVEATE_INSIGHT_SIMILAR_HEADS_H_
#define FOVEATE_INSIGHT_SIMILAR_HEADS_H_

#include <cstdint>
#include <vector>

#include "foveate/attention.h"
#include "foveate/inspect.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate::insight {

/// Columns of signs. A distance is off by sqrt(2 / m), a quarter, and all rows of a call alike where their weights are: so it
/// tells heads that are nearly the same from others, no more.
inline constexpr int64_t kSigns = 32;

/// Rows of fewer keys are alike in all heads.
inline constexpr int64_t kLeastKeys = 8;

struct SimilarHeads {
  int64_t b, first, second;  ///< query heads of one sequence, first < second
  double distance;  ///< the mean of |p^g - p^h|^2 / (|p^g|^2 + |p^h|^2) over rows: 0: the same, 1: no key in common
};

/// The pairs at most `most` apart, the nearest first. `rows` as inspect() gives them tell which rows count: finite in both
/// heads, and of kLeastKeys keys or more.
Status similar_heads(const ConstTensor& q, const ConstTensor& k, const AttentionOptions& options,
                     const RowFigures* rows, double most, const Execution& execution, std::vector<SimilarHeads>* pairs);

}  // namespace foveate::insight

#endif  // FOVEATE_INSIGHT_SIMILAR_HEADS_H_
