// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Findings as sentences.
#ifndef FOVEATE_INSIGHT_WORDS_H_
#define FOVEATE_INSIGHT_WORDS_H_

#include "claims/text.h"
#include "insight/findings.h"
#include "insight/report.h"

namespace foveate::insight {

/// One sentence that says what was found.
claims::Text words(const Finding& finding, const Report& report);

/// "heads 0-3 and 5": runs of three and more are drawn together.
claims::Text names_of_heads(const std::vector<int64_t>& heads);

/// Where the first NaN or Inf of a head came from, and what became of it: "row 3: component 5 of key 12 is NaN".
claims::Text words(const NotFinite& trace, const Report& report);

}  // namespace foveate::insight

#endif  // FOVEATE_INSIGHT_WORDS_H_
