// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Small problems for the tests of the oracle itself, and what its outputs are compared by.
#ifndef FOVEATE_TESTS_REFERENCE_PROBLEM_H_
#define FOVEATE_TESTS_REFERENCE_PROBLEM_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reference/arrays.h"
#include "reference/attention.h"

namespace foveate::reference {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline const double kLn2 = std::log(2.0);
inline const double kLn3 = std::log(3.0);

/// NaN equals NaN, and infinities themselves.
template <class Real>
void expect_near(const std::vector<Real>& got, const std::vector<Real>& want,
                 Real tolerance = static_cast<Real>(1e-14)) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i])) {
      EXPECT_LE(std::abs(got[i] - want[i]), tolerance) << "element " << i << ": " << got[i] << ", not " << want[i];
    } else {
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i]) << "element " << i << ": " << got[i];
    }
  }
}

/// One query of one dimension, q = 1 and scale 1, so that the scores are the keys themselves.
inline Problem<double> one_query(std::vector<double> scores, std::vector<double> values) {
  Problem<double> p;
  p.n_kv = static_cast<int64_t>(scores.size());
  p.d_v = static_cast<int64_t>(values.size()) / p.n_kv;
  p.q = {1};
  p.k = std::move(scores);
  p.v = std::move(values);
  p.scale = 1;
  return p;
}

/// The same numbers in every type.
template <class Real = double>
std::vector<Real> normals(std::mt19937_64* random, int64_t n) {
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (double& e : x) e = normal(*random);
  return widened<Real>(x);
}

/// q, k and v at random, for the sizes that the problem has.
template <class Real>
void fill(std::mt19937_64* random, Problem<Real>* p) {
  p->q = normals<Real>(random, p->b * p->h_q * p->n_q * p->d_k);
  p->k = normals<Real>(random, p->b * p->h_kv * p->n_kv * p->d_k);
  p->v = normals<Real>(random, p->b * p->h_kv * p->n_kv * p->d_v);
}

inline int64_t below(std::mt19937_64* random, int64_t n) {
  return static_cast<int64_t>((*random)() % static_cast<uint64_t>(n));
}

/// Sizes from 1: grouped heads and batches in half of the problems, d_k and d_v apart.
template <class Real>
Problem<Real> random_problem(std::mt19937_64* random) {
  Problem<Real> p;
  p.b = 1 + below(random, 2);
  p.h_kv = 1 + below(random, 2);
  p.h_q = p.h_kv * (1 + below(random, 2));
  p.n_q = 1 + below(random, 4);
  p.n_kv = 1 + below(random, 5);
  p.d_k = 1 + below(random, 3);
  p.d_v = 1 + below(random, 3);
  fill(random, &p);
  return p;
}

template <class Real>
int64_t pairs_in(const Problem<Real>& p) {
  return p.b * p.h_q * p.n_q * p.n_kv;
}

template <class Real>
std::vector<Real> random_d_o(std::mt19937_64* random, const Problem<Real>& p) {
  return normals<Real>(random, p.b * p.h_q * p.n_q * p.d_v);
}

inline std::vector<int64_t> lengths(std::mt19937_64* random, int64_t b, int64_t n) {
  std::vector<int64_t> some(b);
  for (int64_t& x : some) x = below(random, n + 1);
  return some;
}

template <class Real>
Network<Real> random_network(std::mt19937_64* random, int64_t d_a, int64_t d_k) {
  return {.d_a = d_a,
          .w_q = normals<Real>(random, d_a * d_k),
          .w_k = normals<Real>(random, d_a * d_k),
          .w = normals<Real>(random, d_a),
          .b = normals<Real>(random, below(random, 2) * d_a)};
}

template <class Real>
struct Option {
  std::string name;
  void (*set)(std::mt19937_64* random, Problem<Real>& p);
};

/// Each may be set beside any other.
template <class Real>
const std::vector<Option<Real>>& options() {
  using Random = std::mt19937_64;
  using P = Problem<Real>;
  static const std::vector<Option<Real>> all = {
      {"none", [](Random*, P&) {}},
      {"network", [](Random* random, P& p) { p.network = random_network<Real>(random, 1 + below(random, 4), p.d_k); }},
      {"scale", [](Random*, P& p) { p.scale = static_cast<Real>(0.8); }},
      {"scale zero", [](Random*, P& p) { p.scale = 0; }},
      {"scale negative", [](Random*, P& p) { p.scale = static_cast<Real>(-0.6); }},
      {"causal", [](Random*, P& p) { p.causal = true; }},
      {"causal top-left", [](Random*, P& p) { p.causal = true, p.align = Align::top_left; }},
      {"window left", [](Random* random, P& p) { p.window_left = below(random, 3); }},
      {"window right", [](Random* random, P& p) { p.window_right = below(random, 3); }},
      {"mask",
       [](Random* random, P& p) {
         p.mask.resize(pairs_in(p));
         for (char& x : p.mask) x = below(random, 3) > 0;
       }},
      {"bias", [](Random* random, P& p) { p.bias = normals<Real>(random, pairs_in(p)); }},
      {"bias that forbids",
       [](Random* random, P& p) {
         p.bias = normals<Real>(random, pairs_in(p));
         for (Real& x : p.bias) {
           if (below(random, 4) == 0) x = -std::numeric_limits<Real>::infinity();
         }
       }},
      {"softcap", [](Random* random, P& p) { p.softcap = below(random, 2) == 0 ? 1 : 3; }},
      {"alibi", [](Random* random, P& p) { p.alibi_slopes = normals<Real>(random, p.h_q); }},
      {"sinks", [](Random* random, P& p) { p.sinks = normals<Real>(random, p.h_q); }},
      {"q_lengths", [](Random* random, P& p) { p.q_lengths = lengths(random, p.b, p.n_q); }},
      {"kv_lengths", [](Random* random, P& p) { p.kv_lengths = lengths(random, p.b, p.n_kv); }},
      {"q_offset", [](Random* random, P& p) { p.q_offset = below(random, 7) - 3; }},
      {"kv_offset", [](Random* random, P& p) { p.kv_offset = below(random, 7) - 3; }},
      {"dropout", [](Random* random, P& p) { p.dropout = 0.4, p.seed = (*random)(); }},
  };
  return all;
}

/// A problem with about a third of all options, and their names.
template <class Real>
std::pair<Problem<Real>, std::string> combined(std::mt19937_64* random) {
  std::pair<Problem<Real>, std::string> made = {random_problem<Real>(random), ""};
  for (const Option<Real>& option : options<Real>()) {
    if (below(random, 3) > 0) continue;
    option.set(random, made.first);
    made.second += option.name + ", ";
  }
  return made;
}

}  // namespace foveate::reference

#endif  // FOVEATE_TESTS_REFERENCE_PROBLEM_H_
