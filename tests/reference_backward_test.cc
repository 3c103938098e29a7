// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle's gradients: by pencil, the corners of the contract one by one, and what bounds are made of.
// reference_derivatives_test.cc has them agree with the forward pass.
#include "reference/attention_backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "reference/arrays.h"
#include "tests/reference_problem.h"

namespace foveate::reference {
namespace {

TEST(Gradients, TwoByTwoByPencil) {
  Problem<double> p{.n_q = 2, .n_kv = 2, .d_k = 1, .d_v = 2};
  p.q = {1, 0};
  p.k = {1, 0};
  p.v = {4, 0, 8, 4};
  p.scale = kLn3;  // the weights are 3/4, 1/4 and 1/2, 1/2; o is 5, 1 and 6, 2
  const Gradients<double> g = attention_backward(p, {1, 0, 0, 2});
  expect_near(g.dbias, {-0.75, 0.75, -2, 2});
  expect_near(g.dq, {-0.75 * kLn3, -2 * kLn3});
  expect_near(g.dk, {-0.75 * kLn3, 0.75 * kLn3});
  expect_near(g.dv, {0.75, 1, 0.25, 1});
  EXPECT_EQ(g.dsinks, std::vector<double>{0});
}

TEST(Gradients, OfASinkByPencil) {
  Problem<double> p = one_query({kLn3, 0}, {4, 8});
  p.sinks = {2 * kLn2};  // the weights are 3/8 and 1/8, o is 5/2
  const Gradients<double> g = attention_backward(p, {2});
  expect_near(g.dbias, {9 / 8.0, 11 / 8.0});
  expect_near(g.dsinks, {-2.5});
  expect_near(g.dv, {0.75, 0.25});
}

// Beside scores of this size the difference between lse and a score is lost.
TEST(Gradients, VeryNegativeScoresAreNumbers) {
  Problem<double> p = one_query({-1e300, -1e300}, {1, 3});
  p.sinks = {-1e300};
  const Gradients<double> g = attention_backward(p, {1});
  expect_near(g.dbias, {-1 / 9.0, 5 / 9.0});
  expect_near(g.dsinks, {-4 / 9.0});
}

// 1 - tanh^2(40) = 4 exp(-80), where 1 - tanh * tanh is 0.
TEST(Gradients, ASaturatedSoftcapKeepsItsSlope) {
  for (double score : {40.0, -40.0}) {
    Problem<double> p = one_query({score, 0}, {1, 0});
    p.softcap = 1;
    const double a = 1 / (1 + std::exp(score > 0 ? -1.0 : 1.0)), slope = 4 * std::exp(-80.0);
    const Gradients<double> g = attention_backward(p, {1});
    EXPECT_NEAR(g.dq[0] / (a * (1 - a) * slope * score), 1, 1e-13);
    EXPECT_NEAR(g.dk[0] / (a * (1 - a) * slope), 1, 1e-13);
    expect_near(g.dbias, {a * (1 - a), -a * (1 - a)});
  }
}

/// Every gradient and no magnitude, for comparing.
std::vector<std::vector<double>> gradients(const Problem<double>& p, const std::vector<double>& d_o) {
  const Gradients<double> g = attention_backward(p, d_o);
  return {g.dq, g.dk, g.dv, g.dbias, g.dsinks, g.dw_q, g.dw_k, g.dw, g.db};
}

void expect_none(const Gradients<double>& g) {
  for (const auto* x : {&g.dq, &g.dk, &g.dv, &g.dbias, &g.dsinks}) EXPECT_EQ(*x, std::vector<double>(x->size(), 0));
}

TEST(Corners, RowsWithoutKeysAddNothing) {
  Problem<double> p = one_query({1, 2}, {kNaN, kNaN});
  p.q = {kNaN};
  p.mask = {0, 0};
  for (const std::vector<double>& sinks : {std::vector<double>{}, {3}, {-kInf}}) {
    p.sinks = sinks;
    expect_none(attention_backward(p, {kNaN}));
  }
  p.mask.clear();
  p.kv_lengths = {0};
  expect_none(attention_backward(p, {kNaN}));
}

TEST(Corners, AllScoresMinusInfinityAddNothing) {
  Problem<double> p = one_query({-kInf, -kInf}, {kNaN, 2});
  expect_none(attention_backward(p, {kNaN}));
  p.sinks = {3};
  expect_none(attention_backward(p, {kNaN}));
  // Nor do they to what other rows add.
  p = {
      .n_q = 2, .n_kv = 3, .q = {1, 2}, .k = {-kInf, 0.5, 1}, .v = {1, 2, 3}, .mask = {1, 0, 0, 0, 1, 1}, .sinks = {0}};
  Problem<double> other{.n_kv = 2, .q = {2}, .k = {0.5, 1}, .v = {2, 3}, .sinks = {0}};
  const Gradients<double> g = attention_backward(p, {kNaN, 1}), want = attention_backward(other, {1});
  EXPECT_EQ(g.dq, (std::vector<double>{0, want.dq[0]}));
  EXPECT_EQ(g.dk, (std::vector<double>{0, want.dk[0], want.dk[1]}));
  EXPECT_EQ(g.dv, (std::vector<double>{0, want.dv[0], want.dv[1]}));
  EXPECT_EQ(g.dsinks, want.dsinks);
}

TEST(Corners, EmptyAxes) {
  const Gradients<double> no_keys = attention_backward<double>({.n_q = 2, .n_kv = 0, .q = {1, 2}}, {kNaN, 1});
  EXPECT_EQ(no_keys.dq, (std::vector<double>{0, 0}));
  EXPECT_TRUE(no_keys.dk.empty() && no_keys.dv.empty() && no_keys.dbias.empty());
  const Gradients<double> no_queries = attention_backward<double>({.n_q = 0, .k = {1}, .v = {1}, .sinks = {1}}, {});
  EXPECT_TRUE(no_queries.dq.empty() && no_queries.dbias.empty());
  EXPECT_EQ(no_queries.dk, std::vector<double>{0});
  EXPECT_EQ(no_queries.dv, std::vector<double>{0});
  EXPECT_EQ(no_queries.dsinks, std::vector<double>{0});
  EXPECT_TRUE(attention_backward<double>({.b = 0}, {}).dq.empty());
  EXPECT_TRUE(attention_backward<double>({.h_q = 0, .h_kv = 0}, {}).dsinks.empty());
  Problem<double> no_values{.n_kv = 2, .d_v = 0, .q = {1}, .k = {1, 2}, .sinks = {1}};
  expect_none(attention_backward(no_values, {}));
}

/// NaN in whatever takes no part, and how many there are.
int64_t poison(Problem<double>* p, std::vector<double>* d_o) {
  std::vector<char> row_seen(p->b * p->h_q * p->n_q), key_seen(p->b * p->h_kv * p->n_kv);
  int64_t poisoned = 0;
  const auto spoil = [&](std::vector<double>& x, int64_t row, int64_t d) {
    std::fill_n(x.begin() + row * d, d, kNaN);
    poisoned += d;
  };
  const std::vector<double> bias = p->bias;
  for (int64_t b = 0; b < p->b; ++b)
    for (int64_t h = 0; h < p->h_q; ++h)
      for (int64_t i = 0; i < p->n_q; ++i)
        for (int64_t j = 0; j < p->n_kv; ++j) {
          const int64_t pair = pair_index(*p, b, h, i, j);
          if (i < q_length(*p, b) && takes_part(*p, b, h, i, j)) {
            row_seen[query_row(*p, b, h, i)] = key_seen[key_row(*p, b, h, j)] = 1;
          } else if (!p->bias.empty() && p->bias[pair] != -kInf) {  // -inf forbids, NaN in its place would not
            spoil(p->bias, pair, 1);
          }
        }
  for (size_t row = 0; row < row_seen.size(); ++row) {
    if (row_seen[row]) continue;
    spoil(p->q, static_cast<int64_t>(row), p->d_k);
    spoil(*d_o, static_cast<int64_t>(row), p->d_v);
  }
  for (size_t key = 0; key < key_seen.size(); ++key) {
    if (key_seen[key]) continue;
    spoil(p->k, static_cast<int64_t>(key), p->d_k);
    spoil(p->v, static_cast<int64_t>(key), p->d_v);
  }
  return poisoned;
}

TEST(Corners, WhatTakesNoPartHasNoEffect) {
  int64_t poisoned = 0;
  for (uint64_t seed = 300; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    auto [p, names] = combined<double>(&random);
    SCOPED_TRACE(names + "seed " + std::to_string(seed));
    std::vector<double> d_o = random_d_o(&random, p);
    const auto want = gradients(p, d_o);
    poisoned += poison(&p, &d_o);
    EXPECT_EQ(gradients(p, d_o), want);
  }
  EXPECT_GT(poisoned, 1000);
}

TEST(Corners, RowsPastTheQueryLength) {
  Problem<double> p{.n_q = 2, .n_kv = 1, .q = {1, kNaN}, .k = {1}, .v = {7}, .bias = {0, kNaN}, .q_lengths = {0}};
  p.sinks = {kNaN};
  expect_none(attention_backward(p, {kNaN, kNaN}));
  p.q_lengths = {1};
  const Gradients<double> g = attention_backward(p, {1, kNaN});
  expect_near(g.dq, {kNaN, 0});
  expect_near(g.dbias, {kNaN, 0});
  expect_near(g.dsinks, {kNaN});
}

TEST(Corners, NotANumberReachesWhatItTouches) {
  const Problem<double> p{.n_q = 2, .n_kv = 2, .d_v = 2, .q = {0, 0}, .k = {0, 0}, .v = {1, 2, 3, 4}, .causal = true};
  const std::vector<double> d_o = {1, 1, 1, 1};
  // In a value: the rows that see it, but not the values.
  Problem<double> with = p;
  with.v[3] = kNaN;
  EXPECT_EQ(attention_backward(p, d_o).dbias, (std::vector<double>{0, 0, -1, 1}));
  Gradients<double> g = attention_backward(with, d_o);
  expect_near(g.dbias, {0, 0, kNaN, kNaN});
  expect_near(g.dq, {0, kNaN});
  expect_near(g.dk, {kNaN, kNaN});
  expect_near(g.dv, {1.5, 1.5, 0.5, 0.5});
  // In a row of d_o: the keys that the row sees, of the values one column.
  g = attention_backward(p, {kNaN, 1, 1, 1});
  expect_near(g.dbias, {kNaN, 0, -1, 1});
  expect_near(g.dq, {kNaN, 0});
  expect_near(g.dk, {kNaN, 0});
  expect_near(g.dv, {kNaN, 1.5, 0.5, 0.5});
  // In a query: its row, and the keys that it sees.
  with = p;
  with.q[0] = kNaN;
  g = attention_backward(with, d_o);
  expect_near(g.dbias, {kNaN, 0, -1, 1});
  expect_near(g.dq, {kNaN, 0});
  expect_near(g.dk, {kNaN, 0});
  expect_near(g.dv, {kNaN, kNaN, 0.5, 0.5});
  // In a key, or in a bias: the rows that see it.
  Problem<double> in_key = p, in_bias = p;
  in_key.k[1] = kNaN;
  in_bias.bias = {0, kNaN, kNaN, 0};
  for (const Problem<double>& seen : {in_key, in_bias}) {
    g = attention_backward(seen, d_o);
    expect_near(g.dbias, {0, 0, kNaN, kNaN});
    expect_near(g.dq, {0, kNaN});
    expect_near(g.dk, {kNaN, kNaN});
    expect_near(g.dv, {kNaN, kNaN, kNaN, kNaN});
  }
}

TEST(Corners, AWeightOfZeroTimesNotANumber) {
  Gradients<double> g = attention_backward(one_query({0, -1e5}, {1, kNaN}), {1});
  expect_near(g.dbias, {kNaN, kNaN});
  expect_near(g.dv, {1, 0});
  g = attention_backward(one_query({0, -1e5}, {1, 2}), {kNaN});
  expect_near(g.dv, {kNaN, kNaN});
  expect_near(attention_backward(one_query({0, kInf}, {1, 2}), {1}).dv, {kNaN, kNaN});
}

/// One query that keeps the second of two keys and drops the first.
Problem<double> dropped_and_kept(std::vector<double> values) {
  Problem<double> p = one_query({0, 0}, std::move(values));
  p.dropout = 0.5;
  while (keeps(p.dropout, p.seed, 0, 0, 1, 0) || !keeps(p.dropout, p.seed, 0, 0, 1, 1)) ++p.seed;
  return p;
}

TEST(Corners, ADroppedPairIsAFactorOfZero) {
  const Gradients<double> g = attention_backward(dropped_and_kept({5, 3}), {1});  // o is 3
  expect_near(g.dv, {0, 1});
  expect_near(g.dbias, {-1.5, 1.5});
  expect_near(attention_backward(dropped_and_kept({kNaN, 3}), {1}).dbias, {kNaN, kNaN});
  expect_near(attention_backward(dropped_and_kept({5, 3}), {kNaN}).dv, {kNaN, kNaN});
}

TEST(Corners, ASinkOfMinusInfinityIsNone) {
  Problem<double> p{.n_q = 2, .n_kv = 2, .q = {1, 2}, .k = {1, -1}, .v = {1, 3}, .causal = true};
  const auto without = gradients(p, {1, 2});
  p.sinks = {-kInf};
  EXPECT_EQ(gradients(p, {1, 2}), without);
  EXPECT_EQ(attention_backward(p, {kNaN, kInf}).dsinks, std::vector<double>{0});
}

TEST(Corners, ASinkThatIsNotANumberOrInfinitePoisonsItsHead) {
  for (double sink : {kNaN, kInf}) {
    Problem<double> p{.h_q = 2, .h_kv = 2, .n_kv = 2, .q = {1, 1}, .k = {0, 1, 0, 1}, .v = {1, 2, 1, 2}};
    p.sinks = {sink, 0};
    const Gradients<double> g = attention_backward(p, {1, 1});
    for (const auto* x : {&g.dq, &g.dk, &g.dv, &g.dbias, &g.dsinks}) {
      for (size_t e = 0; e < x->size(); ++e) EXPECT_EQ(std::isnan((*x)[e]), e < x->size() / 2) << e;
    }
    // A row without keys passes on no more than what the sink makes of it: o is NaN, whatever its q.
    p.mask = {0, 0, 1, 1};
    const Gradients<double> empty = attention_backward(p, {1, 1});
    expect_near(empty.dq, {0, g.dq[1]});
    expect_near(empty.dk, {0, 0, g.dk[2], g.dk[3]});
    expect_near(empty.dv, {0, 0, g.dv[2], g.dv[3]});
    expect_near(empty.dsinks, {kNaN, g.dsinks[1]});
  }
}

TEST(Bound, Ingredients) {
  Problem<double> p{.n_q = 2, .n_kv = 2, .d_v = 2, .q = {1, -2}, .k = {3, -1}, .v = {-1, 2, 4, 0.5}, .scale = -0.5};
  p.softcap = 2;
  p.sinks = {0.25};
  p.dropout = 0.5;
  while (!keeps(p.dropout, p.seed, 0, 0, 0, 0) || keeps(p.dropout, p.seed, 0, 0, 0, 1) ||
         !keeps(p.dropout, p.seed, 0, 0, 1, 0) || !keeps(p.dropout, p.seed, 0, 0, 1, 1)) {
    ++p.seed;
  }
  const std::vector<double> d_o = {1, -2, 0.5, 3}, w = {3, 10};
  const Gradients<double> g = attention_backward(p, d_o, w);
  expect_near(g.dbias, attention_backward(p, d_o).dbias, 0.0);

  const Result<double> r = attention(p);
  const std::vector<double>& a = r.weights;
  const double d0 = r.abs_o[0] + 2 * r.abs_o[1], d1 = 0.5 * r.abs_o[2] + 3 * r.abs_o[3];
  // A_ij: 2 (1 + 4), dropped, 2 (1/2 + 6), 2 (2 + 3/2).
  const std::vector<double> ds = {3 * a[0] * (10 + d0), 3 * a[1] * d0, 10 * a[2] * (13 + d1), 10 * a[3] * (7 + d1)};
  const auto slope = [](double score) { return 0.5 * (1 - std::pow(std::tanh(score / 2), 2)); };
  expect_near(g.abs_dbias, ds, 1e-12);
  expect_near(g.abs_dq, {slope(1.5) * ds[0] * 3 + slope(0.5) * ds[1], slope(3) * ds[2] * 3 + slope(1) * ds[3]}, 1e-12);
  expect_near(g.abs_dk, {slope(1.5) * ds[0] + slope(3) * ds[2] * 2, slope(0.5) * ds[1] + slope(1) * ds[3] * 2}, 1e-12);
  expect_near(g.abs_dv, {6 * a[0] + 20 * a[2] * 0.5, 6 * a[0] * 2 + 20 * a[2] * 3, 20 * a[3] * 0.5, 20 * a[3] * 3},
              1e-12);
  expect_near(g.abs_dsinks, {3 * (1 - a[0] - a[1]) * d0 + 10 * (1 - a[2] - a[3]) * d1}, 1e-12);
}

}  // namespace
}  // namespace foveate::reference
