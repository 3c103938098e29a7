// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// AVX512-BF16 and AVX512-VNNI. The same tile as gemm-inl.h has, 8 x 3 accumulators; a vdpbf16ps does two multiply-adds a
// lane and a vpdpbusd four, at the rate of a float32 one. vdpbf16ps rounds to nearest, and flushes subnormals in and out.
#include "kernels/native.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in g++ 12's own intrinsics (GCC PR105593)
#endif
#include <immintrin.h>

#include "hwy/base.h"

// Nothing of the standard library may be instantiated below: it would be compiled for a processor that few have.
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")
namespace foveate::kernels {
namespace {

constexpr int64_t kLanes = kNativeLanes;

struct Bf16 {
  using Sum = __m512;
  static Sum add(Sum sum, uint32_t a, const uint32_t* b) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a));
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(_mm512_loadu_si512(b)), reinterpret_cast<__m512bh>(x));
  }
};

struct ScaledBf16 : Bf16 {
  __m512 factor;
  Sum start(int64_t) const { return _mm512_setzero_ps(); }
  void store(Sum sum, float* c, int64_t, int64_t) const { _mm512_storeu_ps(c, _mm512_mul_ps(sum, factor)); }
};

struct CorrectedBf16 : Bf16 {
  const float* correction;
  Sum start(int64_t) const { return _mm512_setzero_ps(); }
  void store(Sum sum, float* c, int64_t lane, int64_t) const {
    _mm512_storeu_ps(c, _mm512_fmadd_ps(_mm512_loadu_ps(c), _mm512_loadu_ps(correction + lane), sum));
  }
};

struct ScaledI8 {
  using Sum = __m512i;
  const int32_t* first;
  const float* lane_factor;
  const float* row_factor;
  static Sum add(Sum sum, uint32_t a, const uint32_t* b) {
    return _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(static_cast<int>(a)), _mm512_loadu_si512(b));
  }
  Sum start(int64_t lane) const { return _mm512_loadu_si512(first + lane); }
  void store(Sum sum, float* c, int64_t lane, int64_t row) const {
    const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(lane_factor + lane));
    _mm512_storeu_ps(c, _mm512_mul_ps(scaled, _mm512_set1_ps(row_factor[row])));
  }
};

/// Rows [row, row + MR) of C.
template <int MR, int NV, class Kind>
inline __attribute__((always_inline)) void micro_kernel(const NativeProduct& x, const Kind& kind, int64_t row,
                                                        int64_t lane) {
  typename Kind::Sum sum[MR][NV];
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) sum[m][v] = kind.start(lane + v * kLanes);
  }
  const uint32_t* a = x.a + row * x.a_row_stride;
  const uint32_t* b = x.b + lane;
  for (int64_t step = 0; step < x.steps; ++step, a += x.a_step_stride, b += x.width) {
#pragma GCC unroll 8
    for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) sum[m][v] = Kind::add(sum[m][v], a[m * x.a_row_stride], b + v * kLanes);
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) {
      kind.store(sum[m][v], x.c + (row + m) * x.width + lane + v * kLanes, lane + v * kLanes, row + m);
    }
  }
}

template <int NV, class Kind>
void all_rows(const NativeProduct& x, const Kind& kind) {
  int64_t row = 0;
  for (; row + 8 <= x.rows; row += 8) micro_kernel<8, NV>(x, kind, row, 0);
  if (row + 4 <= x.rows) {
    micro_kernel<4, NV>(x, kind, row, 0);
    row += 4;
  }
  if (row + 2 <= x.rows) {
    micro_kernel<2, NV>(x, kind, row, 0);
    row += 2;
  }
  if (row < x.rows) micro_kernel<1, NV>(x, kind, row, 0);
}

template <class Kind>
void product(const NativeProduct& x, const Kind& kind) {
  switch (x.width / kLanes) {
    case 1:
      return all_rows<1>(x, kind);
    case 2:
      return all_rows<2>(x, kind);
    default:
      return all_rows<3>(x, kind);
  }
}

void scores_bf16(const NativeProduct& x, float factor) {
  ScaledBf16 kind;
  kind.factor = _mm512_set1_ps(factor);
  product(x, kind);
}

