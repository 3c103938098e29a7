// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle's additive scores and their gradients: by pencil, and beside every other option against finite differences of
// the forward pass. (reference_derivatives_test.cc has the network as one option among all.)
#include "reference/additive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "reference/attention.h"
#include "reference/attention_backward.h"
#include "tests/reference_differences.h"
#include "tests/reference_problem.h"

namespace foveate::reference {
namespace {

const double kAtanhHalf = std::log(3.0) / 2;  // tanh of it is 1/2, its slope 3/4

/// One query and two keys of one component; x of the first key has tanh 1/2, that of the second tanh 0. w is 2 ln 3 and the
/// weights are 3/4 and 1/4.
Problem<double> one_feature() {
  Problem<double> p{.n_q = 1, .n_kv = 2, .d_k = 1, .d_v = 1};
  p.q = {2};
  p.k = {3 * kAtanhHalf, -1 * kAtanhHalf};
  p.v = {4, 8};
  p.network = {.d_a = 1, .w_q = {kAtanhHalf}, .w_k = {0.25}, .w = {2 * kLn3}, .b = {-1.75 * kAtanhHalf}};
  return p;
}

TEST(AdditiveScore, OneFeatureByPencil) {
  // x = 2 c - 1.75 c + 0.75 c = c and 0.25 c - 0.25 c = 0 with c = atanh(1/2).
  const Result<double> r = attention(one_feature());
  expect_near(r.weights, {0.75, 0.25});
  expect_near(r.o, {5});
  expect_near(r.lse, {std::log(4)});
}

TEST(AdditiveScore, ScaleIsOneUnlessGiven) {
  Problem<double> p = one_feature();
  p.network.w = {kLn3};
  p.scale = 2;
  expect_near(attention(p).weights, {0.75, 0.25});
  p.scale = -2;
  expect_near(attention(p).weights, {0.25, 0.75});
}

TEST(AdditiveScore, SumsFeaturesAndComponents) {
  const Network<double> n{.d_a = 2, .w_q = {1, -2, 0.5, 3}, .w_k = {0.25, 4, -1, 2}, .w = {5, -7}, .b = {0.125, -0.5}};
  const double q[] = {0.5, 0.25}, k[] = {1, -0.125};
  // x: 0.5 - 0.5 + 0.25 - 0.5 + 0.125 and 0.25 + 0.75 - 1 - 0.25 - 0.5.
  EXPECT_NEAR(feature(n, 0, q, k, 2).x, -0.125, 1e-15);
  EXPECT_NEAR(feature(n, 1, q, k, 2).x, -0.75, 1e-15);
  EXPECT_NEAR(feature(n, 0, q, k, 2).magnitude, 1.875, 1e-15);
  EXPECT_NEAR(feature(n, 1, q, k, 2).magnitude, 2.75, 1e-15);
  const Sum<double> sum = network_sum(n, q, k, 2);
  EXPECT_NEAR(sum.value, -5 * std::tanh(0.125) + 7 * std::tanh(0.75), 1e-14);
  const auto slope = [](double x) { return 1 - std::tanh(x) * std::tanh(x); };
  EXPECT_NEAR(sum.magnitude, 5 * (1 + slope(0.125) * 1.875) + 7 * (1 + slope(0.75) * 2.75), 1e-13);
  EXPECT_NEAR(sum.argument, 2.75, 1e-15);
}

/// d_a = d_k, W_q = W_k = I, no b: w . tanh(q + k).
TEST(AdditiveScore, OfIdentities) {
  constexpr int64_t d = 5;
  std::mt19937_64 random(3);
  Problem<double> p{.h_q = 2, .n_q = 3, .n_kv = 4, .d_k = d, .d_v = 2};
  fill(&random, &p);
  Network<double>& n = p.network;
  n = {.d_a = d, .w_q = std::vector<double>(d * d, 0), .w = normals(&random, d)};
  for (int64_t a = 0; a < d; ++a) n.w_q[a * (d + 1)] = 1;
  n.w_k = n.w_q;
  const Result<double> r = attention(p);
  for (int64_t h = 0; h < p.h_q; ++h)
    for (int64_t i = 0; i < p.n_q; ++i) {
      std::vector<double> scores;
      double z = 0;
      for (int64_t j = 0; j < p.n_kv; ++j) {
        double s = 0;
        for (int64_t a = 0; a < d; ++a) s += n.w[a] * std::tanh(p.q[query_row(p, 0, h, i) * d + a] + p.k[j * d + a]);
        scores.push_back(s);
        z += std::exp(s);
      }
      EXPECT_NEAR(r.lse[query_row(p, 0, h, i)], std::log(z), 1e-13);
      for (int64_t j = 0; j < p.n_kv; ++j) {
        EXPECT_NEAR(r.weights[pair_index(p, 0, h, i, j)], std::exp(scores[j]) / z, 1e-14);
      }
    }
}

TEST(AdditiveScore, ASaturatedTanhKeepsItsSlope) {
  EXPECT_NEAR(tanh_slope(40.0) / (4 * std::exp(-80.0)), 1, 1e-13);
  EXPECT_NEAR(tanh_slope(-40.0) / (4 * std::exp(-80.0)), 1, 1e-13);
  EXPECT_EQ(tanh_slope(0.0), 1);
  EXPECT_EQ(tanh_slope(kInf), 0);
  EXPECT_TRUE(std::isnan(tanh_slope(kNaN)));
}

TEST(AdditiveGradients, OneFeatureByPencil) {
  const double c = kAtanhHalf, w = 2 * kLn3;
  const Gradients<double> g = attention_backward(one_feature(), {1});
  // o is 5: ds = 3/4 (4 - 5) and 1/4 (8 - 5); slopes of tanh 3/4 and 1.
  const double first = -0.75 * w * 0.75, second = 0.75 * w;
  expect_near(g.dbias, {-0.75, 0.75});
  expect_near(g.dv, {0.75, 0.25});
  expect_near(g.dq, {(first + second) * c});
  expect_near(g.dk, {first * 0.25, second * 0.25});
  expect_near(g.dw_q, {(first + second) * 2});
  expect_near(g.dw_k, {first * 3 * c - second * c});
  expect_near(g.dw, {-0.75 * 0.5});
  expect_near(g.db, {first + second});
}

TEST(AdditiveGradients, Magnitudes) {
  Problem<double> p = one_feature();
  p.scale = -0.5;
  const std::vector<double> a = attention(p).weights;
  const Gradients<double> g = attention_backward(p, {-2}, {3});
  // A is 8 and 16, D is 2 o.
  const double delta = 2 * (4 * a[0] + 8 * a[1]);
  const double first = 1.5 * a[0] * (8 + delta), second = 1.5 * a[1] * (16 + delta), w = 2 * kLn3;
  expect_near(g.abs_dw, {first + second}, 1e-13);
  expect_near(g.abs_db, {w * (first + second)}, 1e-13);
  expect_near(g.abs_dq, {w * (first + second) * kAtanhHalf}, 1e-13);
  expect_near(g.abs_dk, {w * first * 0.25, w * second * 0.25}, 1e-13);
  expect_near(g.abs_dw_q, {w * (first + second) * 2}, 1e-13);
  expect_near(g.abs_dw_k, {w * (first * 3 + second) * kAtanhHalf}, 1e-13);
}

TEST(AdditiveGradients, BesideEachOption) {
  for (const Option<long double>& option : options<long double>()) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(option.name + ", seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      Problem<long double> p = random_problem<long double>(&random);
      p.network = random_network<long double>(&random, 1 + below(&random, 5), p.d_k);
      option.set(&random, p);
      expect_derivatives(&random, p);
    }
  }
}

/// Where tanh is flat an infinite key is a constant, though NaN is NaN.
TEST(AdditiveGradients, OfAnInfiniteKey) {
  Problem<double> p = one_feature(), constant = one_feature();
  p.k[1] = -kInf;
  constant.k[1] = -1e6;
  const Gradients<double> g = attention_backward(p, {1}), want = attention_backward(constant, {1});
  expect_near(g.dbias, want.dbias);
  expect_near(g.dq, want.dq);
  expect_near(g.dk, {want.dk[0], 0});
  expect_near(g.dw_q, want.dw_q);
  expect_near(g.dw_k, want.dw_k);
  expect_near(g.dw, want.dw);
  expect_near(g.db, want.db);
  p.q[0] = kInf;
  for (const auto* x : {&g.dw_q, &g.dw_k, &g.dw, &g.db}) EXPECT_TRUE(std::isfinite((*x)[0]));
  const Gradients<double> nan = attention_backward(p, {1});
  for (const auto* x : {&nan.dw_q, &nan.dw_k, &nan.dw, &nan.db}) EXPECT_TRUE(std::isnan((*x)[0]));
}

/// A query without keys and a key that nobody sees, both NaN, add nothing to what rows share.
TEST(AdditiveGradients, WhatTakesNoPartAddsNothingToTheParameters) {
  std::mt19937_64 random(8);
  Problem<double> p{.n_q = 3, .n_kv = 4, .d_k = 2, .d_v = 2};
  fill(&random, &p);
  p.network = random_network<double>(&random, 3, 2);
  p.mask = {1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1};
  std::vector<double> d_o = random_d_o(&random, p);
  const Gradients<double> want = attention_backward(p, d_o);
  p.q[2] = p.q[3] = p.k[4] = p.k[5] = p.v[4] = d_o[2] = kNaN;
  const Gradients<double> got = attention_backward(p, d_o);
  EXPECT_EQ(got.dw_q, want.dw_q);
  EXPECT_EQ(got.dw_k, want.dw_k);
  EXPECT_EQ(got.dw, want.dw);
  EXPECT_EQ(got.db, want.db);
  EXPECT_EQ(got.dq, want.dq);
  EXPECT_EQ(got.dk, want.dk);
}

}  // namespace
}  // namespace foveate::reference
