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
#include <cmath>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/exp-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of keys or values with an adjacent last axis: in place where they lie so, else copied to `packed`.
template <class T>
HWY_INLINE Broadcasts<T, false> AdjacentRows(const T* rows, int64_t n, int64_t stride, int64_t depth, int64_t stride_d,
                                             T* packed) {
  if (stride_d == 1 || depth == 1) return {rows, stride};
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < depth; ++i) packed[j * depth + i] = rows[j * stride + i * stride_d];
  }
  return {packed, depth};
}

template <class T>
HWY_INLINE Broadcasts<T, false> KeysOf(const Tile<T>& tile, const BlockRange& range) {
  const TileTask<T>& task = tile.task;
  return AdjacentRows(task.k + range.key * task.k_stride, range.last - range.first, task.k_stride, task.d_k,
                      task.k_stride_d, tile.packed_k);
}

/// A bias entry in the computing type. What is finite stays finite: a float64 bias below float32's range must not become
/// the -inf that forbids.
template <class T, class B>
HWY_INLINE T BiasEntry(B value) {
  if constexpr (sizeof(B) > sizeof(T)) {
    constexpr B largest = std::numeric_limits<T>::max();
    if (std::isfinite(value)) return static_cast<T>(std::clamp(value, -largest, largest));
  }
  return static_cast<T>(value);
}

/// Reads one row's mask and bias for a block into a column of tile.additive. Returns how many keys it allows.
template <class T, class B>
HWY_INLINE int64_t FillLane(const Tile<T>& tile, const BlockRange& range, const Row<T>& row, int64_t lane) {
  const TileTask<T>& task = tile.task;
  const B* bias = static_cast<const B*>(row.bias);
  int64_t allowed = 0;
  for (int64_t place = range.first; place < range.last; ++place) {
    const int64_t j = range.origin + place;
    T value = bias != nullptr ? BiasEntry<T>(bias[j * task.bias_stride]) : T{0};
    if (row.mask != nullptr && row.mask[j * task.mask_stride] == 0) value = -std::numeric_limits<T>::infinity();
    allowed += value != -std::numeric_limits<T>::infinity();
    tile.additive[place * tile.width + lane] = value;
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

/// Calls body(s, lane) for each vector of scores of the range: a place of tile.s, and the lane it starts at.
template <class D, class T, class Body>
HWY_INLINE void ForEachVector(D d, const Tile<T>& tile, const BlockRange& range, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t place = range.first; place < range.last; ++place) {
    for (int64_t lane = 0; lane < tile.width; lane += lanes) body(place, lane);
  }
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

/// The places of this block that structure grants each row, as numbers to compare with.
template <class T>
HWY_INLINE void FillBounds(const Tile<T>& tile, const BlockRange& range) {
  for (int64_t lane = 0; lane < tile.width; ++lane) {
    int64_t low = 0, high = kBlockKeys;
    if (lane < tile.task.n_rows && tile.task.rows[lane].begin < tile.task.rows[lane].end) {
      low = std::clamp<int64_t>(tile.task.rows[lane].begin - range.origin, 0, kBlockKeys);
      high = std::clamp<int64_t>(tile.task.rows[lane].end - range.origin, 0, kBlockKeys);
    }
    tile.low[lane] = static_cast<T>(low);
    tile.high[lane] = static_cast<T>(high);
  }
}

/// Which lanes the key at `place` takes part in.
template <class D, class T>
HWY_INLINE hn::Mask<D> TakesPart(D d, const Tile<T>& tile, int64_t place, int64_t lane) {
  const auto at = hn::Set(d, static_cast<T>(place));
  hn::Mask<D> takes = hn::And(hn::Le(hn::Load(d, tile.low + lane), at), hn::Lt(at, hn::Load(d, tile.high + lane)));
  if (tile.task.additive) {
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
    hn::Store(hn::IfThenElse(TakesPart(d, tile, place, lane), hn::Load(d, s), none), d, s);
  });
}

/// Computes the scores of a range into tile.s. False if no key of it takes part in any row: then nothing of it was
/// touched, and tile.s holds nothing.
template <size_t NV, class D, class T>
HWY_INLINE bool Scores(D d, const Tile<T>& tile, BlockRange& range) {
  const TileTask<T>& task = tile.task;
  if (task.additive) {
    const bool any = task.bias_dtype == DType::f64 ? FillAdditive<D, T, double>(d, tile, range)
                                                   : FillAdditive<D, T, float>(d, tile, range);
    if (!any) return false;
  }
  Gemm<NV>(d, KeysOf(tile, range), range.last - range.first, task.d_k, tile.q, Scaled<T>{task.scale},
           tile.s + range.first * tile.width);
  if (task.softcap > 0) ApplySoftcap(d, tile, range);
  if (task.additive) ApplyAdditive(d, tile, range);
  if (task.alibi) ApplyAlibi(d, tile, range);
  if (range.partial) {
    FillBounds(tile, range);
    ForbidScores(d, tile, range);
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_SCORES_INL_H_
