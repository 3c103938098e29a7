// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The public calls: validate, choose kernels, plan, find memory, run.
#include "foveate/additive.h"

#include <cstdint>

#include "additive_run.h"
#include "target.h"
#include "validate_additive.h"
#include "workspace.h"

namespace foveate {
namespace {

template <class T>
Status attend(const AdditiveArguments& arguments, const AdditiveSizes& sizes, const Execution& execution,
              const kernels::TargetKernels& kernels) {
  const int64_t workers = workers_of(execution);
  const AdditivePlan plan =
      plan_additive<T>(sizes, arguments.options, arguments.outputs.weights.present(), workers, kernels);
  return with_workspace(execution, plan.workspace_bytes(workers), "additive_attention_plan", [&](void* workspace) {
    NestedRoundsMemory memory;
    return run_all(*place_additive<T>(&memory, arguments, sizes, plan, workspace, workers, execution, kernels),
                   execution);
  });
}

template <class T>
Status differentiate(const AdditiveBackwardArguments& arguments, const AdditiveSizes& sizes, const Execution& execution,
                     const kernels::TargetKernels& kernels) {
  const int64_t workers = workers_of(execution);
  const AdditiveBackwardPlan plan =
      plan_additive_backward<T>(sizes, arguments.options, arguments.all, workers, kernels);
  return with_workspace(
      execution, plan.workspace_bytes(workers), "additive_attention_backward_plan", [&](void* workspace) {
        NestedRoundsMemory memory;
        return run_all(
            *place_additive_backward<T>(&memory, arguments, sizes, plan, workspace, workers, execution, kernels),
            execution);
      });
}

/// The sizes of a call that is only planned.
Status planned_sizes(const AttentionShape& shape, int64_t d_a, int64_t workers, const void* plan, AdditiveSizes* sizes,
                     const kernels::TargetKernels** kernels) {
  Extents e;
  if (Status status = validate(shape, d_a, &e); !status.ok()) return status;
  if (Status status = validate_workers("workers", workers); !status.ok()) return status;
  if (Status status = choose_kernels(kernels); !status.ok()) return status;
  if (plan == nullptr) return Status::error(StatusCode::invalid_argument, "plan: the pointer is null");
  *sizes = {e, d_a, e.b * e.h_q * e.n_q, e.b * e.h_kv * e.n_kv};
  return {};
}

}  // namespace

Status additive_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                          const AdditiveParameters& parameters, const AttentionOutputs& outputs,
                          const AttentionOptions& options, const Execution& execution) {
  const AdditiveArguments arguments{{{q, k, v, options}, outputs}, parameters};
  Extents e;
  if (Status status = checked(arguments, execution, &e); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  if (e.b == 0 || e.h_q == 0 || e.n_q == 0) return {};
  const AdditiveSizes sizes = sizes_of(arguments, e, parameters.w.size);
  return q.dtype == DType::f64 ? attend<double>(arguments, sizes, execution, *kernels)
                               : attend<float>(arguments, sizes, execution, *kernels);
}

Status additive_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                   const AdditiveParameters& parameters, const ConstTensor& o, const ConstTensor& lse,
                                   const ConstTensor& d_o, const AdditiveGradients& gradients,
                                   const AttentionOptions& options, const Execution& execution) {
  const AdditiveBackwardArguments arguments{{{q, k, v, options}, o, lse, d_o, gradients}, parameters, gradients};
  Extents e;
  if (Status status = checked(arguments, execution, &e); !status.ok()) return status;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = choose_kernels(&kernels); !status.ok()) return status;
  const AdditiveSizes sizes = sizes_of(arguments, e, parameters.w.size);
  return q.dtype == DType::f64 ? differentiate<double>(arguments, sizes, execution, *kernels)
                               : differentiate<float>(arguments, sizes, execution, *kernels);
}

Status additive_attention_plan(const AttentionShape& shape, int64_t d_a, int64_t workers, AttentionPlan* result) {
  AdditiveSizes sizes;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = planned_sizes(shape, d_a, workers, result, &sizes, &kernels); !status.ok()) return status;
  const Extents& e = sizes.extents;
  *result = {.block_keys = kernels::kBlockKeys, .split_keys = kernels::kSplitKeys};
  if (e.b == 0 || e.h_q == 0 || e.n_q == 0) return {};
  const auto plan_for = [&](int64_t kv_offset, int64_t block_size, bool weights = false) {
    AttentionOptions options;
    options.kv_offset = kv_offset;
    options.block_size = block_size;
    return shape.dtype == DType::f64 ? plan_additive<double>(sizes, options, weights, workers, *kernels)
                                     : plan_additive<float>(sizes, options, weights, workers, *kernels);
  };
  const AdditivePlan plan = plan_for(shape.kv_offset, shape.block_size, shape.weights);
  result->tile_rows = plan.pass.tile_rows;
  result->tiles = plan.pass.tiles;
  result->splits = plan.pass.splits;
  result->split_groups = plan.pass.share_splits ? plan.pass.splits : 1;
  result->tasks = plan.tasks;
  result->workspace_bytes = most_bytes(plan_for, workers, shape.dtype, *kernels);
  return {};
}

Status additive_attention_backward_plan(const AttentionShape& shape, const AdditiveGradients& gradients, int64_t d_a,
                                        int64_t workers, AttentionBackwardPlan* result) {
  AdditiveSizes sizes;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = planned_sizes(shape, d_a, workers, result, &sizes, &kernels); !status.ok()) return status;
  const auto plan_for = [&](int64_t kv_offset, int64_t block_size) {
    AttentionOptions options;
    options.kv_offset = kv_offset;
    options.block_size = block_size;
    return shape.dtype == DType::f64 ? plan_additive_backward<double>(sizes, options, gradients, workers, *kernels)
                                     : plan_additive_backward<float>(sizes, options, gradients, workers, *kernels);
  };
  result->tasks = plan_for(shape.kv_offset, shape.block_size).tasks;
  result->workspace_bytes = most_bytes(plan_for, workers, shape.dtype, *kernels);
  return {};
}

}  // namespace foveate
