// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/attention_backward.h"

#include <cstdint>

#include "backward_plan.h"
#include "backward_run.h"
#include "target.h"
#include "tile_tasks.h"
#include "validate.h"
#include "workspace.h"

namespace foveate {
namespace {

template <class T>
Status plan_and_run(const BackwardArguments& arguments, const Extents& extents, const Execution& execution,
                    const kernels::TargetKernels& kernels) {
  const int64_t workers = workers_of(execution);
  const int64_t(&q)[4] = arguments.q.shape;
  const BackwardPlan plan =
      plan_backward<T>(extents, arguments.options, q[0] * q[1] * q[2], arguments.gradients, workers, kernels);
  return with_workspace(execution, plan.workspace_bytes(workers), "attention_backward_plan", [&](void* workspace) {
    return run_backward<T>(arguments, extents, plan, workspace, workers, execution, kernels);
  });
}

}  // namespace

Status attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& o,
                          const ConstTensor& lse, const ConstTensor& d_o, const AttentionGradients& gradients,
                          const AttentionOptions& options, const Execution& execution) {
  const BackwardArguments arguments{{q, k, v, options}, o, lse, d_o, gradients};
  Extents extents;
  if (Status status = checked(arguments, execution, &extents); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  return q.dtype == DType::f64 ? plan_and_run<double>(arguments, extents, execution, *kernels)
                               : plan_and_run<float>(arguments, extents, execution, *kernels);
}

Status attention_backward_plan(const AttentionShape& shape, const AttentionGradients& gradients, int64_t workers,
                               AttentionBackwardPlan* result) {
  Extents extents;
  if (Status status = validate(shape, &extents); !status.ok()) return status;
  if (Status status = validate_workers("workers", workers); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  if (result == nullptr) return Status::error(StatusCode::invalid_argument, "plan: the pointer is null");
  const auto plan_for = [&](int64_t kv_offset, int64_t block_size) {
    const int64_t rows = extents.b * extents.h_q * extents.n_q;
    AttentionOptions options;
    options.kv_offset = kv_offset;
    options.block_size = block_size;
    return shape.dtype == DType::f64 ? plan_backward<double>(extents, options, rows, gradients, workers, *kernels)
                                     : plan_backward<float>(extents, options, rows, gradients, workers, *kernels);
  };
  result->tasks = plan_for(shape.kv_offset, shape.block_size).tasks;
  result->workspace_bytes = most_bytes(plan_for, workers, shape.dtype, *kernels);
  return {};
}

}  // namespace foveate
