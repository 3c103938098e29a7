// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Additive attention around the passes of attention: projects q and k to the rows u and t, runs a pass whose scores are
// sums of tanh, and takes its gradients by u and t to those of q, k and the parameters.
#ifndef FOVEATE_SRC_ADDITIVE_RUN_H_
#define FOVEATE_SRC_ADDITIVE_RUN_H_

#include <cstddef>
#include <cstdint>

#include "additive_rows.h"
#include "backward_plan.h"
#include "foveate/attention.h"
#include "foveate/status.h"
#include "kernels/tile.h"
#include "plan.h"
#include "rounds.h"
#include "validate_additive.h"

namespace foveate {

struct AdditivePlan {
  Plan pass;  ///< over u and t
  AdditiveLayout layout;
  int64_t tasks;

  size_t workspace_bytes(int64_t workers) const;
};

struct AdditiveBackwardPlan {
  BackwardPlan pass;
  AdditiveLayout layout;
  int64_t tasks;
  int64_t dw_parts;  ///< sums of the gradient of w
  bool rows;         ///< gradients of u and t are wanted

  size_t workspace_bytes(int64_t workers) const;
};

template <class T>
AdditivePlan plan_additive(const AdditiveSizes& sizes, const AttentionOptions& options, bool wants_weights,
                           int64_t workers, const kernels::TargetKernels& kernels);

/// The rounds of such a call, in a workspace of plan.workspace_bytes(workers). What it is handed outlives it; parameters are read
/// here, and the rounds run once.
template <class T>
Rounds* place_additive(NestedRoundsMemory* memory, const AdditiveArguments& arguments, const AdditiveSizes& sizes,
                       const AdditivePlan& plan, void* workspace, int64_t workers, const Execution& execution,
                       const kernels::TargetKernels& kernels);

/// Of the gradients only whether they are present matters, and the extents of dbias.
template <class T>
AdditiveBackwardPlan plan_additive_backward(const AdditiveSizes& sizes, const AttentionOptions& options,
                                            const AdditiveGradients& gradients, int64_t workers,
                                            const kernels::TargetKernels& kernels);

/// The same of its gradients.
template <class T>
Rounds* place_additive_backward(NestedRoundsMemory* memory, const AdditiveBackwardArguments& arguments,
                                const AdditiveSizes& sizes, const AdditiveBackwardPlan& plan, void* workspace,
                                int64_t workers, const Execution& execution, const kernels::TargetKernels& kernels);

}  // namespace foveate

#endif  // FOVEATE_SRC_ADDITIVE_RUN_H_
