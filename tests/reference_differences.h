// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The finite differences of the oracle's own forward pass, in long double, and what they may be off by.
#ifndef FOVEATE_TESTS_REFERENCE_DIFFERENCES_H_
#define FOVEATE_TESTS_REFERENCE_DIFFERENCES_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "reference/attention.h"
#include "reference/attention_backward.h"
#include "tests/reference_problem.h"

namespace foveate::reference {

/// Of a weight, relative, as the oracle computes it: each term of its bound (attention.h) with a constant that the loops'
/// own roundings stay below. tanh and exp are good to a few units in the last place.
template <class Real>
Real weight_error(const Problem<Real>& p, const Result<Real>& r, int64_t row) {
  const auto n_kv = static_cast<Real>(p.n_kv), dims = static_cast<Real>(p.d_k + p.network.d_a);
  const Real sink = p.sinks.empty() ? 0 : std::abs(p.sinks[row / p.n_q % p.h_q]);
  const Real score = (dims + 4) * r.score_magnitude[row] + 10 * r.addend_magnitude[row] + 2 * sink;
  return (2 * n_kv + 10 + 2 * score) * std::numeric_limits<Real>::epsilon();
}

template <class Real>
Real loss(const Problem<Real>& p, const std::vector<Real>& d_o) {
  const std::vector<Real> o = attention(p).o;
  return std::inner_product(o.begin(), o.end(), d_o.begin(), Real{0});
}

/// How far off the loss may be for rounding.
template <class Real>
Real loss_error(const Problem<Real>& p, const std::vector<Real>& d_o) {
  const Result<Real> r = attention(p);
  Real error = 0;
  for (size_t x = 0; x < r.o.size(); ++x) {
    const Real sum = static_cast<Real>(r.o.size() + 1) * std::numeric_limits<Real>::epsilon();
    const auto row = static_cast<int64_t>(x) / p.d_v;
    error += std::abs(d_o[x]) * r.abs_o[x] * (weight_error(p, r, row) + sum);
  }
  return error;
}

/// The finite differences of the loss by every element of a problem.
class Differences {
 public:
  using Real = long double;

  Differences(const Problem<Real>& p, std::vector<Real> d_o)
      : p_(p), d_o_(std::move(d_o)), loss_error_(loss_error(p_, d_o_)) {}

  /// That the gradients are the derivatives.
  void expect(const Gradients<Real>& g) {
    expect("dq", p_.q, g.dq);
    expect("dk", p_.k, g.dk);
    expect("dv", p_.v, g.dv);
    if (p_.bias.empty()) p_.bias.assign(pairs_in(p_), 0);
    expect("dbias", p_.bias, g.dbias);
    if (p_.sinks.empty()) {
      EXPECT_EQ(g.dsinks, std::vector<Real>(p_.h_q, 0));
    } else {
      expect("dsinks", p_.sinks, g.dsinks);
    }
    if (p_.network.present()) expect_by_network(g);
  }

 private:
  void expect_by_network(const Gradients<Real>& g) {
    Network<Real>& n = p_.network;
    expect("dw_q", n.w_q, g.dw_q);
    expect("dw_k", n.w_k, g.dw_k);
    expect("dw", n.w, g.dw);
    if (n.b.empty()) n.b.assign(n.d_a, 0);
    expect("db", n.b, g.db);
  }

  void expect(const char* name, std::vector<Real>& x, const std::vector<Real>& gradient) {
    ASSERT_EQ(gradient.size(), x.size()) << name;
    for (size_t e = 0; e < x.size(); ++e) {
      if (std::isinf(x[e])) {  // a bias that forbids, whatever is added to it
        EXPECT_EQ(gradient[e], 0) << name << ' ' << e;
        continue;
      }
      const auto [derivative, error] = derivative_by(x[e]);
      EXPECT_LE(std::abs(gradient[e] - derivative), error)
          << name << ' ' << e << ": " << gradient[e] << ", not " << derivative;
      EXPECT_LT(error, 1e-6) << name << ' ' << e << ": too coarse to tell a wrong term";
    }
  }

  struct Derivative {
    Real value, error;
  };

  /// The difference over a step h is off by h^2 f'''/6 (and terms in h^4), so over 2 h by four times that: a third of what
  /// lies between the two, give or take their rounding. That is loss_error / h and loss_error / 2 h; the gradient's own,
  /// not divided by a step, is nothing beside it.
  Derivative derivative_by(Real& x) {
    const Real step = std::cbrt(std::numeric_limits<Real>::epsilon());
    const Real near = difference_by(x, step), far = difference_by(x, 2 * step);
    return {near, std::abs(far - near) / 3 + 3 * loss_error_ / (2 * step)};
  }

  Real difference_by(Real& x, Real step) {
    const Real at = x, up = at + step, down = at - step;
    x = up;
    const Real above = loss(p_, d_o_);
    x = down;
    const Real under = loss(p_, d_o_);
    x = at;
    return (above - under) / (up - down);
  }

  Problem<Real> p_;
  std::vector<Real> d_o_;
  Real loss_error_;
};

inline void expect_derivatives(std::mt19937_64* random, const Problem<long double>& p) {
  const std::vector<long double> d_o = random_d_o(random, p);
  Differences(p, d_o).expect(attention_backward(p, d_o));
}

}  // namespace foveate::reference

#endif  // FOVEATE_TESTS_REFERENCE_DIFFERENCES_H_
