// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A report as JSON: what `foveate inspect --json` prints and `attend --stats` writes.
#ifndef FOVEATE_CLI_INSPECT_JSON_H_
#define FOVEATE_CLI_INSPECT_JSON_H_

#include <string>

#include "insight/report.h"
#include "insight/view.h"

namespace foveate::cli {

/// One object, its line ended. Figures that there are none of are null.
std::string json_of(const insight::Report& report, const insight::View& view);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INSPECT_JSON_H_
