// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The backward kernel: the products that take the weights and score gradients of a block on to dq, dk and dv. See backward.h.
//
// NaN and Inf. A product over keys or rows would form 0 * NaN for pairs that take no part: where a block is only partly
// allowed, it is given its rows with 0 for what is not finite, and what that left out is added pair by pair for those that
// take part.
#if defined(FOVEATE_SRC_KERNELS_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
#undef FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
#else
#define FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/backward.h"
#include "kernels/backward_native-inl.h"
#include "kernels/backward_tile-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/panels-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
    GemmOfPanel(d, from, keys, b.tile.task.n_rows, panels.rows + width * first, components, Added<T>(),
                sums + accumulator_at(first, components, range.first));
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
  // As bfloat16 they have not been packed yet.
  const bool packed = tile.task.scores == Native::none;
  const Broadcasts<T, false> keys =
      packed ? KeysAgain(tile, range) : RowsOf(tile.task.pages, tile.task.k, range.key, n, d_k, tile.packed_k);
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

/// The same of sums in panels.
template <class D, class T>
HWY_NOINLINE void StoreQueryPanels(D d, const BackwardTile<T>& b, T* to) {
  const int64_t d_k = b.tile.task.d_k;
  for_each_panel(d_k, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) {
    for (int64_t r = 0; r < b.tile.task.n_rows; ++r) {
      const T* const from = b.dq + b.tile.width * first + r * components;
      for (int64_t i = 0; i < std::min(components, d_k - first); ++i) to[r * d_k + first + i] += from[i];
    }
  });
}

/// Calls body(block, range) for the task's blocks that some row sees, with weights and gradients computed.
template <size_t NV, class D, class T, class ValueProducts, class Body>
HWY_INLINE void ForEachBlock(D d, const BackwardTask<T>& task, const BackwardTile<T>& b,
                             const ValueProducts& value_products, const Body& body) {
  for (int64_t block = task.first_block; block < task.last_block; ++block) {
    BlockRange range = RangeOf(b.tile, block);
    if (range.first < range.last && Differentiate<NV>(d, b, range, value_products)) body(block, range);
  }
}

/// V . dO^T of a range into b.ds.
template <size_t NV, class D, class T>
HWY_INLINE void ValueProducts(D d, const BackwardTile<T>& b, const BlockRange& range) {
  const Tile<T>& tile = b.tile;
  const TileTask<T>& task = tile.task;
  const int64_t keys = range.last - range.first;
  Gemm<NV>(d, RowsOf(task.pages, task.v, range.key, keys, task.d_v, tile.packed_v), keys, task.d_v, b.d_o.columns,
           Scaled<T>{1}, b.ds + range.first * tile.width);
}

/// du, dt and dw of a range: what stands in the place of dq and dk in additive attention. dw is summed block by block, so that
/// no chain is longer than the pairs of one.
template <class D, class T>
HWY_NOINLINE void AddTanhGradients(D d, const BackwardTask<T>& task, const BackwardTile<T>& b, int64_t block,
                                   const BlockRange& range) {
  const Tile<T>& tile = b.tile;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t features = padded(tile.task.d_k, lanes);
  std::fill_n(b.dw, features, T{0});
  tile.task.tanh->kernel->gradients(
      {.rows = tile.task.rows,
       .n_rows = tile.task.n_rows,
       .width = tile.width,
       .far = tile.q_factor,
       .e = b.q.rows,
       .t = AdjacentKeys(tile, range),
       .f = b.key_panels,
       .ds = b.ds + range.first * tile.width,
       .keys = range.last - range.first,
       .d = tile.task.d_k,
       .place = range.first,
       .du = b.dq,
       .dt = task.dk + (block - task.first_block) * accumulator_elements(tile.task.d_k, lanes),
       .dw = b.dw});
  for (int64_t i = 0; i < features; ++i) task.dw[i] += b.dw[i];
}

