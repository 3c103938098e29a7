// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// AVX512-BF16 and AVX512-VNNI, and with AMX's products (native_amx.h). The same tile as gemm-inl.h has, 8 x 3 accumulators; a vdpbf16ps does two multiply-adds a
// lane and a vpdpbusd four, at the rate of a float32 one. vdpbf16ps rounds to nearest, and flushes subnormals in and out.
#include "kernels/native.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in g++ 12's own intrinsics (GCC PR105593)
#endif
#include <immintrin.h>

#include "hwy/base.h"
#include "kernels/ahead.h"
#include "kernels/native_amx.h"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")
#include "kernels/native_product-inl.h"

namespace foveate::kernels {
namespace {

#include "kernels/square_avx512-inl.h"

constexpr int64_t kWidth = 16;

struct Bf16 {
  using Sum = __m512;
  using Factor = __m512;
  static constexpr int64_t kLanes = kWidth, kRows = 8;

  static Sum add(Sum sum, Dword a, const Dword* b) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a));
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(_mm512_loadu_si512(b)), reinterpret_cast<__m512bh>(x));
  }
  static Sum start(int64_t) { return _mm512_setzero_ps(); }
};

/// What the scores of some lanes are multiplied by, and the largest of them.
struct ScoreFactor {
  __m512 factor, most;
};

ScoreFactor score_factor(__m512 factor, const float* most, int64_t lane) {
  return {factor, most == nullptr ? factor : _mm512_loadu_ps(most + lane)};
}

void put_score(__m512 score, float* c, ScoreFactor& its) {
  its.most = _mm512_max_ps(its.most, score);
  _mm512_storeu_ps(c, score);
}

void leave_most(const ScoreFactor& its, float* most, int64_t lane) {
  if (most != nullptr) _mm512_storeu_ps(most + lane, its.most);
}

struct ScaledBf16 : Bf16 {
  using Factor = ScoreFactor;
  static constexpr bool kAdjacentRows = false;
  __m512 factor;
  float* most;

  Factor factor_of(int64_t lane) const { return score_factor(factor, most, lane); }
  static void store(Sum sum, float* c, Factor& its, int64_t) { put_score(_mm512_mul_ps(sum, its.factor), c, its); }
  void leave(const Factor& its, int64_t lane) const { leave_most(its, most, lane); }
};

struct CorrectedBf16 : Bf16 {
  static constexpr bool kAdjacentRows = true;
  const float* correction;

  Factor factor_of(int64_t lane) const { return _mm512_loadu_ps(correction + lane); }
  static void store(Sum sum, float* c, Factor factor, int64_t) {
    _mm512_storeu_ps(c, _mm512_fmadd_ps(_mm512_loadu_ps(c), factor, sum));
  }
  static void leave(Factor, int64_t) {}
};

template <bool kAdjacent>
struct AddedBf16 : Bf16 {
  static constexpr bool kAdjacentRows = kAdjacent;
  struct Factor {};

  static Factor factor_of(int64_t) { return {}; }
  static void store(Sum sum, float* c, Factor, int64_t) { _mm512_storeu_ps(c, _mm512_add_ps(_mm512_loadu_ps(c), sum)); }
  static void leave(Factor, int64_t) {}
};

/// sum + x . y by quadruples, x unsigned. Not by the intrinsic: g++ 12 copies each sum to and fro for it, in every step.
__m512i add_quadruples(__m512i sum, __m512i x, __m512i y) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  return sum;
}

/// Quadruples of int8, each moved by 128.
__m512i moved(__m512i x) { return _mm512_xor_si512(x, _mm512_set1_epi8(static_cast<char>(0x80))); }

struct ScaledI8 {
  using Sum = __m512i;
  using Factor = ScoreFactor;
  static constexpr bool kAdjacentRows = false;
  static constexpr int64_t kLanes = kWidth, kRows = 8;
  const int32_t* first;
  const float* lane_factor;
  const float* row_factor;
  float* most;

  static Sum add(Sum sum, Dword a, const Dword* b) {
    return add_quadruples(sum, moved(_mm512_set1_epi32(static_cast<int>(a))), _mm512_loadu_si512(b));
  }
  Sum start(int64_t lane) const { return _mm512_loadu_si512(first + lane); }
  Factor factor_of(int64_t lane) const { return score_factor(_mm512_loadu_ps(lane_factor + lane), most, lane); }
  void store(Sum sum, float* c, Factor& its, int64_t row) const {
    const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), its.factor);
    put_score(_mm512_mul_ps(scaled, _mm512_set1_ps(row_factor[row])), c, its);
  }
  void leave(const Factor& its, int64_t lane) const { leave_most(its, most, lane); }
};

