// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A tile while it is worked on: the task, its width, and the places in the scratch memory where everything lies.
#if defined(FOVEATE_SRC_KERNELS_TILE_STATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_TILE_STATE_INL_H_
#undef FOVEATE_SRC_KERNELS_TILE_STATE_INL_H_
#else
#define FOVEATE_SRC_KERNELS_TILE_STATE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Online softmax of the rows after some keys: maximum m[width], sum l[width] and output o[d_v][width] relative to m.
template <class T>
struct State {
  T* m;
  T* l;
  T* o;
};

/// Some keys of one block: places [block * kBlockKeys + first, ... + last), first < last.
struct BlockRange {
  int64_t key;     ///< index of the key at `first`
  int64_t origin;  ///< index that a key at the block's first place has; negative in front of the first key
  int64_t first, last;
  bool partial;  ///< some row has a key here that takes no part
};

template <class T>
struct Tile {
  const TileTask<T>& task;
  int64_t width;                       ///< lanes: vectors of queries
  int64_t begin, end;                  ///< the keys that some row may see
  int64_t covered_begin, covered_end;  ///< the keys that structure grants to every row that sees any

  T* q = nullptr;         ///< [d_k][width]
  T* s = nullptr;         ///< [kBlockKeys][width]: scores, then weights
  T* additive = nullptr;  ///< [kBlockKeys][width]: bias, -inf where the mask or the bias forbids
  State<T> total = {}, split = {};
  T* correction = nullptr;  ///< [width]
  T* low = nullptr;         ///< [width]: the row's first place in this block, and
  T* high = nullptr;        ///< [width]: the place past its last
  T* distance = nullptr;    ///< [width]: p_i minus the block's first place
  T* slope = nullptr;       ///< [width]
  T* sink = nullptr;        ///< [width]
  T* packed_k = nullptr;    ///< [kBlockKeys][d_k], used where the last axis is strided
  T* packed_v = nullptr;    ///< [kBlockKeys][d_v]
};

/// Lays a tile out over the task's scratch and finds which keys it sees.
template <class T>
HWY_INLINE Tile<T> MakeTile(const TileTask<T>& task, int64_t width) {
  T* at = task.scratch;
  const auto take = [&at](int64_t n) {
    T* const here = at;
    at += n;
    return here;
  };
  Tile<T> tile{
      .task = task, .width = width, .begin = task.n_kv, .end = 0, .covered_begin = 0, .covered_end = task.n_kv};
  tile.q = take(task.d_k * width);
  tile.s = take(kBlockKeys * width);
  tile.additive = take(kBlockKeys * width);
  tile.total = {.m = take(width), .l = take(width), .o = take(task.d_v * width)};
  tile.split = {.m = take(width), .l = take(width), .o = take(task.d_v * width)};
  tile.correction = take(width);
  tile.low = take(width);
  tile.high = take(width);
  tile.distance = take(width);
  tile.slope = take(width);
  tile.sink = take(width);
  tile.packed_k = take(kBlockKeys * task.d_k);
  tile.packed_v = take(kBlockKeys * task.d_v);

  for (int64_t r = 0; r < task.n_rows; ++r) {
    const Row<T>& row = task.rows[r];
    if (row.begin >= row.end) continue;
    tile.begin = std::min(tile.begin, row.begin);
    tile.end = std::max(tile.end, row.end);
    tile.covered_begin = std::max(tile.covered_begin, row.begin);
    tile.covered_end = std::min(tile.covered_end, row.end);
  }
  return tile;
}

/// Transposes the queries and sets the constants of each lane. Lanes without a row get a zero query, whose results
/// nobody reads.
template <class T>
HWY_INLINE void LoadRows(const Tile<T>& tile) {
  const TileTask<T>& task = tile.task;
  for (int64_t lane = 0; lane < tile.width; ++lane) {
    const Row<T>* row = lane < task.n_rows ? &task.rows[lane] : nullptr;
    if (row != nullptr && row->q != nullptr) {
      for (int64_t i = 0; i < task.d_k; ++i) tile.q[i * tile.width + lane] = row->q[i * task.q_stride];
    } else {
      for (int64_t i = 0; i < task.d_k; ++i) tile.q[i * tile.width + lane] = 0;
    }
    tile.slope[lane] = row != nullptr ? row->slope : 0;
    tile.sink[lane] = row != nullptr ? row->sink : -std::numeric_limits<T>::infinity();
  }
}

/// The keys of a block that some row sees; first >= last if none.
template <class T>
HWY_INLINE BlockRange RangeOf(const Tile<T>& tile, int64_t block) {
  const int64_t origin = block * kBlockKeys - tile.task.phase;
  const int64_t begin = std::max(tile.begin, origin), end = std::min(tile.end, origin + kBlockKeys);
  return {.key = begin,
          .origin = origin,
          .first = begin - origin,
          .last = end - origin,
          .partial = begin < tile.covered_begin || end > tile.covered_end};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_TILE_STATE_INL_H_
