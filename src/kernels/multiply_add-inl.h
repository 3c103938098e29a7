// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The one multiply-add of the kernels: Highway's, but for WebAssembly's relaxed SIMD, which Highway 1.0.3 does not know:
// there one instruction, fused or not as the browser finds faster on the processor at hand, the same throughout a run.
#if defined(FOVEATE_SRC_KERNELS_MULTIPLY_ADD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_MULTIPLY_ADD_INL_H_
#undef FOVEATE_SRC_KERNELS_MULTIPLY_ADD_INL_H_
#else
#define FOVEATE_SRC_KERNELS_MULTIPLY_ADD_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// a * b + c. (Not called MulAdd: Highway's would be found beside it, by the arguments.)
template <class V>
HWY_INLINE V MultiplyAdd(V a, V b, V c) {
#if HWY_TARGET == HWY_WASM && defined(__wasm_relaxed_simd__)
  return V{wasm_f32x4_relaxed_madd(a.raw, b.raw, c.raw)};
#else
  return hn::MulAdd(a, b, c);
#endif
}

/// c - a * b.
template <class V>
HWY_INLINE V NegMultiplyAdd(V a, V b, V c) {
#if HWY_TARGET == HWY_WASM && defined(__wasm_relaxed_simd__)
  return V{wasm_f32x4_relaxed_nmadd(a.raw, b.raw, c.raw)};
#else
  return hn::NegMulAdd(a, b, c);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_MULTIPLY_ADD_INL_H_
