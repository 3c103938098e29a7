// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Walks a backward plan on an executor.
#ifndef FOVEATE_SRC_BACKWARD_RUN_H_
#define FOVEATE_SRC_BACKWARD_RUN_H_

#include "backward_plan.h"
#include "foveate/attention.h"
#include "foveate/status.h"
#include "kernels/tile.h"
#include "rounds.h"
#include "validate.h"

namespace foveate {

/// The plan of a validated call. `query_rows` are the rows that q has memory for, over all heads.
template <class T>
BackwardPlan plan_backward(const Extents& extents, const AttentionOptions& options, int64_t query_rows,
                           const AttentionGradients& gradients, int64_t workers, const kernels::TargetKernels& kernels,
                           bool tanh = false);

/// The backward pass of additive attention: q and k are the rows that it adds, of T, whose gradients lack the factor 4 w.
template <class T>
struct TanhBackward {
  const kernels::TanhScores<T>* scores;  ///< nullptr: scores are products
  T* dw;  ///< [unit][chunk of keys][whole vectors of d_k], added to, scale not joined; nullptr: neither it nor dq and dk are wanted
};

/// The rounds of it, in a workspace of plan.workspace_bytes(workers).
template <class T>
Rounds* place_backward(RoundsMemory* memory, const BackwardArguments& arguments, const Extents& extents,
                       const BackwardPlan& plan, void* workspace, int64_t workers, const Execution& execution,
                       const kernels::TargetKernels& kernels, const TanhBackward<T>& tanh = {});

/// Runs them. Either every gradient is written, or `cancelled`.
template <class T>
Status run_backward(const BackwardArguments& arguments, const Extents& extents, const BackwardPlan& plan,
                    void* workspace, int64_t workers, const Execution& execution, const kernels::TargetKernels& kernels,
                    const TanhBackward<T>& tanh = {}) {
  RoundsMemory memory;
  return run_all(*place_backward<T>(&memory, arguments, extents, plan, workspace, workers, execution, kernels, tanh),
                 execution);
}

}  // namespace foveate

#endif  // FOVEATE_SRC_BACKWARD_RUN_H_
