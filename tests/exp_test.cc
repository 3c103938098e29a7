// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Measures the kernels' exp and tanh against long double on every target this machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/exp_test.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "src/kernels/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// in and out: n elements, a multiple of 64.
template <class T>
void ExpAll(const T* in, T* out, size_t n) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(Exp(d, hn::LoadU(d, in + i)), d, out + i);
}
template <class T>
void TanhAll(const T* in, T* out, size_t n) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(Tanh(d, hn::LoadU(d, in + i)), d, out + i);
}

/// Whether this target fuses: (1 + u)^2 - round((1 + u)^2) is 0 where each product is rounded.
bool Fuses(float one_and_some) {
  const hn::ScalableTag<float> d;
  const auto x = hn::Set(d, one_and_some);
  return !hn::AllTrue(d, hn::Eq(hn::MulSub(x, x, hn::Mul(x, x)), hn::Zero(d)));
}

void ExpFloat(const float* in, float* out, size_t n) { ExpAll(in, out, n); }
void ExpDouble(const double* in, double* out, size_t n) { ExpAll(in, out, n); }
void TanhFloat(const float* in, float* out, size_t n) { TanhAll(in, out, n); }
void TanhDouble(const double* in, double* out, size_t n) { TanhAll(in, out, n); }

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::kernels {
HWY_EXPORT(Fuses);
HWY_EXPORT(ExpFloat);
HWY_EXPORT(ExpDouble);
HWY_EXPORT(TanhFloat);
HWY_EXPORT(TanhDouble);

namespace {

void exp_of(const float* in, float* out, size_t n) { HWY_DYNAMIC_DISPATCH(ExpFloat)(in, out, n); }
void exp_of(const double* in, double* out, size_t n) { HWY_DYNAMIC_DISPATCH(ExpDouble)(in, out, n); }
void tanh_of(const float* in, float* out, size_t n) { HWY_DYNAMIC_DISPATCH(TanhFloat)(in, out, n); }
void tanh_of(const double* in, double* out, size_t n) { HWY_DYNAMIC_DISPATCH(TanhDouble)(in, out, n); }

bool fuses() { return HWY_DYNAMIC_DISPATCH(Fuses)(1 + 0x1p-20f); }

template <class T>
std::vector<T> mapped(void (*function)(const T*, T*, size_t), std::vector<T> x) {
  const size_t n = x.size();
  x.resize((n + 63) / 64 * 64);
  std::vector<T> y(x.size());
  function(x.data(), y.data(), x.size());
  y.resize(n);
  return y;
}

/// Calls body on each target that this build has and this processor runs.
template <class Body>
void on_each_target(const Body& body) {
  for (int64_t left = hwy::SupportedTargets() & (HWY_TARGETS); left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// The distance of y from the exact value, in units of the last place of T at it, at the smallest normal number or above.
template <class T>
double error_in_ulps(T y, long double exact) {
  const int exponent = std::max(std::ilogb(exact), std::numeric_limits<T>::min_exponent - 1);
  const long double ulp = std::ldexp(1.0L, exponent + 1 - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(y) - exact) / ulp);
}

/// The numbers around x, `count` to each side.
template <class T>
void add_neighbours(std::vector<T>& to, T x, int count) {
  T up = x, down = x;
  to.push_back(x);
  for (int i = 0; i < count; ++i) {
    to.push_back(up = std::nextafter(up, std::numeric_limits<T>::infinity()));
    to.push_back(down = std::nextafter(down, -std::numeric_limits<T>::infinity()));
  }
}

/// Numbers from -largest to -0: of float32 every 997th; of float64 evenly by value and by bits; and closely around
/// 0, each multiple of ln 2 / 2 (where the reduction turns over, and results become subnormal and 0), and 0.5.
template <class T>
std::vector<T> negative_numbers(T largest) {
  std::vector<T> x;
  const Bits<T> end = std::bit_cast<Bits<T>>(largest);
  const Bits<T> step = sizeof(T) == 4 ? 997 : end / 1'000'003;
  for (Bits<T> bits = 0; bits <= end; bits += step) x.push_back(-std::bit_cast<T>(bits));
  std::mt19937_64 random(11);
  std::uniform_real_distribution<T> even(-largest, T(0));
  for (int i = 0; i < 500'000; ++i) x.push_back(even(random));
  for (int i = 0; static_cast<double>(i) * 0.34657359 < static_cast<double>(largest); ++i) {
    add_neighbours(x, static_cast<T>(-i * 0.346573590279972654708616060729L), 300);
  }
  add_neighbours(x, T(-0.5), 3000);
  add_neighbours(x, T(-0.25), 3000);
  x.erase(std::remove_if(x.begin(), x.end(), [](T value) { return !(value <= 0); }), x.end());
  return x;
}

template <class T>
class ExpTest : public testing::Test {
 public:
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  /// From where on exp is accurate, in the subnormal numbers by their step or 0; below which it is 0.
  static constexpr T kAccurateFrom = sizeof(T) == 4 ? T(-87.68) : T(-708.74);
  static constexpr T kZeroBelow = sizeof(T) == 4 ? T(-87.7) : T(-708.8);
  /// From where on it is a normal number.
  static constexpr T kNormalFrom = sizeof(T) == 4 ? T(-87.3) : T(-708.3);
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ExpTest, Types);

template <class T>
std::vector<T> exp(const std::vector<T>& x) {
  return mapped<T>(static_cast<void (*)(const T*, T*, size_t)>(exp_of), x);
}
template <class T>
std::vector<T> tanh(const std::vector<T>& x) {
  return mapped<T>(static_cast<void (*)(const T*, T*, size_t)>(tanh_of), x);
}

// One ulp; without a fused multiply-add a fifth more.
TYPED_TEST(ExpTest, ExpIsWithinOneUlp) {
  using T = TypeParam;
  const std::vector<T> x = negative_numbers(sizeof(T) == 4 ? T(104) : T(746));
  std::vector<long double> exact(x.size());
  std::transform(x.begin(), x.end(), exact.begin(), [](T value) { return std::exp(static_cast<long double>(value)); });
  on_each_target([&](const char* target) {
    const std::vector<T> y = exp(x);
    double worst = 0;
    T at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_FALSE(std::signbit(y[i])) << x[i];
      ASSERT_LE(y[i], T(1)) << x[i];
      ASSERT_TRUE(x[i] >= this->kZeroBelow || y[i] == T(0)) << x[i];
      ASSERT_TRUE(x[i] < this->kNormalFrom || std::isnormal(y[i])) << x[i];
      if (x[i] < this->kAccurateFrom) continue;
      if (y[i] == T(0) && exact[i] < std::numeric_limits<T>::min()) continue;
      const double error = error_in_ulps(y[i], exact[i]);
      if (error > worst) {
        worst = error;
        at = x[i];
      }
    }
    this->RecordProperty(target, std::to_string(worst));
    EXPECT_LE(worst, fuses() ? 1 : 1.2) << "exp(" << std::hexfloat << at << ')';
  });
}

TYPED_TEST(ExpTest, ExpAtTheCorners) {
  using T = TypeParam;
  on_each_target([&](const char*) {
    const std::vector<T> y = exp<T>({T(0), T(-0.0), -this->kInf, std::numeric_limits<T>::lowest(),
                                     -std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::min()});
    EXPECT_EQ(y[0], T(1));
    EXPECT_EQ(y[1], T(1));
    EXPECT_EQ(std::bit_cast<Bits<T>>(y[2]), Bits<T>(0));
    EXPECT_EQ(std::bit_cast<Bits<T>>(y[3]), Bits<T>(0));
    EXPECT_EQ(y[4], T(1));
    EXPECT_EQ(y[5], T(1));
  });
}

/// NaN of both signs, quiet and signalling, with payloads of one bit, some and all.
template <class T>
std::vector<T> nans() {
  constexpr Bits<T> kExponent = std::bit_cast<Bits<T>>(std::numeric_limits<T>::infinity());
  constexpr Bits<T> kSign = Bits<T>(1) << (8 * sizeof(T) - 1);
  constexpr Bits<T> kMantissa = (Bits<T>(1) << (std::numeric_limits<T>::digits - 1)) - 1;
  std::vector<T> all;
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    Bits<T> payload = static_cast<Bits<T>>(random()) & kMantissa;
    if (i < std::numeric_limits<T>::digits - 1) payload = Bits<T>(1) << i;
    if (i == 100 || payload == 0) payload = kMantissa;
    all.push_back(std::bit_cast<T>(kExponent | payload));
    all.push_back(std::bit_cast<T>(kExponent | payload | kSign));
  }
  return all;
}

TYPED_TEST(ExpTest, NaNStays) {
  const std::vector<TypeParam> x = nans<TypeParam>();
  on_each_target([&](const char*) {
    for (const TypeParam y : exp(x)) ASSERT_TRUE(std::isnan(y));
    for (const TypeParam y : tanh(x)) ASSERT_TRUE(std::isnan(y));
  });
}

TYPED_TEST(ExpTest, EveryLaneAlike) {
  // One number in each lane in turn among numbers of another kind.
  using T = TypeParam;
  on_each_target([&](const char*) {
    for (const T value : {T(-0.3), T(-20), T(-80), T(0)}) {
      const T e = exp<T>({value})[0], t = tanh<T>({value})[0];
      for (size_t lane = 0; lane < 64; ++lane) {
        std::vector<T> x(64, lane % 2 == 0 ? -this->kInf : T(-0.01));
        x[lane] = value;
        EXPECT_EQ(exp(x)[lane], e);
        EXPECT_EQ(tanh(x)[lane], t);
      }
    }
  });
}

TYPED_TEST(ExpTest, TanhIsWithinTwoAndAHalfUlpAndOdd) {
  using T = TypeParam;
  const std::vector<T> x = negative_numbers(T(50));
  std::vector<T> mirrored = x;
  for (T& value : mirrored) value = -value;
  std::vector<long double> exact(x.size());
  std::transform(x.begin(), x.end(), exact.begin(), [](T value) { return std::tanh(static_cast<long double>(value)); });
  on_each_target([&](const char* target) {
    const std::vector<T> y = tanh(x), of_mirrored = tanh(mirrored);
    double worst = 0;
    T at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(-y[i], of_mirrored[i]) << x[i];
      ASSERT_GE(y[i], T(-1)) << x[i];
      if (x[i] == 0) continue;
      const double error = error_in_ulps(y[i], exact[i]);
      if (error > worst) {
        worst = error;
        at = x[i];
      }
    }
    this->RecordProperty(target, std::to_string(worst));
    EXPECT_LE(worst, 2.5) << "tanh(" << std::hexfloat << at << ')';
  });
}

TYPED_TEST(ExpTest, TanhAtTheCorners) {
  using T = TypeParam;
  on_each_target([&](const char*) {
    constexpr T kTiny = std::numeric_limits<T>::denorm_min(), kLargest = std::numeric_limits<T>::max();
    const std::vector<T> x = {T(0), T(-0.0), this->kInf, -this->kInf, kLargest, -kLargest, kTiny, -kTiny};
    const std::vector<T> expected = {T(0), T(0),  T(1),  T(-1),
                                     T(1), T(-1), kTiny, -kTiny};  // a score's zero has no sign
    const std::vector<T> y = tanh(x);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(y[i], expected[i]) << "tanh(" << x[i] << ')';
    }
  });
}

}  // namespace
}  // namespace foveate::kernels
#endif  // HWY_ONCE
