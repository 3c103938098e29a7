// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the heatmaps of the terminal and of SVG share: matrices of weights, pooling, and colours.
#ifndef FOVEATE_CLI_HEATMAP_H_
#define FOVEATE_CLI_HEATMAP_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace foveate::cli {

/// Attention weights: a row for each query, a column for each key, each in [0, 1].
struct Weights {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<double> values;

  double at(int64_t row, int64_t column) const { return values[static_cast<size_t>(row * columns + column)]; }
};

/// One picture: weights under a title, with lines of text to go with it where there is room.
struct Panel {
  std::string title;
  std::string subtitle;
  Weights weights;
};

/// The largest weight of each `factor` x `factor` square (less at the far edges): a peak stays visible however small
/// the picture.
Weights pool_max(const Weights& weights, int64_t factor);

/// Where a colour scale ends: the least of 1, 0.5, 0.2, 0.1, 0.05, ... that no weight exceeds; of all panels, one scale.
double scale_top(double largest);
double scale_top(std::span<const Panel> panels);

struct Rgb {
  uint8_t red = 0, green = 0, blue = 0;
};

/// The cividis map, t in [0, 1], dark blue to yellow: lightness rises evenly, so that colour-blind eyes and grey prints
/// tell the same order. Nunez, Anderton and Renslow, doi:10.1371/journal.pone.0199239.
Rgb cividis(double t);

/// Whether white text reads better on that colour than black.
bool wants_white_text(Rgb background);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_HEATMAP_H_
