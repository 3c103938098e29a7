// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Dropout left on: random numbers that are not known, so no variant reproduces it. But a row with no more keys than values
// have components tells its weights, and those are either 0 or all the same multiple of what they should be; and the zeros
// lie at random (randomness.h), for a rule that leaves weights out is another mistake.
#ifndef FOVEATE_DIAGNOSIS_DROPOUT_H_
#define FOVEATE_DIAGNOSIS_DROPOUT_H_

#include <optional>
#include <vector>

#include "diagnosis/fit.h"
#include "diagnosis/problem.h"

namespace foveate::diagnosis {

struct Dropout {
  double probability = 0;
  bool rescaled = true;  ///< weights that were kept were divided by 1 - P
  double residual = 0;   ///< the largest difference from rows of such weights
  int64_t rows = 0;      ///< whose weights were solved for
};

/// `rows`: each once. Nothing where the weights of too few can be solved for, some weight is neither, or zeros are not random.
std::optional<Dropout> find_dropout(const Problem& problem, const std::vector<RowIndex>& rows);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_DROPOUT_H_
