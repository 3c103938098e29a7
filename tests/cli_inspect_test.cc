// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate inspect` and `attend --stats`: figures by hand, words, pictures, and what is refused.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using nlohmann::json;

class CliInspect : public CliTest {
 protected:
  Outcome inspect(const Words& more) const {
    Words all = {"inspect", "--q", "q.npy", "--k", "k.npy"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }

  json inspect_json(Words more) const {
    more.emplace_back("--json");
    const Outcome outcome = inspect(more);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }

  /// Four heads of 70 queries and keys; the third leans on key 0.
  void save_heads() {
    Floats q = noise(4 * 70 * 16, 1), k = noise(4 * 70 * 16, 2);
    for (size_t c = 0; c < 16; ++c) {
      for (size_t i = 0; i < 70; ++i) q[(2 * 70 + i) * 16 + c] += 2;
      k[2 * 70 * 16 + c] = 2;
    }
    save<float>("q.npy", {4, 70, 16}, q);
    save<float>("k.npy", {4, 70, 16}, k);
    save<float>("v.npy", {4, 70, 16}, noise(4 * 70 * 16, 3));
  }

  void expect_refused(const Words& more, const std::string& message) const {
    const std::set<std::string> before = files();
    const Outcome outcome = inspect(more);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "foveate inspect: " + message + "\n");
    EXPECT_EQ(files(), before);
  }
};

TEST_F(CliInspect, FiguresOfTwoKeysByHand) {
  save_two_keys();
  const json all = inspect_json({"--rows", "all", "--keys", "all", "--sink-keys", "1"});
  const json& head = all["heads"][0];
  const double ln3 = std::log(3.0), entropy = std::log(4.0) - 0.75 * ln3;
  EXPECT_NEAR(head["variance_before_scaling"], ln3 * ln3 / 4, 1e-6);
  EXPECT_NEAR(head["entropy_mean"], entropy, 1e-6);
  EXPECT_NEAR(head["effective_keys_mean"], std::exp(entropy), 1e-6);
  EXPECT_NEAR(head["lse_mean"], std::log(4.0), 1e-6);
  EXPECT_NEAR(head["jacobian_mean"], 0.375, 1e-6);
  EXPECT_NEAR(head["first_key_mass"], 0.25, 1e-6);
  EXPECT_NEAR(head["sink_keys_mass"], 0.75, 1e-6);
  EXPECT_TRUE(head["sink_mass"].is_null());
  EXPECT_EQ(head["largest_weight"]["key"], 1);
  EXPECT_NEAR(head["largest_weight"]["value"], 0.75, 1e-6);
  EXPECT_EQ(head["most_received"][0]["key"], 1);
  EXPECT_TRUE(head["trace"].is_null());
  EXPECT_EQ(all["rows"].size(), 1U);
  EXPECT_EQ(all["rows"][0]["top"][0]["key"], 1);
  EXPECT_NEAR(all["rows"][0]["top"][1]["weight"], 0.25, 1e-6);
  EXPECT_NEAR(all["keys"][1]["mass"], 0.75, 1e-6);
  EXPECT_EQ(all["findings"].size(), 0U);
}

/// A variance before scaling is that of q . k, whatever the scale.
TEST_F(CliInspect, ScaleDividesOut) {
  save_heads();
  const json one = inspect_json({}), other = inspect_json({"--scale", "3"});
  for (size_t head = 0; head < 4; ++head) {
    const double want = one["heads"][head]["variance_before_scaling"];
    EXPECT_NEAR(other["heads"][head]["variance_before_scaling"], want, 1e-4 * want);
    EXPECT_NEAR(other["heads"][head]["variance_after_scaling"], 9 * want, 1e-3 * want);
  }
  // Of a scale of 0 the products cannot be had back.
  EXPECT_TRUE(inspect_json({"--scale", "0"})["heads"][0]["variance_before_scaling"].is_null());
}

