// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How a call is cut into tasks: pure integers, no pointers, no threads. Nothing here changes a bit of any result: rows do
// not see which tile they share, and key splits are constants of the kernels.
#ifndef FOVEATE_SRC_PLAN_H_
#define FOVEATE_SRC_PLAN_H_

#include <cstddef>
#include <cstdint>

namespace foveate {

/// The sizes of a call.
struct Extents {
  int64_t b, h_q, h_kv, n_q, n_kv, d_k, d_v;
};

/// One tile: `heads` query heads of one key head, `queries` rows of each.
struct TileRange {
  int64_t batch, kv_head;
  int64_t first_head, heads;  ///< query heads, counted from 0 over all h_q
  int64_t first_query, queries;
};

struct Plan {
  int64_t group;           ///< query heads to a key head
  int64_t tile_rows;       ///< rows of a full tile
  int64_t heads_per_tile;  ///< above 1 where few queries leave lanes free: heads of a group share their keys
  int64_t queries_per_tile;
  int64_t head_tiles;       ///< tiles along the heads of one group
  int64_t query_tiles;      ///< tiles along n_q
  int64_t tiles;            ///< in all
  int64_t splits;           ///< key splits that places [phase, phase + n_kv) touch
  bool share_splits;        ///< each split of a tile is a task of its own, merged afterwards
  int64_t tasks;            ///< in all, merging included
  int64_t scratch_bytes;    ///< for one worker
  int64_t partial_bytes;    ///< for all partial states together
  int64_t row_table_bytes;  ///< for one worker's row table
  int64_t kept_blocks;      ///< blocks of keys whose values a worker keeps as pairs
  int64_t kept_bytes;       ///< for one worker's

  /// Of a call that may be run again with other values in the same place.
  void keep_nothing() { kept_blocks = kept_bytes = 0; }

  size_t workspace_bytes(int64_t workers) const;
};

/// What the plan must know of the kernels and the call beyond its sizes.
struct PlanInputs {
  int64_t lanes;         ///< of a vector
  int64_t tile_vectors;  ///< in a full tile
  int64_t element_size;  ///< bytes
  int64_t row_size;      ///< bytes of a row table's entry
  int64_t phase;         ///< kv_offset modulo the split
  int64_t workers;
  bool may_share_splits;
  bool may_keep_pairs = false;  ///< native products may want values as pairs (kernels/tile.h)
};

/// Vectors of queries to a full tile: `most`, or fewer where tiles of fewer do not straddle blocks of the bitmap.
int64_t tile_vectors(int64_t block_size, int64_t lanes, int64_t most);

/// Cuts a call. All extents but d_v and n_kv are at least 1.
Plan make_plan(const Extents& extents, const PlanInputs& inputs);

/// The tile of that index, in [0, plan.tiles). Tiles that share keys are neighbours; the last queries, which under a
/// causal mask see the most keys, come first, so that no long task is left for the end.
TileRange tile_at(const Plan& plan, const Extents& extents, int64_t tile);

}  // namespace foveate

#endif  // FOVEATE_SRC_PLAN_H_
