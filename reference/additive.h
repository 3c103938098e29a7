// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The network of an additive score, in the oracle. Of one query q and one key k:
//
//   sum_a w_a tanh(x_a)      x_a = sum_d (w_q_ad q_d + w_k_ad k_d) + b_a
//
// attention.h takes it in the place of q . k, where a problem has one; attention_backward.h differentiates it.
#ifndef FOVEATE_REFERENCE_ADDITIVE_H_
#define FOVEATE_REFERENCE_ADDITIVE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace foveate::reference {

template <class Real>
struct Network {
  int64_t d_a = 0;             ///< 0: there is none
  std::vector<Real> w_q = {};  ///< [d_a, d_k], as w_k
  std::vector<Real> w_k = {};
  std::vector<Real> w = {};  ///< [d_a]
  std::vector<Real> b = {};  ///< [d_a]; empty: 0

  bool present() const { return d_a > 0; }
};

/// 1 - tanh^2(x), with e = exp(-2 |x|) and nothing that cancels.
template <class Real>
Real tanh_slope(Real x) {
  const Real e = std::exp(-2 * std::abs(x));
  return 4 * e / ((1 + e) * (1 + e));
}

template <class Real>
struct Feature {
  Real x = 0;
  Real magnitude = 0;  ///< x of absolute values
};

/// x_a of a query and a key of d_k components.
template <class Real>
Feature<Real> feature(const Network<Real>& network, int64_t a, const Real* q, const Real* k, int64_t d_k) {
  Feature<Real> f;
  if (!network.b.empty()) f = {network.b[a], std::abs(network.b[a])};
  for (int64_t d = 0; d < d_k; ++d) {
    const Real of_q = network.w_q[a * d_k + d] * q[d], of_k = network.w_k[a * d_k + d] * k[d];
    f.x += of_q + of_k;
    f.magnitude += std::abs(of_q) + std::abs(of_k);
  }
  return f;
}

/// A sum, and what bounds of its rounding errors are made of, here for a network.
template <class Real>
struct Sum {
  Real value = 0;
  Real magnitude = 0;  ///< sum_a |w_a| (1 + (1 - tanh^2 x_a) magnitude of x_a): what x_a is off by, tanh flattens
  Real argument = 0;   ///< the largest magnitude of an x_a that is finite: infinity carries no error
};

template <class Real>
Sum<Real> network_sum(const Network<Real>& network, const Real* q, const Real* k, int64_t d_k) {
  Sum<Real> sum;
  for (int64_t a = 0; a < network.d_a; ++a) {
    const Feature<Real> f = feature(network, a, q, k, d_k);
    sum.value += network.w[a] * std::tanh(f.x);
    const Real inexact = std::isinf(f.x) ? 0 : f.magnitude;
    sum.magnitude += std::abs(network.w[a]) * (1 + tanh_slope(f.x) * inexact);
    sum.argument = std::max(sum.argument, inexact);
  }
  return sum;
}

}  // namespace foveate::reference

#endif  // FOVEATE_REFERENCE_ADDITIVE_H_
