// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10 as its paper has it: Salmon et al., SC 2011, https://doi.org/10.1145/2063384.2063405.
#ifndef FOVEATE_REFERENCE_PHILOX_H_
#define FOVEATE_REFERENCE_PHILOX_H_

#include <array>
#include <cstdint>

namespace foveate::reference {

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = uint64_t{0xD2511F53} * counter[0], right = uint64_t{0xCD9E8D57} * counter[2];
    const auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
    const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
    counter = {high(right) ^ counter[1] ^ key[0], low(right), high(left) ^ counter[3] ^ key[1], low(left)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

/// Whether dropout of probability p keeps the weight of a pair: query position, head, batch, and key position.
inline bool keeps(double p, uint64_t seed, int64_t batch, int64_t head, int64_t query, int64_t key) {
  const int64_t group = key >= 0 ? key / 4 : (key - 3) / 4;  // rounded down
  const std::array<uint32_t, 4> words = philox({static_cast<uint32_t>(group), static_cast<uint32_t>(query),
                                                static_cast<uint32_t>(head), static_cast<uint32_t>(batch)},
                                               {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return static_cast<double>(words[static_cast<size_t>(key - 4 * group)]) >= p * 4294967296.0;
}

}  // namespace foveate::reference

#endif  // FOVEATE_REFERENCE_PHILOX_H_
