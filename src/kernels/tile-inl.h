// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The tile kernel: walks the key splits and blocks that a tile's rows see, and writes the rows, for tiles of one to
// kTileVectors vectors. Compiled once for each target by whoever includes it.
#if defined(FOVEATE_SRC_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_TILE_INL_H_
#undef FOVEATE_SRC_KERNELS_TILE_INL_H_
#else
#define FOVEATE_SRC_KERNELS_TILE_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "foveate/float16.h"
#include "hwy/highway.h"
#include "kernels/dropout-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/few_rows_walk-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/native-inl.h"
#include "kernels/pages.h"
#include "kernels/rows-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Weights are multiplied by it in the second try at sums that overflowed: 2^-40 is far below any count of keys, and
/// costs only weights that add less than 2^-86 of such a sum.
inline constexpr double kLowered = 0x1p-40;

/// A range of few rows joins a split's state; false if none of its keys takes part in any row.
template <size_t NV, class D, class T>
HWY_INLINE bool WalkFewRows(D d, const Tile<T>& tile, BlockRange& range, bool begun, const State<T>& state, T lowered,
                            Ahead& ahead) {
  alignas(64) T s[kMostFewRows * kBlockKeys];
  BeginAhead(range, ahead);
  if (!FinishedFewRowsScores(d, tile, range, ahead, s)) return false;
  if (!begun) Clear(d, tile, state);
  FewRowsSoftmax(tile, range, state, s);
  ChangeFewRowsWeights(tile, range, lowered, s);
  JoinFewRows<NV>(d, tile, range, state, ahead, s);
  return true;
}

/// The splits that some row of the tile sees: [first, last).
template <class T>
HWY_INLINE void SplitsSeen(const Tile<T>& tile, int64_t& first, int64_t& last) {
  first = tile.begin < tile.end ? (tile.begin + tile.task.phase) / kSplitKeys : 0;
  last = tile.begin < tile.end ? splits_of(tile.task.phase, tile.end) : 0;
}

/// The blocks of some splits of which some row may see a key: [first, last).
template <class T>
HWY_INLINE void BlocksSeen(const Tile<T>& tile, int64_t first_split, int64_t last_split, int64_t& first,
                           int64_t& last) {
  constexpr int64_t kBlocks = kSplitKeys / kBlockKeys;
  const int64_t begin = tile.begin + tile.task.phase, end = tile.end + tile.task.phase;
  first = std::max(first_split * kBlocks, begin / kBlockKeys);
  last = tile.begin < tile.end ? std::min(last_split * kBlocks, (end + kBlockKeys - 1) / kBlockKeys) : first;
}

/// The state of one split's keys; false if none takes part in any row, and the state was left as it is: an empty one changes
/// nothing where it is merged. Weights are multiplied by `lowered` after they are summed into l.
template <size_t NV, class D, class T>
HWY_NOINLINE bool WalkSplit(D d, const Tile<T>& tile, int64_t split, const State<T>& state, T lowered) {
  bool begun = false;
  Ahead ahead = AheadOf(tile);
  if (!MayKeepBlocks(tile, split * kSplitKeys, (split + 1) * kSplitKeys)) return false;
  int64_t first, last;
  BlocksSeen(tile, split, split + 1, first, last);
  for (int64_t block = first; block < last; ++block) {
    BlockRange range = RangeOf(tile, block);
    if (range.first >= range.last) continue;
    if constexpr (NV == 1 && !HWY_ARCH_WASM) {
      if (tile.few) {
        begun |= WalkFewRows<NV>(d, tile, range, begun, state, lowered, ahead);
        continue;
      }
    }
    range.by_vectors = DivideRange<NV>(tile, range, lowered);
    if (!Scores<NV>(d, tile, range)) continue;
    if (!begun) Clear(d, tile, state);
    begun = true;
    if (NativeSoftmaxAndSum(d, tile, range, state, lowered)) continue;
    Softmax(d, tile, range, state, WeightsInPlace());
    if (tile.task.dropout.on) Drop(tile, range, tile.s);
    if (lowered != T{1}) {
      ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
        T* p = tile.s + place * tile.width + lane;
        hn::Store(hn::Mul(hn::Load(d, p), hn::Set(d, lowered)), d, p);
      });
    }
    WeightedSum<NV>(d, tile, range, state);
  }
  return begun;
}

/// Calls body(range) for each block of which some row sees a key, in order.
template <class T, class Body>
HWY_INLINE void ForEachBlockSeen(const Tile<T>& tile, const Body& body) {
  int64_t first_split, last_split, first, last;
  SplitsSeen(tile, first_split, last_split);
  BlocksSeen(tile, first_split, last_split, first, last);
  for (int64_t block = first; block < last; ++block) {
    BlockRange range = RangeOf(tile, block);
    if (range.first < range.last) body(range);
  }
}

