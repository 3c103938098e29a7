// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The two products for tiles of few query rows over many keys, as decoding has them: bound by memory, so that what counts
// is that each key and value is read once, in order, for all rows of the tile, and asked for before it is needed.
//
//   scores        lanes = keys, K transposed in 4 x 4 blocks in registers: a row's scores are sums over d in sequence
//   weighted sum  lanes = d_v, over keys in sequence
//
// Each sum is the chain that Gemm makes of it, so the bits are the tile kernel's, and all else (masks, softmax, merging)
// is its own code. The tile kernel reads rows by eights for one multiply-add an element, most of whose lanes idle: half of
// the read bandwidth at one row a head (float32, head_dim 128, AVX-512).
#if defined(FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#undef FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#else
#define FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/gemm-inl.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"
#include "kernels/transpose-inl.h"

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

/// Rows as they lie, read in the computing type: those of int8 times a scale each.
template <class E>
struct StoredRows {
  const E* data;
  int64_t stride;
  const float* scales;
  int64_t scale_stride;

  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, int64_t row, int64_t column) const {
    const auto elements = LoadElements(d, data + row * stride + column);
    if constexpr (std::is_same_v<E, int8_t>) {
      return hn::Mul(elements, hn::Set(d, scales[row * scale_stride]));
    } else {
      return elements;
    }
  }
};

/// Vectors of sums that are made at a time: enough chains to hide a multiply-add's latency.
inline constexpr size_t kChains = 4;

/// c[lane] = c[lane] + sum over rows of a[row * a_stride] * rows[row][column + lane], in sequence, for NV vectors of lanes.
template <size_t NV, class D, class T, class Rows>
HWY_INLINE void RowTimes(D d, const T* a, int64_t a_stride, int64_t n_rows, const Rows& rows, int64_t column, T* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto c0 = hn::LoadU(d, c), c1 = c0, c2 = c0, c3 = c0;
  if constexpr (NV > 1) {
    c1 = hn::LoadU(d, c + lanes), c2 = hn::LoadU(d, c + 2 * lanes), c3 = hn::LoadU(d, c + 3 * lanes);
  }
  for (int64_t row = 0; row < n_rows; ++row) {
    const auto x = hn::Set(d, a[row * a_stride]);
    c0 = MultiplyAdd(rows.load(d, row, column), x, c0);
    if constexpr (NV > 1) {
      c1 = MultiplyAdd(rows.load(d, row, column + lanes), x, c1);
      c2 = MultiplyAdd(rows.load(d, row, column + 2 * lanes), x, c2);
      c3 = MultiplyAdd(rows.load(d, row, column + 3 * lanes), x, c3);
    }
  }
  hn::StoreU(c0, d, c);
  if constexpr (NV > 1) {
    hn::StoreU(c1, d, c + lanes);
    hn::StoreU(c2, d, c + 2 * lanes);
    hn::StoreU(c3, d, c + 3 * lanes);
  }
}

/// The same for n columns: whole vectors, then four lanes at a time, then one, so that nothing beside the rows is read.
template <class D, class T, class Rows>
HWY_INLINE void RowTimesMatrix(D d, const T* a, int64_t a_stride, int64_t n_rows, const Rows& rows, int64_t column,
                               int64_t n, T* c) {
  const hn::CappedTag<T, 4> d4;
  const hn::CappedTag<T, 1> d1;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), lanes4 = static_cast<int64_t>(hn::Lanes(d4));
  constexpr auto kVectors = static_cast<int64_t>(kChains);
  int64_t i = 0;
  for (; i + kVectors * lanes <= n; i += kVectors * lanes) {
    RowTimes<kChains>(d, a, a_stride, n_rows, rows, column + i, c + i);
  }
  for (; i + lanes <= n; i += lanes) RowTimes<1>(d, a, a_stride, n_rows, rows, column + i, c + i);
  for (; i + lanes4 <= n; i += lanes4) RowTimes<1>(d4, a, a_stride, n_rows, rows, column + i, c + i);
  for (; i < n; ++i) RowTimes<1>(d1, a, a_stride, n_rows, rows, column + i, c + i);
}

/// Keys of bfloat16 transposed by pairs of components, as they lie: half the work. A pair's numbers are its halves.
struct PairColumns {
  const float* data;

  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, int64_t component, int64_t column) const {
    const hn::RebindToUnsigned<D> du;
    const auto pair = hn::LoadU(du, reinterpret_cast<const uint32_t*>(data + component / 2 * kBlockKeys + column));
    const auto low = hn::ShiftLeft<16>(pair), high = hn::And(pair, hn::Set(du, 0xffff0000));
    return hn::BitCast(d, component % 2 == 0 ? low : high);
  }
};

/// Whether a source's rows can be read as pairs of bfloat16 where they lie.
HWY_INLINE bool LieInPairs(const RowSource& source, int64_t depth) {
  return source.dtype == DType::bf16 && source.stride_d == 1 && source.stride % 2 == 0 && source.page_stride % 2 == 0 &&
         depth % 2 == 0 && reinterpret_cast<uintptr_t>(source.data) % sizeof(float) == 0;
}

