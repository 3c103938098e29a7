// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Float16 and BFloat16: every value, every halfway point between two, and the engine's own conversions of them.
#include "foveate/float16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "foveate/attention.h"
#include "tests/each_target.h"
#include "tests/native_products.h"

namespace foveate {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// The fields of a 16-bit type.
template <class Narrow>
struct Format;
template <>
struct Format<Float16> {
  static constexpr int significand = 10, bias = 15;
};
template <>
struct Format<BFloat16> {
  static constexpr int significand = 7, bias = 127;
};

template <class Narrow>
Narrow of_bits(int64_t bits) {
  return std::bit_cast<Narrow>(static_cast<uint16_t>(bits));
}

/// What IEEE 754 says that bits mean.
template <class Narrow>
double meaning(uint16_t bits) {
  using F = Format<Narrow>;
  const int exponent = (bits & 0x7fff) >> F::significand, fraction = bits & ((1 << F::significand) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (0x7fff >> F::significand)) {
    return fraction == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  }
  const int hidden = exponent == 0 ? 0 : 1 << F::significand;
  return sign * std::ldexp(hidden + fraction, (exponent == 0 ? 1 : exponent) - F::bias - F::significand);
}

/// Bits of the largest finite number; one more are infinity.
template <class Narrow>
constexpr int64_t kLargestBits = (0x7fff >> Format<Narrow>::significand << Format<Narrow>::significand) - 1;

/// Calls body(x, the number that x shall become) for floats at, and next to, every value and every halfway point.
template <class Narrow, class Body>
void on_hard_floats(const Body& body) {
  for (int64_t bits = 0; bits <= kLargestBits<Narrow>; ++bits) {
    const double low = meaning<Narrow>(static_cast<uint16_t>(bits));
    // Rounding knows no largest number: past it comes what a larger exponent would mean.
    const double step = std::ldexp(1.0, std::max<int>(static_cast<int>(bits >> Format<Narrow>::significand), 1) -
                                            Format<Narrow>::bias - Format<Narrow>::significand);
    const auto middle = static_cast<float>(low + step / 2);
    const bool exact = static_cast<double>(middle) == low + step / 2;  // not below the smallest float
    for (const float sign : {1.0f, -1.0f}) {
      const int64_t minus = sign < 0 ? 0x8000 : 0;
      body(sign * static_cast<float>(low), of_bits<Narrow>(bits | minus));
      if (!exact) continue;
      body(sign * middle, of_bits<Narrow>((bits + bits % 2) | minus));
      body(sign * std::nextafter(middle, 0.0f), of_bits<Narrow>(bits | minus));
      if (std::nextafter(middle, kInf) != kInf) {
        body(sign * std::nextafter(middle, kInf), of_bits<Narrow>((bits + 1) | minus));
      }
    }
  }
}

template <class Narrow>
class Narrows : public testing::Test {};
using Types = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Narrows, Types);

TYPED_TEST(Narrows, EveryValueMeansWhatItsBitsSay) {
  for (int64_t bits = 0; bits < 0x10000; ++bits) {
    const double want = meaning<TypeParam>(static_cast<uint16_t>(bits));
    const auto got = static_cast<float>(of_bits<TypeParam>(bits));
    ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
        << std::hex << bits << ": " << got << ", not " << want;
    ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << std::hex << bits;
  }
}

TYPED_TEST(Narrows, EveryValueComesBack) {
  for (int64_t bits = 0; bits < 0x10000; ++bits) {
    const TypeParam x = of_bits<TypeParam>(bits), back(static_cast<float>(x));
    if (std::isnan(static_cast<float>(x))) {
      ASSERT_TRUE(std::isnan(static_cast<float>(back)));
      ASSERT_EQ(back.bits >> 15, x.bits >> 15);
    } else {
      ASSERT_EQ(back.bits, x.bits);
    }
  }
}