/// Walks the task's blocks with the products of one kind: values(range), keys(range), rows(range, a, panels, sums).
template <size_t NV, class D, class T, class Values, class Keys, class Rows>
HWY_INLINE void WalkBlocks(D d, const BackwardTask<T>& task, const BackwardTile<T>& b, const Values& values,
                           const Keys& keys, const Rows& rows) {
  const Tile<T>& tile = b.tile;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  std::fill_n(b.dq, padded(tile.task.d_k, lanes) * tile.width, T{0});
  ForEachBlock<NV>(d, task, b, values, [&](int64_t block, const BlockRange& range) HWY_ATTR {
    const int64_t at = block - task.first_block;
    if (tile.task.softcap > 0) MultiplyRange(d, tile, range, tile.cap_slope, b.ds);
    if (kRivals && task.dw != nullptr) {
      AddTanhGradients(d, task, b, block, range);
    } else {
      if (task.dq != nullptr) keys(range);
      if (task.dk != nullptr) rows(range, b.ds, b.q, task.dk + at * accumulator_elements(tile.task.d_k, lanes));
    }
    if (task.dv == nullptr) return;
    if (tile.task.dropout.on) MultiplyRange(d, tile, range, b.kept, tile.s);
    rows(range, tile.s, b.d_o, task.dv + at * accumulator_elements(tile.task.d_v, lanes));
  });
  if (kRivals && task.dw != nullptr) return StoreQueryPanels(d, b, task.dq);
  if (task.dq != nullptr) StoreQueryGradients(d, b, task.dq);
}

template <size_t NV, class D, class T>
void AddTile(D d, const BackwardTask<T>& task) {
  BackwardTile<T> b = MakeBackwardTile(task, static_cast<int64_t>(NV * hn::Lanes(d)));
  LoadBackwardTile(d, task, b);
  WalkBlocks<NV>(
      d, task, b, [&](const BlockRange& range) HWY_ATTR { ValueProducts<NV>(d, b, range); },
      [&](const BlockRange& range) HWY_ATTR { AddKeys<NV>(d, b, range); },
      [&](const BlockRange& range, const T* a, const Panels<T>& panels, T* sums)
          HWY_ATTR { AddRows(d, b, range, a, panels, sums); });
}

template <size_t NV, class D, class T>
void AddTileDs(D d, const BackwardTask<T>& task, T* ds, int64_t stride) {
  BackwardTile<T> b = MakeBackwardTile(task, static_cast<int64_t>(NV * hn::Lanes(d)));
  LoadBackwardTile(d, task, b);
  const auto values = [&](const BlockRange& range) HWY_ATTR { ValueProducts<NV>(d, b, range); };
  ForEachBlock<NV>(d, task, b, values, [&](int64_t block, const BlockRange& range) HWY_ATTR {
    T* const to = ds + (block - task.first_block) * kBlockKeys * stride;
    ForEachVector(d, b.tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
      T* const sum = to + place * stride + lane;
      // What stands in lanes without a row may be anything.
      const auto there = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(0, task.tile.n_rows - lane)));
      const auto added = hn::IfThenElseZero(there, hn::Load(d, b.ds + place * b.tile.width + lane));
      hn::Store(hn::Add(hn::Load(d, sum), added), d, sum);
    });
  });
}

/// AddTile with products of bfloat16. Weights and gradients of scores are rounded to it just before they meet q, k and d_o.
template <size_t NV, class D>
void AddNativeTile(D d, const BackwardTask<float>& task) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  BackwardTile<float> b = MakeBackwardTile(task, static_cast<int64_t>(NV) * lanes);
  if (!LoadNativeBackwardTile(task, b, lanes)) {
    BackwardTask<float> converted = task;
    converted.tile.scores = Native::none;
    return AddTile<NV>(d, converted);
  }
  WalkBlocks<NV>(
      d, task, b, [&](const BlockRange& range) HWY_ATTR { NativeValueProducts(b, range); },
      [&](const BlockRange& range) HWY_ATTR {
        if (!AddNativeKeys(b, range)) AddKeys<NV>(d, b, range);
      },
      [&](const BlockRange& range, const float* a, const Panels<float>& panels, float* sums)
          HWY_ATTR { AddNativeRows(b, range, a, panels, lanes, sums); });
}

template <class T>
void AddAny(const BackwardTask<T>& task) {
  const hn::ScalableTag<T> d;
  WithVectors(task.tile, [&](auto vectors) {
    constexpr size_t kVectors = decltype(vectors)::value;
    if constexpr (kNativeProducts && std::is_same_v<T, float>) {
      if (task.tile.scores == Native::bf16) return AddNativeTile<kVectors>(d, task);
    }
    AddTile<kVectors>(d, task);
  });
}

template <class T>
void AddAnyDs(const BackwardTask<T>& task, T* ds, int64_t stride) {
  const hn::ScalableTag<T> d;
  WithVectors(task.tile, [&](auto vectors) { AddTileDs<decltype(vectors)::value>(d, task, ds, stride); });
}

template <class T>
BackwardKernel<T> BackwardKernelOf() {
  return {&AddAny<T>, &AddAnyDs<T>};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_BACKWARD_INL_H_
