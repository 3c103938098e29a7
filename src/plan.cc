// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <algorithm>

#include "carve.h"
#include "kernels/tile.h"
#include "saturating.h"

namespace foveate {
namespace {

/// Splits are shared out only while their states fit in this: memory stays O(n) with a constant bound on top.
constexpr int64_t kMaxPartialBytes = int64_t{32} << 20;

/// Values are kept as pairs while they fit in this, and beside as many bytes of keys in a megabyte of L2: those of 2048 keys
/// at head_dim 128.
constexpr int64_t kMostKeptBytes = int64_t{512} << 10;

/// Fewer tiles than this for each worker, and long rows are shared out by splits.
constexpr int64_t kTilesPerWorker = 4;

}  // namespace

size_t Plan::workspace_bytes(int64_t workers) const {
  // kWorkspaceAlign more, so that a workspace may lie anywhere.
  return static_cast<size_t>(kWorkspaceAlign + workers * (scratch_bytes + row_table_bytes + kept_bytes) +
                             (share_splits ? partial_bytes : 0));
}

int64_t tile_vectors(int64_t block_size, int64_t lanes, int64_t most) {
  for (int64_t vectors = most; vectors > 0 && block_size > 0; --vectors) {
    const int64_t rows = vectors * lanes;
    if (rows % block_size == 0 || block_size % rows == 0) return vectors;
  }
  return most;
}

Plan make_plan(const Extents& e, const PlanInputs& in) {
  Plan plan{};
  plan.group = e.h_q / e.h_kv;
  plan.tile_rows = in.tile_vectors * in.lanes;
  plan.queries_per_tile = std::min(e.n_q, plan.tile_rows);
  plan.heads_per_tile = std::min(plan.group, plan.tile_rows / plan.queries_per_tile);
  plan.head_tiles = ceil_div(plan.group, plan.heads_per_tile);
  plan.query_tiles = ceil_div(e.n_q, plan.queries_per_tile);
  plan.tiles = e.b * e.h_kv * plan.head_tiles * plan.query_tiles;
  plan.splits = kernels::splits_of(in.phase, e.n_kv);

  const int64_t rows = plan.heads_per_tile * plan.queries_per_tile;
  const int64_t width = kernels::tile_width(rows, in.lanes);
  plan.scratch_bytes = whole_lines(kernels::scratch_elements(width, e.d_k, e.d_v) * in.element_size);
  plan.row_table_bytes = whole_lines(rows * in.row_size);
  const int64_t partial = whole_lines(kernels::partial_elements(width, e.d_v) * in.element_size);
  plan.partial_bytes = saturating_product(saturating_product(plan.tiles, plan.splits), partial);
  plan.share_splits = in.may_share_splits && in.workers > 1 && plan.splits > 1 &&
                      plan.tiles < kTilesPerWorker * in.workers && plan.partial_bytes <= kMaxPartialBytes;
  if (in.may_keep_pairs && !plan.share_splits && plan.head_tiles * plan.query_tiles > 1) {
    const int64_t block_bytes = kernels::kept_elements(e.d_v) * in.element_size;
    const int64_t blocks = e.n_kv / kernels::kBlockKeys + 1;  // whole ones, behind one that may not be, at any phase
    plan.kept_blocks = block_bytes > 0 ? std::min(blocks, kMostKeptBytes / block_bytes) : 0;
    plan.kept_bytes =
        plan.kept_blocks * block_bytes + whole_lines(plan.kept_blocks * static_cast<int64_t>(sizeof(int64_t)));
  }
  plan.tasks = plan.share_splits ? plan.tiles * (plan.splits + 1) : plan.tiles;
  return plan;
}

TileRange tile_at(const Plan& plan, const Extents& e, int64_t tile) {
  const int64_t query_tile = plan.query_tiles - 1 - tile % plan.query_tiles;
  tile /= plan.query_tiles;
  const int64_t head_tile = tile % plan.head_tiles;
  tile /= plan.head_tiles;
  const int64_t head_in_group = head_tile * plan.heads_per_tile;
  const int64_t first_query = query_tile * plan.queries_per_tile;
  return {.batch = tile / e.h_kv,
          .kv_head = tile % e.h_kv,
          .first_head = tile % e.h_kv * plan.group + head_in_group,
          .heads = std::min(plan.heads_per_tile, plan.group - head_in_group),
          .first_query = first_query,
          .queries = std::min(plan.queries_per_tile, e.n_q - first_query)};
}

}  // namespace foveate
