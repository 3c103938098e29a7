// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How far linear attention may be off for rounding, derived for any order of summation that linear.h's blocks allow.
//
// A component of phi is off by 3 u at most (exp by 1.2 ulp, x + 1 by half of one). Each output is a sum of products of
// few factors; a term that goes through a chain of L roundings is off by gamma(L) = L u / (1 - L u) of itself (Higham,
// "Accuracy and Stability of Numerical Algorithms", section 3.1), a multiply-add counting as one rounding of a product
// more in each sum, as it does where it is not fused. So errors are bounded by these factors times the sums of the
// terms' absolute values, which the oracle gives: abs_o, abs_dq, abs_dk, abs_dv.
//
//   N, D      two phi; in a block d_k, then min(n, 64) keys; by the state these keys, 17 blocks, n / 1024 splits, then d_k
//   o         N / D by its reciprocal: (1 + gamma)(1 + u)^2 / (1 - gamma) - 1
//   g         [d_o, -(d_o . o)] / D: the error of o, d_v terms, and D's again
//   dq, dk    phi, g; in a block d_v + 1, then keys or rows; by the states the same; last phi'
//   dv        two phi, g; d_k, then rows
//
// Rows reach a state by 64, 16 blocks of each head twice (once for all splits behind, once in this one) and n_q / 1024
// splits.
#ifndef FOVEATE_TESTS_LINEAR_BOUND_H_
#define FOVEATE_TESTS_LINEAR_BOUND_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "foveate/tensor.h"
#include "reference/linear.h"

namespace foveate::trial {

/// Factors of the oracle's sums of absolute values.
struct LinearBound {
  long double o, dq, dk, dv;
};

/// For a problem computed in T by the engine, and in Real by the oracle, whose own loops go through n_kv or n_q terms,
/// twice.
template <class T, class Real>
LinearBound linear_bound(const reference::linear::Problem<Real>& p) {
  const long double u = std::numeric_limits<T>::epsilon() / 2;
  const auto gamma = [](int64_t length, long double unit) {
    const long double x = static_cast<long double>(length) * unit;
    return x / (1 - x);
  };
  const int64_t group = p.h_kv == 0 ? 0 : p.h_q / p.h_kv;
  const int64_t keys = std::min<int64_t>(p.n_kv, 64) + 1 + std::min<int64_t>(p.n_kv / 64 + 1, 16) + 1 + p.n_kv / 1024;
  const int64_t row_blocks = group * std::min<int64_t>(p.n_q / 64 + 1, 16);
  const int64_t rows = std::min<int64_t>(p.n_q, 64) + 1 + 2 * row_blocks + p.n_q / 1024 + 2 + group;
  constexpr int64_t kPhi = 3;

  const long double sums = gamma(2 * kPhi + p.d_k + 1 + keys + 1, u);
  const long double inverse = (1 + u) / (1 - sums) - 1;
  const long double o = (1 + sums) * (1 + inverse) * (1 + u) - 1;
  const long double product = (1 + o) * (1 + gamma(p.d_v + 2, u)) - 1;
  const long double g = (1 + product) * (1 + inverse) * (1 + u) - 1;
  const auto behind = [&](long double factor, int64_t length) { return (1 + factor) * (1 + gamma(length, u)) - 1; };

  const int64_t terms = p.n_kv + group * p.n_q + 2 * p.d_k + 2 * p.d_v + 30;
  const long double oracle = gamma(2 * terms, std::numeric_limits<Real>::epsilon() / 2);
  return {.o = o + oracle,
          .dq = behind(g, 2 * kPhi + 1 + p.d_v + 2 + keys + 1) + oracle,
          .dk = behind(g, 2 * kPhi + 1 + p.d_v + 2 + rows) + oracle,
          .dv = behind((1 + inverse) * (1 + u) - 1, 2 * kPhi + p.d_k + 1 + rows) + oracle};
}

/// What storing a number of at most that magnitude may add.
inline long double storing_error(DType dtype, long double magnitude) {
  switch (dtype) {
    case DType::f16:
      return std::max(std::ldexp(magnitude, -11), std::ldexp(1.0L, -25));
    case DType::bf16:
      return std::max(std::ldexp(magnitude, -8), std::ldexp(1.0L, -134));
    default:
      return 0;  // the computing type
  }
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_LINEAR_BOUND_H_
