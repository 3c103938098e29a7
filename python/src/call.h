// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call of the engine from Python: on all cores, the GIL released, Ctrl-C heard, errors as exceptions.
#ifndef FOVEATE_PYTHON_CALL_H_
#define FOVEATE_PYTHON_CALL_H_

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string_view>
#include <thread>

#include "foveate/attention.h"
#include "foveate/executor.h"
#include "foveate/status.h"
#include "foveate/tbb.h"

namespace foveate::python {

namespace nb = nanobind;

/// oneTBB's workers, the calling thread among them. Between its tasks the calling thread asks Python now and then whether
/// a signal has come, so that Ctrl-C needs no thread of its own; where its handler raises, the call is stopped.
class SignalledExecutor final : public Executor {
 public:
  /// `threads`: at most so many.
  explicit SignalledExecutor(int threads) : workers_(threads) {}

  int64_t concurrency() const override { return workers_.concurrency(); }
  void run(int64_t n_tasks, Task task, void* context) override;

  Execution execution() { return {.executor = this, .stop = &stop_}; }

 private:
  void ask_python();

  TbbExecutor workers_;
  std::atomic<bool> stop_{false};
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();  ///< the calling thread's alone
};

/// ValueError for what is wrong with an argument, MemoryError, NotImplementedError; with the status's message. `o` is what
/// Python calls the engine's o: an output is "out".
void raise_unless_ok(const Status& status, std::string_view o = "o");

/// Makes the call with the GIL released. Throws what a signal's handler raised, or what the status says.
void call_engine(int threads, const std::function<Status(const Execution&)>& call, std::string_view o = "o");

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_CALL_H_