void scores_i8(const NativeProduct& x, const int32_t* start, const float* lane_factor, const float* row_factor) {
  product(x, ScaledI8{start, lane_factor, row_factor});
}

void weighted_sum(const NativeProduct& x, const float* correction) {
  CorrectedBf16 kind;
  kind.correction = correction;
  product(x, kind);
}

/// The rows of two places, each times its scale, as pairs of bfloat16.
__m512i pair_of(__m512 even, __m512 odd) {
  const __m512i low = _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(even)));
  const __m512i high = _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(odd)));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

__m512 weight_at(const NativeWeights& w, int64_t place, int64_t lane) {
  const __m512 p = _mm512_loadu_ps(w.p + place * w.width + lane);
  return w.scales == nullptr ? p : _mm512_mul_ps(p, _mm512_set1_ps(w.scales[place]));
}

void round_weights(const NativeWeights& w, uint32_t* out) {
  for (int64_t pair = 0; pair < w.pairs; ++pair) {
    for (int64_t lane = 0; lane < w.width; lane += kLanes) {
      const __m512i joined = pair_of(weight_at(w, 2 * pair, lane), weight_at(w, 2 * pair + 1, lane));
      _mm512_storeu_si512(out + pair * w.width + lane, joined);
    }
  }
}

/// Lanes that place's value must not meet.
__mmask16 forbidden(const NativeWeights& w, int64_t place, int64_t lane) {
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(w.p + place * w.width + lane), _mm512_setzero_ps(), _CMP_LT_OQ);
}

void guarded_weighted_sum(const NativeProduct& x, const NativeWeights& w, const float* correction) {
  CorrectedBf16 kind;
  kind.correction = correction;
  for (int64_t row = 0; row < x.rows; ++row) {
    for (int64_t lane = 0; lane < x.width; lane += kLanes) {
      __m512 sum = _mm512_setzero_ps();
      for (int64_t pair = 0; pair < x.steps; ++pair) {
        const __mmask16 no_even = forbidden(w, 2 * pair, lane), no_odd = forbidden(w, 2 * pair + 1, lane);
        const __m512 even = _mm512_maskz_mov_ps(_knot_mask16(no_even), weight_at(w, 2 * pair, lane));
        const __m512 odd = _mm512_maskz_mov_ps(_knot_mask16(no_odd), weight_at(w, 2 * pair + 1, lane));
        __m512i value = _mm512_set1_epi32(static_cast<int>(x.a[row * x.a_row_stride + pair * x.a_step_stride]));
        value = _mm512_mask_and_epi32(value, no_even, value, _mm512_set1_epi32(static_cast<int>(0xffff0000)));
        value = _mm512_mask_and_epi32(value, no_odd, value, _mm512_set1_epi32(0xffff));
        sum = _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(pair_of(even, odd)), reinterpret_cast<__m512bh>(value));
      }
      kind.store(sum, x.c + row * x.width + lane, lane, row);
    }
  }
}

/// NV vectors of lanes, the last one masked.
template <int NV>
void row_bf16_some(const uint32_t* a, int64_t a_stride, int64_t steps, const uint32_t* b, int64_t b_stride,
                   __mmask16 last, float* c) {
  __m512 sum[NV];
  for (int v = 0; v < NV; ++v) sum[v] = _mm512_setzero_ps();
  for (int64_t step = 0; step < steps; ++step, b += b_stride) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a[step * a_stride]));
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      const __m512i y =
          v + 1 < NV ? _mm512_loadu_si512(b + v * kLanes) : _mm512_maskz_loadu_epi32(last, b + v * kLanes);
      sum[v] = _mm512_dpbf16_ps(sum[v], reinterpret_cast<__m512bh>(y), reinterpret_cast<__m512bh>(x));
    }
  }
  for (int v = 0; v + 1 < NV; ++v) _mm512_storeu_ps(c + v * kLanes, sum[v]);
  _mm512_mask_storeu_ps(c + (NV - 1) * kLanes, last, sum[NV - 1]);
}

