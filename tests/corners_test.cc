// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Every corner that is defined, one named test each, on every target of this machine: what empty rows, NaN, Inf and
// sinks give, exactly. corners_numbers_test.cc has the huge, the tiny and the host's floating-point mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "tests/packed_call.h"

namespace foveate::trial {
namespace {

template <class T>
class Corners : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Corners, Types);

// Rows without keys.

TYPED_TEST(Corners, NoKeyTakesPart) {
  PackedCall<TypeParam> call({.n_q = 20, .n_kv = 70, .d_v = 3});
  call.mask.assign(20 * 70, 0);
  std::fill_n(call.mask.begin(), 70 * 19, 1);  // the last row alone is empty
  on_each_target(call, [&] {
    for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(call.out(19, c), 0);
    EXPECT_EQ(call.lse[19], -kInf<TypeParam>);
    EXPECT_TRUE(std::isfinite(call.lse[18]));
  });
}

TYPED_TEST(Corners, NoKeyTakesPartAnywhereAndNaNEverywhere) {
  PackedCall<TypeParam> call({.n_q = 5, .n_kv = 70, .d_v = 3});
  call.mask.assign(5 * 70, 0);
  call.k.assign(call.k.size(), kNaN<TypeParam>);
  call.v.assign(call.v.size(), kNaN<TypeParam>);
  on_each_target(call, [&] {
    expect_zeros(call.o);
    expect_zeros(call.weights);
    expect_all(call.lse, -kInf<TypeParam>);
  });
}

TYPED_TEST(Corners, QueriesBeforeTheFirstKeySeeNothing) {
  PackedCall<TypeParam> call({.n_q = 7, .n_kv = 3, .d_v = 2});
  call.options.causal = true;  // bottom-right: p_i = i - 4
  on_each_target(call, [&] {
    for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(call.lse[i] == -kInf<TypeParam>, i < 4);
    expect_zeros(std::vector<TypeParam>(call.o.begin(), call.o.begin() + 8));
  });
}

TYPED_TEST(Corners, AllScoresMinusInfinityIgnoreNaNValues) {
  constexpr TypeParam inf = kInf<TypeParam>, nan = kNaN<TypeParam>;
  PackedCall<TypeParam> call = with_scores<TypeParam>({-inf, -inf}, {nan, inf}, 2);
  on_each_target(call, [&] {
    expect_zeros(call.o);
    expect_zeros(call.weights);
    expect_all(call.lse, -inf);
  });
}

TYPED_TEST(Corners, SinkOfARowWithoutKeys) {
  for (const bool masked : {true, false}) {  // or all scores -inf
    constexpr TypeParam inf = kInf<TypeParam>, nan = kNaN<TypeParam>;
    PackedCall<TypeParam> call = with_scores<TypeParam>({masked ? 1 : -inf, masked ? 2 : -inf}, {nan, 5});
    if (masked) call.mask = {0, 0};
    const TypeParam sinks[] = {TypeParam{0.75}};
    call.options.sinks = view<const TypeParam>(sinks, 1);
    on_each_target(call, [&] {
      expect_zeros(call.o);
      expect_zeros(call.weights);
      expect_all(call.lse, TypeParam{0.75});
    });
  }
}

TYPED_TEST(Corners, SinkOfInfinityOrNaNWithoutKeysIsNaN) {
  for (TypeParam bad : {kInf<TypeParam>, kNaN<TypeParam>}) {
    PackedCall<TypeParam> call = with_scores<TypeParam>({1, 2}, {3, 4});
    call.mask = {0, 0};
    call.options.sinks = view<const TypeParam>(&bad, 1);
    on_each_target(call, [&] {
      expect_all_nan(call.o);
      expect_all_nan(call.lse);
      expect_zeros(call.weights);  // no key takes part
    });
  }
}

TYPED_TEST(Corners, ZeroKeys) {
  PackedCall<TypeParam> call({.b = 2, .h_q = 3, .n_q = 4, .n_kv = 0, .d_k = 5, .d_v = 6});
  on_each_target(call, [&] {
    expect_zeros(call.o);
    expect_all(call.lse, -kInf<TypeParam>);
  });
  const TypeParam sinks[] = {1, 2, 3};
  call.options.sinks = view<const TypeParam>(sinks, 3);
  on_each_target(call, [&] {
    expect_zeros(call.o);
    for (int64_t row = 0; row < 24; ++row) EXPECT_EQ(call.lse[row], sinks[row / 4 % 3]);
  });
}

TYPED_TEST(Corners, ZeroKvLength) {
  PackedCall<TypeParam> call({.b = 2, .n_q = 4, .n_kv = 9, .d_v = 3});
  const int64_t lengths[] = {0, 9};
  call.options.kv_lengths = view<const int64_t>(lengths, 2);
  std::fill_n(call.k.begin(), call.k.size() / 2, kNaN<TypeParam>);
  std::fill_n(call.v.begin(), call.v.size() / 2, kNaN<TypeParam>);
  on_each_target(call, [&] {
    for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(call.o[i], 0);
    for (int64_t i = 12; i < 24; ++i) EXPECT_TRUE(call.o[i] != 0 && std::isfinite(call.o[i]));
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(call.lse[i] == -kInf<TypeParam>, i < 4);
  });
}

TYPED_TEST(Corners, EmptyAxes) {
  for (const AttentionShape& shape :
       {AttentionShape{.b = 0, .n_q = 3, .n_kv = 4}, AttentionShape{.h_q = 0, .n_q = 3},
        AttentionShape{.h_q = 0, .h_kv = 0, .n_q = 3}, AttentionShape{.n_q = 0, .n_kv = 4}}) {
    PackedCall<TypeParam> call(shape);
    on_each_target(call, [&] { EXPECT_TRUE(call.o.empty()); });
  }
}

TYPED_TEST(Corners, EmptyValuesStillGiveLse) {
  PackedCall<TypeParam> empty({.n_q = 20, .n_kv = 70, .d_k = 5, .d_v = 0}),
      full({.n_q = 20, .n_kv = 70, .d_k = 5, .d_v = 3});
  on_each_target(empty, [&] {
    ASSERT_TRUE(full.attend().ok());
    expect_bits(empty.lse, full.lse);
    expect_bits(empty.weights, full.weights);
  });
}

TYPED_TEST(Corners, RowsPastQLengthAreNeverRead) {
  constexpr TypeParam nan = kNaN<TypeParam>;
  PackedCall<TypeParam> call({.b = 2, .h_q = 2, .h_kv = 1, .n_q = 5, .n_kv = 6, .d_k = 3, .d_v = 2});
  const int32_t lengths[] = {3, 0};
  const TypeParam sinks[] = {0.5, nan};
  call.options.q_lengths = view<const int32_t>(lengths, 2);
  call.options.sinks = view<const TypeParam>(sinks, 2);
  call.bias.assign(2 * 2 * 5 * 6, 0);
  const auto past = [&](int64_t row) { return row % 5 >= lengths[row / 10]; };
  for (int64_t row = 0; row < 20; ++row) {
    if (!past(row)) continue;
    std::fill_n(call.q.begin() + row * 3, 3, nan);
    std::fill_n(call.bias.begin() + row * 6, 6, nan);
  }
  on_each_target(call, [&] {
    for (int64_t row = 0; row < 20; ++row) {
      if (past(row)) {
        EXPECT_EQ(call.lse[row], -kInf<TypeParam>) << row;
        for (int64_t c = 0; c < 2; ++c) EXPECT_TRUE(call.out(row, c) == 0 && !std::signbit(call.out(row, c))) << row;
        for (int64_t j = 0; j < 6; ++j) EXPECT_EQ(call.weights[row * 6 + j], 0);
      } else {
        EXPECT_EQ(std::isnan(call.lse[row]), row / 5 % 2 == 1) << row;  // head 1 has a sink of NaN
      }
    }
  });
}

// NaN and Inf.

/// NaN in keys and values that a row does not see, by each way of not seeing: the bits of that row stay.
TYPED_TEST(Corners, NonFiniteWhatTakesNoPartHasNoEffect) {
  using T = TypeParam;
  const int64_t n = 70;
  for (const char* way : {"mask", "bias", "causal", "window", "length"}) {
    for (T bad : {kNaN<T>, kInf<T>, -kInf<T>}) {
      SCOPED_TRACE(testing::Message() << way << ' ' << bad);
      PackedCall<T> clean({.n_q = n, .n_kv = n, .d_k = 3, .d_v = 5});
      const int64_t length = 65;
      std::vector<unsigned char> sees(n * n, 1);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const bool bit = way[0] == 'c'   ? j <= i
                           : way[0] == 'w' ? j >= i - 2 && j <= i + 1
                           : way[0] == 'l' ? j < length
                                           : (i * j) % 3 != 1;
          sees[i * n + j] = bit;
        }
      }
      if (way[0] == 'm') clean.mask = sees;
      if (way[0] == 'b') {
        clean.bias.assign(n * n, T{0});
        for (int64_t p = 0; p < n * n; ++p)
          if (!sees[p]) clean.bias[p] = -kInf<T>;
      }
      clean.options.causal = way[0] == 'c';
      if (way[0] == 'w') clean.options.window_left = 2, clean.options.window_right = 1;
      if (way[0] == 'l') clean.options.kv_lengths = view<const int64_t>(&length, 1);
      if (way[0] == 'l') clean.options.align = Align::top_left;
      for (int64_t key : {int64_t{0}, int64_t{67}}) {
        PackedCall<T> dirty = clean;
        for (int64_t c = 0; c < 3; ++c) dirty.k[key * 3 + c] = bad;
        for (int64_t c = 0; c < 5; ++c) dirty.value(key, c) = bad;
        on_each_target(clean, [&] {
          ASSERT_TRUE(dirty.attend().ok());
          for (int64_t i = 0; i < n; ++i) {
            if (sees[i * n + key]) continue;
            EXPECT_EQ(std::memcmp(&clean.lse[i], &dirty.lse[i], sizeof(T)), 0) << i;
            EXPECT_EQ(std::memcmp(&clean.out(i, 0), &dirty.out(i, 0), 5 * sizeof(T)), 0) << i;
            EXPECT_EQ(std::memcmp(&clean.weights[i * n], &dirty.weights[i * n], n * sizeof(T)), 0) << i;
          }
        });
      }
    }
  }
}

