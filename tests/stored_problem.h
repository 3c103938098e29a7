// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The random problems of call.h with q, k and v stored as other types.
#ifndef FOVEATE_TESTS_STORED_PROBLEM_H_
#define FOVEATE_TESTS_STORED_PROBLEM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "foveate/attention.h"
#include "tests/call.h"
#include "tests/stored.h"

namespace foveate {

/// Types that are used together. int8 keys have scales of rows, or of channels, one for all sequences.
template <class Queries, class Keys, class Values = Keys, bool kChannelScales = false>
struct Family {
  using Q = Queries;
  using K = Keys;
  using V = Values;
  using Computing = LseOf<Q>;
  static constexpr bool kChannels = kChannelScales;
};

using NarrowFamilies =
    testing::Types<Family<Float16, Float16>, Family<BFloat16, BFloat16>, Family<float, BFloat16>, Family<float, int8_t>,
                   Family<BFloat16, int8_t>, Family<float, int8_t, int8_t, true>>;
using AllFamilies = testing::Types<Family<double, double>, Family<float, float>, Family<Float16, Float16>,
                                   Family<BFloat16, BFloat16>, Family<float, BFloat16>, Family<float, int8_t>,
                                   Family<BFloat16, int8_t>, Family<float, int8_t, int8_t, true>>;

/// A random problem, packed, and the call that states it. The bias has the type of q.
template <class F>
class StoredProblem {
 public:
  using Q = typename F::Q;
  using K = typename F::K;
  using V = typename F::V;

  StoredProblem(AttentionShape s, const Features& features, unsigned seed = 1)
      : base_(s, features, seed), q(stored<Q>(base_.q)), k(stored<K>(base_.k)), v(stored<V>(base_.v)) {
    call = base_.call;
    call.q = view<const Q>(q.data(), s.b, s.h_q, s.n_q, s.d_k);
    call.k = view<const K>(k.data(), s.b, s.h_kv, s.n_kv, s.d_k);
    call.v = view<const V>(v.data(), s.b, s.h_kv, s.n_kv, s.d_v);
    if (features.bias) {
      bias = stored<Q>(base_.bias);
      call.options.bias = view<const Q>(bias.data(), s.b, s.h_q, s.n_q, s.n_kv);
    }
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(0.5f / kSteps, 1.5f / kSteps);
    const auto draw = [&](std::vector<float>& scales, int64_t n) {
      scales.resize(static_cast<size_t>(n));
      std::generate(scales.begin(), scales.end(), [&] { return uniform(random); });
    };
    if constexpr (std::is_same_v<K, int8_t>) {
      const int64_t b = F::kChannels ? 1 : s.b, n = F::kChannels ? 1 : s.n_kv, d = F::kChannels ? s.d_k : 1;
      draw(k_scales, b * s.h_kv * n * d);
      call.options.k_scales = view<const float>(k_scales.data(), b, s.h_kv, n, d);
    }
    if constexpr (std::is_same_v<V, int8_t>) {
      draw(v_scales, s.b * s.h_kv * s.n_kv);
      call.options.v_scales = view<const float>(v_scales.data(), s.b, s.h_kv, s.n_kv, 1);
    }
  }
  StoredProblem(const StoredProblem&) = delete;
  StoredProblem& operator=(const StoredProblem&) = delete;

 private:
  static constexpr float kSteps = 40;  ///< int8 steps to 1
  using Base = typename F::Computing;

  template <class E>
  static std::vector<E> stored(const std::vector<Base>& from) {
    std::vector<E> to;
    for (const Base x : from) {
      const bool is_int8 = std::is_same_v<E, int8_t>;
      to.push_back(trial::element_of<E>(is_int8 ? std::clamp<double>(std::round(x * kSteps), -128, 127)
                                                : static_cast<double>(x)));
    }
    return to;
  }

  Problem<Base> base_;

 public:
  std::vector<Q> q;
  std::vector<K> k;
  std::vector<V> v;
  std::vector<Q> bias;
  std::vector<float> k_scales, v_scales;
  Call call;
};

}  // namespace foveate

#endif  // FOVEATE_TESTS_STORED_PROBLEM_H_
