// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "cli/terminal.h"

namespace foveate::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kQuiet{500};    // shorter runs show nothing
constexpr milliseconds kRefresh{100};  // between two drawings
constexpr int kMostCells = 30;
constexpr std::string_view kErase = "\r\033[K";

void write_to_terminal(std::string_view text) {
  // A bar that cannot be drawn is no reason to fail.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// One line of the terminal, never more: the terminal could not erase what it has wrapped.
std::string bar(std::string_view name, double share, double seconds, int width) {
  constexpr int kWords = 28;  // all but the name and the cells, the seconds in eight digits
  const int cells = std::min(width - kWords - static_cast<int>(name.size()), kMostCells);
  if (cells < 1) return {};
  const int full = static_cast<int>(share * cells);
  std::string line =
      fmt::format("{}{} [{:#<{}}{:.<{}}] {:3.0f} %", kErase, name, "", full, "", cells - full, share * 100);
  const double left = seconds * (1 - share) / share;
  if (left < 1e8) line += fmt::format(", {:.0f} s left", left);
  return line;
}

}  // namespace

Progress::Progress(int64_t total, std::string_view name) : total_(std::max<int64_t>(total, 1)), name_(name) {
  if (isatty(STDERR_FILENO)) {
    thread_ = std::jthread([this](const std::stop_token& ended) { follow(ended); });
  }
}

void Progress::follow(const std::stop_token& ended) {
  const Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any wake;
  wake.wait_for(lock, ended, kQuiet, [] { return false; });
  while (!ended.stop_requested()) {
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    write_to_terminal(
        bar(name_, share, std::chrono::duration<double>(Clock::now() - start).count(), terminal_width(STDERR_FILENO)));
    wake.wait_for(lock, ended, kRefresh, [] { return false; });
    if (ended.stop_requested()) write_to_terminal(kErase);
  }
}

}  // namespace foveate::cli
