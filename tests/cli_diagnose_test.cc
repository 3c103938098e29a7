// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate diagnose`, run as a user runs it: files in, a verdict and an exit status out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/cli_fixture.h"
#include "text/width.h"

namespace foveate {
namespace {

using Json = nlohmann::json;

class CliDiagnose : public CliTest {
 protected:
  static constexpr int64_t kHeads = 2, kRows = 12, kDepth = 8;

  CliDiagnose() {
    const Extents shape = {kHeads, kRows, kDepth};
    constexpr size_t kCount = kHeads * kRows * kDepth;
    save<float>("q.npy", shape, scaled(noise(kCount, 1), 2));
    save<float>("k.npy", shape, scaled(noise(kCount, 2), 2));
    save<float>("v.npy", shape, noise(kCount, 3));
  }

  static Floats scaled(Floats all, float by) {
    for (float& x : all) x *= by;
    return all;
  }

  Outcome diagnose(const Words& more) const {
    Words all = {"diagnose", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--lang", "en"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }

  Json diagnosed(const Words& more) const {
    Words all = more;
    all.push_back("--json");
    return Json::parse(diagnose(all).out);
  }

  void expect_wrong_use(const Words& more, const std::string& message) const {
    const Outcome outcome = diagnose(more);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, "foveate diagnose: " + message + "\n");
    EXPECT_EQ(outcome.out, "");
  }

  static int widest(const std::string& text) {
    std::istringstream lines(text);
    int most = 0;
    for (std::string line; std::getline(lines, line);) most = std::max(most, text::display_width(line));
    return most;
  }
};

TEST_F(CliDiagnose, ARightResultIsStatus0) {
  expect_success({"--causal", "--out", "o.npy", "--lse", "lse.npy"});
  const Outcome outcome = diagnose({"--causal", "--out", "o.npy", "--lse", "lse.npy"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("The result is right: 192 elements within float32's rounding")) << outcome.out;
  EXPECT_NE(outcome.out.find("So is lse: 24 rows."), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CliDiagnose, AMistakeIsStatus1WithItsRemedy) {
  expect_success({"--scale", "1", "--causal", "--out", "o.npy"});
  const Outcome outcome = diagnose({"--causal", "--out", "o.npy"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("Not right. One mistake explains it:\n  The scores were not scaled. Multiply "))
      << outcome.out;
  EXPECT_NE(outcome.out.find("Compared: 24 of 24 rows."), std::string::npos) << outcome.out;
  EXPECT_LE(widest(outcome.out), 80);
}

TEST_F(CliDiagnose, WhatCannotBeToldApartIsToldTogether) {
  expect_success({"--scale", "0.125", "--out", "o.npy"});
  const Outcome outcome = diagnose({"--out", "o.npy"});
  EXPECT_NE(outcome.out.find("these arrays cannot tell them"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("- The scale was applied twice."), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("- The scores were divided by d_k"), std::string::npos) << outcome.out;
}

TEST_F(CliDiagnose, TwoMistakesAreToldAsTwo) {
  expect_success({"--scale", "1", "--out", "o.npy"});
  const Outcome outcome = diagnose({"--causal", "--out", "o.npy"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.out.starts_with("Not right. Two mistakes together explain it:\n")) << outcome.out;
  EXPECT_NE(outcome.out.find("- The causal rule was left out"), std::string::npos) << outcome.out;
  const Json json = diagnosed({"--causal", "--out", "o.npy"});
  EXPECT_EQ(json["verdict"], "two_mistakes");
  EXPECT_EQ(json["mistakes"], Json({"scale-none", "causal-forgotten"}));
}

TEST_F(CliDiagnose, SpeaksChinese) {
  expect_success({"--causal", "--window", "3,0", "--out", "o.npy"});
  const Outcome outcome = diagnose({"--causal", "--window", "4,0", "--out", "o.npy"});
  Words words = {"diagnose", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--causal", "--window", "4,0", "--out"};
  words.insert(words.end(), {"o.npy", "--lang", "zh"});
  const Outcome chinese = run(words);
  EXPECT_EQ(chinese.status, 1);
  for (const char* word : {"结果不正确", "窗口左侧少了一个键", "残差", "比较了 24 / 24 行"})
    EXPECT_NE(chinese.out.find(word), std::string::npos) << word << "\n" << chinese.out;
  EXPECT_LE(widest(chinese.out), 80);
  EXPECT_NE(outcome.out.find("one key short on the left"), std::string::npos) << outcome.out;
}

TEST_F(CliDiagnose, WhereNothingFitsItSaysWhereTheDifferenceIs) {
  expect_success({"--causal", "--out", "o.npy"});
  Floats out = values("o.npy");
  out[(kRows + 5) * kDepth + 3] += 0.25f;  // [1, 5, 3]
  save<float>("o.npy", {kHeads, kRows, kDepth}, out);
  const Outcome outcome = diagnose({"--causal", "--out", "o.npy"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.out.starts_with("Not right, and no mistake known here explains it (")) << outcome.out;
  for (const char* words :
       {"First difference: out at [1, 5, 3] is ", "1 of 24 rows differ", "Rows 6 to 11 of every head are right.",
        "Every row of these heads [b, h] is right: [0, 0]."})
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << "\n" << outcome.out;
  EXPECT_LE(widest(outcome.out), 80);
  const Json json = diagnosed({"--causal", "--out", "o.npy"});
  EXPECT_EQ(json["verdict"], "unknown");
  EXPECT_EQ(json["mistakes"], Json::array());
  EXPECT_EQ(json["first_difference"]["array"], "out");
  EXPECT_EQ(json["first_difference"]["index"], Json({1, 5, 3}));
  EXPECT_EQ(json["differing_rows"], 1);
  EXPECT_NEAR(json["largest_difference"].get<double>(), 0.25, 1e-5);
  EXPECT_EQ(json["right_rows"]["of_every_head"], Json({6, 11}));
}

TEST_F(CliDiagnose, AMistakeInOneHeadIsToldWithWhereItIs) {
  expect_success({"--causal", "--out", "o.npy"});
  const Floats right = values("o.npy");
  expect_success({"--causal", "--scale", "1", "--out", "o.npy"});
  Floats out = values("o.npy");
  std::copy_n(right.begin(), kRows * kDepth, out.begin());
  save<float>("o.npy", {kHeads, kRows, kDepth}, out);
  const Outcome outcome = diagnose({"--causal", "--out", "o.npy"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(
      outcome.out.starts_with("Not right. Where it is wrong (11 of 24 rows: heads [b, h] [0, 1]; rows 1 to 11)"))
      << outcome.out;
  EXPECT_NE(outcome.out.find("  The scores were not scaled."), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Compared: 11 of 11 rows."), std::string::npos) << outcome.out;
  EXPECT_LE(widest(outcome.out), 80);
  const Json json = diagnosed({"--causal", "--out", "o.npy"});
  EXPECT_EQ(json["verdict"], "mistake");
  EXPECT_EQ(json["scope"], "wrong_rows");
  EXPECT_EQ(json["wrong_rows"]["heads"], Json({{0, 1}}));
}

TEST_F(CliDiagnose, FiguresAreOfWhatIsWrong) {
  expect_success({"--causal", "--out", "o.npy", "--lse", "lse.npy"});
  const Floats right = values("o.npy"), lse = values("lse.npy");
  const auto told = [this](const Floats& out, const Words& more = {}) {
    save<float>("o.npy", {kHeads, kRows, kDepth}, out);
    Words words = {"--causal", "--out", "o.npy"};
    words.insert(words.end(), more.begin(), more.end());
    return diagnose(words).out;
  };
  Floats out = right;
  for (const int64_t row : {int64_t{5}, kRows + 5}) out[row * kDepth] = std::numeric_limits<float>::quiet_NaN();
  std::string text = told(out);
  EXPECT_NE(text.find("Row 5 of every head has NaN or infinities where"), std::string::npos) << text;
  EXPECT_EQ(text.find("Largest difference"), std::string::npos) << text;
  out = right;
  out[7 * kDepth] = std::numeric_limits<float>::infinity();
  text = told(out);
  EXPECT_NE(text.find("1 row has NaN or infinities where"), std::string::npos) << text;
  text = told(Floats(out.size(), 0));
  EXPECT_NE(text.find("out is 0 everywhere: was it never written?"), std::string::npos) << text;
  text = told(scaled(right, 1.5F));
  EXPECT_NE(text.find("out is the right result times 1.5."), std::string::npos) << text;
  save<float>("lse.npy", {kHeads, kRows}, scaled(lse, 1 / std::log(2.0F)));
  text = told(right, {"--lse", "lse.npy"});
  EXPECT_NE(text.find("lse is the logarithm to base 2"), std::string::npos) << text;
  EXPECT_NE(text.find("out is right; lse is not.\nResidual of lse "), std::string::npos) << text;
  EXPECT_NE(text.find("(without it "), std::string::npos) << text;
  Floats one = lse;
  one[3] += 0.5F;
  save<float>("lse.npy", {kHeads, kRows}, one);
  text = told(right, {"--lse", "lse.npy"});
  EXPECT_NE(text.find("out is right; lse is not. 1 of 24 rows differ. Largest"), std::string::npos) << text;
}

TEST_F(CliDiagnose, In16BitsItSaysWhatWouldGoUnnoticed) {
  expect_success({"--dtype", "bf16", "--out", "o.npy"});
  const Outcome outcome = diagnose({"--dtype", "bf16", "--out", "o.npy"});
  EXPECT_NE(outcome.out.find("In bfloat16 an element that is off by "), std::string::npos) << outcome.out;
}

TEST_F(CliDiagnose, IndicesAreThoseOfTheFileInEitherLayout) {
  const Extents shape = {kRows, kHeads, kDepth};
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) save<float>(name, shape, values(name));
  expect_success({"--layout", "bnhd", "--out", "o.npy", "--lse", "lse.npy"});
  Floats out = values("o.npy"), lse = values("lse.npy");
  EXPECT_EQ(diagnose({"--layout", "bnhd", "--out", "o.npy", "--lse", "lse.npy"}).status, 0);
  out[(5 * kHeads + 1) * kDepth + 3] = std::numeric_limits<float>::quiet_NaN();
  save<float>("o.npy", shape, out);
  Json first = diagnosed({"--layout", "bnhd", "--out", "o.npy"})["first_difference"];
  EXPECT_EQ(first["index"], Json({5, 1, 3}));
  EXPECT_EQ(first["got"], "NaN");
  expect_success({"--layout", "bnhd", "--out", "o.npy"});
  lse[kRows + 7] += 1;
  save<float>("lse.npy", {kHeads, kRows}, lse);
  first = diagnosed({"--layout", "bnhd", "--out", "o.npy", "--lse", "lse.npy"})["first_difference"];
  EXPECT_EQ(first["array"], "lse");
  EXPECT_EQ(first["index"], Json({1, 7}));
}

TEST_F(CliDiagnose, JsonHasAllOfTheVerdict) {
  expect_success({"--scale", "1", "--out", "o.npy"});
  const Json json = diagnosed({"--out", "o.npy"});
  EXPECT_EQ(json["verdict"], "mistake");
  EXPECT_EQ(json["mistakes"], Json({"scale-none"}));
  const Json& explanation = json["explanations"][0];
  EXPECT_LT(explanation["residual"].get<double>(), 1e-5);
  EXPECT_EQ(explanation["rows_compared"], 24);
  EXPECT_EQ(explanation["mistakes"][0]["name"], "the scores were not scaled");
  EXPECT_FALSE(explanation["mistakes"][0]["remedy_zh"].get<std::string>().empty());
  EXPECT_EQ(json["precision"], "float32");
  EXPECT_GT(json["largest_difference"].get<double>(), 0.01);
  EXPECT_EQ(json["dropout"], nullptr);
}

TEST_F(CliDiagnose, TypesAndContainersAreReadAsAttendReadsThem) {
  expect_success({"--dtype", "bf16", "--out", "o.npy"});
  EXPECT_EQ(diagnose({"--dtype", "bf16", "--out", "o.npy"}).status, 0);
  Outcome outcome = diagnose({"--out", "o.npy"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("computed in, or rounded to, bfloat16"), std::string::npos) << outcome.out;
  expect_success({"--out", "all.safetensors", "--lse", "all.safetensors"});
  outcome = diagnose({"--in", "all.safetensors", "--out", "out", "--lse", "lse"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(CliDiagnose, WrongUseIsOneLine) {
  expect_success({"--out", "o.npy", "--lse", "lse.npy"});
  expect_wrong_use({}, "--out: missing; give the result that is to be judged, a .npy file");
  expect_wrong_use({"--out", "none.npy"}, "--out: none.npy: No such file or directory");
  expect_wrong_use({"--out", "lse.npy"}, "--out: shape [2, 12], expected [2, 12, 8]");
  expect_wrong_use({"--out", "o.npy", "--lse", "o.npy"}, "--lse: shape [2, 12, 8], expected [2, 12]");
  save<float>("t.npy", {kRows, kHeads, kDepth}, values("o.npy"));
  expect_wrong_use({"--out", "t.npy"}, "--out: shape [12, 2, 8], expected [2, 12, 8]; is this --layout bnhd?");
  save<float>("l.npy", {kHeads, kRows, 1}, values("lse.npy"));
  expect_wrong_use({"--out", "o.npy", "--lse", "l.npy"}, "--lse: shape [2, 12, 1], expected [2, 12]; save lse[..., 0]");
  save<float>("m.npy", {kRows, kHeads * kDepth}, values("o.npy"));
  expect_wrong_use({"--out", "m.npy"},
                   "--out: shape [12, 16], expected [2, 12, 8]; heads are merged: save out.reshape(12, 2, "
                   "8).transpose(1, 0, 2)");
  save<int32_t>("i.npy", {kHeads, kRows, kDepth}, std::vector<int32_t>(kHeads * kRows * kDepth, 1));
  expect_wrong_use({"--out", "i.npy"}, "--out: int32 elements, not floats; save it with astype('float32')");
  save<float>("k.npy", {kHeads, kRows, 4}, Floats(kHeads * kRows * 4, 1));
  expect_wrong_use({"--out", "o.npy"}, "k: head dim 4 does not equal q's 8");
}

TEST_F(CliDiagnose, OptionsOfOtherAttentionAreUnknown) {
  expect_success({"--out", "o.npy"});
  for (const char* option : {"--score", "--dropout"}) {
    const Outcome outcome = diagnose({"--out", "o.npy", option, "0.5"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find(std::string("unexpected '") + option), std::string::npos) << outcome.err;
  }
}

TEST_F(CliDiagnose, HelpTellsTheExitStatus) {
  const Outcome outcome = run({"diagnose", "--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("Exit status:\n  0    the result is right\n  1    it is not;"), std::string::npos);
}

}  // namespace
}  // namespace foveate
