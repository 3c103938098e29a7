// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Merging states: the formula in long double, pieces of keys against the whole, empty rows, NaN, layouts, refusals.
#include "foveate/state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/error_bound.h"
#include "tests/thread_executor.h"

namespace foveate {
namespace {

template <class T>
constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

/// A state that owns its arrays, packed.
template <class T>
struct Held {
  int64_t b, h, n, d_v;
  std::vector<T> o, lse;

  Held(int64_t batch, int64_t heads, int64_t rows, int64_t width)
      : b(batch),
        h(heads),
        n(rows),
        d_v(width),
        o(static_cast<size_t>(b * h * n * d_v)),
        lse(static_cast<size_t>(b * h * n)) {}
  Held(std::vector<T> values, T row_lse) : Held(1, 1, 1, static_cast<int64_t>(values.size())) {
    o = std::move(values);
    lse = {row_lse};
  }
  State state() const { return {view(o.data(), b, h, n, d_v), view(lse.data(), b, h, n, 1)}; }
  Tensor o_view() { return view(o.data(), b, h, n, d_v); }
  Tensor lse_view() { return view(lse.data(), b, h, n, 1); }
};

template <class T>
Held<T> merged(const Held<T>& a, const Held<T>& b, const Execution& execution = {}) {
  Held<T> result(a.b, a.h, a.n, a.d_v);
  const Status status = merge(a.state(), b.state(), result.o_view(), result.lse_view(), execution);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

template <class T>
class StateMerge : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(StateMerge, Types);

// A share is exp(x) / (exp(x) + 1) for x <= 0, computed in float64: the rounding of x costs |x| exp(x) u <= u / e of it,
// exp, sum and quotient 3 u more, products and sum 3 u. float32 adds its own rounding of the result.
TYPED_TEST(StateMerge, IsTheFormula) {
  using T = TypeParam;
  const unsigned seed = 7;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::normal_distribution<T> normal;
  for (const T spread : {T{0}, T{1}, T{30}, T{300}}) {
    Held<T> a(2, 3, 5, 7), b(2, 3, 5, 7);
    for (Held<T>* held : {&a, &b}) {
      for (T& x : held->o) x = normal(random);
      for (T& x : held->lse) x = spread * normal(random);
    }
    const Held<T> result = merged(a, b);
    for (size_t row = 0; row < a.lse.size(); ++row) {
      const long double la = a.lse[row], lb = b.lse[row], m = std::max(la, lb);
      const long double wa = std::exp(la - m), wb = std::exp(lb - m), lse = m + std::log(wa + wb);
      constexpr long double u = std::numeric_limits<double>::epsilon() / 2, eps = std::numeric_limits<T>::epsilon();
      EXPECT_LE(std::abs(result.lse[row] - lse), eps / 2 * std::abs(lse) + 8 * u * (1 + std::abs(lse)));
      for (size_t i = row * 7; i < (row + 1) * 7; ++i) {
        const long double exact = (wa * a.o[i] + wb * b.o[i]) / (wa + wb);
        const long double largest = std::max(std::abs(a.o[i]), std::abs(b.o[i]));
        EXPECT_LE(std::abs(result.o[i] - exact), eps / 2 * std::abs(exact) + 10 * u * largest);
      }
    }
  }
}

// o in a 16-bit type: once more rounded, to half a step of that type; lse is float32 all the same.
template <class Narrow>
class NarrowStateMerge : public testing::Test {};
using NarrowTypes = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(NarrowStateMerge, NarrowTypes);

TYPED_TEST(NarrowStateMerge, IsTheFormulaRounded) {
  const float step = std::is_same_v<TypeParam, Float16> ? 0x1p-10f : 0x1p-7f;
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  constexpr int64_t kRows = 40, kWidth = 3;
  std::vector<TypeParam> a(kRows * kWidth), b(a), o(a);
  std::vector<float> lse_a(kRows), lse_b(kRows), lse(kRows);
  for (auto* half : {&a, &b}) std::generate(half->begin(), half->end(), [&] { return TypeParam(normal(random)); });
  for (auto* row : {&lse_a, &lse_b}) std::generate(row->begin(), row->end(), [&] { return 3 * normal(random); });
  lse_a[7] = -kInf<float>;
  const Status status =
      merge({view<const TypeParam>(a.data(), 1, 1, kRows, kWidth), view<const float>(lse_a.data(), 1, 1, kRows, 1)},
            {view<const TypeParam>(b.data(), 1, 1, kRows, kWidth), view<const float>(lse_b.data(), 1, 1, kRows, 1)},
            view(o.data(), 1, 1, kRows, kWidth), view(lse.data(), 1, 1, kRows, 1));
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t row = 0; row < kRows; ++row) {
    const double wa = std::exp(static_cast<double>(lse_a[row])), wb = std::exp(static_cast<double>(lse_b[row]));
    EXPECT_NEAR(lse[row], std::log(wa + wb), 1e-6 * (1 + std::abs(lse[row])));
    for (size_t i = row * kWidth; i < (row + 1) * kWidth; ++i) {
      const double exact = (wa * static_cast<float>(a[i]) + wb * static_cast<float>(b[i])) / (wa + wb);
      EXPECT_NEAR(static_cast<float>(o[i]), exact, 0.51 * step * std::abs(exact) + 1e-6);
      if (row == 7) {
        EXPECT_EQ(o[i].bits, b[i].bits);
      }
    }
  }
}

/// The mean of -least and 0 rounds to -0, which is stored as +0.
TYPED_TEST(NarrowStateMerge, ZerosAreStoredPositive) {
  TypeParam least, nothing, o(1.0f);
  least.bits = 0x8001;
  const float lse = 0;
  const ConstTensor row = view(&lse, 1, 1, 1, 1);
  const auto state = [&](const TypeParam& x) { return State{view(&x, 1, 1, 1, 1), row}; };
  ASSERT_TRUE(merge(state(least), state(nothing), view(&o, 1, 1, 1, 1), {}).ok());
  EXPECT_EQ(o.bits, 0);
}

TYPED_TEST(StateMerge, AnEmptyRowLeavesTheOtherToTheBitWhateverItHolds) {
  using T = TypeParam;
  const Held<T> empty({kNaN<T>, kInf<T>, T{5}}, -kInf<T>), full({T{1} / 3, T{-0.0}, kInf<T>}, T{-2000});
  for (const Held<T>& result : {merged(empty, full), merged(full, empty)}) {
    EXPECT_EQ(result.o[0], T{1} / 3);
    EXPECT_EQ(result.o[1], T{0});
    EXPECT_FALSE(std::signbit(result.o[1]));
    EXPECT_EQ(result.o[2], kInf<T>);
    EXPECT_EQ(result.lse[0], T{-2000});
  }
  const Held<T> nothing = merged(empty, empty);
  EXPECT_EQ(nothing.o, std::vector<T>(3, T{0}));
  EXPECT_EQ(nothing.lse[0], -kInf<T>);
}

TYPED_TEST(StateMerge, NaNStaysWhereItIs) {
  using T = TypeParam;
  const Held<T> good({T{1}, T{2}}, T{0}), bad({kNaN<T>, T{4}}, T{0});
  const Held<T> result = merged(good, bad);
  EXPECT_TRUE(std::isnan(result.o[0]));
  EXPECT_EQ(result.o[1], T{3});
  for (const T lse : {kNaN<T>, kInf<T>}) {
    const Held<T> row = merged(good, Held<T>({T{1}, T{1}}, lse));
    EXPECT_TRUE(std::isnan(row.o[0]) && std::isnan(row.o[1]) && std::isnan(row.lse[0])) << lse;
    const Held<T> empty({T{5}, T{6}}, -kInf<T>), strange({T{1}, T{1}}, lse);
    for (const Held<T>& beside : {merged(empty, strange), merged(strange, empty)}) {
      EXPECT_TRUE(std::isnan(beside.o[0]) && std::isnan(beside.o[1]) && std::isnan(beside.lse[0])) << lse;
    }
  }
}

TYPED_TEST(StateMerge, TheLargestNumbersDoNotOverflow) {
  using T = TypeParam;
  constexpr T huge = std::numeric_limits<T>::max();
  const Held<T> result = merged(Held<T>({huge, -huge}, T{3}), Held<T>({huge, huge}, T{3}));
  EXPECT_EQ(result.o[0], huge);
  EXPECT_EQ(result.o[1], T{0});
}

/// The largest error of attention over n keys of head dim d_k whose scores are sums of magnitude `scores` at most, by
/// docs/numerics.md, relative to the largest value.
template <class T>
T bound(int64_t n, int64_t d_k, T scores) {
  const auto e = static_cast<T>(d_k + 16) * (scores + 8);
  return std::numeric_limits<T>::epsilon() * (trial::summation_constant<T>(n) + 2 * e);
}

/// The keys cut at `cuts`, each piece on its own, merged in order, against the call as a whole.
template <class T>
void expect_pieces_equal_whole(const Features& features, const std::vector<int64_t>& cuts) {
  const AttentionShape shape{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 9, .n_kv = 300, .d_k = 16, .d_v = 5};
  Problem<T> problem(shape, features);
  const auto attend = [&](const Call& call) {
    Held<T> held(shape.b, shape.h_q, shape.n_q, shape.d_v);
    const Status status = attention(call.q, call.k, call.v, {.o = held.o_view(), .lse = held.lse_view()}, call.options);
    EXPECT_TRUE(status.ok()) << status.message();
    return held;
  };
  const Held<T> whole = attend(problem.call);
  Held<T> sum(shape.b, shape.h_q, shape.n_q, shape.d_v);
  sum.lse.assign(sum.lse.size(), -kInf<T>);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    Call piece = problem.call.keys(cuts[i], cuts[i + 1] - cuts[i]);
    piece.options.q_offset = shape.n_kv - shape.n_q;
    piece.options.kv_offset = cuts[i];
    if (i > 0) piece.options.sinks = {};  // a sink belongs to one piece
    sum = merged(sum, attend(piece));
  }
  T scores = 0, values = 0;
  for (const T x : problem.q) scores = std::max(scores, std::abs(x));
  for (const T x : problem.k) values = std::max(values, std::abs(x));
  scores *= values * std::sqrt(static_cast<T>(shape.d_k));
  values = 0;
  for (const T x : problem.v) values = std::max(values, std::abs(x));
  const T allowed = 4 * bound<T>(shape.n_kv, shape.d_k, scores);
  for (size_t i = 0; i < whole.o.size(); ++i) ASSERT_NEAR(sum.o[i], whole.o[i], allowed * values) << features.name;
  for (size_t i = 0; i < whole.lse.size(); ++i) {
    if (std::isinf(whole.lse[i])) {
      ASSERT_EQ(sum.lse[i], whole.lse[i]);
    } else {
      ASSERT_NEAR(sum.lse[i], whole.lse[i], allowed * (1 + std::abs(whole.lse[i]))) << features.name;
    }
  }
}

TYPED_TEST(StateMerge, PiecesOfKeysMakeTheWhole) {
  trial::on_each_target([] {
    for (const Features& features : kFeatures) {
      expect_pieces_equal_whole<TypeParam>(features, {0, 300});
      expect_pieces_equal_whole<TypeParam>(features, {0, 1, 64, 64, 127, 299, 300});
    }
  });
}

TYPED_TEST(StateMerge, LayoutThreadsAndOmittedOutputsDoNotMatter) {
  using T = TypeParam;
  std::mt19937 random(3);
  std::normal_distribution<T> normal;
  Held<T> a(2, 3, 400, 4), b(2, 3, 400, 4);
  for (Held<T>* held : {&a, &b}) {
    for (T& x : held->o) x = normal(random);
    for (T& x : held->lse) x = normal(random);
  }
  const Held<T> serial = merged(a, b);
  ThreadExecutor executor(3);
  const Held<T> parallel = merged(a, b, {.executor = &executor});
  EXPECT_EQ(parallel.o, serial.o);
  EXPECT_EQ(parallel.lse, serial.lse);

  std::vector<T> turned(serial.o.size());  // [b, n, h, d]
  ASSERT_TRUE(merge(a.state(), b.state(), view(turned.data(), 2, 3, 400, 4, Layout::bnhd), {}).ok());
  EXPECT_EQ(turned[4 * (3 * 17 + 2)], serial.o[4 * (400 * 2 + 17)]);
  std::vector<T> lse(serial.lse.size());
  ASSERT_TRUE(merge(a.state(), b.state(), {}, view(lse.data(), 2, 3, 400, 1)).ok());
  EXPECT_EQ(lse, serial.lse);
}

TEST(StateMergeErrors, NameTheArgument) {
  Held<float> a(1, 2, 3, 4), b(1, 2, 3, 4), out(1, 2, 3, 4);
  Held<float> other(1, 2, 3, 5);
  Held<double> wide(1, 2, 3, 4);
  const auto said = [](const State& x, const State& y, const Tensor& o, const Tensor& lse) {
    const Status status = merge(x, y, o, lse);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return std::string(status.message());
  };
  EXPECT_EQ(said(a.state(), other.state(), out.o_view(), {}), "b.o: shape [1, 2, 3, 5]; expected [1, 2, 3, 4]");
  EXPECT_EQ(said(a.state(), wide.state(), out.o_view(), {}), "b.o: float64 does not equal a.o's float32");
  EXPECT_EQ(said({a.state().o, {}}, b.state(), out.o_view(), {}), "a.lse: missing; expected float32 as a.o");
  EXPECT_EQ(said(a.state(), b.state(), {}, {}), "outputs: none given; expected o or lse");
  EXPECT_EQ(said(a.state(), b.state(), out.lse_view(), {}), "o: shape [1, 2, 3, 1]; expected [1, 2, 3, 4]");
  EXPECT_EQ(said(a.state(), b.state(), a.o_view(), {}),
            "o: overlaps the input a.o in memory; give it memory of its own");
  std::vector<Float16> half(2 * 3 * 4);
  const ConstTensor narrow = view<const Float16>(half.data(), 1, 2, 3, 4);
  EXPECT_EQ(said({narrow, a.state().lse}, b.state(), out.o_view(), {}), "b.o: float32 does not equal a.o's float16");
  EXPECT_EQ(said({narrow, {}}, b.state(), out.o_view(), {}), "a.lse: missing; expected float32 as a.o");
  EXPECT_EQ(said({narrow, a.state().lse}, {narrow, b.state().lse}, out.o_view(), {}),
            "o: float32 does not equal a.o's float16");
  EXPECT_EQ(said({}, b.state(), out.o_view(), {}), "a.o: missing; expected an array of a float type");
}

TEST(StateMergeErrors, AStopFlagStops) {
  Held<float> a(1, 1, 1, 1), b(1, 1, 1, 1), out(1, 1, 1, 1);
  const std::atomic<bool> stop = true;
  EXPECT_EQ(merge(a.state(), b.state(), out.o_view(), out.lse_view(), {.stop = &stop}).code(), StatusCode::cancelled);
}

}  // namespace
}  // namespace foveate
