// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// All that is looked at in one attention call: figures of heads, rows and keys, maps, heads alike, where NaN came from.
#ifndef FOVEATE_INSIGHT_REPORT_H_
#define FOVEATE_INSIGHT_REPORT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "foveate/inspect.h"
#include "foveate/status.h"
#include "foveate/tensor.h"
#include "foveate/trace.h"
#include "insight/similar_heads.h"

namespace foveate::insight {

/// What is wanted beside the figures of heads, rows and keys.
struct Wanted {
  int64_t top_keys = 0;  ///< of each row; at most 1024
  int64_t map_side = 0;  ///< most cells of a map along an axis; 0: no maps
};

struct Report {
  AttentionShape shape;
  double scale = 0;                                    ///< as it was computed with
  std::vector<int64_t> first_positions;                ///< [b]: p_0 of each sequence, counted as keys are
  std::vector<int64_t> q_lengths;                      ///< [b]
  std::vector<std::pair<int64_t, int64_t>> zero_keys;  ///< [b]: the last keys [first, last) of each sequence that are 0
                                                       ///< throughout, in every head

  std::vector<HeadFigures> heads;  ///< [b][h_q]
  std::vector<RowFigures> rows;    ///< [b][h_q][n_q]
  std::vector<double> received;    ///< [b][h_q][n_kv]
  int64_t top_keys = 0;
  std::vector<KeyWeight> top;             ///< [b][h_q][n_q][top_keys]
  int64_t map_rows = 0, map_columns = 0;  ///< 0: none
  std::vector<float> map_largest, map_mean;
  std::vector<NotFinite> traces;      ///< [b][h_q]
  std::vector<SimilarHeads> similar;  ///< nearest first

  int64_t n_heads() const { return shape.b * shape.h_q; }

  /// Rows of a head that means are over.
  int64_t counted(int64_t head) const {
    const HeadFigures& f = heads[static_cast<size_t>(head)];
    return f.rows - f.empty - f.not_finite;
  }
  const RowFigures* rows_of(int64_t head) const { return rows.data() + head * shape.n_q; }
  const double* received_of(int64_t head) const { return received.data() + head * shape.n_kv; }
};

/// Looks at q and k, and at v too where it is present. Sequences are padded or of one length, not packed
/// nor paged, and keys are floats. The
/// statuses are those of inspect(); throws std::bad_alloc. Any number of calls may run at once.
Status make_report(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const AttentionOptions& options,
                   const Wanted& wanted, const Execution& execution, Report* report);

/// How far Execution::progress counts in it.
Status report_tasks(const AttentionShape& shape, bool with_v, int64_t workers, int64_t* tasks);

}  // namespace foveate::insight

#endif  // FOVEATE_INSIGHT_REPORT_H_
