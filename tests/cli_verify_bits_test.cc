// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate verify-bits`: that all ways agree here, what it says of ways that do not, and its errors.
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "cli/row_bits.h"
#include "cli/row_ways.h"
#include "cli/verify_bits.h"
#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using cli::BitDifference;
using cli::RowBits;
using cli::StoredType;
using cli::Way;
using Json = nlohmann::json;

// --- The judge ---

/// Rows of ones.
RowBits ones(DType dtype) {
  RowBits rows(dtype, 2, 3, 4);
  const auto fill = [](std::vector<std::byte>& bytes, DType of) {
    for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(size_of(of))) {
      const double wide = 1;
      const float narrow = 1;
      if (of == DType::f64) std::memcpy(&bytes[at], &wide, sizeof(wide));
      if (of == DType::f32) std::memcpy(&bytes[at], &narrow, sizeof(narrow));
      if (of == DType::bf16) std::memcpy(&bytes[at], &std::bit_cast<std::array<std::byte, 4>>(narrow)[2], 2);
    }
  };
  fill(rows.o, rows.o_dtype);
  fill(rows.lse, rows.lse_dtype);
  return rows;
}

/// Flips the lowest bit of o's element, or of lse.
void plant_in_o(RowBits& rows, int64_t head, int64_t row, int64_t element) {
  rows.o[static_cast<size_t>(((head * 3 + row) * 4 + element) * size_of(rows.o_dtype))] ^= std::byte{1};
}
void plant_in_lse(RowBits& rows, int64_t head, int64_t row) {
  rows.lse[static_cast<size_t>((head * 3 + row) * size_of(rows.lse_dtype))] ^= std::byte{1};
}

TEST(RowBits, EqualRowsHaveOneHashAndNoDifference) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    EXPECT_EQ(hash_of(ones(dtype)), hash_of(ones(dtype)));
    EXPECT_FALSE(first_difference(ones(dtype), ones(dtype)));
  }
}

// The published vector of FNV-1a: "foobar" gives 85944171f73967e8.
TEST(RowBits, TheHashIsFnv1a) {
  RowBits rows(DType::bf16, 1, 1, 1);
  for (const char c : std::string("foob")) rows.o.push_back(static_cast<std::byte>(c));
  rows.o.erase(rows.o.begin(), rows.o.begin() + 2);
  rows.lse = {std::byte{'a'}, std::byte{'r'}};
  EXPECT_EQ(hash_of(rows), 0x85944171f73967e8);
}

TEST(RowBits, APlantedDifferenceIsFoundWhereItIs) {
  const auto words_for = [](DType dtype, const auto& plant) {
    RowBits got = ones(dtype);
    plant(got);
    EXPECT_NE(hash_of(got), hash_of(ones(dtype)));
    const auto found = first_difference(ones(dtype), got);
    return found ? words_of(*found) : std::string("none");
  };
  const auto o = [](int64_t head, int64_t row, int64_t element) {
    return [=](RowBits& rows) { plant_in_o(rows, head, row, element); };
  };
  EXPECT_EQ(words_for(DType::f32, o(1, 2, 3)), "row 2, head 1: o[3] is 0x3f800001, not 0x3f800000");
  EXPECT_EQ(words_for(DType::f64, o(0, 1, 0)), "row 1, head 0: o[0] is 0x3ff0000000000001, not 0x3ff0000000000000");
  EXPECT_EQ(words_for(DType::bf16, o(0, 0, 2)), "row 0, head 0: o[2] is 0x3f81, not 0x3f80");
  EXPECT_EQ(words_for(DType::bf16, [](RowBits& rows) { plant_in_lse(rows, 1, 1); }),
            "row 1, head 1: lse is 0x3f800001, not 0x3f800000");
}

TEST(RowBits, TheFirstRowIsToldThenTheFirstHeadThenO) {
  RowBits got = ones(DType::f32);
  plant_in_o(got, 0, 2, 0);  // first in memory
  plant_in_lse(got, 0, 1);
  plant_in_o(got, 1, 1, 3);
  EXPECT_EQ(words_of(*first_difference(ones(DType::f32), got)), "row 1, head 0: lse is 0x3f800001, not 0x3f800000");
  plant_in_o(got, 0, 1, 3);
  EXPECT_EQ(words_of(*first_difference(ones(DType::f32), got)), "row 1, head 0: o[3] is 0x3f800001, not 0x3f800000");
}

TEST(RowBits, WaysThatDifferAreNamed) {
  cli::TypeVerdict verdict("avx2", cli::kStoredTypes[1]);
  verdict.add({}, ones(DType::f32));
  verdict.add({.threads = 2}, ones(DType::f32));
  EXPECT_TRUE(verdict.same());
  EXPECT_EQ(verdict.differences_text(), "");
  RowBits other = ones(DType::f32);
  plant_in_o(other, 1, 2, 3);
  verdict.add({Way::Feed::tokens, Way::Keys::cache, 16, Way::Company::padded, 2}, other);
  EXPECT_FALSE(verdict.same());
  EXPECT_NE(verdict.table_row().find("1 way differs"), std::string::npos) << verdict.table_row();
  EXPECT_EQ(verdict.differences_text(),
            "\nfloat32 (avx2): other bits than\n"
            "  one prompt, plain arrays, alone, 1 thread\n"
            "have\n"
            "  token by token, a KvCache in pages of 16, in a padded batch, 2 threads\n"
            "    row 2, head 1: o[3] is 0x3f800001, not 0x3f800000\n");
  const Json json = verdict.json();
  EXPECT_EQ(json["same"], false);
  EXPECT_EQ(json["ways"], 3);
  ASSERT_EQ(json["different"].size(), 1u);
  EXPECT_EQ(json["different"][0]["output"], "o");
  EXPECT_EQ(json["different"][0]["row"], 2);
  EXPECT_NE(json["different"][0]["hash"], json["hash"]);
}

