// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What stands out: heads made to do one thing each, and heads that do nothing special, of which nothing may be said.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "foveate/attention.h"
#include "insight/findings.h"
#include "insight/report.h"
#include "insight/similar_heads.h"
#include "insight/words.h"

namespace foveate::insight {
namespace {

/// Heads of normal numbers, to be spoilt one by one.
struct Heads {
  int64_t b, h, n, d;
  std::vector<float> q, k, v;
  AttentionOptions options = {.causal = true};

  explicit Heads(int64_t heads, uint64_t seed = 1, int64_t batch = 1, int64_t length = 96, int64_t head_dim = 32)
      : b(batch), h(heads), n(length), d(head_dim) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    for (std::vector<float>* all : {&q, &k, &v}) {
      all->resize(static_cast<size_t>(b * h * n * d));
      for (float& x : *all) x = normal(random);
    }
  }

  float& q_at(int64_t head, int64_t i, int64_t c) { return q[static_cast<size_t>((head * n + i) * d + c)]; }
  float& k_at(int64_t head, int64_t j, int64_t c) { return k[static_cast<size_t>((head * n + j) * d + c)]; }

  void scale_queries(int64_t head, float factor) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < d; ++c) q_at(head, i, c) *= factor;
    }
  }

  /// All queries of a head lean on a key.
  void lean_on(int64_t head, int64_t key) {
    for (int64_t c = 0; c < d; ++c) k_at(head, key, c) = 1;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < d; ++c) q_at(head, i, c) += 1;
    }
  }

  ConstTensor view_of(const std::vector<float>& x) const { return view(x.data(), b, h, n, d); }

  Report report(bool with_v = false) const {
    Report report;
    const Status status =
        make_report(view_of(q), view_of(k), with_v ? view_of(v) : ConstTensor{}, options, {}, {}, &report);
    EXPECT_TRUE(status.ok()) << status.message();
    return report;
  }
};

std::string words_of(const std::vector<Finding>& all) {
  std::string text;
  for (const Finding& finding : all) text += finding.text.en + "\n";
  return text;
}

const Finding* find(const std::vector<Finding>& all, Kind kind) {
  for (const Finding& finding : all) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

using Numbers = std::vector<int64_t>;

TEST(Findings, EachKindHasItsName) {
  const std::vector<std::string> names = {"not_finite",   "empty",     "one_visible", "padding", "sink", "one_key",
                                          "learned_sink", "saturated", "even",        "offset",  "alike"};
  for (size_t kind = 0; kind < names.size(); ++kind) EXPECT_EQ(name_of(static_cast<Kind>(kind)), names[kind]);
}

TEST(Findings, NothingStandsOutOfNormalHeads) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const bool causal : {false, true}) {
      Heads heads(6, seed, 2);
      heads.options.causal = causal;
      EXPECT_EQ(words_of(findings(heads.report(true))), "") << "seed " << seed;
    }
  }
}

TEST(Findings, SinksAndSingleKeys) {
  Heads heads(4);
  heads.lean_on(1, 0);
  heads.lean_on(2, 0);
  heads.lean_on(3, 40);
  heads.options.causal = false;
  const std::vector<Finding> all = findings(heads.report());
  const Finding* sink = find(all, Kind::sink);
  ASSERT_NE(sink, nullptr);
  EXPECT_EQ(sink->heads, (Numbers{1, 2}));
  EXPECT_EQ(sink->key, 0);
  EXPECT_GT(sink->least, 0.4);
  EXPECT_NE(sink->text.en.find("heads 1 and 2 put "), std::string::npos) << sink->text.en;
  EXPECT_NE(sink->text.en.find("of their mass on key 0: an attention sink."), std::string::npos) << sink->text.en;
  EXPECT_NE(sink->text.zh.find("头 1、2 把"), std::string::npos) << sink->text.zh;
  const Finding* one = find(all, Kind::one_key);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->heads, Numbers{3});
  EXPECT_EQ(one->key, 40);
}

/// The first rows of a causal head have little choice: that is no sink, nor are they saturated.
TEST(Findings, ShortCausalHeadsAreNoSinks) {
  for (const int64_t n : {1, 2, 5, 9, 17}) {
    Heads heads(3, 7, 1, n);
    EXPECT_EQ(words_of(findings(heads.report())), "") << n;
  }
}

