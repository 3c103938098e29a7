// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What SVG pictures of weights are made of.
#ifndef FOVEATE_CLI_SVG_H_
#define FOVEATE_CLI_SVG_H_

#include <string>

#include "cli/heatmap.h"

namespace foveate::cli {

/// "#00224e".
std::string hex(Rgb color);

/// A text element; `style` holds its other attributes.
std::string text_at(double x, double y, const char* style, const std::string& text);

/// The gradient "cividis", from the least weight below to the greatest above.
std::string cividis_gradient();

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_SVG_H_