TYPED_TEST(Corners, NaNInAQueryReachesItsRowAlone) {
  PackedCall<TypeParam> call({.n_q = 20, .n_kv = 70, .d_k = 3, .d_v = 2});
  call.q[7 * 3 + 1] = kNaN<TypeParam>;
  on_each_target(call, [&] {
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(std::isnan(call.lse[i]), i == 7) << i;
      for (int64_t c = 0; c < 2; ++c) EXPECT_EQ(std::isnan(call.out(i, c)), i == 7) << i;
      EXPECT_EQ(std::isnan(call.weights[i * 70]), i == 7) << i;
    }
  });
}

/// At every place of a block: maxima and clamps of some processors swallow NaN by the order of their operands.
TYPED_TEST(Corners, NaNInAKeyReachesTheRowsThatSeeIt) {
  for (int64_t key = 0; key < 131; key += 1 + key / 9) {
    for (bool in_bias : {false, true}) {
      PackedCall<TypeParam> call({.n_q = 3, .n_kv = 131, .d_k = 2, .d_v = 2});
      call.options.causal = true;
      call.options.q_offset = key - 1;  // rows stand before the key, at it, and past it
      call.bias.assign(3 * 131, 0);
      if (in_bias) call.bias[key] = call.bias[131 + key] = call.bias[262 + key] = kNaN<TypeParam>;
      if (!in_bias) call.k[key * 2] = kNaN<TypeParam>;
      on_each_target(call, [&] {
        for (int64_t i = 0; i < 3; ++i) {
          EXPECT_EQ(std::isnan(call.lse[i]), i > 0) << "key " << key << " row " << i;
          for (int64_t c = 0; c < 2; ++c) EXPECT_EQ(std::isnan(call.out(i, c)), i > 0) << "key " << key << " row " << i;
        }
      });
    }
  }
}

