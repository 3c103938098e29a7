// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/error.h"

#include <algorithm>
#include <system_error>

namespace foveate::io {
namespace {

std::string one_line(std::string_view name, std::string_view problem) {
  std::string line = std::string(name) + ": " + std::string(problem);
  // Bytes from 128 up stay: file names are UTF-8.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return line;
}

}  // namespace

Error::Error(std::string_view name, std::string_view problem) : std::runtime_error(one_line(name, problem)) {}

Error system_error(std::string_view name, int error_number) {
  return Error(name, std::generic_category().message(error_number));
}

}  // namespace foveate::io
