// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// NumPy's legacy generator, bit for bit: np.random.seed(seed), then np.random.randn(...) in C order.
#ifndef FOVEATE_CLI_LEGACY_RANDOM_H_
#define FOVEATE_CLI_LEGACY_RANDOM_H_

#include <cstdint>
#include <optional>
#include <random>

namespace foveate::cli {

class LegacyRandom {
 public:
  explicit LegacyRandom(uint32_t seed) : bits_(seed) {}

  /// The next value of randn: normal, mean 0, variance 1. Marsaglia's polar method makes them in pairs.
  double normal();

 private:
  /// Uniform on [0, 1), 53 bits.
  double uniform();

  // The standard fixes both the recurrence and the seeding, and they are those of NumPy (Knuth's, one word).
  std::mt19937 bits_;
  std::optional<double> second_of_pair_;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_LEGACY_RANDOM_H_