TEST(Findings, LearnedSinks) {
  Heads heads(3);
  const std::vector<float> sinks = {-50, 7, -50};
  heads.options.sinks = view(sinks.data(), 3);
  const std::vector<Finding> all = findings(heads.report());
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  EXPECT_EQ(all[0].kind, Kind::learned_sink);
  EXPECT_EQ(all[0].heads, Numbers{1});
  EXPECT_GT(all[0].least, 0.8);
}

TEST(Findings, UnscaledScores) {
  Heads heads(3);
  heads.options.scale = 1;
  const std::vector<Finding> all = findings(heads.report());
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  EXPECT_EQ(all[0].kind, Kind::saturated);
  EXPECT_EQ(all[0].heads, (Numbers{0, 1, 2}));
  EXPECT_NE(all[0].text.en.find("heads 0-2: "), std::string::npos) << all[0].text.en;
  EXPECT_NE(all[0].text.en.find("the scale is 1, not 1/sqrt(32)"), std::string::npos) << all[0].text.en;
  // Scaled, of queries eight times as long: only asked.
  Heads long_queries(3);
  long_queries.scale_queries(2, 8);
  const std::vector<Finding> other = findings(long_queries.report());
  ASSERT_EQ(other.size(), 1U) << words_of(other);
  EXPECT_EQ(other[0].heads, Numbers{2});
  EXPECT_NE(other[0].text.en.find("were they scaled?"), std::string::npos) << other[0].text.en;
}

TEST(Findings, EvenHeadsAndAScaleAppliedTwice) {
  Heads heads(3);
  heads.scale_queries(1, 0.01F);
  std::vector<Finding> all = findings(heads.report());
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  EXPECT_EQ(all[0].kind, Kind::even);
  EXPECT_EQ(all[0].heads, Numbers{1});
  heads = Heads(2, 3);
  heads.options.scale = 1.0 / 32;
  heads.scale_queries(0, 0.5F);
  heads.scale_queries(1, 0.5F);
  all = findings(heads.report());
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  EXPECT_NE(all[0].text.en.find("was it applied twice?"), std::string::npos) << all[0].text.en;
}

TEST(Findings, ThePlaceBefore) {
  for (const int64_t back : {0, 1, 3}) {
    Heads heads(3);
    for (int64_t i = back; i < heads.n; ++i) {
      for (int64_t c = 0; c < heads.d; ++c) heads.q_at(1, i, c) = heads.k_at(1, i - back, c) * 1.2F;
    }
    const std::vector<Finding> all = findings(heads.report());
    const Finding* place = find(all, Kind::offset);
    ASSERT_NE(place, nullptr) << words_of(all);
    EXPECT_EQ(place->heads, Numbers{1});
    EXPECT_EQ(place->offset, -back);
  }
}

TEST(Findings, HeadsAlike) {
  Heads heads(4, 5, 2);
  // Head 3 of the second sequence (7 in all) is its head 1 (5), and a little noise.
  for (int64_t i = 0; i < heads.n; ++i) {
    for (int64_t c = 0; c < heads.d; ++c) {
      heads.q_at(7, i, c) = heads.q_at(5, i, c) + 0.01F * heads.v[static_cast<size_t>(i * heads.d + c)];
      heads.k_at(7, i, c) = heads.k_at(5, i, c);
    }
  }
  const std::vector<Finding> all = findings(heads.report());
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  EXPECT_EQ(all[0].kind, Kind::alike);
  EXPECT_EQ(all[0].b, 1);
  EXPECT_EQ(all[0].heads, (Numbers{1, 3}));
  EXPECT_NE(all[0].text.en.find("batch 1, heads 1 and 3 attend nearly alike"), std::string::npos) << all[0].text.en;
}

