// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How a backward pass is cut: pure integers.
//
// A unit is the keys of one sequence and key head with all query rows that read them, heads one after the other. Its keys and
// rows are cut into chunks, and each chunk of keys meets each chunk of rows once: in round r, chunk c of the keys and chunk
// (c + r) modulo `rounds` of the rows. No two pairs of a round share a chunk, so all of them may run at once and add to the
// sums of their keys and rows without a lock; and each sum takes its parts in one order, whoever computes them. A unit is one
// task where there are enough of them, which computes the same rounds.
#ifndef FOVEATE_SRC_BACKWARD_PLAN_H_
#define FOVEATE_SRC_BACKWARD_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "plan.h"

namespace foveate {

/// Chunks of one unit, by its own lengths.
struct Chunks {
  int64_t keys, rows;
  int64_t
      rounds;  ///< in each of which chunk c of the keys meets chunk (c + round) % rounds of the rows, if there is one
};

/// How dbias is cut: one task an entry of these four.
struct BiasTasks {
  int64_t b, h;
  int64_t row_tiles;   ///< 1 where the bias is the same for all rows
  int64_t key_chunks;  ///< 1 where it is the same for all keys
  int64_t count() const { return b * h * row_tiles * key_chunks; }
};

struct BackwardPlan {
  int64_t group;       ///< query heads to a key head
  int64_t tile_rows;   ///< rows of a full tile
  int64_t chunk_rows;  ///< whole tiles
  int64_t phase;
  int64_t units;
  Chunks chunks;     ///< of the longest sequence
  bool share_pairs;  ///< each pair of chunks is a task of its own
  BiasTasks bias;    ///< all 0: dbias is not wanted
  int64_t prepare_tasks;
  int64_t tasks;  ///< in all

  // Bytes, each a multiple of a cache line.
  int64_t scratch, row_table, bias_sums;  ///< for one worker
  int64_t prepared;                       ///< lse, a factor and delta of all rows
  int64_t dq, dk, dv;                     ///< sums of one unit

  /// Units whose sums are held at a time.
  int64_t slots(int64_t workers) const { return share_pairs ? units : workers; }
  size_t workspace_bytes(int64_t workers) const;

  /// Chunks of a unit of n_q rows a head and n_kv keys.
  Chunks chunks_of(int64_t n_q, int64_t n_kv) const;
};

struct BackwardPlanInputs {
  int64_t lanes;
  int64_t tile_vectors;
  int64_t element_size;
  int64_t row_size;  ///< bytes of an entry of the row tables
  int64_t phase;
  int64_t workers;
  int64_t query_rows;  ///< rows that q has memory for, over all heads
  bool products;       ///< any of dq, dk, dv is wanted
  bool sinks;
  bool tanh;                  ///< additive attention
  const int64_t* bias_shape;  ///< nullptr: dbias is not wanted
};

/// Rows to a task of preparing: a fraction of a millisecond.
inline constexpr int64_t kPreparedRows = 512;

BackwardPlan make_backward_plan(const Extents& extents, const BackwardPlanInputs& inputs);

}  // namespace foveate

#endif  // FOVEATE_SRC_BACKWARD_PLAN_H_