/// Few queries, in A, and keys in the lanes.
struct FewBf16 {
  using Sum = __m512;
  __m512 factor;

  static __m512i key(__m512i x) { return x; }
  static Sum join(Sum sum, Dword a, __m512i b) {
    const __m512i x = _mm512_set1_epi32(static_cast<int>(a));
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(b));
  }
  static Sum begin(int64_t) { return _mm512_setzero_ps(); }
  void put(Sum sum, float* c, int64_t, int64_t) const { _mm512_storeu_ps(c, _mm512_mul_ps(sum, factor)); }
};

/// The same of int8.
struct FewI8 {
  using Sum = __m512i;
  const int32_t* first;
  const float* row_factor;
  const float* lane_factor;

  static __m512i key(__m512i x) { return moved(x); }
  static Sum join(Sum sum, Dword a, __m512i b) {
    return add_quadruples(sum, b, _mm512_set1_epi32(static_cast<int>(a)));
  }
  Sum begin(int64_t row) const { return _mm512_set1_epi32(first[row]); }
  void put(Sum sum, float* c, int64_t row, int64_t lane) const {
    const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(row_factor[row]));
    _mm512_storeu_ps(c, _mm512_mul_ps(scaled, _mm512_loadu_ps(lane_factor + lane)));
  }
};

void scores_bf16(const NativeProduct& x, float factor) {
  ScaledBf16 kind;
  kind.factor = _mm512_set1_ps(factor);
  kind.most = x.most;
  product_of_vectors(x, kind);
}

void scores_i8(const NativeProduct& x, const int32_t* start, const float* lane_factor, const float* row_factor) {
  product_of_vectors(x, ScaledI8{start, lane_factor, row_factor, x.most});
}

void weighted_sum(const NativeProduct& x, const float* correction) {
  CorrectedBf16 kind;
  kind.correction = correction;
  product_of_vectors(x, kind);
}

void add_bf16(const NativeProduct& x) {
  x.a_row_stride == 1 ? product(x, AddedBf16<true>()) : product(x, AddedBf16<false>());
}

void round_rows(const float* x, int64_t rows, int64_t width, int64_t n, Dword* out) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t lane = 0; lane < width; lane += kWidth) {
      const int64_t left = n - lane;
      const auto there = static_cast<__mmask16>(left >= kWidth ? 0xffff : left > 0 ? (1 << left) - 1 : 0);
      const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(there, x + row * width + lane));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + (row * width + lane) / 2),
                          reinterpret_cast<__m256i>(rounded));
    }
  }
}

/// The rows of two places, each times its scale, as pairs of bfloat16.
__m512i pair_of(__m512 even, __m512 odd) {
  // Even ones come out in front of all odd ones: lane i takes i and 16 + i.
  const __m512i places =
      _mm512_setr_epi32(0x100000, 0x110001, 0x120002, 0x130003, 0x140004, 0x150005, 0x160006, 0x170007, 0x180008,
                        0x190009, 0x1a000a, 0x1b000b, 0x1c000c, 0x1d000d, 0x1e000e, 0x1f000f);
  return _mm512_permutexvar_epi16(places, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even)));
}

__m512 weight_at(const NativeWeights& w, int64_t place, int64_t lane) {
  const __m512 p = _mm512_loadu_ps(w.p + place * w.width + lane);
  return w.scales == nullptr ? p : _mm512_mul_ps(p, _mm512_set1_ps(w.scales[place]));
}

void round_weights(const NativeWeights& w, Dword* out) {
  for (int64_t pair = 0; pair < w.pairs; ++pair) {
    for (int64_t lane = 0; lane < w.width; lane += kWidth) {
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
    for (int64_t lane = 0; lane < x.width; lane += kWidth) {
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
      kind.store(sum, x.c + row * x.width + lane, kind.factor_of(lane), row);
    }
  }
}

/// The sums of MR rows, plus the products of their dwords at `step` and a column of keys.
template <int MR, class Kind>
inline __attribute__((always_inline)) void join_column(typename Kind::Sum sum[MR], const Dword* const a[MR],
                                                       int64_t step, __m512i column) {
  const __m512i key = Kind::key(column);
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) sum[m] = Kind::join(sum[m], a[m][step], key);
}

