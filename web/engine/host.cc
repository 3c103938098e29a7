// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the engine would ask of others, answered here, so that the module imports nothing.
#include <wasi/api.h>

#include <cstdint>
#include <cstdlib>

#include "hwy/targets.h"

/// Highway's library is not packaged for wasm32, and this is all of it that is called. A module has the one target that
/// it was compiled for: browsers offer no choice at run time.
int64_t hwy::SupportedTargets() { return HWY_STATIC_TARGET; }

/// A page has no environment.
extern "C" char* getenv(const char* /*name*/) { return nullptr; }

/// libc's standard streams, linked because it closes them at exit. Nothing here writes to them.
extern "C" {
int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t) { return __WASI_ERRNO_BADF; }
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t, int64_t, int32_t, int32_t) { return __WASI_ERRNO_BADF; }
int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t, int32_t, int32_t, int32_t) { return __WASI_ERRNO_BADF; }
}
