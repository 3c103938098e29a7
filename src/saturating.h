// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Sizes that may be too large to count: views may repeat an element 2^60 times, and memory for it is refused, not miscounted.
#ifndef FOVEATE_SRC_SATURATING_H_
#define FOVEATE_SRC_SATURATING_H_

#include <cstddef>
#include <cstdint>
#include <limits>

namespace foveate {

/// Half of all integers is room enough to round such a size up.
inline constexpr int64_t kMostCounted = std::numeric_limits<int64_t>::max() / 2;

/// a * b and a + b for a, b >= 0, or the most that is counted.
constexpr int64_t saturating_product(int64_t a, int64_t b) {
  return b != 0 && a > kMostCounted / b ? kMostCounted : a * b;
}
constexpr int64_t saturating_sum(int64_t a, int64_t b) { return a > kMostCounted - b ? kMostCounted : a + b; }

/// Such a size for whoever allocates: what is past counting cannot be had.
constexpr size_t allocatable(int64_t bytes) {
  return bytes < kMostCounted ? static_cast<size_t>(bytes) : std::numeric_limits<size_t>::max();
}

/// a / b rounded up, for a >= 0 and b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace foveate

#endif  // FOVEATE_SRC_SATURATING_H_
