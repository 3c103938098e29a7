// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "kernels/native_amx.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // in g++ 12's own intrinsics (GCC PR105593)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,amx-tile,amx-bf16")

namespace foveate::kernels {
namespace {

/// Rows and columns of a tile of sums, in dwords of A's and B's tiles too.
constexpr int64_t kSide = 16;
using Square = Dword[kSide * kSide];

/// All eight tiles are squares: shorter operands are filled up with zeros.
struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t column_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr Config kConfig;

/// g++'s intrinsics do not say that they read memory.
inline void written() { asm volatile("" ::: "memory"); }

/// Rows of 16 dwords, `stride` apart, of which some rows and columns are there; the rest become 0.
void fill(const Dword* from, int64_t stride, int64_t rows, int64_t columns, Dword* to) {
  const auto there = static_cast<__mmask16>((1u << columns) - 1);
  for (int64_t r = 0; r < kSide; ++r) {
    const __m512i row = r < rows ? _mm512_maskz_loadu_epi32(there, from + r * stride) : _mm512_setzero_si512();
    _mm512_storeu_si512(to + r * kSide, row);
  }
}

/// The same of columns: to[r][c] = from[c * stride + r]. By halves: pairs of rows, pairs of these, then quarters of registers.
void fill_transposed(const Dword* from, int64_t stride, int64_t rows, int64_t columns, Dword* to) {
  const auto there = static_cast<__mmask16>((1u << rows) - 1);
  __m512i x[kSide], y[kSide];
#pragma GCC unroll 16
  for (int64_t c = 0; c < kSide; ++c) {
    x[c] = c < columns ? _mm512_maskz_loadu_epi32(there, from + c * stride) : _mm512_setzero_si512();
  }
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i even0 = _mm512_shuffle_i32x4(x[j], x[4 + j], 0x88), odd0 = _mm512_shuffle_i32x4(x[j], x[4 + j], 0xdd);
    const __m512i even1 = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0x88);
    const __m512i odd1 = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0xdd);
    _mm512_storeu_si512(to + j * kSide, _mm512_shuffle_i32x4(even0, even1, 0x88));
    _mm512_storeu_si512(to + (4 + j) * kSide, _mm512_shuffle_i32x4(odd0, odd1, 0x88));
    _mm512_storeu_si512(to + (8 + j) * kSide, _mm512_shuffle_i32x4(even0, even1, 0xdd));
    _mm512_storeu_si512(to + (12 + j) * kSide, _mm512_shuffle_i32x4(odd0, odd1, 0xdd));
  }
}

/// C[16 rows x width] of the rows from `row` on, from 0 or, `add`, from what is there. last_b holds the last steps of B where
/// they are fewer than a tile's.
template <int NV>
inline __attribute__((always_inline)) void square_products(const NativeProduct& x, int64_t row, const Dword* last_b,
                                                           float* c, int64_t c_stride, bool add) {
  const int64_t rows = x.rows - row < kSide ? x.rows - row : kSide;
  if (add) {
    _tile_loadd(0, c, c_stride * 4);
    if (NV > 1) _tile_loadd(1, c + kSide, c_stride * 4);
    if (NV > 2) _tile_loadd(2, c + 2 * kSide, c_stride * 4);
  } else {
    _tile_zero(0);
    if (NV > 1) _tile_zero(1);
    if (NV > 2) _tile_zero(2);
  }
  alignas(64) Square square;
  for (int64_t step = 0; step < x.steps; step += kAmxSteps) {
    const int64_t steps = x.steps - step < kAmxSteps ? x.steps - step : kAmxSteps;
    const Dword* const a = x.a + row * x.a_row_stride + step * x.a_step_stride;
    const bool whole = rows == kSide && steps == kAmxSteps;
    if (x.a_step_stride == 1 && whole) {
      _tile_loadd(3, a, x.a_row_stride * 4);
    } else {
      if (x.a_step_stride == 1) {
        fill(a, x.a_row_stride, rows, steps, square);
      } else {
        fill_transposed(a, x.a_step_stride, rows, steps, square);
      }
      written();
      _tile_loadd(3, square, kSide * 4);
    }
    const Dword* const b = steps == kAmxSteps ? x.b + step * x.width : last_b;
    _tile_loadd(4, b, x.width * 4);
    _tile_dpbf16ps(0, 3, 4);
    if (NV > 1) {
      _tile_loadd(5, b + kSide, x.width * 4);
      _tile_dpbf16ps(1, 3, 5);
    }
    if (NV > 2) {
      _tile_loadd(6, b + 2 * kSide, x.width * 4);
      _tile_dpbf16ps(2, 3, 6);
    }
  }
  _tile_stored(0, c, c_stride * 4);
  if (NV > 1) _tile_stored(1, c + kSide, c_stride * 4);
  if (NV > 2) _tile_stored(2, c + 2 * kSide, c_stride * 4);
  written();
}

