// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The backward kernel: weights and their gradients of one block of keys, and the three products that take them on. See
// backward.h.
//
// NaN and Inf. Pairs that take no part have weight and gradient exactly 0, selected, never multiplied. A product over keys or
// rows would still form 0 * NaN: where a block is only partly allowed, it is given its rows with 0 for what is not finite, and
// what that left out is added pair by pair for those that take part.
#if defined(FOVEATE_SRC_KERNELS_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
#undef FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
#else
#define FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/backward.h"
#include "kernels/dropout-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// C = C + sum.
template <class T>
struct Added {
  template <class D, class V>
  HWY_INLINE void store(D d, V sum, T* c, size_t /*lane*/) const {
    hn::Store(hn::Add(hn::Load(d, c), sum), d, c);
  }
};

/// Rows of the tile in panels of components, and the same transposed.
template <class T>
struct Panels {
  T* rows = nullptr;     ///< [panel][width][components of the panel], zero where there is no row or component
  T* columns = nullptr;  ///< [d][width]
  int64_t d = 0;
  bool finite = true;  ///< otherwise `rows` holds 0 for what is not finite, which `columns` still has
};

template <class T>
struct BackwardTile {
  Tile<T> tile;
  bool absent = false;  ///< some row takes no part
  T* ds = nullptr;      ///< [kBlockKeys][width]
  T* kept = nullptr;    ///< [kBlockKeys][width]: keep / (1 - P)
  T* dq = nullptr;      ///< [d_k][width]
  Panels<T> q = {}, d_o = {};
  T *lse = nullptr, *delta = nullptr;  ///< [width]
};

template <class T>
HWY_INLINE BackwardTile<T> MakeBackwardTile(const BackwardTask<T>& task, int64_t width) {
  BackwardTile<T> b{.tile = MakeTile(task.tile, width)};
  Tile<T>& tile = b.tile;
  tile.few = false;
  const int64_t d_k = task.tile.d_k, d_v = task.tile.d_v;
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  T* at = task.tile.scratch + scratch_elements(width, d_k, d_v);
  const auto take = [&at](int64_t n) {
    T* const here = at;
    at += n;
    return here;
  };
  b.ds = take(kBlockKeys * width);
  b.kept = take(kBlockKeys * width);
  tile.cap_slope = take(kBlockKeys * width);
  b.dq = take(d_k * width);
  b.q = {take(padded(d_k, lanes) * width), tile.q, d_k};
  b.d_o = {take(padded(d_v, lanes) * width), tile.total.o, d_v};
  b.lse = take(width);
  b.delta = take(width);
  b.absent = std::any_of(task.tile.rows, task.tile.rows + task.tile.n_rows,
                         [](const Row<T>& row) { return row.begin >= row.end; });
  return b;
}

/// A row of d elements of the queries' type into the panels.
template <class T>
HWY_INLINE void LoadPanelRow(const TileTask<T>& task, const void* from, int64_t stride, int64_t r, int64_t width,
                             const Panels<T>& to) {
  WithElement<T>(task.q_dtype, [&](auto* element) HWY_ATTR {
    const auto* row = static_cast<const std::remove_pointer_t<decltype(element)>*>(from);
    for_each_panel(to.d, static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())),
                   [&](int64_t first, int64_t components) HWY_ATTR {
                     T* const at = to.rows + width * first + r * components;
                     const int64_t there = std::min(components, to.d - first);
                     ConvertRow(row + first * stride, stride, there, at);
                     std::fill(at + there, at + components, T{0});
                   });
  });
}

/// Fills in the columns, and takes what is not finite out of the rows.
template <class D, class T>
HWY_NOINLINE void FinishPanels(D d, int64_t width, Panels<T>& panels) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  panels.finite = AllFinite(d, Broadcasts<T, false>{panels.rows, width}, padded(panels.d, lanes), width);
  for_each_panel(panels.d, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
    T* const rows = panels.rows + width * first;
    const int64_t there = std::min(components, panels.d - first);
    Transpose(Broadcasts<T, false>{rows, components}, width, there, panels.columns + width * first, width);
    if (panels.finite) return;
    std::replace_if(
        rows, rows + width * components, [](T x) { return !std::isfinite(x); }, T{0});
  });
}