/// Keys [lane, lane + 16 G) for MR rows, the last of which is done several times where there are fewer. Squares are worked
/// on side by side, since each sum waits for the last product.
template <int MR, int G, class Kind>
inline __attribute__((always_inline)) void few_squares(const NativeFewKeys& x, const Kind& kind, int64_t lane) {
  typename Kind::Sum sum[G][MR];
  const Dword* a[MR];
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
    const int64_t row = m < x.rows ? m : x.rows - 1;
    a[m] = x.a + row * x.steps;
#pragma GCC unroll 2
    for (int g = 0; g < G; ++g) sum[g][m] = kind.begin(row);
  }
  constexpr int64_t kSteps = 8;
  __m512i column[kSteps];
  int64_t step = 0;
  for (; step + kSteps <= x.steps; step += kSteps) {
#pragma GCC unroll 2
    for (int g = 0; g < G; ++g) {
      columns_of_square(x.keys + (lane + g * kWidth) * x.stride + step, x.stride * 4, column);
#pragma GCC unroll 8
      for (int i = 0; i < kSteps; ++i) join_column<MR, Kind>(sum[g], a, step + i, column[i]);
      x.ahead->reads(kWidth * kSteps * 4);
    }
  }
  if (step < x.steps) {
    const auto there = static_cast<__mmask8>((1 << (x.steps - step)) - 1);
    for (int g = 0; g < G; ++g) {
      __m256i rest[kWidth];
      for (int64_t j = 0; j < kWidth; ++j) {
        rest[j] = _mm256_maskz_loadu_epi32(there, x.keys + (lane + g * kWidth + j) * x.stride + step);
      }
      columns_of_square(rest, sizeof(__m256i), column);
      for (int64_t i = step; i < x.steps; ++i) join_column<MR, Kind>(sum[g], a, i, column[i - step]);
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
    if (m >= x.rows) break;
#pragma GCC unroll 2
    for (int g = 0; g < G; ++g) {
      const int64_t at = lane + g * kWidth;
      kind.put(sum[g][m], x.c + m * x.c_stride + at, m, at);
    }
  }
}

template <int MR, class Kind>
void few_keys_of(const NativeFewKeys& x, const Kind& kind) {
  constexpr int G = MR < 8 ? 2 : 1;
  int64_t lane = 0;
  for (; lane + G * kWidth <= x.n; lane += G * kWidth) few_squares<MR, G>(x, kind, lane);
  for (; lane < x.n; lane += kWidth) few_squares<MR, 1>(x, kind, lane);
}

template <class Kind>
void few_keys(const NativeFewKeys& x, const Kind& kind) {
  if (x.rows == 1) return few_keys_of<1>(x, kind);
  if (x.rows == 2) return few_keys_of<2>(x, kind);
  if (x.rows <= 4) return few_keys_of<4>(x, kind);
  few_keys_of<8>(x, kind);
}

void few_keys_bf16(const NativeFewKeys& x, float factor) { few_keys(x, FewBf16{_mm512_set1_ps(factor)}); }

void few_keys_i8(const NativeFewKeys& x, const int32_t* start, const float* row_factor, const float* lane_factor) {
  few_keys(x, FewI8{start, row_factor, lane_factor});
}

/// Two rows of 32 bfloat16 as pairs. Interleaving goes by blocks of four: sums are put into order where they are stored.
struct Bf16Values {
  using Element = uint16_t;

  static void load(const Element* even, const Element* odd, __mmask32 there, __m512i pairs[2]) {
    const __m512i low = _mm512_maskz_loadu_epi16(there, even), high = _mm512_maskz_loadu_epi16(there, odd);
    pairs[0] = _mm512_unpacklo_epi16(low, high);
    pairs[1] = _mm512_unpackhi_epi16(low, high);
  }
  static void order(__m512 sums[2]) {
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i second = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    const __m512 low = sums[0], high = sums[1];
    sums[0] = _mm512_permutex2var_ps(low, first, high);
    sums[1] = _mm512_permutex2var_ps(low, second, high);
  }
};

/// Two rows of 32 int8 as pairs of bfloat16: a small integer's float32 ends in sixteen zeros.
struct I8Values {
  using Element = int8_t;

  static __m512i floats(const Element* from, __mmask16 there) {
    return _mm512_castps_si512(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(there, from))));
  }
  static __m512i joined(const Element* even, const Element* odd, __mmask16 there) {
    return _mm512_or_si512(_mm512_srli_epi32(floats(even, there), 16), floats(odd, there));
  }
  static void load(const Element* even, const Element* odd, __mmask32 there, __m512i pairs[2]) {
    pairs[0] = joined(even, odd, static_cast<__mmask16>(there));
    pairs[1] = joined(even + 16, odd + 16, static_cast<__mmask16>(there >> 16));
  }
  static void order(__m512[2]) {}
};

