// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One block of keys for few rows, whose scores, weights and outputs lie row by row while a split is walked: s[row][place]
// and o[row][d_v], so that softmax has keys in its lanes and nothing is written at a stride. Sums are the tile kernel's:
// the weights' by place modulo kSumLanes. What few calls want of scores or weights (softcap, masks, bias, ALiBi, dropout) is
// done by the tile kernel's own passes, in its layout, into which a block is turned and back.
#if defined(FOVEATE_SRC_KERNELS_FEW_ROWS_WALK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_FEW_ROWS_WALK_INL_H_
#undef FOVEATE_SRC_KERNELS_FEW_ROWS_WALK_INL_H_
#else
#define FOVEATE_SRC_KERNELS_FEW_ROWS_WALK_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/ahead.h"
#include "kernels/dropout-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/few_rows-inl.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/native_few_rows-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Takes a range's scores or weights out of tile.s.
template <class T>
HWY_NOINLINE void GatherFewRows(const Tile<T>& tile, const BlockRange& range, T* s) {
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    for (int64_t place = range.first; place < range.last; ++place) {
      s[r * kBlockKeys + place] = tile.s[place * tile.width + r];
    }
  }
}

/// Turns the outputs of few rows, [n_rows][d_v], into the tile's layout, [d_v][width], or back.
template <class T>
HWY_NOINLINE void TurnOutputs(const Tile<T>& tile, const State<T>& state, bool to_lanes) {
  const int64_t n = tile.task.n_rows, d_v = tile.task.d_v;
  T* const rows = tile.packed_v;
  if (to_lanes) std::copy_n(state.o, n * d_v, rows);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t i = 0; i < d_v; ++i) {
      T &lane = state.o[i * tile.width + r], &row = rows[r * d_v + i];
      to_lanes ? lane = row : row = lane;
    }
  }
  if (!to_lanes) std::copy_n(rows, n * d_v, state.o);
}

/// The sum of a row's weights: chains by place modulo kSumLanes.
template <class T>
HWY_INLINE T SumOfWeights(const T* p) {
  const hn::CappedTag<T, static_cast<size_t>(kSumLanes)> d;
  T chains[kSumLanes];
  for (int64_t i = 0; i < kSumLanes; i += static_cast<int64_t>(hn::Lanes(d))) {
    auto sum = hn::LoadU(d, p + i);
    for (int64_t place = kSumLanes; place < kBlockKeys; place += kSumLanes)
      sum = hn::Add(sum, hn::LoadU(d, p + place + i));
    hn::StoreU(sum, d, chains + i);
  }
  return (chains[0] + chains[1]) + (chains[2] + chains[3]);
}

/// Softmax (softmax-inl.h) of few rows: places beside the range get the weight 0.
template <class T>
HWY_NOINLINE void FewRowsSoftmax(const Tile<T>& tile, const BlockRange& range, const State<T>& state, T* s) {
  const hn::CappedTag<T, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr T none = -std::numeric_limits<T>::infinity();
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    T* const row = s + r * kBlockKeys;
    std::fill(row, row + range.first, none);
    std::fill(row + range.last, row + kBlockKeys, none);
    auto most = hn::Set(d, state.m[r]);
    for (int64_t place = 0; place < kBlockKeys; place += lanes) most = hn::Max(most, hn::LoadU(d, row + place));
    const T m = hn::GetLane(hn::MaxOfLanes(d, most));
    const T subtract = m == none ? T{0} : m;
    for (int64_t place = 0; place < kBlockKeys; place += lanes) {
      hn::StoreU(Exp(d, hn::Sub(hn::LoadU(d, row + place), hn::Set(d, subtract))), d, row + place);
    }
    tile.correction[r] = state.m[r] - subtract;
    state.m[r] = m;
  }
  const hn::CappedTag<T, kMostFewRows> rows;
  T sums[kMostFewRows] = {};
  for (int64_t r = 0; r < tile.task.n_rows; ++r) sums[r] = SumOfWeights(s + r * kBlockKeys);
  for (int64_t r = 0; r < tile.task.n_rows; r += static_cast<int64_t>(hn::Lanes(rows))) {
    const auto correction = Exp(rows, hn::Load(rows, tile.correction + r));
    hn::Store(correction, rows, tile.correction + r);
    const auto l = MultiplyAdd(hn::Load(rows, state.l + r), correction, hn::LoadU(rows, sums + r));
    hn::Store(l, rows, state.l + r);
  }
}

/// The scores of a range into s, or false if no key of it takes part in any row.
template <class D, class T>
HWY_INLINE bool FinishedFewRowsScores(D d, const Tile<T>& tile, BlockRange& range, Ahead& ahead, T* s) {
  const TileTask<T>& task = tile.task;
  if (range.additive && !FillAdditiveOf(d, tile, range)) return false;
  FewRowsScoresOf(tile, range, ahead, s);
  if (task.softcap > 0 || range.additive || task.alibi || range.partial) {
    ScatterFewRows(tile, range, s);
    FinishScores(d, tile, range);
    GatherFewRows(tile, range, s);
  }
  return true;
}

/// Drops and lowers a range's weights, where that is wanted.
template <class T>
HWY_INLINE void ChangeFewRowsWeights(const Tile<T>& tile, const BlockRange& range, T lowered, T* s) {
  if (tile.task.dropout.on) {
    ScatterFewRows(tile, range, s);
    Drop(tile, range, tile.s);
    GatherFewRows(tile, range, s);
  }
  if (lowered != T{1}) {
    for (int64_t i = 0; i < tile.task.n_rows * kBlockKeys; ++i) s[i] *= lowered;
  }
}

/// Whether a range's values can meet the weights of few rows: they have adjacent components, and none is NaN or Inf that
/// some row must not meet.
template <class D, class T>
HWY_INLINE bool MayMeetFewRows(D d, const Tile<T>& tile, const BlockRange& range) {
  const TileTask<T>& task = tile.task;
  if (task.v.stride_d != 1 && task.d_v > 1) return false;
  if (!range.partial) return true;
  if constexpr (kNativeProducts && std::is_same_v<T, float>) {
    if (task.values != Native::none) return AreFiniteNative(task, range);
  }
  return AllFinite(d, ValuesOf(tile, range), range.last - range.first, task.d_v);
}

/// Joins a range to a split's state. Where its values hold NaN or Inf that some rows must not meet, and where they have no
/// adjacent components, the tile kernel does it.
template <size_t NV, class D, class T>
HWY_INLINE void JoinFewRows(D d, const Tile<T>& tile, const BlockRange& range, const State<T>& state, Ahead& ahead,
                            const T* s) {
  if (!MayMeetFewRows(d, tile, range)) {
    BlockRange whole = range;  // with the zeros beside it
    whole.first = 0, whole.last = kBlockKeys;
    ScatterFewRows(tile, whole, s);
    TurnOutputs(tile, state, true);
    WeightedSum<NV>(d, tile, range, state);
    TurnOutputs(tile, state, false);
    return;
  }
  FewRowsWeightedSumOf(tile, range, ahead, s, state.o);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_FEW_ROWS_WALK_INL_H_
