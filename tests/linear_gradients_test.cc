// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Gradients of linear attention: the oracle's against finite differences of its own forward pass, then the engine's
// against the oracle's, on every target of the machine, within the derived bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "foveate/linear.h"
#include "reference/linear.h"
#include "tests/each_target.h"
#include "tests/linear_case.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

using Real = long double;
using Problem = reference::linear::Problem<Real>;

Real loss(const Problem& p, const std::vector<Real>& d_o) {
  const std::vector<Real> o = reference::linear::attention(p).o;
  return std::inner_product(o.begin(), o.end(), d_o.begin(), Real{0});
}

/// That a gradient is the derivative of the loss by x: a difference over a step h is off by h^2 f''' / 6, so over 2 h
/// by four times that; a third of what lies between the two, and rounding, which the step makes large.
void expect_derivatives(const char* name, Problem& p, std::vector<Real>& x, const std::vector<Real>& gradient,
                        const std::vector<Real>& d_o) {
  const Real step = std::cbrt(std::numeric_limits<Real>::epsilon());
  const auto difference = [&](Real& at, Real h) {
    const Real centre = at, up = centre + h, down = centre - h;
    at = up;
    const Real above = loss(p, d_o);
    at = down;
    const Real under = loss(p, d_o);
    at = centre;
    return (above - under) / (up - down);
  };
  ASSERT_EQ(gradient.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {  // takes no part
      EXPECT_EQ(gradient[i], 0) << name << i;
      continue;
    }
    if (std::abs(x[i]) < 3 * step) continue;  // phi has no second derivative at 0
    const Real near = difference(x[i], step), far = difference(x[i], 2 * step);
    const Real error = std::abs(far - near) / 3 + 1000 * std::numeric_limits<Real>::epsilon() / step;
    EXPECT_LE(std::abs(gradient[i] - near), error) << name << ' ' << i;
    EXPECT_LT(error, 1e-6) << name << ' ' << i << ": too coarse to tell a wrong term";
  }
}

TEST(LinearDerivatives, TheOraclesAreThoseOfItsForwardPass) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Choices choices(seed);
    LinearSpec spec = random_linear_spec(choices, 1);
    spec.n_q = choices.below(6);  // each element takes four passes of the oracle
    spec.n_kv = choices.below(6);
    spec.d_k = 1 + choices.below(3);
    spec.d_v = choices.below(4);
    spec.magnitude = 1;
    spec.not_finite = 0;
    SCOPED_TRACE(testing::Message() << spec);
    const LinearCase<double> call(spec);
    Problem p = call.problem();
    const std::vector<Real> d_o = reference::widened<Real>(call.d_o.packed());
    std::vector<Real> seen = d_o;  // rows past a length hold NaN, and o there is 0
    for (Real& x : seen) x = std::isnan(x) ? 0 : x;
    const reference::linear::Gradients<Real> g = reference::linear::attention_backward(p, d_o);
    expect_derivatives("dq", p, p.q, g.dq, seen);
    expect_derivatives("dk", p, p.k, g.dk, seen);
    expect_derivatives("dv", p, p.v, g.dv, seen);
    if (HasFailure()) return;
  }
}

template <class T>
void expect_gradients(const LinearSpec& spec) {
  LinearCase<T> call(spec);
  const auto expected = call.expected_gradients();
  on_each_target([&] {
    const Status status = call.differentiate();
    ASSERT_TRUE(status.ok()) << spec << '\n' << status.message();
    EXPECT_EQ(judge_gradients(call, expected), "") << spec;
    EXPECT_TRUE(call.inputs_intact()) << spec;
  });
}

template <class T>
class LinearGradientsOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearGradientsOf, Types);

TYPED_TEST(LinearGradientsOf, RandomCalls) {
  for (uint64_t seed = 1000; seed < 1120 && !this->HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Choices choices(seed);
    expect_gradients<TypeParam>(random_linear_spec(choices, 300'000));
  }
}

TYPED_TEST(LinearGradientsOf, ManySplits) {
  for (const bool causal : {false, true}) {
    for (const int64_t workers : {0, 3}) {
      expect_gradients<TypeParam>(
          {.h_q = 2, .n_q = 1500, .n_kv = 1300, .d_k = 3, .d_v = 2, .causal = causal, .workers = workers});
    }
  }
}

TYPED_TEST(LinearGradientsOf, PositionsOfEveryKind) {
  for (const int64_t offset : {-200, -65, -64, -1, 0, 1, 63, 64, 65, 99, 100, 1000, 1023, 1024}) {
    expect_gradients<TypeParam>({.h_q = 2, .n_q = 130, .n_kv = 100, .causal = true, .q_offset = offset});
  }
}

TYPED_TEST(LinearGradientsOf, ANaNInAKeyThatNoRowSeesHasNoEffect) {
  using T = TypeParam;
  constexpr int64_t kRows = 70, kKeys = 150, kWidth = 4;
  on_each_target([&] {
    std::vector<T> q(kRows * kWidth, T(0.5)), k(kKeys * kWidth, T(0.25)), v(k), d_o(q), dq(q), dk(k), dv(v);
    std::fill(k.begin() + kRows * kWidth, k.end(), std::numeric_limits<T>::quiet_NaN());
    std::fill(v.begin() + kRows * kWidth, v.end(), std::numeric_limits<T>::quiet_NaN());
    const auto in = [&](const std::vector<T>& x, int64_t n) { return view<const T>(x.data(), 1, 1, n, kWidth); };
    const auto out = [&](std::vector<T>& x, int64_t n) { return view(x.data(), 1, 1, n, kWidth); };
    ASSERT_TRUE(linear_attention_backward(in(q, kRows), in(k, kKeys), in(v, kKeys), in(d_o, kRows),
                                          {.dq = out(dq, kRows), .dk = out(dk, kKeys), .dv = out(dv, kKeys)},
                                          {.causal = true, .align = Align::top_left})
                    .ok());
    for (const T x : dq) EXPECT_TRUE(std::isfinite(x));
    for (int64_t i = 0; i < kKeys * kWidth; ++i) {
      EXPECT_TRUE(i < kRows * kWidth ? std::isfinite(dk[i]) : dk[i] == 0) << i;
      EXPECT_TRUE(i < kRows * kWidth ? std::isfinite(dv[i]) : dv[i] == 0) << i;
    }
  });
}

TYPED_TEST(LinearGradientsOf, NoKeysNoRowsNoValues) {
  for (const bool causal : {false, true}) {
    expect_gradients<TypeParam>({.n_q = 5, .n_kv = 0, .causal = causal});
    expect_gradients<TypeParam>({.n_q = 0, .n_kv = 5, .causal = causal});
    expect_gradients<TypeParam>({.b = 0, .n_q = 5, .n_kv = 5, .causal = causal});
    expect_gradients<TypeParam>({.h_q = 0, .n_q = 5, .n_kv = 5, .causal = causal});
    expect_gradients<TypeParam>({.n_q = 5, .n_kv = 5, .d_v = 0, .causal = causal});
    expect_gradients<TypeParam>({.n_q = 5, .n_kv = 70, .causal = causal, .mask = Whole{}, .masked = 1});
  }
}

}  // namespace
}  // namespace foveate::trial
