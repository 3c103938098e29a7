// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// AVX-VNNI: vpdpbusd on 256 bits, for processors without AVX-512. 4 x 3 accumulators, as gemm-inl.h has there.
#include "kernels/native.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,avxvnni")
#include "kernels/native_product-inl.h"

namespace foveate::kernels {
namespace {

constexpr int64_t kWidth = 8;

__m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

/// sum + x . y by quadruples, x unsigned. Not by the intrinsic: g++ 12 copies each sum to and fro for it, in every step.
__m256i add_quadruples(__m256i sum, __m256i x, __m256i y) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
  return sum;
}

struct ScaledI8 {
  using Sum = __m256i;
  static constexpr int64_t kLanes = kWidth, kRows = 4;
  const int32_t* first;
  const float* lane_factor;
  const float* row_factor;

  static Sum add(Sum sum, Dword a, const Dword* b) {
    return add_quadruples(sum, _mm256_set1_epi32(static_cast<int>(a)), load(b));
  }
  Sum start(int64_t lane) const { return load(first + lane); }
  void store(Sum sum, float* c, int64_t lane, int64_t row) const {
    const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(lane_factor + lane));
    _mm256_storeu_ps(c, _mm256_mul_ps(scaled, _mm256_set1_ps(row_factor[row])));
  }
};

/// One query, in A, and keys, unsigned, in the lanes.
struct RowOfI8 {
  using Sum = __m256i;
  static constexpr int64_t kLanes = kWidth;

  static Sum add(Sum sum, Dword a, const Dword* b) {
    return add_quadruples(sum, load(b), _mm256_set1_epi32(static_cast<int>(a)));
  }
  static void store_sum(Sum sum, float* c) { _mm256_storeu_ps(c, _mm256_cvtepi32_ps(sum)); }
};

void scores_i8(const NativeProduct& x, const int32_t* start, const float* lane_factor, const float* row_factor) {
  product(x, ScaledI8{start, lane_factor, row_factor});
}

void row_i8(const Dword* a, int64_t steps, const Dword* b, int64_t b_stride, int64_t n, int32_t start, float* c) {
  row_product<RowOfI8>(a, 1, steps, b, b_stride, n, _mm256_set1_epi32(start), c);
}

}  // namespace

constexpr NativeProducts kAvx2Vnni = {.lanes = kWidth, .scores_i8 = scores_i8, .row_i8 = row_i8};

}  // namespace foveate::kernels
HWY_POP_ATTRIBUTES
#endif
