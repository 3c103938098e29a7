// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Heatmaps as one SVG image: no script, nothing loaded from elsewhere, a tooltip on every cell.
#ifndef FOVEATE_CLI_HEATMAP_SVG_H_
#define FOVEATE_CLI_HEATMAP_SVG_H_

#include <span>
#include <string>

#include "cli/heatmap.h"
#include "cli/locale.h"

namespace foveate::cli {

/// The panels side by side under a title, axes and ticks named, with a colour bar. On a background of its own, so that
/// it reads on light and dark pages. Panels of more than 64 rows or columns are pooled (pool_max), which the footnote
/// then says. The texts are put in as they are: they must hold no `<` and no `&`.
std::string svg_heatmap(const std::string& title, const std::string& footnote, std::span<const Panel> panels,
                        Language language);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_HEATMAP_SVG_H_