/// Rows of keys [first, first + n) as pairs; they lie so, in one run or, `packed`, in several.
HWY_INLINE Broadcasts<float, false> PairsOf(const Pages& pages, const RowSource& source, int64_t first, int64_t n,
                                            int64_t depth, float* packed) {
  const auto at = [&](const Run& run) {
    return reinterpret_cast<const float*>(static_cast<const BFloat16*>(source.data) + run.offset);
  };
  Run run = RunAt(pages, source, first, n);
  if (run.n == n) return {at(run), source.stride / 2};
  for (int64_t done = 0; done < n; done += run.n) {
    run = RunAt(pages, source, first + done, n - done);
    for (int64_t j = 0; j < run.n; ++j) {
      std::memcpy(packed + (done + j) * (depth / 2), at(run) + j * (source.stride / 2), static_cast<size_t>(depth) * 2);
    }
  }
  return {packed, depth / 2};
}

/// The scores of a range, times scale, into tile.s.
template <class D, class T>
HWY_NOINLINE void FewRowsScores(D d, const Tile<T>& tile, const BlockRange& range) {
  const TileTask<T>& task = tile.task;
  const int64_t keys = range.last - range.first;
  const bool pairs = std::is_same_v<T, float> && LieInPairs(task.k, task.d_k);
  for (int64_t j = 0; j < keys; j += kGroupKeys) {
    const int64_t n = std::min(kGroupKeys, keys - j);
    PrefetchAhead(tile, range.key + j, n);
    if constexpr (std::is_same_v<T, float>) {
      if (pairs) {
        Transpose(PairsOf(task.pages, task.k, range.key + j, n, task.d_k, tile.packed_k), n, task.d_k / 2,
                  tile.columns + j, kBlockKeys);
        continue;
      }
    }
    Transpose(RowsOf(task.pages, task.k, range.key + j, n, task.d_k, tile.packed_k), n, task.d_k, tile.columns + j,
              kBlockKeys);
  }
  for (int64_t r = 0; r < task.n_rows; ++r) {
    const T* const q = tile.q + r * task.d_k;
    T sums[kBlockKeys] = {};
    if constexpr (std::is_same_v<T, float>) {
      if (pairs) RowTimesMatrix(d, q, 1, task.d_k, PairColumns{tile.columns}, 0, keys, sums);
    }
    if (!pairs) {
      RowTimesMatrix(d, q, 1, task.d_k, StoredRows<T>{tile.columns, kBlockKeys, nullptr, 0}, 0, keys, sums);
    }
    for (int64_t j = 0; j < keys; ++j) tile.s[(range.first + j) * tile.width + r] = sums[j] * task.scale;
  }
}

/// state.o = state.o * correction + sums, for each row the sums that sums_of(row, first column, columns, to) makes.
template <class T, class SumsOf>
HWY_INLINE void ForFewRows(const Tile<T>& tile, const State<T>& state, const SumsOf& sums_of) {
  const hn::CappedTag<T, 1> d1;
  constexpr int64_t kColumns = 64;
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    const auto correction = hn::Set(d1, tile.correction[r]);
    for (int64_t i = 0; i < tile.task.d_v; i += kColumns) {
      const int64_t n = std::min(kColumns, tile.task.d_v - i);
      T sums[kColumns] = {};
      sums_of(r, i, n, sums);
      for (int64_t c = 0; c < n; ++c) {
        T* const o = state.o + (i + c) * tile.width + r;
        hn::StoreU(MultiplyAdd(hn::LoadU(d1, o), correction, hn::LoadU(d1, sums + c)), d1, o);
      }
    }
  }
}

/// state.o = state.o * correction + V^T P for the range's weights in tile.s, of values of adjacent components wherever they
/// lie and whatever their type.
template <class D, class T>
HWY_NOINLINE void FewRowsWeightedSum(D d, const Tile<T>& tile, const BlockRange& range, const State<T>& state) {
  const TileTask<T>& task = tile.task;
  const int64_t keys = range.last - range.first;
  WithElement<T>(task.v.dtype, [&](auto* element) HWY_ATTR {
    using E = std::remove_pointer_t<decltype(element)>;
    ForFewRows(tile, state, [&](int64_t r, int64_t column, int64_t columns, T* sums) HWY_ATTR {
      const T* p = tile.s + range.first * tile.width + r;
      for (int64_t done = 0; done < keys;) {
        const Run run = RunAt(task.pages, task.v, range.key + done, keys - done);
        const StoredRows<E> rows = {static_cast<const E*>(task.v.data) + run.offset, task.v.stride,
                                    task.v.scales + run.scale_offset, task.v.scale_stride};
        RowTimesMatrix(d, p + done * tile.width, tile.width, run.n, rows, column, columns, sums);
        done += run.n;
      }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
