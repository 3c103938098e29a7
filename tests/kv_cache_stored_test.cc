// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which numbers a cache holds in place of those it was given.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "foveate/kv_cache.h"
#include "tests/held_cache.h"

namespace foveate {
namespace {

using trial::Held;
using trial::said;

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(KvCacheStored, Int8WithinItsBound) {
  constexpr int64_t kDim = 64;
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  Held held({.d_k = kDim, .d_v = 1, .k_dtype = DType::i8});
  std::vector<std::vector<float>> rows;
  for (int exponent = -149; exponent <= 125; ++exponent) {
    std::vector<float> row;
    for (int64_t c = 0; c < kDim; ++c) row.push_back(std::ldexp(std::clamp(normal(random), -3.9f, 3.9f), exponent));
    ASSERT_EQ(said(held.append_key(row)), "");
    rows.push_back(row);
  }
  for (size_t j = 0; j < rows.size(); ++j) {
    const auto key = static_cast<int64_t>(j);
    float most = 0;
    for (const float x : rows[j]) most = std::max(most, std::abs(x));
    ASSERT_EQ(held.scale(key), static_cast<double>(most / 127)) << "row " << j;
    const double bound = (0.5 + 0x1p-16) * held.scale(key) + 0x1p-143;
    for (int64_t c = 0; c < kDim; ++c) {
      const auto x = static_cast<double>(rows[j][static_cast<size_t>(c)]);
      ASSERT_LE(std::abs(held.key(key, c) - x), bound) << "row " << j << ", " << x;
    }
  }
}

TEST(KvCacheStored, Int8Corners) {
  Held held({.d_k = 3, .d_v = 1, .k_dtype = DType::i8});
  for (const std::vector<float>& row : {std::vector<float>{0, -0.0f, 0},
                                        {1, kNaN, 2},
                                        {1, -kInfinity, 2},
                                        {254, 1, 3},
                                        {-254, -1, -3},
                                        {127, 126.5f, 0.5f}}) {
    ASSERT_EQ(said(held.append_key(row)), "");
  }
  ASSERT_EQ(said(held.append_key(std::vector<double>{1e300, 1, 2})), "");
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(held.key(0, c), 0);
    for (const int64_t j : {1, 2, 6}) EXPECT_TRUE(std::isnan(held.key(j, c))) << j;
  }
  EXPECT_EQ(held.scale(3), 2);
  const double ties[][3] = {{254, 0, 4}, {-254, 0, -4}, {127, 126, 0}};  // 0.5 -> 0, 1.5 -> 2, 126.5 -> 126: to even
  for (int64_t j = 0; j < 3; ++j) {
    for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(held.key(3 + j, c), ties[j][c]) << j << ' ' << c;
  }
}

TEST(KvCacheStored, TheLargestFloatStaysFinite) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  Held held({.d_k = 2, .d_v = 1, .k_dtype = DType::i8});
  ASSERT_EQ(said(held.append_key(std::vector<float>{kLargest, -kLargest})), "");
  for (const int64_t c : {0, 1}) {
    EXPECT_LE(std::abs(held.key(0, c)), static_cast<double>(kLargest));
    EXPECT_GE(std::abs(held.key(0, c)), kLargest * (1 - 0x1p-7));
  }
  EXPECT_LE(static_cast<float>(held.scale(0)) * 127, kLargest);
}

TEST(KvCacheStored, ScalesOfChannels) {
  const float scales[] = {0.5f, 2, 0};
  Held held({.d_k = 3, .d_v = 1, .k_dtype = DType::i8, .k_scales = view<const float>(scales, 1, 1, 1, 3)});
  ASSERT_EQ(said(held.append_key<float>({1.3f, 3, 5})), "");
  ASSERT_EQ(said(held.append_key<float>({1e30f, -1e30f, 5})), "");
  EXPECT_EQ(held.key(0, 0), 1.5);
  EXPECT_EQ(held.key(0, 1), 4);  // 1.5 steps, to even
  EXPECT_EQ(held.key(1, 0), 63.5);
  EXPECT_EQ(held.key(1, 1), -254);
  EXPECT_EQ(held.key(1, 2), 0);
  const std::string refused =
      "k: NaN or Inf among its numbers, which scales of channels cannot tell; mend them, or create the cache without "
      "k_scales";
  EXPECT_EQ(said(held.append_key<float>({1, kNaN, 2})), refused);
  EXPECT_EQ(said(held.append_key<double>({1, 2, 1e300})), refused);
  EXPECT_EQ(held.cache.length(held.first), 2);
}

TEST(KvCacheStored, Float64IsRoundedOnce) {
  // Just past the middle of two neighbours, by less than float32 can tell.
  Held half({.d_k = 4, .d_v = 1, .k_dtype = DType::f16});
  ASSERT_EQ(
      said(half.append_key<double>({1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, 65520 - 0x1p-20, 0x1.0001p-25})), "");
  const double want[] = {1 + 0x1p-10, 1, 65504, 0x1p-24};
  for (int64_t c = 0; c < 4; ++c) EXPECT_EQ(half.key(0, c), want[c]) << c;
  Held brain({.d_k = 3, .d_v = 1, .k_dtype = DType::bf16});
  ASSERT_EQ(said(brain.append_key<double>({-1 - 0x1p-8 - 0x1p-40, 1e300, 1 + 0x1p-8})), "");
  EXPECT_EQ(brain.key(0, 0), -1 - 0x1p-7);
  EXPECT_EQ(brain.key(0, 1), static_cast<double>(kInfinity));
  EXPECT_EQ(brain.key(0, 2), 1);
}

TEST(KvCacheStored, WhateverTheHostsRounding) {
  for (const DType dtype : {DType::f16, DType::i8}) {
    Held plain({.d_k = 32, .d_v = 1, .k_dtype = dtype}), upward({.d_k = 32, .d_v = 1, .k_dtype = dtype});
    const trial::Drawn k(DType::f64, 1, 1, 32, trial::Drawn::Order::bhnd, 1);
    const trial::Drawn v(DType::f64, 1, 1, 1, trial::Drawn::Order::bhnd, 2);
    ASSERT_EQ(said(plain.cache.append(plain.first, k.view(), v.view())), "");
    const int mode = std::fegetround();
    std::fesetround(FE_UPWARD);
    const Status status = upward.cache.append(upward.first, k.view(), v.view());
    std::fesetround(mode);
    ASSERT_EQ(said(status), "");
    for (int64_t c = 0; c < 32; ++c) ASSERT_EQ(plain.key(0, c), upward.key(0, c)) << c;
  }
}

}  // namespace
}  // namespace foveate