TYPED_TEST(Narrows, RoundsToTheNearestTiesToEven) {
  int64_t floats = 0;
  on_hard_floats<TypeParam>([&](float x, TypeParam want) {
    ASSERT_EQ(TypeParam(x).bits, want.bits) << std::hexfloat << x;
    ++floats;
  });
  EXPECT_GT(floats, 200'000);
}

TYPED_TEST(Narrows, OverflowNaNAndTheSmallest) {
  EXPECT_EQ(TypeParam(kInf).bits, kLargestBits<TypeParam> + 1);
  EXPECT_EQ(TypeParam(-kInf).bits, (kLargestBits<TypeParam> + 1) | 0x8000);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits, kLargestBits<TypeParam> + 1);
  for (const uint32_t nan : {0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu, 0x7f80ffffu}) {
    const TypeParam x(std::bit_cast<float>(nan));
    EXPECT_TRUE(std::isnan(static_cast<float>(x))) << std::hex << nan;
    EXPECT_EQ(x.bits >> 15, nan >> 31);
  }
  constexpr float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(TypeParam(least).bits, 0);
  EXPECT_EQ(TypeParam(-least).bits, 0x8000);
}

/// Doubles are rounded once: one just beside a halfway point is not taken for it, as it would be by way of float.
TYPED_TEST(Narrows, DoublesAreRoundedOnce) {
  for (int64_t bits = 0; bits <= kLargestBits<TypeParam>; ++bits) {
    const double low = meaning<TypeParam>(static_cast<uint16_t>(bits));
    const double high = bits == kLargestBits<TypeParam> ? 2 * low - meaning<TypeParam>(static_cast<uint16_t>(bits - 1))
                                                        : meaning<TypeParam>(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    for (const double sign : {1.0, -1.0}) {
      const int64_t minus = sign < 0 ? 0x8000 : 0;
      ASSERT_EQ(TypeParam(sign * low).bits, bits | minus) << std::hexfloat << low;
      ASSERT_EQ(TypeParam(sign * middle).bits, (bits + bits % 2) | minus) << std::hexfloat << middle;
      ASSERT_EQ(TypeParam(sign * std::nextafter(middle, 0.0)).bits, bits | minus) << std::hexfloat << middle;
      ASSERT_EQ(TypeParam(sign * std::nextafter(middle, HUGE_VAL)).bits, (bits + 1) | minus) << std::hexfloat << middle;
    }
  }
  EXPECT_EQ(TypeParam(HUGE_VAL).bits, kLargestBits<TypeParam> + 1);
  EXPECT_EQ(TypeParam(1e300).bits, kLargestBits<TypeParam> + 1);
  EXPECT_EQ(TypeParam(-1e-320).bits, 0x8000);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::numeric_limits<double>::quiet_NaN()))));
}

static_assert(static_cast<float>(Float16(65504.0f)) == 65504.0f && Float16(65520.0f).bits == 0x7c00);
static_assert(static_cast<float>(Float16(0x1p-24f)) == 0x1p-24f && Float16(0x1p-25f).bits == 0);
static_assert(static_cast<float>(BFloat16(0x1.01p0f)) == 1.0f && static_cast<float>(BFloat16(0x1.03p0f)) == 0x1.04p0f);

// --- The engine's conversions ---

