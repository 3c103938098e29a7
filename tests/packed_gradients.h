// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A packed call with a backward pass behind it, and exact expectations of its gradients.
#ifndef FOVEATE_TESTS_PACKED_GRADIENTS_H_
#define FOVEATE_TESTS_PACKED_GRADIENTS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "foveate/attention_backward.h"
#include "tests/each_target.h"
#include "tests/packed_call.h"

namespace foveate::trial {

/// A call of packed arrays with a random d_o, for a test to change. dbias and dsinks are asked for where there is a bias,
/// where there are sinks.
template <class T>
struct PackedGradients : PackedCall<T> {
  std::vector<T> d_o;
  std::vector<T> dq, dk, dv, dbias, dsinks;

  explicit PackedGradients(const PackedCall<T>& call) : PackedCall<T>(call) {
    const AttentionShape& s = this->shape;
    std::mt19937_64 random(8);
    std::normal_distribution<T> normal;
    d_o.resize(static_cast<size_t>(s.b * s.h_q * s.n_q * s.d_v));
    for (T& x : d_o) x = normal(random);
  }
  explicit PackedGradients(const AttentionShape& s) : PackedGradients(PackedCall<T>(s)) {}

  /// After attend(), from what that gave.
  Status differentiate() {
    if (Status status = this->attend(); !status.ok()) return status;
    const AttentionShape& s = this->shape;
    dq.assign(this->q.size(), T{-77});
    dk.assign(this->k.size(), T{-77});
    dv.assign(this->v.size(), T{-77});
    AttentionGradients gradients = {.dq = view(dq.data(), s.b, s.h_q, s.n_q, s.d_k),
                                    .dk = view(dk.data(), s.b, s.h_kv, s.n_kv, s.d_k),
                                    .dv = view(dv.data(), s.b, s.h_kv, s.n_kv, s.d_v)};
    if (this->options.bias.present()) {
      const int64_t(&n)[4] = this->options.bias.shape;
      dbias.assign(static_cast<size_t>(n[0] * n[1] * n[2] * n[3]), T{-77});
      gradients.dbias = view(dbias.data(), n[0], n[1], n[2], n[3]);
    }
    if (this->options.sinks.present()) {
      dsinks.assign(static_cast<size_t>(s.h_q), T{-77});
      gradients.dsinks = view(dsinks.data(), s.h_q);
    }
    return attention_backward(view<const T>(this->q.data(), s.b, s.h_q, s.n_q, s.d_k),
                              view<const T>(this->k.data(), s.b, s.h_kv, s.n_kv, s.d_k),
                              view<const T>(this->v.data(), s.b, s.h_kv, s.n_kv, s.d_v),
                              view<const T>(this->o.data(), s.b, s.h_q, s.n_q, s.d_v),
                              view<const T>(this->lse.data(), s.b, s.h_q, s.n_q, 1),
                              view<const T>(d_o.data(), s.b, s.h_q, s.n_q, s.d_v), gradients, this->options);
  }
};

/// Scores as they are given, and d_o = 1.
template <class T>
PackedGradients<T> of_scores(const std::vector<T>& scores, const std::vector<T>& values, int64_t n_q = 1) {
  PackedGradients<T> call(with_scores<T>(scores, values, n_q));
  std::fill(call.d_o.begin(), call.d_o.end(), T{1});
  return call;
}

template <class T, class Expect>
void on_each_target(PackedGradients<T>& call, const Expect& expect) {
  on_each_target([&] {
    const Status status = call.differentiate();
    ASSERT_TRUE(status.ok()) << status.message();
    expect();
  });
}

template <class T>
void expect_no_gradients(const PackedGradients<T>& call) {
  for (const std::vector<T>* x : {&call.dq, &call.dk, &call.dv, &call.dbias, &call.dsinks}) expect_zeros(*x);
}

template <class T>
void expect_gradient_bits(const PackedGradients<T>& got, const PackedGradients<T>& want) {
  expect_bits(got.dq, want.dq);
  expect_bits(got.dk, want.dk);
  expect_bits(got.dv, want.dv);
  expect_bits(got.dbias, want.dbias);
  expect_bits(got.dsinks, want.dsinks);
}

/// The two calls give the same bits, those of one that has fewer gradients.
template <class T>
void expect_same(PackedGradients<T>& a, PackedGradients<T>& b) {
  on_each_target(a, [&] {
    const Status status = b.differentiate();
    ASSERT_TRUE(status.ok()) << status.message();
    expect_gradient_bits(a, b);
  });
}

/// Elements [row * n, (row + 1) * n) that are NaN are just those of the rows where is_nan(row).
template <class T, class IsNaN>
void expect_nan_rows(const std::vector<T>& x, int64_t n, const IsNaN& is_nan) {
  for (size_t e = 0; e < x.size(); ++e) {
    const auto row = static_cast<int64_t>(e) / n;
    EXPECT_EQ(std::isnan(x[e]), is_nan(row)) << "row " << row << ", element " << static_cast<int64_t>(e) % n;
  }
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_PACKED_GRADIENTS_H_
