// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C and SIGTERM at every stage of a run: the status tells, and nothing is left.
#include <sys/stat.h>

#include <utility>

#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using CliSignals = CliTest;

/// Opens a named pipe for writing, which waits until the other side opens it to read: by then handlers are installed.
class PipeTo {
 public:
  explicit PipeTo(const std::string& path) : fd_(open(path.c_str(), O_WRONLY)) {}
  ~PipeTo() { close(fd_); }
  void write(const std::string& bytes) const {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(fd_, bytes.data() + done, bytes.size() - done);
      ASSERT_GT(n, 0);
      done += static_cast<size_t>(n);
    }
  }

 private:
  int fd_;
};

TEST_F(CliSignals, CtrlCWhileComputing) {
  constexpr int64_t n = 300000, d = 8;  // minutes of work
  save<float>("k.npy", {n, d}, noise(n * d, 1));
  const std::string bytes = bytes_of("k.npy");
  std::ofstream(path("o.npy")) << "kept";
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::set<std::string> before = files();
  for (const auto& [signal, status] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const Process process(
        {"attend", "--q", "k.npy", "--k", "k.npy", "--v", "pipe", "--causal", "--out", "o.npy", "--lse", "lse.npy"},
        {.folder = folder_});
    PipeTo(path("pipe")).write(bytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // all is read; now it computes
    process.signal(signal);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, status) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(files(), before);
    EXPECT_EQ(bytes_of("o.npy"), "kept");
  }
}

TEST_F(CliSignals, WhatWasIgnoredStaysIgnored) {
  save_two_keys();
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Process process({"attend", "--q", "q.npy", "--k", "k.npy", "--v", "pipe", "--out", "o.npy"},
                        {.folder = folder_, .prepare = [] { ::signal(SIGHUP, SIG_IGN); }});
  const std::string bytes = bytes_of("v.npy");
  {
    const PipeTo pipe(path("pipe"));
    pipe.write(bytes.substr(0, 20));
    process.signal(SIGHUP);
    pipe.write(bytes.substr(20));
  }
  EXPECT_EQ(process.wait().status, 0);
  expect_near("o.npy", {3});
}

// A script's background job begins with SIGINT ignored: the terminal's Ctrl-C passes it by, a kill does not.
TEST_F(CliSignals, AKillReachesAJobInTheBackground) {
  save_two_keys();
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Process process({"attend", "--q", "q.npy", "--k", "k.npy", "--v", "pipe", "--out", "o.npy"},
                        {.folder = folder_, .prepare = [] { ::signal(SIGINT, SIG_IGN); }});
  const PipeTo pipe(path("pipe"));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
  EXPECT_FALSE(fs::exists(path("o.npy")));
}

TEST_F(CliSignals, NoMomentOfTheDemoLeavesATemporary) {
  for (int milliseconds = 0; milliseconds < 40; ++milliseconds) {
    const Process process({"demo", "--seq", "64", "--svg", "p.svg", "--json"}, {.folder = folder_});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    process.signal(SIGTERM);
    const int status = process.wait().status;
    EXPECT_TRUE(status == 0 || status == 128 + SIGTERM || status == -SIGTERM) << status;  // -: before main()
    fs::remove(path("p.svg"));
    EXPECT_EQ(files(), std::set<std::string>());
  }
}

// script(1) gives the command a terminal.
TEST_F(CliSignals, ProgressKeepsToTheWidthOfTheTerminal) {
  if (std::system("script -qec true /dev/null > /dev/null 2>&1 < /dev/null") != 0)
    GTEST_SKIP() << "no script(1), or no pseudo-terminals";
  constexpr int64_t n = 300000, d = 8;  // minutes of work
  save<float>("k.npy", {n, d}, noise(n * d, 1));
  for (const size_t columns : {20, 40, 100}) {
    const std::string command = "cd '" + folder_.string() + "' && script -qc 'stty cols " + std::to_string(columns) +
                                "; timeout --foreground -s INT 1.5 '" FOVEATE_BINARY
                                "' attend --q k.npy --k k.npy --v k.npy --out o.npy' typescript > out < /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::istringstream lines(bytes_of("out"));
    size_t bars = 0;
    for (std::string line; std::getline(lines, line, '\r');) {
      if (line.find("attend [") == line.npos) continue;
      ++bars;
      EXPECT_LE(line.size() - std::string("\033[K").size(), columns) << line;
    }
    EXPECT_EQ(bars > 0, columns >= 40) << columns;
  }
}

TEST_F(CliSignals, CtrlCWhileReadingAPipe) {
  save_two_keys();
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::set<std::string> before = files();
  const Process process({"attend", "--q", "q.npy", "--k", "k.npy", "--v", "pipe", "--out", "o.npy"},
                        {.folder = folder_});
  const PipeTo pipe(path("pipe"));
  pipe.write(bytes_of("v.npy").substr(0, 20));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
  EXPECT_EQ(files(), before);
}

TEST_F(CliSignals, CtrlCWhileWritingAPipeRemovesTemporaries) {
  constexpr int64_t n = 32768;  // more than a pipe holds
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) save<float>(name, {n, 1}, Floats(n, 1.0f));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::set<std::string> before = files();
  const Process process({"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--window", "0,0", "--out", "pipe",
                         "--lse", "lse.npy"},
                        {.folder = folder_});
  const int reader = open(path("pipe").c_str(), O_RDONLY);  // waits for the writer, which has its temporaries by then
  EXPECT_GT(files().size(), before.size());
  process.signal(SIGINT);
  EXPECT_EQ(process.wait().status, 130);
  EXPECT_EQ(files(), before);
  close(reader);
}

}  // namespace
}  // namespace foveate