template <int NV>
void row_i8_some(const uint32_t* a, int64_t steps, const uint32_t* b, int64_t b_stride, int32_t start, __mmask16 last,
                 float* c) {
  __m512i sum[NV];
  for (int v = 0; v < NV; ++v) sum[v] = _mm512_set1_epi32(start);
  for (int64_t step = 0; step < steps; ++step, b += b_stride) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a[step]));
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) {
      const __m512i y =
          v + 1 < NV ? _mm512_loadu_si512(b + v * kLanes) : _mm512_maskz_loadu_epi32(last, b + v * kLanes);
      sum[v] = _mm512_dpbusd_epi32(sum[v], y, x);
    }
  }
  for (int v = 0; v + 1 < NV; ++v) _mm512_storeu_ps(c + v * kLanes, _mm512_cvtepi32_ps(sum[v]));
  _mm512_mask_storeu_ps(c + (NV - 1) * kLanes, last, _mm512_cvtepi32_ps(sum[NV - 1]));
}

/// Lanes of a vector that n, at least 1, fill.
__mmask16 first_lanes(int64_t n) { return static_cast<__mmask16>(n >= kLanes ? 0xffff : (1 << n) - 1); }

void row_bf16(const uint32_t* a, int64_t a_stride, int64_t steps, const uint32_t* b, int64_t b_stride, int64_t n,
              float* c) {
  int64_t i = 0;
  for (; n - i > 3 * kLanes; i += 4 * kLanes) {
    row_bf16_some<4>(a, a_stride, steps, b + i, b_stride, first_lanes(n - i - 3 * kLanes), c + i);
  }
  for (; i < n; i += kLanes) row_bf16_some<1>(a, a_stride, steps, b + i, b_stride, first_lanes(n - i), c + i);
}

void row_i8(const uint32_t* a, int64_t steps, const uint32_t* b, int64_t b_stride, int64_t n, int32_t start, float* c) {
  int64_t i = 0;
  for (; n - i > 3 * kLanes; i += 4 * kLanes) {
    row_i8_some<4>(a, steps, b + i, b_stride, start, first_lanes(n - i - 3 * kLanes), c + i);
  }
  for (; i < n; i += kLanes) row_i8_some<1>(a, steps, b + i, b_stride, start, first_lanes(n - i), c + i);
}

constexpr NativeProducts kVnni = {.scores_bf16 = nullptr,
                                  .scores_i8 = scores_i8,
                                  .round_weights = nullptr,
                                  .weighted_sum = nullptr,
                                  .guarded_weighted_sum = nullptr,
                                  .row_bf16 = nullptr,
                                  .row_i8 = row_i8};
constexpr NativeProducts kBf16 = {.scores_bf16 = scores_bf16,
                                  .scores_i8 = scores_i8,
                                  .round_weights = round_weights,
                                  .weighted_sum = weighted_sum,
                                  .guarded_weighted_sum = guarded_weighted_sum,
                                  .row_bf16 = row_bf16,
                                  .row_i8 = row_i8};

}  // namespace
}  // namespace foveate::kernels
HWY_POP_ATTRIBUTES

namespace foveate::kernels {

NativeTarget native_target(int i) {
  const bool vnni = __builtin_cpu_supports("avx512vnni"), bf16 = vnni && __builtin_cpu_supports("avx512bf16");
  // AMD's processors do a vdpbf16ps at the rate of a float32 multiply-add. Intel's (Sapphire Rapids: 117 GFLOP/s, where
  // float32 has 234) do one in the time of four, so that converting to float32 is faster there.
  const NativeTarget by_vnni = {"avx512-vnni", &kVnni}, by_bf16 = {"avx512-bf16", &kBf16};
  const NativeTarget first = bf16 && __builtin_cpu_is("amd") ? by_bf16 : by_vnni;
  if (i == 0 && vnni) return first;
  if (i == 1 && bf16) return first.products == &kBf16 ? by_vnni : by_bf16;
  return {};
}

}  // namespace foveate::kernels

#else

namespace foveate::kernels {
NativeTarget native_target(int) { return {}; }
}  // namespace foveate::kernels

#endif
