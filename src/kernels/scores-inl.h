// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The scores of one block of keys: scale * (q . k), softcap, bias, ALiBi; -inf where a key takes no part in a row.
//
// What each costs, beside 2 d multiply-adds a score: every pass reads and writes the block once in L1, a few percent of a
// call at head_dim 64, and passes that are not asked for are not made. So each is a loop of its own, readable alone.
#if defined(FOVEATE_SRC_KERNELS_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_SCORES_INL_H_
#undef FOVEATE_SRC_KERNELS_SCORES_INL_H_
#else
#define FOVEATE_SRC_KERNELS_SCORES_INL_H_
#endif

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "foveate/float16.h"
#include "hwy/highway.h"
#include "kernels/exp-inl.h"
#include "kernels/few_rows-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/native-inl.h"
#include "kernels/native_few_rows-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/tanh_scores.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A bias entry in the computing type. What is finite stays finite: a float64 bias below float32's range must not become
/// the -inf that forbids.
template <class T, class B>
HWY_INLINE T BiasEntry(B value) {
  if constexpr (sizeof(B) < sizeof(float)) {
    return static_cast<T>(static_cast<float>(value));
  } else {
    if constexpr (sizeof(B) > sizeof(T)) {
      constexpr B largest = std::numeric_limits<T>::max();
      if (std::isfinite(value)) return static_cast<T>(std::clamp(value, -largest, largest));
    }
    return static_cast<T>(value);
  }
}

/// Whether a row's tree lets key j take part.
template <class T>
HWY_INLINE bool OnBranch(const TileTask<T>& task, const Row<T>& row, int64_t j) {
  const int64_t bit = j - task.tree_from;
  return row.tree == nullptr || bit < 0 || (row.tree[bit / 64 * task.tree_stride] >> (bit % 64) & 1) != 0;
}

/// The place behind those, from `place` on, that lie in one block of the bitmap with it, and whether the row keeps that block.
struct BlockPiece {
  int64_t end;
  bool kept;
};
template <class T>
HWY_INLINE BlockPiece BlockPieceAt(const TileTask<T>& task, const BlockRange& range, const Row<T>& row, int64_t place) {
  if (!kRivals || row.blocks == nullptr) return {range.last, true};
  const int64_t block = (range.origin + place) / task.block_size;
  return {std::min(range.last, (block + 1) * task.block_size - range.origin),
          row.blocks[block * task.blocks_stride] != 0};
}

/// Reads one row's mask, bias, tree and blocks for a range into a column of tile.additive. Returns how many keys it allows.
template <class T, class B>
HWY_INLINE int64_t FillLane(const Tile<T>& tile, const BlockRange& range, const Row<T>& row, int64_t lane) {
  const TileTask<T>& task = tile.task;
  const B* bias = static_cast<const B*>(row.bias);
  int64_t allowed = 0;
  for (int64_t place = range.first; place < range.last;) {
    const auto [end, kept] = BlockPieceAt(task, range, row, place);
    for (; place < end; ++place) {
      const int64_t j = range.origin + place;
      T value = kept && bias != nullptr ? BiasEntry<T>(bias[j * task.bias_stride]) : T{0};
      const bool allows = kept && (row.mask == nullptr || row.mask[j * task.mask_stride] != 0);
      if (!allows || !OnBranch(task, row, j)) value = -std::numeric_limits<T>::infinity();
      allowed += value != -std::numeric_limits<T>::infinity();
      tile.additive[place * tile.width + lane] = value;
    }
  }
  return allowed;
}

/// Fills tile.additive for a block. Returns whether any key takes part; sets range.partial where one does not.
template <class D, class T, class B>
HWY_INLINE bool FillAdditive(D d, const Tile<T>& tile, BlockRange& range) {
  const TileTask<T>& task = tile.task;
  const int64_t keys = range.last - range.first;
  if (task.shared) {
    // One mask or bias row for all queries (padding masks): read once, broadcast.
    const int64_t allowed = FillLane<T, B>(tile, range, task.rows[0], 0);
    for (int64_t place = range.first; place < range.last; ++place) {
      T* row = tile.additive + place * tile.width;
      const auto value = hn::Set(d, row[0]);
      for (int64_t lane = 0; lane < tile.width; lane += static_cast<int64_t>(hn::Lanes(d))) {
        hn::Store(value, d, row + lane);
      }
    }
    range.partial |= allowed < keys;
    return allowed > 0;
  }
  bool any = false;
  for (int64_t lane = 0; lane < tile.width; ++lane) {
    const Row<T>* row = lane < task.n_rows ? &task.rows[lane] : nullptr;
    if (row == nullptr || row->begin >= row->end) {
      for (int64_t place = range.first; place < range.last; ++place) tile.additive[place * tile.width + lane] = 0;
      continue;
    }
    const int64_t allowed = FillLane<T, B>(tile, range, *row, lane);
    range.partial |= allowed < keys;
    any |= allowed > 0;
  }
  return any;
}

