// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A report as text: what stands out in words, then tables.
#ifndef FOVEATE_INSIGHT_TABLES_H_
#define FOVEATE_INSIGHT_TABLES_H_

#include <string>

#include "claims/text.h"
#include "insight/report.h"
#include "insight/view.h"

namespace foveate::insight {

/// Words are set in `width` columns; tables are as wide as they have to be.
std::string tables(const Report& report, const View& view, int width, claims::Language language);

}  // namespace foveate::insight

#endif  // FOVEATE_INSIGHT_TABLES_H_
