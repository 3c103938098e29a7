// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "linear_plan.h"

#include "carve.h"
#include "kernels/linear.h"
#include "saturating.h"

namespace foveate {
namespace {

/// So many units for each worker, and the last ones do not leave many idle.
constexpr int64_t kUnitsPerWorker = 4;

}  // namespace

size_t LinearTasks::workspace_bytes(int64_t workers) const {
  const int64_t states = saturating_product(saturating_product(units, key_states + row_states), state);
  const int64_t kept = saturating_sum(ranges, saturating_sum(factors, states));
  const int64_t bytes = saturating_sum(kWorkspaceAlign, saturating_sum(kept, saturating_product(workers, scratch)));
  return allocatable(bytes);
}

LinearTasks plan_linear(const Extents& e, const LinearPlanInputs& in) {
  LinearTasks plan{};
  const bool no_rows = e.h_q == 0 || e.n_q == 0;  // but keys still have gradients, which are 0
  plan.units = no_rows && (!in.backward || e.n_kv == 0) ? 0 : e.b * e.h_kv;
  plan.key_splits = ceil_div(e.n_kv, kernels::kLinearSplit);
  // Rows begin in the midst of a split, so that one split more is touched.
  plan.row_splits = e.n_q == 0 ? 0 : ceil_div(e.n_q, kernels::kLinearSplit) + 1;
  // As many tasks as there are units keep all workers busy where they come out even, or are many.
  const bool even = plan.units % in.workers == 0 || plan.units >= kUnitsPerWorker * in.workers;
  plan.share_splits = !even && plan.key_splits + plan.row_splits > 2;
  plan.key_states = plan.share_splits ? plan.key_splits : 1;
  plan.row_states = in.backward ? plan.row_splits : 0;
  // What is known of each unit, and its splits; backward the sums of rows' states, and keys.
  const int64_t forward = 1 + plan.key_splits + plan.row_splits, backward = 1 + plan.key_splits;
  plan.tasks = saturating_product(plan.units, in.backward ? forward + backward : forward);

  const auto bytes = [&](int64_t elements) { return whole_lines(saturating_product(elements, in.element_size)); };
  plan.ranges = whole_lines(saturating_product(plan.units, in.range_size));
  plan.factors = in.backward ? bytes(2 * e.b * e.h_q * e.n_q) : 0;
  if (plan.units == 0) return plan;
  // d_k (d_v + 1) numbers, and several times as many, may be past counting.
  const bool countable = saturating_product(e.d_k, e.d_v + in.lanes) < kMostCounted / 16;
  plan.state = countable ? bytes(kernels::linear_state_elements(in.lanes, e.d_k, e.d_v)) : kMostCounted;
  plan.scratch = countable ? bytes(kernels::linear_scratch_elements(in.lanes, e.d_k, e.d_v)) : kMostCounted;
  return plan;
}

}  // namespace foveate
