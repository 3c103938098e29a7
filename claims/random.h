// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Random numbers that a seed fixes, on every machine and compiler: the standard library's distributions are its own in
// each.
#ifndef FOVEATE_CLAIMS_RANDOM_H_
#define FOVEATE_CLAIMS_RANDOM_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace foveate::claims {

/// Random bits: xoshiro256++ (Blackman and Vigna, prng.di.unimi.it) seeded by splitmix64.
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

/// Standard normal numbers: Marsaglia and Tsang's ziggurat (doi:10.18637/jss.v005.i08) of 128 layers in double
/// precision, as in Doornik's ZIGNOR. One 64-bit draw gives the layer by its low 7 bits and the place in it by its high
/// 53; about one in fifty draws needs more.
class Normal {
 public:
  explicit Normal(uint64_t seed) : random_(seed) {
    edge_[0] = kArea / density(kTail);
    edge_[1] = kTail;
    for (int i = 2; i < kLayers; ++i) {
      edge_[i] = std::sqrt(-2 * std::log(kArea / edge_[i - 1] + density(edge_[i - 1])));
    }
    edge_[kLayers] = 0;
    for (int i = 0; i < kLayers; ++i) inner_[i] = edge_[i + 1] / edge_[i];
  }

  double operator()() {
    while (true) {
      const uint64_t bits = random_();
      const auto layer = static_cast<int>(bits % kLayers);
      const double u = 2 * unit(bits) - 1;  // [-1, 1)
      if (std::abs(u) < inner_[layer]) return u * edge_[layer];
      if (layer == 0) return u < 0 ? -tail() : tail();
      const double x = u * edge_[layer], low = density(edge_[layer]), high = density(edge_[layer + 1]);
      if (low + unit(random_()) * (high - low) < density(x)) return x;
    }
  }

  /// What it draws from, for numbers of other kinds in the same sequence.
  Random& random() { return random_; }

 private:
  static constexpr int kLayers = 128;
  static constexpr double kTail = 3.442619855899;       ///< where the lowest layer ends
  static constexpr double kArea = 9.91256303526217e-3;  ///< of each layer

  static double density(double x) { return std::exp(-0.5 * x * x); }  // times sqrt(2 pi)
  static double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

  /// A number past kTail, by Marsaglia's method.
  double tail() {
    double x, y;
    do {
      x = -std::log(1 - unit(random_())) / kTail;
      y = -std::log(1 - unit(random_()));
    } while (2 * y < x * x);
    return kTail + x;
  }

  Random random_;
  double edge_[kLayers + 1];  ///< where each layer ends; 0: as wide as it would be without a tail
  double inner_[kLayers];     ///< the share of a layer that lies under the one above, and so under the curve
};

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_RANDOM_H_
