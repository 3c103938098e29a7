// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Linear attention against the oracle, on every target of the machine, within the derived bound: any sizes, strides,
// types and options, NaN in all that takes no part.
#include "foveate/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/each_target.h"
#include "tests/linear_case.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

template <class T>
void expect_right(const LinearSpec& spec) {
  LinearCase<T> call(spec);
  const auto expected = call.expected_output();
  on_each_target([&] {
    const Status status = call.attend();
    ASSERT_TRUE(status.ok()) << spec << '\n' << status.message();
    EXPECT_EQ(judge_output(call, expected), "") << spec;
    EXPECT_TRUE(call.inputs_intact()) << spec;
  });
}

TEST(LinearBound, TheHeadersCoversTheDerivedOne) {
  constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2;
  for (const int64_t n : {1, 63, 64, 1000, 5000, 100000}) {
    for (const int64_t d_k : {1, 64, 1024}) {
      const auto chain = static_cast<double>(d_k + std::min<int64_t>(n, 64) + std::min<int64_t>(n / 64, 16) + n / 1024);
      const reference::linear::Problem<long double> p = {.n_q = n, .n_kv = n, .d_k = d_k, .d_v = 64};
      EXPECT_LE(linear_bound<float>(p).o, (2 * chain + 26) * kUnit) << n << ' ' << d_k;
    }
  }
}

template <class T>
class LinearAttention : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearAttention, Types);

