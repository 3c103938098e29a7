// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Drives `foveate attend` over every folder of tests/cases.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/case.h"

namespace foveate::cases {
namespace {

namespace fs = std::filesystem;

/// The arrays that come with `grad`.
const std::set<std::string> kGradients = {"dq", "dk", "dv", "dbias", "dsinks"};

/// A folder of its own, removed at the end.
class Scratch {
 public:
  Scratch() {
    std::string path = (fs::temp_directory_path() / "foveate-case-XXXXXX").string();
    if (!mkdtemp(path.data())) throw std::runtime_error("no temporary folder");
    path_ = path;
  }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Outcome {
  int status = -1;              ///< exit status
  std::string message;          ///< standard error
  std::set<std::string> files;  ///< whatever lies in the output folder afterwards
  std::map<std::string, Values> arrays;
};

/// Runs the binary, standard error to a file. Its environment is that of this test, FOVEATE_TARGET included.
int run(const std::vector<std::string>& arguments, const fs::path& standard_error) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, standard_error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = -1;
  const int failure = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error(arguments[0] + " cannot be started");

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// {"window": [2, 1]} as "--window", "2,1"; {"causal": true} as "--causal" alone.
void append_option(const std::string& name, const json& value, std::vector<std::string>* arguments) {
  arguments->push_back("--" + name);
  if (value.is_boolean()) return;
  std::string text;
  for (const json& part : value.is_array() ? value : json::array({value})) {
    text += (text.empty() ? "" : ",") + (part.is_string() ? part.get<std::string>() : part.dump());
  }
  arguments->push_back(text);
}

Outcome attend(const Case& c, const json& call, bool with_gradients) {
  const json& inputs = call.at("inputs");
  std::vector<std::string> outputs = {"out", "lse"};
  if (with_gradients) {
    outputs.insert(outputs.end(), {"dq", "dk", "dv"});
    if (inputs.contains("bias")) outputs.push_back("dbias");
    if (inputs.contains("sinks")) outputs.push_back("dsinks");
  }

  const Scratch scratch;
  const fs::path folder = scratch.path() / "outputs";
  fs::create_directory(folder);
  std::vector<std::string> arguments = {FOVEATE_BINARY, "attend"};
  for (const auto& [name, file] : inputs.items()) {
    if (name != "grad" || with_gradients)
      append_option(name, (c.folder / file.get<std::string>()).string(), &arguments);
  }
  const json options = options_of(call);
  for (const auto& [name, value] : options.items()) append_option(name, value, &arguments);
  for (const std::string& name : outputs) append_option(name, (folder / (name + ".npy")).string(), &arguments);

  Outcome outcome;
  outcome.status = run(arguments, scratch.path() / "stderr");
  std::ifstream message(scratch.path() / "stderr");
  outcome.message.assign(std::istreambuf_iterator<char>(message), {});
  for (const auto& entry : fs::directory_iterator(folder)) {
    outcome.files.insert(entry.path().filename().string());
    outcome.arrays[entry.path().stem().string()] = values(io::read_npy(entry.path().string()));
  }
  return outcome;
}

/// Whether `word` stands in `text` by itself: "8" is in "head dim 8", not in "18", "8b" or "0.8".
bool has_word(std::string_view text, std::string_view word) {
  const auto alnum = [](char ch) { return std::isalnum(static_cast<unsigned char>(ch)) != 0; };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || (!alnum(text[at - 1]) && text[at - 1] != '.');
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !alnum(text[end]))) return true;
  }
  return false;
}

/// Status 2, one line on standard error that has these words, and nothing written.
void expect_refused(const Outcome& outcome, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(!outcome.message.empty() && outcome.message.find('\n') == outcome.message.size() - 1)
      << "not one line: " << outcome.message;
  for (const std::string& word : words) {
    EXPECT_TRUE(has_word(outcome.message, word)) << "no '" << word << "' in: " << outcome.message;
  }
  EXPECT_TRUE(outcome.files.empty()) << "left behind: " << testing::PrintToString(outcome.files);
}

/// Compares those expected arrays that are gradients, or those that are not.
void expect_close(const Case& c, const Outcome& outcome, bool gradients) {
  if (!c.about.contains("close")) return;
  const json& close_to = c.about.at("close");
  for (const auto& [name, file] : close_to.at("arrays").items()) {
    if (kGradients.contains(name) != gradients) continue;
    ASSERT_TRUE(outcome.arrays.contains(name)) << name << " was not written";
    const Values want = c.read(file);
    const Values& got = outcome.arrays.at(name);
    EXPECT_TRUE(close(got, want, close_to.at("rtol"), close_to.at("atol"))) << name;
    if (name == "out") continue;  // its dtype is told by out_dtype
    EXPECT_EQ(name_of(got.dtype), std::string(name_of(want.dtype))) << name;
  }
}

class CommandLine : public testing::TestWithParam<Case> {};

TEST_P(CommandLine, Forward) {
  const Case& c = GetParam();
  const json& calls = c.about.at("calls");
  std::vector<Outcome> outcomes;
  for (const json& call : calls) outcomes.push_back(attend(c, call, false));
  if (c.about.contains("refused")) return expect_refused(outcomes[0], c.about.at("refused"));
  for (const Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.status, 0) << outcome.message;
    ASSERT_EQ(outcome.files, (std::set<std::string>{"lse.npy", "out.npy"}));
  }

  expect_close(c, outcomes[0], false);
  const std::string dtype = name_of(c.read(calls.at(0).at("inputs").at("q")).dtype);
  EXPECT_EQ(name_of(outcomes[0].arrays.at("out").dtype), c.about.value("out_dtype", dtype));
  expect_same_bits(c, [&](size_t call, const std::string& array) { return outcomes[call].arrays.at(array); });
}

class Gradients : public testing::TestWithParam<Case> {};

TEST_P(Gradients, Backward) {
  const Case& c = GetParam();
  const Outcome outcome = attend(c, c.about.at("calls").at(0), true);
  ASSERT_EQ(outcome.status, 0) << outcome.message;
  expect_close(c, outcome, true);
  expect_close(c, outcome, false);
}

INSTANTIATE_TEST_SUITE_P(Cases, CommandLine, testing::ValuesIn(cases_where([](const Case&) { return true; })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Cases, Gradients,
                         testing::ValuesIn(cases_where([](const Case& c) { return c.needs("grad"); })), test_name);

}  // namespace
}  // namespace foveate::cases