TYPED_TEST(Corners, NaNInAValueReachesItsColumnAlone) {
  PackedCall<TypeParam> call({.n_q = 20, .n_kv = 70, .d_k = 3, .d_v = 5});
  call.options.causal = true;
  call.options.align = Align::top_left;
  call.value(9, 2) = kNaN<TypeParam>;
  on_each_target(call, [&] {
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_TRUE(std::isfinite(call.lse[i]));
      for (int64_t c = 0; c < 5; ++c) EXPECT_EQ(std::isnan(call.out(i, c)), i >= 9 && c == 2) << i << ' ' << c;
    }
  });
}

TYPED_TEST(Corners, NaNInAValueOfWeightZeroIsNotSwallowed) {
  PackedCall<TypeParam> call = with_scores<TypeParam>({0, -1e4}, {1, kNaN<TypeParam>});
  on_each_target(call, [&] {
    expect_all_nan(call.o);
    expect_all(call.lse, TypeParam{0});
    EXPECT_EQ(call.weights[1], 0);
  });
}

TYPED_TEST(Corners, InfinityInAValueReachesItsColumnAlone) {
  for (TypeParam inf : {kInf<TypeParam>, -kInf<TypeParam>}) {
    PackedCall<TypeParam> call = with_scores<TypeParam>({0, 1, -1e4}, {1, 2, inf, 4, 5, 6});
    on_each_target(call, [&] {
      EXPECT_EQ(call.o[0], inf);
      EXPECT_TRUE(std::isfinite(call.o[1]));
    });
    std::swap(call.v[2], call.v[4]);  // to the key of weight 0
    on_each_target(call, [&] {
      EXPECT_FALSE(std::isfinite(call.o[0]));
      EXPECT_TRUE(std::isfinite(call.o[1]));
    });
  }
}

