// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The public calls: validate, choose kernels, plan, find memory, run.
#include "foveate/attention.h"

#include "plan.h"
#include "run.h"
#include "target.h"
#include "validate.h"
#include "workspace.h"

namespace foveate {
namespace {

template <class T>
Status plan_and_run(const Arguments& arguments, const Extents& extents, const Execution& execution,
                    const kernels::TargetKernels& kernels) {
  const int64_t workers = workers_of(execution);
  const Plan plan = plan_call<T>(extents, arguments.options, arguments.outputs.weights.present(), workers, kernels,
                                 arguments.q.dtype);
  return with_workspace(execution, plan.workspace_bytes(workers), "attention_plan", [&](void* workspace) {
    return run<T>(arguments, extents, plan, workspace, workers, execution, kernels);
  });
}

}  // namespace

Status attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const AttentionOutputs& outputs,
                 const AttentionOptions& options, const Execution& execution) {
  const Arguments arguments{{q, k, v, options}, outputs};
  Extents extents;
  if (Status status = checked(arguments, execution, &extents); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  if (extents.b == 0 || extents.h_q == 0 || extents.n_q == 0) return {};
  return q.dtype == DType::f64 ? plan_and_run<double>(arguments, extents, execution, *kernels)
                               : plan_and_run<float>(arguments, extents, execution, *kernels);
}

Status attention_plan(const AttentionShape& shape, int64_t workers, AttentionPlan* result) {
  Extents extents;
  if (Status status = validate(shape, &extents); !status.ok()) return status;
  if (Status status = validate_workers("workers", workers); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  if (result == nullptr) return Status::error(StatusCode::invalid_argument, "plan: the pointer is null");
  *result = {.block_keys = kernels::kBlockKeys, .split_keys = kernels::kSplitKeys};
  if (extents.b == 0 || extents.h_q == 0 || extents.n_q == 0) return {};

  const auto plan_for = [&](int64_t kv_offset, int64_t block_size, bool weights = false) {
    AttentionOptions options;
    options.kv_offset = kv_offset;
    options.block_size = block_size;
    return shape.dtype == DType::f64 ? plan_call<double>(extents, options, weights, workers, *kernels, shape.dtype)
                                     : plan_call<float>(extents, options, weights, workers, *kernels, shape.dtype);
  };
  const Plan plan = plan_for(shape.kv_offset, shape.block_size, shape.weights);
  result->tile_rows = plan.tile_rows;
  result->tiles = plan.tiles;
  result->splits = plan.splits;
  result->split_groups = plan.share_splits ? plan.splits : 1;
  result->tasks = plan.tasks;
  result->workspace_bytes = most_bytes(plan_for, workers, shape.dtype, *kernels);
  return {};
}

}  // namespace foveate
