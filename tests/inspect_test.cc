// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The figures of inspect() against those of the oracle's weights, within what the bounds of docs/numerics.md make of
// them, on every target of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "foveate/inspect.h"
#include "tests/attention_case.h"
#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/edges.h"
#include "tests/error_bound.h"
#include "tests/random_spec.h"
#include "tests/stopping_executor.h"

namespace foveate::trial {
namespace {

struct Figures {
  std::vector<HeadFigures> heads;
  std::vector<RowFigures> rows;
  std::vector<double> received;
  std::vector<KeyWeight> top;
  int64_t top_keys = 3;
  InspectMaps maps;
  std::vector<float> largest, mean;
  Status status;

  template <class T>
  explicit Figures(const Case<T>& c, const Execution& execution = {}) {
    const auto n = [](int64_t x) { return static_cast<size_t>(x) + 1; };  // no pointer is null
    const auto& p = c.problem;
    heads.resize(n(p.b * p.h_q));
    rows.resize(n(p.b * p.h_q * p.n_q));
    received.resize(n(p.b * p.h_q * p.n_kv));
    top.resize(n(p.b * p.h_q * p.n_q * top_keys));
    // Whole pairs, and cells of unlike sizes.
    maps = {(p.n_q + p.n_kv) % 3 == 0 ? p.n_q : (p.n_q + 6) / 7,
            (p.n_q + p.n_kv) % 3 == 1 ? p.n_kv : (p.n_kv + 9) / 10};
    largest.resize(n(p.b * p.h_q * maps.rows * maps.columns));
    mean.resize(largest.size());
    maps.largest = largest.data();
    maps.mean = mean.data();
    status = inspect(c.q.view(), c.k.view(), {heads.data(), rows.data(), received.data(), top.data(), top_keys, maps},
                     c.options, execution);
  }
};

/// What the oracle's numbers make of one row.
template <class Real>
struct ExactRow {
  int64_t keys = 0;
  Real mean = 0, variance = 0, largest_score = -std::numeric_limits<Real>::infinity(), largest_weight = 0;
  Real entropy = 0, jacobian = 0, magnitude = 0, addends = 0;

