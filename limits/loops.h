// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Loops that do nothing but what a limit is made of.
#ifndef FOVEATE_LIMITS_LOOPS_H_
#define FOVEATE_LIMITS_LOOPS_H_

#include <cstddef>
#include <cstdint>

namespace foveate::limits {

/// Runs `rounds` rounds of independent multiply-adds of the active target's widest vectors on values kept in registers, and
/// returns the operations done (two a multiply-add, a lane). On a target without fused multiply-add, a multiply and an add.
template <class T>
int64_t multiply_adds(int64_t rounds);

/// The same of products of bfloat16 (vdpbf16ps or AMX): 0 on any target but avx512-bf16 and avx512-amx.
int64_t bf16_products(int64_t rounds);

/// The same of products of int8 (vpdpbusd): 0 on a target without. (AMX has faster ones, which no kernel uses.)
int64_t i8_products(int64_t rounds);

/// Reads all of it and returns the sum of its words of 64 bits, and of the bytes behind the last: by the widest vectors that
/// the processor has, whatever the target.
uint64_t read_all(const void* data, size_t bytes);

}  // namespace foveate::limits

#endif  // FOVEATE_LIMITS_LOOPS_H_
