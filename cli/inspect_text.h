// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A report for a terminal: what stands out in words, then tables.
#ifndef FOVEATE_CLI_INSPECT_TEXT_H_
#define FOVEATE_CLI_INSPECT_TEXT_H_

#include <string>

#include "cli/inspect_view.h"
#include "cli/locale.h"
#include "insight/report.h"

namespace foveate::cli {

std::string text_of(const insight::Report& report, const InspectView& view, int width, Language language);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INSPECT_TEXT_H_
