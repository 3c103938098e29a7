// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Walks a plan on an executor: lays out the workspace, writes each tile's task out and calls the kernel.
#ifndef FOVEATE_SRC_RUN_H_
#define FOVEATE_SRC_RUN_H_

#include "foveate/attention.h"
#include "foveate/status.h"
#include "kernels/tile.h"
#include "plan.h"
#include "rounds.h"
#include "validate.h"

namespace foveate {

/// The plan of a validated call in which something is to be computed.
template <class T>
Plan plan_call(const Extents& extents, const AttentionOptions& options, bool wants_weights, int64_t workers,
               const kernels::TargetKernels& kernels, DType dtype);

/// The rounds of it, in a workspace of plan.workspace_bytes(workers). In additive attention `tanh` is what scores are made of,
/// and q and k are the rows that it adds, of T whatever the outputs are.
template <class T>
Rounds* place_run(RoundsMemory* memory, const Arguments& arguments, const Extents& extents, const Plan& plan,
                  void* workspace, int64_t workers, const Execution& execution, const kernels::TargetKernels& kernels,
                  const kernels::TanhScores<T>* tanh = nullptr);

/// Runs them. Either every row is written, or `cancelled`.
template <class T>
Status run(const Arguments& arguments, const Extents& extents, const Plan& plan, void* workspace, int64_t workers,
           const Execution& execution, const kernels::TargetKernels& kernels,
           const kernels::TanhScores<T>* tanh = nullptr) {
  RoundsMemory memory;
  return run_all(*place_run<T>(&memory, arguments, extents, plan, workspace, workers, execution, kernels, tanh),
                 execution);
}

}  // namespace foveate

#endif  // FOVEATE_SRC_RUN_H_
