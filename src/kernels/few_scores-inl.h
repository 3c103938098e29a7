// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scores of few rows (few_rows-inl.h): lanes = keys, which are transposed in registers, so that a row's scores are sums over
// d in sequence. Where a column of a square fills a vector it is multiplied as it comes; elsewhere columns go by way of
// memory, some vectors at a time. Either way a score is the same chain of multiply-adds.
#if defined(FOVEATE_SRC_KERNELS_FEW_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_FEW_SCORES_INL_H_
#undef FOVEATE_SRC_KERNELS_FEW_SCORES_INL_H_
#else
#define FOVEATE_SRC_KERNELS_FEW_SCORES_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/ahead.h"
#include "kernels/few_rows-inl.h"
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

// --- What an element of a transposed key holds: so many components of it, the first one in the low bits ---

/// One component. So many keys go through L1 at a time where columns are kept.
struct OneComponent {
  static constexpr size_t kParts = 1;
  static constexpr int64_t kKeys = 32;

  template <size_t, class D>
  HWY_INLINE hn::Vec<D> part(D /*d*/, hn::Vec<D> column, int64_t /*place*/) const {
    return column;
  }
};

/// Two bfloat16: the halves of their float32.
struct TwoBFloat16 {
  static constexpr size_t kParts = 2;
  static constexpr int64_t kKeys = kBlockKeys;

  template <size_t kPart, class D>
  HWY_INLINE hn::Vec<D> part(D d, hn::Vec<D> column, int64_t /*place*/) const {
    const hn::RebindToSigned<D> di;
    const auto pair = hn::BitCast(di, column);
    return hn::BitCast(d, kPart == 0 ? hn::ShiftLeft<16>(pair) : hn::And(pair, hn::Set(di, -0x10000)));
  }
};

/// Four int8, times the scale of the key at a place of the block.
struct FourInt8 {
  static constexpr size_t kParts = 4;
  static constexpr int64_t kKeys = kBlockKeys;
  const float* scales;

  template <size_t kPart, class D>
  HWY_INLINE hn::Vec<D> part(D d, hn::Vec<D> column, int64_t place) const {
    const auto quad = hn::BitCast(hn::RebindToSigned<D>(), column);
    const auto number = hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * static_cast<int>(kPart)>(quad));
    return hn::Mul(hn::ConvertTo(d, number), hn::LoadU(d, scales + place));
  }
};

// --- By way of memory ---

/// Transposed keys as they lie, [depth][kKeys], of the places from `place` on.
template <class T, class Elements>
struct Columns {
  static constexpr size_t kParts = Elements::kParts;
  const T* data;
  int64_t place;
  Elements elements;

  template <size_t kPart, class D>
  HWY_INLINE hn::Vec<D> load(D d, int64_t row, size_t v) const {
    const auto lane = static_cast<int64_t>(v * hn::Lanes(d));
    const auto column = hn::LoadU(d, data + row * Elements::kKeys + place % Elements::kKeys + lane);
    return elements.template part<kPart>(d, column, place + lane);
  }
};

/// s[row][place] = scale * sum over d of q[row][d] * key[d], for the places of a range, which lie within kKeys of the
/// columns, and what else fills the last vectors.
template <class T, class Elements>
HWY_NOINLINE void FewRowsProducts(const Tile<T>& tile, const BlockRange& range, int64_t depth, const Elements& elements,
                                  Ahead& ahead, T* s) {
  const TileTask<T>& task = tile.task;
  const hn::CappedTag<T, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, task.scale);
  ForRowGroups(task.n_rows, [&](int64_t r, auto rows) HWY_ATTR {
    constexpr size_t MR = decltype(rows)::value;
    constexpr size_t kMost = static_cast<size_t>(Elements::kKeys) / hn::MaxLanes(d);
    constexpr size_t NV = kFewVectors<MR> < kMost ? kFewVectors<MR> : kMost;
    constexpr int64_t kCycles = std::max<int64_t>(MR * NV / 2, 4) * Elements::kParts;
    const int64_t step = static_cast<int64_t>(NV) * lanes;
    for (int64_t place = range.first / step * step; place < range.last; place += step) {
      const auto store = [&](size_t m, size_t v, auto sum) HWY_ATTR {
        T* const to = s + (r + static_cast<int64_t>(m)) * kBlockKeys + place + static_cast<int64_t>(v) * lanes;
        hn::StoreU(hn::Mul(sum, scale), d, to);
      };
      const auto between = [&](int64_t row) HWY_ATTR {
        if (row % 8 == 0) ahead.waits(8 * kCycles);
      };
      const Columns<T, Elements> columns = {tile.columns, place, elements};
      FewRowsKernel<MR, NV>(d, tile.q + r * task.d_k, task.d_k, depth, columns, store, between);
    }
  });
}

