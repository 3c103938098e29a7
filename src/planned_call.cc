// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/planned_call.h"

#include <cinttypes>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "additive_run.h"
#include "backward_plan.h"
#include "backward_run.h"
#include "carve.h"
#include "linear_plan.h"
#include "linear_run.h"
#include "rounds.h"
#include "run.h"
#include "target.h"
#include "validate.h"
#include "validate_additive.h"
#include "validate_linear.h"
#include "workspace.h"

namespace foveate {
namespace {

// What the rounds of a call refer to: its arguments, copied, and its plan. It lies at the head of the workspace.

struct HeldAttention {
  ConstTensor q, k, v;
  AttentionOptions options;
  AttentionOutputs outputs;
  Execution execution;
  Extents extents;
  Plan plan;
  Arguments arguments{{q, k, v, options}, outputs};
  RoundsMemory memory{};
};

struct HeldBackward {
  ConstTensor q, k, v, o, lse, d_o;
  AttentionGradients gradients;
  AttentionOptions options;
  Execution execution;
  Extents extents;
  BackwardPlan plan;
  BackwardArguments arguments{{q, k, v, options}, o, lse, d_o, gradients};
  RoundsMemory memory{};
};

struct HeldLinear {
  ConstTensor q, k, v;
  Tensor o;
  LinearOptions options;
  Execution execution;
  Extents extents;
  LinearTasks plan;
  LinearArguments arguments{{q, k, v, options}, o};
  RoundsMemory memory{};
};

struct HeldLinearBackward {
  ConstTensor q, k, v, d_o;
  LinearGradients gradients;
  LinearOptions options;
  Execution execution;
  Extents extents;
  LinearTasks plan;
  LinearBackwardArguments arguments{{q, k, v, options}, d_o, gradients};
  RoundsMemory memory{};
};

struct HeldAdditive {
  ConstTensor q, k, v;
  AdditiveParameters parameters;
  AttentionOutputs outputs;
  AttentionOptions options;
  Execution execution;
  AdditiveSizes sizes;
  AdditivePlan plan;
  AdditiveArguments arguments{{{q, k, v, options}, outputs}, parameters};
  NestedRoundsMemory memory{};
};

struct HeldAdditiveBackward {
  ConstTensor q, k, v, o, lse, d_o;
  AdditiveParameters parameters;
  AdditiveGradients gradients;
  AttentionOptions options;
  Execution execution;
  AdditiveSizes sizes;
  AdditiveBackwardPlan plan;
  AdditiveBackwardArguments arguments{{{q, k, v, options}, o, lse, d_o, gradients}, parameters, gradients};
  NestedRoundsMemory memory{};
};

Status check_in(const char* name, int64_t value, int64_t end) {
  if (value >= 0 && value < end) return {};
  if (end == 0) return Status::error(StatusCode::invalid_argument, "%s: %" PRId64 "; the call has none", name, value);
  return Status::error(StatusCode::invalid_argument, "%s: %" PRId64 "; expected 0 to %" PRId64, name, value, end - 1);
}

/// Checks what a call is begun with, its arguments first; gives its sizes and the kernels that it will use.
template <class CallArguments>
Status check(const CallArguments& arguments, int64_t workers, const PlannedCall* call, Extents* extents,
             const kernels::TargetKernels** kernels) {
  // The executor is not used.
  if (Status status = checked(arguments, Execution{}, extents); !status.ok()) return status;
  if (Status status = validate_workers("workers", workers); !status.ok()) return status;
  if (call == nullptr) return Status::error(StatusCode::invalid_argument, "call: the pointer is null");
  return choose_kernels(kernels);
}

}  // namespace

struct PlannedCall::Beginning {
  PlannedCall* call;
  int64_t workers;
  const Execution& execution;
  const char* planner;  ///< the call that tells how many bytes are needed

  /// Finds memory for what a call holds and its workspace, and lets place(where to hold, workspace) put the call there.
  template <class Held, class Place>
  Status run(size_t plan_bytes, const Place& place) const {
    constexpr size_t kHeld = (sizeof(Held) + kWorkspaceAlign - 1) / kWorkspaceAlign * kWorkspaceAlign;
    static_assert(kHeld + kWorkspaceAlign <= kBytes && std::is_trivially_destructible_v<Held>);
    const size_t bytes = plan_bytes > std::numeric_limits<size_t>::max() - kBytes ? std::numeric_limits<size_t>::max()
                                                                                  : plan_bytes + kBytes;
    void* memory = execution.workspace;
    std::unique_ptr<char[]> own;
    if (memory != nullptr && execution.workspace_bytes < bytes) {
      return Status::error(
          StatusCode::workspace_too_small,
          "workspace: %zu bytes; this call needs %zu (%s tells, and PlannedCall::kBytes; in C: begin_bytes)",
          execution.workspace_bytes, bytes, planner);
    }
    if (memory == nullptr) {
      own.reset(new (std::nothrow) char[bytes]);
      if (own == nullptr) {
        return Status::error(StatusCode::out_of_memory, "workspace: %zu bytes could not be allocated", bytes);
      }
      memory = own.get();
    }
    Carve carve(memory);
    char* const held = carve.take(kHeld);
    call->rounds_ = place(held, carve.take(0));
    call->workers_ = workers;
    call->memory_ = std::move(own);
    return {};
  }

