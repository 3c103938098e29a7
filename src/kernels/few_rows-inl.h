// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The two products for tiles of few query rows over many keys, as decoding has them: bound by memory, so that what counts
// is that each key and value is read once, in order, for all rows of the tile, and asked for before it is needed.
//
//   scores        lanes = keys, K transposed in 4 x 4 blocks in registers: a row's scores are sums over d in sequence
//   weighted sum  lanes = d_v, over keys in sequence
//
// Each sum is the chain that Gemm makes of it, so the bits are the tile kernel's, and all else (masks, softmax, merging)
// is its own code. The tile kernel reads 64 strided rows at a time for one multiply-add an element and 16 lanes: 44 % of
// the read bandwidth at one row a head (float32, head_dim 128, AVX-512), for the processor's own prefetcher gives up.
#if defined(FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#undef FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#else
#define FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm-inl.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Keys transposed at a time, and how many keys ahead of them memory is asked for: 16 rows of 512 bytes are a quarter of
/// L1, and what arrives goes to L2.
inline constexpr int64_t kGroupKeys = 16;
inline constexpr int64_t kKeysAhead = 64;

/// Asks for the rows of keys [first, first + n).
HWY_INLINE void PrefetchRows(const Pages& pages, const RowSource& source, int64_t first, int64_t n, int64_t depth) {
  constexpr int64_t kLine = 64;
  const int64_t size = size_of(source.dtype), bytes = source.stride_d == 1 ? depth * size : 0;
  for (int64_t done = 0; done < n;) {
    const Run run = RunAt(pages, source, first + done, n - done);
    const char* row = static_cast<const char*>(source.data) + run.offset * size;
    for (int64_t j = 0; j < run.n; ++j, row += source.stride * size) {
      for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at, 0, 2);
    }
    done += run.n;
  }
}

/// Asks for the keys and values that stand kKeysAhead behind keys [first, first + n), as far as some row sees them.
template <class T>
HWY_INLINE void PrefetchAhead(const Tile<T>& tile, int64_t first, int64_t n) {
  const TileTask<T>& task = tile.task;
  const int64_t begin = first + kKeysAhead, count = std::min(n, tile.end - begin);
  PrefetchRows(task.pages, task.k, begin, count, task.d_k);
  PrefetchRows(task.pages, task.v, begin, count, task.d_v);
}

/// columns[i * kBlockKeys + j] = rows.row(j)[i] for n rows of depth elements.
template <class T>
HWY_INLINE void Transpose(Broadcasts<T, false> rows, int64_t n, int64_t depth, T* columns) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    const hn::FixedTag<T, 4> d;
    const hn::RepartitionToWide<hn::RebindToUnsigned<decltype(d)>> wide;
    for (; j + 4 <= n; j += 4) {
      const T *r0 = rows.row(j), *r1 = rows.row(j + 1), *r2 = rows.row(j + 2), *r3 = rows.row(j + 3);
      int64_t i = 0;
      for (; i + 4 <= depth; i += 4) {
        const auto v0 = hn::LoadU(d, r0 + i), v1 = hn::LoadU(d, r1 + i);
        const auto v2 = hn::LoadU(d, r2 + i), v3 = hn::LoadU(d, r3 + i);
        const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, v0, v1));
        const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, v2, v3));
        const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, v0, v1));
        const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, v2, v3));
        T* const to = columns + i * kBlockKeys + j;
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low01, low23)), d, to);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23)), d, to + kBlockKeys);
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, high01, high23)), d, to + 2 * kBlockKeys);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23)), d, to + 3 * kBlockKeys);
      }
      for (; i < depth; ++i) {
        T* const to = columns + i * kBlockKeys + j;
        to[0] = r0[i], to[1] = r1[i], to[2] = r2[i], to[3] = r3[i];
      }
    }
  }
#endif
  for (; j < n; ++j) {
    for (int64_t i = 0; i < depth; ++i) columns[i * kBlockKeys + j] = rows.row(j)[i];
  }
}

/// Vectors of sums that are made at a time: enough chains to hide a multiply-add's latency.
inline constexpr size_t kChains = 4;