TYPED_TEST(Corners, SinkOfMinusInfinityIsNoSink) {
  PackedCall<TypeParam> with({.h_q = 2, .h_kv = 1, .n_q = 9, .n_kv = 70}), without = with;
  const TypeParam sinks[] = {-kInf<TypeParam>, -kInf<TypeParam>};
  with.options.sinks = view<const TypeParam>(sinks, 2);
  expect_same(with, without);
}

TYPED_TEST(Corners, SinkOfInfinityOrNaNMakesItsHeadNaN) {
  for (TypeParam bad : {kInf<TypeParam>, kNaN<TypeParam>}) {
    PackedCall<TypeParam> call({.h_q = 3, .h_kv = 1, .n_q = 2, .n_kv = 70, .d_v = 2});
    const TypeParam sinks[] = {0, bad, 1};
    call.options.sinks = view<const TypeParam>(sinks, 3);
    on_each_target(call, [&] {
      for (int64_t row = 0; row < 6; ++row) {
        EXPECT_EQ(std::isnan(call.lse[row]), row / 2 == 1) << row;
        for (int64_t c = 0; c < 2; ++c) EXPECT_EQ(std::isnan(call.out(row, c)), row / 2 == 1) << row;
        EXPECT_EQ(std::isnan(call.weights[row * 70]), row / 2 == 1) << row;
      }
    });
  }
}

TYPED_TEST(Corners, ScoreOfPlusInfinityIsNaN) {
  for (const std::vector<TypeParam>& scores :
       {std::vector<TypeParam>{0, kInf<TypeParam>, 1}, std::vector<TypeParam>{kInf<TypeParam>, kInf<TypeParam>, 1}}) {
    PackedCall<TypeParam> call = with_scores<TypeParam>(scores, {1, 2, 3});
    on_each_target(call, [&] {
      expect_all_nan(call.o);
      expect_all_nan(call.lse);
    });
  }
}

}  // namespace
}  // namespace foveate::trial