/// Keys that are looked up and transposed at a time.
inline constexpr int64_t kGroupKeys = 16;

/// Bytes of a key in each of `depth` elements that it is transposed by.
template <class T>
HWY_INLINE int64_t BytesOfElement(const TileTask<T>& task, int64_t depth) {
  return depth == task.d_k ? size_of(task.k.dtype) : static_cast<int64_t>(sizeof(T));
}

/// Transposes the keys of a range, which lie within kKeys places, into tile.columns[depth][kKeys]: rows_at(first key, n)
/// of depth elements. Asks for what comes next meanwhile.
template <int64_t kKeys, class T, class RowsAt>
HWY_INLINE void TransposeKeys(const Tile<T>& tile, const BlockRange& range, int64_t depth, Ahead& ahead,
                              const RowsAt& rows_at) {
  const int64_t keys = range.last - range.first;
  T* const columns = tile.columns + range.first % kKeys;
  const int64_t bytes = BytesOfElement(tile.task, depth);
  for (int64_t j = 0; j < keys; j += kGroupKeys) {
    const int64_t n = std::min(kGroupKeys, keys - j);
    // Of small squares four at a time: asking for each costs as much as its transposition.
    constexpr int64_t kMany = kSquare > 4 ? 0 : 4 * kSquare * kSquare - 1;
    int64_t read = 0;
    TransposeRows(rows_at(range.key + j, n), n, depth, columns + j, kKeys, [&](int64_t elements) HWY_ATTR {
      read += elements;
      if (read <= kMany) return;
      ahead.reads(read * bytes);
      read = 0;
    });
    if (kMany > 0) ahead.reads(read * bytes);
  }
}

/// The same products from rows_at(first key, n) of depth elements.
template <class T, class Elements, class RowsAt>
HWY_INLINE void FewRowsScoresByColumns(const Tile<T>& tile, const BlockRange& range, int64_t depth,
                                       const Elements& elements, Ahead& ahead, const RowsAt& rows_at, T* s) {
  constexpr int64_t kKeys = Elements::kKeys;
  for (int64_t first = range.first; first < range.last;) {
    BlockRange part = range;
    part.key = range.key + (first - range.first);
    part.first = first;
    part.last = std::min(range.last, (first / kKeys + 1) * kKeys);
    TransposeKeys<kKeys>(tile, part, depth, ahead, rows_at);
    FewRowsProducts(tile, part, depth, elements, ahead, s);
    first = part.last;
  }
}

// --- In registers ---

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
/// Whether a column of a square is a vector of T.
template <class T>
inline constexpr bool kSquaresFill = sizeof(T) == sizeof(float);

/// Squares that are worked on side by side for MR rows: enough chains of multiply-adds, no more than registers hold, and no
/// more keys than what is asked for ahead.
template <size_t MR, class Elements>
inline constexpr size_t kSquaresAtOnce =
    std::max<size_t>(1, std::min((kSquare < 16 ? 4 : 8) / MR, 16 * Elements::kParts / static_cast<size_t>(kSquare)));

