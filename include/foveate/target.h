// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which instruction set the kernels use. The best one that the processor has is chosen at the first call; the
// environment variable FOVEATE_TARGET, or pin_target, fixes another. Results are the same to the bit on one target, and
// within the bounds of docs/numerics.md across targets.
#ifndef FOVEATE_TARGET_H_
#define FOVEATE_TARGET_H_

#include <cstdint>

#include "foveate/export.h"
#include "foveate/status.h"

namespace foveate {

/// How many targets this build has that this processor can run. At least 1.
FOVEATE_API int64_t target_count();

/// The name of one of them, best first (AMD's and Intel's processors differ in which native products come first): "avx512-amx",
/// "avx512-bf16", "avx512-vnni" (AVX-512 and products of its own for bfloat16 and int8), "avx512", "avx2-vnni", "avx2", "sse4",
/// "scalar", "neon", ... nullptr past the end. (Linux lets a process use AMX when it asks: the first call asks.)
FOVEATE_API const char* target_name(int64_t index);

/// The name of the target that calls use now.
FOVEATE_API const char* active_target();

/// Makes later calls of this process use the target of that name; nullptr, "" or "auto" goes back to the best one. An unknown
/// name, or one that this processor cannot run, is an invalid_argument whose message lists those it can. Thread-safe;
/// calls already running keep theirs.
FOVEATE_API Status pin_target(const char* name);

}  // namespace foveate

#endif  // FOVEATE_TARGET_H_
