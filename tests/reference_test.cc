// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle against what can be worked out without it: by pencil, in closed form, by symmetry, and the corners of the
// contract one by one. reference_cases_test.cc has it agree with arrays from elsewhere.
#include "reference/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "reference/arrays.h"
#include "tests/reference_problem.h"

namespace foveate::reference {
namespace {

Problem<double> random_problem(int64_t h_q, int64_t h_kv, int64_t n_q, int64_t n_kv) {
  std::mt19937_64 random(7);
  Problem<double> p{.b = 2, .h_q = h_q, .h_kv = h_kv, .n_q = n_q, .n_kv = n_kv, .d_k = 5, .d_v = 3};
  fill(&random, &p);
  return p;
}

/// Rows of '1' where a key takes part and '.' where it does not, for scores of 0 and so weights above 0.
std::string pattern(Problem<double> p) {
  p.q.assign(p.b * p.h_q * p.n_q, 0);
  p.k.assign(p.b * p.h_kv * p.n_kv, 0);
  p.v.assign(p.b * p.h_kv * p.n_kv, 0);
  std::string rows;
  const std::vector<double> weights = attention(p).weights;
  for (size_t x = 0; x < weights.size(); ++x) {
    if (x > 0 && x % p.n_kv == 0) rows += ' ';
    rows += weights[x] > 0 ? '1' : '.';
  }
  return rows;
}

TEST(Formula, TwoByTwoByPencil) {
  Problem<double> p{.n_q = 2, .n_kv = 2, .d_k = 1, .d_v = 2};
  p.q = {1, 0};
  p.k = {1, 0};
  p.v = {4, 0, 8, 4};
  p.scale = kLn3;
  const Result<double> r = attention(p);
  expect_near(r.weights, {0.75, 0.25, 0.5, 0.5});
  expect_near(r.o, {5, 1, 6, 2});
  expect_near(r.lse, {2 * kLn2, kLn2});
}

TEST(Formula, DefaultScaleIsOneOverRootOfHeadDim) {
  Problem<double> p{.n_kv = 2, .d_k = 4};
  p.q = {1, 1, 1, 1};
  p.k = {kLn3 / 2, kLn3 / 2, kLn3 / 2, kLn3 / 2, 0, 0, 0, 0};
  p.v = {1, 0};
  expect_near(attention(p).weights, {0.75, 0.25});
}

TEST(Formula, ScaleZeroIsUniformAndNegativeScaleTurnsTheOrder) {
  Problem<double> p = one_query({3, -50, 700, 9}, {1, 2, 3, 6});
  p.scale = 0;
  expect_near(attention(p).o, {3.0});
  expect_near(attention(p).lse, {2 * kLn2});
  p = one_query({kLn3, 0}, {1, 0});
  p.scale = -1;
  expect_near(attention(p).weights, {0.25, 0.75});
}

// Scores j ln 2 and values j: z = 2^n - 1, and sum_j j 2^j = (n - 2) 2^n + 2.
template <class Real>
void expect_geometric(Real tolerance) {
  Problem<Real> p{.n_kv = 40};
  p.q = {1};
  p.scale = Real{1};
  for (int j = 0; j < 40; ++j) {
    p.k.push_back(static_cast<Real>(j) * std::log(Real{2}));
    p.v.push_back(static_cast<Real>(j));
  }
  const Real power = std::ldexp(Real{1}, 40);
  const Result<Real> r = attention(p);
  expect_near(r.o, {(38 * power + 2) / (power - 1)}, 40 * tolerance);
  expect_near(r.lse, {std::log(power - 1)}, 40 * tolerance);
}

TEST(Formula, GeometricWeights) {
  expect_geometric<double>(std::numeric_limits<double>::epsilon());
  expect_geometric<long double>(std::numeric_limits<long double>::epsilon());
}

// 2 tanh(x / 2) = 2 (e^x - 1) / (e^x + 1), which is 1 at x = ln 3.
TEST(Formula, Softcap) {
  Problem<double> p = one_query({kLn3, 0}, {1, 0});
  p.softcap = 2;
  const double e = std::exp(1.0);
  expect_near(attention(p).weights, {e / (e + 1), 1 / (e + 1)});
  expect_near(attention(p).lse, {std::log(e + 1)});
}

TEST(Formula, BiasComesAfterSoftcap) {
  Problem<double> p = one_query({kLn3, 0}, {1, 0});
  p.softcap = 2;
  p.bias = {-1 + kLn3, 0};
  expect_near(attention(p).weights, {0.75, 0.25});
}

TEST(Formula, AlibiFallsWithDistanceOnBothSides) {
  Problem<double> p{.h_q = 2, .h_kv = 1, .n_kv = 3};
  p.q = {0, 0};
  p.k = {0, 0, 0};
  p.v = {1, 1, 1};
  p.alibi_slopes = {kLn2, 0};
  const double third = 1 / 3.0;
  expect_near(attention(p).weights, {1 / 7.0, 2 / 7.0, 4 / 7.0, third, third, third});
  p.align = Align::top_left;
  expect_near(attention(p).weights, {4 / 7.0, 2 / 7.0, 1 / 7.0, third, third, third});
  p.q_offset = 11;
  p.kv_offset = 10;
  expect_near(attention(p).weights, {0.25, 0.5, 0.25, third, third, third});
}

TEST(Positions, CausalByAlignment) {
  EXPECT_EQ(pattern({.n_q = 2, .n_kv = 5, .causal = true}), "1111. 11111");
  EXPECT_EQ(pattern({.n_q = 2, .n_kv = 5, .causal = true, .align = Align::top_left}), "1.... 11...");
  EXPECT_EQ(pattern({.n_q = 5, .n_kv = 2, .causal = true}), ".. .. .. 1. 11");
  EXPECT_EQ(pattern({.n_q = 5, .n_kv = 2, .causal = true, .align = Align::top_left}), "1. 11 11 11 11");
}

TEST(Positions, LengthsOfEachSequence) {
  Problem<double> p{.b = 2, .n_q = 2, .n_kv = 4, .causal = true};
  p.q_lengths = {2, 1};
  p.kv_lengths = {3, 2};
  EXPECT_EQ(pattern(p), "11.. 111. 11.. ....");
  p.align = Align::top_left;
  EXPECT_EQ(pattern(p), "1... 11.. 1... ....");
}

TEST(Positions, WindowIsInclusiveOnBothSides) {
  EXPECT_EQ(pattern({.n_q = 5, .n_kv = 5, .window_left = 2, .window_right = 1}), "11... 111.. 1111. .1111 ..111");
  EXPECT_EQ(pattern({.n_q = 3, .n_kv = 3, .window_left = 0, .window_right = 0}), "1.. .1. ..1");
  EXPECT_EQ(pattern({.n_q = 3, .n_kv = 3, .window_left = 0}), "111 .11 ..1");
  EXPECT_EQ(pattern({.n_q = 3, .n_kv = 3, .causal = true, .window_left = 1, .window_right = 1}), "1.. 11. .11");
  EXPECT_EQ(pattern({.n_q = 1, .n_kv = 5, .window_left = 1, .window_right = 0}), "...11");
}

TEST(Positions, Offsets) {
  EXPECT_EQ(pattern({.n_q = 2, .n_kv = 3, .causal = true, .q_offset = 0}), "1.. 11.");
  EXPECT_EQ(pattern({.n_q = 2, .n_kv = 3, .causal = true, .q_offset = 6, .kv_offset = 5}), "11. 111");
  EXPECT_EQ(pattern({.n_q = 2, .n_kv = 3, .causal = true, .q_offset = 4, .kv_offset = 5}), "... 1..");
  EXPECT_EQ(pattern({.n_q = 2, .n_kv = 3, .window_left = 1, .q_offset = 6, .kv_offset = 5}), "111 .11");
  EXPECT_EQ(pattern({.n_q = 2, .n_kv = 3, .causal = true, .kv_offset = 1}), "1.. 11.");
}

TEST(Positions, AllGivenTogetherHold) {
  Problem<double> p{.n_q = 3, .n_kv = 3, .causal = true, .mask = {0, 1, 1, 1, 0, 1, 1, 1, 0}};
  EXPECT_EQ(pattern(p), "... 1.. 11.");
  p.bias = {0, 0, 0, 0, 0, 0, -kInf, 0, 0};
  EXPECT_EQ(pattern(p), "... 1.. .1.");
}

TEST(Symmetry, WideWindowIsCausal) {
  Problem<double> p = random_problem(2, 2, 6, 6);
  p.causal = true;
  const Result<double> causal = attention(p);
  p.causal = false;
  p.window_left = 5;
  p.window_right = 0;
  const Result<double> window = attention(p);
  EXPECT_EQ(window.o, causal.o);
  EXPECT_EQ(window.lse, causal.lse);
}

TEST(Symmetry, OrderOfKeysDoesNotMatter) {
  Problem<double> p = random_problem(1, 1, 4, 6);
  p.b = 1;
  const Result<double> before = attention(p);
  const std::vector<double> k = p.k, v = p.v;
  for (int64_t j = 0; j < p.n_kv; ++j) {
    const int64_t from = (j * 5 + 2) % p.n_kv;
    std::copy_n(k.begin() + from * p.d_k, p.d_k, p.k.begin() + j * p.d_k);
    std::copy_n(v.begin() + from * p.d_v, p.d_v, p.v.begin() + j * p.d_v);
  }
  const Result<double> after = attention(p);
  expect_near(after.o, before.o);
  expect_near(after.lse, before.lse);
}

TEST(Symmetry, ShiftingAllScoresShiftsLseAlone) {
  Problem<double> p = random_problem(2, 2, 3, 7);
  const Result<double> before = attention(p);
  p.bias.assign(before.weights.size(), 1000);
  const Result<double> after = attention(p);
  expect_near(after.o, before.o, 1e-12);
  for (size_t row = 0; row < before.lse.size(); ++row) EXPECT_NEAR(after.lse[row], before.lse[row] + 1000, 1e-12);
}

TEST(Symmetry, GroupedHeadsAreRepeatedHeads) {
  Problem<double> p = random_problem(6, 2, 3, 4);
  const Result<double> grouped = attention(p);
  const int64_t k_head = p.n_kv * p.d_k, v_head = p.n_kv * p.d_v;
  std::vector<double> k, v;
  for (int64_t head = 0; head < p.b * p.h_q; ++head) {
    const int64_t from = head / 3;
    k.insert(k.end(), p.k.begin() + from * k_head, p.k.begin() + (from + 1) * k_head);
    v.insert(v.end(), p.v.begin() + from * v_head, p.v.begin() + (from + 1) * v_head);
  }
  p.k = k;
  p.v = v;
  p.h_kv = p.h_q;
  EXPECT_EQ(attention(p).o, grouped.o);
}

TEST(Symmetry, KeysInPiecesMergeByLse) {
  Problem<double> p{.n_q = 3, .n_kv = 8, .d_k = 2, .d_v = 2, .causal = true};
  std::mt19937_64 random(11);
  p.q = normals(&random, 6);
  p.k = normals(&random, 16);
  p.v = normals(&random, 16);
  p.alibi_slopes = {0.3};
  const Result<double> whole = attention(p);

  Problem<double> first = p, second = p;
  first.n_kv = 5;
  first.k.resize(10);
  first.v.resize(10);
  first.q_offset = second.q_offset = 5;
  second.n_kv = 3;
  second.kv_offset = 5;
  second.k.erase(second.k.begin(), second.k.begin() + 10);
  second.v.erase(second.v.begin(), second.v.begin() + 10);
  const Result<double> x = attention(first), y = attention(second);
  for (int64_t row = 0; row < 3; ++row) {
    const double z = std::exp(x.lse[row]) + std::exp(y.lse[row]);
    EXPECT_NEAR(whole.lse[row], std::log(z), 1e-14);
    for (int64_t d = row * 2; d < row * 2 + 2; ++d) {
      EXPECT_NEAR(whole.o[d], (std::exp(x.lse[row]) * x.o[d] + std::exp(y.lse[row]) * y.o[d]) / z, 1e-14);
    }
  }
}

TEST(Sinks, TakeWeightAndAddNoValue) {
  Problem<double> p = one_query({kLn3, 0}, {4, 8});
  p.sinks = {2 * kLn2};
  const Result<double> r = attention(p);
  expect_near(r.weights, {3 / 8.0, 1 / 8.0});
  expect_near(r.o, {2.5});
  expect_near(r.lse, {3 * kLn2});
}

TEST(Sinks, LargeOnesDoNotOverflow) {
  Problem<double> p = one_query({0, 0}, {4, 8});
  p.sinks = {1e4};
  expect_near(attention(p).o, {0.0});
  expect_near(attention(p).lse, {1e4});
}

TEST(Sinks, MinusInfinityIsNone) {
  Problem<double> p = random_problem(2, 1, 3, 4);
  p.causal = true;
  const Result<double> without = attention(p);
  p.sinks = {-kInf, -kInf};
  const Result<double> with = attention(p);
  EXPECT_EQ(with.o, without.o);
  EXPECT_EQ(with.lse, without.lse);
}

TEST(Sinks, NotANumberOrInfinitePoisonsItsHead) {
  for (double sink : {kNaN, kInf}) {
    for (int n_kv : {2, 0}) {
      Problem<double> p{.h_q = 2, .h_kv = 1, .n_kv = n_kv, .q = {1, 1}};
      p.k.assign(n_kv, 0);
      p.v.assign(n_kv, 5);
      p.sinks = {sink, 0};
      const Result<double> r = attention(p);
      EXPECT_TRUE(std::isnan(r.o[0]) && std::isnan(r.lse[0]));
      EXPECT_NEAR(r.o[1], n_kv * 5 / (n_kv + 1.0), 1e-14);
    }
  }
}

TEST(Corners, RowsWithoutKeys) {
  Problem<double> p = one_query({1, 2}, {kNaN, kNaN});
  p.mask = {0, 0};
  expect_near(attention(p).o, {0.0});
  expect_near(attention(p).lse, {-kInf});
  expect_near(attention(p).weights, {0.0, 0.0});
  p.sinks = {3};
  expect_near(attention(p).o, {0.0});
  expect_near(attention(p).lse, {3.0});
  p.mask.clear();
  p.kv_lengths = {0};
  expect_near(attention(p).lse, {3.0});
}

TEST(Corners, AllScoresMinusInfinity) {
  Problem<double> p = one_query({-kInf, -kInf}, {1, 2});
  expect_near(attention(p).o, {0.0});
  expect_near(attention(p).lse, {-kInf});
  p.sinks = {3};
  expect_near(attention(p).o, {0.0});
  expect_near(attention(p).lse, {3.0});
}

TEST(Corners, EmptyAxes) {
  const Result<double> no_keys = attention(Problem<double>{.n_q = 2, .n_kv = 0, .q = {1, 2}});
  expect_near(no_keys.o, {0.0, 0.0});
  expect_near(no_keys.lse, {-kInf, -kInf});
  EXPECT_TRUE(attention(Problem<double>{.n_q = 0, .k = {1}, .v = {1}}).o.empty());
  EXPECT_TRUE(attention(Problem<double>{.b = 0}).lse.empty());
  EXPECT_TRUE(attention(Problem<double>{.h_q = 0, .h_kv = 0}).lse.empty());
  const Result<double> no_values = attention(Problem<double>{.n_kv = 2, .d_v = 0, .q = {1}, .k = {0, 0}});
  EXPECT_TRUE(no_values.o.empty());
  expect_near(no_values.lse, {kLn2});
}

TEST(Corners, RowsPastTheQueryLength) {
  Problem<double> p{.n_q = 2, .n_kv = 1, .q = {0, kNaN}, .k = {0}, .v = {7}};
  p.q_lengths = {1};
  p.sinks = {kNaN};
  const Result<double> r = attention(p);
  expect_near(r.o, {kNaN, 0});
  expect_near(r.lse, {kNaN, -kInf});
}

TEST(Corners, WhatTakesNoPartHasNoEffect) {
  for (double poison : {kNaN, kInf, -kInf}) {
    Problem<double> p = one_query({0, poison, 0}, {1, poison, 3});
    p.mask = {1, 0, 1};
    expect_near(attention(p).o, {2.0});
    p.mask.clear();
    p.bias = {0, -kInf, 0};
    expect_near(attention(p).o, {2.0});

    p = one_query({0, poison}, {1, poison});
    p.kv_lengths = {1};
    expect_near(attention(p).o, {1.0});
    p.kv_lengths.clear();
    p.causal = true;
    p.align = Align::top_left;
    expect_near(attention(p).o, {1.0});
    p.bias = {0, poison};
    expect_near(attention(p).o, {1.0});
    p = one_query({poison, 0}, {poison, 1});
    p.window_left = 0;
    expect_near(attention(p).o, {1.0});
  }
}

TEST(Corners, NotANumberReachesWhatItTouches) {
  // In a value: its own column, of the rows that see it.
  Problem<double> p{.n_q = 2, .n_kv = 2, .d_v = 2, .q = {0, 0}, .k = {0, 0}, .v = {1, 2, 3, kNaN}, .causal = true};
  expect_near(attention(p).o, {1, 2, 2, kNaN});
  expect_near(attention(p).lse, {0, kLn2});
  // In a key: the whole row.
  p.v[3] = 4;
  p.k[1] = kNaN;
  expect_near(attention(p).o, {1, 2, kNaN, kNaN});
  expect_near(attention(p).lse, {0, kNaN});
  expect_near(attention(p).weights, {1, 0, kNaN, kNaN});
  // In a query: its row.
  p.k[1] = 0;
  p.q[0] = kNaN;
  expect_near(attention(p).o, {kNaN, kNaN, 2, 3});
  // In a bias.
  p.q[0] = 0;
  p.bias = {0, 0, kNaN, 0};
  expect_near(attention(p).o, {1, 2, kNaN, kNaN});
}

TEST(Corners, NotANumberIsSwallowedByNoMaximum) {
  for (const std::vector<double>& scores : {std::vector<double>{kNaN, -kInf}, {-kInf, kNaN}, {kNaN, 5}, {5, kNaN}}) {
    const Result<double> r = attention(one_query(scores, {1, 2}));
    expect_near(r.o, {kNaN});
    expect_near(r.lse, {kNaN});
  }
}

TEST(Corners, WeightOfZeroTimesNotANumber) {
  expect_near(attention(one_query({0, -1e5}, {1, kNaN})).o, {kNaN});
  expect_near(attention(one_query({0, -1e5}, {1, kInf})).o, {kNaN});
  expect_near(attention(one_query({0, -1}, {1, kInf})).o, {kInf});
  expect_near(attention(one_query({0, -kInf}, {1, kNaN})).o, {kNaN});
}

TEST(Corners, PlusInfinityAsAScore) {
  const Result<double> r = attention(one_query({0, kInf}, {1, 2}));
  expect_near(r.o, {kNaN});
  expect_near(r.lse, {kNaN});
}

TEST(Corners, VeryNegativeScoresAreNumbers) {
  for (double score : {-6e4, -1e35, -static_cast<double>(std::numeric_limits<float>::max()), -1e300}) {
    const Result<double> r = attention(one_query({score, score}, {1, 3}));
    expect_near(r.o, {2.0});
    EXPECT_EQ(r.lse[0], score + kLn2);
  }
}

TEST(Bound, Ingredients) {
  Problem<double> p{.n_kv = 2, .d_k = 2, .q = {1, -2}, .k = {3, 1, 0, 0}, .v = {-1, 4}, .scale = -0.5};
  p.bias = {0.5, -0.25};
  p.alibi_slopes = {0.125};
  const Result<double> r = attention(p);
  expect_near(r.score_magnitude, {0.5 * (3 + 2)});
  expect_near(r.addend_magnitude, {0.5 * (3 - 2) + 0.5 + 0.125});
  expect_near(r.abs_o, {r.weights[0] * 1 + r.weights[1] * 4});
}

TEST(Bound, LeavesOutWhatCarriesNoError) {
  Problem<double> p = one_query({2, 1e9, -kInf}, {1, 1, 1});
  p.mask = {1, 0, 1};
  expect_near(attention(p).score_magnitude, {2.0});
  expect_near(attention(p).addend_magnitude, {2.0});
}

TEST(Arrays, WidenAndBroadcast) {
  EXPECT_EQ(widened<double>(std::vector<float>{0.5F, 2}), (std::vector<double>{0.5, 2}));
  const std::vector<int> row = {1, 2};
  EXPECT_EQ(broadcast(row, {1, 1, 1, 2}, {1, 2, 2, 2}), (std::vector<int>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(broadcast(row, {1, 1, 2, 1}, {1, 1, 2, 3}), (std::vector<int>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(broadcast(row, {2, 1, 1, 1}, {2, 1, 1, 2}), (std::vector<int>{1, 1, 2, 2}));
}

TEST(Arrays, ReduceToWhatWasBroadcast) {
  std::vector<int> full(2 * 3 * 2 * 2);  // 0, 1, 2, ...
  std::iota(full.begin(), full.end(), 0);
  EXPECT_EQ(reduced(full, {2, 3, 2, 2}, {2, 3, 2, 2}), full);
  EXPECT_EQ(reduced(full, {2, 3, 2, 2}, {1, 1, 1, 1}), (std::vector<int>{23 * 24 / 2}));
  EXPECT_EQ(reduced(full, {2, 3, 2, 2}, {2, 1, 1, 1}), (std::vector<int>{66, 66 + 12 * 12}));
  EXPECT_EQ(reduced(full, {2, 3, 2, 2}, {1, 3, 1, 1}), (std::vector<int>{6 + 54, 22 + 70, 38 + 86}));
  EXPECT_EQ(reduced(full, {2, 3, 2, 2}, {1, 1, 2, 1}), (std::vector<int>{126, 150}));
  EXPECT_EQ(reduced(full, {2, 3, 2, 2}, {1, 1, 1, 2}), (std::vector<int>{132, 144}));
  EXPECT_EQ(reduced(full, {2, 3, 2, 2}, {1, 1, 2, 2}), (std::vector<int>{60, 66, 72, 78}));
  EXPECT_EQ(reduced(std::vector<int>{}, {0, 3, 2, 2}, {1, 3, 1, 1}), (std::vector<int>{0, 0, 0}));
}

}  // namespace
}  // namespace foveate::reference