/// c[lane] = sum over steps of a[step * a_stride] * b[step * b_stride + lane], in sequence from 0, for NV vectors of lanes.
template <size_t NV, class D, class T>
HWY_INLINE void RowTimes(D d, const T* a, int64_t a_stride, int64_t steps, const T* b, int64_t b_stride, T* c) {
  const size_t lanes = hn::Lanes(d);
  auto c0 = hn::Zero(d), c1 = c0, c2 = c0, c3 = c0;
  for (int64_t step = 0; step < steps; ++step, b += b_stride) {
    const auto x = hn::Set(d, a[step * a_stride]);
    c0 = MultiplyAdd(hn::LoadU(d, b), x, c0);
    if constexpr (NV > 1) {
      c1 = MultiplyAdd(hn::LoadU(d, b + lanes), x, c1);
      c2 = MultiplyAdd(hn::LoadU(d, b + 2 * lanes), x, c2);
      c3 = MultiplyAdd(hn::LoadU(d, b + 3 * lanes), x, c3);
    }
  }
  hn::StoreU(c0, d, c);
  if constexpr (NV > 1) {
    hn::StoreU(c1, d, c + lanes);
    hn::StoreU(c2, d, c + 2 * lanes);
    hn::StoreU(c3, d, c + 3 * lanes);
  }
}

/// The same for n lanes: whole vectors, then four lanes at a time, then one, so that nothing beside b's rows is read.
template <class D, class T>
HWY_INLINE void RowTimesMatrix(D d, const T* a, int64_t a_stride, int64_t steps, const T* b, int64_t b_stride,
                               int64_t n, T* c) {
  const hn::CappedTag<T, 4> d4;
  const hn::CappedTag<T, 1> d1;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), lanes4 = static_cast<int64_t>(hn::Lanes(d4));
  constexpr auto kVectors = static_cast<int64_t>(kChains);
  int64_t i = 0;
  for (; i + kVectors * lanes <= n; i += kVectors * lanes) {
    RowTimes<kChains>(d, a, a_stride, steps, b + i, b_stride, c + i);
  }
  for (; i + lanes <= n; i += lanes) RowTimes<1>(d, a, a_stride, steps, b + i, b_stride, c + i);
  for (; i + lanes4 <= n; i += lanes4) RowTimes<1>(d4, a, a_stride, steps, b + i, b_stride, c + i);
  for (; i < n; ++i) RowTimes<1>(d1, a, a_stride, steps, b + i, b_stride, c + i);
}

/// The scores of a range, times scale, into tile.s.
template <class D, class T>
HWY_NOINLINE void FewRowsScores(D d, const Tile<T>& tile, const BlockRange& range) {
  const TileTask<T>& task = tile.task;
  const int64_t keys = range.last - range.first;
  for (int64_t j = 0; j < keys; j += kGroupKeys) {
    const int64_t n = std::min(kGroupKeys, keys - j);
    PrefetchAhead(tile, range.key + j, n);
    const auto rows = RowsOf(task.pages, task.k, range.key + j, n, task.d_k, tile.packed_k + j * task.d_k);
    Transpose(rows, n, task.d_k, tile.columns + j);
  }
  T sums[kBlockKeys];
  for (int64_t r = 0; r < task.n_rows; ++r) {
    RowTimesMatrix(d, tile.q + r * task.d_k, 1, task.d_k, tile.columns, kBlockKeys, keys, sums);
    for (int64_t j = 0; j < keys; ++j) tile.s[(range.first + j) * tile.width + r] = sums[j] * task.scale;
  }
}

/// state.o = state.o * correction + sums, for each row the sums that sums_of(row, first column, columns, to) makes.
template <class T, class SumsOf>
HWY_INLINE void ForFewRows(const Tile<T>& tile, const State<T>& state, const SumsOf& sums_of) {
  const hn::CappedTag<T, 1> d1;
  constexpr int64_t kColumns = 64;
  T sums[kColumns];
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    const auto correction = hn::Set(d1, tile.correction[r]);
    for (int64_t i = 0; i < tile.task.d_v; i += kColumns) {
      const int64_t n = std::min(kColumns, tile.task.d_v - i);
      sums_of(r, i, n, sums);
      for (int64_t c = 0; c < n; ++c) {
        T* const o = state.o + (i + c) * tile.width + r;
        hn::StoreU(MultiplyAdd(hn::LoadU(d1, o), correction, hn::LoadU(d1, sums + c)), d1, o);
      }
    }
  }
}

/// state.o = state.o * correction + V^T P for the range's weights in tile.s.
template <class D, class T>
HWY_NOINLINE void FewRowsWeightedSum(D d, const Tile<T>& tile, const BlockRange& range, Broadcasts<T, false> values,
                                     const State<T>& state) {
  ForFewRows(tile, state, [&](int64_t r, int64_t column, int64_t columns, T* sums) HWY_ATTR {
    RowTimesMatrix(d, tile.s + range.first * tile.width + r, tile.width, range.last - range.first, values.data + column,
                   values.stride, columns, sums);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
