// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Bounds of additive scores, derived in docs/numerics.md: of the sum that stands for q . k there, and of its derivatives.
#ifndef FOVEATE_TESTS_ADDITIVE_BOUND_H_
#define FOVEATE_TESTS_ADDITIVE_BOUND_H_

#include <cmath>
#include <limits>

#include "reference/attention.h"

namespace foveate::trial {

/// What an argument of tanh, whose terms' magnitudes sum up to `magnitude`, is off by.
template <class T, class Real>
Real argument_error(const reference::Problem<Real>& p, Real magnitude) {
  constexpr Real u = std::numeric_limits<T>::epsilon() / 2;
  return static_cast<Real>(p.d_k + 3) * u * magnitude;
}

/// What scale * sum_a w_a tanh(x_a) is off by. A tanh whose argument is off by delta is off by its slope times delta
/// exp(2 delta).
template <class T, class Real>
Real network_error(const reference::Problem<Real>& p, const reference::Score<Real>& s) {
  constexpr Real u = std::numeric_limits<T>::epsilon() / 2;
  const auto d_k = static_cast<Real>(p.d_k), d_a = static_cast<Real>(p.network.d_a);
  Real weights = 0;
  for (const Real& w : p.network.w) weights += std::abs(reference::scale_of(p) * w);
  const Real of_arguments = (d_k + 3) * std::exp(2 * argument_error<T>(p, s.argument));
  return u * (of_arguments * (s.magnitude - weights) + (2 * d_a + 24) * weights);
}

/// What tanh and its slope are off by in the gradients of a row whose largest argument has that magnitude.
template <class T, class Real>
Real network_slope_error(const reference::Problem<Real>& p, Real magnitude) {
  if (!p.network.present()) return 0;
  constexpr Real u = std::numeric_limits<T>::epsilon() / 2;
  return std::expm1(2 * argument_error<T>(p, magnitude)) + 40 * u;
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_ADDITIVE_BOUND_H_