  /// A call without rows: nothing is left to do.
  Status nothing() const {
    *call = PlannedCall();
    return {};
  }
};

PlannedCall::PlannedCall() = default;
PlannedCall::~PlannedCall() = default;

PlannedCall::PlannedCall(PlannedCall&& other) noexcept
    : rounds_(std::exchange(other.rounds_, nullptr)),
      workers_(std::exchange(other.workers_, 0)),
      memory_(std::move(other.memory_)) {}

PlannedCall& PlannedCall::operator=(PlannedCall&& other) noexcept {
  rounds_ = std::exchange(other.rounds_, nullptr);
  workers_ = std::exchange(other.workers_, 0);
  memory_ = std::move(other.memory_);
  return *this;
}

int64_t PlannedCall::rounds() const { return rounds_ != nullptr ? rounds_->rounds() : 0; }

int64_t PlannedCall::tasks(int64_t round) const { return round >= 0 && round < rounds() ? rounds_->tasks(round) : 0; }

Status PlannedCall::run(int64_t round, int64_t first, int64_t count, int64_t worker) {
  if (Status status = check_in("round", round, rounds()); !status.ok()) return status;
  if (Status status = check_in("worker", worker, workers_); !status.ok()) return status;
  const int64_t n = rounds_->tasks(round);
  if (Status status = check_in("first", first, n + 1); !status.ok()) return status;
  if (Status status = check_in("count", count, n - first + 1); !status.ok()) return status;
  rounds_->run(round, first, count, worker);
  return rounds_->status();
}

Status PlannedCall::status() const { return rounds_ != nullptr ? rounds_->status() : Status(); }

Status begin_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                       const AttentionOutputs& outputs, const AttentionOptions& options, int64_t workers,
                       const Execution& execution, PlannedCall* call) {
  const Arguments arguments{{q, k, v, options}, outputs};
  Extents e;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = check(arguments, workers, call, &e, &kernels); !status.ok()) return status;
  const PlannedCall::Beginning beginning{call, workers, execution, "attention_plan"};
  if (e.b == 0 || e.h_q == 0 || e.n_q == 0) return beginning.nothing();
  const bool f64 = q.dtype == DType::f64, weights = outputs.weights.present();
  const auto plan_in = f64 ? plan_call<double> : plan_call<float>;
  Plan plan = plan_in(e, options, weights, workers, *kernels, q.dtype);
  plan.keep_nothing();
  return beginning.run<HeldAttention>(plan.workspace_bytes(workers), [&](void* memory, void* workspace) {
    auto* const held = new (memory) HeldAttention{q, k, v, options, outputs, execution, e, plan};
    return f64 ? place_run<double>(&held->memory, held->arguments, held->extents, held->plan, workspace, workers,
                                   held->execution, *kernels)
               : place_run<float>(&held->memory, held->arguments, held->extents, held->plan, workspace, workers,
                                  held->execution, *kernels);
  });
}

Status begin_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& o,
                                const ConstTensor& lse, const ConstTensor& d_o, const AttentionGradients& gradients,
                                const AttentionOptions& options, int64_t workers, const Execution& execution,
                                PlannedCall* call) {
  const BackwardArguments arguments{{q, k, v, options}, o, lse, d_o, gradients};
  Extents e;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = check(arguments, workers, call, &e, &kernels); !status.ok()) return status;
  const bool f64 = q.dtype == DType::f64;
  const auto plan_in = f64 ? plan_backward<double> : plan_backward<float>;
  const int64_t rows = q.shape[0] * q.shape[1] * q.shape[2];
  const BackwardPlan plan = plan_in(e, options, rows, gradients, workers, *kernels, /*tanh=*/false);
  const PlannedCall::Beginning beginning{call, workers, execution, "attention_backward_plan"};
  return beginning.run<HeldBackward>(plan.workspace_bytes(workers), [&](void* memory, void* workspace) {
    auto* const held = new (memory) HeldBackward{q, k, v, o, lse, d_o, gradients, options, execution, e, plan};
    return f64 ? place_backward<double>(&held->memory, held->arguments, held->extents, held->plan, workspace, workers,
                                        held->execution, *kernels)
               : place_backward<float>(&held->memory, held->arguments, held->extents, held->plan, workspace, workers,
                                       held->execution, *kernels);
  });
}

