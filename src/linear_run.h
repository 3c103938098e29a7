// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Runs linear attention: walks its plan on the executor, a task a split.
#ifndef FOVEATE_SRC_LINEAR_RUN_H_
#define FOVEATE_SRC_LINEAR_RUN_H_

#include <cstdint>

#include "foveate/linear.h"
#include "foveate/status.h"
#include "kernels/tile.h"
#include "linear_plan.h"
#include "rounds.h"
#include "validate_linear.h"

namespace foveate {

/// Plans a call computed in T.
template <class T>
LinearTasks plan_linear_call(const Extents& extents, bool backward, int64_t workers,
                             const kernels::TargetKernels& kernels);

/// The rounds of a planned call, in a workspace of at least its bytes.
template <class T>
Rounds* place_linear(RoundsMemory* memory, const LinearArguments& arguments, const Extents& extents,
                     const LinearTasks& plan, void* workspace, int64_t workers, const Execution& execution,
                     const kernels::TargetKernels& kernels);

/// The same of the gradients.
template <class T>
Rounds* place_linear_backward(RoundsMemory* memory, const LinearBackwardArguments& arguments, const Extents& extents,
                              const LinearTasks& plan, void* workspace, int64_t workers, const Execution& execution,
                              const kernels::TargetKernels& kernels);

}  // namespace foveate

#endif  // FOVEATE_SRC_LINEAR_RUN_H_
