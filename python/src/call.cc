// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/call.h"

#include <string>
#include <string_view>

namespace foveate::python {
namespace {

/// The engine names arguments as C++ does.
struct Renamed {
  std::string_view engine, python;
};
constexpr Renamed kRenamed[] = {
    {"alibi_slopes: ", "alibi: "}, {"window_left: ", "window: left "}, {"window_right: ", "window: right "}};

std::string in_words_of_python(std::string_view message, std::string_view o) {
  if (message.starts_with("o: ")) return std::string(o) + std::string(message.substr(1));
  for (const auto& [engine, python] : kRenamed) {
    if (message.starts_with(engine)) return std::string(python) + std::string(message.substr(engine.size()));
  }
  return std::string(message);
}

/// Short beside a person's patience, long beside the wait for the GIL.
constexpr std::chrono::milliseconds kBetweenQuestions{50};

}  // namespace

void SignalledExecutor::run(int64_t n_tasks, Task task, void* context) {
  struct Asking {
    SignalledExecutor* executor;
    Task task;
    void* context;
  } asking = {this, task, context};
  const Task ask_first = [](void* pointer, int64_t index, int64_t worker) {
    const auto& wrapped = *static_cast<Asking*>(pointer);
    wrapped.executor->ask_python();
    wrapped.task(wrapped.context, index, worker);
  };
  if (n_tasks == 1) return ask_first(&asking, 0, 0);  // no other thread need wake
  workers_.run(n_tasks, ask_first, &asking);
}

void SignalledExecutor::ask_python() {
  if (std::this_thread::get_id() != caller_ || stop_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kBetweenQuestions) return;
  const nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) stop_ = true;  // the exception waits in this thread's state
  asked_ = std::chrono::steady_clock::now();
}

void raise_unless_ok(const Status& status, std::string_view o) {
  PyObject* type = PyExc_ValueError;
  switch (status.code()) {
    case StatusCode::ok:
      return;
    case StatusCode::out_of_memory:
      type = PyExc_MemoryError;
      break;
    case StatusCode::not_supported:
      type = PyExc_NotImplementedError;
      break;
    case StatusCode::cancelled:
      type = PyExc_KeyboardInterrupt;
      break;
    case StatusCode::invalid_argument:
    case StatusCode::workspace_too_small:
      break;
  }
  PyErr_SetString(type, in_words_of_python(status.message(), o).c_str());
  throw nb::python_error();
}

void call_engine(int threads, const std::function<Status(const Execution&)>& call, std::string_view o) {
  Status status;
  {
    const nb::gil_scoped_release released;
    SignalledExecutor executor(threads);
    status = call(executor.execution());
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  raise_unless_ok(status, o);
}

}  // namespace foveate::python
