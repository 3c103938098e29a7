// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What dividing by sqrt(d_k) makes of vectors that are not drawn component by component.
#include <algorithm>
#include <cmath>

#include "claims/claim.h"
#include "claims/score_draws.h"

namespace foveate::claims {
namespace {

constexpr int64_t kHeadDim = 64;
constexpr double kShared = 0.1;  // the correlation of any two components
constexpr int64_t kRank = 4;
constexpr double kMean = 0.5;

void draw_correlated(Normal& normal, int64_t count, int64_t d_k, std::vector<double>* q, std::vector<double>* k) {
  for (std::vector<double>* rows : {q, k}) {
    *rows = draw(normal, count, d_k);
    for (auto row = rows->begin(); row != rows->end(); row += d_k) {
      const double common = std::sqrt(kShared) * normal();
      std::for_each_n(row, d_k, [common](double& x) { x = common + std::sqrt(1 - kShared) * x; });
    }
  }
}

void draw_equal(Normal& normal, int64_t count, int64_t d_k, std::vector<double>* q, std::vector<double>* k) {
  *q = draw(normal, count, d_k);
  *k = *q;
}

/// As W x of a projection whose rank is kRank: component i is latent number i mod kRank.
void draw_low_rank(Normal& normal, int64_t count, int64_t d_k, std::vector<double>* q, std::vector<double>* k) {
  for (std::vector<double>* rows : {q, k}) {
    const std::vector<double> latent = draw(normal, count, kRank);
    rows->resize(static_cast<size_t>(count * d_k));
    for (int64_t at = 0; at < count * d_k; ++at) {
      (*rows)[static_cast<size_t>(at)] = latent[static_cast<size_t>(at / d_k * kRank + at % d_k % kRank)];
    }
  }
}

void draw_off_zero(Normal& normal, int64_t count, int64_t d_k, std::vector<double>* q, std::vector<double>* k) {
  draw_independent(normal, count, d_k, q, k);
  for (std::vector<double>* rows : {q, k}) {
    for (double& x : *rows) x += kMean;
  }
}

Evidence measure_kinds(const Run& run) {
  Normal normal = run.normal("root-suits-any-vectors");
  const int64_t draws = run.samples(200000, 8000);
  constexpr double kD = kHeadDim;
  // With covariance C of both, independent of each other: Var q.k = tr C^2. Keys that are the queries: 2 tr C^2.
  const struct {
    Text label;
    double expected;
    DrawPairs pairs;
  } kinds[] = {
      {{"independent", "互相独立"}, 1, draw_independent},
      {{"mean 0.5", "均值 0.5"}, 1 + 2 * kMean * kMean, draw_off_zero},
      {{"correlated by 0.1", "两两相关 0.1"}, 1 + (kD - 1) * kShared * kShared, draw_correlated},
      {{"key = query", "键 = 查询"}, 2, draw_equal},
      {{"rank 4 of 64", "64 维、秩 4"}, kD / kRank, draw_low_rank},
  };
  Evidence evidence;
  Series& variances = evidence.add("scaled_variance", {"variance of q·k / √d_k by kind of vectors, d_k = 64",
                                                       "各类向量的 q·k / √d_k 的方差，d_k = 64"});
  for (const auto& kind : kinds) {
    const auto at = static_cast<double>(variances.points.size());
    variances.points.push_back({at, variance(draw_scores(run, normal, draws, kHeadDim, 1 / std::sqrt(kD), kind.pairs)),
                                kind.expected, kind.label});
    run.step(std::ssize(variances.points), std::ssize(kinds));
  }
  return evidence;
}

Judgement judge_kinds(const Evidence& evidence) {
  Series variances = evidence.series("scaled_variance");
  for (Point& point : variances.points) point.expected = 1;  // as the claim has it
  const Fit all = fit(variances, kLow, kHigh);
  const Text figure = text("variance {:.2f} to {:.1f} by kind of vectors", "因向量而异，方差 {:.2f} 至 {:.1f}",
                           variances.least(), variances.greatest());
  if (all == Fit::within) return {Verdict::holds, figure, {"All kinds have variance 1.", "各类向量的方差都是 1。"}};
  if (all == Fit::undecided) {
    return {Verdict::holds_in_part, figure, {"Some intervals reach past 15 % from 1.", "有的区间伸到离 1 15 % 以外。"}};
  }
  return {
      Verdict::does_not_hold,
      figure,
      {"Only independent components with mean 0 give 1; correlation and low rank, which training brings, give more.",
       "只有分量独立、均值为 0 时才是 1；训练会带来相关与低秩，方差随之变大。"}};
}

Plot plot_kinds(const Evidence& evidence) {
  const Series& variances = evidence.series("scaled_variance");
  return {.title = {"Divided by √d_k, and yet not 1", "除以 √d_k，方差仍不一定是 1"},
          .x = {.title = {"kind of vectors, d_k = 64", "向量的种类，d_k = 64"}, .categories = labels_of(variances)},
          .y = {.title = {"variance of q·k / √d_k (score²)", "q·k / √d_k 的方差（分数²）"}},
          .curves = {measured(variances, {"measured", "实测"}, Mark::bars),
                     expected(variances, {"by theory: tr C² / d_k, 2 tr C² / d_k for key = query",
                                          "理论值：tr C² / d_k，键 = 查询时 2 tr C² / d_k"})},
          .note = samples_note(variances)};
}

}  // namespace

std::vector<Claim> vector_claims() {
  return {
      {.name = "root-suits-any-vectors",
       .family = "variance",
       .says = {"Whatever the queries and keys, dividing by √d_k gives scores variance 1.",
                "不管查询和键是什么样，除以 √d_k 后分数的方差都是 1。"},
       .expectation =
           {"With mean 0, covariance C and keys independent of queries the variance is tr C² / d_k: 1 if independent, "
            "1.63 with correlation 0.1, 16 at rank 4; a mean of 0.5 adds 0.5, and a key that is the query doubles it. "
            "It "
            "holds if every interval lies within 15 % of 1, does not if one lies entirely outside; otherwise in part.",
            "均值为 0、协方差为 C、键与查询互相独立时，方差是 tr C² / d_k：分量独立为 1，两两相关 0.1 为 1.63，秩 4 为 "
            "16；均值 0.5 再加 0.5，键等于查询则加倍。所有区间都在 1 ± 15 % "
            "之内则成立，有一个完全在外则不成立，其余为部分成立。"},
       .recorded = Verdict::does_not_hold,
       .seconds = 1.5,
       .measure = measure_kinds,
       .judge = judge_kinds,
       .plot = plot_kinds}};
}

}  // namespace foveate::claims
