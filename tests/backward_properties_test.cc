// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What holds of gradients whatever the numbers are: properties of random calls, shrunk where one fails, as in
// properties_test.cc.
//
// Tolerances. Each property is an equation between exact gradients. The engine's differ from those by at most the
// bounds of gradient_bound.h, sums of what every rounding can do; so a sum of them that ought to be some number is off
// by at most the same sum of the bounds, each times the absolute value of what stands before its gradient. Sums of this
// test's own are made in a wider type, whose roundings are a 2048th of these and less.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "foveate/status.h"
#include "reference/arrays.h"
#include "tests/any_call.h"
#include "tests/each_target.h"
#include "tests/gradient_bound.h"
#include "tests/gradient_case.h"
#include "tests/packed_call.h"
#include "tests/packed_gradients.h"

namespace foveate::trial {
namespace {

/// A backward pass over a random call. d_o has few bits, so that sums of a few are exact.
template <class T>
PackedGradients<T> pass_of(const PackedCall<T>& call) {
  PackedGradients<T> pass(call);
  std::mt19937_64 random(static_cast<uint64_t>(any_below(1 << 20)));
  for (T& x : pass.d_o) x = static_cast<T>(static_cast<int64_t>(random() % 512) - 256) / 64;
  return pass;
}

template <class T>
PackedGradients<T> any_pass() {
  PackedGradients<T> pass = pass_of(any_call_with_positions<T>());
  if (any_below(3) == 0) {
    pass.options.dropout = 0.25;
    pass.options.seed = static_cast<uint64_t>(any_below(1 << 20));
  }
  return pass;
}

/// The same with other inputs.
template <class T>
PackedGradients<T> with_call(const PackedGradients<T>& pass, const PackedCall<T>& call) {
  PackedGradients<T> to(call);
  to.d_o = pass.d_o;
  return to;
}

template <class T>
void differentiate(PackedGradients<T>& pass) {
  const Status status = pass.differentiate();
  if (!status.ok()) RC_FAIL(status.message());
}

/// The exact gradients of a pass and the bounds of the engine's.
template <class T>
class Exact {
 public:
  using Real = Judge<T>;
  using Bounds = typename ExpectedGradients<T>::Bounds;

  /// `bias`: the axes that its bias is not repeated along. The bounds of dbias are shaped so.
  explicit Exact(const PackedGradients<T>& pass, const Whole& bias = {true, true, true, true})
      : case_({.b = pass.shape.b,
               .h_q = pass.shape.h_q,
               .h_kv = pass.shape.h_kv,
               .n_q = pass.shape.n_q,
               .n_kv = pass.shape.n_kv,
               .d_k = pass.shape.d_k,
               .d_v = pass.shape.d_v,
               .bias = bias,
               .sinks = !pass.sinks.empty(),
               .poison = false},
              {}),
        expected_(restated(pass)) {}
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;

  const reference::Gradients<Real>& gradients() const { return expected_.exact; }
  const Bounds& bounds() const { return expected_.bounds(); }

 private:
  /// The case, its numbers replaced by those of the pass.
  const GradientCase<T>& restated(const PackedGradients<T>& pass) {
    case_.forward.problem = problem_of<T>(pass);
    case_.d_o_numbers = reference::widened<Real>(pass.d_o);
    return case_;
  }

