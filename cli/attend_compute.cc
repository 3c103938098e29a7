// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_compute.h"

#include <atomic>

#include "cli/axes.h"
#include "foveate/dropout.h"

namespace foveate::cli {

Computation::Computation(const AttendArguments& arguments, const AttendInputs& inputs, const AttendOutputs& outputs)
    : inputs_(inputs),
      layout_(arguments.layout),
      q_(view_on_bhnd(inputs.q, layout_)),
      k_(view_on_bhnd(inputs.k, layout_)),
      v_(view_on_bhnd(inputs.v, layout_)),
      options_(options_with_arrays(arguments.options, inputs)),
      outputs_(outputs.views()),
      dropout_mask_(outputs.dropout_mask()),
      gradients_(outputs.gradients()) {
  if (inputs.grad.dtype == DType::none) return;
  d_o_ = view_on_bhnd(inputs.grad, layout_);
  held_ = held_state(inputs.shape, !outputs_.o.present());
  if (!outputs_.o.present()) outputs_.o = held_.o;
  if (!outputs_.lse.present()) outputs_.lse = held_.lse;
}

/// Calls that are stopped before their first task.
Status Computation::check() {
  const HeldState state = held_state(inputs_.shape, false);
  const std::atomic<bool> stop = true;
  const auto refused = [](const Status& status) { return !status.ok() && status.code() != StatusCode::cancelled; };
  const Status forward = attention(q_, k_, v_, {.lse = state.lse}, options_, {.stop = &stop});
  if (refused(forward)) return forward;
  const Status backward = differentiate({.stop = &stop});
  if (refused(backward)) return backward;
  if (inputs_.pieces != nullptr) {
    piecewise_ = std::make_unique<PiecewiseAttention>(inputs_.shape, layout_, q_, options_, *inputs_.pieces);
  }
  return {};
}

int64_t Computation::tasks(int64_t workers) const {
  if (piecewise_ != nullptr) return piecewise_->tasks(workers);
  AttentionPlan forward;
  AttentionBackwardPlan backward;
  int64_t tasks = 0;
  if (attention_plan(inputs_.shape, workers, &forward).ok()) tasks += forward.tasks;
  if (wants_gradients() && attention_backward_plan(inputs_.shape, gradients_, workers, &backward).ok()) {
    tasks += backward.tasks;
  }
  return tasks;
}

Status Computation::attend(const Execution& execution) const {
  if (!outputs_.o.present() && !outputs_.lse.present() && !outputs_.weights.present()) return {};
  return piecewise_ != nullptr ? piecewise_->run(outputs_, execution)
                               : attention(q_, k_, v_, outputs_, options_, execution);
}

Status Computation::differentiate(const Execution& execution) const {
  if (!wants_gradients()) return {};
  return attention_backward(q_, k_, v_, outputs_.o, outputs_.lse, d_o_, gradients_, options_, execution);
}

Status Computation::run(const Execution& execution) const {
  Status status = attend(execution);
  if (status.ok()) status = differentiate(execution);
  if (!status.ok() || !dropout_mask_.present()) return status;
  return dropout_mask(dropout_mask_, options_, {.executor = execution.executor, .stop = execution.stop});
}

}  // namespace foveate::cli
