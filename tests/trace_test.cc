// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where NaN and Inf came from: each kind planted by hand, and random ones held against the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "foveate/trace.h"
#include "tests/attention_case.h"
#include "tests/each_target.h"
#include "tests/edges.h"
#include "tests/error_bound.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

/// One head of 4 queries and 5 keys, d_k 3 and d_v 2, all ones.
struct Small {
  std::vector<float> q = std::vector<float>(12, 1.0F), k = std::vector<float>(15, 1.0F),
                     v = std::vector<float>(10, 1.0F), bias = std::vector<float>(20);
  float slope = 0, sink = -kInf;
  AttentionOptions options;

  NotFinite trace(bool with_v = true) {
    options.bias = view(static_cast<const float*>(bias.data()), 1, 1, 4, 5);
    options.alibi_slopes = view(static_cast<const float*>(&slope), 1);
    options.sinks = view(static_cast<const float*>(&sink), 1);
    NotFinite found;
    const Status status = foveate::trace(
        view(static_cast<const float*>(q.data()), 1, 1, 4, 3), view(static_cast<const float*>(k.data()), 1, 1, 5, 3),
        with_v ? view(static_cast<const float*>(v.data()), 1, 1, 5, 2) : ConstTensor{}, &found, options);
    EXPECT_TRUE(status.ok()) << status.message();
    return found;
  }
};

void expect(const NotFinite& found, const NotFinite& want) {
  EXPECT_EQ(found.rows, want.rows);
  EXPECT_EQ(found.row, want.row);
  EXPECT_EQ(found.origin, want.origin);
  EXPECT_EQ(found.overflow, want.overflow);
  EXPECT_EQ(found.key, want.key);
  EXPECT_EQ(found.component, want.component);
  EXPECT_EQ(found.outcome, want.outcome);
  if (std::isnan(want.value)) {
    EXPECT_TRUE(std::isnan(found.value)) << found.value;
  } else {
    EXPECT_EQ(found.value, want.value);
  }
}

TEST(Trace, FiniteHeadsAreWell) {
  Small small;
  small.options.causal = true;
  expect(small.trace(), {});
}

TEST(Trace, InputsOfScores) {
  Small small;
  small.q[2 * 3 + 1] = kNaN;
  expect(small.trace(), {1, 2, Origin::q, false, 0, 1, kNaN, Outcome::nan});
  small = {};
  small.k[3 * 3 + 2] = kInf;
  expect(small.trace(), {4, 0, Origin::k, false, 3, 2, kInf, Outcome::softmax});
  // In the future of all but the last two rows: p_i = i + 1.
  small.options.causal = true;
  expect(small.trace(), {2, 2, Origin::k, false, 3, 2, kInf, Outcome::softmax});
  // Meets its opposite.
  small.k[3 * 3 + 1] = -kInf;
  expect(small.trace(), {2, 2, Origin::k, false, 3, 1, -kInf, Outcome::opposite});
  small = {};
  small.q[3] = kInf;
  small.k[0] = 0;
  expect(small.trace(), {1, 1, Origin::q, false, 0, 0, kInf, Outcome::opposite});
}

TEST(Trace, OneKeyOfMinusInfDoesNoHarmAndAllDo) {
  Small small;
  small.k[4] = -kInf;
  expect(small.trace(), {});
  for (int64_t j = 0; j < 5; ++j) small.k[j * 3] = -kInf;
  expect(small.trace(), {4, 0, Origin::k, false, 0, 0, -kInf, Outcome::all_lowest});
  small.sink = 1;
  expect(small.trace(), {});
}

TEST(Trace, OverflowOfEachStep) {
  Small small;
  small.q[0] = 3e38F;
  small.k[3] = 2;
  expect(small.trace(), {1, 0, Origin::product, true, 1, 0, kInf, Outcome::softmax});
  small = {};
  for (int64_t d = 0; d < 3; ++d) small.q[3 + d] = 2e38F;
  expect(small.trace(), {1, 1, Origin::product, true, 0, 1, kInf, Outcome::softmax});
  small = {};
  small.q[3] = 2e38F;
  small.options.scale = 4;
  expect(small.trace(), {1, 1, Origin::scale, true, 0, -1, kInf, Outcome::softmax});
  small = {};
  small.q[3] = 3e38F;
  small.options.scale = 1;
  small.bias[1 * 5 + 2] = 3e38F;
  expect(small.trace(), {1, 1, Origin::score, true, 2, -1, kInf, Outcome::softmax});
  // Softcap makes it finite again.
  small = {};
  small.q[0] = 3e38F;
  small.k[3] = 2;
  small.options.softcap = 30;
  expect(small.trace(), {});
}

TEST(Trace, BiasAndSinks) {
  Small small;
  small.bias[3 * 5 + 4] = kNaN;
  expect(small.trace(), {1, 3, Origin::bias, false, 4, -1, kNaN, Outcome::nan});
  small.bias[3 * 5 + 4] = -kInf;  // takes no part
  expect(small.trace(), {});
  small.sink = kInf;
  expect(small.trace(), {4, 0, Origin::sink, false, -1, -1, kInf, Outcome::softmax});
}