  ExactRow(const reference::Problem<Real>& p, const reference::Result<Real>& exact, int64_t b, int64_t h, int64_t i) {
    const int64_t row = reference::query_row(p, b, h, i);
    std::vector<Real> products;
    for (int64_t j = 0; j < p.n_kv && i < reference::q_length(p, b); ++j) {
      if (!reference::takes_part(p, b, h, i, j)) continue;
      const reference::Score<Real> score = reference::score(p, b, h, i, j);
      products.push_back(score.scaled);
      magnitude = std::max(magnitude, score.magnitude);
      addends = std::max(addends, score.addend_magnitude());
      largest_score = std::max(largest_score, score.value());
    }
    keys = std::ssize(products);
    for (const Real x : products) mean += x / static_cast<Real>(keys);
    for (const Real x : products) variance += (x - mean) * (x - mean) / static_cast<Real>(keys);

    // Of diag(p) - p p^T, entry by entry on the diagonal, 1 - p as the sum of the others.
    const Real* weights = exact.weights.data() + row * p.n_kv;
    Real all = exact.sink_weights[row], squares = 0;
    for (int64_t j = 0; j < p.n_kv; ++j) all += weights[j], squares += weights[j] * weights[j];
    for (int64_t j = 0; j < p.n_kv; ++j) {
      const Real a = weights[j];
      if (a <= 0) continue;
      largest_weight = std::max(largest_weight, a);
      entropy -= a * std::log(a);
      Real others = exact.sink_weights[row], other_squares = 0;
      for (int64_t l = 0; l < p.n_kv; ++l) {
        if (l != j) others += weights[l], other_squares += weights[l] * weights[l];
      }
      jacobian += a * a * (others * others + other_squares);
    }
    jacobian = std::sqrt(jacobian);
  }
};

/// The first figure of a row that lies out of its bound, in words; "": none does.
template <class T>
std::string judge_row(const Case<T>& c, const Expected<T>& expected, const RowFigures& got, int64_t b, int64_t h,
                      int64_t i) {
  using Real = Judge<T>;
  const auto& p = c.problem;
  const int64_t row = reference::query_row(p, b, h, i);
  const ExactRow<Real> exact(p, expected.exact, b, h, i);
  if (got.keys != exact.keys) return "keys: " + std::to_string(got.keys) + ", not " + std::to_string(exact.keys);
  const Real lse = expected.exact.lse[row];
  if (exact.keys == 0 || !std::isfinite(lse)) return std::isnan(got.entropy) ? "" : "figures where there are none";

  constexpr Real eps = std::numeric_limits<T>::epsilon();
  const Real e = expected.score_errors[row], of_product = static_cast<Real>(p.d_k + 80) * eps * exact.magnitude;
  const Real of_weight = expected.sums + std::expm1(std::min<Real>(2 * e, 80)) + 200 * eps;
  const Real deviation = std::sqrt(exact.variance), of_score = of_product + 100 * eps * exact.addends;
  std::string words;
  const auto near = [&](const char* name, double figure, Real want, Real bound) {
    // Weights below the least number are 0, and so are squares of those below its root.
    const Real tiny = 10 * std::sqrt(static_cast<Real>(std::numeric_limits<T>::min()));
    const bool fits = std::isfinite(want) ? std::abs(static_cast<Real>(figure) - want) <= bound + tiny
                                          : !std::isfinite(figure);  // products with Inf
    if (fits || !words.empty()) return;
    std::ostringstream out;
    out.precision(10);
    out << name << ": " << figure << ", not " << want << " within " << bound;
    words = out.str();
  };
  near("mean", got.product_mean, exact.mean, of_product);
  near("variance", got.product_variance, exact.variance,
       4 * of_product * (deviation + of_product) + 100 * eps * exact.variance);
  near("largest score", got.largest_score, exact.largest_score, of_score);
  near("lse", got.lse, lse, e + expected.sums * (1 + std::abs(lse)));
  if (of_weight < 1) {
    near("largest weight", got.largest_weight, exact.largest_weight, 2 * of_weight * exact.largest_weight);
    near("entropy", got.entropy, exact.entropy, 3 * of_weight * (exact.entropy + 1));
    near("jacobian", got.jacobian, exact.jacobian, 5 * of_weight * exact.jacobian);
  }
  if (!words.empty()) return words;
  if (got.largest_key < 0 || !reference::takes_part(p, b, h, i, got.largest_key)) return "largest key takes no part";
  const Real found = reference::score(p, b, h, i, got.largest_key).value();
  return found >= exact.largest_score - 2 * of_score ? "" : "another key scores higher";
}

/// A head's figures are those of its rows.
void judge_head(const HeadFigures& head, const RowFigures* rows, int64_t n, const double* received) {
  HeadFigures sums;
  double products = 0, largest_score = -std::numeric_limits<double>::infinity(), largest_weight = -1;
  for (int64_t i = 0; i < n; ++i) {
    const RowFigures& row = rows[i];
    sums.empty += row.keys == 0;
    sums.not_finite += row.keys > 0 && !std::isfinite(row.lse);
    if (row.keys == 0 || !std::isfinite(row.lse)) continue;
    sums.saturated += row.keys > 1 && row.largest_weight > 0.99;
    if (std::isfinite(row.product_variance)) {
      sums.pairs += row.keys;
      products += row.product_mean * static_cast<double>(row.keys);
    }
    largest_score = std::max(largest_score, row.largest_score);
    if (row.keys > 1) largest_weight = std::max(largest_weight, row.largest_weight);
    sums.lse_mean += row.lse;
    sums.entropy_mean += row.entropy;
    sums.effective_keys_mean += std::exp(row.entropy);
    sums.jacobian_mean += row.jacobian;
  }
  EXPECT_EQ(head.rows, n);
  EXPECT_EQ(head.empty, sums.empty);
  EXPECT_EQ(head.not_finite, sums.not_finite);
  EXPECT_EQ(head.first_not_finite >= 0, sums.not_finite > 0);
  EXPECT_EQ(head.pairs, sums.pairs);
  EXPECT_EQ(head.saturated, sums.saturated);
  const auto counted = static_cast<double>(n - sums.empty - sums.not_finite);
  if (counted == 0) {
    EXPECT_TRUE(std::isnan(head.entropy_mean));
    return;
  }
  const auto near = [](double got, double want) { EXPECT_NEAR(got, want, 1e-12 * (1 + std::abs(want))); };
  if (sums.pairs > 0) near(head.product_mean, products / static_cast<double>(sums.pairs));
  near(head.lse_mean, sums.lse_mean / counted);
  near(head.entropy_mean, sums.entropy_mean / counted);
  near(head.effective_keys_mean, sums.effective_keys_mean / counted);
  near(head.jacobian_mean, sums.jacobian_mean / counted);
  near(head.first_key_mass, received[0] / counted);
  EXPECT_EQ(head.largest_score.value, largest_score);
  ASSERT_EQ(head.largest_weight.row < 0, largest_weight < 0);
  EXPECT_EQ(rows[head.largest_score.row].largest_score, largest_score);
  if (head.largest_weight.row < 0) return;
  EXPECT_EQ(head.largest_weight.value, largest_weight);
  EXPECT_EQ(rows[head.largest_weight.row].largest_key, head.largest_weight.key);
}

template <class T>
void judge_received(const Case<T>& c, const Expected<T>& expected, const Figures& got) {
  using Real = Judge<T>;
  const auto& p = c.problem;
  for (int64_t head = 0; head < p.b * p.h_q; ++head) {
    for (int64_t j = 0; j < p.n_kv; ++j) {
      Real want = 0, bound = static_cast<Real>(1e-30);
      for (int64_t row = head * p.n_q; row < (head + 1) * p.n_q; ++row) {
        if (!std::isfinite(expected.exact.lse[row])) continue;
        const Real weight = expected.exact.weights[row * p.n_kv + j];
        const Real of_weight = expected.sums + std::expm1(std::min<Real>(2 * expected.score_errors[row], 80));
        want += weight;
        bound += weight * (2 * of_weight + 100 * std::numeric_limits<T>::epsilon());
      }
      const double mass = got.received[head * p.n_kv + j];
      ASSERT_LE(std::abs(static_cast<Real>(mass) - want), bound) << "key " << j << ": " << mass << ", not " << want;
    }
  }
}

/// The weights that count for figures, exact, and how far off those of the engine may be.
template <class T>
struct Weight {
  Judge<T> exact, bound;
};
template <class T>
Weight<T> weight_of(const Case<T>& c, const Expected<T>& expected, int64_t row, int64_t j) {
  if (!std::isfinite(expected.exact.lse[row])) return {0, 0};
  const Judge<T> a = expected.exact.weights[row * c.problem.n_kv + j];
  const Judge<T> of_weight = expected.sums + std::expm1(std::min<Judge<T>>(2 * expected.score_errors[row], 80));
  return {a, a * (2 * of_weight + 100 * std::numeric_limits<T>::epsilon()) + std::numeric_limits<T>::min()};
}

template <class T>
void judge_top(const Case<T>& c, const Expected<T>& expected, const Figures& got, int64_t row) {
  const int64_t n_kv = c.problem.n_kv;
  const KeyWeight* const top = got.top.data() + row * got.top_keys;
  std::vector<bool> listed(n_kv);
  for (int64_t t = 0; t < got.top_keys; ++t) {
    if (top[t].key < 0) {
      ASSERT_EQ(top[t].weight, 0);
      continue;
    }
    ASSERT_LT(top[t].key, n_kv);
    ASSERT_FALSE(listed[top[t].key]) << "key " << top[t].key << " twice";
    listed[top[t].key] = true;
    if (t > 0) {
      const KeyWeight& before = top[t - 1];
      ASSERT_TRUE(before.weight > top[t].weight || (before.weight == top[t].weight && before.key < top[t].key));
    }
    const auto [exact, bound] = weight_of(c, expected, row, top[t].key);
    ASSERT_LE(std::abs(static_cast<Judge<T>>(top[t].weight) - exact), bound);
  }
  for (int64_t j = 0; j < n_kv; ++j) {
    const auto [exact, bound] = weight_of(c, expected, row, j);
    const KeyWeight& last = top[got.top_keys - 1];
    if (listed[j]) continue;
    ASSERT_LE(exact - bound, static_cast<Judge<T>>(last.weight) + 1e-30) << "key " << j << " left out";
  }
}

template <class T>
void judge_maps(const Case<T>& c, const Expected<T>& expected, const Figures& got) {
  using Real = Judge<T>;
  const auto& p = c.problem;
  const auto [rows, columns] = std::pair(got.maps.rows, got.maps.columns);
  for (int64_t head = 0; head < p.b * p.h_q; ++head) {
    std::vector<Real> most(rows * columns), most_bound(most), sum(most), bound(most), pairs(most);
    for (int64_t i = 0; i < p.n_q; ++i) {
      for (int64_t j = 0; j < p.n_kv; ++j) {
        const int64_t cell = i * rows / p.n_q * columns + j * columns / p.n_kv;
        const auto [a, of_a] = weight_of(c, expected, head * p.n_q + i, j);
        most[cell] = std::max(most[cell], a);
        most_bound[cell] = std::max(most_bound[cell], of_a + a * std::numeric_limits<float>::epsilon());
        sum[cell] += a, bound[cell] += of_a, pairs[cell] += 1;
      }
    }
    for (int64_t cell = 0; cell < rows * columns; ++cell) {
      const int64_t at = head * rows * columns + cell;
      ASSERT_LE(std::abs(static_cast<Real>(got.largest[at]) - most[cell]), most_bound[cell] + 1e-37) << "cell " << cell;
      const Real mean = sum[cell] / pairs[cell];
      ASSERT_LE(std::abs(static_cast<Real>(got.mean[at]) - mean), bound[cell] / pairs[cell] + 1e-6 * mean + 1e-37);
    }
  }
}

template <class T>
void check(const Spec& spec) {
  const Case<T> c(spec);
  const Expected<T> expected(c);
  const auto& p = c.problem;
  on_each_target([&] {
    SCOPED_TRACE(testing::Message() << name_of(dtype_of<T>()) << ' ' << spec);
    const Figures got(c);
    ASSERT_TRUE(got.status.ok()) << got.status.message();
    for (int64_t head = 0; head < p.b * p.h_q; ++head) {
      for (int64_t i = 0; i < p.n_q; ++i) {
        const RowFigures& row = got.rows[head * p.n_q + i];
        ASSERT_EQ(judge_row(c, expected, row, head / p.h_q, head % p.h_q, i), "") << "head " << head << " row " << i;
        judge_top(c, expected, got, head * p.n_q + i);
      }
      judge_head(got.heads[head], got.rows.data() + head * p.n_q, p.n_q, got.received.data() + head * p.n_kv);
    }
    judge_received(c, expected, got);
    judge_maps(c, expected, got);
  });
}

template <class T>
class Inspect : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Inspect, Types);

TYPED_TEST(Inspect, TileEdges) {
  int64_t turn = 0;
  for (const int64_t n_kv : {1, 2, 63, 64, 65, 129, 1025}) {
    for (const int64_t n_q : edges<TypeParam>()) {
      check<TypeParam>({.n_q = n_q, .n_kv = n_kv, .d_k = kHeadDims[turn % 7], .causal = turn % 3 == 2, .seed = 40});
      ++turn;
    }
  }
}

/// One weight near 1: what is left of it is the others' sum.
TYPED_TEST(Inspect, SaturatedRows) {
  for (const double magnitude : {1.0, 4.0, 12.0}) {
    check<TypeParam>({.h_q = 2, .h_kv = 2, .n_q = 30, .n_kv = 50, .d_k = 16, .scale = 1.0, .magnitude = magnitude});
    check<TypeParam>({.n_q = 9, .n_kv = 50, .d_k = 16, .scale = 1.0, .sinks = true, .magnitude = magnitude});
  }
}

TYPED_TEST(Inspect, EachOptionAlone) {
  const Spec plain = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 90, .d_k = 7, .seed = 41};
  const auto with = [&plain](auto set) {
    Spec spec = plain;
    set(spec);
    check<TypeParam>(spec);
  };
  with([](Spec& s) { s.window_left = 8, s.window_right = 3; });
  with([](Spec& s) { s.mask = Whole{1, 1, 1, 1}; });
  with([](Spec& s) { s.bias = Whole{1, 0, 1, 1}, s.bias_forbids = true; });
  with([](Spec& s) { s.blocks = Whole{0, 1, 1, 1}, s.block_size = 16; });
  with([](Spec& s) { s.softcap = 2; });
  with([](Spec& s) { s.alibi = true; });
  with([](Spec& s) { s.sinks = true; });
  with([](Spec& s) { s.q_lengths = s.kv_lengths = true; });
  with([](Spec& s) { s.dropout = 0.5; });
  with([](Spec& s) { s.causal = true, s.align = Align::top_left; });
  with([](Spec& s) { s.packed_queries = s.packed_keys = true; });
  with([](Spec& s) { s.page_size = 16, s.kv_lengths = true; });
  with([](Spec& s) { s.q_offset = 30, s.kv_offset = -5, s.causal = true; });
  with([](Spec& s) { s.k_in.order = {0, 1, 3, 2}, s.q_in.order = {0, 2, 1, 3}; });
}

