// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A lock for what Python's threads share: many read at once, whoever changes it is alone. It is waited for without the GIL,
// so that nobody waits for one while holding the other; who has it may wait for the GIL, if only to read.
//
//   Signals   Ctrl-C is heard while a thread waits. Handlers and finalizers, which Python runs in the midst of a call on its
//             thread, may read what the call reads. To change it would be to wait for themselves, and is refused.
//   Forks     os.fork waits for changes to end. In the child nobody but its one thread has the lock.
#ifndef FOVEATE_PYTHON_SHARED_LOCK_H_
#define FOVEATE_PYTHON_SHARED_LOCK_H_

#include <nanobind/nanobind.h>

#include <mutex>
#include <shared_mutex>

#include "python/src/call.h"

namespace foveate::python {

/// Made, taken and ended with the GIL held.
class SharedLock {
 public:
  SharedLock();
  ~SharedLock();
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

  class Reading {
   public:
    explicit Reading(SharedLock& lock);
    ~Reading();
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    friend class SharedLock;
    SharedLock& lock_;
    const Reading* const outer_;  ///< of this thread's, whatever they read
    const bool first_;            ///< of this lock's on this thread, which alone holds the mutex
  };

  /// Calls change(), alone and without the GIL. RuntimeError where this thread is reading.
  template <class Change>
  auto change(const Change& change) {
    refuse_readers();
    const nanobind::gil_scoped_release released;
    wait([&] { return mutex_.try_lock_for(kBetweenQuestions); });
    const std::unique_lock lock(mutex_, std::adopt_lock);
    return change();
  }

  /// Asks Python to tell of forks. Once, when the module is made.
  static void watch_forks();

 private:
  /// Without the GIL, until taken. Throws what a signal's handler raised.
  template <class Take>
  static void wait(const Take& take) {
    while (!take()) {
      const nanobind::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
  }

  bool read_here() const;
  void refuse_readers() const;
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::shared_timed_mutex mutex_;
  bool held_for_fork_ = false;
};

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_SHARED_LOCK_H_