/// The same for MR rows, the last of which is done several times where there are fewer, and G squares of keys at places from
/// `place` on.
template <size_t MR, size_t G, class T, class Elements>
HWY_NOINLINE void FewRowsSquares(const Tile<T>& tile, Broadcasts<T, false> keys, int64_t place, int64_t depth,
                                 const Elements& elements, Ahead& ahead, T* s) {
  constexpr auto kParts = static_cast<int64_t>(Elements::kParts);
  const TileTask<T>& task = tile.task;
  const hn::FixedTag<T, kSquare> d;
  const auto at = [](size_t g) { return static_cast<int64_t>(g) * kSquare; };
  const T* q[MR];
  hn::Vec<decltype(d)> sum[G][MR];
  for (size_t m = 0; m < MR; ++m) {
    q[m] = tile.q + std::min(static_cast<int64_t>(m), task.n_rows - 1) * task.d_k;
    for (size_t g = 0; g < G; ++g) sum[g][m] = hn::Zero(d);
  }
  const auto join = [&](size_t g, int64_t i, auto column) HWY_ATTR {
    const auto join_part = [&](auto index) HWY_ATTR {
      constexpr size_t P = decltype(index)::value;
      if constexpr (P < Elements::kParts) {
        const auto part = elements.template part<P>(d, column, place + at(g));
#pragma GCC unroll 8
        for (size_t m = 0; m < MR; ++m) {
          const auto element = hn::Set(d, q[m][i * kParts + static_cast<int64_t>(P)]);
          sum[g][m] = MultiplyAdd(part, element, sum[g][m]);
        }
      }
    };
    join_part(std::integral_constant<size_t, 0>());
    join_part(std::integral_constant<size_t, 1>());
    join_part(std::integral_constant<size_t, 2>());
    join_part(std::integral_constant<size_t, 3>());
  };
  const int64_t bytes = kSquare * kSquareColumns * BytesOfElement(task, depth);
  int64_t first = 0;
  for (; first + kSquareColumns <= depth; first += kSquareColumns) {
#pragma GCC unroll 8
    for (size_t g = 0; g < G; ++g) {
      const Broadcasts<T, false> square = {keys.row(at(g)), keys.stride};
      ForEachColumn(square, first, [&](int64_t i, auto column) HWY_ATTR { join(g, first + i, column); });
      ahead.reads(bytes);
    }
  }
  if (first < depth) {
    constexpr int64_t kKeys = G * kSquare;
    Transpose(Broadcasts<T, false>{keys.data + first, keys.stride}, kKeys, depth - first, tile.columns, kKeys);
    for (int64_t i = first; i < depth; ++i) {
      for (size_t g = 0; g < G; ++g) join(g, i, hn::LoadU(d, tile.columns + (i - first) * kKeys + at(g)));
    }
  }
  for (size_t m = 0; m < MR && static_cast<int64_t>(m) < task.n_rows; ++m) {
    for (size_t g = 0; g < G; ++g) {
      T* const to = s + static_cast<int64_t>(m) * kBlockKeys + place + at(g);
      hn::StoreU(hn::Mul(sum[g][m], hn::Set(d, task.scale)), d, to);
    }
  }
}

/// The rows of a square of which n, from the first on, are there: copied to `packed`, with some row for the others.
template <class T>
HWY_NOINLINE Broadcasts<T, false> FilledSquare(Broadcasts<T, false> rows, int64_t first, int64_t n, int64_t depth,
                                               T* packed) {
  for (int64_t j = 0; j < kSquare; ++j) {
    const int64_t row = std::clamp<int64_t>(j - first, 0, n - 1);
    std::memcpy(packed + j * depth, rows.row(row), static_cast<size_t>(depth) * sizeof(T));
  }
  return {packed, depth};
}

/// Calls body(keys, place, n) for squares of a range's keys, from rows_at(first key, n) of depth elements: n is kKeys where so
/// many lie in one run, else kSquare.
template <int64_t kKeys, class T, class RowsAt, class Body>
HWY_INLINE void ForSquaresOfKeys(const Tile<T>& tile, const BlockRange& range, int64_t depth, const RowsAt& rows_at,
                                 const Body& body) {
  const TileTask<T>& task = tile.task;
  for (int64_t place = range.first / kSquare * kSquare; place < range.last;) {
    const int64_t first = std::max(place, range.first), key = range.key + (first - range.first);
    if (first == place && place + kKeys <= range.last && RunAt(task.pages, task.k, key, kKeys).n == kKeys) {
      body(rows_at(key, kKeys), place, kKeys);
      place += kKeys;
      continue;
    }
    const int64_t n = std::min(place + kSquare, range.last) - first;
    const Broadcasts<T, false> keys = rows_at(key, n);
    T* const filled = tile.columns + kSquare * depth;
    body(n < kSquare ? FilledSquare(keys, first - place, n, depth, filled) : keys, place, kSquare);
    place += kSquare;
  }
}