Status begin_linear_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const Tensor& o,
                              const LinearOptions& options, int64_t workers, const Execution& execution,
                              PlannedCall* call) {
  const LinearArguments arguments{{q, k, v, options}, o};
  Extents e;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = check(arguments, workers, call, &e, &kernels); !status.ok()) return status;
  const bool f64 = q.dtype == DType::f64;
  const auto plan_in = f64 ? plan_linear_call<double> : plan_linear_call<float>;
  const auto place = f64 ? place_linear<double> : place_linear<float>;
  const LinearTasks plan = plan_in(e, /*backward=*/false, workers, *kernels);
  const PlannedCall::Beginning beginning{call, workers, execution, "linear_attention_plan"};
  return beginning.run<HeldLinear>(plan.workspace_bytes(workers), [&](void* memory, void* workspace) {
    auto* const held = new (memory) HeldLinear{q, k, v, o, options, execution, e, plan};
    return place(&held->memory, held->arguments, held->extents, held->plan, workspace, workers, held->execution,
                 *kernels);
  });
}

Status begin_linear_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                       const ConstTensor& d_o, const LinearGradients& gradients,
                                       const LinearOptions& options, int64_t workers, const Execution& execution,
                                       PlannedCall* call) {
  const LinearBackwardArguments arguments{{q, k, v, options}, d_o, gradients};
  Extents e;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = check(arguments, workers, call, &e, &kernels); !status.ok()) return status;
  const bool f64 = q.dtype == DType::f64;
  const auto plan_in = f64 ? plan_linear_call<double> : plan_linear_call<float>;
  const auto place = f64 ? place_linear_backward<double> : place_linear_backward<float>;
  const LinearTasks plan = plan_in(e, /*backward=*/true, workers, *kernels);
  const PlannedCall::Beginning beginning{call, workers, execution, "linear_attention_plan"};
  return beginning.run<HeldLinearBackward>(plan.workspace_bytes(workers), [&](void* memory, void* workspace) {
    auto* const held = new (memory) HeldLinearBackward{q, k, v, d_o, gradients, options, execution, e, plan};
    return place(&held->memory, held->arguments, held->extents, held->plan, workspace, workers, held->execution,
                 *kernels);
  });
}

Status begin_additive_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                const AdditiveParameters& parameters, const AttentionOutputs& outputs,
                                const AttentionOptions& options, int64_t workers, const Execution& execution,
                                PlannedCall* call) {
  const AdditiveArguments arguments{{{q, k, v, options}, outputs}, parameters};
  Extents e;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = check(arguments, workers, call, &e, &kernels); !status.ok()) return status;
  const PlannedCall::Beginning beginning{call, workers, execution, "additive_attention_plan"};
  if (e.b == 0 || e.h_q == 0 || e.n_q == 0) return beginning.nothing();
  const bool f64 = q.dtype == DType::f64, weights = outputs.weights.present();
  const auto plan_in = f64 ? plan_additive<double> : plan_additive<float>;
  const auto place = f64 ? place_additive<double> : place_additive<float>;
  const AdditiveSizes sizes = sizes_of(arguments, e, parameters.w.size);
  const AdditivePlan plan = plan_in(sizes, options, weights, workers, *kernels);
  return beginning.run<HeldAdditive>(plan.workspace_bytes(workers), [&](void* memory, void* workspace) {
    auto* const held = new (memory) HeldAdditive{q, k, v, parameters, outputs, options, execution, sizes, plan};
    return place(&held->memory, held->arguments, held->sizes, held->plan, workspace, workers, held->execution,
                 *kernels);
  });
}

Status begin_additive_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                         const AdditiveParameters& parameters, const ConstTensor& o,
                                         const ConstTensor& lse, const ConstTensor& d_o,
                                         const AdditiveGradients& gradients, const AttentionOptions& options,
                                         int64_t workers, const Execution& execution, PlannedCall* call) {
  const AdditiveBackwardArguments arguments{{{q, k, v, options}, o, lse, d_o, gradients}, parameters, gradients};
  Extents e;
  const kernels::TargetKernels* kernels = nullptr;
  if (Status status = check(arguments, workers, call, &e, &kernels); !status.ok()) return status;
  const bool f64 = q.dtype == DType::f64;
  const auto plan_in = f64 ? plan_additive_backward<double> : plan_additive_backward<float>;
  const auto place = f64 ? place_additive_backward<double> : place_additive_backward<float>;
  const AdditiveSizes sizes = sizes_of(arguments, e, parameters.w.size);
  const AdditiveBackwardPlan plan = plan_in(sizes, options, gradients, workers, *kernels);
  const PlannedCall::Beginning beginning{call, workers, execution, "additive_attention_backward_plan"};
  return beginning.run<HeldAdditiveBackward>(plan.workspace_bytes(workers), [&](void* memory, void* workspace) {
    auto* const held =
        new (memory) HeldAdditiveBackward{q, k, v, o, lse, d_o, parameters, gradients, options, execution, sizes, plan};
    return place(&held->memory, held->arguments, held->sizes, held->plan, workspace, workers, held->execution,
                 *kernels);
  });
}

}  // namespace foveate