/// Brings in the rows of the tile: q and d_o both ways, lse and delta. Lanes without a row have zeros.
template <class D, class T>
HWY_INLINE void LoadBackwardTile(D d, const BackwardTask<T>& task, BackwardTile<T>& b) {
  const int64_t width = b.tile.width;
  LoadLanes(b.tile);
  for (int64_t r = 0; r < width; ++r) {
    const bool there = r < task.tile.n_rows && task.gradient_rows[r].d_o != nullptr;
    b.lse[r] = there ? task.gradient_rows[r].lse : T{0};
    b.delta[r] = there ? task.gradient_rows[r].delta : T{0};
    for (const Panels<T>* panels : {&b.q, &b.d_o}) {
      if (there) {
        const bool is_q = panels == &b.q;
        LoadPanelRow(task.tile, is_q ? task.tile.rows[r].q : task.gradient_rows[r].d_o,
                     is_q ? task.tile.q_stride : task.d_o_stride, r, width, *panels);
      } else {
        for_each_panel(panels->d, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) {
          std::fill_n(panels->rows + width * first + r * components, components, T{0});
        });
      }
    }
  }
  FinishPanels(d, width, b.q);
  FinishPanels(d, width, b.d_o);
}

/// Turns the scores of a range into weights. Rounding of lse may leave a score above it, whose weight is 1.
template <class D, class T>
HWY_NOINLINE void WeightsOfLse(D d, const BackwardTile<T>& b, const BlockRange& range) {
  ForEachVector(d, b.tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    T* const s = b.tile.s + place * b.tile.width + lane;
    const auto x = hn::Sub(hn::Load(d, s), hn::Load(d, b.lse + lane));
    hn::Store(Exp(d, hn::IfThenZeroElse(hn::Gt(x, hn::Zero(d)), x)), d, s);
  });
}

/// kept = keep / (1 - P); what goes through a weight that is dropped is dropped.
template <class D, class T>
HWY_NOINLINE void KeepOf(D d, const BackwardTile<T>& b, const BlockRange& range) {
  const Tile<T>& tile = b.tile;
  std::fill(b.kept, b.kept + kBlockKeys * tile.width, T{1});
  Drop(tile, range, b.kept);
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    const int64_t at = place * tile.width + lane;
    hn::Store(hn::Mul(hn::Load(d, b.ds + at), hn::Load(d, b.kept + at)), d, b.ds + at);
  });
}

/// ds = p (da - delta), where da stands in b.ds.
template <class D, class T>
HWY_NOINLINE void GradientsOfScores(D d, const BackwardTile<T>& b, const BlockRange& range) {
  ForEachVector(d, b.tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    const int64_t at = place * b.tile.width + lane;
    const auto p = hn::Load(d, b.tile.s + at);
    hn::Store(hn::Mul(p, hn::Sub(hn::Load(d, b.ds + at), hn::Load(d, b.delta + lane))), d, b.ds + at);
  });
}

/// Weights and gradients of pairs that take no part are 0, whatever was computed for them.
template <class D, class T>
HWY_NOINLINE void ForbidPairs(D d, const BackwardTile<T>& b, const BlockRange& range) {
  ForEachVector(d, b.tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    const int64_t at = place * b.tile.width + lane;
    const auto takes = TakesPart(d, b.tile, range, place, lane);
    hn::Store(hn::IfThenElseZero(takes, hn::Load(d, b.tile.s + at)), d, b.tile.s + at);
    hn::Store(hn::IfThenElseZero(takes, hn::Load(d, b.ds + at)), d, b.ds + at);
  });
}

/// a *= factor, for the range; a 0 stays, whatever the factor of a pair that takes no part.
template <class D, class T>
HWY_NOINLINE void MultiplyRange(D d, const Tile<T>& tile, const BlockRange& range, const T* factor, T* a) {
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    const int64_t at = place * tile.width + lane;
    const auto x = hn::Load(d, a + at);
    hn::Store(hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::Mul(x, hn::Load(d, factor + at))), d, a + at);
  });
}

/// Computes the weights of a range, undropped, into tile.s and their scores' gradients into b.ds. False if no key of it
/// takes part in any row.
template <size_t NV, class D, class T>
HWY_INLINE bool Differentiate(D d, const BackwardTile<T>& b, BlockRange& range) {
  const Tile<T>& tile = b.tile;
  const TileTask<T>& task = tile.task;
  range.partial |= b.absent;
  if (!Scores<NV>(d, tile, range)) return false;
  WeightsOfLse(d, b, range);
  const int64_t keys = range.last - range.first;
  Gemm<NV>(d, RowsOf(task.pages, task.v, range.key, keys, task.d_v, tile.packed_v), keys, task.d_v, b.d_o.columns,
           Scaled<T>{1}, b.ds + range.first * tile.width);
  if (task.dropout.on) KeepOf(d, b, range);
  GradientsOfScores(d, b, range);
  if (range.partial) ForbidPairs(d, b, range);
  return true;
}

