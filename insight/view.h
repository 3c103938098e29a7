// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What of a report is shown beside the figures of heads and what stands out.
#ifndef FOVEATE_INSIGHT_VIEW_H_
#define FOVEATE_INSIGHT_VIEW_H_

#include <cstdint>
#include <vector>

#include "foveate/tensor.h"
#include "insight/report.h"

namespace foveate::insight {

/// Queries or keys [first, last).
struct Range {
  int64_t first = 0, last = 0;
};

struct View {
  Range rows = {}, keys = {};
  std::vector<int64_t> sink_keys = {};  ///< whose mass is told together
  bool sinks = false;                   ///< the heads have sinks
  bool asks_layout = false;             ///< axes look as if h and n were exchanged
};

/// Whether there are so many heads for the positions that arrays taken as bhnd may be bnhd.
inline bool looks_exchanged(const AttentionShape& shape, Layout layout) {
  return layout == Layout::bhnd && shape.n_q == shape.n_kv && shape.n_q > 1 && shape.h_q > 2 * shape.n_q;
}

/// The mean mass of a head on these keys; NaN where there are no rows.
inline double mass_on(const Report& report, int64_t head, const std::vector<int64_t>& keys) {
  double sum = 0;
  for (const int64_t key : keys) sum += report.received_of(head)[key];
  return sum / static_cast<double>(report.counted(head));
}

}  // namespace foveate::insight

#endif  // FOVEATE_INSIGHT_VIEW_H_