/// FillAdditive for the type that the bias has.
template <class D, class T>
HWY_INLINE bool FillAdditiveOf(D d, const Tile<T>& tile, BlockRange& range) {
  const DType dtype = tile.task.bias_dtype;
  if constexpr (kNarrowTypes) {
    if (dtype == DType::f16) return FillAdditive<D, T, Float16>(d, tile, range);
    if (dtype == DType::bf16) return FillAdditive<D, T, BFloat16>(d, tile, range);
  }
  return dtype == DType::f64 ? FillAdditive<D, T, double>(d, tile, range) : FillAdditive<D, T, float>(d, tile, range);
}

/// Calls body(s, lane) for each vector of scores of the range: a place of tile.s, and the lane it starts at.
template <class D, class T, class Body>
HWY_INLINE void ForEachVector(D d, const Tile<T>& tile, const BlockRange& range, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t place = range.first; place < range.last; ++place) {
    for (int64_t lane = 0; lane < tile.width; lane += lanes) body(place, lane);
  }
}

/// 1 - tanh^2(s / softcap) = 4 e / (1 + e)^2, e = exp(-2 |s / softcap|): exact to a few ulp, however flat.
template <class D, class T>
HWY_NOINLINE void FillCapSlope(D d, const Tile<T>& tile, const BlockRange& range) {
  const auto cap = hn::Set(d, tile.task.softcap), one = hn::Set(d, T{1});
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    const int64_t at = place * tile.width + lane;
    const auto e = Exp(d, hn::Mul(hn::Abs(hn::Div(hn::Load(d, tile.s + at), cap)), hn::Set(d, T{-2})));
    const auto sum = hn::Add(one, e);
    hn::Store(hn::Div(hn::Mul(hn::Set(d, T{4}), e), hn::Mul(sum, sum)), d, tile.cap_slope + at);
  });
}

template <class D, class T>
HWY_NOINLINE void ApplySoftcap(D d, const Tile<T>& tile, const BlockRange& range) {
  const auto cap = hn::Set(d, tile.task.softcap);
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    T* s = tile.s + place * tile.width + lane;
    hn::Store(hn::Mul(cap, Tanh(d, hn::Div(hn::Load(d, s), cap))), d, s);
  });
}

template <class D, class T>
HWY_NOINLINE void ApplyAdditive(D d, const Tile<T>& tile, const BlockRange& range) {
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    T* s = tile.s + place * tile.width + lane;
    hn::Store(hn::Add(hn::Load(d, s), hn::Load(d, tile.additive + place * tile.width + lane)), d, s);
  });
}

/// Distances are taken from the block's first place, exact below 2^24 (2^53), so that they do not hang on where the keys
/// at hand begin.
template <class D, class T>
HWY_NOINLINE void ApplyAlibi(D d, const Tile<T>& tile, const BlockRange& range) {
  for (int64_t lane = 0; lane < tile.width; ++lane) {
    tile.distance[lane] = lane < tile.task.n_rows ? static_cast<T>(tile.task.rows[lane].position - range.origin) : T{0};
  }
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    T* s = tile.s + place * tile.width + lane;
    const auto distance = hn::Abs(hn::Sub(hn::Load(d, tile.distance + lane), hn::Set(d, static_cast<T>(place))));
    hn::Store(NegMultiplyAdd(hn::Load(d, tile.slope + lane), distance, hn::Load(d, s)), d, s);
  });
}

/// The places of this block that structure grants each row, as numbers to compare with: all of them to lanes without one.
template <class T>
HWY_INLINE void FillBounds(const Tile<T>& tile, const BlockRange& range) {
  for (int64_t lane = 0; lane < tile.width; ++lane) {
    int64_t low = 0, high = kBlockKeys;
    if (lane < tile.task.n_rows) {
      low = std::clamp<int64_t>(tile.task.rows[lane].begin - range.origin, 0, kBlockKeys);
      high = std::clamp<int64_t>(tile.task.rows[lane].end - range.origin, 0, kBlockKeys);
    }
    tile.low[lane] = static_cast<T>(low);
    tile.high[lane] = static_cast<T>(high);
  }
}

/// Which lanes the key at `place` takes part in.
template <class D, class T>
HWY_INLINE hn::Mask<D> TakesPart(D d, const Tile<T>& tile, const BlockRange& range, int64_t place, int64_t lane) {
  const auto at = hn::Set(d, static_cast<T>(place));
  hn::Mask<D> takes = hn::And(hn::Le(hn::Load(d, tile.low + lane), at), hn::Lt(at, hn::Load(d, tile.high + lane)));
  if (range.additive) {
    const auto additive = hn::Load(d, tile.additive + place * tile.width + lane);
    takes = hn::AndNot(hn::Eq(additive, hn::Set(d, -std::numeric_limits<T>::infinity())), takes);
  }
  return takes;
}

