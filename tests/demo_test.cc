// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate demo`, run as a user runs it, and its experiment.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/experiment.h"

namespace foveate::cli {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Demo : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "foveate_demo_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  struct Run {
    int exit_status;
    std::string out, err;
  };

  // `environment` is all there is of it.
  Run demo(const std::string& arguments, const std::string& environment = "LC_ALL=C") const {
    const std::string command = "cd '" + folder_.string() + "' && env -i " + environment +
                                " '" FOVEATE_BINARY "' demo " + arguments + " > '" + (folder_ / "out").string() +
                                "' 2> '" + (folder_ / "err").string() + "'";
    const int status = std::system(command.c_str());
    Run run{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder_ / "out"), contents(folder_ / "err")};
    std::filesystem::remove(folder_ / "out");
    std::filesystem::remove(folder_ / "err");
    return run;
  }

  bool folder_is_empty() const { return std::filesystem::is_empty(folder_); }

  std::filesystem::path folder_;
};

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    const size_t found = text.find(part, at);
    EXPECT_NE(found, text.npos) << "missing, or out of order: " << part << "\nin\n" << text;
    if (found != text.npos) at = found;
  }
}

TEST_F(Demo, PrintsTheFiguresInEnglish) {
  const Run run = demo("");
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  expect_parts(run.out,
               {"seed 42", "variance of the raw scores     15.29  theory: d_k = 16", "0.96  theory: 1",
                "unscaled  0.757", "scaled    0.374", "rows sum to one                 true", "unscaled: softmax",
                "scaled: softmax", "query i", "key j", " 0   0   0   0   0   0   0   0 █99█", "weight", "attention.svg",
                "np.save(\"q.npy\", q)", "attend --q q.npy --k k.npy --v v.npy --out o.npy", "np.load(\"o.npy\")"});
}

TEST_F(Demo, PrintsTheFiguresInChinese) {
  const Run run = demo("--lang zh");
  EXPECT_EQ(run.exit_status, 0) << run.err;
  expect_parts(run.out, {"种子 42", "未缩放分数的方差        15.29", "d_k = 16", "0.96", "0.757", "0.374",
                         "各行权重之和为一         true", "查询 query i", "键 key j", "权重", "attention.svg",
                         "attend --q q.npy"});
  expect_parts(contents(folder_ / "attention.svg"),
               {"缩放前后的注意力权重", "15.29", "0.757", "查询 query i", "键 key j"});
}

TEST_F(Demo, FollowsTheLocale) {
  const auto is_chinese = [this](const std::string& environment) {
    return demo("--no-svg", environment).out.find("未缩放") != std::string::npos;
  };
  EXPECT_TRUE(is_chinese("LANG=zh_CN.UTF-8"));
  EXPECT_TRUE(is_chinese("LANG=en_US.UTF-8 LC_MESSAGES=zh_TW.UTF-8"));
  EXPECT_TRUE(is_chinese("LC_ALL= LANG=zh_CN.UTF-8"));
  EXPECT_FALSE(is_chinese("LC_ALL=C LC_MESSAGES=zh_CN.UTF-8 LANG=zh_CN.UTF-8"));
  EXPECT_FALSE(is_chinese("LANG=en_US.UTF-8"));
  EXPECT_FALSE(is_chinese("TERM=xterm"));
}

TEST_F(Demo, ColoursOnlyWhenAskedOffATerminal) {
  const auto escapes = [this](const std::string& arguments, const std::string& environment) {
    return demo("--no-svg " + arguments, environment).out.find("\x1b[") != std::string::npos;
  };
  EXPECT_FALSE(escapes("", "TERM=xterm-256color COLORTERM=truecolor"));
  EXPECT_FALSE(escapes("--color never", "TERM=xterm"));
  EXPECT_TRUE(escapes("--color always", "TERM=xterm"));
  EXPECT_TRUE(escapes("--color always", "NO_COLOR=1")) << "the option is the nearer wish";
}

// script(1) gives the command a terminal.
TEST_F(Demo, ColoursOnATerminalUnlessNoColorIsSet) {
  if (std::system("script -qec true /dev/null > /dev/null 2>&1 < /dev/null") != 0)
    GTEST_SKIP() << "no script(1), or no pseudo-terminals";
  const auto on_terminal = [this](const std::string& environment) {
    const std::string command = "cd '" + folder_.string() + "' && " + environment +
                                " script -qec '" FOVEATE_BINARY " demo --no-svg' typescript > /dev/null < /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return contents(folder_ / "typescript");
  };
  const std::string full = on_terminal("env -u NO_COLOR TERM=xterm-256color COLORTERM=truecolor");
  EXPECT_NE(full.find(";48;2;"), full.npos) << full;
  const std::string palette = on_terminal("env -u NO_COLOR -u COLORTERM TERM=xterm-256color");
  EXPECT_NE(palette.find(";48;5;"), palette.npos) << palette;
  EXPECT_EQ(on_terminal("env NO_COLOR=1 TERM=xterm-256color").find("\x1b["), std::string::npos);
  EXPECT_EQ(on_terminal("env -u NO_COLOR TERM=dumb").find("\x1b["), std::string::npos);
}

