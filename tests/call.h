// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of attention() for tests: random problems with any options, parts of them, and their results to the bit.
#ifndef FOVEATE_TESTS_CALL_H_
#define FOVEATE_TESTS_CALL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "foveate/attention.h"
#include "tests/stored.h"
#include "tests/thread_executor.h"
#ifdef FOVEATE_TESTS_TBB
#include "foveate/tbb.h"
#endif

namespace foveate {

/// Elements [first, first + count) along an axis; an axis of extent 1 is broadcast, and stays.
template <class View>
View slice(View view, int axis, int64_t first, int64_t count) {
  using Byte = std::conditional_t<std::is_same_v<View, Tensor>, char, const char>;
  if (!view.present() || view.shape[axis] == 1) return view;
  view.data = static_cast<Byte*>(view.data) + first * view.stride[axis] * size_of(view.dtype);
  view.shape[axis] = count;
  return view;
}

inline ConstVector slice(ConstVector vector, int64_t first, int64_t count) {
  if (!vector.present()) return vector;
  vector.data = static_cast<const char*>(vector.data) + first * vector.stride * size_of(vector.dtype);
  vector.size = count;
  return vector;
}

/// What goes into a call. Owns nothing.
struct Call {
  ConstTensor q, k, v;
  AttentionOptions options;

  Call batches(int64_t first, int64_t count) const {
    Call part = *this;
    for (ConstTensor* view : {&part.q, &part.k, &part.v, &part.options.mask, &part.options.bias, &part.options.k_scales,
                              &part.options.v_scales, &part.options.tree_mask}) {
      *view = slice(*view, 0, first, count);
    }
    part.options.q_lengths = slice(options.q_lengths, first, count);
    part.options.kv_lengths = slice(options.kv_lengths, first, count);
    return part;
  }

  /// One query head and its key head.
  Call head(int64_t h) const {
    Call part = *this;
    for (ConstTensor* view : {&part.q, &part.options.mask, &part.options.bias, &part.options.tree_mask}) {
      *view = slice(*view, 1, h, 1);
    }
    const int64_t kv_head = h / (q.shape[1] / k.shape[1]);
    for (ConstTensor* view : {&part.k, &part.v, &part.options.k_scales, &part.options.v_scales}) {
      *view = slice(*view, 1, kv_head, 1);
    }
    part.options.alibi_slopes = slice(options.alibi_slopes, h, 1);
    part.options.sinks = slice(options.sinks, h, 1);
    return part;
  }

  Call queries(int64_t first, int64_t count) const {
    Call part = *this;
    for (ConstTensor* view : {&part.q, &part.options.mask, &part.options.bias, &part.options.tree_mask}) {
      *view = slice(*view, 2, first, count);
    }
    return part;
  }

