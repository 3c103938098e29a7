// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate bench`: what it counts, what it prints, and its errors. Not how fast anything is.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/bench_work.h"
#include "foveate/target.h"
#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using cli::BenchWork;
using Json = nlohmann::json;

// --- What is counted ---

BenchWork work_of(int64_t n_q, int64_t n_kv) {
  return {.name = "", .shape = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = n_q, .n_kv = n_kv, .d_k = 8, .d_v = 16}};
}

/// Operations of one head, one multiply-add wide.
double pairs(const BenchWork& work) { return operations_of(work) / (2 * 4) / (2 * (8 + 16)); }

TEST(BenchWork, PairsAreThoseThatTakePart) {
  BenchWork work = work_of(3, 5);
  EXPECT_EQ(pairs(work), 15);
  work.causal = true;  // the last query sees the last key
  EXPECT_EQ(pairs(work), 3 + 4 + 5);
  work.window_left = 1;
  EXPECT_EQ(pairs(work), 2 + 2 + 2);
  work.causal = false;
  EXPECT_EQ(pairs(work), 4 + 3 + 2);
  work.window_right = 1;
  EXPECT_EQ(pairs(work), 3 + 3 + 2);
  work = work_of(5, 3);  // the first two queries stand before all keys
  work.causal = true;
  EXPECT_EQ(pairs(work), 0 + 0 + 1 + 2 + 3);
}

TEST(BenchWork, GradientsAreFiveProductsMore) {
  BenchWork work = work_of(3, 5);
  work.shape.d_v = 8;
  const double forward = operations_of(work);
  work.gradients = true;
  EXPECT_EQ(operations_of(work), 3.5 * forward);
}

TEST(BenchWork, KeysAndValuesAreCountedOnce) {
  BenchWork work = work_of(1, 5);
  EXPECT_EQ(key_bytes_of(work), 2 * 2 * 5 * (8 + 16) * 4);
  work.stored = DType::i8;
  EXPECT_EQ(key_bytes_of(work), 2 * 2 * 5 * (8 + 16));
  EXPECT_TRUE(work.decodes());
  work.gradients = true;
  EXPECT_FALSE(work.decodes());
}

TEST(BenchWork, UsualNamesAreTheirOwnAndFitTheTable) {
  std::set<std::string> names;
  for (const BenchWork& work : cli::usual_works()) {
    EXPECT_TRUE(names.insert(work.name).second) << work.name;
    EXPECT_LE(work.name.size(), 28u) << work.name;
  }
}

// --- What is printed ---

using CliBench = CliTest;

const Words kSmall = {"bench", "--shape", "1,2,1,20,30,8,8", "--seconds", "0"};