TEST_F(CliInspect, SaysWhatStandsOutInBothLanguages) {
  save_heads();
  const Outcome english = inspect({"--lang", "en", "--rows", "3,4", "--keys", "0"});
  EXPECT_EQ(english.status, 0) << english.err;
  EXPECT_NE(english.out.find("  * head 2 puts "), std::string::npos) << english.out;
  EXPECT_NE(english.out.find("an attention sink."), std::string::npos) << english.out;
  EXPECT_NE(english.out.find("largest weights, key (weight)"), std::string::npos);
  const Outcome chinese = inspect({"--lang", "zh"});
  EXPECT_NE(chinese.out.find("值得注意\n  * 头 2 把"), std::string::npos) << chinese.out;
  Floats q = noise(4 * 70 * 16, 1);
  for (float& x : q) x *= 3;
  save<float>("q.npy", {4, 70, 16}, q);
  save<float>("k.npy", {4, 70, 16}, noise(4 * 70 * 16, 2));
  EXPECT_NE(inspect({"--lang", "en"}).out.find("Nothing stands out."), std::string::npos);
}

TEST_F(CliInspect, AsksWhetherAxesAreExchanged) {
  save<float>("q.npy", {64, 4, 8}, noise(64 * 4 * 8, 1));
  save<float>("k.npy", {64, 4, 8}, noise(64 * 4 * 8, 2));
  EXPECT_NE(inspect({"--lang", "en"}).out.find("is this --layout bnhd?"), std::string::npos);
  EXPECT_EQ(inspect({"--lang", "en", "--layout", "bnhd"}).out.find("--layout"), std::string::npos);
}

TEST_F(CliInspect, LinesFitTheTerminal) {
  save_heads();
  for (const char* lang : {"en", "zh"}) {
    std::istringstream lines(inspect({"--lang", lang, "--sink-keys", "0,1"}).out);
    for (std::string line; std::getline(lines, line);) {
      int columns = 0;
      for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0u) != 0x80;
      EXPECT_LE(columns, 80) << line;
    }
  }
}

TEST_F(CliInspect, TracesNaNThroughKeysAndValues) {
  save_heads();
  Floats v = noise(4 * 70 * 16, 3);
  v[(1 * 70 + 9) * 16 + 5] = std::nanf("");
  save<float>("v.npy", {4, 70, 16}, v);
  const json all = inspect_json({"--v", "v.npy", "--causal"});
  EXPECT_EQ(all["heads"][1]["trace"]["origin"], "v");
  EXPECT_EQ(all["heads"][1]["trace"]["query"], 9);
  EXPECT_EQ(all["heads"][1]["trace"]["key"], 9);
  EXPECT_EQ(all["heads"][1]["trace"]["component"], 5);
  EXPECT_EQ(all["heads"][1]["trace"]["rows"], 61);
  EXPECT_TRUE(all["heads"][0]["trace"].is_null());
  EXPECT_TRUE(inspect_json({"--causal"})["heads"][1]["trace"].is_null());  // nobody gave v
}

