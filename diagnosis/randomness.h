// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Were weights left out at random? Dropout draws for each by itself; what is left out by a rule depends on the key, the
// query, the distance or the size, and shows in where zeros lie. Too evenly is as wrong as too close together.
#ifndef FOVEATE_DIAGNOSIS_RANDOMNESS_H_
#define FOVEATE_DIAGNOSIS_RANDOMNESS_H_

#include <cstdint>
#include <vector>

namespace foveate::diagnosis {

/// A weight of somebody's, and whether it was left out.
struct Drawn {
  int64_t b = 0, h = 0, i = 0, j = 0;
  int64_t rank = 0;  ///< of its size in its row, the largest first
  double weight = 0;
  bool zero = false;
};

/// Whether zeros lie as they would if each weight were left out by itself with this probability, by tests of some 4.5
/// standard deviations each.
bool drawn_at_random(const std::vector<Drawn>& all, double probability);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_RANDOMNESS_H_