  GradientCase<T> case_;
  const ExpectedGradients<T> expected_;
};

template <class T, class Real>
void assert_all_near(const std::vector<T>& got, const std::vector<Real>& want, const std::vector<Real>& bounds) {
  RC_ASSERT(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) assert_near(got[i], want[i], bounds[i]);
}

/// Sum of x over [first, first + n stride), `stride` apart.
template <class Real, class T>
Real sum_of(const std::vector<T>& x, int64_t first, int64_t n, int64_t stride = 1) {
  Real sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<Real>(x[first + i * stride]);
  return sum;
}

// --- Keys ---

template <class T>
void permuted_keys_have_permuted_gradients() {
  const PackedGradients<T> pass = pass_of(any_call<T>());
  const Exact<T> exact(pass);
  const AttentionShape& s = pass.shape;
  std::vector<int64_t> order(static_cast<size_t>(s.n_kv));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(static_cast<uint64_t>(any_below(1 << 20))));
  PackedGradients<T> permuted = with_call(pass, with_keys<T>(pass, order));
  const auto& g = exact.gradients();
  const auto& off = exact.bounds();
  on_each_target([&] {
    differentiate(permuted);
    assert_all_near(permuted.dq, g.dq, off.dq);
    assert_all_near(permuted.dk, keys(g.dk, s.n_kv, s.d_k, order), keys(off.dk, s.n_kv, s.d_k, order));
    assert_all_near(permuted.dv, keys(g.dv, s.n_kv, s.d_v, order), keys(off.dv, s.n_kv, s.d_v, order));
    assert_all_near(permuted.dbias, columns(g.dbias, s.n_kv, order), columns(off.dbias, s.n_kv, order));
    if (!permuted.dsinks.empty()) assert_all_near(permuted.dsinks, g.dsinks, off.dsinks);
  });
}

/// dk and dv of a key head are the sums of those of its copies, one for each query head; all else is the same.
template <class T>
void grouped_heads_add_up_repeated_heads() {
  using Real = Judge<T>;
  PackedGradients<T> grouped = any_pass<T>();
  PackedGradients<T> repeated = with_call(grouped, with_repeated_heads<T>(grouped));
  const Exact<T> exact(grouped), exact_repeated(repeated);
  const AttentionShape& s = grouped.shape;
  const int64_t group = s.h_q / s.h_kv;
  const auto summed = [&](const auto& from, int64_t size) {
    std::vector<Real> sums;
    for (int64_t head = 0; head < s.b * s.h_kv; ++head) {
      for (int64_t at = 0; at < size; ++at) sums.push_back(sum_of<Real>(from, head * group * size + at, group, size));
    }
    return sums;
  };
  const auto assert_summed = [&](const std::vector<T>& of_group, const std::vector<Real>& off,
                                 const std::vector<T>& of_copies, const std::vector<Real>& off_copies, int64_t size) {
    std::vector<Real> bounds = summed(off_copies, size);
    for (size_t i = 0; i < bounds.size(); ++i) bounds[i] += off[i];
    assert_all_near(of_group, summed(of_copies, size), bounds);
  };
  on_each_target([&] {
    differentiate(grouped);
    differentiate(repeated);
    assert_summed(grouped.dk, exact.bounds().dk, repeated.dk, exact_repeated.bounds().dk, s.n_kv * s.d_k);
    assert_summed(grouped.dv, exact.bounds().dv, repeated.dv, exact_repeated.bounds().dv, s.n_kv * s.d_v);
    assert_all_near(repeated.dq, exact.gradients().dq, exact_repeated.bounds().dq);
    assert_all_near(repeated.dbias, exact.gradients().dbias, exact_repeated.bounds().dbias);
  });
}

// --- Scores ---

/// sum_j ds_ij = sum_j a_ij da_ij - (sum_j a_ij) d_o_i . o_i, whose first sum is d_o_i . o_i, with dropout too, as o has
/// the same kept weights. So it is d_o_i . o_i times the sink's weight: 0 without a sink; with one, summed over a head's
/// rows, the negative of the sink's gradient.
template <class T>
void gradients_of_scores_and_sink_sum_to_zero() {
  using Real = Judge<T>;
  PackedGradients<T> pass = any_pass<T>();
  const Exact<T> exact(pass);
  const AttentionShape& s = pass.shape;
  on_each_target([&] {
    differentiate(pass);
    std::vector<Real> sums(static_cast<size_t>(s.h_q), 0), bounds(sums);
    for (int64_t row = 0; row < s.b * s.h_q * s.n_q; ++row) {
      const Real sum = sum_of<Real>(pass.dbias, row * s.n_kv, s.n_kv);
      const Real bound = sum_of<Real>(exact.bounds().dbias, row * s.n_kv, s.n_kv);
      if (pass.dsinks.empty()) assert_near(sum, Real{0}, bound);
      const int64_t h = row / s.n_q % s.h_q;
      sums[h] += sum;
      bounds[h] += bound;
    }
    for (int64_t h = 0; h < s.h_q && !pass.dsinks.empty(); ++h) {
      assert_near(-sums[h], static_cast<Real>(pass.dsinks[h]), bounds[h] + exact.bounds().dsinks[h]);
    }
  });
}

/// Softmax does not see a number that is added to all scores of a row. Where there are sinks, they are scores of all
/// rows of their head. Rounding the shifted bias is part of its bound.
template <class T>
void shifted_scores_change_nothing() {
  const PackedGradients<T> pass = any_pass<T>();
  PackedGradients<T> shifted = pass;
  const AttentionShape& s = pass.shape;
  std::vector<T> shifts;
  for (int64_t row = 0; row < s.b * s.h_q * s.n_q; ++row) shifts.push_back(static_cast<T>(any_below(2001) - 1000) / 8);
  for (size_t at = 0; at < shifted.bias.size(); ++at) {
    const int64_t row = static_cast<int64_t>(at) / s.n_kv;
    shifted.bias[at] += shifts[pass.sinks.empty() ? row : row / s.n_q % s.h_q];
  }
  for (size_t h = 0; h < shifted.sinks.size(); ++h) shifted.sinks[h] += shifts[h];
  const Exact<T> exact(pass), bounds_of(shifted);
  const auto& g = exact.gradients();
  const auto& off = bounds_of.bounds();
  on_each_target([&] {
    differentiate(shifted);
    assert_all_near(shifted.dq, g.dq, off.dq);
    assert_all_near(shifted.dk, g.dk, off.dk);
    assert_all_near(shifted.dv, g.dv, off.dv);
    assert_all_near(shifted.dbias, g.dbias, off.dbias);
    if (!shifted.dsinks.empty()) assert_all_near(shifted.dsinks, g.dsinks, off.dsinks);
  });
}

/// A vector added to every key adds its product with q_i to all scores of row i, which changes no output: so the
/// gradients by keys sum to 0, unless a sink or softcap sees the scores themselves.
template <class T>
void gradients_of_keys_sum_to_zero() {
  using Real = Judge<T>;
  PackedGradients<T> pass = any_pass<T>();
  pass.sinks.clear();
  pass.options.softcap = 0;
  const Exact<T> exact(pass);
  const AttentionShape& s = pass.shape;
  on_each_target([&] {
    differentiate(pass);
    for (int64_t head = 0; head < s.b * s.h_kv; ++head) {
      for (int64_t d = 0; d < s.d_k; ++d) {
        const int64_t first = head * s.n_kv * s.d_k + d;
        assert_near(sum_of<Real>(pass.dk, first, s.n_kv, s.d_k), Real{0},
                    sum_of<Real>(exact.bounds().dk, first, s.n_kv, s.d_k));
      }
    }
  });
}

/// q_i . dq_i, summed over the rows that read a key head, and k_j . dk_j, summed over its keys, are both the scale times
/// the gradient by the scale.
template <class T>
void queries_and_keys_agree_on_the_scale() {
  using Real = Judge<T>;
  PackedGradients<T> pass = any_pass<T>();
  const Exact<T> exact(pass);
  const AttentionShape& s = pass.shape;
  const auto dot = [](const std::vector<T>& x, const auto& y, int64_t first, int64_t n, bool absolute) {
    Real sum = 0;
    for (int64_t at = first; at < first + n; ++at) {
      const auto factor = static_cast<Real>(x[at]);
      sum += (absolute ? std::abs(factor) : factor) * static_cast<Real>(y[at]);
    }
    return sum;
  };
  on_each_target([&] {
    differentiate(pass);
    for (int64_t head = 0; head < s.b * s.h_kv; ++head) {
      const int64_t rows = s.h_q / s.h_kv * s.n_q * s.d_k, keys = s.n_kv * s.d_k;
      const Real bound = dot(pass.q, exact.bounds().dq, head * rows, rows, true) +
                         dot(pass.k, exact.bounds().dk, head * keys, keys, true);
      assert_near(dot(pass.q, pass.dq, head * rows, rows, false), dot(pass.k, pass.dk, head * keys, keys, false),
                  bound);
    }
  });
}

/// Twice the queries at half the scale are the same scores, exactly: factors of two go through every rounding.
template <class T>
void doubled_queries_at_half_the_scale() {
  PackedGradients<T> pass = any_pass<T>(), doubled = pass;
  pass.options.scale = 0.375;
  doubled.options.scale = 0.1875;
  for (T& x : doubled.q) x *= 2;
  on_each_target([&] {
    differentiate(pass);
    differentiate(doubled);
    for (T& x : doubled.dq) x *= 2;
    RC_ASSERT(pass.dq == doubled.dq);
    RC_ASSERT(pass.dk == doubled.dk);
    RC_ASSERT(pass.dv == doubled.dv);
    RC_ASSERT(pass.dbias == doubled.dbias);
    RC_ASSERT(pass.dsinks == doubled.dsinks);
  });
}

// --- d_o ---

/// Weights sum to 1 where no sink takes part of them: each row that sees a key hands all its d_o to the values.
template <class T>
void values_share_out_d_o() {
  using Real = Judge<T>;
  PackedGradients<T> pass = any_pass<T>();
  pass.sinks.clear();
  pass.options.dropout = 0;
  const Exact<T> exact(pass);
  const AttentionShape& s = pass.shape;
  const int64_t group_rows = s.h_q / s.h_kv * s.n_q;
  on_each_target([&] {
    differentiate(pass);
    for (int64_t head = 0; head < s.b * s.h_kv; ++head) {
      for (int64_t d = 0; d < s.d_v; ++d) {
        Real sum = 0;
        for (int64_t row = head * group_rows; row < (head + 1) * group_rows; ++row) {
          if (!std::isinf(pass.lse[row])) sum += static_cast<Real>(pass.d_o[row * s.d_v + d]);
        }
        const int64_t first = head * s.n_kv * s.d_v + d;
        assert_near(sum_of<Real>(pass.dv, first, s.n_kv, s.d_v), sum,
                    sum_of<Real>(exact.bounds().dv, first, s.n_kv, s.d_v));
      }
    }
  });
}

/// The gradients of a sum of d_o are the sum of the gradients.
template <class T>
void gradients_are_linear_in_d_o() {
  using Real = Judge<T>;
  PackedGradients<T> x = any_pass<T>(), y = x, both = x;
  y.d_o = pass_of<T>(x).d_o;
  for (size_t i = 0; i < both.d_o.size(); ++i) both.d_o[i] = x.d_o[i] - 2 * y.d_o[i];
  const Exact<T> exact_x(x), exact_y(y), exact_both(both);
  const auto assert_linear = [&](std::vector<T> PackedGradients<T>::*gradient,
                                 std::vector<Real> Exact<T>::Bounds::*off) {
    for (size_t i = 0; i < (both.*gradient).size(); ++i) {
      const Real sum = static_cast<Real>((x.*gradient)[i]) - 2 * static_cast<Real>((y.*gradient)[i]);
      const Real bound = (exact_x.bounds().*off)[i] + 2 * (exact_y.bounds().*off)[i] + (exact_both.bounds().*off)[i];
      assert_near((both.*gradient)[i], sum, bound);
    }
  };
  using Bounds = typename Exact<T>::Bounds;
  on_each_target([&] {
    for (PackedGradients<T>* pass : {&x, &y, &both}) differentiate(*pass);
    assert_linear(&PackedGradients<T>::dq, &Bounds::dq);
    assert_linear(&PackedGradients<T>::dk, &Bounds::dk);
    assert_linear(&PackedGradients<T>::dv, &Bounds::dv);
    assert_linear(&PackedGradients<T>::dbias, &Bounds::dbias);
    assert_linear(&PackedGradients<T>::dsinks, &Bounds::dsinks);
  });
}

template <class T>
void no_d_o_no_gradients() {
  PackedGradients<T> pass = any_pass<T>();
  std::fill(pass.d_o.begin(), pass.d_o.end(), T{0});
  on_each_target([&] {
    differentiate(pass);
    for (const auto* gradient : {&pass.dq, &pass.dk, &pass.dv, &pass.dbias, &pass.dsinks}) {
      for (const T x : *gradient) RC_ASSERT(x == 0 && !std::signbit(x));
    }
  });
}

// --- A broadcast bias ---

/// The gradient by a bias that is broadcast is the sum of the gradients by its copies.
template <class T>
void a_broadcast_bias_adds_up_its_copies() {
  using Real = Judge<T>;
  PackedGradients<T> whole = any_pass<T>();
  Whole axes;
  for (bool& axis : axes) axis = any_below(2) == 0;
  const Shape full = {whole.shape.b, whole.shape.h_q, whole.shape.n_q, whole.shape.n_kv};
  const Shape n = broadcast_shape(axes, full);
  const std::vector<T> bias(whole.bias.begin(), whole.bias.begin() + n[0] * n[1] * n[2] * n[3]);
  whole.bias = reference::broadcast(bias, n, full);
  PackedGradients<T> small = whole;
  small.bias.clear();
  small.options.bias = view<const T>(bias.data(), n[0], n[1], n[2], n[3]);
  const Exact<T> exact_whole(whole), exact_small(whole, axes);
  std::vector<Real> bounds = reference::reduced(exact_whole.bounds().dbias, full, n);
  for (size_t i = 0; i < bounds.size(); ++i) bounds[i] += exact_small.bounds().dbias[i];
  on_each_target([&] {
    differentiate(small);
    differentiate(whole);
    assert_all_near(small.dbias, reference::reduced(reference::widened<Real>(whole.dbias), full, n), bounds);
    assert_all_near(small.dq, exact_whole.gradients().dq, exact_small.bounds().dq);
    assert_all_near(small.dk, exact_whole.gradients().dk, exact_small.bounds().dk);
    assert_all_near(small.dv, exact_whole.gradients().dv, exact_small.bounds().dv);
  });
}

RC_GTEST_PROP(FloatGradients, PermutedKeysHavePermutedGradients, ()) { permuted_keys_have_permuted_gradients<float>(); }
RC_GTEST_PROP(FloatGradients, GroupedHeadsAddUpRepeatedHeads, ()) { grouped_heads_add_up_repeated_heads<float>(); }
RC_GTEST_PROP(FloatGradients, GradientsOfScoresAndSinkSumToZero, ()) {
  gradients_of_scores_and_sink_sum_to_zero<float>();
}
RC_GTEST_PROP(FloatGradients, ShiftedScoresChangeNothing, ()) { shifted_scores_change_nothing<float>(); }
RC_GTEST_PROP(FloatGradients, GradientsOfKeysSumToZero, ()) { gradients_of_keys_sum_to_zero<float>(); }
RC_GTEST_PROP(FloatGradients, QueriesAndKeysAgreeOnTheScale, ()) { queries_and_keys_agree_on_the_scale<float>(); }
RC_GTEST_PROP(FloatGradients, DoubledQueriesAtHalfTheScale, ()) { doubled_queries_at_half_the_scale<float>(); }
RC_GTEST_PROP(FloatGradients, ValuesShareOutDO, ()) { values_share_out_d_o<float>(); }
RC_GTEST_PROP(FloatGradients, GradientsAreLinearInDO, ()) { gradients_are_linear_in_d_o<float>(); }
RC_GTEST_PROP(FloatGradients, NoDONoGradients, ()) { no_d_o_no_gradients<float>(); }
RC_GTEST_PROP(FloatGradients, ABroadcastBiasAddsUpItsCopies, ()) { a_broadcast_bias_adds_up_its_copies<float>(); }

RC_GTEST_PROP(DoubleGradients, PermutedKeysHavePermutedGradients, ()) {
  permuted_keys_have_permuted_gradients<double>();
}
RC_GTEST_PROP(DoubleGradients, GroupedHeadsAddUpRepeatedHeads, ()) { grouped_heads_add_up_repeated_heads<double>(); }
RC_GTEST_PROP(DoubleGradients, GradientsOfScoresAndSinkSumToZero, ()) {
  gradients_of_scores_and_sink_sum_to_zero<double>();
}
RC_GTEST_PROP(DoubleGradients, ShiftedScoresChangeNothing, ()) { shifted_scores_change_nothing<double>(); }
RC_GTEST_PROP(DoubleGradients, GradientsOfKeysSumToZero, ()) { gradients_of_keys_sum_to_zero<double>(); }
RC_GTEST_PROP(DoubleGradients, QueriesAndKeysAgreeOnTheScale, ()) { queries_and_keys_agree_on_the_scale<double>(); }
RC_GTEST_PROP(DoubleGradients, DoubledQueriesAtHalfTheScale, ()) { doubled_queries_at_half_the_scale<double>(); }
RC_GTEST_PROP(DoubleGradients, ValuesShareOutDO, ()) { values_share_out_d_o<double>(); }
RC_GTEST_PROP(DoubleGradients, GradientsAreLinearInDO, ()) { gradients_are_linear_in_d_o<double>(); }
RC_GTEST_PROP(DoubleGradients, NoDONoGradients, ()) { no_d_o_no_gradients<double>(); }
RC_GTEST_PROP(DoubleGradients, ABroadcastBiasAddsUpItsCopies, ()) { a_broadcast_bias_adds_up_its_copies<double>(); }

}  // namespace
}  // namespace foveate::trial
