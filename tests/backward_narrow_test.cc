// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Gradients of float16 and bfloat16 as good as they can be expected to be: the largest error of each is at most three times
// that of the plain formula, with S, P, o, dP and dS stored in the type and sums in
// float32, plus one step of the type at the
// largest value.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "foveate/attention_backward.h"
#include "reference/attention_backward.h"
#include "tests/each_target.h"
#include "tests/narrow_problem.h"

namespace foveate::narrow {
namespace {

template <class X>
struct Gradients {
  std::vector<X> dq, dk, dv, dbias, dsinks;
};

/// dS of one row, stored: P (dP - d_o . o), with o stored too.
template <class E>
std::vector<float> plain_ds(const Problem& p, const PlainRow<E>& row, const double* d_o, int64_t b, int64_t h) {
  std::vector<float> da(static_cast<size_t>(p.n_kv), 0), o(static_cast<size_t>(p.d_v), 0);
  for (int64_t j = 0; j < p.n_kv; ++j) {
    if (row.weights[j] == 0) continue;
    const double* v = p.v.data() + reference::key_row(p, b, h, j) * p.d_v;
    for (int64_t d = 0; d < p.d_v; ++d) {
      da[j] += static_cast<float>(d_o[d]) * static_cast<float>(v[d]);
      o[d] += row.weights[j] * static_cast<float>(v[d]);
    }
  }
  float delta = 0;
  for (int64_t d = 0; d < p.d_v; ++d) delta += static_cast<float>(d_o[d]) * stored<E>(o[d]);
  for (int64_t j = 0; j < p.n_kv; ++j) {
    da[j] = row.weights[j] == 0 ? 0 : stored<E>(row.weights[j] * (stored<E>(da[j]) - delta));
  }
  return da;
}

template <class E>
Gradients<float> plain_formula(const Problem& p, const std::vector<double>& d_o) {
  Gradients<float> g;
  g.dq.assign(p.q.size(), 0);
  g.dk.assign(p.k.size(), 0);
  g.dv.assign(p.v.size(), 0);
  const auto scale = static_cast<float>(reference::scale_of(p));
  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t h = 0; h < p.h_q; ++h)
      for (int64_t i = 0; i < p.n_q; ++i) {
        const int64_t at = reference::query_row(p, b, h, i);
        const PlainRow<E> row = plain_row<E>(p, b, h, i);
        const std::vector<float> ds = plain_ds(p, row, d_o.data() + at * p.d_v, b, h);
        g.dbias.insert(g.dbias.end(), ds.begin(), ds.end());
        for (int64_t j = 0; j < p.n_kv; ++j) {
          if (row.weights[j] == 0) continue;
          const int64_t key = reference::key_row(p, b, h, j);
          const float slope = row.slopes[j] * ds[j];
          for (int64_t d = 0; d < p.d_k; ++d) {
            g.dq[at * p.d_k + d] += slope * static_cast<float>(p.k[key * p.d_k + d]);
            g.dk[key * p.d_k + d] += slope * static_cast<float>(p.q[at * p.d_k + d]);
          }
          for (int64_t d = 0; d < p.d_v; ++d) {
            g.dv[key * p.d_v + d] += row.weights[j] * static_cast<float>(d_o[at * p.d_v + d]);
          }
        }
      }
  for (float& x : g.dq) x = stored<E>(scale * x);
  for (float& x : g.dk) x = stored<E>(scale * x);
  for (float& x : g.dv) x = stored<E>(x);
  return g;
}

/// The engine's gradients on the active target, all of type E.
template <class E>
Status differentiate(const NarrowCall<E>& call, const std::vector<E>& d_o, Gradients<E>& g) {
  const Problem& p = call.problem;
  std::vector<E> o(d_o.size());
  std::vector<float> lse(static_cast<size_t>(p.b * p.h_q * p.n_q));
  const Tensor o_view = view(o.data(), p.b, p.h_q, p.n_q, p.d_v), lse_view = view(lse.data(), p.b, p.h_q, p.n_q, 1);
  if (Status status =
          attention(call.q_view(), call.k_view(), call.v_view(), {.o = o_view, .lse = lse_view}, call.options);
      !status.ok()) {
    return status;
  }
  g.dq.resize(p.q.size());
  g.dk.resize(p.k.size());
  g.dv.resize(p.v.size());
  g.dbias.resize(p.bias.size());
  AttentionGradients wanted = {.dq = view(g.dq.data(), p.b, p.h_q, p.n_q, p.d_k),
                               .dk = view(g.dk.data(), p.b, p.h_kv, p.n_kv, p.d_k),
                               .dv = view(g.dv.data(), p.b, p.h_kv, p.n_kv, p.d_v)};
  if (!p.bias.empty()) wanted.dbias = view(g.dbias.data(), p.b, p.h_q, p.n_q, p.n_kv);
  return attention_backward(call.q_view(), call.k_view(), call.v_view(), o_view, lse_view,
                            view<const E>(d_o.data(), p.b, p.h_q, p.n_q, p.d_v), wanted, call.options);
}

template <class E>
void expect_three_times_as_good(const NarrowCall<E>& call) {
  const Problem& p = call.problem;
  std::mt19937 random(6);
  std::vector<E> d_o;
  std::vector<double> d_o_numbers;
  fill(d_o, d_o_numbers, p.b * p.h_q * p.n_q, p.d_v, [&](int64_t, int64_t) { return normal(random); });
  const reference::Gradients<double> exact = reference::attention_backward(p, d_o_numbers);
  const Gradients<float> plain = plain_formula<E>(p, d_o_numbers);
  trial::on_each_target([&] {
    Gradients<E> got;
    const Status status = differentiate(call, d_o, got);
    ASSERT_TRUE(status.ok()) << status.message();
    const auto judge = [](const char* name, const std::vector<E>& x, const std::vector<double>& want,
                          const std::vector<float>& formula) {
      const double of_formula = largest_error(formula, want);
      if (!std::isfinite(of_formula)) return;  // numbers beyond the type
      const double error = largest_error(x, want), most = largest(want);
      EXPECT_LE(error, 3 * of_formula + step_at<E>(most))
          << name << ", plain formula: " << of_formula << ", largest value: " << most;
      EXPECT_FALSE(std::isnan(error)) << name;
    };
    judge("dq", got.dq, exact.dq, plain.dq);
    judge("dk", got.dk, exact.dk, plain.dk);
    judge("dv", got.dv, exact.dv, plain.dv);
    if (!p.bias.empty()) judge("dbias", got.dbias, exact.dbias, plain.dbias);
  });
}

template <class E>
class BackwardNarrow : public testing::Test {
 public:
  static void check(const Problem& sizes, const Content& content, const Options& options) {
    if (testing::Test::HasFailure()) return;  // one report is enough
    SCOPED_TRACE(testing::Message() << content.name << ", " << options.name << ": b " << sizes.b << " h " << sizes.h_q
                                    << '/' << sizes.h_kv << " n_q " << sizes.n_q << " n_kv " << sizes.n_kv << " d "
                                    << sizes.d_k << '/' << sizes.d_v);
    expect_three_times_as_good(NarrowCall<E>(sizes, content, options));
  }
};
using Types = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(BackwardNarrow, Types);

TYPED_TEST(BackwardNarrow, EachContentUnderEachOption) {
  for (const Content& content : kContents) {
    for (const Options& options : kOptions) {
      this->check({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 20, .n_kv = 150, .d_k = 64, .d_v = 64}, content, options);
      this->check({.h_q = 8, .h_kv = 1, .n_q = 1, .n_kv = 300, .d_k = 64, .d_v = 40}, content, options);
    }
  }
}

/// Sixteen rows and more: the rounding of o makes one error a row, of d_o . o, and of few rows chance decides which formula
/// rounds better.
TYPED_TEST(BackwardNarrow, Shapes) {
  for (const Content& content : {kContents[0], kContents[1], kContents[3]}) {
    for (const int64_t d : {1, 3, 17, 64, 128}) {
      for (const int64_t n : {1, 2, 17, 65, 200}) {
        for (const int64_t n_q : {1, 4, 53}) {
          this->check({.b = n_q < 16 ? 16 / n_q : 1, .n_q = n_q, .n_kv = n, .d_k = d, .d_v = 1 + (d * 5) % 129},
                      content, kOptions[n % 2]);
        }
      }
    }
  }
}

TYPED_TEST(BackwardNarrow, ManyRowsAndKeys) {
  for (const Content& content : kContents) {
    this->check({.n_q = 7, .n_kv = 1500, .d_k = 32, .d_v = 16}, content, kOptions[0]);
    this->check({.h_q = 2, .h_kv = 1, .n_q = 300, .n_kv = 70, .d_k = 16, .d_v = 17}, content, kOptions[6]);
  }
}

}  // namespace
}  // namespace foveate::narrow
