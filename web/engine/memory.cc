// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Memory, errors, the build: what every module has.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "exports.h"

namespace foveate::web {
namespace {

Status last_status;

}  // namespace

int32_t report(const Status& status) {
  if (!status.ok()) last_status = status;
  return static_cast<int32_t>(status.code());
}

int32_t refuse(const char* format, ...) {
  char message[Status::kMaxMessage];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return report(Status::error(StatusCode::invalid_argument, "%s", message));
}

void* fv_alloc(int32_t bytes) { return bytes < 0 ? nullptr : std::malloc(bytes > 0 ? static_cast<size_t>(bytes) : 1); }
void fv_free(void* memory) { std::free(memory); }
const char* fv_version() { return FOVEATE_VERSION; }
const char* fv_message() { return last_status.message(); }

int32_t fv_relaxed() {
#ifdef __wasm_relaxed_simd__
  return 1;
#else
  return 0;
#endif
}

}  // namespace foveate::web
