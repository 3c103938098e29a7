// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The inputs of one call written out as kernels take them: what every tile shares, and its rows.
#ifndef FOVEATE_SRC_TILE_TASKS_H_
#define FOVEATE_SRC_TILE_TASKS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/tile.h"
#include "plan.h"
#include "sequences.h"
#include "validate.h"
#include "vector_at.h"

namespace foveate {

/// kv_offset modulo the split.
int64_t phase_of(const AttentionOptions& options);

/// The query rows of one head, of which most is alike.
template <class T>
struct HeadRows {
  int64_t n_q, n_kv;    ///< that are there
  int64_t position;     ///< of row 0, counted as keys are
  int64_t left, right;  ///< a window's sides
  RowsAt q, mask, bias, tree, blocks;
  int64_t block_size;  ///< rows to one of blocks
  uint32_t head;
  T slope, sink;

  /// Query row i: past the sequence's length a row that sees no key. Outputs are left to the caller.
  kernels::Row<T> operator[](int64_t i) const {
    const bool there = i < n_q;
    return {.q = there ? q[i] : nullptr,
            .begin = there ? std::max<int64_t>(0, position + i - left) : 0,
            .end = there ? std::min(n_kv, position + i + right + 1) : 0,
            .position = position + i,
            .mask = static_cast<const unsigned char*>(mask[i]),
            .bias = bias[i],
            .tree = static_cast<const uint64_t*>(tree[i]),
            .blocks = static_cast<const unsigned char*>(block_size == 0 ? nullptr : blocks[i / block_size]),
            .head = head,
            .slope = slope,
            .sink = there ? sink : -std::numeric_limits<T>::infinity(),
            .o = nullptr,
            .lse = nullptr,
            .weights = nullptr};
  }
};

template <class T>
class TileTasks {
 public:
  /// tanh: what scores are made of in additive attention; nullptr: they are products.
  TileTasks(const Inputs& inputs, const Extents& extents, const kernels::TanhScores<T>* tanh);

  const Sequences& sequences() const { return sequences_; }

  /// A task over the keys of a sequence and key head; rows, outputs, native products and scratch are left to the caller.
  kernels::TileTask<T> task(int64_t batch, int64_t kv_head) const;

  /// The query rows of a head, and one of them.
  HeadRows<T> rows(int64_t batch, int64_t head) const;
  kernels::Row<T> row(int64_t batch, int64_t head, int64_t i) const { return rows(batch, head)[i]; }

  /// A head's sink; -inf: none.
  T sink(int64_t head) const;

  /// Whether such rows all have one mask row, bias row, tree and row of blocks.
  bool alike(bool one_head, bool one_query) const;

 private:
  kernels::RowSource source_of(const ConstTensor& rows, const ConstTensor& scales, int64_t batch,
                               int64_t kv_head) const;
  kernels::Pages pages_of(int64_t batch) const;
  kernels::Dropout<T> dropout_of(int64_t batch) const;

  const ConstTensor &q_, &k_, &v_;
  const AttentionOptions& options_;
  const Extents& extents_;
  const Sequences sequences_;
  const kernels::TanhScores<T>* const tanh_;
  T scale_, softcap_;
  int64_t left_, right_;
};

/// Whether structure and blocks let a row see one of the keys [first, last).
template <class T>
bool sees(const kernels::TileTask<T>& task, const kernels::Row<T>& row, int64_t first, int64_t last) {
  first = std::max(first, row.begin);
  last = std::min(last, row.end);
  if (first >= last || row.blocks == nullptr) return first < last;
  for (int64_t block = first / task.block_size; block <= (last - 1) / task.block_size; ++block) {
    if (row.blocks[block * task.blocks_stride] != 0) return true;
  }
  return false;
}

}  // namespace foveate

#endif  // FOVEATE_SRC_TILE_TASKS_H_
