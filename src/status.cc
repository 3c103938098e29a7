// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/status.h"

#include <cstdarg>
#include <cstdio>

namespace foveate {

Status Status::error(StatusCode code, const char* format, ...) {
  Status status;
  status.code_ = code;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(status.message_, sizeof(status.message_), format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace foveate
