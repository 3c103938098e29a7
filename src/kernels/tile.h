// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel boundary: one plain task in, its rows written. A kernel knows no threads, no allocation, no options and no
// errors; whoever fills a task in has checked everything (run.cc), and asserts alone stand inside.
//
// A tile holds up to NV vectors of query rows of one key head, transposed: lane = query. Keys and values are read in
// place, element by element, by broadcast; they are packed, a block at a time, only where their type is not the computing
// one, their last axis is strided or a block lies in several pages.
//
//   S^T [keys x queries]  = K_block . Q^T          MR keys x NV vectors of accumulators
//   running maximum, exp, row sums                 lane-wise, no horizontal operation anywhere
//   O^T [d_v x queries]   = O^T . correction + V_block^T . P^T
//
// Order of summation (docs/numerics.md), the same for every kernel there is or will be, fixed by a key's absolute place:
// keys are cut into splits of kSplitKeys and those into blocks of kBlockKeys; a split starts from a fresh maximum, splits
// are merged in order; within a block, weights are summed by place modulo kSumLanes and values in sequence; q . k is
// summed in sequence over d. A key that takes no part adds an exact zero, so a block visited or skipped gives the same
// bits.
#ifndef FOVEATE_SRC_KERNELS_TILE_H_
#define FOVEATE_SRC_KERNELS_TILE_H_

#include <cstdint>

#include "foveate/tensor.h"

namespace foveate::kernels {

/// 64 keys x 48 queries of scores are 12 KB of a 32 KB L1. Blocks of 128 were within 2 %.
inline constexpr int64_t kBlockKeys = 64;
/// A megabyte of float32 keys and values at head_dim 128: large beside the cost of merging, small enough to share out a
/// single long row. A multiple of kBlockKeys.
inline constexpr int64_t kSplitKeys = 1024;
/// Row sums run in four interleaved chains; a multiple of it divides every vector and kBlockKeys.
inline constexpr int64_t kSumLanes = 4;
/// Vectors of queries in a full tile: 24 accumulators of AVX-512's 32 registers (MR 8), 12 of AVX2's 16 (MR 4); 8 in
/// WebAssembly, where browsers spill with more, and where float64 is scalar: one of it saves a visitor 4 KB.
template <class T>
#ifdef __wasm__
inline constexpr int64_t kTileVectors = sizeof(T) == sizeof(double) ? 1 : 2;
#else
inline constexpr int64_t kTileVectors = 3;
#endif

/// Whether float16, bfloat16 and int8 are read and written. Browsers' pages have no use for them, and load 6 KB less.
#ifdef __wasm__
inline constexpr bool kNarrowTypes = false;
#else
inline constexpr bool kNarrowTypes = true;
#endif

/// Whether there are block bitmaps and scores of additive attention. Pages have no use for these either: 2 KB.
#ifdef __wasm__
inline constexpr bool kRivals = false;
#else
inline constexpr bool kRivals = true;
#endif

/// Rows of keys or values as they lie: of a type of their own, at any strides, in one run or in pages. Strides count
/// elements.
struct RowSource {
  const void* data;  ///< the row of key 0; in pages: row 0 of page 0
  DType dtype;
  int64_t stride, stride_d;  ///< from row to row and from component to component
  int64_t page_stride;
  const float* scales;  ///< of int8, at the same places; nullptr: of another type
  int64_t scale_stride, scale_stride_d, scale_page_stride;
};

/// Which page of a paged cache holds which keys of one sequence.
struct Pages {
  const void* table;  ///< of dtype, int32 or int64, stride apart; nullptr: no pages, rows lie in one run
  DType dtype;
  int64_t stride;
  int64_t size;  ///< keys to a page
};

struct NativeProducts;

/// Whether there can be native products (native.h) on this architecture.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool kNativeProducts = true;
#else
inline constexpr bool kNativeProducts = false;
#endif

/// Scores of additive attention (tanh_scores.h).
template <class T>
struct TanhScores;

/// Which native product a call's types allow, on a target that has them.
enum class Native : uint8_t { none, bf16, int8 };

/// Values of whole blocks as native products take them, which a worker keeps for the next tiles of the same keys: of a
/// sequence's first blocks, or, where a tile sees no more of them than there is room for, of any.
struct KeptPairs {
  int64_t blocks = 0;       ///< for which there is room
  int64_t owner = 0;        ///< whose values the task has: from 1 on
  int64_t n_owners = 0;     ///< how many there are
  int64_t* tags = nullptr;  ///< [blocks]: what is kept, 0 for nothing; tag() of it
  float* pairs = nullptr;   ///< [blocks][kept_elements()], pairs of bfloat16; aligned to 64 bytes