TEST(Trace, Values) {
  Small small;
  small.v[3 * 2 + 1] = -kInf;
  expect(small.trace(), {4, 0, Origin::v, false, 3, 1, -kInf, Outcome::sum});
  expect(small.trace(false), {});
  small.options.causal = true;
  expect(small.trace(), {2, 2, Origin::v, false, 3, 1, -kInf, Outcome::sum});
}

/// o is float16, and its values are not.
TEST(Trace, OutputPastItsType) {
  const std::vector<Float16> q(2, Float16(1.0F));
  const std::vector<float> k(2, 1.0F), v = {1.0F, 3e5F};
  NotFinite found;
  ASSERT_TRUE(trace(view(q.data(), 1, 1, 2, 1), view(k.data(), 1, 1, 2, 1), view(v.data(), 1, 1, 2, 1), &found).ok());
  expect(found, {2, 0, Origin::output, true, -1, 0, kInf, Outcome::sum});
}

template <class T>
void check(const Spec& spec) {
  const Case<T> c(spec);
  const Expected<T> expected(c);
  const auto& p = c.problem;
  on_each_target([&] {
    SCOPED_TRACE(testing::Message() << name_of(dtype_of<T>()) << ' ' << spec);
    std::vector<NotFinite> heads(p.b * p.h_q + 1);
    const Status status = trace(c.q.view(), c.k.view(), c.v_view(), heads.data(), c.options);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t head = 0; head < p.b * p.h_q; ++head) {
      const int64_t b = head / p.h_q, h = head % p.h_q;
      int64_t rows = 0, first = -1;
      for (int64_t i = 0; i < reference::q_length(p, b); ++i) {
        const int64_t row = reference::query_row(p, b, h, i);
        const Judge<T> lse = expected.exact.lse[row];
        const bool lowest = std::isinf(lse) && lse < 0;
        bool finite = std::isfinite(lse) || (lowest && reference::pairs_of(p, b, h, i).empty());
        for (int64_t d = 0; d < p.d_v; ++d) finite &= std::isfinite(expected.exact.o[row * p.d_v + d]);
        rows += !finite;
        if (!finite && first < 0) first = i;
      }
      const NotFinite& found = heads[head];
      ASSERT_EQ(found.rows, rows) << "head " << head;
      ASSERT_EQ(found.row, first) << "head " << head;
      if (rows == 0) continue;
      ASSERT_FALSE(found.overflow);
      ASSERT_TRUE(found.key < 0 || reference::takes_part(p, b, h, first, found.key));
      Judge<T> input = 0;
      if (found.origin == Origin::q) input = p.q[reference::query_row(p, b, h, first) * p.d_k + found.component];
      if (found.origin == Origin::k) input = p.k[reference::key_row(p, b, h, found.key) * p.d_k + found.component];
      if (found.origin == Origin::v) input = p.v[reference::key_row(p, b, h, found.key) * p.d_v + found.component];
      if (found.origin == Origin::bias) input = p.bias[reference::pair_index(p, b, h, first, found.key)];
      if (found.origin == Origin::sink) input = p.sinks[h];
      ASSERT_FALSE(std::isfinite(input)) << "origin " << static_cast<int>(found.origin);
      ASSERT_EQ(std::isnan(input), std::isnan(found.value));
    }
  });
}

template <class T>
class TraceOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TraceOf, Types);

TYPED_TEST(TraceOf, RandomCallsWithNaNAndInf) {
  const int64_t seed = from_environment("FOVEATE_TEST_SEED", 1), cases = from_environment("FOVEATE_TEST_CASES", 200);
  for (int64_t i = 0; i < cases; ++i) {
    SCOPED_TRACE(testing::Message() << "FOVEATE_TEST_SEED=" << seed + i << " FOVEATE_TEST_CASES=1");
    Choices choices(static_cast<uint64_t>(seed + i));
    Spec spec = random_spec(choices, {.queries = 20, .keys = 60, .head_dim = 12, .multiply_adds = 100'000});
    spec.non_finite = 1 + i % 5;
    spec.dropout = 0;
    check<TypeParam>(spec);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TraceRejections, InOneLine) {
  const float q = 1;
  const ConstTensor one = view(&q, 1, 1, 1, 1);
  NotFinite found;
  EXPECT_STREQ(trace(one, one, one, nullptr).message(), "heads: nullptr; expected b x h_q records");
  ConstTensor wrong = one;
  wrong.shape[3] = 2;
  EXPECT_STREQ(trace(one, wrong, one, &found).message(), "k: head dim 2 does not equal q's 1");
  const std::atomic<bool> stop = true;
  EXPECT_EQ(trace(one, one, one, &found, {}, {.stop = &stop}).code(), StatusCode::cancelled);
}

}  // namespace
}  // namespace foveate::trial