Words small_with(const Words& more) {
  Words all = kSmall;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

size_t longest_line(const std::string& text) {
  size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST_F(CliBench, FiguresBelongTogether) {
  for (const char* type : {"f64", "f32", "f16", "bf16", "int8"}) {
    const Outcome outcome =
        run(small_with({"--dtype", type, "--causal", "--target", "all", "--threads", "2", "--json"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const Json rows = Json::parse(outcome.out)["rows"];
    ASSERT_EQ(rows.size(), static_cast<size_t>(target_count()));
    for (const Json& row : rows) {
      EXPECT_EQ(row["operations"], 2 * (8 + 8) * 2 * (11 + 30) * 20 / 2) << row;
      const double best = row["best_seconds"], median = row["median_seconds"], limit = row["limit"]["seconds"];
      EXPECT_GT(best, 0) << row;
      EXPECT_LE(best, median) << row;
      EXPECT_NEAR(row["gflops"].get<double>() * best, row["operations"].get<double>() * 1e-9, 1e-15) << row;
      EXPECT_NEAR(row["share"].get<double>(), limit / best, 1e-9) << row;
      EXPECT_NEAR(row["limit"]["gflops"].get<double>() * limit, row["operations"].get<double>() * 1e-9, 1e-15) << row;
      EXPECT_GE(row["turns"], 3) << row;
      EXPECT_GE(row["calls_of_a_turn"].get<double>() * row["median_seconds"].get<double>(), 5e-5) << row;
      EXPECT_GT(row["workspace_bytes"], 0) << row;
    }
  }
}

TEST_F(CliBench, DecodingIsToldInBytes) {
  const Words call = {"bench", "--shape", "1,4,2,1,5000,64,64", "--seconds", "0", "--threads", "1"};
  Words with_json = call;
  with_json.emplace_back("--json");
  const Json row = Json::parse(run(with_json).out)["rows"][0];
  EXPECT_EQ(row["kv_bytes"], 2 * 5000 * 128 * 4);
  EXPECT_GT(row["limit"]["read_gbps"], 0);
  const Outcome outcome = run(call);
  EXPECT_NE(outcome.out.find("GB/s"), outcome.out.npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("GFLOP/s"), outcome.out.npos) << outcome.out;
}

TEST_F(CliBench, TheTableHas80Columns) {
  const Outcome outcome = run({"bench", "--filter", "N17", "--filter", "decode int8", "--seconds", "0"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LE(longest_line(outcome.out), 80u) << outcome.out;
  EXPECT_NE(outcome.out.find("f32 B64 H12 N17 d32"), outcome.out.npos) << outcome.out;
  EXPECT_NE(outcome.out.find("decode int8 32:8 N32768 d128"), outcome.out.npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("bf16 N2048"), outcome.out.npos) << outcome.out;
  const Outcome own = run(small_with({"--dtype", "bf16", "--grad", "--window", "4,0", "--threads", "1"}));
  EXPECT_TRUE(own.out.starts_with("b 1, heads 2:1, n 20:30, d 8:8\n")) << own.out;
  EXPECT_NE(own.out.find("\n  train bf16 window 4,0 "), own.out.npos) << own.out;
  EXPECT_LE(longest_line(own.out), 80u) << own.out;
}

TEST_F(CliBench, TheListIsWhatIsMeasured) {
  std::string names;
  for (const BenchWork& work : cli::usual_works()) names += work.name + "\n";
  EXPECT_EQ(run({"bench", "--list"}).out, names);
  EXPECT_EQ(run({"bench", "--list", "--filter", "N17"}).out, "f32 B64 H12 N17 d32\n");
}

TEST_F(CliBench, JsonGoesToAFileBesideTheTableOrInItsPlace) {
  const Outcome beside = run(small_with({"--threads", "1", "--json", "bench.json"}));
  EXPECT_EQ(beside.status, 0) << beside.err;
  EXPECT_NE(beside.out.find("best ms"), beside.out.npos) << beside.out;
  EXPECT_EQ(Json::parse(bytes_of("bench.json"))["rows"].size(), 1u);
  for (const Words& place : {Words{"--json"}, Words{"--json", "-"}}) {
    EXPECT_EQ(Json::parse(run(small_with(place)).out)["rows"][0]["name"], "f32");
  }
  EXPECT_EQ(files(), std::set<std::string>{"bench.json"});
}

// --- Errors ---

TEST_F(CliBench, CtrlCWritesNothing) {
  const Process process({"bench", "--seconds", "60", "--json", "bench.json"}, {.folder = folder_});
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(files(), std::set<std::string>());
}

TEST_F(CliBench, WrongCallsAreToldInOneLine) {
  const std::vector<std::pair<Words, std::string>> wrong = {
      {{"--filter", "x"}, "--filter: no work's name holds 'x' (see foveate bench --list)"},
      {{"--threads", "0"}, "--threads: '0' is not a whole number of at least 1"},
      {{"--seconds", "-1"}, "--seconds: expected 0 or more, got -1"},
      {{"--causal"}, "--causal: goes with --shape alone; --filter chooses among the usual works"},
      {{"--dtype", "bf16"}, "--dtype: goes with --shape alone; --filter chooses among the usual works"},
      {{"--shape", "1,1,1,1,1,1,0"}, "--shape: extents are at least 1, got 1,1,1,1,1,1,0"},
      {{"--shape", "1,3,2,1,1,1,1"}, "--shape: 3 query heads are no multiple of 2 key heads"},
      {{"--shape", "9999,9999,1,9999,1,9999,1"}, "--shape: more than 2^40 elements in an array"},
      {{"--shape", "1,1,1,4,4,8,8", "--grad", "--dtype", "int8"}, "--grad: int8 keys have no gradients; leave out one"},
      {{"--shape", "1,1,1,4,4,8,8", "--window", "-2,0"}, "--window: sides are at least -1, which means unlimited"},
      {{"--shape", "1,1,1,4,4,8,8", "--filter", "f32"}, "--filter: does not go with --shape; ask for one of them"},
      {{"--list", "--json"}, "--list: measures nothing; leave out --json"},
      {{"--json", "nowhere/b.json"}, "--json: nowhere/b.json: no folder nowhere; create it first"}};
  for (const auto& [words, message] : wrong) {
    Words call = {"bench"};
    call.insert(call.end(), words.begin(), words.end());
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_EQ(outcome.out, "") << message;
    EXPECT_EQ(outcome.err, "foveate bench: " + message + "\n");
  }
  EXPECT_EQ(run({"bench", "--target", "mmx"}).status, 2);
  EXPECT_EQ(run({"bench"}, {.target = "mmx"}).status, 2);
}

}  // namespace
}  // namespace foveate
