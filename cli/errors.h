// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How a command fails. A command throws one of these; main() turns it into one line and an exit status. Any other
// exception is exit status 1: a full disk, say.
#ifndef FOVEATE_CLI_ERRORS_H_
#define FOVEATE_CLI_ERRORS_H_

#include <stdexcept>
#include <string>

#include "foveate/status.h"

namespace foveate::cli {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitSignal = 128;  ///< plus the signal's number

/// A wrong call or wrong input, found before anything is computed: exit status 2. The text begins with the name of what
/// is wrong: an option ("--window: ...") or an array, as the library names it ("k: ...").
class WrongUse : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Stopped by Ctrl-C or another signal, with nothing written.
struct Interrupted {
  int signal;
};

/// Throws what a status of the library stands for, with its message in other words.
inline void throw_unless_ok(const Status& status, const std::string& message) {
  if (status.ok()) return;
  if (status.code() == StatusCode::invalid_argument || status.code() == StatusCode::not_supported) {
    throw WrongUse(message);
  }
  throw std::runtime_error(message);
}

inline void throw_unless_ok(const Status& status) { throw_unless_ok(status, status.message()); }

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ERRORS_H_