/// With one key, o is its value: every finite one of the type, 256 to a row.
TYPED_TEST(Narrows, ValuesReachTheOutputUnchanged) {
  std::vector<TypeParam> v(0x10000), o_narrow(v);
  for (int64_t bits = 0; bits < 0x10000; ++bits) v[bits] = of_bits<TypeParam>(bits);
  const float one = 1;
  const TypeParam narrow_one(1.0f);
  std::vector<float> o(v.size());
  trial::on_each_target([&] {
    for (const int64_t d : {256, 1}) {
      const int64_t n = 0x10000 / d;
      const ConstTensor values = view<const TypeParam>(v.data(), n, 1, 1, d);
      ConstTensor q = view<const float>(&one, 1, 1, 1, 1), k = q;
      q.shape[0] = k.shape[0] = n;  // the same in each batch
      q.stride[0] = k.stride[0] = 0;
      ASSERT_TRUE(attention(q, k, values, {.o = view(o.data(), n, 1, 1, d)}).ok());
      q = k = view<const TypeParam>(&narrow_one, 1, 1, 1, 1);
      q.shape[0] = k.shape[0] = n;
      q.stride[0] = k.stride[0] = 0;
      ASSERT_TRUE(attention(q, k, values, {.o = view(o_narrow.data(), n, 1, 1, d)}).ok());
      for (size_t i = 0; i < v.size(); ++i) {
        const auto want = static_cast<float>(v[i]);
        if (std::isinf(want) || std::isnan(want)) {
          ASSERT_FALSE(std::isfinite(o[i]) || std::isfinite(static_cast<float>(o_narrow[i]))) << std::hex << i;
          ASSERT_EQ(std::isnan(want), std::isnan(o[i])) << std::hex << i;
        } else {
          ASSERT_EQ(o[i], want) << std::hex << i;
          const bool flushed = std::is_same_v<TypeParam, BFloat16> && trial::native_bf16() && o_narrow[i].bits == 0 &&
                               std::abs(want) < std::numeric_limits<float>::min();
          ASSERT_TRUE(o_narrow[i].bits == (want == 0 ? 0 : v[i].bits) || flushed) << std::hex << i;
        }
      }
    }
  });
}

/// With one key, lse is its score: a query of one component, and a key that has just that one.
TYPED_TEST(Narrows, KeysReachTheScoresUnchanged) {
  constexpr int64_t kDim = 33;
  std::vector<TypeParam> k(0x10000 * kDim);
  const std::vector<float> q(kDim, 1);
  std::vector<float> lse(0x10000);
  for (int64_t bits = 0; bits < 0x10000; ++bits) k[bits * kDim + bits % kDim] = of_bits<TypeParam>(bits);
  const ConstTensor keys = view<const TypeParam>(k.data(), 0x10000, 1, 1, kDim);
  ConstTensor queries = view<const float>(q.data(), 1, 1, 1, kDim);
  queries.shape[0] = 0x10000;
  queries.stride[0] = 0;
  trial::on_each_target([&] {
    const AttentionOptions options = {.scale = 1};
    ASSERT_TRUE(attention(queries, keys, keys, {.lse = view(lse.data(), 0x10000, 1, 1, 1)}, options).ok());
    for (size_t i = 0; i < lse.size(); ++i) {
      const auto want = static_cast<float>(of_bits<TypeParam>(static_cast<int64_t>(i)));
      ASSERT_TRUE(std::isnan(want) || want == kInf ? std::isnan(lse[i]) : lse[i] == want)
          << std::hex << i << ": " << lse[i] << ", not " << want;
    }
  });
}

/// float32 values beside narrow queries: what the output is rounded to.
TYPED_TEST(Narrows, OutputsAreRoundedToTheNearest) {
  std::vector<float> v;
  std::vector<TypeParam> want;
  on_hard_floats<TypeParam>([&](float x, TypeParam rounded) {
    v.push_back(x);
    want.push_back((rounded.bits & 0x7fff) == 0 ? TypeParam() : rounded);  // zeros are stored positive
  });
  const auto n = static_cast<int64_t>(v.size());
  const TypeParam one(1.0f);
  const ConstTensor q = view<const TypeParam>(&one, 1, 1, 1, 1);
  std::vector<TypeParam> o(v.size());
  trial::on_each_target([&] {
    const Status status = attention(q, q, view<const float>(v.data(), 1, 1, 1, n), {.o = view(o.data(), 1, 1, 1, n)});
    ASSERT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < v.size(); ++i) ASSERT_EQ(o[i].bits, want[i].bits) << std::hexfloat << v[i];
  });
}

}  // namespace
}  // namespace foveate
