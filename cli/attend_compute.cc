// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_compute.h"

#include <atomic>

#include "cli/axes.h"
#include "foveate/dropout.h"

namespace foveate::cli {

Computation::Computation(const AttendArguments& arguments, const AttendInputs& inputs, const AttendOutputs& outputs)
    : arguments_(arguments),
      inputs_(inputs),
      operator_(make_operator(arguments, inputs)),
      options_(options_with_arrays(arguments.options, inputs)),
      outputs_(outputs.views()),
      dropout_mask_(outputs.dropout_mask()),
      gradients_(outputs.gradients()) {
  if (inputs.grad.dtype == DType::none) return;
  d_o_ = view_on_bhnd(inputs.grad, arguments.layout);
  if (!operator_->wants_state()) return;
  held_ = held_state(inputs.shape, !outputs_.o.present());
  if (!outputs_.o.present()) outputs_.o = held_.o;
  if (!outputs_.lse.present()) outputs_.lse = held_.lse;
}

Status Computation::check() {
  const HeldState state = held_state(inputs_.shape, true);
  const std::atomic<bool> stop = true;
  const auto refused = [](const Status& status) { return !status.ok() && status.code() != StatusCode::cancelled; };
  const Status forward = operator_->attend({.o = state.o}, {.stop = &stop});
  if (refused(forward)) return forward;
  const Status backward = differentiate({.stop = &stop});
  if (refused(backward)) return backward;
  if (inputs_.pieces != nullptr) {
    piecewise_ = std::make_unique<PiecewiseAttention>(
        inputs_.shape, arguments_.layout, view_on_bhnd(inputs_.q, arguments_.layout), options_, *inputs_.pieces);
  }
  return {};
}

int64_t Computation::tasks(int64_t workers) const {
  return piecewise_ != nullptr ? piecewise_->tasks(workers) : operator_->tasks(gradients_, workers);
}

Status Computation::attend(const Execution& execution) const {
  if (!outputs_.o.present() && !outputs_.lse.present() && !outputs_.weights.present()) return {};
  return piecewise_ != nullptr ? piecewise_->run(outputs_, execution) : operator_->attend(outputs_, execution);
}

Status Computation::differentiate(const Execution& execution) const {
  if (!d_o_.present()) return {};
  return operator_->differentiate({outputs_.o, outputs_.lse, d_o_}, gradients_, execution);
}

Status Computation::run(const Execution& execution) const {
  Status status = attend(execution);
  if (status.ok()) status = differentiate(execution);
  if (!status.ok() || !dropout_mask_.present()) return status;
  return dropout_mask(dropout_mask_, options_, {.executor = execution.executor, .stop = execution.stop});
}

}  // namespace foveate::cli
