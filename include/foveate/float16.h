// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The two 16-bit floating-point types that arrays are stored in. They hold bits and convert: nothing is computed in them.
// Conversion from float or double rounds once, to the nearest, ties to even; to float it is exact.
#ifndef FOVEATE_FLOAT16_H_
#define FOVEATE_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace foveate {

/// x as float32, or, where that is not exact, the one of its two neighbours whose last bit is 1: rounding that to a narrower
/// type rounds x once. (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 2008.)
constexpr float rounded_to_odd(double x) {
  const auto near = static_cast<float>(x);
  const auto back = static_cast<double>(near);
  const auto bits = std::bit_cast<uint32_t>(near);
  if (back == x || x != x || (bits & 1) != 0) return near;
  const bool outward = (x > back) == ((bits & 0x80000000) == 0);
  return std::bit_cast<float>(outward ? bits + 1 : bits - 1);
}

/// IEEE 754 binary16: 11 bits of significand, largest 65504, smallest 2^-24.
struct Float16 {
  uint16_t bits = 0;

  constexpr Float16() = default;
  constexpr explicit Float16(float x) {
    const auto f = std::bit_cast<uint32_t>(x);
    const auto sign = static_cast<uint16_t>(f >> 16 & 0x8000);
    const uint32_t magnitude = f & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      bits = sign | 0x7e00;  // NaN
    } else if (magnitude >= 0x477ff000) {
      bits = sign | 0x7c00;  // 65520 and above round to infinity
    } else if (magnitude < 0x38800000) {
      // Subnormal: adding 0.5 leaves multiples of 2^-24, rounded, in the low bits.
      bits = static_cast<uint16_t>(
          sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f)));
    } else {
      const uint32_t odd = magnitude >> 13 & 1;
      bits = static_cast<uint16_t>(sign | ((magnitude - (uint32_t{112} << 23) + 0xfff + odd) >> 13));
    }
  }

  constexpr explicit Float16(double x) : Float16(rounded_to_odd(x)) {}

  constexpr explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    uint32_t wide = (magnitude << 13) + (uint32_t{112} << 23);
    if (magnitude >= 0x7c00) {
      wide |= 0x7f800000;  // Inf, NaN
    } else if (magnitude < 0x400) {
      // Subnormal: m 2^-24 = 2^-14 (1 + m / 1024) - 2^-14, without a subnormal float, which processors are slow at.
      wide = std::bit_cast<uint32_t>(std::bit_cast<float>(wide + (uint32_t{1} << 23)) - 0x1p-14f);
    }
    return std::bit_cast<float>(wide | sign);
  }
};

/// The upper half of a float32: 8 bits of significand, the range of float32.
struct BFloat16 {
  uint16_t bits = 0;

  constexpr BFloat16() = default;
  constexpr explicit BFloat16(float x) {
    const auto f = std::bit_cast<uint32_t>(x);
    const bool nan = (f & 0x7fffffff) > 0x7f800000;
    bits = static_cast<uint16_t>(nan ? f >> 16 | 0x40 : (f + 0x7fff + (f >> 16 & 1)) >> 16);
  }

  constexpr explicit BFloat16(double x) : BFloat16(rounded_to_odd(x)) {}

  constexpr explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace foveate

#endif  // FOVEATE_FLOAT16_H_
