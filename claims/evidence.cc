// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/evidence.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace foveate::claims {
namespace {

/// The least (or greatest) of one number a point.
template <class Better>
double best(const Series& series, double Estimate::*of, Better better) {
  double result = series.points.front().estimate.*of;
  for (const Point& point : series.points) {
    if (better(point.estimate.*of, result)) result = point.estimate.*of;
  }
  return result;
}

}  // namespace

const Estimate& Series::at(double x) const {
  for (const Point& point : points) {
    if (point.x == x) return point.estimate;
  }
  throw std::out_of_range(fmt::format("{} has no point at {}", name, x));
}

double Series::least() const { return best(*this, &Estimate::value, std::less<>()); }
double Series::greatest() const { return best(*this, &Estimate::value, std::greater<>()); }
double Series::least_low() const { return best(*this, &Estimate::low, std::less<>()); }
double Series::greatest_high() const { return best(*this, &Estimate::high, std::greater<>()); }

Series& Evidence::add(std::string name, Text what, std::string x_name) {
  return series_.emplace_back(Series{std::move(name), std::move(what), std::move(x_name), {}, false});
}

void Evidence::add_single(std::string name, Text what, const Estimate& estimate, std::optional<double> expected) {
  add(std::move(name), std::move(what)).points.push_back({0, estimate, expected, {}});
}

void Evidence::add_bounded(std::string name, Text what, const Estimate& estimate, double most) {
  add_single(std::move(name), std::move(what), estimate, most);
  series_.back().bounded = true;
}

const Series& Evidence::series(std::string_view name) const {
  for (const Series& series : series_) {
    if (series.name == name) return series;
  }
  throw std::out_of_range(fmt::format("no series {}", name));
}

Series& Evidence::series(std::string_view name) { return const_cast<Series&>(std::as_const(*this).series(name)); }

bool within_bounds(const Series& series) {
  return std::ranges::all_of(series.points, [](const Point& point) { return point.estimate.high <= *point.expected; });
}

Fit fit(const Series& series, double low, double high) {
  Fit result = Fit::within;
  for (const Point& point : series.points) {
    const double unit = point.expected.value_or(1);
    const double from = point.estimate.low / unit, to = point.estimate.high / unit;
    if (!(to >= low && from <= high)) return Fit::outside;  // NaN too
    if (from < low || to > high) result = Fit::undecided;
  }
  return result;
}

}  // namespace foveate::claims
