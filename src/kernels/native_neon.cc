// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The dot product of Armv8.2: sdot multiplies signed by signed, so keys stay as they are. 8 x 3 accumulators, as gemm-inl.h
// has there.
#include "kernels/native.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include "hwy/base.h"
#include "kernels/ahead.h"

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
  using Factor = float32x4_t;
  static constexpr bool kAdjacentRows = false;
  static constexpr int64_t kLanes = kWidth, kRows = 8;
  const int32_t* first;
  const float* lane_factor;
  const float* row_factor;

  static Sum add(Sum sum, Dword a, const Dword* b) {
    return vdotq_s32(sum, vreinterpretq_s8_u32(vld1q_u32(b)), vreinterpretq_s8_u32(vdupq_n_u32(a)));
  }
  Sum start(int64_t lane) const { return vld1q_s32(first + lane); }
  Factor factor_of(int64_t lane) const { return vld1q_f32(lane_factor + lane); }
  void store(Sum sum, float* c, Factor factor, int64_t row) const {
    vst1q_f32(c, vmulq_n_f32(vmulq_f32(vcvtq_f32_s32(sum), factor), row_factor[row]));
  }
  static void leave(Factor, int64_t) {}
};

/// Few queries, in A, and keys in the lanes.
struct FewI8 {
  using Sum = int32x4_t;
  static constexpr int64_t kLanes = kWidth;
  static constexpr int kFewSums = 16;
  const int32_t* first;
  const float* row_factor;
  const float* lane_factor;

  static int8x16_t load(const Dword* b) { return vreinterpretq_s8_u32(vld1q_u32(b)); }
  static Sum join(Sum sum, Dword a, int8x16_t b) { return vdotq_s32(sum, b, vreinterpretq_s8_u32(vdupq_n_u32(a))); }
  Sum begin(int64_t row) const { return vdupq_n_s32(first[row]); }
  void put(Sum sum, float* c, int64_t row, int64_t lane) const {
    vst1q_f32(c, vmulq_f32(vmulq_n_f32(vcvtq_f32_s32(sum), row_factor[row]), vld1q_f32(lane_factor + lane)));
  }
};

void scores_i8(const NativeProduct& x, const int32_t* start, const float* lane_factor, const float* row_factor) {
  product(x, ScaledI8{start, lane_factor, row_factor});
}

void few_scores_i8(const NativeFewScores& x, const int32_t* start, const float* row_factor, const float* lane_factor) {
  few_product(x, FewI8{start, row_factor, lane_factor});
}

}  // namespace

constexpr NativeProducts kNeonDotprod = {
    .lanes = kWidth, .signed_keys = true, .scores_i8 = scores_i8, .few_scores_i8 = few_scores_i8};

}  // namespace foveate::kernels
HWY_POP_ATTRIBUTES
#endif
