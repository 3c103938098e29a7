// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The judge: the engine's outputs against the oracle's under the bounds derived in docs/numerics.md.
#ifndef FOVEATE_TESTS_ERROR_BOUND_H_
#define FOVEATE_TESTS_ERROR_BOUND_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "reference/attention.h"
#include "tests/attention_case.h"

namespace foveate::trial {

/// c of docs/numerics.md, for n keys.
template <class Real>
Real summation_constant(int64_t n) {
  const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const Real keys = static_cast<Real>(std::min<int64_t>(n, 64));
  const Real blocks = static_cast<Real>(std::min<int64_t>(ceil_div(n, 64) + 1, 16));
  const Real splits = static_cast<Real>(ceil_div(n, 1024) + 1);
  return (keys + keys / 4 + 8 * blocks + 10 * splits + 20) / 2;
}

/// max_j e_ij of docs/numerics.md for one row, over the keys whose weight could be above 0, rounding errors included. What
/// the table there leaves out is added: subnormal products round absolutely, and a sink is rounded and subtracted too.
template <class T>
Judge<T> score_error(const reference::Problem<Judge<T>>& p, int64_t b, int64_t h, int64_t i) {
  using Real = Judge<T>;
  constexpr Real inf = std::numeric_limits<Real>::infinity();
  constexpr Real u = std::numeric_limits<T>::epsilon() / 2, least = std::numeric_limits<T>::denorm_min();
  constexpr Real reach = sizeof(T) == 4 ? 88 : 709;  // further below the maximum a weight is 0
  constexpr Real gone = sizeof(T) == 4 ? 104 : 746;  // and here even exactly: below the smallest subnormal

  const Real sink = p.sinks.empty() ? -inf : p.sinks[h];
  std::vector<reference::Score<Real>> scores;
  Real top = sink;
  for (int64_t j = 0; j < p.n_kv; ++j) {
    if (!reference::takes_part(p, b, h, i, j)) continue;
    const reference::Score<Real> s = reference::score(p, b, h, i, j);
    if (s.value() == -inf) continue;  // a weight of 0 carries no rounding error
    scores.push_back(s);
    top = std::max(top, s.value());
  }
  const Real scale = std::abs(p.scale.value_or(1 / std::sqrt(static_cast<Real>(p.d_k))));
  const Real underflow = least * (static_cast<Real>(p.d_k) * scale + p.softcap + 2);
  const auto error = [&](const reference::Score<Real>& s) {
    const Real below = std::min(std::abs(s.value() - top), reach);
    return underflow + u * (static_cast<Real>(p.d_k + 3) * s.magnitude + (p.softcap > 0 ? 6 * std::abs(s.capped) : 0) +
                            2 * std::abs(s.bias) + 3 * std::abs(s.alibi) + 2 * std::abs(s.value()) + below);
  };
  Real error_of_top = 0;
  for (const auto& s : scores) {
    if (s.value() == top) error_of_top = std::max(error_of_top, error(s));
  }
  Real largest = 0;
  if (std::isfinite(sink)) largest = u * (std::abs(sink) + std::min(top - sink, reach));
  for (const auto& s : scores) {
    if (top - s.value() <= gone + error(s) + error_of_top) largest = std::max(largest, error(s));
  }
  return largest;
}

/// What the engine's outputs are judged by.
template <class T>
struct Expected {
  reference::Result<Judge<T>> exact;
  std::vector<Judge<T>> score_errors;  ///< [b, h_q, n_q]: max_j e_ij
  Judge<T> sums;                       ///< c eps

  explicit Expected(const reference::Problem<Judge<T>>& p) : exact(reference::attention(p)) {
    sums = summation_constant<Judge<T>>(p.n_kv) * std::numeric_limits<T>::epsilon();
    if (p.dropout > 0) sums += std::numeric_limits<T>::epsilon();  // the factor, and a product with it
    score_errors.assign(exact.lse.size(), 0);
    for (int64_t b = 0; b < p.b; ++b)
      for (int64_t h = 0; h < p.h_q; ++h)
        for (int64_t i = 0; i < reference::q_length(p, b); ++i) {
          score_errors[(b * p.h_q + h) * p.n_q + i] = score_error<T>(p, b, h, i);
        }
  }

