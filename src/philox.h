// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10, one counter at a time: ten rounds that make four random words of a counter and a key.
//
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
// https://doi.org/10.1145/2063384.2063405.
#ifndef FOVEATE_SRC_PHILOX_H_
#define FOVEATE_SRC_PHILOX_H_

#include <array>
#include <cstdint>

namespace foveate {

using PhiloxWords = std::array<uint32_t, 4>;

inline PhiloxWords philox(PhiloxWords counter, uint64_t seed) {
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0], product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

}  // namespace foveate

#endif  // FOVEATE_SRC_PHILOX_H_