/// All rows of C. Kind says whether whole squares are added to C where it lies (kInPlace), and what becomes of a row of sums
/// else: put(sums, c, lane).
template <int NV, class Kind>
inline __attribute__((always_inline)) void all_rows(const NativeProduct& x, const Kind& kind) {
  constexpr int64_t kWidth = NV * kSide;
  alignas(64) float sums[kSide * kWidth];
  alignas(64) Dword last_b[kAmxSteps * kWidth];
  const int64_t left = x.steps % kAmxSteps;
  for (int64_t step = 0; left != 0 && step < kAmxSteps; ++step) {
    for (int64_t lane = 0; lane < kWidth; lane += kSide) {
      const Dword* const from = x.b + (x.steps - left + step) * x.width + lane;
      _mm512_storeu_si512(last_b + step * kWidth + lane,
                          step < left ? _mm512_loadu_si512(from) : _mm512_setzero_si512());
    }
  }
  _tile_loadconfig(&kConfig);
  written();
  for (int64_t row = 0; row < x.rows; row += kSide) {
    float* const c = x.c + row * kWidth;
    if (Kind::kInPlace && x.rows - row >= kSide) {
      square_products<NV>(x, row, last_b, c, kWidth, true);
      continue;
    }
    square_products<NV>(x, row, last_b, sums, kWidth, false);
    const int64_t rows = x.rows - row < kSide ? x.rows - row : kSide;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t lane = 0; lane < kWidth; lane += kSide) {
        kind.put(_mm512_load_ps(sums + r * kWidth + lane), c + r * kWidth + lane, lane);
      }
    }
  }
  _tile_release();
}

template <class Kind>
void product(const NativeProduct& x, const Kind& kind) {
  switch (x.width / kSide) {
    case 1:
      return all_rows<1>(x, kind);
    case 2:
      return all_rows<2>(x, kind);
    default:
      return all_rows<3>(x, kind);
  }
}

struct Scaled {
  static constexpr bool kInPlace = false;
  __m512 factor;
  void put(__m512 sum, float* c, int64_t) const { _mm512_storeu_ps(c, _mm512_mul_ps(sum, factor)); }
};

struct Corrected {
  static constexpr bool kInPlace = false;
  const float* correction;
  void put(__m512 sum, float* c, int64_t lane) const {
    _mm512_storeu_ps(c, _mm512_fmadd_ps(_mm512_loadu_ps(c), _mm512_loadu_ps(correction + lane), sum));
  }
};

struct Added {
  static constexpr bool kInPlace = true;
  static void put(__m512 sum, float* c, int64_t) { _mm512_storeu_ps(c, _mm512_add_ps(_mm512_loadu_ps(c), sum)); }
};

}  // namespace

void amx_scores_bf16(const NativeProduct& x, float factor) { product(x, Scaled{_mm512_set1_ps(factor)}); }
void amx_weighted_sum(const NativeProduct& x, const float* correction) { product(x, Corrected{correction}); }
void amx_add_bf16(const NativeProduct& x) { product(x, Added{}); }

}  // namespace foveate::kernels
HWY_POP_ATTRIBUTES

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace foveate::kernels {

bool has_amx() {
#if defined(__linux__)
  unsigned a = 7, b, c = 0, d;
  asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24;
  if ((d & kBf16) == 0 || (d & kTile) == 0) return false;
  // ARCH_REQ_XCOMP_PERM for XTILEDATA: for the whole process, and once; asking again changes nothing.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace foveate::kernels
#endif
