// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "backward_plan.h"

#include <algorithm>

#include "carve.h"
#include "kernels/backward.h"
#include "saturating.h"

namespace foveate {
namespace {

/// Fewer units than this for each worker, and pairs of chunks are shared out.
constexpr int64_t kUnitsPerWorker = 4;

BiasTasks bias_tasks(const int64_t* shape, const Extents& e, const BackwardPlan& plan) {
  if (shape == nullptr) return {};
  const bool empty = shape[2] == 0 || shape[3] == 0;
  return {.b = empty ? 0 : shape[0],
          .h = shape[1],
          .row_tiles = shape[2] == e.n_q ? ceil_div(e.n_q, plan.tile_rows) : 1,
          .key_chunks = shape[3] == e.n_kv ? plan.chunks.keys : 1};
}

}  // namespace

size_t BackwardPlan::workspace_bytes(int64_t workers) const {
  const int64_t of_workers = saturating_product(workers, saturating_sum(scratch, saturating_sum(row_table, bias_sums)));
  const int64_t of_units = saturating_product(slots(workers), saturating_sum(dq, saturating_sum(dk, dv)));
  const int64_t bytes = saturating_sum(kWorkspaceAlign + prepared, saturating_sum(of_workers, of_units));
  return allocatable(bytes);
}

Chunks BackwardPlan::chunks_of(int64_t n_q, int64_t n_kv) const {
  const int64_t keys = n_kv == 0 ? 0 : ceil_div(phase + n_kv, kernels::kChunkKeys);
  const int64_t rows = ceil_div(group * n_q, chunk_rows);
  return {keys, rows, std::max(keys, rows)};
}

BackwardPlan make_backward_plan(const Extents& e, const BackwardPlanInputs& in) {
  BackwardPlan plan{};
  plan.group = e.h_kv == 0 ? 0 : e.h_q / e.h_kv;
  plan.tile_rows = in.tile_vectors * in.lanes;
  plan.chunk_rows = std::max<int64_t>(1, kernels::kChunkRows / plan.tile_rows) * plan.tile_rows;
  plan.phase = in.phase;
  plan.units = in.products ? e.b * e.h_kv : 0;
  plan.chunks = plan.chunks_of(e.n_q, e.n_kv);
  plan.share_pairs = in.workers > 1 && plan.units < kUnitsPerWorker * in.workers && plan.chunks.rounds > 1;
  plan.bias = bias_tasks(in.bias_shape, e, plan);
  plan.prepare_tasks = ceil_div(in.query_rows, kPreparedRows);

  const int64_t rounds = plan.chunks.rounds, pairs = saturating_product(rounds, plan.chunks.keys);
  const int64_t of_unit = plan.share_pairs ? saturating_sum(pairs, 2 * rounds) : 1;
  plan.tasks = saturating_sum(plan.prepare_tasks + (in.sinks ? e.h_q : 0),
                              saturating_sum(plan.bias.count(), saturating_product(plan.units, of_unit)));

  const auto bytes = [&](int64_t elements) { return whole_lines(saturating_product(elements, in.element_size)); };
  plan.scratch = bytes(kernels::backward_scratch_elements(plan.tile_rows, in.lanes, e.d_k, e.d_v, in.tanh));
  plan.row_table = whole_lines(plan.tile_rows * in.row_size);
  if (in.bias_shape != nullptr) {
    plan.bias_sums = bytes(kernels::kChunkKeys * plan.tile_rows) +
                     whole_lines(plan.tile_rows * static_cast<int64_t>(sizeof(double)));
  }
  plan.prepared = bytes(saturating_product(3, in.query_rows));
  if (plan.units == 0) return plan;
  const int64_t blocks = plan.chunks.keys * kernels::kChunkBlocks;
  const auto of_keys = [&](int64_t d) {
    return bytes(saturating_product(blocks, kernels::accumulator_elements(d, in.lanes)));
  };
  plan.dq = bytes(saturating_product(plan.group * e.n_q, e.d_k));
  plan.dk = of_keys(e.d_k);
  plan.dv = of_keys(e.d_v);
  return plan;
}

}  // namespace foveate
