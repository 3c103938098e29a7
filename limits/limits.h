// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the machine can do, measured: the limits that every speed is told as a share of. A limit is to be measured by turns with
// the work it is set beside, for as long as that takes: over a few milliseconds a shared or warm processor shows speeds that it
// cannot keep. Whoever measures takes the best of several.
//
// Without an executor the calling thread alone is measured, by its processor time; with one all its workers at once, by the
// time that passes.
#ifndef FOVEATE_LIMITS_LIMITS_H_
#define FOVEATE_LIMITS_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "foveate/executor.h"

namespace foveate::limits {

/// What is multiplied and added.
enum class Product : uint8_t { f64, f32, bf16, i8 };

/// "float64", "float32", "bfloat16", "int8".
const char* name_of(Product product);

/// Whether the active target has such products: float32 and float64 always.
bool has(Product product);

/// Operations a second, two a multiply-add, of the active target's products on values kept in registers, from a run of about
/// so many seconds. The target must have them.
double peak(Product product, double seconds, Executor* executor = nullptr);

/// Some memory.
struct Bytes {
  const void* data;
  size_t size;
};

/// Seconds that reading all of it once takes, by plain loads. That is memory's speed only where it is larger than the
/// processor's caches, and the caches' where it is not.
double read_seconds(std::span<const Bytes> all, Executor* executor = nullptr);

}  // namespace foveate::limits

#endif  // FOVEATE_LIMITS_LIMITS_H_