  int64_t tag(int64_t block, bool finite) const { return 2 * (owner + n_owners * block) + (finite ? 1 : 0); }
};

/// One query row: a lane of the tile.
template <class T>
struct Row {
  const void* q;                ///< d_k elements of q_dtype, q_stride apart; nullptr: an all-zero query
  int64_t begin, end;           ///< the keys [begin, end) that structure (causal, window, length) lets take part
  int64_t position;             ///< p_i - kv_offset: this query's place, counted as keys are
  const unsigned char* mask;    ///< one byte a key, mask_stride apart; nullptr: none
  const void* bias;             ///< of bias_dtype, bias_stride apart; nullptr: none
  const uint64_t* tree;         ///< words of tree_mask, tree_stride apart; nullptr: none
  const unsigned char* blocks;  ///< one byte a block of keys, blocks_stride apart; nullptr: none
  uint32_t head;                ///< for dropout
  T slope;                      ///< ALiBi; 0: none
  T sink;                       ///< -inf: none
  void* o;                      ///< d_v elements of o_dtype, o_stride apart; nullptr: not wanted
  T* lse;                       ///< nullptr: not wanted
  void* weights;                ///< n_kv elements of o_dtype, weights_stride apart; nullptr: not wanted
};

/// Which weights are dropped: see dropout-inl.h.
template <class T>
struct Dropout {
  bool on;
  uint64_t threshold;  ///< words below it drop: P * 2^32, rounded up
  T factor;            ///< 1 / (1 - P)
  uint32_t key[2];     ///< the seed, low word first
  uint32_t batch;
};

/// What a tile knows of its rows after some splits: m[w], l[w], then o[d_v][w]; l and o relative to the maximum m.
template <class T>
struct TileTask {
  const Row<T>* rows;
  int64_t n_rows;  ///< 1 .. kTileVectors<T> * lanes

  RowSource k, v;
  Pages pages;             ///< of both
  int64_t n_kv, d_k, d_v;  ///< d_k >= 1
  DType q_dtype;
  DType o_dtype;  ///< of o and weights
  int64_t q_stride, o_stride, weights_stride;
  bool regular;            ///< rows differ in q, o, lse and what is added to scores alone, and each has a query
  int64_t q_step, o_step;  ///< bytes from row to row, where they are regular
  const void* next_q;      ///< where as many queries lie that are going to be wanted next; nullptr: not known
  int64_t next_q_step;     ///< bytes from one of them to the next
  bool new_keys;           ///< keys and values have not been read by the worker's last tiles

  /// kv_offset modulo kSplitKeys: key j stands at place `phase + j`, and places are cut into splits and blocks.
  int64_t phase;

  T scale;
  T softcap;  ///< 0: off
  bool alibi;
  int64_t additive_from;  ///< the first key at which rows have a mask, a bias or a tree
  int64_t tree_from;      ///< the key of the tree's bit 0
  bool shared;            ///< all rows read the same mask row, bias row, tree and row of blocks
  DType bias_dtype;
  int64_t mask_stride, bias_stride, tree_stride, blocks_stride;
  int64_t block_size;  ///< keys to an entry of rows' blocks; 0: they have none
  Dropout<T> dropout;
  int64_t kv_offset;  ///< the position of key 0, for dropout

  const TanhScores<T>* tanh;  ///< scores are sums of tanh, q and k being adjacent rows of T; nullptr: they are products

  const NativeProducts* native;  ///< nullptr: none; float32 alone
  Native scores, values;         ///< what it is used for
  KeptPairs kept = {};           ///< of values

  T* scratch;  ///< scratch_elements(), aligned to 64 bytes
};

/// The kernels of one target, for one element type.
template <class T>
struct TileKernel {
  int64_t lanes;  ///< of a vector

  /// Walks every split and writes the rows' o, lse and weights.
  void (*attend)(const TileTask<T>& task);

  /// Walks one split alone and leaves its state in partial[partial_elements()].
  void (*attend_split)(const TileTask<T>& task, int64_t split, T* partial);

  /// Merges the states of the first n_splits splits, `partial_elements()` apart, in order and writes the rows.
  void (*merge)(const TileTask<T>& task, const T* partials, int64_t n_splits);
};

/// One target's kernels; those of the backward pass are asked for by `target` (backward.h), so that who has no use for them
/// need not link them.
struct TargetKernels {
  const char* name;
  int64_t target;  ///< Highway's bit
  TileKernel<float> f32;
  TileKernel<double> f64;
  const NativeProducts* native;  ///< nullptr: none
};

template <class T>
const TileKernel<T>& of_type(const TargetKernels& kernels);
template <>
inline const TileKernel<float>& of_type<float>(const TargetKernels& kernels) {
  return kernels.f32;
}
template <>
inline const TileKernel<double>& of_type<double>(const TargetKernels& kernels) {
  return kernels.f64;
}

/// Splits that keys at places [phase, phase + n_kv) touch.
constexpr int64_t splits_of(int64_t phase, int64_t n_kv) { return (phase + n_kv + kSplitKeys - 1) / kSplitKeys; }

/// Lanes of a tile of n_rows rows: whole vectors.
constexpr int64_t tile_width(int64_t n_rows, int64_t lanes) { return (n_rows + lanes - 1) / lanes * lanes; }

/// Elements of a tile's scratch: q, scores, additive mask, two outputs, keys packed and transposed, packed values, and
/// eleven rows of state.
constexpr int64_t scratch_elements(int64_t width, int64_t d_k, int64_t d_v) {
  const int64_t packed = kBlockKeys * (2 * d_k + d_v);
  return width * (d_k + 2 * kBlockKeys + 2 * d_v + 12) + (packed + 15) / 16 * 16;
}

/// Elements of the state of one split.
constexpr int64_t partial_elements(int64_t width, int64_t d_v) { return width * (d_v + 2); }

/// Elements of a block's values kept as pairs.
constexpr int64_t kept_elements(int64_t d_v) { return (kBlockKeys / 2 * d_v + 15) / 16 * 16; }

/// The registry: the i-th target that this build has and this processor runs, best first; nullptr past the end.
const TargetKernels* target_kernels(int64_t i);

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_TILE_H_
