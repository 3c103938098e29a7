// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The public calls of linear attention: validate, choose kernels, plan, find memory, run.
#include "foveate/linear.h"

#include "linear_plan.h"
#include "linear_run.h"
#include "target.h"
#include "validate_linear.h"
#include "workspace.h"

namespace foveate {
namespace {

constexpr const char* kPlanner = "linear_attention_plan";

LinearTasks plan_of(const Extents& extents, DType dtype, bool backward, int64_t workers,
                    const kernels::TargetKernels& kernels) {
  return dtype == DType::f64 ? plan_linear_call<double>(extents, backward, workers, kernels)
                             : plan_linear_call<float>(extents, backward, workers, kernels);
}

}  // namespace

Status linear_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const Tensor& o,
                        const LinearOptions& options, const Execution& execution) {
  const LinearArguments arguments{{q, k, v, options}, o};
  Extents extents;
  if (Status status = checked(arguments, execution, &extents); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  const int64_t workers = workers_of(execution);
  const LinearTasks plan = plan_of(extents, q.dtype, false, workers, *kernels);
  return with_workspace(execution, plan.workspace_bytes(workers), kPlanner, [&](void* workspace) {
    RoundsMemory memory;
    const auto place = q.dtype == DType::f64 ? place_linear<double> : place_linear<float>;
    return run_all(*place(&memory, arguments, extents, plan, workspace, workers, execution, *kernels), execution);
  });
}

Status linear_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                 const ConstTensor& d_o, const LinearGradients& gradients, const LinearOptions& options,
                                 const Execution& execution) {
  const LinearBackwardArguments arguments{{q, k, v, options}, d_o, gradients};
  Extents extents;
  if (Status status = checked(arguments, execution, &extents); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  const int64_t workers = workers_of(execution);
  const LinearTasks plan = plan_of(extents, q.dtype, true, workers, *kernels);
  return with_workspace(execution, plan.workspace_bytes(workers), kPlanner, [&](void* workspace) {
    RoundsMemory memory;
    const auto place = q.dtype == DType::f64 ? place_linear_backward<double> : place_linear_backward<float>;
    return run_all(*place(&memory, arguments, extents, plan, workspace, workers, execution, *kernels), execution);
  });
}

Status linear_attention_plan(const LinearShape& shape, int64_t workers, LinearPlan* result) {
  Extents extents;
  if (Status status = validate(shape, &extents); !status.ok()) return status;
  if (Status status = validate_workers("workers", workers); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  if (result == nullptr) return Status::error(StatusCode::invalid_argument, "plan: the pointer is null");
  const LinearTasks forward = plan_of(extents, shape.dtype, false, workers, *kernels);
  const LinearTasks backward = plan_of(extents, shape.dtype, true, workers, *kernels);
  *result = {.tasks = forward.tasks,
             .workspace_bytes = forward.workspace_bytes(workers),
             .backward_tasks = backward.tasks,
             .backward_workspace_bytes = backward.workspace_bytes(workers)};
  return {};
}

}  // namespace foveate
