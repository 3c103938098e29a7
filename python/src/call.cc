// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/call.h"

#include <atomic>
#include <future>
#include <string>
#include <string_view>
#include <system_error>

#include "foveate/tbb.h"
#include "python/src/gil.h"
#include "python/src/work.h"

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

using Call = std::function<Status(const Execution&)>;

/// The call on a thread of its own; `stop` is what its execution polls.
Status call_and_listen(const Call& call, const Execution& execution, std::atomic<bool>& stop, WithoutGil& released) {
  std::future<Status> answer;
  try {
    answer = std::async(std::launch::async, call, execution);
  } catch (const std::system_error&) {  // no more threads to be had
    return call(execution);
  }
  while (answer.wait_for(kBetweenQuestions) == std::future_status::timeout) {
    if (!stop && !released.ask_for_signals()) stop = true;
  }
  return answer.get();
}

}  // namespace

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

void call_engine(int threads, double work, const Call& call, std::string_view o) {
  Status status;
  if (work < kLittleWork) {
    status = call({});
  } else {
    WithoutGil released;
    TbbExecutor executor(threads);
    std::atomic<bool> stop = false;
    const Execution execution = {.executor = &executor, .stop = &stop};
    status = work < kMuchWork ? call(execution) : call_and_listen(call, execution, stop, released);
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  raise_unless_ok(status, o);
}

}  // namespace foveate::python
