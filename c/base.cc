// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/c/base.h"

#include "c/convert.h"
#include "foveate/status.h"
#include "foveate/target.h"

using namespace foveate;  // what follows is C

int32_t foveate_abi_version() { return FOVEATE_ABI_VERSION; }

const char* foveate_version() { return FOVEATE_VERSION; }

const char* foveate_strerror(foveate_status status) {
  switch (status) {
    case FOVEATE_OK:
      return "success";
    case FOVEATE_INVALID_ARGUMENT:
      return "an argument breaks the contract";
    case FOVEATE_NOT_SUPPORTED:
      return "not supported";
    case FOVEATE_WORKSPACE_TOO_SMALL:
      return "the workspace is too small";
    case FOVEATE_OUT_OF_MEMORY:
      return "out of memory";
    case FOVEATE_CANCELLED:
      return "cancelled by the stop flag";
    default:
      return "unknown status";
  }
}

int64_t foveate_target_count() { return target_count(); }

const char* foveate_target_name(int64_t index) { return target_name(index); }

const char* foveate_active_target() { return active_target(); }

foveate_status foveate_pin_target(const char* name, char* message, size_t message_size) {
  return c::report(pin_target(name), message, message_size);
}
