// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// --score on the command line: additive and linear attention by hand, their gradients against differences of the loss, and
// what each refuses.
#include <cmath>
#include <functional>
#include <numeric>

#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using Doubles = std::vector<double>;

class CliScore : public CliTest {
 protected:
  static constexpr int64_t n = 3, m = 4, d = 2, d_a = 3;
  const Words additive = {"--score", "additive", "--wq", "wq.npy", "--wk", "wk.npy", "--w", "w.npy", "--b", "b.npy"};

  CliScore() {
    const auto doubles = [&](const std::string& name, const Extents& shape, unsigned seed) {
      const int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
      const Floats from = noise(static_cast<size_t>(size), seed);
      save<double>(name, shape, Doubles(from.begin(), from.end()));
    };
    doubles("q.npy", {n, d}, 1);
    doubles("k.npy", {m, d}, 2);
    doubles("v.npy", {m, d}, 3);
    doubles("grad.npy", {n, d}, 4);
    doubles("wq.npy", {d_a, d}, 5);
    doubles("wk.npy", {d_a, d}, 6);
    doubles("w.npy", {d_a}, 7);
    doubles("b.npy", {d_a}, 8);
  }

  Doubles all(const std::string& name) const { return values<double>(name); }

  /// o of weights a_ij, not normalised.
  Doubles mean_by(const std::function<double(int64_t i, int64_t j)>& a) const {
    const Doubles v = all("v.npy");
    Doubles o(n * d, 0);
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < m; ++j) sum += a(i, j);
      for (int64_t j = 0; j < m; ++j)
        for (int64_t e = 0; e < d; ++e) o[i * d + e] += a(i, j) / sum * v[j * d + e];
    }
    return o;
  }

  void expect_close(const Doubles& got, const Doubles& want, double within) const {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], within) << i;
  }

  double loss(const Words& words) {
    Words more = words;
    more.insert(more.end(), {"--out", "moved.npy"});
    expect_success(more);
    const Doubles o = all("moved.npy"), g = all("grad.npy");
    return std::inner_product(o.begin(), o.end(), g.begin(), 0.0);
  }

  /// Central differences of the loss by each number of an input.
  void expect_gradient(const std::string& input, const std::string& gradient, const Words& words) {
    SCOPED_TRACE(input);
    const Extents shape = load(input).shape;
    const Doubles at = all(input), got = all(gradient);
    ASSERT_EQ(got.size(), at.size());
    constexpr double kStep = 1e-5;
    for (size_t i = 0; i < at.size(); ++i) {
      Doubles moved = at;
      moved[i] = at[i] + kStep;
      save<double>(input, shape, moved);
      const double up = loss(words);
      moved[i] = at[i] - kStep;
      save<double>(input, shape, moved);
      const double down = loss(words);
      EXPECT_NEAR(got[i], (up - down) / (2 * kStep), 1e-8) << i;
    }
    save<double>(input, shape, at);
  }

  std::string error_of(const Words& words) const {
    const Outcome outcome = attend(words);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  }
};

TEST_F(CliScore, AdditiveByHand) {
  Words words = additive;
  words.insert(words.end(), {"--out", "o.npy"});
  expect_success(words);
  const Doubles q = all("q.npy"), k = all("k.npy"), wq = all("wq.npy"), wk = all("wk.npy"), w = all("w.npy"),
                b = all("b.npy");
  expect_close(all("o.npy"), mean_by([&](int64_t i, int64_t j) {
                 double s = 0;
                 for (int64_t a = 0; a < d_a; ++a) {
                   double x = b[a];
                   for (int64_t e = 0; e < d; ++e) x += wq[a * d + e] * q[i * d + e] + wk[a * d + e] * k[j * d + e];
                   s += w[a] * std::tanh(x);
                 }
                 return std::exp(s);
               }),
               1e-14);
}

