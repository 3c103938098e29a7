// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/legacy_random.h"

#include <cmath>
#include <utility>

namespace foveate::cli {

double LegacyRandom::normal() {
  if (second_of_pair_) return *std::exchange(second_of_pair_, std::nullopt);
  double x, y, square;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  second_of_pair_ = factor * x;
  return factor * y;
}

double LegacyRandom::uniform() {
  // Two draws, in this order: 27 high bits and 26 low ones.
  const auto high = static_cast<double>(bits_() >> 5);
  const auto low = static_cast<double>(bits_() >> 6);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

}  // namespace foveate::cli
