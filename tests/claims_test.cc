// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Each claim, measured quickly: the verdict is the one recorded; texts are there in both languages, and figures are
// drawn.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "claims/claim.h"
#include "claims/pairwise.h"
#include "tests/quick_evidence.h"

namespace foveate::claims {
namespace {

bool has_chinese(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0xE4 && static_cast<unsigned char>(c) <= 0xE9) return true;
  }
  return false;
}

void expect_both(const Text& text, const std::string& where) {
  EXPECT_FALSE(text.en.empty()) << where;
  EXPECT_FALSE(has_chinese(text.en)) << where << ": " << text.en;
  EXPECT_TRUE(has_chinese(text.zh)) << where << ": " << text.zh;
  EXPECT_EQ(text.en.find('{'), text.en.npos) << where << ": a number is missing: " << text.en;
  EXPECT_EQ(text.zh.find('{'), text.zh.npos) << where << ": a number is missing: " << text.zh;
}

class Claims : public testing::TestWithParam<size_t> {
 protected:
  const Claim& claim() const { return all_claims()[GetParam()]; }
};

TEST_P(Claims, QuicklyComeToTheRecordedVerdict) {
  const Evidence& evidence = quick_evidence(claim());
  const Judgement judgement = claim().judge(evidence);
  if (!claim().timed) {
    EXPECT_EQ(text_of(judgement.verdict).en, text_of(claim().recorded).en)
        << judgement.figure.en << "; " << judgement.why.en;
  }
  expect_both(judgement.figure, claim().name);
  expect_both(judgement.why, claim().name);
  for (const Series& series : evidence.all()) {
    expect_both(series.what, series.name);
    ASSERT_FALSE(series.points.empty()) << series.name;
    for (const Point& point : series.points) {
      EXPECT_TRUE(std::isfinite(point.estimate.value)) << series.name;
      EXPECT_LE(point.estimate.low, point.estimate.value) << series.name;
      EXPECT_GE(point.estimate.high, point.estimate.value) << series.name;
      EXPECT_GE(point.estimate.samples, 1) << series.name;
    }
  }
  for (const Language language : {Language::en, Language::zh}) {
    const std::string figure = svg(claim().plot(evidence), language);
    EXPECT_EQ(figure.find("nan"), figure.npos) << claim().name;
    EXPECT_EQ(figure.find("inf"), figure.npos) << claim().name;
    EXPECT_TRUE(figure.ends_with("</svg>\n"));
    EXPECT_EQ(has_chinese(figure.substr(figure.find("</style>"))), language == Language::zh);
  }
}

TEST_P(Claims, AreWrittenInBothLanguages) {
  expect_both(claim().says, claim().name);
  expect_both(claim().expectation, claim().name);
  EXPECT_GT(claim().seconds, 0);
}

TEST_P(Claims, StopWhenAskedTo) {
  const std::atomic<bool> stop = true;
  EXPECT_THROW(claim().measure({.quick = true, .stop = &stop}), Stopped);
}

INSTANTIATE_TEST_SUITE_P(All, Claims, testing::Range<size_t>(0, all_claims().size()),
                         [](const testing::TestParamInfo<size_t>& one) {
                           std::string name = all_claims()[one.param].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ClaimsRegistry, NamesAreUniqueAndFamiliesStandTogether) {
  std::set<std::string> names, closed;
  std::string family;
  for (const Claim& claim : all_claims()) {
    EXPECT_TRUE(names.insert(claim.name).second) << claim.name;
    if (claim.family == family) continue;
    EXPECT_TRUE(closed.insert(claim.family).second) << claim.family << " comes twice";
    family = claim.family;
  }
  for (const std::string& name : closed) EXPECT_FALSE(names.contains(name)) << name << " is a claim and a family";
}

TEST(ClaimsRun, ASeedFixesWhatIsMeasured) {
  const auto disorder = [](uint64_t seed) {
    return all_claims()[1].measure({.seed = seed, .quick = true}).series("disorder").points.front().estimate.value;
  };
  EXPECT_EQ(disorder(5), disorder(5));
  EXPECT_NE(disorder(5), disorder(6));
}

// Scores of two keys by hand: 1 and 0, so weights e / (e + 1) and 1 / (e + 1).
TEST(ClaimsPairwise, TheLoopIsAttention) {
  const float q[] = {1, 0, 1, 0}, k[] = {1, 0, 0, 1}, v[] = {4, 0, 0, 8};
  float scores[2], o[4];
  attend_by_pairs_of_float(q, k, v, 2, 2, 1, scores, o);
  const double first = std::exp(1) / (std::exp(1) + 1);
  for (const int row : {0, 1}) {
    EXPECT_NEAR(o[2 * row], 4 * first, 1e-6);
    EXPECT_NEAR(o[2 * row + 1], 8 * (1 - first), 1e-6);
  }
}

}  // namespace
}  // namespace foveate::claims
