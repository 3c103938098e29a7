// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The corners of numbers, on every target of this machine: very negative scores, huge and subnormal values, extreme
// options, equal bits where two ways of asking mean one thing, and whatever floating-point mode the host has set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "foveate/attention.h"
#include "tests/packed_call.h"

namespace foveate::trial {
namespace {

template <class T>
class CornersNumbers : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CornersNumbers, Types);

/// Scores that far down are numbers like any other: rows have all of them, or the larger one wins.
TYPED_TEST(CornersNumbers, VeryNegativeScoresAreOrdinary) {
  using T = TypeParam;
  for (T low : {T{-5e4}, T{-1e35f}, -kLargest<T>}) {
    PackedCall<T> equal = with_scores<T>({low, low}, {1, 3});
    on_each_target(equal, [&] {
      expect_all(equal.o, T{2});
      expect_all(equal.weights, T{0.5});
      expect_close(equal.lse[0], low == T{-5e4} ? low + std::log(T{2}) : low);
    });
    PackedCall<T> apart = with_scores<T>({low, low / 2}, {1, 3});
    on_each_target(apart, [&] {
      expect_all(apart.o, T{3});
      expect_all(apart.lse, low / 2);
    });
  }
}

TYPED_TEST(CornersNumbers, TheSmallestBiasIsNoMask) {
  using T = TypeParam;
  PackedCall<T> call({.n_q = 5, .n_kv = 66, .d_v = 1});
  call.bias.assign(5 * 66, -kLargest<T>);
  std::iota(call.v.begin(), call.v.end(), T{1});
  on_each_target(call, [&] {
    expect_all(call.lse, -kLargest<T>);
    for (T o : call.o) expect_close(o, T{33.5});
  });
}

TEST(CornersOfDoubleBias, PastTheRangeOfFloatSaturates) {
  const double biases[] = {-1e300, -1e39, 1e300, -std::numeric_limits<double>::infinity()};
  PackedCall<float> call = with_scores<float>({0, 0, 0, 0}, {1, 2, 4, 8});
  call.options.bias = view<const double>(biases, 1, 1, 1, 4);
  on_each_target(call, [&] {
    expect_all(call.o, 4.0f);
    expect_all(call.lse, kLargest<float>);
  });
  call.mask = {1, 1, 0, 1};  // the two that are left saturate to one number; -inf still forbids
  on_each_target(call, [&] {
    expect_all(call.o, 1.5f);
    expect_all(call.lse, -kLargest<float>);
  });
}

/// The sum overflows, the mean does not.
TYPED_TEST(CornersNumbers, HugeValuesWhoseMeanIsFinite) {
  using T = TypeParam;
  constexpr T big = kLargest<T>;
  for (int64_t n_kv : {2, 64, 65, 300, 2049}) {
    PackedCall<T> call({.n_q = 3, .n_kv = n_kv, .d_v = 3});
    call.q.assign(call.q.size(), T{0});  // equal weights
    T balance = 0;
    for (int64_t j = 0; j < n_kv; ++j) {
      const T sign = j % 3 == 0 ? T{-1} : T{1};
      balance += sign;
      call.value(j, 0) = big / 2;
      call.value(j, 1) = sign * big;
      call.value(j, 2) = T{1};
    }
    on_each_target(call, [&] {
      for (int64_t i = 0; i < 3; ++i) {
        // Equal weights: relative errors of a mean whose terms are as large as big.
        const T eps = static_cast<T>(64) * std::numeric_limits<T>::epsilon();
        EXPECT_LE(std::abs(call.out(i, 0) / (big / 2) - 1), eps) << call.out(i, 0) << " n_kv " << n_kv;
        EXPECT_LE(std::abs(call.out(i, 1) / big - balance / static_cast<T>(n_kv)), eps)
            << call.out(i, 1) << " n_kv " << n_kv;
        EXPECT_LE(std::abs(call.out(i, 2) - 1), eps) << call.out(i, 2) << " n_kv " << n_kv;
      }
    });
  }
}

/// The mean of largest numbers is that number, and no rounding carries it to infinity.
TYPED_TEST(CornersNumbers, LargestValuesStayFinite) {
  using T = TypeParam;
  for (int64_t n_kv : {1, 3, 7, 66, 1100}) {
    PackedCall<T> call({.n_q = 30, .n_kv = n_kv, .d_v = 2});
    for (int64_t j = 0; j < n_kv; ++j) call.value(j, 0) = kLargest<T>, call.value(j, 1) = -kLargest<T>;
    on_each_target(call, [&] {
      for (int64_t i = 0; i < 30; ++i) {
        ASSERT_TRUE(std::isfinite(call.out(i, 0)) && std::isfinite(call.out(i, 1))) << n_kv << " keys, row " << i;
      }
    });
  }
}

TYPED_TEST(CornersNumbers, ZerosInOArePositive) {
  using T = TypeParam;
  PackedCall<T> call({.n_q = 20, .n_kv = 70, .d_v = 3});
  call.v.assign(call.v.size(), T{-0.0});
  on_each_target(call, [&] { expect_zeros(call.o); });
}

TYPED_TEST(CornersNumbers, SubnormalInputs) {
  using T = TypeParam;
  constexpr T least = std::numeric_limits<T>::denorm_min();
  PackedCall<T> values = with_scores<T>({0, 0}, {4 * least, 8 * least});
  on_each_target(values, [&] { expect_all(values.o, 6 * least); });
  PackedCall<T> query = with_scores<T>({std::log(T{3}) * T{0x1p100f}, 0}, {1, 0});
  query.q = {std::numeric_limits<T>::min() / 4};  // times the key times the scale: ln 3
  query.options.scale = std::ldexp(1.0, -100 + 2) / std::numeric_limits<T>::min();
  if (sizeof(T) == 8) {  // the scale of float64 is out of reach
    query.q = {std::numeric_limits<T>::min() / 4};
    query.k[0] = std::ldexp(std::log(T{3}), 1000);
    query.options.scale = 4 * std::ldexp(1.0, 22);
  }
  on_each_target(query, [&] {
    expect_close(query.o[0], T{0.75});
    expect_close(query.lse[0], std::log(T{4}));
  });
}

// Extreme options.

TYPED_TEST(CornersNumbers, ScaleOfZeroIsTheMean) {
  using T = TypeParam;
  PackedCall<T> call = with_scores<T>({5, -3, 9, 100}, {1, 2, 3, 10});
  call.options.scale = 0;
  on_each_target(call, [&] {
    expect_all(call.o, T{4});
    expect_all(call.weights, T{0.25});
    expect_close(call.lse[0], std::log(T{4}));
  });
}

TYPED_TEST(CornersNumbers, NegativeScaleTurnsTheOrder) {
  using T = TypeParam;
  PackedCall<T> call = with_scores<T>({500, -300, 200}, {1, 2, 3}),
                turned = with_scores<T>({-500, 300, -200}, {1, 2, 3});
  call.options.scale = -1;
  expect_same(call, turned);
}

/// Whatever does not overflow is exact: the query that is orthogonal to a key beats those that point away.
TYPED_TEST(CornersNumbers, HugeScale) {
  using T = TypeParam;
  PackedCall<T> call = with_scores<T>({0, -2, -1}, {7, 1, 2});
  call.options.scale = 1e300;
  on_each_target(call, [&] {
    expect_all(call.o, T{7});
    expect_all(call.lse, T{0});
    EXPECT_EQ(call.weights, (std::vector<T>{1, 0, 0}));
  });
  PackedCall<T> one = with_scores<T>({T{1e-30f}}, {7});
  one.options.scale = 1e300;
  on_each_target(one, [&] { expect_all(one.o, T{7}); });
}

TYPED_TEST(CornersNumbers, TinySoftcapFlattens) {
  using T = TypeParam;
  PackedCall<T> call = with_scores<T>({500, -300, 0, 1e-30f}, {1, 2, 3, 10});
  call.options.softcap = 1e-300;
  on_each_target(call, [&] {
    expect_all(call.o, T{4});
    expect_close(call.lse[0], std::log(T{4}));
  });
}

TYPED_TEST(CornersNumbers, HugeSoftcapIsNone) {
  using T = TypeParam;
  PackedCall<T> call = with_scores<T>({3, -2, 0, 0.5}, {1, 2, 3, 10}), plain = call;
  call.options.softcap = 1e300;
  on_each_target(call, [&] {
    ASSERT_TRUE(plain.attend().ok());
    expect_close(call.o[0], plain.o[0]);
    expect_close(call.lse[0], plain.lse[0]);
  });
}

TYPED_TEST(CornersNumbers, SoftcapOfInfiniteScores) {
  using T = TypeParam;
  PackedCall<T> call = with_scores<T>({kInf<T>, -kInf<T>}, {1, 3});
  call.options.softcap = 2;  // scores 2 and -2
  on_each_target(call, [&] { expect_close(call.o[0], (1 + 3 * std::exp(T{-4})) / (1 + std::exp(T{-4}))); });
}

// Two ways of asking for one thing.

TYPED_TEST(CornersNumbers, AnAllTrueMaskIsNone) {
  PackedCall<TypeParam> plain({.h_q = 2, .h_kv = 1, .n_q = 50, .n_kv = 131, .d_k = 7, .d_v = 9});
  for (bool causal : {false, true}) {
    plain.options.causal = causal;
    PackedCall<TypeParam> masked = plain;
    masked.mask.assign(2 * 50 * 131, 1);
    expect_same(plain, masked);
  }
}

TYPED_TEST(CornersNumbers, WindowOfAllBeforeIsCausal) {
  PackedCall<TypeParam> causal({.h_q = 2, .h_kv = 1, .n_q = 131, .n_kv = 131, .d_k = 7, .d_v = 9}), window = causal;
  causal.options.causal = true;
  window.options.window_left = 130;
  window.options.window_right = 0;
  expect_same(causal, window);
}

TYPED_TEST(CornersNumbers, UnlimitedWindowIsNone) {
  PackedCall<TypeParam> plain({.n_q = 20, .n_kv = 70}), window = plain;
  window.options.window_left = window.options.window_right = std::numeric_limits<int64_t>::max();
  expect_same(plain, window);
}

// The host's floating-point mode.
#if defined(__SSE__) || defined(__aarch64__)

#if defined(__SSE__)
constexpr uint64_t kUsual = 0x1f80, kFlushToZero = 0x8040, kUpward = 0x4000, kDivisionFlag = 0x0004;
constexpr uint64_t kTraps = kUsual & ~uint64_t{0x0680};

uint64_t mode() { return _mm_getcsr(); }
void set_mode(uint64_t mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
#else
// FPCR, and above it FPSR, which has the flags. Processors need not have the traps: then the bits stay 0.
constexpr uint64_t kUsual = 0, kFlushToZero = 1 << 24, kUpward = 1 << 22, kDivisionFlag = uint64_t{2} << 32;
constexpr uint64_t kTraps = 0x0700;

uint64_t mode() {
  uint64_t control, status;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("mrs %0, fpsr" : "=r"(status));
  return status << 32 | control;
}
void set_mode(uint64_t mode) {
  asm volatile("msr fpcr, %0" : : "r"(mode & 0xffff'ffff));
  asm volatile("msr fpsr, %0" : : "r"(mode >> 32));
}
#endif

class HostMode {
 public:
  explicit HostMode(uint64_t mode) : saved_(trial::mode()) { set_mode(mode); }
  ~HostMode() { set_mode(saved_); }
  HostMode(const HostMode&) = delete;
  HostMode& operator=(const HostMode&) = delete;

 private:
  uint64_t saved_;
};

/// The outputs of a call are those of the usual mode, and the mode, its flags included, is afterwards what it was.
template <class T>
void expect_mode_has_no_effect(PackedCall<T> call, uint64_t host_mode) {
  PackedCall<T> usual = call;
  on_each_target(usual, [&] {
    uint64_t before, after;
    Status status;
    {
      const HostMode host(host_mode);
      before = mode();
      status = call.attend();
      after = mode();
    }
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(after, before) << std::hex << after << ", not " << before;
    expect_bits(call.o, usual.o);
    expect_bits(call.lse, usual.lse);
    expect_bits(call.weights, usual.weights);
  });
}

/// Default scale, softcap, slopes, sinks and a bias in the other dtype: all that is converted on the way.
template <class T>
void expect_mode_has_no_effect(uint64_t mode) {
  using Other = std::conditional_t<sizeof(T) == 4, double, float>;
  PackedCall<T> plain({.h_q = 3, .h_kv = 1, .n_q = 20, .n_kv = 130, .d_k = 7, .d_v = 5});
  expect_mode_has_no_effect(plain, mode);
  PackedCall<T> all = plain;
  const std::vector<Other> slopes = {Other{0.1f}, Other{0.2f} / 3, Other{0.3f}},
                           sinks = {Other{1} / 3, Other{0.7f}, Other{-2} / 7};
  std::vector<Other> bias(130);
  for (size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<Other>(j) / 77;
  all.options.causal = true;
  all.options.softcap = 1.1;
  all.options.alibi_slopes = view(slopes.data(), 3);
  all.options.sinks = view(sinks.data(), 3);
  all.options.bias = view<const Other>(bias.data(), 1, 1, 1, 130);
  expect_mode_has_no_effect(all, mode);
  PackedCall<T> small = plain;
  for (T& x : small.v) x *= std::numeric_limits<T>::min() / 8;
  small.options.softcap = 1e-300;
  expect_mode_has_no_effect(small, mode);
}

TYPED_TEST(CornersNumbers, HostFlushesSubnormals) { expect_mode_has_no_effect<TypeParam>(kUsual | kFlushToZero); }
TYPED_TEST(CornersNumbers, HostRoundsUpward) { expect_mode_has_no_effect<TypeParam>(kUsual | kUpward); }
TYPED_TEST(CornersNumbers, HostHasFlagsRaised) { expect_mode_has_no_effect<TypeParam>(kUsual | kDivisionFlag); }

/// Division by zero, invalid and overflow trap in the host: none of ours may.
TYPED_TEST(CornersNumbers, HostTraps) { expect_mode_has_no_effect<TypeParam>(kTraps); }

#endif  // __SSE__ or __aarch64__

}  // namespace
}  // namespace foveate::trial
