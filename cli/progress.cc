// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace foveate::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kQuiet{500};    // shorter runs show nothing
constexpr milliseconds kRefresh{100};  // between two drawings
constexpr int kCells = 30;
constexpr std::string_view kErase = "\r\033[K";

void write_to_terminal(std::string_view text) {
  // A bar that cannot be drawn is no reason to fail.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string bar(double share, double seconds) {
  const int full = static_cast<int>(share * kCells);
  std::string line =
      fmt::format("{}attend [{:#<{}}{:.<{}}] {:3.0f} %", kErase, "", full, "", kCells - full, share * 100);
  if (share > 0) line += fmt::format(", {:.0f} s left", seconds * (1 - share) / share);
  return line;
}

}  // namespace

Progress::Progress(int64_t total) : total_(std::max<int64_t>(total, 1)) {
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
    write_to_terminal(bar(share, std::chrono::duration<double>(Clock::now() - start).count()));
    wake.wait_for(lock, ended, kRefresh, [] { return false; });
    if (ended.stop_requested()) write_to_terminal(kErase);
  }
}

}  // namespace foveate::cli