TEST_F(CliScore, LinearByHand) {
  expect_success({"--score", "linear", "--causal", "--out", "o.npy"});
  const Doubles q = all("q.npy"), k = all("k.npy");
  const auto phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  expect_close(all("o.npy"), mean_by([&](int64_t i, int64_t j) {
                 double s = 0;
                 for (int64_t e = 0; e < d; ++e) s += phi(q[i * d + e]) * phi(k[j * d + e]);
                 return j <= i + m - n ? s : 0;
               }),
               1e-14);
}

TEST_F(CliScore, GradientsAreDifferencesOfTheLoss) {
  Words words = additive;
  words.insert(words.end(), {"--grad", "grad.npy", "--dq", "dq.npy", "--dk", "dk.npy", "--dv", "dv.npy", "--dwq",
                             "dwq.npy", "--dwk", "dwk.npy", "--dw", "dw.npy", "--db", "db.npy"});
  expect_success(words);
  for (const char* input : {"q", "k", "v", "wq", "wk", "w", "b"}) {
    expect_gradient(input + std::string(".npy"), "d" + std::string(input) + ".npy", additive);
  }
  const Words linear = {"--score", "linear"};
  expect_success({"--score", "linear", "--grad", "grad.npy", "--dq", "dq.npy", "--dk", "dk.npy", "--dv", "dv.npy"});
  for (const char* input : {"q", "k", "v"}) {
    expect_gradient(input + std::string(".npy"), "d" + std::string(input) + ".npy", linear);
  }
}

TEST_F(CliScore, WhatHasNoMeaningIsRefused) {
  save<float>("head.npy", {1}, {1});
  save<char>("rows.npy", {n, m}, std::vector<char>(n * m, 1), DType::boolean);
  const auto refused = [&](const Words& words) {
    Words more = {"--score", "linear", "--out", "o.npy"};
    more.insert(more.end(), words.begin(), words.end());
    return error_of(more);
  };
  for (const Words& words : {Words{"--lse", "l.npy"},
                             {"--weights", "a.npy"},
                             {"--scale", "1"},
                             {"--softcap", "2"},
                             {"--bias", "q.npy"},
                             {"--alibi", "head.npy"},
                             {"--sinks", "head.npy"},
                             {"--dropout", "0.1"},
                             {"--window", "1,0"}}) {
    EXPECT_EQ(refused(words), "foveate attend: " + words[0] + ": does not go with --score linear; leave it out\n");
  }
  EXPECT_EQ(
      refused({"--mask", "rows.npy"}),
      "foveate attend: mask: shape [3, 4] does not broadcast to [b, h_kv, 1, n_kv] = [1, 1, 1, 4]; each extent must "
      "equal it or be 1\n");
  EXPECT_EQ(refused({"--w", "w.npy"}), "foveate attend: --w: goes with --score additive alone\n");
  EXPECT_FALSE(files().contains("o.npy"));
}

TEST_F(CliScore, ParametersThatDoNotFitAreRefused) {
  const auto refused = [&](const Words& words) {
    Words more = {"--score", "additive", "--out", "o.npy"};
    more.insert(more.end(), words.begin(), words.end());
    return error_of(more);
  };
  EXPECT_EQ(refused({"--wq", "wq.npy"}), "foveate attend: --wk: missing; --score additive wants --wq, --wk and --w\n");
  EXPECT_EQ(refused({"--wq", "wq.npy", "--wk", "q.npy", "--w", "b.npy", "--b", "grad.npy"}),
            "foveate attend: --b: 2 axes, shape [3, 2]; give [d_a], one number a feature\n");
  EXPECT_EQ(refused({"--wq", "wq.npy", "--wk", "k.npy", "--w", "w.npy"}),
            "foveate attend: --wk: shape [4, 2]; expected [d_a, d_k] = [3, 2]\n");
  EXPECT_EQ(error_of({"--score", "dots", "--out", "o.npy"}),
            "foveate attend: --score: 'dots' is none of dot, additive, linear\n");
  EXPECT_FALSE(files().contains("o.npy"));
}

}  // namespace
}  // namespace foveate
