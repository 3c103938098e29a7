// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle's gradients against finite differences of its own forward pass, in long double, under every option alone and
// together; and in double against long double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reference/attention.h"
#include "reference/attention_backward.h"
#include "tests/reference_differences.h"
#include "tests/reference_problem.h"

namespace foveate::reference {
namespace {

TEST(Derivatives, EachOptionAlone) {
  for (const Option<long double>& option : options<long double>()) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(option.name + ", seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      Problem<long double> p = random_problem<long double>(&random);
      option.set(&random, p);
      expect_derivatives(&random, p);
    }
  }
}

TEST(Derivatives, OptionsTogether) {
  for (uint64_t seed = 100; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto [p, names] = combined<long double>(&random);
    SCOPED_TRACE(names + "seed " + std::to_string(seed));
    expect_derivatives(&random, p);
  }
}

/// What the magnitudes of the gradients are to be multiplied by: dsinks, dv and ds have an error of a weight twice, with
/// that of d_o . o and their own sums; the slope of softcap has twice that of its argument, those of a network too, and their
/// sums are over all pairs or features.
std::vector<long double> double_errors(const Problem<double>& p) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const Result<double> r = attention(p);
  std::vector<long double> errors;
  for (size_t row = 0; row < r.lse.size(); ++row) {
    const int64_t rows = p.b * p.h_q * p.n_q, features = p.network.d_a;
    const double terms = static_cast<double>((p.n_kv + rows) * (1 + features) + features * rows * p.n_kv);
    const double sums = (static_cast<double>(2 * p.d_v + 20) + terms) * eps;
    const double dims = static_cast<double>(p.d_k + features + 4) * eps;
    const double argument = dims * ((p.softcap > 0 ? r.score_magnitude[row] / p.softcap : 0) + r.argument[row]);
    errors.push_back(2 * weight_error(p, r, static_cast<int64_t>(row)) + sums + 2 * argument);
  }
  return errors;
}

void expect_within(const std::vector<double>& got, const std::vector<long double>& exact,
                   const std::vector<long double>& error) {
  ASSERT_EQ(got.size(), exact.size());
  for (size_t x = 0; x < got.size(); ++x) EXPECT_LE(std::abs(got[x] - exact[x]), error[x]) << x;
}

TEST(Derivatives, InDoubleAreWithinTheirMagnitudes) {
  for (uint64_t seed = 200; seed < 300; ++seed) {
    std::mt19937_64 random(seed), again(seed);
    const auto [p, names] = combined<double>(&random);
    SCOPED_TRACE(names + "seed " + std::to_string(seed));
    const Gradients<double> g = attention_backward(p, random_d_o(&random, p));
    const Problem<long double> exact_p = combined<long double>(&again).first;
    const Gradients<long double> exact = attention_backward(exact_p, random_d_o(&again, exact_p), double_errors(p));
    expect_within(g.dq, exact.dq, exact.abs_dq);
    expect_within(g.dk, exact.dk, exact.abs_dk);
    expect_within(g.dv, exact.dv, exact.abs_dv);
    expect_within(g.dbias, exact.dbias, exact.abs_dbias);
    expect_within(g.dsinks, exact.dsinks, exact.abs_dsinks);
    expect_within(g.dw_q, exact.dw_q, exact.abs_dw_q);
    expect_within(g.dw_k, exact.dw_k, exact.abs_dw_k);
    expect_within(g.dw, exact.dw, exact.abs_dw);
    expect_within(g.db, exact.db, exact.abs_db);
  }
}

}  // namespace
}  // namespace foveate::reference