TEST_F(CliInspect, Pictures) {
  save_heads();
  EXPECT_EQ(inspect({"--figure", "f.svg", "--lang", "en"}).status, 0);
  const std::string svg = bytes_of("f.svg");
  for (const char* part : {"<svg ", "head 3", "query i", "key j", "data:image/png;base64,", "</svg>\n"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(inspect({"--figure", "f.png", "--pool", "mean", "--lang", "zh"}).status, 0);
  const std::string png = bytes_of("f.png");
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_GT(png.size(), 10000U);
  // One query, as in decoding, and one key.
  save<float>("q.npy", {4, 1, 16}, noise(64, 1));
  EXPECT_EQ(inspect({"--figure", "one.png"}).status, 0);
}

TEST_F(CliInspect, PicturesOfManyHeads) {
  save<float>("q.npy", {400, 2, 1}, Floats(800, 1.0f));
  save<float>("k.npy", {400, 2, 1}, Floats(800, 1.0f));
  EXPECT_EQ(inspect({"--figure", "f.svg"}).status, 0);
  expect_refused(
      {"--figure", "f.png"},
      "--figure: 400 heads make a picture of 3028 x 69892 pixels, more than 32767 along an axis; name it .svg");
}

TEST_F(CliInspect, StatsAreTheSameFigures) {
  save_heads();
  expect_success({"--causal", "--out", "o.npy", "--stats", "s.json"});
  EXPECT_EQ(json::parse(bytes_of("s.json")), inspect_json({"--v", "v.npy", "--causal"}));
  EXPECT_EQ(load("o.npy").shape, (Extents{4, 70, 16}));
  expect_success({"--stats", "alone.json"});
  const Outcome linear = attend({"--score", "linear", "--out", "o.npy", "--stats", "s.json"});
  EXPECT_EQ(linear.err, "foveate attend: --stats: does not go with --score linear; leave it out\n");
}

TEST_F(CliInspect, EmptyAndOddShapes) {
  save<float>("q.npy", {2, 0, 4}, {});
  save<float>("k.npy", {2, 3, 4}, noise(24, 1));
  EXPECT_TRUE(inspect_json({})["heads"][1]["entropy_mean"].is_null());
  EXPECT_EQ(inspect({}).status, 0);
  save<float>("q.npy", {2, 3, 4}, noise(24, 1));
  save<float>("k.npy", {2, 0, 4}, {});
  EXPECT_EQ(inspect_json({})["heads"][0]["empty"], 3);
  expect_refused({"--figure", "f.svg"}, "--figure: no heads, no queries or no keys to draw; leave it out");
}

TEST_F(CliInspect, RefusedInOneLine) {
  save_heads();
  expect_refused({"--rows", "70"}, "--rows: 70: there are 70 queries, counted from 0");
  expect_refused({"--rows", "9223372036854775807"},
                 "--rows: 9223372036854775807: there are 70 queries, counted from 0");
  expect_refused({"--rows", "0,9223372036854775807"},
                 "--rows: 0,9223372036854775807: there are 70 queries, counted from 0");
  expect_refused({"--keys", ""}, "--keys: '' is not a whole number of at least 0");
  expect_refused({"--rows", "5,4"}, "--rows: 5,4: expected all, N, or FIRST,LAST with 0 <= FIRST <= LAST");
  expect_refused({"--keys", "0,70"}, "--keys: 0,70: there are 70 keys, counted from 0");
  expect_refused({"--keys", "first"}, "--keys: 'first' is not a whole number of at least 0");
  expect_refused({"--sink-keys", "0,99"}, "--sink-keys: 99: there are 70 keys, counted from 0");
  expect_refused({"--sink-keys", "0,"}, "--sink-keys: '' is not a whole number of at least 0");
  expect_refused({"--top", "5"}, "--top: no --rows; give the queries whose largest weights are wanted");
  expect_refused({"--top", "0"}, "--top: '0' is not a whole number of at least 1");
  expect_refused({"--top", "2000"}, "--top: 2000; at most 1024");
  expect_refused({"--figure", "f.pdf"}, "--figure: f.pdf: expected a name ending in .svg or .png");
  expect_refused({"--figure", "nowhere/f.svg"}, "--figure: nowhere/f.svg: no folder nowhere; create it first");
  expect_refused({"--pool", "min"}, "--pool: 'min' is none of max, mean");
  expect_refused({"--lang", "fr"}, "--lang: 'fr' is none of en, zh");
  expect_refused({"--mask", "q.npy"},
                 "mask: dtype float32 is not bool; convert it by astype(bool) (true = takes part), or pass it as bias");
  save<float>("k.npy", {4, 70, 15}, noise(4 * 70 * 15, 2));
  expect_refused({}, "k: head dim 15 does not equal q's 16");
  const Outcome missing = run({"inspect", "--q", "q.npy"});
  EXPECT_EQ(missing.err,
            "foveate inspect: --k: missing; give --q and --k, each a .npy or .safetensors file, or --in\n");
}

}  // namespace
}  // namespace foveate
