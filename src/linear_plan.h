// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How a call of linear attention is cut into tasks: pure integers. A unit is a sequence and key head; its tasks are
// splits of its keys, and of its rows' positions. Nothing here changes a bit of any result.
#ifndef FOVEATE_SRC_LINEAR_PLAN_H_
#define FOVEATE_SRC_LINEAR_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "plan.h"

namespace foveate {

struct LinearTasks {
  int64_t units;
  int64_t key_splits;  ///< that n_kv keys fill
  int64_t row_splits;  ///< that the positions of n_q rows touch at most

  /// Splits of a unit are shared out: states of keys first, which costs their sums twice. Otherwise a unit's splits
  /// follow one another, one of each unit at a time, first those of its keys, then those of rows behind them.
  bool share_splits;
  int64_t tasks;  ///< in all

  // Bytes, each a multiple of kWorkspaceAlign.
  int64_t ranges;      ///< of what is known of each unit
  int64_t state;       ///< of one state
  int64_t factors;     ///< of what the backward pass keeps of all rows
  int64_t scratch;     ///< for one worker
  int64_t key_states;  ///< states of keys that a unit has
  int64_t row_states;  ///< states of rows: row_splits a unit, or none

  size_t workspace_bytes(int64_t workers) const;
};

/// What the plan must know of the kernels beyond the call's sizes.
struct LinearPlanInputs {
  int64_t lanes;         ///< of a vector
  int64_t element_size;  ///< bytes
  int64_t range_size;    ///< bytes of what is known of a unit
  int64_t workers;
  bool backward;
};

LinearTasks plan_linear(const Extents& extents, const LinearPlanInputs& inputs);

}  // namespace foveate

#endif  // FOVEATE_SRC_LINEAR_PLAN_H_
