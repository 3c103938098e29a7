// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How a call reports what went wrong: a code with one meaning and one line of text. Nothing is thrown, printed or
// allocated; a Status is a plain value of fixed size.
#ifndef FOVEATE_STATUS_H_
#define FOVEATE_STATUS_H_

#include <cstdint>

#include "foveate/export.h"

namespace foveate {

enum class StatusCode : uint8_t {
  ok,
  invalid_argument,     ///< an argument breaks the contract; nothing was written
  not_supported,        ///< within the contract, but not built yet; nothing was written
  workspace_too_small,  ///< the workspace handed in holds fewer bytes than the call needs; nothing was written
  out_of_memory,        ///< no workspace was handed in and one could not be allocated; nothing was written
  cancelled,            ///< the stop flag was seen; outputs are partly written
};

/// "invalid_argument", ...
constexpr const char* name_of(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::invalid_argument:
      return "invalid_argument";
    case StatusCode::not_supported:
      return "not_supported";
    case StatusCode::workspace_too_small:
      return "workspace_too_small";
    case StatusCode::out_of_memory:
      return "out_of_memory";
    case StatusCode::cancelled:
      return "cancelled";
  }
  return "unknown";
}

/// The outcome of a call. The message is one line without a newline, empty when ok: it names the argument, what was
/// expected and what was got, and where it can a remedy.
class [[nodiscard]] Status {
 public:
  static constexpr int kMaxMessage = 256;

  /// Ok. Of the message the end alone is written: a call checks some forty things, and 256 zeros each took it 0.3 us.
  constexpr Status() { message_[0] = '\0'; }

  constexpr bool ok() const { return code_ == StatusCode::ok; }
  constexpr StatusCode code() const { return code_; }
  constexpr const char* message() const { return message_; }

  /// A failure with a printf-formatted message, cut at kMaxMessage - 1 characters.
  [[gnu::format(printf, 2, 3)]] FOVEATE_API static Status error(StatusCode code, const char* format, ...);

 private:
  StatusCode code_ = StatusCode::ok;
  char message_[kMaxMessage];  // up to its end
};

}  // namespace foveate

#endif  // FOVEATE_STATUS_H_