TYPED_TEST(LinearAttention, RandomCalls) {
  for (uint64_t seed = 0; seed < 120 && !this->HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Choices choices(seed);
    expect_right<TypeParam>(random_linear_spec(choices, 400'000));
  }
}

TYPED_TEST(LinearAttention, ManySplits) {
  for (const bool causal : {false, true}) {
    expect_right<TypeParam>({.h_q = 2, .n_q = 1500, .n_kv = 2100, .d_k = 3, .d_v = 2, .causal = causal, .workers = 3});
    expect_right<TypeParam>(
        {.n_q = 2100, .n_kv = 1300, .d_k = 2, .d_v = 5, .causal = causal, .mask = Whole{}, .masked = 50});
  }
}

TYPED_TEST(LinearAttention, HeadDimsAroundVectors) {
  for (int64_t d = 1; d <= 70; d += 3) {
    expect_right<TypeParam>({.n_q = 70, .n_kv = 75, .d_k = d, .d_v = 71 - d, .causal = true});
  }
}

TYPED_TEST(LinearAttention, PositionsOfEveryKind) {
  for (const int64_t offset : {-200, -65, -64, -1, 0, 1, 63, 64, 65, 99, 100, 1000, 1023, 1024}) {
    expect_right<TypeParam>({.n_q = 130, .n_kv = 100, .causal = true, .q_offset = offset, .not_finite = 2});
  }
  for (const Align align : {Align::bottom_right, Align::top_left}) {
    expect_right<TypeParam>({.b = 3,
                             .h_q = 4,
                             .h_kv = 2,
                             .n_q = 90,
                             .n_kv = 140,
                             .causal = true,
                             .align = align,
                             .q_lengths = true,
                             .kv_lengths = true});
    expect_right<TypeParam>({.n_q = 140, .n_kv = 90, .causal = true, .align = align});
  }
}

TYPED_TEST(LinearAttention, NoKeysNoRowsNoValues) {
  for (const bool causal : {false, true}) {
    expect_right<TypeParam>({.n_q = 5, .n_kv = 0, .causal = causal});
    expect_right<TypeParam>({.n_q = 0, .n_kv = 5, .causal = causal});
    expect_right<TypeParam>({.b = 0, .n_q = 5, .n_kv = 5, .causal = causal});
    expect_right<TypeParam>({.h_q = 0, .n_q = 5, .n_kv = 5, .causal = causal});
    expect_right<TypeParam>({.n_q = 5, .n_kv = 5, .d_v = 0, .causal = causal});
    expect_right<TypeParam>({.n_q = 5, .n_kv = 70, .causal = causal, .mask = Whole{}, .masked = 1});
  }
}

TYPED_TEST(LinearAttention, ANaNInAKeyReachesTheRowsThatSeeIt) {
  using T = TypeParam;
  constexpr int64_t kRows = 150, kWidth = 4, kKey = 70;
  on_each_target([&] {
    std::vector<T> q(kRows * kWidth, T(0.5)), k(q), v(q), o(q);
    k[kKey * kWidth + 1] = std::numeric_limits<T>::quiet_NaN();
    const auto in = [&](const std::vector<T>& x) { return view<const T>(x.data(), 1, 1, kRows, kWidth); };
    ASSERT_TRUE(linear_attention(in(q), in(k), in(v), view(o.data(), 1, 1, kRows, kWidth), {.causal = true}).ok());
    for (int64_t i = 0; i < kRows * kWidth; ++i) EXPECT_EQ(std::isnan(o[i]), i / kWidth >= kKey) << i;
  });
}

TYPED_TEST(LinearAttention, ANaNInAValueReachesItsColumn) {
  using T = TypeParam;
  constexpr int64_t kRows = 150, kWidth = 4, kKey = 70;
  on_each_target([&] {
    std::vector<T> q(kRows * kWidth, T(0.5)), k(q), v(q), o(q);
    v[kKey * kWidth + 1] = std::numeric_limits<T>::quiet_NaN();
    const auto in = [&](const std::vector<T>& x) { return view<const T>(x.data(), 1, 1, kRows, kWidth); };
    ASSERT_TRUE(linear_attention(in(q), in(k), in(v), view(o.data(), 1, 1, kRows, kWidth), {.causal = true}).ok());
    for (int64_t i = 0; i < kRows * kWidth; ++i) {
      EXPECT_EQ(std::isnan(o[i]), i / kWidth >= kKey && i % kWidth == 1) << i;
    }
  });
}

TYPED_TEST(LinearAttention, ASumThatUnderflowsCountsAsZero) {
  using T = TypeParam;
  const T low = std::is_same_v<T, double> ? T(-400) : T(-60);  // phi(q) phi(k) is below the smallest normal number
  on_each_target([&] {
    std::vector<T> q = {low}, k = {low}, v = {3}, o = {5}, d_o = {2}, dq = {5}, dk = {5}, dv = {5};
    const auto in = [](const std::vector<T>& x) { return view<const T>(x.data(), 1, 1, 1, 1); };
    const auto out = [](std::vector<T>& x) { return view(x.data(), 1, 1, 1, 1); };
    ASSERT_TRUE(linear_attention(in(q), in(k), in(v), out(o)).ok());
    EXPECT_EQ(o[0], 0);
    ASSERT_TRUE(
        linear_attention_backward(in(q), in(k), in(v), in(d_o), {.dq = out(dq), .dk = out(dk), .dv = out(dv)}).ok());
    EXPECT_EQ(dq[0], 0);
    EXPECT_EQ(dk[0], 0);
    EXPECT_EQ(dv[0], 0);
  });
}

TYPED_TEST(LinearAttention, ARowOfOneKeyIsItsValue) {
  using T = TypeParam;
  on_each_target([&] {
    std::vector<T> q = {T(0.3), T(-2)}, k = {T(1.5), T(-0.25)}, v = {T(7), T(-3), T(0)}, o(3);
    ASSERT_TRUE(linear_attention(view<const T>(q.data(), 1, 1, 1, 2), view<const T>(k.data(), 1, 1, 1, 2),
                                 view<const T>(v.data(), 1, 1, 1, 3), view(o.data(), 1, 1, 1, 3))
                    .ok());
    for (size_t d = 0; d < 3; ++d) EXPECT_NEAR(o[d], v[d], 8 * std::numeric_limits<T>::epsilon());
  });
}

}  // namespace
}  // namespace foveate::trial