TEST(RowWays, EachWayIsNamedOnce) {
  for (const std::vector<int>& threads : {std::vector<int>{1}, {1, 2}, {1, 2, 3, 4, 8, 12}}) {
    std::set<std::string> names;
    const std::vector<Way> ways = cli::ways_with(threads);
    for (const Way& way : ways) {
      names.insert(name_of(way));
      EXPECT_TRUE(std::find(threads.begin(), threads.end(), way.threads) != threads.end()) << name_of(way);
    }
    EXPECT_EQ(names.size(), ways.size());
  }
}

// --- The command ---

class CliVerifyBits : public CliTest {
 protected:
  Json report(const Words& more) const {
    Words words = {"verify-bits", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.out;
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out);
  }

  /// A run takes half a minute and more under a sanitizer; the engine's own tests go every way there.
  void SetUp() override {
#ifdef FOVEATE_SANITIZED_MEMORY
    if (testing::UnitTest::GetInstance()->current_test_info()->name() != std::string("Errors"))
      GTEST_SKIP() << "too slow under a sanitizer";
#endif
    CliTest::SetUp();
  }

  static std::vector<std::string> hashes(const Json& report) {
    std::vector<std::string> all;
    for (const Json& result : report["results"]) all.push_back(result["hash"]);
    return all;
  }
};

TEST_F(CliVerifyBits, EachTypeAgreesInEveryWayAndRunAndNumberOfThreads) {
  const Outcome outcome = run({"verify-bits"});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("Every row has one result"), std::string::npos) << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;

  const Json one = report({"--threads", "1"});
  EXPECT_EQ(one["threads"], Json({1}));
  EXPECT_EQ(one["seed"], 1);
  EXPECT_EQ(one["same"], true);
  EXPECT_EQ(one["sequence"]["n"], cli::WaySizes::n);
  ASSERT_EQ(one["results"].size(), std::size(cli::kStoredTypes));
  for (size_t i = 0; i < std::size(cli::kStoredTypes); ++i) {
    const Json& result = one["results"][i];
    EXPECT_EQ(result["type"], cli::kStoredTypes[i].name);
    EXPECT_EQ(result["same"], true);
    EXPECT_EQ(result["different"], Json::array());
    EXPECT_EQ(result["ways"], one["ways"].size());
    const std::regex row("\n  " + std::string(cli::kStoredTypes[i].name) + " +[0-9]+  " +
                         result["hash"].get<std::string>() + "   same\n");
    EXPECT_TRUE(std::regex_search(outcome.out, row)) << result << '\n' << outcome.out;
  }
}

TEST_F(CliVerifyBits, AnotherSeedAnotherSequence) {
  const Json info = Json::parse(run({"info", "--json"}).out);
  const std::string target = info["targets"][info["targets"].size() > 1 ? 1 : 0];
  const Json two = report({"--seed", "2", "--target", target}), three = report({"--seed", "3", "--target", target});
  for (const Json& result : two["results"]) EXPECT_EQ(result["target"], target);
  // And one type is not another.
  const std::vector<std::string> ours = hashes(two), theirs = hashes(three);
  std::set<std::string> distinct(ours.begin(), ours.end());
  distinct.insert(theirs.begin(), theirs.end());
  EXPECT_EQ(distinct.size(), 2 * std::size(cli::kStoredTypes));
}

TEST_F(CliVerifyBits, CtrlC) {
  const Process process({"verify-bits", "--target", "all"}, {.folder = folder_});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  // Before its first line a process dies of the signal, which a shell calls 130 too.
  EXPECT_TRUE(outcome.status == 130 || outcome.status == -SIGINT) << outcome.status;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CliVerifyBits, Errors) {
  const std::string help = " (see foveate verify-bits --help)\n";
  const auto expect_error = [&](Words words, const std::string& message) {
    words.insert(words.begin(), "verify-bits");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "foveate verify-bits: " + message);
  };
  expect_error({"--seed", "-1"}, "--seed: '-1' is not a whole number from 0 to 2^64 - 1\n");
  expect_error({"--threads", "0"}, "--threads: '0' is not a whole number of at least 1\n");
  expect_error({"--target"}, "--target: no value given" + help);
  expect_error({"--sed", "1"}, "unexpected '--sed'; did you mean --seed?" + help);
  expect_error({"--json", "--json"}, "--json: given more than once" + help);
  const Outcome unknown = run({"verify-bits", "--target", "mmx"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(
      unknown.err.starts_with("foveate verify-bits: --target: this processor has no target 'mmx'; it has auto, "))
      << unknown.err;
  EXPECT_EQ(run({"verify-bits"}, {.target = "mmx"}).status, 2);
}

}  // namespace
}  // namespace foveate
