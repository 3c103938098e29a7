// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_compute.h"

#include <atomic>

#include "foveate/dropout.h"
#include "io/array.h"

namespace foveate::cli {

Computation::Computation(const AttendArguments& arguments, const AttendInputs& inputs)
    : inputs_(inputs),
      layout_(arguments.layout),
      q_(view_on_bhnd(inputs.q, layout_)),
      k_(view_on_bhnd(inputs.k, layout_)),
      v_(view_on_bhnd(inputs.v, layout_)),
      options_(options_with_arrays(arguments.options, inputs)) {}

/// A call that is stopped before its first task.
Status Computation::check() {
  const AttentionShape& s = inputs_.shape;
  io::Array lse = io::make_array(s.dtype == DType::f64 ? DType::f64 : DType::f32, {s.b, s.h_q, s.n_q, 1});
  const std::atomic<bool> stop = true;
  const Tensor view{lse.data(), lse.dtype, {s.b, s.h_q, s.n_q, 1}, {s.h_q * s.n_q, s.n_q, 1, 1}};
  const Status status = attention(q_, k_, v_, {.lse = view}, options_, {.stop = &stop});
  if (!status.ok() && status.code() != StatusCode::cancelled) return status;
  if (inputs_.pieces != nullptr) {
    piecewise_ = std::make_unique<PiecewiseAttention>(s, layout_, q_, options_, *inputs_.pieces);
  }
  return {};
}

int64_t Computation::tasks(int64_t workers) const {
  if (piecewise_ != nullptr) return piecewise_->tasks(workers);
  AttentionPlan plan;
  return attention_plan(inputs_.shape, workers, &plan).ok() ? plan.tasks : 0;
}

Status Computation::attend(const AttentionOutputs& outputs, const Execution& execution) const {
  if (!outputs.o.present() && !outputs.lse.present() && !outputs.weights.present()) return {};
  return piecewise_ != nullptr ? piecewise_->run(outputs, execution)
                               : attention(q_, k_, v_, outputs, options_, execution);
}

Status Computation::run(const AttendOutputs& outputs, const Execution& execution) const {
  const Status status = attend(outputs.views(), execution);
  if (!status.ok() || !outputs.dropout_mask().present()) return status;
  return dropout_mask(outputs.dropout_mask(), options_, {.executor = execution.executor, .stop = execution.stop});
}

}  // namespace foveate::cli
