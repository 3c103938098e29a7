// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Heatmaps made of characters.
#ifndef FOVEATE_CLI_HEATMAP_TERMINAL_H_
#define FOVEATE_CLI_HEATMAP_TERMINAL_H_

#include <span>
#include <string>

#include "cli/heatmap.h"
#include "cli/locale.h"
#include "cli/terminal.h"

namespace foveate::cli {

/// The panels, side by side where the width allows and below one another elsewhere, both axes labelled, and a legend.
/// Cells are coloured, or shaded where the terminal shows no colours, and hold the weight in percent where it fits.
/// Panels that are too wide are pooled (pool_max), which a line then says. Each line ends in a newline.
std::string terminal_heatmap(std::span<const Panel> panels, const Terminal& terminal, Language language);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_HEATMAP_TERMINAL_H_
