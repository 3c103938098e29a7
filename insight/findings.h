// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What stands out in a report, in words. Heads of which the same can be said are named together.
//
//   not_finite     rows with NaN or Inf, and where these came from
//   empty          rows within their sequence that see no key
//   one_visible    every row sees one key alone, of eight or more
//   padding        keys at the end of the sequence that are 0 throughout take weight
//   sink           30 % of the mass or more on one key of the first four, and three times what even weights would give it
//   one_key        the same, of any other key
//   learned_sink   30 % of the mass or more on the head's sink
//   saturated      10 % of the rows or more have one weight above 0.99, of more than one key; apart where the scores' variance
//                  is 4 or more without a sink or single key that made it so, for scaled products seldom have that
//   even           weights nearly equal: entropy above 98 % of ln(keys), over rows of eight keys or more
//   offset         the same place relative to the query has the largest weight in 70 % of such rows, half the mass and more
//   alike          two heads nearly the same (similar_heads.h)
#ifndef FOVEATE_INSIGHT_FINDINGS_H_
#define FOVEATE_INSIGHT_FINDINGS_H_

#include <cstdint>
#include <vector>

#include "claims/text.h"
#include "insight/report.h"

namespace foveate::insight {

enum class Kind : uint8_t {
  not_finite,
  empty,
  one_visible,
  padding,
  sink,
  one_key,
  learned_sink,
  saturated,
  even,
  offset,
  alike
};

/// "sink", "one_key", ...
const char* name_of(Kind kind);

struct Finding {
  Kind kind = Kind::sink;
  int64_t b = 0;
  std::vector<int64_t> heads = {};  ///< query heads, ascending
  int64_t key = -1;                 ///< of sink and one_key
  int64_t offset = 0;               ///< of offset: largest key minus the query's position
  bool wide = false;                ///< of saturated, as above
  double least = 0, most = 0;       ///< over the heads: share of mass or rows; of `alike` the distance
  double variance = 0;     ///< of saturated, of the scores; of even, of those of one row: the mean over the heads
  double jacobian = 0;     ///< of saturated: the mean of saturated rows' norms
  claims::Text text = {};  ///< one sentence
};

/// Worst first, in the order of Kind.
std::vector<Finding> findings(const Report& report);

}  // namespace foveate::insight

#endif  // FOVEATE_INSIGHT_FINDINGS_H_
