// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call of the engine from Python: on all cores, the GIL released, Ctrl-C heard, errors as exceptions.
#ifndef FOVEATE_PYTHON_CALL_H_
#define FOVEATE_PYTHON_CALL_H_

#include <nanobind/nanobind.h>

#include <functional>
#include <string_view>

#include "foveate/attention.h"
#include "foveate/status.h"

namespace foveate::python {

namespace nb = nanobind;

/// ValueError for what is wrong with an argument, MemoryError, NotImplementedError; with the status's message. `o` is what
/// Python calls the engine's o: an output is "out".
void raise_unless_ok(const Status& status, std::string_view o = "o");

/// Makes the call, on so many threads at most. Throws what a signal's handler raised, or what the status says.
///
/// A call of little work (work.h) is made here, all others with the GIL released. A call of much work is made on a thread of
/// its own, while this one asks Python now and then whether a signal has come, whatever the call's tasks are about; where the
/// handler raises, the call is stopped. The others are over before a person could want to stop them.
void call_engine(int threads, double work, const std::function<Status(const Execution&)>& call,
                 std::string_view o = "o");

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_CALL_H_
