// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Rows become columns, in squares of registers: 16 x 16 dwords on AVX-512, 8 x 8 on AVX2, 4 x 4 elsewhere. Loads of half
// rows put two rows into a register, so that one step of shuffles fewer is left: three for 16 x 16, two for 8 x 8.
#if defined(FOVEATE_SRC_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_TRANSPOSE_INL_H_
#undef FOVEATE_SRC_KERNELS_TRANSPOSE_INL_H_
#else
#define FOVEATE_SRC_KERNELS_TRANSPOSE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of a square of elements of 4 bytes; a square has as many columns.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
inline constexpr int64_t kSquare = 16;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
inline constexpr int64_t kSquare = 8;
#else
inline constexpr int64_t kSquare = 4;
#endif

/// Copies an element that may be a pair of narrower ones.
template <class T>
HWY_INLINE void CopyBits(const T* from, T* to) {
  std::memcpy(to, from, sizeof(T));
}

#if HWY_TARGET != HWY_SCALAR
/// Four vectors, in each block of 128 bits of which columns of a 4 x 4 square become rows.
template <class D, class V>
HWY_INLINE void TransposeBlocks(D d, V& v0, V& v1, V& v2, V& v3) {
  const hn::RepartitionToWide<hn::RebindToUnsigned<D>> wide;
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, v0, v1));
  const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, v2, v3));
  const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, v0, v1));
  const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, v2, v3));
  v0 = hn::BitCast(d, hn::InterleaveLower(wide, low01, low23));
  v1 = hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23));
  v2 = hn::BitCast(d, hn::InterleaveLower(wide, high01, high23));
  v3 = hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23));
}

/// to[i * stride + j] = rows.row(j)[first + i] for 4 x 4 elements of 4 bytes.
template <class T>
HWY_INLINE void TransposeFour(Broadcasts<T, false> rows, int64_t first, T* to, int64_t stride) {
  const hn::FixedTag<T, 4> d;
  auto v0 = hn::LoadU(d, rows.row(0) + first), v1 = hn::LoadU(d, rows.row(1) + first);
  auto v2 = hn::LoadU(d, rows.row(2) + first), v3 = hn::LoadU(d, rows.row(3) + first);
  TransposeBlocks(d, v0, v1, v2, v3);
  hn::StoreU(v0, d, to);
  hn::StoreU(v1, d, to + stride);
  hn::StoreU(v2, d, to + 2 * stride);
  hn::StoreU(v3, d, to + 3 * stride);
}

/// Columns of a square that are in registers at a time.
inline constexpr int64_t kSquareColumns = kSquare > 4 ? kSquare / 2 : 4;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#include "kernels/square_avx512-inl.h"
#endif

/// Calls body(i, column), i < kSquareColumns, in order: lane j of the column is rows.row(j)[first + i], for kSquare rows.
template <class T, class Body>
HWY_INLINE void ForEachColumn(Broadcasts<T, false> rows, int64_t first, const Body& body) {
  const hn::FixedTag<T, kSquare> d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  __m512i columns[kSquareColumns];
  columns_of_square(rows.data + first, rows.stride * static_cast<int64_t>(sizeof(T)), columns);
  const hn::RebindToSigned<decltype(d)> di;
#pragma GCC unroll 8
  for (int64_t i = 0; i < kSquareColumns; ++i) body(i, hn::BitCast(d, hn::Vec<decltype(di)>{columns[i]}));
#else
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const hn::FixedTag<T, kSquare / 2> half;
  const auto load = [&](int64_t j) HWY_ATTR {
    return hn::Combine(d, hn::LoadU(half, rows.row(j + 4) + first), hn::LoadU(half, rows.row(j) + first));
  };
#else
  const auto load = [&](int64_t j) HWY_ATTR { return hn::LoadU(d, rows.row(j) + first); };
#endif
  auto v0 = load(0), v1 = load(1), v2 = load(2), v3 = load(3);
  TransposeBlocks(d, v0, v1, v2, v3);
  body(0, v0);
  body(1, v1);
  body(2, v2);
  body(3, v3);
#endif
}

/// to[i * stride + j] = rows.row(j)[first + i] for a whole square.
template <class T>
HWY_NOINLINE void TransposeSquare(Broadcasts<T, false> rows, int64_t first, T* to, int64_t stride) {
  const hn::FixedTag<T, kSquare> d;
  for (int64_t column = 0; column < kSquare; column += kSquareColumns) {
    ForEachColumn(rows, first + column,
                  [&](int64_t i, auto v) HWY_ATTR { hn::StoreU(v, d, to + (column + i) * stride); });
  }
}
#endif

/// columns[i * stride + j] = rows.row(j)[i] for n rows of depth elements; between(done) is called after each square with the
/// number of elements that it has, so that other work can be spread through.
template <class T, class Between>
HWY_INLINE void TransposeRows(Broadcasts<T, false> rows, int64_t n, int64_t depth, T* columns, int64_t stride,
                              const Between& between) {
  int64_t j = 0;
  [[maybe_unused]] const auto from = [&](int64_t row) { return Broadcasts<T, false>{rows.row(row), rows.stride}; };
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    const auto squares = [&](int64_t size, const auto& transpose) HWY_ATTR {
      for (; j + size <= n; j += size) {
        int64_t i = 0;
        for (; i + size <= depth; i += size) {
          transpose(from(j), i, columns + i * stride + j, stride);
          between(size * size);
        }
        for (; i + 4 <= depth; i += 4) {
          for (int64_t row = j; row < j + size; row += 4) {
            TransposeFour(from(row), i, columns + i * stride + row, stride);
          }
        }
        for (; i < depth; ++i) {
          for (int64_t row = j; row < j + size; ++row) CopyBits(rows.row(row) + i, columns + i * stride + row);
        }
        between(size * (depth % size));
      }
    };
    squares(kSquare, [](auto... x) HWY_ATTR { TransposeSquare<T>(x...); });
    if (kSquare > 4) squares(4, [](auto... x) HWY_ATTR { TransposeFour<T>(x...); });
  }
#endif
  for (; j < n; ++j) {
    for (int64_t i = 0; i < depth; ++i) CopyBits(rows.row(j) + i, columns + i * stride + j);
    between(depth);
  }
}

/// The same, alone.
template <class T>
HWY_NOINLINE void Transpose(Broadcasts<T, false> rows, int64_t n, int64_t depth, T* columns, int64_t stride) {
  TransposeRows(rows, n, depth, columns, stride, [](int64_t) {});
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_TRANSPOSE_INL_H_
