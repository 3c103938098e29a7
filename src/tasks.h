// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Tasks of one call on its way: on the executor or here, in the engine's floating-point mode, until the stop flag is seen.
#ifndef FOVEATE_SRC_TASKS_H_
#define FOVEATE_SRC_TASKS_H_

#include <atomic>
#include <cstdint>

#include "foveate/attention.h"
#include "foveate/status.h"
#include "fp_mode.h"

namespace foveate {

class Tasks {
 public:
  explicit Tasks(const Execution& execution) : execution_(execution) {}

  /// Calls body(index, worker) for each index in [0, n), and returns when all are done or left out.
  template <class Body>
  void run(int64_t n, const Body& body) {
    struct Context {
      Tasks* tasks;
      const Body* body;
    } context{this, &body};
    const auto task = [](void* c, int64_t index, int64_t worker) {
      const Context& call = *static_cast<Context*>(c);
      call.tasks->one(*call.body, index, worker);
    };
    if (execution_.executor != nullptr) {
      execution_.executor->run(n, task, &context);
    } else {
      for (int64_t index = 0; index < n; ++index) task(&context, index, 0);
    }
  }

  /// Calls body(index, worker), or leaves it out once the stop flag was seen. Asked again behind it, for a long body may have
  /// seen the flag itself, and returned.
  template <class Body>
  void one(const Body& body, int64_t index, int64_t worker) {
    if (stopped()) return;
    const FpMode mode;
    body(index, worker);
    if (stopped()) return;
    if (execution_.progress != nullptr) execution_.progress->fetch_add(1, std::memory_order_relaxed);
  }

  /// `cancelled` if any task was left out, or the flag seen behind the last.
  Status status() const {
    return cancelled_.load() ? Status::error(StatusCode::cancelled, "cancelled by the stop flag") : Status();
  }

 private:
  bool stopped() {
    if (execution_.stop != nullptr && execution_.stop->load(std::memory_order_relaxed)) cancelled_.store(true);
    return cancelled_.load(std::memory_order_relaxed);
  }

  const Execution& execution_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace foveate

#endif  // FOVEATE_SRC_TASKS_H_
