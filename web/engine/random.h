// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Random bits: xoshiro256++ (Blackman and Vigna, prng.di.unimi.it) seeded by splitmix64.
#ifndef FOVEATE_WEB_ENGINE_RANDOM_H_
#define FOVEATE_WEB_ENGINE_RANDOM_H_

#include <bit>
#include <cstdint>

namespace foveate::web {

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      uint64_t z = seed;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
      z = (z ^ z >> 27) * 0x94d049bb133111eb;
      word = z ^ z >> 31;
    }
  }

  uint64_t operator()() {
    const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0], shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// 0 to n - 1, alike but for n in 2^32.
  int32_t below(int32_t n) { return static_cast<int32_t>(((*this)() >> 32) * static_cast<uint64_t>(n) >> 32); }

 private:
  uint64_t state_[4];
};

}  // namespace foveate::web

#endif  // FOVEATE_WEB_ENGINE_RANDOM_H_
