// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/operators.h"

#include "cli/axes.h"
#include "foveate/attention_backward.h"
#include "foveate/linear.h"

namespace foveate::cli {
namespace {

bool wants_any(const AdditiveGradients& g) {
  return g.dq.present() || g.dk.present() || g.dv.present() || g.dbias.present() || g.dsinks.present() ||
         g.dw_q.present() || g.dw_k.present() || g.dw.present() || g.db.present();
}

/// q, k and v as the library takes them.
struct Rows {
  ConstTensor q, k, v;

  Rows(const AttendArguments& arguments, const AttendInputs& inputs)
      : q(view_on_bhnd(inputs.q, arguments.layout)),
        k(view_on_bhnd(inputs.k, arguments.layout)),
        v(view_on_bhnd(inputs.v, arguments.layout)) {}
};

class ScaledProduct final : public Operator {
 public:
  ScaledProduct(const AttendArguments& arguments, const AttendInputs& inputs)
      : rows_(arguments, inputs), options_(options_with_arrays(arguments.options, inputs)), shape_(inputs.shape) {}

  Status attend(const AttentionOutputs& outputs, const Execution& execution) const override {
    return attention(rows_.q, rows_.k, rows_.v, outputs, options_, execution);
  }
  Status differentiate(const Saved& saved, const AdditiveGradients& gradients,
                       const Execution& execution) const override {
    return attention_backward(rows_.q, rows_.k, rows_.v, saved.o, saved.lse, saved.d_o, gradients, options_, execution);
  }
  int64_t tasks(const AdditiveGradients& gradients, int64_t workers) const override {
    AttentionPlan forward;
    AttentionBackwardPlan backward;
    const bool planned = attention_plan(shape_, workers, &forward).ok() &&
                         (!wants_any(gradients) || attention_backward_plan(shape_, gradients, workers, &backward).ok());
    return planned ? forward.tasks + backward.tasks : 0;
  }
  bool wants_state() const override { return true; }

 private:
  const Rows rows_;
  const AttentionOptions options_;
  const AttentionShape& shape_;
};

class Additive final : public Operator {
 public:
  Additive(const AttendArguments& arguments, const AttendInputs& inputs)
      : rows_(arguments, inputs), options_(options_with_arrays(arguments.options, inputs)), shape_(inputs.shape) {
    parameters_ = {.w_q = view_matrix(inputs.wq), .w_k = view_matrix(inputs.wk), .w = view_vector(inputs.w)};
    if (inputs.b.dtype != DType::none) parameters_.b = view_vector(inputs.b);
  }

  Status attend(const AttentionOutputs& outputs, const Execution& execution) const override {
    return additive_attention(rows_.q, rows_.k, rows_.v, parameters_, outputs, options_, execution);
  }
  Status differentiate(const Saved& saved, const AdditiveGradients& gradients,
                       const Execution& execution) const override {
    return additive_attention_backward(rows_.q, rows_.k, rows_.v, parameters_, saved.o, saved.lse, saved.d_o, gradients,
                                       options_, execution);
  }
  int64_t tasks(const AdditiveGradients& gradients, int64_t workers) const override {
    AttentionPlan forward;
    AttentionBackwardPlan backward;
    const int64_t d_a = parameters_.w.size;
    const bool planned =
        additive_attention_plan(shape_, d_a, workers, &forward).ok() &&
        (!wants_any(gradients) || additive_attention_backward_plan(shape_, gradients, d_a, workers, &backward).ok());
    return planned ? forward.tasks + backward.tasks : 0;
  }
  bool wants_state() const override { return true; }

 private:
  const Rows rows_;
  const AttentionOptions options_;
  const AttentionShape& shape_;
  AdditiveParameters parameters_;
};

class Linear final : public Operator {
 public:
  Linear(const AttendArguments& arguments, const AttendInputs& inputs) : rows_(arguments, inputs) {
    const AttentionOptions all = options_with_arrays(arguments.options, inputs);
    options_ = {.causal = all.causal,
                .align = all.align,
                .q_offset = all.q_offset,
                .mask = all.mask,
                .q_lengths = all.q_lengths,
                .kv_lengths = all.kv_lengths};
    const AttentionShape& s = inputs.shape;
    shape_ = {.b = s.b,
              .h_q = s.h_q,
              .h_kv = s.h_kv,
              .n_q = s.n_q,
              .n_kv = s.n_kv,
              .d_k = s.d_k,
              .d_v = s.d_v,
              .dtype = s.dtype};
  }

  Status attend(const AttentionOutputs& outputs, const Execution& execution) const override {
    return outputs.o.present() ? linear_attention(rows_.q, rows_.k, rows_.v, outputs.o, options_, execution) : Status();
  }
  Status differentiate(const Saved& saved, const AdditiveGradients& g, const Execution& execution) const override {
    return linear_attention_backward(rows_.q, rows_.k, rows_.v, saved.d_o, {.dq = g.dq, .dk = g.dk, .dv = g.dv},
                                     options_, execution);
  }
  int64_t tasks(const AdditiveGradients& gradients, int64_t workers) const override {
    LinearPlan plan;
    if (!linear_attention_plan(shape_, workers, &plan).ok()) return 0;
    return plan.tasks + (wants_any(gradients) ? plan.backward_tasks : 0);
  }
  bool wants_state() const override { return false; }

 private:
  const Rows rows_;
  LinearOptions options_;
  LinearShape shape_;
};

}  // namespace

std::unique_ptr<Operator> make_operator(const AttendArguments& arguments, const AttendInputs& inputs) {
  switch (arguments.score) {
    case ScoreKind::additive:
      return std::make_unique<Additive>(arguments, inputs);
    case ScoreKind::linear:
      return std::make_unique<Linear>(arguments, inputs);
    default:
      return std::make_unique<ScaledProduct>(arguments, inputs);
  }
}

}  // namespace foveate::cli
