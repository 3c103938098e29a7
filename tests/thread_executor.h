// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// An executor on std::thread, for tests: unlike TBB, all of it is seen by ThreadSanitizer, and run() allocates nothing.
#ifndef FOVEATE_TESTS_THREAD_EXECUTOR_H_
#define FOVEATE_TESTS_THREAD_EXECUTOR_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "foveate/executor.h"

namespace foveate {

/// Threads that sleep between runs. In a run each worker, the calling thread being worker 0, takes the next task that
/// nobody has. Calls of run() from several threads take turns.
class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int workers) {
    for (int64_t worker = 1; worker < workers; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
  }
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;
  ~ThreadExecutor() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int64_t concurrency() const override { return 1 + static_cast<int64_t>(threads_.size()); }

  void run(int64_t n_tasks, Task task, void* context) override {
    const std::lock_guard<std::mutex> turn(turn_);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      n_tasks_ = n_tasks;
      task_ = task;
      context_ = context;
      next_ = 0;
      busy_ = threads_.size();
      ++round_;
    }
    wake_.notify_all();
    take_tasks(0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void serve(int64_t worker) {
    uint64_t rounds_seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return closing_ || round_ != rounds_seen; });
      if (closing_) return;
      rounds_seen = round_;
      lock.unlock();
      take_tasks(worker);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  void take_tasks(int64_t worker) {
    for (int64_t task; (task = next_.fetch_add(1)) < n_tasks_;) task_(context_, task, worker);
  }

  std::vector<std::thread> threads_;
  std::mutex turn_;

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  bool closing_ = false;
  uint64_t round_ = 0;
  size_t busy_ = 0;

  // Written between rounds, while every thread sleeps.
  int64_t n_tasks_ = 0;
  Task task_ = nullptr;
  void* context_ = nullptr;
  std::atomic<int64_t> next_ = 0;
};

}  // namespace foveate

#endif  // FOVEATE_TESTS_THREAD_EXECUTOR_H_