TEST_F(Demo, SumsUpAsJson) {
  const Run run = demo("--json --svg picture.svg");
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const nlohmann::json json = nlohmann::json::parse(run.out);
  const nlohmann::json parameters = {{"seed", 42}, {"batch", 2}, {"heads", 4},
                                     {"seq", 8},   {"dk", 16},   {"dtype", "float64"}};
  EXPECT_EQ(json["parameters"], parameters);
  // NumPy 1.24's.
  EXPECT_NEAR(json["raw_score_variance"], 15.288347819991284, 1e-11);
  EXPECT_NEAR(json["scaled_score_variance"], 0.9555217387494552, 1e-12);
  EXPECT_NEAR(json["mean_largest_weight_unscaled"], 0.7572721351011396, 1e-13);
  EXPECT_NEAR(json["mean_largest_weight_scaled"], 0.3743206165279044, 1e-13);
  EXPECT_EQ(json["rows_sum_to_one"], true);
  EXPECT_EQ(json["svg"], "picture.svg");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "picture.svg"));
  EXPECT_TRUE(nlohmann::json::parse(demo("--json --no-svg").out)["svg"].is_null());
}

TEST_F(Demo, LeavesThePictureOut) {
  EXPECT_EQ(demo("--no-svg").exit_status, 0);
  EXPECT_EQ(demo("--svg ''").exit_status, 0);
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(Demo, PoolsLongSequences) {
  const Run run = demo("--seq 100 --no-svg");
  EXPECT_EQ(run.exit_status, 0) << run.err;
  expect_parts(run.out, {"2 × 4 × 100 × 16", "each cell: the largest of 6 x 6 weights"});
}

TEST_F(Demo, RefusesWrongParameters) {
  const auto expect_refused = [this](const std::string& arguments, const std::string& start) {
    const Run run = demo(arguments);
    EXPECT_EQ(run.exit_status, 2) << arguments;
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(run.err.starts_with("foveate demo: " + start)) << run.err;
    EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << "one line: " << run.err;
    EXPECT_TRUE(folder_is_empty()) << arguments;
  };
  expect_refused("--seq 0", "--seq: '0'");
  expect_refused("--batch -1", "--batch: '-1'");
  expect_refused("--heads 1.5", "--heads: '1.5'");
  expect_refused("--dk x", "--dk: 'x'");
  expect_refused("--seed 4294967296", "--seed: 4294967296");
  expect_refused("--lang fr", "--lang: 'fr'");
  expect_refused("--color sometimes", "--color: 'sometimes'");
  expect_refused("--svg -", "--svg: standard output");
  expect_refused("--svg /dev/stdout", "--svg: standard output");
  expect_refused("--svg --json", "--svg: no file named before --json");
  expect_refused("--json=1", "--json: takes no value");
  expect_refused("--dk 9223372036854775807", "--dk: batch 2 x heads 4 x seq 8 x dk");
  expect_refused("--seq 9000000000", "--seq: batch 2 x heads 4 x seq 9000000000");
}

TEST_F(Demo, SaysSoWhereThePictureCannotBeWritten) {
  const Run run = demo("--svg no/such/folder.svg");
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.err.starts_with("foveate demo: --svg: no/such/folder.svg: no folder no/such; ")) << run.err;
  EXPECT_NE(run.err.find("--no-svg"), run.err.npos) << "a remedy: " << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << "one line: " << run.err;
}

// Computed with NumPy 1.24 in float64.
TEST(Experiment, GivesNumPysFiguresForOtherSetups) {
  struct Expected {
    ExperimentSetup setup;
    double raw_variance, raw_largest, scaled_largest;
  };
  const Expected all[] = {
      {{0, 1, 1, 1, 1}, 0.0, 1.0, 1.0},
      {{7, 1, 2, 33, 1}, 0.8211673588525132, 0.12399750726211538, 0.12399750726211538},
      {{2026, 1, 1, 20, 1024}, 983.9936481589242, 0.9756423094923503, 0.22889618573694775},
      {{4294967295, 3, 2, 5, 64}, 54.990110402742694, 0.9337964591796708, 0.47197533625784194},
  };
  for (const Expected& expected : all) {
    const ExperimentResult result = run_experiment(expected.setup);
    SCOPED_TRACE("seed " + std::to_string(expected.setup.seed));
    EXPECT_NEAR(result.raw_variance, expected.raw_variance, 1e-12 * expected.raw_variance);
    EXPECT_NEAR(result.scaled_variance * static_cast<double>(expected.setup.d_k), expected.raw_variance,
                1e-12 * expected.raw_variance);
    EXPECT_NEAR(result.raw_largest, expected.raw_largest, 1e-12);
    EXPECT_NEAR(result.scaled_largest, expected.scaled_largest, 1e-12);
    EXPECT_TRUE(result.rows_sum_to_one);
    EXPECT_EQ(result.raw_weights.rows, expected.setup.seq);
    EXPECT_EQ(result.scaled_weights.values.size(), static_cast<size_t>(expected.setup.seq * expected.setup.seq));
  }
}

}  // namespace
}  // namespace foveate::cli