  /// Of a weight, and of the sum of a_ij |v_j|: c eps + 2 max_j e_ij, the latter not only to first order.
  Judge<T> relative_error(int64_t row) const {
    return sums + std::expm1(std::min<Judge<T>>(2 * score_errors[row], 80));
  }
  Judge<T> lse_error(int64_t row) const { return score_errors[row] + sums * (1 + std::abs(exact.lse[row])); }
};

/// Accepts or refuses numbers, and keeps the first refusal in words. Empty: all accepted.
class Verdict {
 public:
  const std::string& words() const { return words_; }
  bool ok() const { return words_.empty(); }

  /// `got` lies within `bound` of `want`; NaN where that is NaN, the same where that is infinite.
  template <class T, class Real>
  void near(T got, Real want, Real bound, const char* name, int64_t row, int64_t column) {
    const bool fits = std::isnan(want)   ? std::isnan(got)
                      : std::isinf(want) ? static_cast<Real>(got) == want
                                         : std::isfinite(got) && std::abs(static_cast<Real>(got) - want) <= bound;
    if (!fits) refuse(got, want, bound, name, row, column);
  }

  template <class T, class Real>
  void refuse(T got, Real want, Real bound, const char* name, int64_t row, int64_t column) {
    if (!ok()) return;
    std::ostringstream out;
    out.precision(std::numeric_limits<T>::max_digits10);
    out << name << " of row " << row << ", element " << column << ": got " << got << ", exact " << want << ", bound "
        << bound << ", error " << std::abs(static_cast<Real>(got) - want);
    words_ = out.str();
  }

 private:
  std::string words_;
};

/// Judges one row of every output.
template <class T>
void judge_row(const Case<T>& c, const Expected<T>& expected, int64_t b, int64_t h, int64_t i, Verdict& verdict) {
  using Real = Judge<T>;
  using Limits = std::numeric_limits<T>;
  const reference::Problem<Real>& p = c.problem;
  const reference::Result<Real>& r = expected.exact;
  const int64_t row = (b * p.h_q + h) * p.n_q + i;
  const bool there = i < reference::q_length(p, b);
  const Real relative = expected.relative_error(row);
  constexpr Real tiny = Limits::min();

  if (c.spec.want_lse) {
    verdict.near(c.lse.at(b, h, i, 0), r.lse[row], expected.lse_error(row), "lse", row, 0);
  }
  for (int64_t j = 0; c.spec.want_weights && j < p.n_kv; ++j) {
    const Real want = r.weights[row * p.n_kv + j];
    const Real bound = want == 0 ? 0 : want * relative + tiny;
    verdict.near(c.weights.at(b, h, i, j), want, bound, "weights", row, j);
  }
  // What weights below the smallest normal number, which are 0, would have added; and the rounding of subnormal sums.
  const auto underflow = [&](int64_t d) {
    Real values = 0;
    for (int64_t j = 0; j < p.n_kv; ++j) {
      if (reference::takes_part(p, b, h, i, j))
        values += std::abs(p.v[((b * p.h_kv + h / (p.h_q / p.h_kv)) * p.n_kv + j) * p.d_v + d]);
    }
    return tiny * values / (1 - static_cast<Real>(p.dropout)) + static_cast<Real>(p.n_kv + 8) * Limits::denorm_min();
  };
  for (int64_t d = 0; c.spec.want_o && d < p.d_v; ++d) {
    const Real want = r.o[row * p.d_v + d];
    const T got = c.o.at(b, h, i, d);
    if (std::isinf(want)) {
      // A weight that underflows to 0 makes NaN of an infinite value.
      if (std::isfinite(got)) verdict.refuse(got, want, Real{0}, "o", row, d);
      continue;
    }
    Real bound = r.abs_o[row * p.d_v + d] * relative;
    if (there && std::isfinite(want) && !(std::abs(static_cast<Real>(got) - want) <= bound)) bound += underflow(d);
    verdict.near(got, want, bound, "o", row, d);
    if (got == T{0} && std::signbit(got)) verdict.refuse(got, Real{0}, Real{0}, "o's sign", row, d);
  }
}

/// Judges a call that has been made. Empty if all is well.
template <class T>
std::string judge(const Case<T>& c, const Expected<T>& expected) {
  Verdict verdict;
  for (int64_t b = 0; b < c.spec.b; ++b)
    for (int64_t h = 0; h < c.spec.h_q; ++h)
      for (int64_t i = 0; i < c.spec.n_q && verdict.ok(); ++i) judge_row(c, expected, b, h, i, verdict);
  if (!verdict.ok()) return verdict.words();
  return c.padding_intact() ? "" : "something was written beside the outputs";
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_ERROR_BOUND_H_
