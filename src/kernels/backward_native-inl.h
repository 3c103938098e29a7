// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The backward pass by native products of bfloat16 (native.h). Weights and gradients of scores are rounded to bfloat16 just
// before they meet q, k and d_o:
//
//   S^T, dP^T   rows of K and V as they lie, q and d_o as pairs of components
//   dQ^T        K and dS^T joined by pairs of places
//   dV, dK      P^T and dS^T as pairs of rows of the tile, d_o and q joined by the same pairs
#if defined(FOVEATE_SRC_KERNELS_BACKWARD_NATIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_BACKWARD_NATIVE_INL_H_
#undef FOVEATE_SRC_KERNELS_BACKWARD_NATIVE_INL_H_
#else
#define FOVEATE_SRC_KERNELS_BACKWARD_NATIVE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "foveate/float16.h"
#include "hwy/highway.h"
#include "kernels/backward.h"
#include "kernels/backward_tile-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/native-inl.h"
#include "kernels/native.h"
#include "kernels/native_values-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

/// Brings in the rows of the tile: q and d_o as pairs of components, transposed, and as pairs of rows in panels. False if they
/// are not finite.
HWY_INLINE bool LoadNativeBackwardTile(const BackwardTask<float>& task, BackwardTile<float>& b, int64_t lanes) {
  const int64_t width = b.tile.width;
  bool finite = true;
  LoadBackwardLanes(task, b);
  const auto row_at = [&](const Panels<float>& panels, int64_t r) -> const BFloat16* {
    if (r >= task.tile.n_rows || task.tile.rows[r].begin >= task.tile.rows[r].end) return nullptr;
    return static_cast<const BFloat16*>(&panels == &b.q ? task.tile.rows[r].q : task.gradient_rows[r].d_o);
  };
  for (const Panels<float>* panels : {&b.q, &b.d_o}) {
    const int64_t stride = panels == &b.q ? task.tile.q_stride : task.d_o_stride, n = panels->d;
    std::fill_n(panels->columns, dwords(Native::bf16, n) * width, 0.0f);
    std::fill_n(panels->rows, width / 2 * padded(n, lanes), 0.0f);
    for (int64_t r = 0; r < task.tile.n_rows; ++r) {
      const BFloat16* const row = row_at(*panels, r);
      if (row != nullptr) LoadPairs(row, stride, n, as_dwords(panels->columns) + r, width);
    }
    finite &= AllFinitePairs(as_dwords(panels->columns), dwords(Native::bf16, n) * width);
    for (int64_t pair = 0; 2 * pair < task.tile.n_rows; ++pair) {
      const BFloat16 *even = row_at(*panels, 2 * pair), *odd = row_at(*panels, 2 * pair + 1);
      for_each_panel(n, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
        JoinRows(even == nullptr ? nullptr : even + first * stride, odd == nullptr ? nullptr : odd + first * stride,
                 stride, std::min(components, n - first),
                 as_dwords(panels->rows) + width / 2 * first + pair * components);
      });
    }
  }
  return finite;
}

/// V . dO^T of a range into b.ds.
HWY_INLINE void NativeValueProducts(const BackwardTile<float>& b, const BlockRange& range) {
  const Tile<float>& tile = b.tile;
  const TileTask<float>& task = tile.task;
  const int64_t keys = range.last - range.first;
  const Broadcasts<float, false> rows =
      DwordRows<BFloat16>(task.pages, task.v, task.d_v, range.key, keys, tile.packed_v);
  task.native->scores_bf16({.a = as_dwords(rows.data),
                            .a_row_stride = rows.stride,
                            .a_step_stride = 1,
                            .rows = keys,
                            .steps = dwords(Native::bf16, task.d_v),
                            .b = as_dwords(b.d_o.columns),
                            .width = tile.width,
                            .c = b.ds + range.first * tile.width},
                           1.0f);
}

/// dq += K^T . ds, ds rounded. False, and nothing done, where keys that are not finite must not meet all rows.
HWY_INLINE bool AddNativeKeys(const BackwardTile<float>& b, const BlockRange& range) {
  const Tile<float>& tile = b.tile;
  const TileTask<float>& task = tile.task;
  const int64_t width = tile.width;
  const Pairs pairs = {range.first / 2, (range.last + 1) / 2};
  const int64_t n = pairs.last - pairs.first;
  Dword* const keys = as_dwords(tile.columns);
  JoinPlaces<BFloat16>(task.pages, task.k, task.d_k, range, pairs, keys);
  if (range.partial && !AllFinitePairs(keys, n * task.d_k)) return false;
  // Places beside the range have no key, and no gradient either.
  if (range.first % 2 != 0) std::fill_n(b.ds + (range.first - 1) * width, width, 0.0f);
  if (range.last % 2 != 0) std::fill_n(b.ds + range.last * width, width, 0.0f);
  Dword* const ds = as_dwords(b.rounded);
  task.native->round_weights({.p = b.ds + 2 * pairs.first * width, .pairs = n, .width = width, .scales = nullptr}, ds);
  task.native->add_bf16({.a = keys,
                         .a_row_stride = 1,
                         .a_step_stride = task.d_k,
                         .rows = task.d_k,
                         .steps = n,
                         .b = ds,
                         .width = width,
                         .c = b.dq});
  return true;
}

/// sums[place] += sum over the tile's rows of a[place][row] * row, a rounded.
HWY_INLINE void AddNativeRows(const BackwardTile<float>& b, const BlockRange& range, const float* a,
                              const Panels<float>& panels, int64_t lanes, float* sums) {
  const Tile<float>& tile = b.tile;
  const TileTask<float>& task = tile.task;
  const int64_t width = tile.width, keys = range.last - range.first;
  Dword* const rounded = as_dwords(b.rounded);
  task.native->round_rows(a + range.first * width, keys, width, task.n_rows, rounded);
  for_each_panel(panels.d, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
    task.native->add_bf16({.a = rounded,
                           .a_row_stride = width / 2,
                           .a_step_stride = 1,
                           .rows = keys,
                           .steps = dwords(Native::bf16, task.n_rows),
                           .b = as_dwords(panels.rows) + width / 2 * first,
                           .width = components,
                           .c = sums + accumulator_at(first, components, range.first)});
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_BACKWARD_NATIVE_INL_H_
