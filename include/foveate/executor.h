// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where the work runs. The library owns no threads: a call is serial unless the caller hands it an executor.
// `foveate/tbb.h` has one on oneTBB; deriving your own over an existing pool takes a dozen lines (examples/executor.cc).
#ifndef FOVEATE_EXECUTOR_H_
#define FOVEATE_EXECUTOR_H_

#include <cstdint>

namespace foveate {

class Executor {
 public:
  /// One task. Never throws, never blocks on another task.
  using Task = void (*)(void* context, int64_t task, int64_t worker);

  virtual ~Executor() = default;

  /// How many workers there are, at least 1: the worker handed to a task is in [0, concurrency()), and no two tasks run
  /// at once with the same worker, for it selects the scratch memory they write. Constant while a call runs.
  virtual int64_t concurrency() const = 0;

  /// Calls task(context, t, worker) once for each t in [0, n_tasks), in any order, on any threads, and returns when all
  /// have returned. What the tasks wrote is visible to the caller afterwards.
  virtual void run(int64_t n_tasks, Task task, void* context) = 0;
};

}  // namespace foveate

#endif  // FOVEATE_EXECUTOR_H_
