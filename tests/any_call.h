// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Small random calls for properties that hold whatever the numbers are (rapidcheck), and the same with other keys.
#ifndef FOVEATE_TESTS_ANY_CALL_H_
#define FOVEATE_TESTS_ANY_CALL_H_

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "foveate/attention.h"
#include "reference/arrays.h"
#include "reference/attention.h"
#include "tests/error_bound.h"
#include "tests/packed_call.h"

namespace foveate::trial {

/// The same tries every time, unless the environment says otherwise.
class FixedSeed : public testing::Environment {
  void SetUp() override { setenv("RC_PARAMS", "seed=1 max_success=300", /*overwrite=*/0); }
};
inline const testing::Environment* const kFixedSeed = testing::AddGlobalTestEnvironment(new FixedSeed);

inline int64_t any_below(int64_t n) { return *rc::gen::inRange<int64_t>(0, n); }

/// A small call with a bias, and with some other options.
template <class T>
PackedCall<T> any_call() {
  const int64_t h_kv = 1 + any_below(2);
  PackedCall<T> call({.b = 1 + any_below(2),
                      .h_q = h_kv * (1 + any_below(3)),
                      .h_kv = h_kv,
                      .n_q = 1 + any_below(20),
                      .n_kv = 1 + any_below(140),
                      .d_k = 1 + any_below(10),
                      .d_v = 1 + any_below(6)});
  std::mt19937_64 random(static_cast<uint64_t>(any_below(1 << 20)));
  std::normal_distribution<T> normal;
  call.bias.resize(call.weights_size());
  for (T& x : call.bias) x = normal(random);
  if (any_below(3) == 0) {
    call.mask.resize(call.weights_size());
    for (unsigned char& x : call.mask) x = random() % 4 != 0;
  }
  if (any_below(3) == 0) {
    for (int64_t h = 0; h < call.shape.h_q; ++h) call.sinks.push_back(normal(random));
  }
  if (any_below(3) == 0) call.options.softcap = 3;
  return call;
}

/// Such a call in which keys matter by their places too.
template <class T>
PackedCall<T> any_call_with_positions() {
  PackedCall<T> call = any_call<T>();
  call.options.causal = any_below(2) == 0;
  if (any_below(2) == 0) call.options.window_left = any_below(100);
  if (any_below(2) == 0) call.slopes.assign(static_cast<size_t>(call.shape.h_q), T{0.125});
  call.options.q_offset = call.shape.n_kv - call.shape.n_q;
  return call;
}

template <class T>
reference::Problem<Judge<T>> problem_of(const PackedCall<T>& call) {
  using Real = Judge<T>;
  using reference::widened;
  const AttentionShape& s = call.shape;
  reference::Problem<Real> p;
  p.b = s.b, p.h_q = s.h_q, p.h_kv = s.h_kv, p.n_q = s.n_q, p.n_kv = s.n_kv, p.d_k = s.d_k, p.d_v = s.d_v;
  p.q = widened<Real>(call.q), p.k = widened<Real>(call.k), p.v = widened<Real>(call.v);
  p.bias = widened<Real>(call.bias), p.sinks = widened<Real>(call.sinks), p.alibi_slopes = widened<Real>(call.slopes);
  p.mask.assign(call.mask.begin(), call.mask.end());
  p.causal = call.options.causal;
  p.window_left = call.options.window_left;
  p.softcap = static_cast<Real>(call.options.softcap);
  p.dropout = call.options.dropout;
  p.seed = call.options.seed;
  p.q_offset = call.options.q_offset;
  return p;
}

template <class T>
void attend(PackedCall<T>& call) {
  const Status status = call.attend();
  if (!status.ok()) RC_FAIL(status.message());
}

template <class T, class Real>
void assert_near(T got, Real want, Real bound) {
  RC_ASSERT(static_cast<Real>(got) == want || std::abs(static_cast<Real>(got) - want) <= bound);
}

/// Rows of n elements, their elements in the order `from`.
template <class X>
std::vector<X> columns(const std::vector<X>& rows, int64_t n, const std::vector<int64_t>& from) {
  std::vector<X> to;
  for (size_t row = 0; row * n < rows.size(); ++row) {
    for (int64_t j : from) to.push_back(rows[row * n + j]);
  }
  return to;
}

/// [heads, n, d], each head's rows in the order `from`.
template <class X>
std::vector<X> keys(const std::vector<X>& heads, int64_t n, int64_t d, const std::vector<int64_t>& from) {
  std::vector<X> to;
  for (size_t head = 0; head * n * d < heads.size(); ++head) {
    for (int64_t j : from) {
      const auto row = heads.begin() + (head * n + j) * d;
      to.insert(to.end(), row, row + d);
    }
  }
  return to;
}

/// The call with just these keys, in this order.
template <class T>
PackedCall<T> with_keys(const PackedCall<T>& call, const std::vector<int64_t>& from) {
  const AttentionShape& s = call.shape;
  PackedCall<T> to = call;
  to.shape.n_kv = static_cast<int64_t>(from.size());
  to.k = keys(call.k, s.n_kv, s.d_k, from);
  to.v = keys(call.v, s.n_kv, s.d_v, from);
  to.bias = columns(call.bias, s.n_kv, from);
  to.mask = columns(call.mask, s.n_kv, from);
  return to;
}

/// The call with each key head repeated for every query head that reads it.
template <class T>
PackedCall<T> with_repeated_heads(const PackedCall<T>& grouped) {
  const AttentionShape& s = grouped.shape;
  const int64_t group = s.h_q / s.h_kv;
  PackedCall<T> to = grouped;
  to.shape.h_kv = s.h_q;
  const auto repeat = [group](const std::vector<T>& from, int64_t size) {
    std::vector<T> repeated;
    for (size_t at = 0; at < from.size(); at += size) {
      for (int64_t g = 0; g < group; ++g) repeated.insert(repeated.end(), from.begin() + at, from.begin() + at + size);
    }
    return repeated;
  };
  to.k = repeat(grouped.k, s.n_kv * s.d_k);
  to.v = repeat(grouped.v, s.n_kv * s.d_v);
  return to;
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_ANY_CALL_H_
