// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call of packed arrays, and exact expectations of its outputs.
#ifndef FOVEATE_TESTS_PACKED_CALL_H_
#define FOVEATE_TESTS_PACKED_CALL_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "foveate/attention.h"
#include "tests/each_target.h"

namespace foveate::trial {

template <class T>
constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T kLargest = std::numeric_limits<T>::max();

/// A call of packed arrays, random at first, for a test to change.
template <class T>
struct PackedCall {
  AttentionShape shape;
  std::vector<T> q, k, v, bias, slopes, sinks;  ///< the optional ones empty: left out
  std::vector<unsigned char> mask;
  std::vector<T> o, lse, weights;
  AttentionOptions options = {};

  explicit PackedCall(const AttentionShape& s) : shape(s) {
    std::mt19937_64 random(7);
    std::normal_distribution<T> normal;
    const auto draw = [&](std::vector<T>& x, int64_t n) {
      x.resize(static_cast<size_t>(n));
      for (T& e : x) e = normal(random);
    };
    draw(q, s.b * s.h_q * s.n_q * s.d_k);
    draw(k, s.b * s.h_kv * s.n_kv * s.d_k);
    draw(v, s.b * s.h_kv * s.n_kv * s.d_v);
  }

  Status attend() {
    const AttentionShape& s = shape;
    o.assign(static_cast<size_t>(s.b * s.h_q * s.n_q * s.d_v), T{-77});
    lse.assign(static_cast<size_t>(s.b * s.h_q * s.n_q), T{-77});
    weights.assign(weights_size(), T{-77});
    if (!bias.empty()) options.bias = view<const T>(bias.data(), s.b, s.h_q, s.n_q, s.n_kv);
    if (!slopes.empty()) options.alibi_slopes = view<const T>(slopes.data(), s.h_q);
    if (!sinks.empty()) options.sinks = view<const T>(sinks.data(), s.h_q);
    if (!mask.empty()) {
      options.mask = view<const bool>(reinterpret_cast<const bool*>(mask.data()), s.b, s.h_q, s.n_q, s.n_kv);
    }
    return attention(view<const T>(q.data(), s.b, s.h_q, s.n_q, s.d_k),
                     view<const T>(k.data(), s.b, s.h_kv, s.n_kv, s.d_k),
                     view<const T>(v.data(), s.b, s.h_kv, s.n_kv, s.d_v),
                     {.o = view(o.data(), s.b, s.h_q, s.n_q, s.d_v),
                      .lse = view(lse.data(), s.b, s.h_q, s.n_q, 1),
                      .weights = view(weights.data(), s.b, s.h_q, s.n_q, s.n_kv)},
                     options);
  }

  size_t weights_size() const { return static_cast<size_t>(shape.b * shape.h_q * shape.n_q * shape.n_kv); }
  T& out(int64_t row, int64_t column) { return o[row * shape.d_v + column]; }
  T& value(int64_t key, int64_t column) { return v[key * shape.d_v + column]; }
};

/// d_k = 1, q = 1, scale 1: the scores of every row are the keys themselves.
template <class T>
PackedCall<T> with_scores(const std::vector<T>& scores, const std::vector<T>& values, int64_t n_q = 1) {
  const int64_t n_kv = static_cast<int64_t>(scores.size());
  PackedCall<T> call({.n_q = n_q, .n_kv = n_kv, .d_k = 1, .d_v = static_cast<int64_t>(values.size()) / n_kv});
  call.q.assign(static_cast<size_t>(n_q), T{1});
  call.k = scores;
  call.v = values;
  call.options.scale = 1;
  return call;
}

template <class T, class Expect>
void on_each_target(PackedCall<T>& call, const Expect& expect) {
  on_each_target([&] {
    const Status status = call.attend();
    ASSERT_TRUE(status.ok()) << status.message();
    expect();
  });
}

template <class T>
void expect_bits(const std::vector<T>& got, const std::vector<T>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0) << "element " << i << ": " << got[i] << " and " << want[i];
  }
}

/// The two calls give the same bits.
template <class T>
void expect_same(PackedCall<T>& a, PackedCall<T>& b) {
  on_each_target(a, [&] {
    const Status status = b.attend();
    ASSERT_TRUE(status.ok()) << status.message();
    expect_bits(a.o, b.o);
    expect_bits(a.lse, b.lse);
    expect_bits(a.weights, b.weights);
  });
}

template <class T>
void expect_zeros(const std::vector<T>& x) {
  for (T e : x) EXPECT_TRUE(e == T{0} && !std::signbit(e)) << e;
}
template <class T>
void expect_all(const std::vector<T>& x, T want) {
  for (T e : x) EXPECT_EQ(e, want);
}
template <class T>
void expect_all_nan(const std::vector<T>& x) {
  for (T e : x) EXPECT_TRUE(std::isnan(e)) << e;
}
template <class T>
void expect_close(T got, T want) {
  EXPECT_LE(std::abs(got - want), 16 * std::numeric_limits<T>::epsilon() * std::abs(want)) << got << ", not " << want;
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_PACKED_CALL_H_
