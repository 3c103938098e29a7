// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Half of a square of 16 x 16 dwords becomes columns in registers. No include guard: it is included in a namespace, among
// functions compiled for AVX-512, of whoever uses it.

/// The same pointer, of which the compiler does not know where it came from.
inline __attribute__((always_inline)) const char* opaque(const char* pointer) {
  asm("" : "+r"(pointer));
  return pointer;
}

/// Rows j and j + 4, eight dwords of each.
inline __attribute__((always_inline)) __m512i two_rows(const char* row, const char* row4) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row4));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// Columns of the 4 x 4 squares in each block of 128 bits become rows.
inline __attribute__((always_inline)) void transpose_blocks(__m512i v[4]) {
  const __m512i low01 = _mm512_unpacklo_epi32(v[0], v[1]), low23 = _mm512_unpacklo_epi32(v[2], v[3]);
  const __m512i high01 = _mm512_unpackhi_epi32(v[0], v[1]), high23 = _mm512_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm512_unpacklo_epi64(low01, low23);
  v[1] = _mm512_unpackhi_epi64(low01, low23);
  v[2] = _mm512_unpacklo_epi64(high01, high23);
  v[3] = _mm512_unpackhi_epi64(high01, high23);
}

/// column[i] lane j = dword i of row j, rows being `stride` bytes apart. Loads of half rows put two rows into a register, so
/// that one step of shuffles fewer is left. Every fourth row is an address, others are some strides from it: left to itself,
/// in a loop, g++ keeps the addresses of all rows, in vector registers, and takes twice the time.
inline __attribute__((always_inline)) void columns_of_square(const void* rows, int64_t stride, __m512i column[8]) {
  const char* const row0 = opaque(static_cast<const char*>(rows));
  const char *const row4 = opaque(row0 + 4 * stride), *const row8 = opaque(row0 + 8 * stride);
  const char* const row12 = opaque(row8 + 4 * stride);
  __m512i a[4], b[4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) a[j] = two_rows(row0 + j * stride, row4 + j * stride);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) b[j] = two_rows(row8 + j * stride, row12 + j * stride);
  transpose_blocks(a);
  transpose_blocks(b);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    column[j] = _mm512_shuffle_i32x4(a[j], b[j], 0x88);
    column[j + 4] = _mm512_shuffle_i32x4(a[j], b[j], 0xdd);
  }
}
