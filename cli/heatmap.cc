// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/heatmap.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace foveate::cli {
namespace {

double linear_light(uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

}  // namespace

Weights pool_max(const Weights& weights, int64_t factor) {
  const auto cells = [factor](int64_t extent) { return (extent + factor - 1) / factor; };
  Weights pooled{cells(weights.rows), cells(weights.columns), {}};
  pooled.values.resize(static_cast<size_t>(pooled.rows * pooled.columns));
  for (int64_t i = 0; i < weights.rows; ++i) {
    for (int64_t j = 0; j < weights.columns; ++j) {
      double& cell = pooled.values[static_cast<size_t>(i / factor * pooled.columns + j / factor)];
      cell = std::max(cell, weights.at(i, j));
    }
  }
  return pooled;
}

double scale_top(std::span<const Panel> panels) {
  double largest = 0;
  for (const Panel& panel : panels) {
    for (const double weight : panel.weights.values) largest = std::max(largest, weight);
  }
  return scale_top(largest);
}

double scale_top(double largest) {
  double top = 1;
  for (double decade = 1; largest > 0 && decade > 1e-9; decade /= 10) {
    for (const double step : {1.0, 0.5, 0.2}) {
      if (largest > step * decade) return top;
      top = step * decade;
    }
  }
  return top;
}

Rgb cividis(double t) {
  // Every sixteenth of the map; straight lines between them stay within 11 of 255 of it.
  static constexpr std::array<Rgb, 17> kStops = {{{0x00, 0x22, 0x4E},
                                                  {0x00, 0x2E, 0x6A},
                                                  {0x1A, 0x38, 0x6F},
                                                  {0x32, 0x43, 0x6D},
                                                  {0x43, 0x4E, 0x6C},
                                                  {0x53, 0x5A, 0x6D},
                                                  {0x61, 0x65, 0x6F},
                                                  {0x6F, 0x70, 0x73},
                                                  {0x7D, 0x7C, 0x78},
                                                  {0x8C, 0x88, 0x78},
                                                  {0x9B, 0x94, 0x76},
                                                  {0xAB, 0xA0, 0x72},
                                                  {0xBC, 0xAE, 0x6C},
                                                  {0xCD, 0xBB, 0x63},
                                                  {0xDE, 0xC9, 0x58},
                                                  {0xF0, 0xD8, 0x46},
                                                  {0xFE, 0xE8, 0x38}}};
  const double place = std::clamp(t, 0.0, 1.0) * (kStops.size() - 1);
  const size_t left = std::min(static_cast<size_t>(place), kStops.size() - 2);
  const double fraction = place - static_cast<double>(left);
  const auto between = [fraction](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * fraction));
  };
  const Rgb a = kStops[left], b = kStops[left + 1];
  return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}

bool wants_white_text(Rgb background) {
  // WCAG's relative luminance: at 0.179 black and white text have the same contrast.
  return 0.2126 * linear_light(background.red) + 0.7152 * linear_light(background.green) +
             0.0722 * linear_light(background.blue) <
         0.179;
}

}  // namespace foveate::cli