template <class D, class T>
HWY_NOINLINE void ForbidScores(D d, const Tile<T>& tile, const BlockRange& range) {
  const auto none = hn::Set(d, -std::numeric_limits<T>::infinity());
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    T* s = tile.s + place * tile.width + lane;
    hn::Store(hn::IfThenElse(TakesPart(d, tile, range, place, lane), hn::Load(d, s), none), d, s);
  });
}

/// Makes the exponentials that scores of additive attention are made of, where few rows would have their columns.
template <class T>
HWY_INLINE void PrepareTanhScores(const Tile<T>& tile) {
  tile.task.tanh->kernel->prepare(tile.q, tile.task.d_k, tile.width, tile.columns, tile.q_factor);
}

/// The keys of a range where they lie: rows of additive attention are the engine's own.
template <class T>
HWY_INLINE const T* AdjacentKeys(const Tile<T>& tile, const BlockRange& range) {
  Broadcasts<T, false> rows{nullptr, 0};
  const bool found =
      FindInPlace(tile.task.pages, tile.task.k, range.key, range.last - range.first, tile.task.d_k, rows);
  assert(found && (rows.stride == tile.task.d_k || range.last - range.first == 1));
  (void)found;
  return rows.data;
}

template <class T>
HWY_INLINE void SumsOfTanh(const Tile<T>& tile, const BlockRange& range) {
  const TileTask<T>& task = tile.task;
  task.tanh->kernel->scores({.u = tile.q,
                             .e = tile.columns,
                             .far = tile.q_factor,
                             .t = AdjacentKeys(tile, range),
                             .f = tile.packed_k,
                             .w = task.tanh->w,
                             .sum = task.tanh->sum,
                             .scale = task.scale,
                             .keys = range.last - range.first,
                             .d = task.d_k,
                             .width = tile.width,
                             .s = tile.s + range.first * tile.width});
}

/// scale * (q . k) of a range, or what stands in its place, into tile.s.
template <size_t NV, class D, class T>
HWY_INLINE void KeyProducts(D d, const Tile<T>& tile, BlockRange& range) {
  const TileTask<T>& task = tile.task;
  if (kRivals && task.tanh != nullptr) return SumsOfTanh(tile, range);
  if constexpr (NV == 1 && !HWY_ARCH_WASM) {
    if (tile.few) return FewRowsScoresInLanes(tile, range);
  }
  if constexpr (kNativeProducts && std::is_same_v<T, float>) {
    if (task.scores != Native::none) return NativeScores(tile, range);
  }
  const int64_t keys = range.last - range.first;
  const Broadcasts<T, false> rows = RowsOf(task.pages, task.k, range.key, keys, task.d_k, tile.packed_k);
  if (kDividesRanges && range.by_vectors) {
    return ForEachVectorSeeing(tile, range, [&](int64_t lane, const Places& places) HWY_ATTR {
      const Broadcasts<T, false> seen = {rows.row(places.first - range.first), rows.stride};
      Gemm<1, NV>(d, seen, places.last - places.first, task.d_k, tile.q + lane, Scaled<T>{task.scale},
                  tile.s + places.first * tile.width + lane);
    });
  }
  AskingForNext(tile, range, task.k, task.d_k, keys, [&](int64_t r, int64_t n) HWY_ATTR {
    Gemm<NV>(d, Broadcasts<T, false>{rows.row(r), rows.stride}, n, task.d_k, tile.q, Scaled<T>{task.scale},
             tile.s + (range.first + r) * tile.width);
  });
}

/// Computes the products of a range into tile.s. False if no key of it takes part in any row: then nothing of it was
/// touched, and tile.s holds nothing.
template <size_t NV, class D, class T>
HWY_INLINE bool Products(D d, const Tile<T>& tile, BlockRange& range) {
  if (range.additive && !FillAdditiveOf(d, tile, range)) return false;
  KeyProducts<NV>(d, tile, range);
  return true;
}

/// Makes scores of them: softcap, bias, ALiBi, and -inf for pairs that take no part.
template <class D, class T>
HWY_INLINE void FinishScores(D d, const Tile<T>& tile, BlockRange& range) {
  const TileTask<T>& task = tile.task;
  if constexpr (kNativeProducts) {
    if (task.softcap > 0 || range.additive || task.alibi || range.partial) range.most_found = false;
  }
  if (task.softcap > 0 && tile.cap_slope != nullptr) FillCapSlope(d, tile, range);
  if (task.softcap > 0) ApplySoftcap(d, tile, range);
  if (range.additive) ApplyAdditive(d, tile, range);
  if (task.alibi) ApplyAlibi(d, tile, range);
  if (range.partial) {
    FillBounds(tile, range);
    ForbidScores(d, tile, range);
  }
}

/// Both: the scores of a range.
template <size_t NV, class D, class T>
HWY_INLINE bool Scores(D d, const Tile<T>& tile, BlockRange& range) {
  if (!Products<NV>(d, tile, range)) return false;
  FinishScores(d, tile, range);
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_SCORES_INL_H_