TEST(InspectTypes, EachOfThem) {
  for (const DType q : {DType::f32, DType::f16, DType::bf16}) {
    for (const DType k : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
      Spec spec = {.h_q = 2, .h_kv = 1, .n_q = 20, .n_kv = 70, .d_k = 9, .causal = true, .seed = 42};
      spec.q_type = q;
      spec.k_type = spec.v_type = k;
      check<float>(spec);
    }
  }
}

/// Rows that are not finite are counted, and leave mass and means alone.
TYPED_TEST(Inspect, NonFiniteInputsReachJustTheRowsThatSeeThem) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 90, .d_k = 7, .non_finite = 6, .seed = seed};
    spec.causal = seed % 2 == 0;
    if (seed % 3 == 1) spec.mask = Whole{1, 1, 1, 1};
    check<TypeParam>(spec);
  }
}

TYPED_TEST(Inspect, RandomCalls) {
  const int64_t seed = from_environment("FOVEATE_TEST_SEED", 1), cases = from_environment("FOVEATE_TEST_CASES", 150);
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "FOVEATE_TEST_SEED=" << seed + i << " FOVEATE_TEST_CASES=1");
    Choices choices(static_cast<uint64_t>(seed + i));
    check<TypeParam>(random_spec(choices, {.queries = 40, .keys = 150, .head_dim = 30, .multiply_adds = 300'000}));
    if (testing::Test::HasFailure()) return;
  }
}

/// By hand: two keys, one query, scores 0 and ln 3: weights 1/4 and 3/4.
TEST(InspectFigures, OfTwoKeys) {
  const float q = 1, k[] = {0, std::log(3.0F)};
  HeadFigures head;
  RowFigures row;
  double received[2];
  ASSERT_TRUE(
      inspect(view(&q, 1, 1, 1, 1), view(static_cast<const float*>(k), 1, 1, 2, 1), {&head, &row, received}).ok());
  EXPECT_EQ(row.keys, 2);
  EXPECT_NEAR(row.product_mean, std::log(3) / 2, 1e-6);
  EXPECT_NEAR(row.product_variance, std::log(3) * std::log(3) / 4, 1e-6);
  EXPECT_EQ(row.largest_key, 1);
  EXPECT_NEAR(row.largest_weight, 0.75, 1e-6);
  EXPECT_NEAR(row.lse, std::log(4), 1e-6);
  EXPECT_NEAR(row.entropy, std::log(4) - 0.75 * std::log(3), 1e-6);
  EXPECT_NEAR(row.jacobian, 2 * 0.25 * 0.75, 1e-6);  // of [[a, -a], [-a, a]], a = 1/4 * 3/4
  EXPECT_NEAR(received[0], 0.25, 1e-6);
  EXPECT_NEAR(head.first_key_mass, 0.25, 1e-6);
  EXPECT_EQ(head.sink_mass, 0);
}

/// One key alone is no saturation; equal weights are told in the order of their keys.
TEST(InspectFigures, OfACausalCallWithEqualKeys) {
  const std::vector<float> q(5, 1.0F), k(5, 1.0F);
  HeadFigures head;
  std::vector<KeyWeight> top(10);
  ASSERT_TRUE(inspect(view(q.data(), 1, 1, 5, 1), view(k.data(), 1, 1, 5, 1),
                      {.heads = &head, .top = top.data(), .top_keys = 2}, {.causal = true})
                  .ok());
  EXPECT_EQ(head.saturated, 0);
  EXPECT_NEAR(head.largest_weight.value, 0.5, 1e-6);
  EXPECT_EQ(head.largest_weight.row, 1);
  EXPECT_EQ(top[0].key, 0);
  EXPECT_EQ(top[1].key, -1);
  EXPECT_EQ(top[8].key, 0);
  EXPECT_EQ(top[9].key, 1);
  EXPECT_NEAR(top[9].weight, 0.2, 1e-6);
}

TEST(InspectBits, WorkersDoNotMatter) {
  // Several chunks of rows.
  const Case<float> c({.h_q = 4, .h_kv = 2, .n_q = 1300, .n_kv = 1400, .d_k = 8, .causal = true, .seed = 43});
  on_each_target([&] {
    const Figures serial(c);
    for (const auto& executor : executors(3)) {
      const Figures other(c, {.executor = executor.get()});
      EXPECT_EQ(serial.received, other.received);
      EXPECT_EQ(serial.largest, other.largest);
      EXPECT_EQ(serial.mean, other.mean);
      for (size_t i = 0; i < serial.rows.size(); ++i) {
        ASSERT_EQ(serial.rows[i].entropy, other.rows[i].entropy);
        ASSERT_EQ(serial.rows[i].jacobian, other.rows[i].jacobian);
      }
      for (size_t h = 0; h < 4; ++h) {
        EXPECT_EQ(serial.heads[h].product_variance, other.heads[h].product_variance);
        EXPECT_EQ(serial.heads[h].entropy_mean, other.heads[h].entropy_mean);
      }
    }
  });
}

/// Squares past float32's range are summed all the same, and small products beside them keep their bits.
TEST(InspectFigures, ProductsOfAnySize) {
  const std::vector<float> q = {1e19F, 1e-3F, 3e30F}, k = {1, 2, 4, 7};
  std::vector<RowFigures> rows(3);
  HeadFigures head;
  on_each_target([&] {
    ASSERT_TRUE(inspect(view(q.data(), 1, 1, 3, 1), view(k.data(), 1, 1, 4, 1), {.heads = &head, .rows = rows.data()},
                        {.scale = 1})
                    .ok());
    for (size_t i = 0; i < 3; ++i) {
      const double size = q[i];
      EXPECT_NEAR(rows[i].product_mean / size, 3.5, 1e-6) << i;
      EXPECT_NEAR(rows[i].product_variance / size / size, 5.25, 1e-5) << i;
    }
    EXPECT_EQ(head.pairs, 12);
  });
}

/// Those of equal weights keep their order when a greater one comes among them.
TEST(InspectFigures, TopKeysAmongEqualOnes) {
  const float q = 1;
  const std::vector<float> k = {3, 1, 1, 2, 1, 2, 3};
  std::vector<KeyWeight> top(6);
  on_each_target([&] {
    ASSERT_TRUE(inspect(view(&q, 1, 1, 1, 1), view(k.data(), 1, 1, 7, 1), {.top = top.data(), .top_keys = 6}).ok());
    const int64_t want[] = {0, 6, 3, 5, 1, 2};
    for (size_t t = 0; t < 6; ++t) EXPECT_EQ(top[t].key, want[t]) << t;
  });
}

TEST(InspectProgress, CountsAsFarAsItSays) {
  const Case<float> c({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 1300, .n_kv = 70, .d_k = 8, .seed = 44});
  std::atomic<int64_t> done = 0;
  const Figures got(c, {.progress = &done});
  int64_t tasks = 0;
  ASSERT_TRUE(inspect_tasks({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 1300, .n_kv = 70, .d_k = 8}, 1, &tasks).ok());
  EXPECT_EQ(done, tasks);
  EXPECT_GT(tasks, 8);
}

TEST(InspectRejections, InOneLine) {
  const float q = 1;
  const ConstTensor one = view(&q, 1, 1, 1, 1);
  HeadFigures head;
  EXPECT_STREQ(inspect(one, one, {}).message(), "outputs: none given; expected heads, rows, received, top or maps");
  KeyWeight top[2];
  EXPECT_STREQ(inspect(one, one, {.top = top}).message(), "top_keys: 0; expected 1 to 1024");
  float cells[4];
  EXPECT_STREQ(inspect(one, one, {.maps = {1, 2, cells}}).message(), "maps.columns: 2; expected 1 to 1, for n_kv");
  EXPECT_STREQ(inspect(one, one, {.maps = {0, 1, nullptr, cells}}).message(), "maps.rows: 0; expected 1 to 1, for n_q");
  ConstTensor wrong = one;
  wrong.shape[3] = 2;
  EXPECT_STREQ(inspect(one, wrong, {&head}).message(), "k: head dim 2 does not equal q's 1");
  const std::atomic<bool> stop = true;
  EXPECT_EQ(inspect(one, one, {&head}, {}, {.stop = &stop}).code(), StatusCode::cancelled);
}

}  // namespace
}  // namespace foveate::trial
