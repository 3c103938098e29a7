// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Names of targets, and the two ways to choose one. The environment is read once a process, so those tests start this
// program again.
#include "foveate/target.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "foveate/attention.h"
#include "tests/call.h"

namespace foveate {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (int64_t i = 0; i < target_count(); ++i) all.push_back(target_name(i));
  return all;
}

/// "auto, avx512, avx2"
std::string listed() {
  std::string list = "auto";
  for (const std::string& name : names()) list += ", " + name;
  return list;
}

class Target : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(pin_target(nullptr).ok()); }
};

TEST_F(Target, ThereIsOne) {
  ASSERT_GE(target_count(), 1);
  EXPECT_NE(active_target(), nullptr);
}

TEST_F(Target, NamesAreDistinctWordsInLowerCase) {
  const std::vector<std::string> all = names();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  for (const std::string& name : all) {
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-"), std::string::npos) << name;
  }
  EXPECT_EQ(target_name(target_count()), nullptr);
  EXPECT_EQ(target_name(-1), nullptr);
}

TEST_F(Target, EachCanBePinnedAndComputes) {
  const Problem<float> problem({.n_q = 20, .n_kv = 100, .d_k = 8, .d_v = 5}, kPlain);
  const Result<float> best = attend<float>(problem.call);
  for (const std::string& name : names()) {
    ASSERT_TRUE(pin_target(name.c_str()).ok());
    EXPECT_EQ(active_target(), name);
    const Result<float> result = attend<float>(problem.call);
    for (size_t i = 0; i < best.o.size(); ++i) EXPECT_NEAR(result.o[i], best.o[i], 1e-5) << name;
    AttentionPlan plan;
    ASSERT_TRUE(attention_plan({.n_q = 1000}, 1, &plan).ok());
    EXPECT_GE(plan.tile_rows, 3) << name;
  }
}

TEST_F(Target, NullEmptyAndAutoAreTheBest) {
  const std::string worst = names().back();
  for (const char* name : {static_cast<const char*>(nullptr), "", "auto"}) {
    ASSERT_TRUE(pin_target(worst.c_str()).ok());
    ASSERT_TRUE(pin_target(name).ok());
    EXPECT_STREQ(active_target(), target_name(0));
  }
}

TEST_F(Target, UnknownNamesAreRefusedAndChangeNothing) {
  const std::string worst = names().back();
  ASSERT_TRUE(pin_target(worst.c_str()).ok());
  for (const char* name : {"sse9", "AVX2", " avx2", "avx", "auto "}) {
    const Status status = pin_target(name);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_EQ(status.message(), "target: this processor has no target '" + std::string(name) + "'; it has " + listed());
    EXPECT_EQ(active_target(), worst);
  }
}

TEST_F(Target, LongNamesAreCutInTheMessage) {
  const Status status = pin_target(std::string(1000, 'x').c_str());
  EXPECT_EQ(status.message(),
            "target: this processor has no target '" + std::string(32, 'x') + "'; it has " + listed());
}

TEST_F(Target, PinningFromThreadsIsSafe) {
  const std::vector<std::string> all = names();
  const Problem<float> problem({.n_q = 5, .n_kv = 20, .d_k = 4, .d_v = 4}, kPlain);
  std::atomic<bool> failed = false;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Result<float> result(problem.call);
      const Call& call = problem.call;
      for (size_t round = 0; round < 50; ++round) {
        if (!pin_target(all[(t + round) % all.size()].c_str()).ok()) failed = true;
        if (!attention(call.q, call.k, call.v, result.outputs()).ok()) failed = true;
        if (target_name(0) == nullptr || active_target() == nullptr) failed = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
}

// --- The environment ---

/// What the tests below run in a process of its own: prints the active target and what a call says.
TEST(Child, Reports) {
  float one = 1, o = 0;
  const ConstTensor input = view<const float>(&one, 1, 1, 1, 1);
  const Status status = attention(input, input, input, {.o = view(&o, 1, 1, 1, 1)});
  ASSERT_NE(active_target(), nullptr);
  std::printf("active: %s\n", active_target());
  std::printf("status: %s: %s\n", name_of(status.code()), status.message());
  const Status pinned = pin_target(nullptr);
  std::printf("pinned: %s %s\n", pinned.message(), active_target());
}

/// What a child says with FOVEATE_TARGET set so.
std::string report_of(const std::string& target) {
  std::array<char, 4096> path = {};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) return "no path to this program";
  const std::string command =
      "FOVEATE_TARGET='" + target + "' '" + path.data() + "' --gtest_filter=Child.Reports --gtest_output= 2>&1";
  std::FILE* const output = popen(command.c_str(), "r");
  std::string report;
  for (int c; (c = std::fgetc(output)) != EOF;) report += static_cast<char>(c);
  return pclose(output) == 0 ? report : "the child failed:\n" + report;
}

void expect_in(const std::string& report, const std::string& line) {
  EXPECT_NE(report.find(line + '\n'), std::string::npos) << "no line '" << line << "' in:\n" << report;
}

TEST(Environment, ChoosesATarget) {
  for (const std::string& name : names()) {
    const std::string report = report_of(name);
    expect_in(report, "active: " + name);
    expect_in(report, "status: ok: ");
    expect_in(report, std::string("pinned:  ") + target_name(0));
  }
}

TEST(Environment, EmptyAndAutoAreTheBest) {
  for (const char* name : {"", "auto"}) {
    const std::string report = report_of(name);
    expect_in(report, std::string("active: ") + target_name(0));
    expect_in(report, "status: ok: ");
  }
}

TEST(Environment, AnUnknownNameFailsTheCallAndWhatIsPinnedPrevails) {
  const std::string report = report_of("sse9");
  expect_in(report,
            "status: invalid_argument: FOVEATE_TARGET: this processor has no target 'sse9'; it has " + listed());
  expect_in(report, std::string("pinned:  ") + target_name(0));
}

}  // namespace
}  // namespace foveate
