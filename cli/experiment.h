// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The experiment of `foveate demo`: attention over random Q, K and V, once with the scores as they are and once with
// them divided by sqrt(d_k), and what that does to the weights.
#ifndef FOVEATE_CLI_EXPERIMENT_H_
#define FOVEATE_CLI_EXPERIMENT_H_

#include <cstdint>

#include "cli/heatmap.h"
#include "foveate/executor.h"

namespace foveate::cli {

/// Q, K and V are [batch, heads, seq, d_k] each, float64, and drawn in that order by NumPy's randn after seed(seed).
struct ExperimentSetup {
  uint32_t seed = 42;
  int64_t batch = 2;
  int64_t heads = 4;
  int64_t seq = 8;
  int64_t d_k = 16;
};

/// Over all batches, heads, queries and keys.
struct ExperimentResult {
  double raw_variance = 0;       ///< of q . k; in theory d_k
  double scaled_variance = 0;    ///< of q . k / sqrt(d_k); in theory 1
  double raw_largest = 0;        ///< the largest weight of a row, averaged over the rows: unscaled
  double scaled_largest = 0;     ///< the same with scaling
  bool rows_sum_to_one = false;  ///< np.allclose of the scaled weights' row sums and 1
  Weights raw_weights;           ///< batch 0, head 0
  Weights scaled_weights;
};

/// Bytes that run_experiment takes; rounded, so that no setup overflows it.
double experiment_bytes(const ExperimentSetup& setup);

/// Throws as errors.h says where the engine reports a failure.
ExperimentResult run_experiment(const ExperimentSetup& setup, Executor* executor = nullptr);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_EXPERIMENT_H_
