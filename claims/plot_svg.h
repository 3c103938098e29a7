// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Small plots as SVG images: lines, points and bars with their intervals, linear and logarithmic axes. No script,
// nothing loaded from elsewhere; dark on white.
#ifndef FOVEATE_CLAIMS_PLOT_SVG_H_
#define FOVEATE_CLAIMS_PLOT_SVG_H_

#include <optional>
#include <string>
#include <vector>

#include "claims/evidence.h"
#include "claims/text.h"

namespace foveate::claims {

enum class Mark {
  line,    ///< points with intervals, joined
  points,  ///< points with intervals
  bars,    ///< from the axis up, with intervals
  theory,  ///< a dashed line without points: what was expected
};

struct Curve {
  Text name;  ///< in the legend
  Mark mark = Mark::line;
  std::vector<Point> points;
};

struct Axis {
  Text title;  ///< what, and its unit
  bool logarithmic = false;
  std::optional<double> low = {}, high = {};  ///< else by the points
  std::vector<double> ticks = {};             ///< else round numbers
  std::vector<Text> categories = {};          ///< at 0, 1, 2, ... in place of numbers
};

struct Plot {
  Text title;
  Axis x, y;
  std::vector<Curve> curves;
  Text note;  ///< below: what the intervals are, and the samples
};

/// Points beyond an axis are drawn as triangles at its end.
std::string svg(const Plot& plot, Language language);

/// A series' points with what was measured, or with what was expected.
Curve measured(const Series& series, const Text& name, Mark mark = Mark::line);
Curve expected(const Series& series, const Text& name);

/// The x of a series' points, as ticks; or their labels, as categories.
std::vector<double> ticks_of(const Series& series);
std::vector<Text> labels_of(const Series& series);

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_PLOT_SVG_H_
