// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What readers of files throw, as errors of a command.
#ifndef FOVEATE_CLI_ATTEND_READ_H_
#define FOVEATE_CLI_ATTEND_READ_H_

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "cli/errors.h"
#include "io/error.h"

namespace foveate::cli {

/// What `read` returns; its errors with the input's name before them.
template <class Read>
auto read_named(std::string_view name, const Read& read) try {
  return read();
} catch (const io::OutOfMemory& error) {
  throw std::runtime_error(fmt::format("{}: {}", name, error.what()));
} catch (const io::Error& error) {
  throw WrongUse(fmt::format("{}: {}", name, error.what()));
}

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_READ_H_
