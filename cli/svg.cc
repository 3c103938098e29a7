// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/svg.h"

#include <fmt/format.h>

namespace foveate::cli {

std::string hex(Rgb color) { return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue); }

std::string text_at(double x, double y, const char* style, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, text);
}

std::string cividis_gradient() {
  std::string svg = "<linearGradient id=\"cividis\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">\n";
  constexpr int kStops = 16;
  for (int i = 0; i <= kStops; ++i) {
    const double at = static_cast<double>(i) / kStops;
    svg += fmt::format("<stop offset=\"{:.4f}\" stop-color=\"{}\"/>\n", at, hex(cividis(at)));
  }
  return svg + "</linearGradient>\n";
}

}  // namespace foveate::cli
