// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A report as a picture: a map of each head, with profiles of its rows and columns.
#ifndef FOVEATE_CLI_INSPECT_FIGURE_H_
#define FOVEATE_CLI_INSPECT_FIGURE_H_

#include <cstdint>
#include <string>

#include "cli/locale.h"
#include "insight/report.h"

namespace foveate::cli {

enum class Pooling : uint8_t { largest, mean };

/// Cells a side of each map, for so many heads.
int64_t map_side(int64_t heads);

/// Throws WrongUse where a PNG of so many heads has more pixels than there can be.
void check_png_size(int64_t heads, int64_t n_q, int64_t n_kv);

/// The bytes of an SVG file, or of a PNG where `png`. The report has maps.
std::string figure_of(const insight::Report& report, Pooling pooling, bool png, Language language);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INSPECT_FIGURE_H_
