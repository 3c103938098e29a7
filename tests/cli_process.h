// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the foveate binary as a user would: arguments, standard input, environment, signals; what it prints and how it ends.
#ifndef FOVEATE_TESTS_CLI_PROCESS_H_
#define FOVEATE_TESTS_CLI_PROCESS_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace foveate {

/// How a run ended.
struct Outcome {
  int status = -1;  ///< exit status, or minus the signal that killed it
  std::string out;  ///< standard output
  std::string err;  ///< standard error
  long max_resident_kib = 0;
};

class Process {
 public:
  struct Setup {
    std::string input = {};              ///< what standard input holds
    std::string folder = ".";            ///< where it runs
    std::string out_path = {};           ///< where standard output goes instead of Outcome::out
    std::string target = {};             ///< FOVEATE_TARGET, if not empty
    std::function<void()> prepare = {};  ///< done in the new process, last: closes a stream, sets a limit
  };

  Process(const std::vector<std::string>& arguments, const Setup& setup)
      : in_(std::tmpfile()), out_(std::tmpfile()), err_(std::tmpfile()) {
    std::fwrite(setup.input.data(), 1, setup.input.size(), in_);
    std::rewind(in_);
    pid_ = fork();
    if (pid_ == 0) become(arguments, setup);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    for (std::FILE* file : {in_, out_, err_}) std::fclose(file);
  }

  void signal(int number) const { ::kill(pid_, number); }

  /// Waits for the end; a run that hangs is killed after five minutes: sanitizers are slow.
  Outcome wait() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    int status = 0;
    struct rusage usage = {};
    while (wait4(pid_, &status, WNOHANG, &usage) == 0) {
      if (std::chrono::steady_clock::now() > deadline) ::kill(pid_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text_of(out_), text_of(err_), usage.ru_maxrss};
  }

 private:
  [[noreturn]] void become(const std::vector<std::string>& arguments, const Setup& setup) const {
    dup2(fileno(in_), STDIN_FILENO);
    dup2(setup.out_path.empty() ? fileno(out_) : open(setup.out_path.c_str(), O_WRONLY | O_CREAT, 0666), STDOUT_FILENO);
    dup2(fileno(err_), STDERR_FILENO);
    // Whoever runs the tests in the background has them ignored.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
    if (!setup.target.empty()) setenv("FOVEATE_TARGET", setup.target.c_str(), 1);
    std::string binary = FOVEATE_BINARY;
    std::vector<char*> argv = {binary.data()};
    std::vector<std::string> copies = arguments;
    for (std::string& argument : copies) argv.push_back(argument.data());
    argv.push_back(nullptr);
    if (chdir(setup.folder.c_str()) != 0) _exit(126);
    if (setup.prepare) setup.prepare();
    execv(binary.c_str(), argv.data());
    _exit(127);
  }

  static std::string text_of(std::FILE* file) {
    std::string text;
    char buffer[4096];
    std::rewind(file);
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
    return text;
  }

  std::FILE* in_;
  std::FILE* out_;
  std::FILE* err_;
  pid_t pid_ = -1;
};

}  // namespace foveate

#endif  // FOVEATE_TESTS_CLI_PROCESS_H_
