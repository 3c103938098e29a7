// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What of a report is shown beside the figures of heads and what stands out.
#ifndef FOVEATE_CLI_INSPECT_VIEW_H_
#define FOVEATE_CLI_INSPECT_VIEW_H_

#include <cstdint>
#include <vector>

#include "insight/report.h"

namespace foveate::cli {

/// Queries or keys [first, last).
struct Range {
  int64_t first = 0, last = 0;
};

struct InspectView {
  Range rows, keys;
  std::vector<int64_t> sink_keys;  ///< whose mass is told together
  bool sinks = false;              ///< the heads have sinks
  bool asks_layout = false;        ///< axes look as if h and n were exchanged
};

/// The mean mass of a head on these keys; NaN where there are no rows.
inline double mass_on(const insight::Report& report, int64_t head, const std::vector<int64_t>& keys) {
  double sum = 0;
  for (const int64_t key : keys) sum += report.received_of(head)[key];
  return sum / static_cast<double>(report.counted(head));
}

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INSPECT_VIEW_H_