/// Whether the key at `place` takes part in one row. The range's bounds are filled in.
template <class T>
HWY_INLINE bool TakesPartInRow(const Tile<T>& tile, const BlockRange& range, int64_t place, int64_t r) {
  const auto at = static_cast<T>(place);
  if (!(tile.low[r] <= at && at < tile.high[r])) return false;
  return !range.additive || tile.additive[place * tile.width + r] != -std::numeric_limits<T>::infinity();
}

/// Adds a[place][row] * x to sums[place] for what is not finite among the rows' components, over pairs that take part.
template <class T>
HWY_NOINLINE void AddNotFiniteRows(const BackwardTile<T>& b, const BlockRange& range, const T* a,
                                   const Panels<T>& panels, int64_t lanes, T* sums) {
  const Tile<T>& tile = b.tile;
  FillBounds(tile, range);
  for_each_panel(panels.d, lanes, [&](int64_t first, int64_t components) {
    for (int64_t i = 0; i < std::min(components, panels.d - first); ++i) {
      for (int64_t r = 0; r < tile.task.n_rows; ++r) {
        const T x = panels.columns[(first + i) * tile.width + r];
        if (std::isfinite(x)) continue;
        for (int64_t place = range.first; place < range.last; ++place) {
          if (!TakesPartInRow(tile, range, place, r)) continue;
          sums[accumulator_at(first, components, place) + i] += a[place * tile.width + r] * x;
        }
      }
    }
  });
}

/// sums[place] += sum over the tile's rows of a[place][row] * row: dv and dk.
template <class D, class T>
HWY_INLINE void AddRows(D d, const BackwardTile<T>& b, const BlockRange& range, const T* a, const Panels<T>& panels,
                        T* sums) {
  const int64_t width = b.tile.width, keys = range.last - range.first;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const Broadcasts<T, false> from{a + range.first * width, width};
  for_each_panel(panels.d, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
    const T* const rows = panels.rows + width * first;
    T* const to = sums + accumulator_at(first, components, range.first);
    const int64_t n = b.tile.task.n_rows;
    if (components == lanes) return Gemm<1>(d, from, keys, n, rows, Added<T>(), to);
    if (components == 2 * lanes) return Gemm<2>(d, from, keys, n, rows, Added<T>(), to);
    if constexpr (kTileVectors < float >> 2) Gemm<3>(d, from, keys, n, rows, Added<T>(), to);
  });
  if (!panels.finite) AddNotFiniteRows(b, range, a, panels, lanes, sums);
}

/// A range's keys with 0 for what is not finite, in tile.columns.
template <class T>
HWY_NOINLINE Broadcasts<T, false> FiniteKeys(const Tile<T>& tile, Broadcasts<T, false> keys, int64_t n) {
  const int64_t d_k = tile.task.d_k;
  for (int64_t j = 0; j < n; ++j) {
    std::replace_copy_if(
        keys.row(j), keys.row(j) + d_k, tile.columns + j * d_k, [](T x) { return !std::isfinite(x); }, T{0});
  }
  return {tile.columns, d_k};
}

/// Adds ds * x to dq for what is not finite among the keys, over pairs that take part.
template <class T>
HWY_NOINLINE void AddNotFiniteKeys(const BackwardTile<T>& b, const BlockRange& range, Broadcasts<T, false> keys) {
  const Tile<T>& tile = b.tile;
  for (int64_t place = range.first; place < range.last; ++place) {
    for (int64_t i = 0; i < tile.task.d_k; ++i) {
      const T x = keys.row(place - range.first)[i];
      if (std::isfinite(x)) continue;
      for (int64_t r = 0; r < tile.task.n_rows; ++r) {
        if (TakesPartInRow(tile, range, place, r)) b.dq[i * tile.width + r] += b.ds[place * tile.width + r] * x;
      }
    }
  }
}

