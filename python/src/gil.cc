// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/gil.h"

#include <thread>
#include <utility>

namespace foveate::python {

bool WithoutGil::ask_for_signals() {
  take_back();
  const bool quiet = PyErr_CheckSignals() == 0;
  state_ = PyEval_SaveThread();
  return quiet;
}

void WithoutGil::take_back() {
  if (state_ == nullptr) return;
  try {
    PyEval_RestoreThread(std::exchange(state_, nullptr));
  } catch (...) {  // pthread_exit, which may not be caught and left behind
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

}  // namespace foveate::python