/// Walks every split into tile.total.
template <size_t NV, class D, class T>
HWY_INLINE void Walk(D d, Tile<T>& tile, T lowered) {
  int64_t first, last;
  SplitsSeen(tile, first, last);
  // The first state is the total as it stands: merging it into an empty one would change no bit.
  bool begun = false;
  for (int64_t split = first; split < last; ++split) {
    if (!WalkSplit<NV>(d, tile, split, begun ? tile.split : tile.total, lowered)) continue;
    if (begun) Merge(d, tile, tile.total, tile.split);
    begun = true;
  }
  if (!begun) Clear(d, tile, tile.total);
}

/// Empties the state of rows that see no key: blocks that all other rows see whole do not ask about them.
template <class T>
HWY_INLINE void ForgetEmptyRows(const Tile<T>& tile, const State<T>& state) {
  if (IsRegular(tile.task) && tile.begin < tile.end) return;
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    if (tile.task.rows[r].begin < tile.task.rows[r].end) continue;
    state.m[r] = -std::numeric_limits<T>::infinity();
    state.l[r] = 0;
  }
}

/// Calls body with an element of the type that o and weights have.
template <class T, class Body>
HWY_INLINE void WithOutputElement(const Tile<T>& tile, const Body& body) {
  if constexpr (std::is_same_v<T, float> && kNarrowTypes) {
    if (tile.task.o_dtype == DType::f16) return body(Float16());
    if (tile.task.o_dtype == DType::bf16) return body(BFloat16());
  }
  body(T{});
}

/// A number as it is stored: what narrowing makes -0 is +0.
template <class E, class T>
HWY_INLINE E Stored(T x) {
  const E narrow = static_cast<E>(x);
  return static_cast<T>(narrow) == T{0} ? E{} : narrow;
}

/// n adjacent numbers as they are stored. Float16 by the instruction where there is one: it rounds alike.
template <class E, class T>
HWY_INLINE void StoreElements(const T* HWY_RESTRICT from, int64_t n, E* HWY_RESTRICT to) {
  int64_t i = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (std::is_same_v<E, Float16>) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> d16;
    const hn::Rebind<uint16_t, decltype(d)> du16;
    const auto minus_zero = hn::Set(du16, 0x8000);
    for (const auto lanes = static_cast<int64_t>(hn::Lanes(d)); i + lanes <= n; i += lanes) {
      const auto bits = hn::BitCast(du16, hn::DemoteTo(d16, hn::LoadU(d, from + i)));
      hn::StoreU(hn::IfThenZeroElse(hn::Eq(bits, minus_zero), bits), du16, reinterpret_cast<uint16_t*>(to + i));
    }
  }
#endif
  for (; i < n; ++i) to[i] = Stored<E>(from[i]);
}

/// Writes o of n rows, from the first on, that lie row by row.
template <class E, class T>
HWY_INLINE void StoreRows(const TileTask<T>& task, int64_t first, int64_t n, const T* from) {
  for (int64_t r = first; r < first + n; ++r, from += task.d_v) {
    E* const o = static_cast<E*>(task.rows[r].o);
    if (o == nullptr) continue;
    if (task.o_stride == 1) {
      StoreElements(from, task.d_v, o);
    } else {
      for (int64_t i = 0; i < task.d_v; ++i) o[i * task.o_stride] = Stored<E>(from[i]);
    }
  }
}

/// Writes the rows' o, of element type E, from a normalised state: straight to where they lie, or by way of tile.packed_v.
template <class E, class T>
HWY_NOINLINE void StoreOutputs(const Tile<T>& tile, const State<T>& state) {
  const TileTask<T>& task = tile.task;
  if (!HWY_ARCH_WASM && tile.few) return StoreRows<E>(task, 0, task.n_rows, state.o);
  const bool adjacent = task.o_stride == 1 || task.d_v <= 1;
  if constexpr (std::is_same_v<E, T>) {
    if (IsRegular(task) && adjacent) {
      return Transpose(Broadcasts<T, false>{state.o, tile.width}, task.d_v, task.n_rows, static_cast<T*>(task.rows->o),
                       task.o_step / static_cast<int64_t>(sizeof(T)));
    }
  }
  for (int64_t first = 0; first < task.n_rows; first += kBlockKeys) {
    const int64_t n = std::min(kBlockKeys, task.n_rows - first);
    const Broadcasts<T, false> components = {state.o + first, tile.width};
    if constexpr (std::is_same_v<E, T>) {
      T* rows[kBlockKeys];
      bool there = adjacent;
      for (int64_t r = 0; r < n; ++r) {
        rows[r] = static_cast<T*>(task.rows[first + r].o);
        there &= rows[r] != nullptr;
      }
      int64_t stride = 0;
      if (there && AtOneStride(rows, n, stride)) {
        Transpose(components, task.d_v, n, rows[0], stride);
        continue;
      }
    }
    Transpose(components, task.d_v, n, tile.packed_v, task.d_v);
    StoreRows<E>(task, first, n, tile.packed_v);
  }
}

