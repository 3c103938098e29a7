// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Every corner that is defined, one named test each, for gradients, on every target of this machine: what empty rows, empty
// axes, sinks and scores far from zero give. backward_not_finite_test.cc has NaN and Inf.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "foveate/attention_backward.h"
#include "tests/packed_gradients.h"

namespace foveate::trial {
namespace {

template <class T>
class BackwardCorners : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BackwardCorners, Types);

// --- Rows without keys ---

/// The last of 20 rows sees nothing: NaN in its q, d_o and bias is as if it were not there.
TYPED_TEST(BackwardCorners, NoKeyTakesPart) {
  using T = TypeParam;
  for (const bool sinks : {false, true}) {
    PackedGradients<T> clean({.n_q = 20, .n_kv = 70, .d_k = 3, .d_v = 5});
    clean.mask.assign(20 * 70, 0);
    std::fill_n(clean.mask.begin(), 19 * 70, 1);
    clean.bias.assign(20 * 70, T{0.25});
    if (sinks) clean.sinks = {T{0.5}};
    PackedGradients<T> dirty = clean;
    std::fill_n(dirty.q.end() - 3, 3, kNaN<T>);
    std::fill_n(dirty.d_o.end() - 5, 5, kInf<T>);
    std::fill_n(dirty.bias.end() - 70, 70, kNaN<T>);
    on_each_target(dirty, [&] {
      ASSERT_TRUE(clean.differentiate().ok());
      expect_gradient_bits(dirty, clean);
      for (int64_t d = 0; d < 3; ++d) EXPECT_EQ(dirty.dq[19 * 3 + d], 0);
      for (int64_t j = 0; j < 70; ++j) EXPECT_EQ(dirty.dbias[19 * 70 + j], 0);
      for (const std::vector<T>* x : {&dirty.dq, &dirty.dk, &dirty.dv, &dirty.dbias, &dirty.dsinks}) {
        for (const T e : *x) ASSERT_TRUE(std::isfinite(e));
      }
    });
  }
}

TYPED_TEST(BackwardCorners, NoKeyTakesPartAnywhereAndNaNEverywhere) {
  using T = TypeParam;
  for (const bool sinks : {false, true}) {
    PackedGradients<T> call({.n_q = 5, .n_kv = 70, .d_k = 2, .d_v = 3});
    call.mask.assign(5 * 70, 0);
    call.bias.assign(5 * 70, kNaN<T>);
    for (std::vector<T>* x : {&call.q, &call.k, &call.v, &call.d_o}) std::fill(x->begin(), x->end(), kNaN<T>);
    if (sinks) call.sinks = {T{-2}};
    on_each_target(call, [&] { expect_no_gradients(call); });
  }
}

TYPED_TEST(BackwardCorners, QueriesBeforeTheFirstKeyAddNothing) {
  using T = TypeParam;
  PackedGradients<T> call({.n_q = 7, .n_kv = 3, .d_k = 2, .d_v = 2});
  call.options.causal = true;  // bottom-right: p_i = i - 4
  call.sinks = {T{1}};
  std::fill_n(call.q.begin(), 4 * 2, kNaN<T>);
  std::fill_n(call.d_o.begin(), 4 * 2, kNaN<T>);
  on_each_target(call, [&] {
    for (int64_t e = 0; e < 14; ++e) EXPECT_EQ(call.dq[e] == 0, e < 8) << e;
    for (const std::vector<T>* x : {&call.dq, &call.dk, &call.dv, &call.dsinks}) {
      for (const T e : *x) EXPECT_TRUE(std::isfinite(e));
    }
  });
}

TYPED_TEST(BackwardCorners, AllScoresMinusInfinityAddNothing) {
  using T = TypeParam;
  for (const bool sinks : {false, true}) {
    PackedGradients<T> call = of_scores<T>({-kInf<T>, -kInf<T>}, {kNaN<T>, kInf<T>}, 2);
    call.d_o = {kNaN<T>, 1};
    call.bias = {0, 0, 0, 0};
    if (sinks) call.sinks = {T{0.75}};
    on_each_target(call, [&] { expect_no_gradients(call); });
  }
}

/// A sink can take all the weight but for rounding, and be lse itself: the keys' gradients are 0 then, but NaN stays NaN.
TYPED_TEST(BackwardCorners, ASinkThatTakesAllTheWeight) {
  using T = TypeParam;
  PackedGradients<T> call = of_scores<T>({-1000, -2000}, {1, 2});
  call.sinks = {0};
  on_each_target(call, [&] { expect_no_gradients(call); });
  call.d_o = {kNaN<T>};
  on_each_target(call, [&] {
    expect_all_nan(call.dv);
    expect_all_nan(call.dk);
    expect_all_nan(call.dq);
    expect_all_nan(call.dsinks);
  });
}

/// However a row comes to see nothing, a sink that is NaN makes its own gradient NaN, and no other.
TYPED_TEST(BackwardCorners, ASinkOfNaNOrInfinityWithoutKeys) {
  using T = TypeParam;
  for (const T bad : {kNaN<T>, kInf<T>}) {
    for (const char* way : {"mask", "length", "causal"}) {
      SCOPED_TRACE(testing::Message() << way << ' ' << bad);
      PackedGradients<T> call({.h_q = 2, .h_kv = 1, .n_q = 3, .n_kv = 4, .d_k = 2, .d_v = 2});
      call.sinks = {T{1}, bad};
      const int64_t no_keys = 0;
      if (way[0] == 'm') call.mask.assign(2 * 3 * 4, 0);
      if (way[0] == 'l') call.options.kv_lengths = view(&no_keys, 1);
      if (way[0] == 'c') call.options.causal = true, call.options.q_offset = -3;
      on_each_target(call, [&] {
        for (const std::vector<T>* x : {&call.dq, &call.dk, &call.dv}) expect_zeros(*x);
        EXPECT_EQ(call.dsinks[0], 0);
        EXPECT_TRUE(std::isnan(call.dsinks[1])) << call.dsinks[1];
      });
    }
  }
}

TYPED_TEST(BackwardCorners, ZeroKeys) {
  using T = TypeParam;
  PackedGradients<T> call({.b = 2, .h_q = 3, .h_kv = 3, .n_q = 4, .n_kv = 0, .d_k = 5, .d_v = 6});
  const T bias[4] = {};  // [1, 1, 4, 1], over no keys
  call.options.bias = view(bias, 1, 1, 4, 1);
  call.sinks = {1, 2, 3};
  std::fill(call.d_o.begin(), call.d_o.end(), kNaN<T>);
  on_each_target(call, [&] { expect_no_gradients(call); });
}

TYPED_TEST(BackwardCorners, ZeroKvLength) {
  using T = TypeParam;
  PackedGradients<T> call({.b = 2, .n_q = 4, .n_kv = 9, .d_k = 2, .d_v = 3});
  const int64_t lengths[] = {0, 9};
  call.options.kv_lengths = view<const int64_t>(lengths, 2);
  for (std::vector<T>* x : {&call.q, &call.k, &call.v, &call.d_o}) std::fill_n(x->begin(), x->size() / 2, kNaN<T>);
  on_each_target(call, [&] {
    for (const std::vector<T>* x : {&call.dq, &call.dk, &call.dv}) {
      for (size_t e = 0; e < x->size(); ++e) {
        EXPECT_TRUE(std::isfinite((*x)[e]));
        EXPECT_EQ((*x)[e] == 0, e < x->size() / 2) << e;
      }
    }
  });
}

/// What is summed over nothing is 0, not left as it was.
TYPED_TEST(BackwardCorners, EmptyAxes) {
  using T = TypeParam;
  const T sinks[] = {1}, bias[4] = {};
  for (const AttentionShape& shape :
       {AttentionShape{.b = 0, .n_q = 3, .n_kv = 4}, AttentionShape{.b = 2, .h_q = 0, .h_kv = 1, .n_q = 3, .n_kv = 4},
        AttentionShape{.h_q = 0, .h_kv = 0, .n_q = 3, .n_kv = 4}, AttentionShape{.n_q = 0, .n_kv = 4}}) {
    PackedGradients<T> call(shape);
    call.options.sinks = view(sinks, shape.h_q);
    call.options.bias = view(bias, 1, 1, 1, 4);
    on_each_target(call, [&] {
      EXPECT_TRUE(call.dq.empty());
      EXPECT_EQ(call.dk.empty(), shape.b == 0 || shape.h_kv == 0);
      EXPECT_EQ(call.dbias.size(), 4u);
      expect_no_gradients(call);
    });
  }
}

/// Gradients of scores are 0 then, and still meet an Inf of q or k, under a softcap that makes a number of its scores.
TYPED_TEST(BackwardCorners, EmptyValues) {
  using T = TypeParam;
  PackedGradients<T> call({.n_q = 20, .n_kv = 70, .d_k = 5, .d_v = 0});
  call.bias.assign(20 * 70, T{0.5});
  call.sinks = {T{1}};
  call.options.softcap = 2;
  on_each_target(call, [&] {
    EXPECT_TRUE(call.dv.empty());
    expect_no_gradients(call);
  });
  PackedGradients<T> in_q = call, in_k = call;
  in_q.q[3 * 5 + 2] = kInf<T>;
  on_each_target(in_q, [&] {
    expect_nan_rows(in_q.dk, 1, [](int64_t e) { return e % 5 == 2; });
    expect_zeros(in_q.dq);
  });
  in_k.k[7 * 5 + 1] = kInf<T>;
  on_each_target(in_k, [&] {
    expect_nan_rows(in_k.dq, 1, [](int64_t e) { return e % 5 == 1; });
    expect_zeros(in_k.dk);
  });
}

TYPED_TEST(BackwardCorners, RowsPastQLengthAreNeverRead) {
  using T = TypeParam;
  PackedGradients<T> call({.b = 2, .h_q = 2, .h_kv = 1, .n_q = 5, .n_kv = 6, .d_k = 3, .d_v = 2});
  const int32_t lengths[] = {3, 0};
  call.options.q_lengths = view<const int32_t>(lengths, 2);
  call.sinks = {T{0.5}, T{-1}};
  call.bias.assign(2 * 2 * 5 * 6, 0);
  const auto past = [&](int64_t row) { return row % 5 >= lengths[row / 10]; };
  for (int64_t row = 0; row < 20; ++row) {
    if (!past(row)) continue;
    std::fill_n(call.q.begin() + row * 3, 3, kNaN<T>);
    std::fill_n(call.d_o.begin() + row * 2, 2, kNaN<T>);
    std::fill_n(call.bias.begin() + row * 6, 6, kNaN<T>);
  }
  on_each_target(call, [&] {
    for (int64_t e = 0; e < 20 * 3; ++e) EXPECT_EQ(call.dq[e] == 0, past(e / 3)) << e;
    for (int64_t e = 0; e < 20 * 6; ++e) EXPECT_EQ(call.dbias[e] == 0, past(e / 6)) << e;
    for (int64_t e = 0; e < 2 * 6 * 3; ++e) EXPECT_EQ(call.dk[e] == 0, e >= 6 * 3) << e;
    for (int64_t e = 0; e < 2 * 6 * 2; ++e) EXPECT_EQ(call.dv[e] == 0, e >= 6 * 2) << e;
    for (const T x : call.dsinks) EXPECT_TRUE(std::isfinite(x) && x != 0);
  });
  const int32_t none[] = {0, 0};
  call.options.q_lengths = view<const int32_t>(none, 2);
  call.sinks = {kNaN<T>, kInf<T>};
  for (std::vector<T>* x : {&call.q, &call.d_o, &call.bias}) std::fill(x->begin(), x->end(), kNaN<T>);
  on_each_target(call, [&] { expect_no_gradients(call); });
}

// --- Sinks ---

TYPED_TEST(BackwardCorners, SinkOfMinusInfinityIsNoSink) {
  using T = TypeParam;
  PackedGradients<T> with({.h_q = 2, .h_kv = 1, .n_q = 9, .n_kv = 70}), without = with;
  with.sinks = {-kInf<T>, -kInf<T>};
  with.d_o[3] = without.d_o[3] = kNaN<T>;
  on_each_target(with, [&] {
    ASSERT_TRUE(without.differentiate().ok());
    expect_zeros(with.dsinks);
    with.dsinks.clear();
    expect_gradient_bits(with, without);
  });
}

TYPED_TEST(BackwardCorners, SinkOfInfinityOrNaNMakesItsHeadNaN) {
  using T = TypeParam;
  for (const T bad : {kInf<T>, kNaN<T>}) {
    PackedGradients<T> call({.h_q = 4, .h_kv = 2, .n_q = 2, .n_kv = 70, .d_k = 2, .d_v = 2});
    call.sinks = {0, bad, 1, 2};
    call.bias.assign(4 * 2 * 70, 0);
    on_each_target(call, [&] {
      expect_nan_rows(call.dq, 2 * 2, [](int64_t head) { return head == 1; });
      expect_nan_rows(call.dbias, 2 * 70, [](int64_t head) { return head == 1; });
      expect_nan_rows(call.dk, 70 * 2, [](int64_t key_head) { return key_head == 0; });
      expect_nan_rows(call.dv, 70 * 2, [](int64_t key_head) { return key_head == 0; });
      expect_nan_rows(call.dsinks, 1, [](int64_t head) { return head == 1; });
    });
  }
}

/// The weights are 3/8 and 1/8, o is 5/2.
TYPED_TEST(BackwardCorners, OfASinkByPencil) {
  using T = TypeParam;
  PackedGradients<T> call = of_scores<T>({std::log(T{3}), 0}, {4, 8});
  call.bias = {0, 0};
  call.sinks = {std::log(T{4})};
  call.d_o = {2};
  on_each_target(call, [&] {
    expect_close(call.dbias[0], T{9} / 8);
    expect_close(call.dbias[1], T{11} / 8);
    expect_close(call.dsinks[0], T{-2.5});
    expect_close(call.dv[0], T{0.75});
    expect_close(call.dv[1], T{0.25});
  });
}

// --- Numbers ---

/// lse itself is too coarse there to tell two equal weights from two whole ones.
TYPED_TEST(BackwardCorners, ScoresFarFromZeroAreOrdinary) {
  using T = TypeParam;
  for (const T score : {T{-5e4}, T{-1e35f}, T{1e30f}, -kLargest<T> / 2}) {
    SCOPED_TRACE(score);
    PackedGradients<T> call = of_scores<T>({score, score}, {1, 3});
    call.bias = {0, 0};
    on_each_target(call, [&] {
      EXPECT_EQ(call.dbias, (std::vector<T>{T{-0.5}, T{0.5}}));
      EXPECT_EQ(call.dv, (std::vector<T>{T{0.5}, T{0.5}}));
    });
    PackedGradients<T> with_sink = call;
    with_sink.sinks = {score};
    with_sink.bias.clear();
    on_each_target(with_sink, [&] {
      for (const T x : with_sink.dv) expect_close(x, T{1} / 3);
      expect_close(with_sink.dsinks[0], -T{1} / 3 * (T{4} / 3));
    });
  }
}

/// The larger score has all the weight, the other none.
TYPED_TEST(BackwardCorners, ScoresAsFarApartAsNumbersGo) {
  using T = TypeParam;
  for (const T low : {T{-5e4}, T{-1e35f}, -kLargest<T>}) {
    PackedGradients<T> call = of_scores<T>({low, low / 2}, {1, 3});
    call.bias = {0, 0};
    on_each_target(call, [&] {
      expect_zeros(call.dbias);
      expect_zeros(call.dk);
      EXPECT_EQ(call.dv, (std::vector<T>{0, 1}));
    });
  }
}

TYPED_TEST(BackwardCorners, ScoresOfPlusInfinityAreNaN) {
  using T = TypeParam;
  PackedGradients<T> call = of_scores<T>({0, kInf<T>, 1}, {1, 2, 3});
  call.bias = {0, 0, 0};
  on_each_target(call, [&] {
    for (const std::vector<T>* x : {&call.dq, &call.dk, &call.dv, &call.dbias}) expect_all_nan(*x);
  });
}

TEST(BackwardCornersOfDouble, BiasesAndSinksPastTheRangeOfFloatSaturate) {
  const double biases[] = {-1e300, 1e300, -std::numeric_limits<double>::infinity()};
  PackedGradients<float> call = of_scores<float>({0, 0, 0}, {1, 2, kNaN<float>});
  call.options.bias = view<const double>(biases, 1, 1, 1, 3);
  on_each_target(call, [&] {
    EXPECT_EQ(call.dv, (std::vector<float>{0, 1, 0}));
    expect_zeros(call.dbias);
    expect_zeros(call.dk);
  });
  const double sinks[] = {1e39};
  PackedGradients<float> with_sink = of_scores<float>({0, 0}, {1, 2});
  with_sink.options.sinks = view<const double>(sinks, 1);
  on_each_target(with_sink, [&] { expect_no_gradients(with_sink); });
}

TYPED_TEST(BackwardCorners, ScaleOfZeroMovesNothing) {
  using T = TypeParam;
  PackedGradients<T> call = of_scores<T>({5, -3, 9, 100}, {1, 2, 3, 10});
  call.options.scale = 0;
  on_each_target(call, [&] {
    for (const T x : call.dq) EXPECT_EQ(x, 0);
    for (const T x : call.dk) EXPECT_EQ(x, 0);
    for (const T x : call.dv) expect_close(x, T{0.25});
  });
}

/// 1 - tanh^2(40) is 4 exp(-80), where 1 - tanh * tanh is 0; of scores of infinity it is 0.
TYPED_TEST(BackwardCorners, ASaturatedSoftcapKeepsItsSlope) {
  using T = TypeParam;
  PackedGradients<T> call = of_scores<T>({40, 0}, {1, 0});
  call.options.softcap = 1;
  const double a = 1 / (1 + std::exp(-1.0)), slope = 4 * std::exp(-80.0);
  on_each_target(call, [&] {
    EXPECT_NEAR(call.dk[0] / (a * (1 - a) * slope), 1, 200 * std::numeric_limits<T>::epsilon());
    EXPECT_NEAR(call.dq[0] / (a * (1 - a) * slope * 40), 1, 200 * std::numeric_limits<T>::epsilon());
  });
  call.k = {kInf<T>, -1};  // scores 1 and -tanh(1), a gradient of 0 times Inf
  call.bias = {0, 0};
  on_each_target(call, [&] {
    EXPECT_EQ(call.dk[0], 0);
    EXPECT_TRUE(std::isfinite(call.dbias[0]) && call.dbias[0] > 0);
    expect_all_nan(call.dq);
  });
}

// --- Two ways of asking for one thing ---

TYPED_TEST(BackwardCorners, AnAllTrueMaskIsNone) {
  using T = TypeParam;
  PackedGradients<T> plain({.h_q = 2, .h_kv = 1, .n_q = 50, .n_kv = 131, .d_k = 7, .d_v = 9});
  plain.sinks = {0, 1};
  for (const bool causal : {false, true}) {
    plain.options.causal = causal;
    PackedGradients<T> masked = plain;
    masked.mask.assign(2 * 50 * 131, 1);
    expect_same(plain, masked);
  }
}

TYPED_TEST(BackwardCorners, WindowOfAllBeforeIsCausal) {
  using T = TypeParam;
  PackedGradients<T> causal({.h_q = 2, .h_kv = 1, .n_q = 131, .n_kv = 131, .d_k = 7, .d_v = 9}), window = causal;
  causal.options.causal = true;
  window.options.window_left = 130;
  window.options.window_right = 0;
  expect_same(causal, window);
}

}  // namespace
}  // namespace foveate::trial
