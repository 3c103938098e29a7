// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What work on random draws shares: its arguments' limits, filling arrays, percentiles.
#ifndef FOVEATE_WEB_ENGINE_DRAWS_H_
#define FOVEATE_WEB_ENGINE_DRAWS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "claims/random.h"
#include "exports.h"

namespace foveate::web {

using claims::Normal;
using claims::Random;

inline constexpr int32_t kMaxHeadDim = 1 << 14, kMaxKeys = 1 << 12, kMaxCount = 1 << 28;

inline bool in_range(const char* name, int32_t value, int32_t largest) {
  if (value >= 1 && value <= largest) return true;
  refuse("%s: %d; expected 1 to %d", name, static_cast<int>(value), static_cast<int>(largest));
  return false;
}

inline bool positive(const char* name, double value) {
  if (value > 0 && std::isfinite(value)) return true;
  refuse("%s: %g; expected a number above 0", name, value);
  return false;
}

template <class T>
void fill(Normal& normal, T* to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<T>(normal());
}

inline void insert(double x, std::vector<double>& sorted) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), x), x);
}

/// By linear interpolation between the nearest two of `sorted`.
inline double percentile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return std::nan("");
  const double place = std::clamp(p / 100, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place), high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace foveate::web

#endif  // FOVEATE_WEB_ENGINE_DRAWS_H_
