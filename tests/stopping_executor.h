// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// An executor that wants the call to stop while it runs.
#ifndef FOVEATE_TESTS_STOPPING_EXECUTOR_H_
#define FOVEATE_TESTS_STOPPING_EXECUTOR_H_

#include <atomic>
#include <cstdint>

#include "foveate/executor.h"

namespace foveate {

/// Sets a flag as the task of a given number, in order of their start, begins; counts the tasks that wrote.
class StoppingExecutor final : public Executor {
 public:
  StoppingExecutor(Executor* inner, int64_t stop_at) : stop_at_(stop_at), inner_(inner) {}

  int64_t concurrency() const override { return inner_->concurrency(); }

  void run(int64_t n_tasks, Task task, void* context) override {
    struct Both {
      StoppingExecutor* self;
      Task task;
      void* context;
    } both{this, task, context};
    inner_->run(
        n_tasks,
        [](void* c, int64_t t, int64_t worker) {
          const Both& call = *static_cast<Both*>(c);
          if (call.self->started_.fetch_add(1) == call.self->stop_at_) call.self->stop = true;
          call.task(call.context, t, worker);
        },
        &both);
  }

  std::atomic<bool> stop = false;

 private:
  const int64_t stop_at_;
  Executor* const inner_;
  std::atomic<int64_t> started_ = 0;
};

}  // namespace foveate

#endif  // FOVEATE_TESTS_STOPPING_EXECUTOR_H_
