// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of attention_backward() for tests: random problems with any options, parts of them, and their gradients to the
// bit.
#ifndef FOVEATE_TESTS_BACKWARD_CALL_H_
#define FOVEATE_TESTS_BACKWARD_CALL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "foveate/attention_backward.h"
#include "tests/call.h"
#include "tests/stored.h"
#include "tests/stored_problem.h"

namespace foveate {

/// What goes into a backward pass. Owns nothing.
struct BackwardCall : Call {
  ConstTensor o, lse, d_o;

  BackwardCall batches(int64_t first, int64_t count) const { return with_rows(Call::batches(first, count), 0, first); }
  BackwardCall queries(int64_t first, int64_t count) const { return with_rows(Call::queries(first, count), 2, first); }
  BackwardCall keys(int64_t first, int64_t count) const { return {Call::keys(first, count), o, lse, d_o}; }

 private:
  BackwardCall with_rows(const Call& part, int axis, int64_t first) const {
    const int64_t count = part.q.shape[axis];
    return {part, slice(o, axis, first, count), slice(lse, axis, first, count), slice(d_o, axis, first, count)};
  }
};

inline Status differentiate(const BackwardCall& call, const AttentionGradients& gradients,
                            const Execution& execution = {}) {
  return attention_backward(call.q, call.k, call.v, call.o, call.lse, call.d_o, gradients, call.options, execution);
}

/// A random problem of stored_problem.h, what attention makes of it, and a random d_o.
template <class F>
class BackwardProblem {
 public:
  using Q = typename F::Q;

  BackwardProblem(const AttentionShape& shape, const Features& features, double dropout = 0)
      : problem(shape, features), forward_(problem.call) {
    std::mt19937 random(2);
    std::normal_distribution<double> normal;
    d_o.resize(forward_.o.size());
    for (Q& x : d_o) x = trial::element_of<Q>(normal(random));
    problem.call.options.dropout = dropout;
    problem.call.options.seed = 0x123456789ABCDEF;
    attend();
  }
  BackwardProblem(const BackwardProblem&) = delete;
  BackwardProblem& operator=(const BackwardProblem&) = delete;

  /// Computes o and lse anew, of problem.call as it is by now.
  void attend() {
    const AttentionOutputs outputs = forward_.outputs();
    foveate::attend(problem.call, outputs);
    const int64_t(&n)[4] = outputs.o.shape;
    call = {problem.call, outputs.o, outputs.lse, view<const Q>(d_o.data(), n[0], n[1], n[2], n[3])};
  }

  StoredProblem<F> problem;
  std::vector<Q> d_o;
  BackwardCall call;

 private:
  Result<Q> forward_;
};

/// The gradients of a call in the computing type, packed, filled with a number that no call writes until one does.
template <class F>
struct GradientsOf {
  using T = typename F::Computing;

  explicit GradientsOf(const Call& call, T filler = 12345) : call_(call) {
    const auto fill = [filler](std::vector<T>& gradient, const ConstTensor& of) {
      if (of.present())
        gradient.assign(static_cast<size_t>(of.shape[0] * of.shape[1] * of.shape[2] * of.shape[3]), filler);
    };
    fill(dq, call.q);
    fill(dk, call.k);
    fill(dv, call.v);
    fill(dbias, call.options.bias);
    if (call.options.sinks.present()) dsinks.assign(static_cast<size_t>(call.options.sinks.size), filler);
  }

  /// All that the call has gradients by.
  AttentionGradients views() {
    AttentionGradients all = {.dq = like(dq, call_.q), .dk = like(dk, call_.k), .dv = like(dv, call_.v)};
    if (!dbias.empty()) all.dbias = like(dbias, call_.options.bias);
    if (!dsinks.empty()) all.dsinks = view(dsinks.data(), call_.options.sinks.size);
    return all;
  }

  bool untouched() const {
    for (const auto* gradient : {&dq, &dk, &dv, &dbias, &dsinks}) {
      if (!std::all_of(gradient->begin(), gradient->end(), [](T x) { return x == 12345; })) return false;
    }
    return true;
  }

  std::vector<T> dq, dk, dv, dbias, dsinks;

 private:
  static Tensor like(std::vector<T>& gradient, const ConstTensor& of) {
    return view(gradient.data(), of.shape[0], of.shape[1], of.shape[2], of.shape[3]);
  }

  Call call_;
};

/// Plans a call that asks for all of these gradients.
inline AttentionBackwardPlan plan_of(const Call& call, const AttentionGradients& gradients, int64_t workers) {
  AttentionBackwardPlan plan;
  const Status status = attention_backward_plan({.b = call.q.shape[0],
                                                 .h_q = call.q.shape[1],
                                                 .h_kv = call.k.shape[1],
                                                 .n_q = call.q.shape[2],
                                                 .n_kv = call.k.shape[2],
                                                 .d_k = call.q.shape[3],
                                                 .d_v = call.v.shape[3],
                                                 .dtype = call.q.dtype,
                                                 .kv_offset = call.options.kv_offset.value_or(0)},
                                                gradients, workers, &plan);
  EXPECT_TRUE(status.ok()) << status.message();
  return plan;
}

/// That asks for all there are.
template <class F>
AttentionBackwardPlan plan_of(const Call& call, int64_t workers) {
  return plan_of(call, GradientsOf<F>(call).views(), workers);
}

/// The parts of gradients that parts of a call have. Those by the bias go by both their axes.
inline AttentionGradients batches(AttentionGradients g, int64_t first, int64_t count) {
  for (Tensor* gradient : {&g.dq, &g.dk, &g.dv, &g.dbias}) *gradient = slice(*gradient, 0, first, count);
  return g;
}
inline AttentionGradients queries(AttentionGradients g, int64_t first, int64_t count) {
  for (Tensor* gradient : {&g.dq, &g.dbias}) *gradient = slice(*gradient, 2, first, count);
  return g;
}
inline AttentionGradients keys(AttentionGradients g, int64_t first, int64_t count) {
  for (Tensor* gradient : {&g.dk, &g.dv}) *gradient = slice(*gradient, 2, first, count);
  g.dbias = slice(g.dbias, 3, first, count);
  return g;
}

template <class F>
GradientsOf<F> gradients_of(const BackwardCall& call, const Execution& execution = {}) {
  GradientsOf<F> gradients(call);
  const Status status = differentiate(call, gradients.views(), execution);
  EXPECT_TRUE(status.ok()) << status.message();
  return gradients;
}

template <class F>
void expect_same_bits(const GradientsOf<F>& expected, const GradientsOf<F>& got) {
  expect_same_bits(expected.dq, got.dq, "dq");
  expect_same_bits(expected.dk, got.dk, "dk");
  expect_same_bits(expected.dv, got.dv, "dv");
  expect_same_bits(expected.dbias, got.dbias, "dbias");
  expect_same_bits(expected.dsinks, got.dsinks, "dsinks");
}

}  // namespace foveate

#endif  // FOVEATE_TESTS_BACKWARD_CALL_H_