/// dq += K^T . ds.
template <size_t NV, class D, class T>
HWY_INLINE void AddKeys(D d, const BackwardTile<T>& b, const BlockRange& range) {
  const Tile<T>& tile = b.tile;
  const int64_t n = range.last - range.first, d_k = tile.task.d_k;
  const Broadcasts<T, false> keys = KeysAgain(tile, range);
  const bool finite = !range.partial || AllFinite(d, keys, n, d_k);
  const Broadcasts<T, false> added = finite ? keys : FiniteKeys(tile, keys, n);
  Gemm<NV>(d, Broadcasts<T, true>{added.data, added.stride}, d_k, n, b.ds + range.first * tile.width, Added<T>(), b.dq);
  if (!finite) AddNotFiniteKeys(b, range, keys);
}

/// Adds the tile's dq to the rows that the task names.
template <class D, class T>
HWY_NOINLINE void StoreQueryGradients(D d, const BackwardTile<T>& b, T* to) {
  const Tile<T>& tile = b.tile;
  const int64_t d_k = tile.task.d_k, n = tile.task.n_rows * d_k;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* const rows = tile.q;  // done with
  Transpose(Broadcasts<T, false>{b.dq, tile.width}, d_k, tile.task.n_rows, rows, d_k);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, rows + i)), d, to + i);
  for (; i < n; ++i) to[i] += rows[i];
}

/// Calls body(range) for the task's blocks that some row sees, with weights and gradients computed.
template <size_t NV, class D, class T, class Body>
HWY_INLINE void ForEachBlock(D d, const BackwardTask<T>& task, const BackwardTile<T>& b, const Body& body) {
  for (int64_t block = task.first_block; block < task.last_block; ++block) {
    BlockRange range = RangeOf(b.tile, block);
    if (range.first < range.last && Differentiate<NV>(d, b, range)) body(block, range);
  }
}

template <size_t NV, class T>
void AddTile(const BackwardTask<T>& task) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  BackwardTile<T> b = MakeBackwardTile(task, static_cast<int64_t>(NV) * lanes);
  const Tile<T>& tile = b.tile;
  LoadBackwardTile(d, task, b);
  std::fill_n(b.dq, tile.task.d_k * tile.width, T{0});
  ForEachBlock<NV>(d, task, b, [&](int64_t block, const BlockRange& range) HWY_ATTR {
    const int64_t at = block - task.first_block;
    // Before the kept weights are, ds meets the slope of softcap.
    if (tile.task.softcap > 0) MultiplyRange(d, tile, range, tile.cap_slope, b.ds);
    if (task.dq != nullptr) AddKeys<NV>(d, b, range);
    if (task.dk != nullptr) AddRows(d, b, range, b.ds, b.q, task.dk + at * accumulator_elements(tile.task.d_k, lanes));
    if (task.dv == nullptr) return;
    if (tile.task.dropout.on) MultiplyRange(d, tile, range, b.kept, tile.s);
    AddRows(d, b, range, tile.s, b.d_o, task.dv + at * accumulator_elements(tile.task.d_v, lanes));
  });
  if (task.dq != nullptr) StoreQueryGradients(d, b, task.dq);
}

template <size_t NV, class T>
void AddTileDs(const BackwardTask<T>& task, T* ds, int64_t stride) {
  const hn::ScalableTag<T> d;
  BackwardTile<T> b = MakeBackwardTile(task, static_cast<int64_t>(NV * hn::Lanes(d)));
  LoadBackwardTile(d, task, b);
  ForEachBlock<NV>(d, task, b, [&](int64_t block, const BlockRange& range) HWY_ATTR {
    T* const to = ds + (block - task.first_block) * kBlockKeys * stride;
    ForEachVector(d, b.tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
      T* const sum = to + place * stride + lane;
      hn::Store(hn::Add(hn::Load(d, sum), hn::Load(d, b.ds + place * b.tile.width + lane)), d, sum);
    });
  });
}

template <class T>
void AddAny(const BackwardTask<T>& task) {
  WithVectors(task.tile, [&](auto vectors) { AddTile<decltype(vectors)::value>(task); });
}

template <class T>
void AddAnyDs(const BackwardTask<T>& task, T* ds, int64_t stride) {
  WithVectors(task.tile, [&](auto vectors) { AddTileDs<decltype(vectors)::value>(task, ds, stride); });
}

template <class T>
BackwardKernel<T> BackwardKernelOf() {
  return {&AddAny<T>, &AddAnyDs<T>};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
