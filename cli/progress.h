// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A one-line progress bar on standard error: on a terminal only, for runs that last more than half a second, erased when
// they end.
#ifndef FOVEATE_CLI_PROGRESS_H_
#define FOVEATE_CLI_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>

namespace foveate::cli {

class Progress {
 public:
  /// Follows counter() up to `total` from now on, under the name of a command.
  explicit Progress(int64_t total, std::string_view name = "attend");

  /// For Execution::progress.
  std::atomic<int64_t>* counter() { return &done_; }

 private:
  void follow(const std::stop_token& ended);

  const int64_t total_;
  const std::string_view name_;
  std::atomic<int64_t> done_{0};
  std::jthread thread_;  // last: it reads the members above, and its end erases the bar
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_PROGRESS_H_