  Call keys(int64_t first, int64_t count) const {
    Call part = *this;
    for (ConstTensor* view : {&part.k, &part.v, &part.options.k_scales, &part.options.v_scales}) {
      *view = slice(*view, 2, first, count);
    }
    for (ConstTensor* view : {&part.options.mask, &part.options.bias}) *view = slice(*view, 3, first, count);
    return part;
  }
};

/// The rows [first, first + count) of a call as a call of their own, their positions kept. Under a causal mask, with no
/// more keys than the cache holds by then.
inline Call chunk(const Call& whole, int64_t first, int64_t count) {
  const int64_t past = whole.k.shape[2] - whole.q.shape[2];
  Call part = whole.queries(first, count);
  if (whole.options.causal) return part.keys(0, past + first + count);
  part.options.q_offset = past + first;
  return part;
}

/// Which options a random problem has.
struct Features {
  const char* name;
  bool causal = false, window = false, softcap = false, bias = false, mask = false, alibi = false, sinks = false;
};

inline constexpr Features kPlain = {.name = "plain"};
inline constexpr Features kAllFeatures = {.name = "everything",
                                          .causal = true,
                                          .window = true,
                                          .softcap = true,
                                          .bias = true,
                                          .mask = true,
                                          .alibi = true,
                                          .sinks = true};
inline constexpr Features kFeatures[] = {
    kPlain,
    {.name = "causal", .causal = true},
    {.name = "window", .window = true},
    {.name = "causal window", .causal = true, .window = true},
    {.name = "softcap", .causal = true, .softcap = true},
    {.name = "bias", .bias = true},
    {.name = "mask", .causal = true, .mask = true},
    {.name = "alibi", .causal = true, .alibi = true},
    {.name = "sinks", .causal = true, .sinks = true},
    kAllFeatures,
};

/// A random problem, packed, and the call that states it. The window is 300 to the left, 20 to the right. A mask or a
/// bias forbids one entry in 256, and one run of 100 entries in sixteen.
template <class T>
class Problem {
 public:
  Problem(const AttentionShape& s, const Features& features, unsigned seed = 1) : random_(seed) {
    fill(q, s.b * s.h_q * s.n_q * s.d_k);
    fill(k, s.b * s.h_kv * s.n_kv * s.d_k);
    fill(v, s.b * s.h_kv * s.n_kv * s.d_v);
    call.q = view<const T>(q.data(), s.b, s.h_q, s.n_q, s.d_k);
    call.k = view<const T>(k.data(), s.b, s.h_kv, s.n_kv, s.d_k);
    call.v = view<const T>(v.data(), s.b, s.h_kv, s.n_kv, s.d_v);
    AttentionOptions& o = call.options;
    o.causal = features.causal;
    if (features.window) {
      o.window_left = 300;
      o.window_right = 20;
    }
    if (features.softcap) o.softcap = 1.5;
    if (features.bias) {
      fill(bias, s.b * s.h_q * s.n_q * s.n_kv);
      forbid(s, [this](size_t i) { bias[i] = -std::numeric_limits<T>::infinity(); });
      o.bias = view<const T>(bias.data(), s.b, s.h_q, s.n_q, s.n_kv);
    }
    if (features.mask) {
      mask = std::make_unique<bool[]>(static_cast<size_t>(s.b * s.h_q * s.n_q * s.n_kv));
      std::fill_n(mask.get(), s.b * s.h_q * s.n_q * s.n_kv, true);
      forbid(s, [this](size_t i) { mask[i] = false; });
      o.mask = view<const bool>(mask.get(), s.b, s.h_q, s.n_q, s.n_kv);
    }
    if (features.alibi) {
      for (int64_t h = 0; h < s.h_q; ++h)
        slopes.push_back(static_cast<T>(std::exp2(-1.5 * static_cast<double>(h + 1))));
      o.alibi_slopes = view<const T>(slopes.data(), s.h_q);
    }
    if (features.sinks) {
      fill(sinks, s.h_q);
      o.sinks = view<const T>(sinks.data(), s.h_q);
    }
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  std::vector<T> q, k, v, bias, slopes, sinks;
  std::unique_ptr<bool[]> mask;
  Call call;

 private:
  void fill(std::vector<T>& array, int64_t n) {
    std::normal_distribution<double> normal;
    array.resize(static_cast<size_t>(n));
    for (T& x : array) x = static_cast<T>(normal(random_));
  }

  template <class Forbid>
  void forbid(const AttentionShape& s, const Forbid& one) {
    const int64_t n = s.b * s.h_q * s.n_q * s.n_kv;
    for (int64_t i = 0; i < n; ++i) {
      if (random_() % 256 == 0) one(static_cast<size_t>(i));
    }
    for (int64_t i = 0; i + 100 < n; i += 100) {
      if (random_() % 16 == 0) {
        for (int64_t j = i; j < i + 100; ++j) one(static_cast<size_t>(j));
      }
    }
  }

  std::mt19937 random_;
};

/// The type of lse beside an o of type T.
template <class T>
using LseOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The outputs of a call, packed, filled with a number that no call writes until one does.
template <class T>
struct Result {
  explicit Result(const Call& call) : b(call.q.shape[0]), h(call.q.shape[1]), n(call.q.shape[2]), d(call.v.shape[3]) {
    o.assign(static_cast<size_t>(b * h * n * d), T(12345.0f));
    lse.assign(static_cast<size_t>(b * h * n), 12345);
  }

  AttentionOutputs outputs() { return {.o = view(o.data(), b, h, n, d), .lse = view(lse.data(), b, h, n, 1)}; }

  int64_t b, h, n, d;
  std::vector<T> o;
  std::vector<LseOf<T>> lse;
};

inline AttentionOutputs slice(AttentionOutputs outputs, int axis, int64_t first, int64_t count) {
  for (Tensor* view : {&outputs.o, &outputs.lse, &outputs.weights}) {
    if (view->present()) *view = slice(*view, axis, first, count);
  }
  return outputs;
}

inline void attend(const Call& call, const AttentionOutputs& outputs, const Execution& execution = {}) {
  const Status status = attention(call.q, call.k, call.v, outputs, call.options, execution);
  ASSERT_TRUE(status.ok()) << status.message();
}

template <class T>
Result<T> attend(const Call& call, const Execution& execution = {}) {
  Result<T> result(call);
  attend(call, result.outputs(), execution);
  return result;
}

/// Equal bits; NaN payloads do not count.
template <class T>
bool same_bits(T a, T b) {
  return (std::isnan(trial::number_of(a)) && std::isnan(trial::number_of(b))) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void expect_same_bits(const std::vector<T>& expected, const std::vector<T>& got, const char* name) {
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(same_bits(expected[i], got[i])) << name << '[' << i << "]: " << std::hexfloat
                                                << trial::number_of(expected[i]) << " and " << trial::number_of(got[i]);
  }
}

template <class T>
void expect_same_bits(const Result<T>& expected, const Result<T>& got) {
  expect_same_bits(expected.o, got.o, "o");
  expect_same_bits(expected.lse, got.lse, "lse");
}

/// The executors there are, with so many workers each.
inline std::vector<std::unique_ptr<Executor>> executors(int workers) {
  std::vector<std::unique_ptr<Executor>> all;
  all.push_back(std::make_unique<ThreadExecutor>(workers));
#ifdef FOVEATE_TESTS_TBB
  all.push_back(std::make_unique<TbbExecutor>(workers));
#endif
  return all;
}

}  // namespace foveate

#endif  // FOVEATE_TESTS_CALL_H_