TEST(Findings, RowsWithoutKeysAndNotFinite) {
  Heads heads(2);
  std::vector<char> mask(static_cast<size_t>(heads.n * heads.n), 1);
  for (int64_t j = 0; j < heads.n; ++j) mask[static_cast<size_t>(5 * heads.n + j)] = 0;
  heads.options.mask = view(reinterpret_cast<const bool*>(mask.data()), 1, 1, heads.n, heads.n);
  heads.k_at(1, 12, 4) = std::nanf("");
  const std::vector<Finding> all = findings(heads.report());
  ASSERT_EQ(all.size(), 2U) << words_of(all);
  EXPECT_EQ(all[0].text.en, "head 1: 84 of 96 rows are not finite. The first, row 12: component 4 of key 12 is NaN.");
  EXPECT_EQ(all[1].kind, Kind::empty);
  EXPECT_EQ(all[1].heads, (Numbers{0, 1}));
  EXPECT_NE(all[1].text.en.find("1 of 96 rows sees no key, and gets o = 0"), std::string::npos) << all[1].text.en;
  // Rows past a length see none either, and nobody minds.
  const std::vector<int64_t> lengths = {40};
  Heads padded(2);
  padded.options.q_lengths = padded.options.kv_lengths = view(lengths.data(), 1);
  EXPECT_EQ(words_of(findings(padded.report())), "");
}

TEST(Findings, ASinkIsNoLackOfScaling) {
  Heads heads(2);
  for (int64_t i = 0; i < heads.n; ++i) heads.q_at(1, i, 0) = 8;
  for (int64_t j = 0; j < heads.n; ++j) heads.k_at(1, j, 0) = 0;
  heads.k_at(1, 0, 0) = 12;
  const std::vector<Finding> all = findings(heads.report());
  ASSERT_EQ(all.size(), 2U) << words_of(all);
  EXPECT_EQ(all[0].kind, Kind::sink);
  EXPECT_EQ(all[1].kind, Kind::saturated);
  EXPECT_FALSE(all[1].wide);
  EXPECT_NE(all[1].text.en.find("one key decides them"), std::string::npos) << all[1].text.en;
}

/// The norm told is that of the saturated rows, which is what keeps gradients back.
TEST(Findings, TheJacobianIsThatOfSaturatedRows) {
  Heads heads(1);
  heads.scale_queries(0, 8);
  const Report report = heads.report();
  const std::vector<Finding> all = findings(report);
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  double sum = 0, saturated = 0;
  for (int64_t i = 0; i < heads.n; ++i) {
    const RowFigures& row = report.rows[static_cast<size_t>(i)];
    if (row.keys < 2 || row.largest_weight <= 0.99) continue;
    sum += row.jacobian;
    ++saturated;
  }
  EXPECT_NEAR(all[0].jacobian, sum / saturated, 1e-12);
  EXPECT_LT(all[0].jacobian, 0.02);
  EXPECT_EQ(all[0].most, saturated / 96);
}

TEST(Findings, PaddingThatNoMaskHides) {
  Heads heads(3, 4, 2);
  heads.options.causal = false;
  for (int64_t head = 3; head < 6; ++head) {  // of the second sequence
    for (int64_t j = 60; j < heads.n; ++j) {
      for (int64_t c = 0; c < heads.d; ++c) heads.k_at(head, j, c) = 0;
    }
  }
  const std::vector<Finding> all = findings(heads.report());
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  EXPECT_EQ(all[0].kind, Kind::padding);
  EXPECT_EQ(all[0].b, 1);
  EXPECT_EQ(all[0].heads, (Numbers{0, 1, 2}));
  EXPECT_NE(all[0].text.en.find("batch 1, heads 0-2: keys 60-95 are 0 throughout and take "), std::string::npos)
      << all[0].text.en;
  const std::vector<int64_t> lengths = {96, 60};
  heads.options.kv_lengths = view(lengths.data(), 2);
  EXPECT_EQ(words_of(findings(heads.report())), "");
}

/// Decoding with the alignment of prompts.
TEST(Findings, OneKeyIsVisible) {
  Heads heads(2);
  heads.options.align = Align::top_left;
  const std::vector<float> one_query(heads.q.begin(), heads.q.begin() + 2 * heads.d);
  Report report;
  ASSERT_TRUE(
      make_report(view(one_query.data(), 1, 2, 1, heads.d), heads.view_of(heads.k), {}, heads.options, {}, {}, &report)
          .ok());
  const std::vector<Finding> all = findings(report);
  ASSERT_EQ(all.size(), 1U) << words_of(all);
  EXPECT_EQ(all[0].text.en, "heads 0 and 1: every row sees one key alone, of 96; is the alignment the other one?");
}

