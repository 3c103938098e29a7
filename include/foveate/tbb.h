// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// An executor on oneTBB, in a library of its own, foveate::tbb: the core needs no thread library. In CMake,
// find_package(foveate COMPONENTS tbb), or FOVEATE_TBB=ON before add_subdirectory(foveate).
#ifndef FOVEATE_TBB_H_
#define FOVEATE_TBB_H_

#include <memory>

#include "foveate/executor.h"
#include "foveate/export.h"

namespace foveate {

/// Runs tasks in a TBB arena of its own, so that it neither waits for nor is slowed by the caller's other TBB work.
/// Calls of run() from several threads take turns; a single task runs on the calling thread.
///
/// The process keeps an executor's arena for the next one of as many workers: to make one for each call is cheap, and
/// takes no more memory than the most that there were at once. A process that was forked from one with executors has
/// none of TBB's threads: all tasks run on the calling thread there. An executor that another thread was using at the
/// fork is lost to it.
class FOVEATE_API TbbExecutor final : public Executor {
 public:
  /// `threads` workers, the calling thread among them, but no more than TBB's limit (the processors of this process, unless
  /// a tbb::global_control says otherwise); 0 or less: that many.
  explicit TbbExecutor(int threads = 0);
  ~TbbExecutor() override;
  TbbExecutor(const TbbExecutor&) = delete;
  TbbExecutor& operator=(const TbbExecutor&) = delete;

  int64_t concurrency() const override;
  void run(int64_t n_tasks, Task task, void* context) override;

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

}  // namespace foveate

#endif  // FOVEATE_TBB_H_
