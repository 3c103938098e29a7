// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The dot product of Armv8.2: sdot multiplies signed by signed, so keys stay as they are. 8 x 3 accumulators, as gemm-inl.h
// has there.
#include "kernels/native.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include "hwy/base.h"

#ifdef __clang__
HWY_PUSH_ATTRIBUTES("dotprod")
#else
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")
#endif
#include "kernels/native_product-inl.h"

namespace foveate::kernels {
namespace {

constexpr int64_t kWidth = 4;

struct ScaledI8 {
  using Sum = int32x4_t;
  static constexpr int64_t kLanes = kWidth, kRows = 8;
  const int32_t* first;
  const float* lane_factor;
  const float* row_factor;

  static Sum add(Sum sum, Dword a, const Dword* b) {
    return vdotq_s32(sum, vreinterpretq_s8_u32(vld1q_u32(b)), vreinterpretq_s8_u32(vdupq_n_u32(a)));
  }
  Sum start(int64_t lane) const { return vld1q_s32(first + lane); }
  void store(Sum sum, float* c, int64_t lane, int64_t row) const {
    vst1q_f32(c, vmulq_n_f32(vmulq_f32(vcvtq_f32_s32(sum), vld1q_f32(lane_factor + lane)), row_factor[row]));
  }
  static void store_sum(Sum sum, float* c) { vst1q_f32(c, vcvtq_f32_s32(sum)); }
};

void scores_i8(const NativeProduct& x, const int32_t* start, const float* lane_factor, const float* row_factor) {
  product(x, ScaledI8{start, lane_factor, row_factor});
}

void row_i8(const Dword* a, int64_t steps, const Dword* b, int64_t b_stride, int64_t n, int32_t start, float* c) {
  row_product<ScaledI8>(a, 1, steps, b, b_stride, n, vdupq_n_s32(start), c);
}

}  // namespace

constexpr NativeProducts kNeonDotprod = {
    .lanes = kWidth, .signed_keys = true, .scores_i8 = scores_i8, .row_i8 = row_i8};

}  // namespace foveate::kernels
HWY_POP_ATTRIBUTES
#endif