/// The estimate beside what the weights themselves give.
TEST(SimilarHeads, DistanceIsThatOfTheWeights) {
  for (const float noise : {0.0F, 0.05F, 0.3F, 1.0F}) {
    Heads heads(2, 9, 1, 200);
    for (int64_t i = 0; i < heads.n; ++i) {
      for (int64_t c = 0; c < heads.d; ++c) {
        heads.q_at(1, i, c) = heads.q_at(0, i, c) + noise * heads.q_at(1, i, c);
        heads.k_at(1, i, c) = heads.k_at(0, i, c);
      }
    }
    std::vector<float> weights(static_cast<size_t>(2 * heads.n * heads.n));
    ASSERT_TRUE(attention(heads.view_of(heads.q), heads.view_of(heads.k), heads.view_of(heads.v),
                          {.weights = view(weights.data(), 1, 2, heads.n, heads.n)}, heads.options)
                    .ok());
    double sum = 0, rows = 0;
    for (int64_t i = kLeastKeys - 1; i < heads.n; ++i, ++rows) {
      double apart = 0, lengths = 0;
      for (int64_t j = 0; j < heads.n; ++j) {
        const double x = weights[static_cast<size_t>(i * heads.n + j)];
        const double y = weights[static_cast<size_t>((heads.n + i) * heads.n + j)];
        apart += (x - y) * (x - y);
        lengths += x * x + y * y;
      }
      sum += apart / lengths;
    }
    const Report report = heads.report();
    std::vector<SimilarHeads> pairs;
    ASSERT_TRUE(
        similar_heads(heads.view_of(heads.q), heads.view_of(heads.k), heads.options, report.rows.data(), 2, {}, &pairs)
            .ok());
    ASSERT_EQ(pairs.size(), 1U);
    // Two standard errors of an estimate from that many signs.
    EXPECT_NEAR(pairs[0].distance, sum / rows, 2 * std::sqrt(2.0 / kSigns) * sum / rows + 1e-9) << "noise " << noise;
  }
}

TEST(Words, RunsOfHeads) {
  EXPECT_EQ(names_of_heads({3}).en, "head 3");
  EXPECT_EQ(names_of_heads({3, 4}).en, "heads 3 and 4");
  EXPECT_EQ(names_of_heads({0, 1, 2, 5}).en, "heads 0-2 and 5");
  EXPECT_EQ(names_of_heads({0, 2, 4, 5, 6, 7}).en, "heads 0, 2 and 4-7");
  EXPECT_EQ(names_of_heads({0, 2, 4, 5, 6, 7}).zh, "头 0、2、4-7");
}

TEST(Words, EachOriginAndOutcomeIsTold) {
  Report report;
  report.shape.dtype = DType::f16;
  const auto told = [&](Origin origin, Outcome outcome, double value, bool overflow = false) {
    return words({.rows = 1,
                  .row = 3,
                  .origin = origin,
                  .overflow = overflow,
                  .key = origin == Origin::sink ? -1 : 7,
                  .component = 2,
                  .value = value,
                  .outcome = outcome},
                 report)
        .en;
  };
  const double inf = HUGE_VAL;
  EXPECT_EQ(told(Origin::q, Outcome::nan, std::nan("")), "row 3: component 2 of its query is NaN");
  EXPECT_EQ(told(Origin::v, Outcome::sum, -inf), "row 3: component 2 of value 7 is -inf");
  EXPECT_EQ(told(Origin::bias, Outcome::softmax, inf),
            "row 3: the bias of key 7 is +inf; the score is +inf, and softmax takes inf - inf");
  EXPECT_EQ(told(Origin::product, Outcome::softmax, inf, true),
            "row 3: q . k with key 7 overflows float32 at component 2; the score is +inf, and softmax takes inf - inf");
  EXPECT_EQ(
      told(Origin::scale, Outcome::all_lowest, -inf, true),
      "row 3: scale * (q . k) with key 7 overflows float32; every score of the row is -inf, and no weight is left");
  EXPECT_EQ(told(Origin::output, Outcome::sum, inf, true),
            "row 3: the weighted sum of finite values overflows float16 in component 2");
  EXPECT_EQ(told(Origin::k, Outcome::opposite, inf),
            "row 3: component 2 of key 7 is +inf; on the way to the score that made inf - inf or 0 * inf");
}

}  // namespace
}  // namespace foveate::insight
