// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Python's lock, given back for a while.
#ifndef FOVEATE_PYTHON_GIL_H_
#define FOVEATE_PYTHON_GIL_H_

#include <nanobind/nanobind.h>

#include <chrono>

namespace foveate::python {

/// How often who waits without the GIL asks for signals: short beside a person's patience, long beside the wait for the GIL.
inline constexpr std::chrono::milliseconds kBetweenQuestions{50};

/// Releases the GIL of this thread for as long as it lives. A thread that would take it while Python is ending waits until the
/// process has ended, as from Python 3.14 on; before, Python unwinds its stack, which ends in std::terminate.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take_back(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  /// Lets Python run the handlers of signals that have come. False where one raised: the exception waits in this thread's
  /// state.
  bool ask_for_signals();

  /// Ends it early.
  void take_back();

 private:
  PyThreadState* state_;
};

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_GIL_H_