/// Replaces the elements of the rows' o that are not finite by those of a state walked with lowered weights. A mean of
/// finite values is no larger than they are: what the last rounding carries past the largest number is that number.
template <class E, class T>
HWY_NOINLINE void RepairOutputs(const Tile<T>& tile, const State<T>& state) {
  constexpr T largest = std::numeric_limits<T>::max();
  const TileTask<T>& task = tile.task;
  for (int64_t r = 0; r < task.n_rows; ++r) {
    if (task.rows[r].o == nullptr) continue;
    for (int64_t i = 0; i < task.d_v; ++i) {
      E& o = static_cast<E*>(task.rows[r].o)[i * task.o_stride];
      const T low = state.o[!HWY_ARCH_WASM && tile.few ? r * task.d_v + i : i * tile.width + r];
      if (std::isfinite(static_cast<T>(o))) continue;
      const T raised = low * static_cast<T>(1 / kLowered);
      // What dropout multiplies may truly be too large.
      o = Stored<E>(std::isfinite(low) && !task.dropout.on ? std::clamp(raised, -largest, largest) : raised);
    }
  }
}

template <class T>
HWY_NOINLINE void StoreLse(const Tile<T>& tile, const State<T>& state) {
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    const Row<T>& row = tile.task.rows[r];
    if (row.lse == nullptr) continue;
    *row.lse = LogSumExp(state.m[r], state.l[r]);
  }
}

template <class E, class T>
HWY_NOINLINE void ClearWeights(const TileTask<T>& task) {
  for (int64_t r = 0; r < task.n_rows; ++r) {
    E* const weights = static_cast<E*>(task.rows[r].weights);
    for (int64_t j = 0; j < task.n_kv; ++j) weights[j * task.weights_stride] = E{};
  }
}

/// Copies a range's weights out of tile.s.
template <class E, class T>
HWY_NOINLINE void StoreWeightsOf(const Tile<T>& tile, const BlockRange& range) {
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    const Row<T>& row = tile.task.rows[r];
    if (row.begin >= row.end) continue;
    E* const weights = static_cast<E*>(row.weights);
    for (int64_t place = range.first; place < range.last; ++place) {
      weights[(range.origin + place) * tile.task.weights_stride] = static_cast<E>(tile.s[place * tile.width + r]);
    }
  }
}

/// Writes the rows' weights, from a second pass over the scores: a_ij = exp(s_ij - m) / l, and 0 where j takes no part.
template <size_t NV, class D, class T>
HWY_NOINLINE void StoreWeights(D d, const Tile<T>& tile, const State<T>& state) {
  WithOutputElement(tile, [&](auto element) HWY_ATTR { ClearWeights<decltype(element)>(tile.task); });
  ForEachBlockSeen(tile, [&](BlockRange& range) HWY_ATTR {
    if (!Scores<NV>(d, tile, range)) return;
    FillBounds(tile, range);
    ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
      T* s = tile.s + place * tile.width + lane;
      const auto subtract = ZeroIfMinusInfinity(d, hn::Load(d, state.m + lane));
      const auto l = hn::Load(d, state.l + lane);
      const auto weight = hn::Div(Exp(d, hn::Sub(hn::Load(d, s), subtract)), l);
      const auto weightless = hn::Eq(l, hn::Zero(d));
      hn::Store(hn::IfThenElseZero(hn::AndNot(weightless, TakesPart(d, tile, range, place, lane)), weight), d, s);
    });
    WithOutputElement(tile, [&](auto element) HWY_ATTR { StoreWeightsOf<decltype(element)>(tile, range); });
  });
}

/// Writes what the rows want of tile.total. Sums p v grow to n times the largest value before they are divided by l, so
/// they can overflow where their quotient is finite: where an output is not finite, the tile is walked again with lowered
/// weights, and what is finite then is the result. (True NaN and Inf stay.)
template <size_t NV, class D, class T>
HWY_NOINLINE void Finish(D d, Tile<T>& tile) {
  ForgetEmptyRows(tile, tile.total);
  const bool wanted = tile.task.rows[0].o != nullptr;
  const bool finite = Normalize(d, tile, tile.total) || !wanted;
  if (wanted) {
    WithOutputElement(tile, [&](auto element) HWY_ATTR { StoreOutputs<decltype(element)>(tile, tile.total); });
  }
  if (tile.task.rows[0].lse != nullptr) StoreLse(tile, tile.total);
  if (tile.task.rows[0].weights != nullptr) StoreWeights<NV>(d, tile, tile.total);
  if (finite) return;
  Walk<NV>(d, tile, static_cast<T>(kLowered));
  ForgetEmptyRows(tile, tile.total);
  Normalize(d, tile, tile.total);
  WithOutputElement(tile, [&](auto element) HWY_ATTR { RepairOutputs<decltype(element)>(tile, tile.total); });
}