/// Columns [column, column + 32 NU), `there` of the last 32, of MR rows.
template <int MR, int NU, class Kind>
inline __attribute__((always_inline)) void few_columns(const NativeFewValues& x, int64_t row, int64_t column,
                                                       __mmask32 there) {
  using Element = typename Kind::Element;
  const int64_t columns = x.d - column < 32 * NU ? x.d - column : 32 * NU;
  // The first rows read values from memory, others find them in L1.
  const int64_t bytes = row == 0 ? 2 * columns * static_cast<int64_t>(sizeof(Element)) : 0;
  __m512 sum[MR][NU][2];
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 4
    for (int u = 0; u < NU; ++u) sum[m][u][0] = sum[m][u][1] = _mm512_setzero_ps();
  }
  const Dword* a = x.a + row * x.a_stride;
  for (int64_t pair = 0; pair < x.pairs; ++pair, ++a) {
    x.ahead->reads(bytes);
    const Element* const even = static_cast<const Element*>(x.values[2 * pair]) + column;
    const Element* const odd = static_cast<const Element*>(x.values[2 * pair + 1]) + column;
    __m512i value[NU][2];
#pragma GCC unroll 4
    for (int u = 0; u < NU; ++u) Kind::load(even + 32 * u, odd + 32 * u, there, value[u]);
#pragma GCC unroll 8
    for (int m = 0; m < MR; ++m) {
      const auto weight = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[m * x.a_stride])));
#pragma GCC unroll 4
      for (int u = 0; u < NU; ++u) {
        sum[m][u][0] = _mm512_dpbf16_ps(sum[m][u][0], weight, reinterpret_cast<__m512bh>(value[u][0]));
        sum[m][u][1] = _mm512_dpbf16_ps(sum[m][u][1], weight, reinterpret_cast<__m512bh>(value[u][1]));
      }
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
    const __m512 correction = _mm512_set1_ps(x.correction[row + m]);
#pragma GCC unroll 4
    for (int u = 0; u < NU; ++u) {
      Kind::order(sum[m][u]);
      for (int half = 0; half < 2; ++half) {
        float* const to = x.o + (row + m) * x.d + column + 32 * u + 16 * half;
        const auto lanes = static_cast<__mmask16>(there >> (16 * half));
        const __m512 before = _mm512_maskz_loadu_ps(lanes, to);
        _mm512_mask_storeu_ps(to, lanes, _mm512_fmadd_ps(before, correction, sum[m][u][half]));
      }
    }
  }
}

template <class Kind>
struct FewValuesOf {
  const NativeFewValues& x;

  template <int MR>
  void rows(int64_t row) const {
    constexpr int kMost = 8 / MR, kUnits = kMost < 1 ? 1 : kMost < 4 ? kMost : 4;
    constexpr __mmask32 kAll = 0xffffffff;
    int64_t column = 0;
    for (; column + 32 * kUnits <= x.d; column += 32 * kUnits) few_columns<MR, kUnits, Kind>(x, row, column, kAll);
    for (; column + 32 <= x.d; column += 32) few_columns<MR, 1, Kind>(x, row, column, kAll);
    if (column < x.d) few_columns<MR, 1, Kind>(x, row, column, kAll >> (32 - (x.d - column)));
  }
};

void few_values_bf16(const NativeFewValues& x) { by_row_groups(x.rows, FewValuesOf<Bf16Values>{x}); }

void few_values_i8(const NativeFewValues& x) { by_row_groups(x.rows, FewValuesOf<I8Values>{x}); }

}  // namespace

constexpr NativeProducts kAvx512Amx = {.lanes = kWidth,
                                       .scores_i8 = scores_i8,
                                       .few_keys_i8 = few_keys_i8,
                                       .step_group = kAmxSteps,
                                       .scores_bf16 = amx_scores_bf16,
                                       .round_weights = round_weights,
                                       .weighted_sum = amx_weighted_sum,
                                       .add_bf16 = amx_add_bf16,
                                       .round_rows = round_rows};
constexpr NativeProducts kAvx512Vnni = {
    .lanes = kWidth, .finds_most = true, .divides = true, .scores_i8 = scores_i8, .few_keys_i8 = few_keys_i8};
constexpr NativeProducts kAvx512Bf16 = {.lanes = kWidth,
                                        .finds_most = true,
                                        .divides = true,
                                        .scores_i8 = scores_i8,
                                        .few_keys_i8 = few_keys_i8,
                                        .scores_bf16 = scores_bf16,
                                        .round_weights = round_weights,
                                        .weighted_sum = weighted_sum,
                                        .guarded_weighted_sum = guarded_weighted_sum,
                                        .add_bf16 = add_bf16,
                                        .round_rows = round_rows,
                                        .few_keys_bf16 = few_keys_bf16,
                                        .few_values_bf16 = few_values_bf16,
                                        .few_values_i8 = few_values_i8};

}  // namespace foveate::kernels
HWY_POP_ATTRIBUTES
#endif
