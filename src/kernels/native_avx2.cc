// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// AVX-VNNI: vpdpbusd on 256 bits, for processors without AVX-512. 4 x 3 accumulators, as gemm-inl.h has there.
#include "kernels/native.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "hwy/base.h"
#include "kernels/ahead.h"

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

/// Quadruples of int8, each moved by 128.
__m256i moved(__m256i x) { return _mm256_xor_si256(x, _mm256_set1_epi8(static_cast<char>(0x80))); }

struct ScaledI8 {
  using Sum = __m256i;
  using Factor = __m256;
  static constexpr bool kAdjacentRows = false;
  static constexpr int64_t kLanes = kWidth, kRows = 4;
  const int32_t* first;
  const float* lane_factor;
  const float* row_factor;

  static Sum add(Sum sum, Dword a, const Dword* b) {
    return add_quadruples(sum, moved(_mm256_set1_epi32(static_cast<int>(a))), load(b));
  }
  Sum start(int64_t lane) const { return load(first + lane); }
  Factor factor_of(int64_t lane) const { return _mm256_loadu_ps(lane_factor + lane); }
  void store(Sum sum, float* c, Factor factor, int64_t row) const {
    const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), factor);
    _mm256_storeu_ps(c, _mm256_mul_ps(scaled, _mm256_set1_ps(row_factor[row])));
  }
  static void leave(Factor, int64_t) {}
};

/// Few queries, in A, and keys in the lanes.
struct FewI8 {
  using Sum = __m256i;
  static constexpr int64_t kLanes = kWidth;
  static constexpr int kFewSums = 8;
  const int32_t* first;
  const float* row_factor;
  const float* lane_factor;

  static __m256i load(const Dword* b) { return moved(kernels::load(b)); }
  static Sum join(Sum sum, Dword a, __m256i b) {
    return add_quadruples(sum, b, _mm256_set1_epi32(static_cast<int>(a)));
  }
  Sum begin(int64_t row) const { return _mm256_set1_epi32(first[row]); }
  void put(Sum sum, float* c, int64_t row, int64_t lane) const {
    const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(row_factor[row]));
    _mm256_storeu_ps(c, _mm256_mul_ps(scaled, _mm256_loadu_ps(lane_factor + lane)));
  }
};

void scores_i8(const NativeProduct& x, const int32_t* start, const float* lane_factor, const float* row_factor) {
  product(x, ScaledI8{start, lane_factor, row_factor});
}

void few_scores_i8(const NativeFewScores& x, const int32_t* start, const float* row_factor, const float* lane_factor) {
  few_product(x, FewI8{start, row_factor, lane_factor});
}

}  // namespace

constexpr NativeProducts kAvx2Vnni = {.lanes = kWidth, .scores_i8 = scores_i8, .few_scores_i8 = few_scores_i8};

}  // namespace foveate::kernels
HWY_POP_ATTRIBUTES
#endif