template <size_t MR, class T, class Elements, class RowsAt>
HWY_INLINE void FewRowsScoresBySquares(const Tile<T>& tile, const BlockRange& range, int64_t depth,
                                       const Elements& elements, Ahead& ahead, const RowsAt& rows_at, T* s) {
  constexpr size_t G = kSquaresAtOnce<MR, Elements>;
  ForSquaresOfKeys<G * kSquare>(tile, range, depth, rows_at,
                                [&](const Broadcasts<T, false>& keys, int64_t place, int64_t n) HWY_ATTR {
                                  if (n == kSquare)
                                    return FewRowsSquares<MR, 1>(tile, keys, place, depth, elements, ahead, s);
                                  FewRowsSquares<MR, G>(tile, keys, place, depth, elements, ahead, s);
                                });
}

/// Calls body with the number of rows that n are done as.
template <class Body>
HWY_INLINE void WithFewRows(int64_t n, const Body& body) {
  if (n == 1) return body(std::integral_constant<size_t, 1>());
  if (n == 2) return body(std::integral_constant<size_t, 2>());
  if (n <= 4) return body(std::integral_constant<size_t, 4>());
  body(std::integral_constant<size_t, 8>());
}
#else
template <class T>
inline constexpr bool kSquaresFill = false;
#endif

// --- Both ---

template <class T, class Elements, class RowsAt>
HWY_INLINE void FewRowsScoresFrom(const Tile<T>& tile, const BlockRange& range, int64_t depth, const Elements& elements,
                                  Ahead& ahead, const RowsAt& rows_at, T* s) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (kSquaresFill<T>) {
    WithFewRows(tile.task.n_rows, [&](auto rows) HWY_ATTR {
      FewRowsScoresBySquares<decltype(rows)::value>(tile, range, depth, elements, ahead, rows_at, s);
    });
  }
#endif
  if constexpr (!kSquaresFill<T>) FewRowsScoresByColumns(tile, range, depth, elements, ahead, rows_at, s);
}

/// The scores of a range, times scale, into s[row][place].
template <class T>
HWY_INLINE void FewRowsScores(const Tile<T>& tile, const BlockRange& range, Ahead& ahead, T* s) {
  const TileTask<T>& task = tile.task;
  if constexpr (std::is_same_v<T, float>) {
    const bool pairs = task.k.dtype == DType::bf16,
               quadruples = task.k.dtype == DType::i8 && task.k.scale_stride_d == 0;
    if ((pairs || quadruples) && LieInDwords(task.k, task.d_k)) {
      const int64_t dwords = task.d_k / (pairs ? 2 : 4);
      const auto rows_at = [&](int64_t first, int64_t n)
                               HWY_ATTR { return RowsAsTheyLie(task.pages, task.k, first, n, dwords, tile.packed_k); };
      if (pairs) return FewRowsScoresFrom(tile, range, dwords, TwoBFloat16(), ahead, rows_at, s);
      float scales[kBlockKeys] = {};
      FindScales(task.pages, task.k, range.key, range.last - range.first, scales + range.first);
      return FewRowsScoresFrom(tile, range, dwords, FourInt8{scales}, ahead, rows_at, s);
    }
  }
  const auto rows_at = [&](int64_t first, int64_t n)
                           HWY_ATTR { return RowsOf(task.pages, task.k, first, n, task.d_k, tile.packed_k); };
  FewRowsScoresFrom(tile, range, task.d_k, OneComponent(), ahead, rows_at, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_FEW_SCORES_INL_H_
