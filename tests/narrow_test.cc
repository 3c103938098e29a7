// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// float16 and bfloat16 as good as they can be expected to be: the largest error of o is at most twice that of the plain
// formula, with scores and weights stored in the type and sums in float32, plus one step of the type at the largest output.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "foveate/attention.h"
#include "reference/attention.h"
#include "tests/each_target.h"
#include "tests/narrow_problem.h"

namespace foveate::narrow {
namespace {

template <class E>
std::vector<float> plain_formula(const Problem& p) {
  std::vector<float> o;
  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t h = 0; h < p.h_q; ++h)
      for (int64_t i = 0; i < p.n_q; ++i) {
        const PlainRow<E> row = plain_row<E>(p, b, h, i);
        std::vector<float> sum(static_cast<size_t>(p.d_v), 0);
        for (int64_t j = 0; j < p.n_kv; ++j) {
          if (row.weights[j] == 0) continue;
          const double* v = p.v.data() + reference::key_row(p, b, h, j) * p.d_v;
          for (int64_t d = 0; d < p.d_v; ++d) sum[d] += row.weights[j] * static_cast<float>(v[d]);
        }
        for (const float x : sum) o.push_back(stored<E>(x));
      }
  return o;
}

template <class E>
void expect_twice_as_good(const NarrowCall<E>& call) {
  const Problem& p = call.problem;
  const std::vector<double> exact = reference::attention(p).o;
  const double plain = largest_error(plain_formula<E>(p), exact);
  if (std::isnan(plain)) return;  // scores beyond the type
  const double allowed = 2 * plain + step_at<E>(largest(exact));
  trial::on_each_target([&] {
    std::vector<E> o(exact.size());
    const Status status = attention(call.q_view(), call.k_view(), call.v_view(),
                                    {.o = view(o.data(), p.b, p.h_q, p.n_q, p.d_v)}, call.options);
    ASSERT_TRUE(status.ok()) << status.message();
    const double error = largest_error(o, exact);
    EXPECT_LE(error, allowed) << "plain formula: " << plain << ", largest output: " << largest(exact);
    EXPECT_FALSE(std::isnan(error));
  });
}

template <class E>
class Narrow : public testing::Test {
 public:
  static void check(const Problem& sizes, const Content& content, const Options& options) {
    if (testing::Test::HasFailure()) return;  // one report is enough
    SCOPED_TRACE(testing::Message() << content.name << ", " << options.name << ": b " << sizes.b << " h " << sizes.h_q
                                    << '/' << sizes.h_kv << " n_q " << sizes.n_q << " n_kv " << sizes.n_kv << " d "
                                    << sizes.d_k << '/' << sizes.d_v);
    expect_twice_as_good(NarrowCall<E>(sizes, content, options));
  }
};
using Types = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Narrow, Types);

TYPED_TEST(Narrow, EachContentUnderEachOption) {
  for (const Content& content : kContents) {
    for (const Options& options : kOptions) {
      this->check({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 20, .n_kv = 150, .d_k = 64, .d_v = 64}, content, options);
      this->check({.h_q = 8, .h_kv = 1, .n_q = 1, .n_kv = 700, .d_k = 64, .d_v = 40}, content, options);
    }
  }
}

TYPED_TEST(Narrow, Shapes) {
  for (const Content& content : {kContents[0], kContents[1], kContents[3]}) {
    for (const int64_t d : {1, 2, 3, 17, 40, 64, 80, 128, 256}) {
      for (const int64_t n : {1, 2, 3, 17, 64, 65, 300}) {
        for (const int64_t n_q : {1, 4, 33}) {
          this->check({.n_q = n_q, .n_kv = n, .d_k = d, .d_v = 1 + (d * 5) % 129}, content, kOptions[n % 2]);
        }
      }
    }
  }
}

TYPED_TEST(Narrow, LongRows) {
  for (const Content& content : kContents) {
    this->check({.h_q = 3, .n_q = 7, .n_kv = 3000, .d_k = 64, .d_v = 32}, content, kOptions[0]);
    this->check({.n_q = 50, .n_kv = 1500, .d_k = 40, .d_v = 17}, content, kOptions[6]);
  }
}

}  // namespace
}  // namespace foveate::narrow
