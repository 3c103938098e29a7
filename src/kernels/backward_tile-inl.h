// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A tile of the backward pass: its rows, and the weights and score gradients of one block of keys.
//
// Pairs that take no part have weight and gradient exactly 0, selected, never multiplied, so that NaN goes nowhere through
// them.
#if defined(FOVEATE_SRC_KERNELS_BACKWARD_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_BACKWARD_TILE_INL_H_
#undef FOVEATE_SRC_KERNELS_BACKWARD_TILE_INL_H_
#else
#define FOVEATE_SRC_KERNELS_BACKWARD_TILE_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/backward.h"
#include "kernels/dropout-inl.h"
#include "kernels/exp-inl.h"
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
  bool absent = false;   ///< some row takes no part
  bool factors = false;  ///< some row has a factor
  T* ds = nullptr;       ///< [kBlockKeys][width]
  T* kept = nullptr;     ///< [kBlockKeys][width]: keep / (1 - P)
  T* rounded = nullptr;  ///< [kBlockKeys][width], of native products
  T* dq = nullptr;       ///< [d_k][width]; of additive attention in panels, as q.rows
  Panels<T> q = {}, d_o = {};
  T *lse = nullptr, *factor = nullptr, *delta = nullptr;  ///< [width]
  T* key_panels = nullptr;                                ///< of additive attention: see accumulator_at()
  T* dw = nullptr;                                        ///< likewise, of one block
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
  b.rounded = take(kBlockKeys * width);
  b.dq = take(padded(d_k, lanes) * width);
  b.q = {take(padded(d_k, lanes) * width), tile.q, d_k};
  b.d_o = {take(padded(d_v, lanes) * width), tile.total.o, d_v};
  b.lse = take(width);
  b.factor = take(width);
  b.delta = take(width);
  if (kRivals && task.tile.tanh != nullptr) {
    b.key_panels = take(kBlockKeys * padded(d_k, lanes));
    b.dw = take(padded(d_k, lanes));
  }
  b.absent = std::any_of(task.tile.rows, task.tile.rows + task.tile.n_rows,
                         [](const Row<T>& row) { return row.begin >= row.end; });
  return b;
}

/// A row of d elements of a type into the panels.
template <class T>
HWY_INLINE void LoadPanelRow(DType dtype, const void* from, int64_t stride, int64_t r, int64_t width,
                             const Panels<T>& to) {
  WithElement<T>(dtype, [&](auto* element) HWY_ATTR {
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

template <class D, class T>
HWY_INLINE void ClearPanelRow(D d, int64_t r, int64_t width, const Panels<T>& panels) {
  for_each_panel(panels.d, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) {
    std::fill_n(panels.rows + width * first + r * components, components, T{0});
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

/// Sets the constants of each lane: lanes without a row have zeros.
template <class T>
HWY_INLINE void LoadBackwardLanes(const BackwardTask<T>& task, BackwardTile<T>& b) {
  LoadLanes(b.tile);
  for (int64_t r = 0; r < b.tile.width; ++r) {
    const bool there = r < task.tile.n_rows;
    b.lse[r] = there ? task.gradient_rows[r].lse : T{0};
    b.factor[r] = there ? task.gradient_rows[r].factor : T{1};
    b.delta[r] = there ? task.gradient_rows[r].delta : T{0};
    b.factors |= b.factor[r] != T{1};
  }
}

/// Brings in the rows of the tile, q and d_o both ways: rows that take no part, and lanes without one, as zeros.
template <class D, class T>
HWY_INLINE void LoadBackwardTile(D d, const BackwardTask<T>& task, BackwardTile<T>& b) {
  const int64_t width = b.tile.width;
  LoadBackwardLanes(task, b);
  for (int64_t r = 0; r < width; ++r) {
    if (r < task.tile.n_rows && task.tile.rows[r].begin < task.tile.rows[r].end) {
      LoadPanelRow(task.tile.q_dtype, task.tile.rows[r].q, task.tile.q_stride, r, width, b.q);
      LoadPanelRow(task.d_o_dtype, task.gradient_rows[r].d_o, task.d_o_stride, r, width, b.d_o);
    } else {
      ClearPanelRow(d, r, width, b.q);
      ClearPanelRow(d, r, width, b.d_o);
    }
  }
  FinishPanels(d, width, b.q);
  FinishPanels(d, width, b.d_o);
  if (!kRivals || task.tile.tanh == nullptr) return;
  PrepareTanhScores(b.tile);
  task.tile.tanh->kernel->exponentials(b.q.rows, width, b.q.d);
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

template <class D, class T>
HWY_NOINLINE void ApplyFactors(D d, const BackwardTile<T>& b, const BlockRange& range) {
  ForEachVector(d, b.tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    T* const p = b.tile.s + place * b.tile.width + lane;
    hn::Store(hn::Mul(hn::Load(d, p), hn::Load(d, b.factor + lane)), d, p);
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

/// Computes the weights of a range, undropped, into tile.s and their scores' gradients into b.ds; value_products(range) gives
/// V . dO^T there. False if no key of it takes part in any row.
template <size_t NV, class D, class T, class ValueProducts>
HWY_INLINE bool Differentiate(D d, const BackwardTile<T>& b, BlockRange& range, const ValueProducts& value_products) {
  const Tile<T>& tile = b.tile;
  const TileTask<T>& task = tile.task;
  range.partial |= b.absent;
  if (!Scores<NV>(d, tile, range)) return false;
  WeightsOfLse(d, b, range);
  if (b.factors) ApplyFactors(d, b, range);
  value_products(range);
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

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_BACKWARD_TILE_INL_H_
