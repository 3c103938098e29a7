// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What an experiment measured, as series of estimates by name. Measuring writes it and judging reads it, so that a
// verdict can also be given on evidence that was made up.
#ifndef FOVEATE_CLAIMS_EVIDENCE_H_
#define FOVEATE_CLAIMS_EVIDENCE_H_

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "claims/statistics.h"
#include "claims/text.h"

namespace foveate::claims {

/// One estimate of a series, at x; where x is no number, `label` says what it stands for.
struct Point {
  double x = 0;
  Estimate estimate;
  std::optional<double> expected = {};  ///< by theory, or as written down beforehand
  Text label = {};

  double over_expected() const { return estimate.value / *expected; }
};

struct Series {
  std::string name;    ///< for programs
  Text what;           ///< for people
  std::string x_name;  ///< "d_k", "n"; "" where there is a single point, or where points have labels
  std::vector<Point> points;
  bool bounded = false;  ///< what is `expected` of a point is the most that it may be

  /// The estimate at x, which must be there.
  const Estimate& at(double x) const;

  /// Of the points' values, intervals' low ends and high ends.
  double least() const;
  double greatest() const;
  double least_low() const;
  double greatest_high() const;
};

class Evidence {
 public:
  Series& add(std::string name, Text what, std::string x_name = {});

  /// A series of one point.
  void add_single(std::string name, Text what, const Estimate& estimate, std::optional<double> expected = {});

  const std::deque<Series>& all() const { return series_; }

  /// The same of a number that may be at most `most`.
  void add_bounded(std::string name, Text what, const Estimate& estimate, double most);

  /// By name, which must be there.
  const Series& series(std::string_view name) const;
  Series& series(std::string_view name);

  /// The estimate of a series of one point.
  const Estimate& of(std::string_view name) const { return series(name).points.front().estimate; }
  double value(std::string_view name) const { return of(name).value; }

 private:
  std::deque<Series> series_;  ///< adding moves none
};

/// Whether no interval of a bounded series reaches past its bound.
bool within_bounds(const Series& series);

enum class Fit { within, undecided, outside };

/// Whether all intervals of a series, each divided by what was expected there (if anything was), lie within [low,
/// high]; `outside` where some interval has no point in common with it.
Fit fit(const Series& series, double low, double high);

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_EVIDENCE_H_
