// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Dropout on the command line: the mask that it writes makes --out of --weights.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reference/philox.h"
#include "tests/cli_fixture.h"

namespace foveate {
namespace {

class CliDropout : public CliTest {
 protected:
  static constexpr int64_t b = 2, h = 4, h_kv = 2, n_q = 3, n_kv = 70, d = 8;

  CliDropout() {
    save<float>("q.npy", {b, h, n_q, d}, noise(b * h * n_q * d, 1));
    save<float>("k.npy", {b, h_kv, n_kv, d}, noise(b * h_kv * n_kv * d, 2));
    save<float>("v.npy", {b, h_kv, n_kv, d}, noise(b * h_kv * n_kv * d, 3));
    save<int64_t>("lengths.npy", {b}, {70, 41});
  }

  std::vector<bool> mask(const std::string& name) const {
    const io::Array keep = load(name);
    EXPECT_EQ(keep.dtype, DType::boolean);
    const auto* first = static_cast<const bool*>(keep.data());
    return std::vector<bool>(first, first + keep.size());
  }

  /// sum_j a_ij keep_ij / (1 - P) v_j, by hand.
  std::vector<double> dropped(const Floats& a, const std::vector<bool>& keep, double p) const {
    const Floats v = values("v.npy");
    std::vector<double> o(b * h * n_q * d);
    for (int64_t row = 0; row < b * h * n_q; ++row) {
      const int64_t head = row / n_q % h, batch = row / n_q / h;
      for (int64_t j = 0; j < n_kv; ++j) {
        if (!keep[row * n_kv + j]) continue;
        const float* value = v.data() + ((batch * h_kv + head / (h / h_kv)) * n_kv + j) * d;
        for (int64_t e = 0; e < d; ++e) o[row * d + e] += a[row * n_kv + j] / (1 - p) * value[e];
      }
    }
    return o;
  }
};

TEST_F(CliDropout, TheMaskMakesOutOfWeights) {
  for (const Words& more : {Words{}, {"--causal"}, {"--kv-lengths", "lengths.npy"}, {"--align", "top-left"}}) {
    Words plain = {"--out", "plain.npy", "--lse", "plain_lse.npy"}, words = more;
    plain.insert(plain.end(), more.begin(), more.end());
    expect_success(plain);
    for (const char* word : {"--dropout", "0.3", "--seed", "18446744073709551615", "--out", "o.npy", "--weights",
                             "a.npy", "--lse", "lse.npy", "--dropout-mask", "keep.npy"}) {
      words.push_back(word);
    }
    expect_success(words);
    EXPECT_EQ(load("keep.npy").shape, (Extents{b, h, n_q, n_kv}));
    expect_near("o.npy", dropped(values("a.npy"), mask("keep.npy"), 0.3));
    EXPECT_EQ(bytes_of("lse.npy"), bytes_of("plain_lse.npy"));
    EXPECT_NE(bytes_of("o.npy"), bytes_of("plain.npy"));
  }
}

TEST_F(CliDropout, SeedsAreZeroBeforeTheyAreGivenAndMatter) {
  expect_success({"--dropout", "0.5", "--dropout-mask", "default.npy"});
  expect_success({"--dropout", "0.5", "--seed", "0", "--dropout-mask", "zero.npy"});
  expect_success({"--dropout", "0.5", "--seed", "4294967296", "--dropout-mask", "high.npy"});
  EXPECT_EQ(bytes_of("default.npy"), bytes_of("zero.npy"));
  EXPECT_NE(bytes_of("default.npy"), bytes_of("high.npy"));
  const std::vector<bool> keep = mask("high.npy");
  for (int64_t i = 0; i < b * h * n_q * n_kv; ++i) {
    const int64_t row = i / n_kv;
    EXPECT_EQ(keep[i],
              reference::keeps(0.5, uint64_t{1} << 32, row / n_q / h, row / n_q % h, row % n_q + n_kv - n_q, i % n_kv));
  }
}

TEST_F(CliDropout, WithoutDropoutAllIsKeptAndASeedIsIdle) {
  expect_success({"--out", "plain.npy"});
  expect_success({"--seed", "7", "--dropout-mask", "keep.npy", "--out", "o.npy"});
  EXPECT_EQ(bytes_of("o.npy"), bytes_of("plain.npy"));
  EXPECT_EQ(mask("keep.npy"), std::vector<bool>(b * h * n_q * n_kv, true));
}

TEST_F(CliDropout, TheMaskHasTheAxesOfTheWeights) {
  save<float>("q.npy", {n_q, h, d}, noise(n_q * h * d, 1));
  save<float>("k.npy", {n_kv, h_kv, d}, noise(n_kv * h_kv * d, 2));
  save<float>("v.npy", {n_kv, h_kv, d}, noise(n_kv * h_kv * d, 3));
  expect_success({"--layout", "bnhd", "--dropout", "0.5", "--dropout-mask", "keep.npy", "--weights", "a.npy"});
  EXPECT_EQ(load("keep.npy").shape, (Extents{h, n_q, n_kv}));
  EXPECT_EQ(load("a.npy").shape, (Extents{h, n_q, n_kv}));
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) save<float>(name, {5, 2}, noise(10, 1));
  expect_success({"--dropout", "0.5", "--dropout-mask", "keep.npy"});
  EXPECT_EQ(load("keep.npy").shape, (Extents{5, 5}));
}

TEST_F(CliDropout, TheMaskAloneIsStillACallThatMustBeRight) {
  save<float>("k.npy", {b, h_kv, n_kv, 4}, Floats(b * h_kv * n_kv * 4));
  const std::set<std::string> before = files();
  const Outcome outcome = attend({"--dropout", "0.5", "--dropout-mask", "keep.npy"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "foveate attend: k: head dim 4 does not equal q's 8\n");
  EXPECT_EQ(files(), before);
}

TEST_F(CliDropout, TheSummaryTells) {
  const Outcome outcome =
      attend({"--json", "--dropout", "0.25", "--seed", "18446744073709551615", "--dropout-mask", "keep.npy"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json summary = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(summary["options"]["dropout"], 0.25);
  EXPECT_EQ(summary["options"]["seed"], UINT64_MAX);
  EXPECT_EQ(summary["outputs"]["dropout-mask"]["dtype"], "bool");
  EXPECT_EQ(summary["outputs"]["dropout-mask"]["shape"], nlohmann::json({b, h, n_q, n_kv}));
  const nlohmann::json plain = nlohmann::json::parse(attend({"--json", "--out", "o.npy"}).out);
  EXPECT_EQ(plain["options"]["dropout"], 0);
  EXPECT_EQ(plain["options"]["seed"], 0);
}

}  // namespace
}  // namespace foveate
