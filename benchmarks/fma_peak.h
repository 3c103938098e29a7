// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The measured limits of one core, which every speed figure is a share of.
#ifndef FOVEATE_BENCHMARKS_FMA_PEAK_H_
#define FOVEATE_BENCHMARKS_FMA_PEAK_H_

#include <cstdint>

namespace foveate::benchmarks {

/// Runs `rounds` rounds of independent multiply-adds of the active target's widest vectors on values kept in registers, and
/// returns the floating-point operations done (two a multiply-add, a lane). On a target without fused multiply-add, a
/// multiply and an add.
template <class T>
int64_t multiply_adds(int64_t rounds);

/// The same of vdpbf16ps or AMX: 0 on any target but avx512-bf16 and avx512-amx.
int64_t bf16_products(int64_t rounds);

}  // namespace foveate::benchmarks

#endif  // FOVEATE_BENCHMARKS_FMA_PEAK_H_
