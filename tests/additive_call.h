// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of additive attention for tests: the random problems of stored_problem.h beside random parameters, parts of them,
// and their results to the bit.
#ifndef FOVEATE_TESTS_ADDITIVE_CALL_H_
#define FOVEATE_TESTS_ADDITIVE_CALL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "foveate/additive.h"
#include "tests/backward_call.h"
#include "tests/call.h"
#include "tests/stored_problem.h"

namespace foveate {

/// Random parameters, packed. `arguments`: the magnitude of u and t for q and k of magnitude 1.
template <class T>
struct Parameters {
  Parameters(int64_t of_d_a, int64_t of_d_k, double arguments = 1) : d_a(of_d_a), d_k(of_d_k) {
    std::mt19937 random(9);
    std::normal_distribution<double> normal;
    const auto draw = [&](std::vector<T>& x, int64_t n, double size) {
      x.resize(static_cast<size_t>(n));
      std::generate(x.begin(), x.end(), [&] { return static_cast<T>(size * normal(random)); });
    };
    draw(w_q, d_a * d_k, arguments / std::sqrt(static_cast<double>(d_k)));
    draw(w_k, d_a * d_k, arguments / std::sqrt(static_cast<double>(d_k)));
    draw(w, d_a, 1);
    draw(b, d_a, 1);
  }

  AdditiveParameters views() const {
    return {.w_q = view(w_q.data(), d_a, d_k),
            .w_k = view(w_k.data(), d_a, d_k),
            .w = view(w.data(), d_a),
            .b = view(b.data(), d_a)};
  }

  int64_t d_a, d_k;
  std::vector<T> w_q, w_k, w, b;
};

template <class T>
void attend(const Call& call, const Parameters<T>& parameters, const AttentionOutputs& outputs,
            const Execution& execution = {}) {
  const Status status =
      additive_attention(call.q, call.k, call.v, parameters.views(), outputs, call.options, execution);
  ASSERT_TRUE(status.ok()) << status.message();
}

/// A random problem, what additive attention makes of it, and a random d_o.
template <class F>
class AdditiveProblem {
 public:
  using Q = typename F::Q;
  using T = typename F::Computing;

  AdditiveProblem(const AttentionShape& shape, const Features& features, int64_t d_a, double arguments = 1,
                  double dropout = 0)
      : problem(shape, features), parameters(d_a, shape.d_k, arguments), forward_(problem.call) {
    std::mt19937 random(2);
    std::normal_distribution<double> normal;
    d_o.resize(forward_.o.size());
    for (Q& x : d_o) x = trial::element_of<Q>(normal(random));
    problem.call.options.dropout = dropout;
    problem.call.options.seed = 0x123456789ABCDEF;
    const AttentionOutputs outputs = forward_.outputs();
    attend(problem.call, parameters, outputs);
    const int64_t(&n)[4] = outputs.o.shape;
    call = {problem.call, outputs.o, outputs.lse, view<const Q>(d_o.data(), n[0], n[1], n[2], n[3])};
  }
  AdditiveProblem(const AdditiveProblem&) = delete;
  AdditiveProblem& operator=(const AdditiveProblem&) = delete;

  StoredProblem<F> problem;
  Parameters<T> parameters;
  std::vector<Q> d_o;
  BackwardCall call;

 private:
  Result<Q> forward_;
};

/// All the gradients of a call in the computing type, packed, filled with a number that no call writes until one does.
template <class F>
struct AdditiveGradientsOf : GradientsOf<F> {
  using T = typename F::Computing;

  AdditiveGradientsOf(const Call& call, const Parameters<T>& p)
      : GradientsOf<F>(call),
        d_a(p.d_a),
        d_k(p.d_k),
        dw_q(p.w_q.size(), 12345),
        dw_k(p.w_k.size(), 12345),
        dw(p.w.size(), 12345),
        db(p.b.size(), 12345) {}

  AdditiveGradients views() {
    return {GradientsOf<F>::views(), view(dw_q.data(), d_a, d_k), view(dw_k.data(), d_a, d_k), view(dw.data(), d_a),
            view(db.data(), d_a)};
  }

  int64_t d_a, d_k;
  std::vector<T> dw_q, dw_k, dw, db;
};

template <class T>
Status differentiate(const BackwardCall& call, const Parameters<T>& parameters, const AdditiveGradients& gradients,
                     const Execution& execution = {}) {
  return additive_attention_backward(call.q, call.k, call.v, parameters.views(), call.o, call.lse, call.d_o, gradients,
                                     call.options, execution);
}

template <class F>
AdditiveGradientsOf<F> gradients_of(const BackwardCall& call, const Parameters<typename F::Computing>& parameters,
                                    const Execution& execution = {}) {
  AdditiveGradientsOf<F> gradients(call, parameters);
  const Status status = differentiate(call, parameters, gradients.views(), execution);
  EXPECT_TRUE(status.ok()) << status.message();
  return gradients;
}

template <class F>
void expect_same_bits(const AdditiveGradientsOf<F>& expected, const AdditiveGradientsOf<F>& got) {
  expect_same_bits(static_cast<const GradientsOf<F>&>(expected), static_cast<const GradientsOf<F>&>(got));
  expect_same_bits(expected.dw_q, got.dw_q, "dw_q");
  expect_same_bits(expected.dw_k, got.dw_k, "dw_k");
  expect_same_bits(expected.dw, got.dw, "dw");
  expect_same_bits(expected.db, got.db, "db");
}

/// The sizes of a call, for planning.
inline AttentionShape shape_of(const Call& call) {
  return {.b = call.q.shape[0],
          .h_q = call.q.shape[1],
          .h_kv = call.k.shape[1],
          .n_q = call.q.shape[2],
          .n_kv = call.k.shape[2],
          .d_k = call.q.shape[3],
          .d_v = call.v.shape[3],
          .dtype = call.q.dtype,
          .kv_offset = call.options.kv_offset.value_or(0)};
}

}  // namespace foveate

#endif  // FOVEATE_TESTS_ADDITIVE_CALL_H_