/// Asks for all that a tile begins with at once: its queries, its first keys and values. One after the other, as they are met,
/// they cost up to a tenth of the time of short sequences. And for the next tile's queries, which would be waited for at once
/// then: 2 % at N384. WebAssembly cannot ask.
template <class T>
HWY_INLINE void PrefetchTile(const Tile<T>& tile) {
  if constexpr (HWY_ARCH_WASM) return;
  const TileTask<T>& task = tile.task;
  const int64_t q_bytes = task.q_stride == 1 ? task.d_k * size_of(task.q_dtype) : 0;
  if (IsRegular(task)) PrefetchLines(task.rows->q, task.n_rows, q_bytes, task.q_step);
  for (int64_t r = 0; r < task.n_rows && !IsRegular(task); ++r) {
    if (task.rows[r].q != nullptr) PrefetchLines(task.rows[r].q, 1, q_bytes, 0);
  }
  if (task.next_q != nullptr) PrefetchLines(task.next_q, task.n_rows, q_bytes, task.next_q_step);
  const int64_t keys = std::min(kBlockKeys, tile.end - tile.begin);
  PrefetchRows(task.pages, task.k, task.d_k, tile.begin, keys);
  PrefetchRows(task.pages, task.v, task.d_v, tile.begin, keys);
}

/// Brings in the queries, in the form that the task's products want, and what else each lane needs.
template <class T>
HWY_INLINE void LoadTile(const Tile<T>& tile) {
  PrefetchTile(tile);
  LoadLanes(tile);
  if constexpr (kNativeProducts && std::is_same_v<T, float>) {
    if (tile.task.scores != Native::none) return LoadNativeQueries(tile);
  }
  LoadQueries(tile);
  if (kRivals && tile.task.tanh != nullptr) PrepareTanhScores(tile);
}

/// A tile with its queries. One function for tiles of any width: copies in each caller would be 3 KB of a page's engine.
template <class T>
HWY_NOINLINE Tile<T> LoadedTile(const TileTask<T>& task, int64_t width) {
  Tile<T> tile = MakeTile(task, width);
  LoadTile(tile);
  return tile;
}

template <size_t NV, class T>
void AttendTile(const TileTask<T>& task) {
  const hn::ScalableTag<T> d;
  Tile<T> tile = LoadedTile(task, static_cast<int64_t>(NV * hn::Lanes(d)));
  Walk<NV>(d, tile, T{1});
  Finish<NV>(d, tile);
}

template <size_t NV, class T>
void AttendSplit(const TileTask<T>& task, int64_t split, T* partial) {
  const hn::ScalableTag<T> d;
  Tile<T> tile = LoadedTile(task, static_cast<int64_t>(NV * hn::Lanes(d)));
  const State<T> state{partial, partial + tile.width, partial + 2 * tile.width};
  if (!WalkSplit<NV>(d, tile, split, state, T{1})) Clear(d, tile, state);
}

template <size_t NV, class T>
void MergeSplits(const TileTask<T>& task, const T* partials, int64_t n_splits) {
  const hn::ScalableTag<T> d;
  Tile<T> tile = LoadedTile(task, static_cast<int64_t>(NV * hn::Lanes(d)));
  Clear(d, tile, tile.total);
  for (int64_t i = 0; i < n_splits; ++i) {
    T* partial = const_cast<T*>(partials) + i * partial_elements(tile.width, task.d_v);
    Merge(d, tile, tile.total, State<T>{partial, partial + tile.width, partial + 2 * tile.width});
  }
  Finish<NV>(d, tile);
}

template <class T>
void Attend(const TileTask<T>& task) {
  WithVectors(task, [&](auto vectors) { AttendTile<decltype(vectors)::value>(task); });
}

template <class T>
void AttendOneSplit(const TileTask<T>& task, int64_t split, T* partial) {
  WithVectors(task, [&](auto vectors) { AttendSplit<decltype(vectors)::value>(task, split, partial); });
}

template <class T>
void MergeAll(const TileTask<T>& task, const T* partials, int64_t n_splits) {
  WithVectors(task, [&](auto vectors) { MergeSplits<decltype(vectors)::value>(task, partials, n_splits); });
}

template <class T>
TileKernel<T> KernelOf() {
  return {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())), &Attend<T>, &AttendOneSplit<T>, &MergeAll<T>};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_TILE_INL_H_
