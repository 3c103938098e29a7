// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a file, in one line: "q.npy: ...". Thrown by every reader and writer here.
#ifndef FOVEATE_IO_ERROR_H_
#define FOVEATE_IO_ERROR_H_

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace foveate::io {

class Error : public std::runtime_error {
 public:
  /// "name: problem", with control characters replaced, so that a hostile file name or header stays on its line.
  Error(std::string_view name, std::string_view problem);
};

/// Text out of a file, fit for one line of a terminal: control characters become '?', and past `most` bytes it is cut
/// between two characters of UTF-8.
std::string printable(std::string_view text, size_t most = 64);

/// No fault of the file's: there is no room for it.
class OutOfMemory : public Error {
  using Error::Error;
};

/// The Error of a failed system call: "name: No space left on device".
Error system_error(std::string_view name, int error_number);

}  // namespace foveate::io

#endif  // FOVEATE_IO_ERROR_H_
