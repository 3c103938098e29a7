// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The backward pass at the kernel boundary. A task is a tile of query rows, as in tile.h, over some blocks of keys. Five
// products of the one micro-kernel (gemm-inl.h):
//
//   S^T  [keys x queries] = K . Q^T        lane = query; with it P^T = exp(S^T - lse)
//   dP^T [keys x queries] = V . dO^T       lane = query; with it dS^T = P^T (dP^T - delta)
//   dQ^T [d_k x queries] += K^T . dS^T     lane = query
//   dV   [keys x d_v]    += P^T . dO       lane = component: rows of dO as they lie, P^T by broadcast
//   dK   [keys x d_k]    += dS^T . Q       lane = component
//
// The scale joins when dq and dk are put out. (Dao et al., FlashAttention, arXiv:2205.14135, appendix B, with the roles of
// rows and lanes changed.)
//
// Sums of dk and dv are kept a block of keys after the other, each block in panels of up to three vectors of components, so
// that the micro-kernel finds rows of whole vectors: see accumulator_at().
//
// Order of summation, by a sequence's own sizes alone: dq over the keys of a block, then blocks, in sequence; dk and dv over the
// rows of a tile, then tiles. Chunks of kChunkKeys keys and about kChunkRows rows meet in the order of run (backward_run.cc).
#ifndef FOVEATE_SRC_KERNELS_BACKWARD_H_
#define FOVEATE_SRC_KERNELS_BACKWARD_H_

#include <algorithm>
#include <cstdint>

#include "kernels/tile.h"

namespace foveate::kernels {

/// Keys that a task walks: enough to make bringing in a tile's rows cheap beside them (2 % at head_dim 64), few enough that
/// one long sequence makes work for many threads. A multiple of kBlockKeys that divides kSplitKeys.
inline constexpr int64_t kChunkKeys = 512;
inline constexpr int64_t kChunkBlocks = kChunkKeys / kBlockKeys;
/// Rows that meet a chunk of keys in one task, rounded down to whole tiles: kept like the keys, for the same reasons.
inline constexpr int64_t kChunkRows = 512;

/// What a query row brings to the backward pass.
template <class T>
struct GradientRow {
  const void* d_o;  ///< d_v elements of d_o_dtype, d_o_stride apart
  T lse;
  T factor;  ///< weights are exp(s - lse) * factor; 1 unless lse is far from 0
  T delta;   ///< d_o . o
};

template <class T>
struct BackwardTask {
  /// With a scratch of backward_scratch_elements(). Outputs are not used; a row that takes no part has begin = end. Native
  /// products go through `scores` alone: Native::bf16 where q, k, v and d_o are all of bfloat16.
  TileTask<T> tile;
  const GradientRow<T>* gradient_rows;
  DType d_o_dtype;
  int64_t d_o_stride;
  int64_t first_block, last_block;  ///< blocks of places, as tile.h counts them

  T* dq;  ///< [n_rows][d_k], added to; nullptr: not wanted
  T* dk;  ///< of first_block: see accumulator_at(); nullptr: not wanted
  T* dv;
  T* dw;  ///< of additive attention, padded(d_k), which wants dq and dk too; nullptr: not wanted
};

template <class T>
struct BackwardKernel {
  /// Adds what the tile gives to dq, dk and dv.
  void (*add)(const BackwardTask<T>& task);

  /// Adds ds to ds[place of the blocks][row], places `stride` apart. Without native products.
  void (*add_ds)(const BackwardTask<T>& task, T* ds, int64_t stride);
};

/// Components of a row of sums: whole vectors.
constexpr int64_t padded(int64_t d, int64_t lanes) { return (d + lanes - 1) / lanes * lanes; }

/// Vectors of the widest panel: what the micro-kernel has.
inline constexpr int64_t kPanelVectors = kTileVectors<float>;

/// Vectors of the next panel where `left` are left: threes, but no one behind them, which would leave the multiply-add's
/// latency in the open.
constexpr int64_t panel_vectors(int64_t left) { return left == 4 ? 2 : std::min(left, kPanelVectors); }

/// Calls body(first component, components) for the panels of d components.
template <class Body>
constexpr void for_each_panel(int64_t d, int64_t lanes, const Body& body) {
  const int64_t vectors = padded(d, lanes) / lanes;
  for (int64_t at = 0, n = 0; at < vectors; at += n) {
    n = panel_vectors(vectors - at);
    body(at * lanes, n * lanes);
  }
}

/// Elements of the sums of a block's keys.
constexpr int64_t accumulator_elements(int64_t d, int64_t lanes) { return kBlockKeys * padded(d, lanes); }

/// Where the panel that begins with component `first` of `components` has the key at `place` of a block.
constexpr int64_t accumulator_at(int64_t first, int64_t components, int64_t place) {
  return kBlockKeys * first + place * components;
}

/// Elements of a task's scratch: a tile's; ds, the kept weights, the slope of softcap and rounded gradients; dq; q and d_o in
/// panels; lse, factor and delta; of additive attention, keys in panels and dw.
constexpr int64_t backward_scratch_elements(int64_t width, int64_t lanes, int64_t d_k, int64_t d_v, bool tanh) {
  return scratch_elements(width, d_k, d_v) +
         width * (4 * kBlockKeys + 2 * padded(d_k, lanes) + padded(d_v, lanes) + 3) +
         (tanh ? (kBlockKeys + 1) * padded(d_k, lanes) : 0);
}

/// One target's kernels.
struct BackwardKernels {
  BackwardKernel<float> f32;
  BackwardKernel<double> f64;
};

/// Those of a target.
const BackwardKernels* backward_kernels(int64_t target);

template <class T>
const BackwardKernel<T>& backward_of_type(const TargetKernels& kernels);
template <>
inline const BackwardKernel<float>& backward_of_type<float>(const TargetKernels& kernels) {
  return backward_kernels(kernels.target)->f32;
}
template <>
inline const BackwardKernel<double>& backward_of_type<double>(const TargetKernels& kernels) {
  return backward_kernels(kernels.target)->f64;
}

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_BACKWARD_H_
