// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/axes.h"

#include <numeric>

namespace foveate::cli {
namespace {

constexpr size_t kAxes = 4;

}  // namespace

std::vector<size_t> axis_places(size_t axes, Layout layout) {
  if (axes == 2) return {2, 3};
  std::vector<size_t> places =
      layout == Layout::bhnd ? std::vector<size_t>{0, 1, 2, 3} : std::vector<size_t>{0, 2, 1, 3};
  places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(kAxes - axes));
  return places;
}

std::vector<size_t> broadcast_places(size_t axes) {
  std::vector<size_t> places(axes);
  std::iota(places.begin(), places.end(), kAxes - axes);
  return places;
}

}  // namespace foveate::cli
