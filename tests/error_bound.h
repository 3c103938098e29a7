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
#include "tests/additive_bound.h"
#include "tests/attention_case.h"
#include "tests/native_products.h"

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

/// What q, k and v are stored as, where that adds to the errors; none: the computing type.
template <class Real>
struct Storage {
  DType q = DType::none, k = DType::none, v = DType::none;
  std::vector<Real> key_scales = {};  ///< of int8 keys, laid out as the problem's k
  bool products = true;               ///< scores are products of q and k; else rows are of the computing type

  /// Where keys are int8, each is rounded once as it is multiplied by its scale.
  int64_t key_roundings() const { return k == DType::i8 ? 1 : 0; }
  int64_t value_roundings() const { return v == DType::i8 ? 1 : 0; }

  /// Whether some target has native scores for these types, and whether the active one has.
  bool may_have_native_scores() const { return products && (k == DType::i8 || (q == DType::bf16 && k == DType::bf16)); }
  bool has_native_scores() const {
    return may_have_native_scores() && (k == DType::i8 ? native_int8() : native_bf16());
  }
  /// Whether the active target's weighted sum is native.
  bool has_native_sums() const {
    return native_bf16() && (v == DType::i8 || (products && q == DType::bf16 && v == DType::bf16));
  }
  Real native_weight_rounding() const { return has_native_sums() ? std::ldexp(Real{1}, -8) : Real{0}; }
  /// What a key may lose of the sum: the product or, before an int8 value of up to 128, the weight times the value's scale.
  Real native_underflow() const {
    return has_native_sums() ? std::numeric_limits<float>::min() * (v == DType::i8 ? Real{128} : Real{1}) : Real{0};
  }

  /// What native scores add to e_ij. int8: the query, multiplied by the scales of channels, is rounded to 127 steps either
  /// way, its quotient by a step to float32 before. bfloat16: what is subnormal is lost.
  Real native_score_rounding(const reference::Problem<Real>& p, int64_t b, int64_t h, int64_t i, int64_t j) const {
    const Real factor = std::abs(p.scale.value_or(1 / std::sqrt(static_cast<Real>(p.d_k))));
    if (k != DType::i8) return factor * static_cast<Real>(p.d_k) * std::numeric_limits<float>::min();
    const int64_t h_k = h / (p.h_q / p.h_kv);
    const Real* q_row = p.q.data() + ((b * p.h_q + h) * p.n_q + i) * p.d_k;
    const int64_t key = ((b * p.h_kv + h_k) * p.n_kv + j) * p.d_k;
    Real largest = 0, steps = 0;
    for (int64_t d = 0; d < p.d_k; ++d) {
      const Real scale = std::abs(key_scales[key + d]);
      largest = std::max(largest, std::abs(q_row[d]) * scale);
      if (scale > 0) steps += std::abs(p.k[key + d]) / scale;
    }
    return factor * steps * largest / 254 * (1 + std::ldexp(Real{1}, -14));
  }
};

/// max_j e_ij of docs/numerics.md for one row, over the keys whose weight could be above 0, rounding errors included. What
/// the table there leaves out is added: subnormal products round absolutely, and a sink is rounded and subtracted too.
template <class T>
Judge<T> score_error(const reference::Problem<Judge<T>>& p, const Storage<Judge<T>>& storage, bool native, int64_t b,
                     int64_t h, int64_t i) {
  using Real = Judge<T>;
  constexpr Real inf = std::numeric_limits<Real>::infinity();
  constexpr Real u = std::numeric_limits<T>::epsilon() / 2, least = std::numeric_limits<T>::denorm_min();
  constexpr Real reach = sizeof(T) == 4 ? 88 : 709;  // further below the maximum a weight is 0
  constexpr Real gone = sizeof(T) == 4 ? 104 : 746;  // and here even exactly: below the smallest subnormal

  struct Term {
    Real value, error;
  };
  const Real sink = p.sinks.empty() ? -inf : p.sinks[h];
  const Real scale = std::abs(reference::scale_of(p));
  const Real underflow = least * (static_cast<Real>(p.d_k) * scale + p.softcap + 2);
  const auto chain = static_cast<Real>(p.d_k + 3 + storage.key_roundings());
  std::vector<Term> terms;
  Real top = sink;
  for (int64_t j = 0; j < p.n_kv; ++j) {
    if (!reference::takes_part(p, b, h, i, j)) continue;
    const reference::Score<Real> s = reference::score(p, b, h, i, j);
    if (s.value() == -inf) continue;  // a weight of 0 carries no rounding error
    const Real of_sum = p.network.present() ? network_error<T>(p, s) : u * chain * s.magnitude;
    const Real error = underflow + of_sum +
                       u * ((p.softcap > 0 ? 6 * std::abs(s.capped) : 0) + 2 * std::abs(s.bias) +
                            3 * std::abs(s.alibi) + 2 * std::abs(s.value()));
    terms.push_back({s.value(), error + (native ? storage.native_score_rounding(p, b, h, i, j) : 0)});
    top = std::max(top, s.value());
  }
  for (Term& t : terms) t.error += u * std::min(std::abs(t.value - top), reach);
  Real error_of_top = 0;
  for (const Term& t : terms) {
    if (t.value == top) error_of_top = std::max(error_of_top, t.error);
  }
  Real largest = 0;
  if (std::isfinite(sink)) largest = u * (std::abs(sink) + std::min(top - sink, reach));
  for (const Term& t : terms) {
    if (top - t.value <= gone + t.error + error_of_top) largest = std::max(largest, t.error);
  }
  return largest;
}

/// What the engine's outputs are judged by, on any target: a bound asks the active one what it multiplies itself.
template <class T>
struct Expected {
  using Real = Judge<T>;

  reference::Result<Real> exact;
  Storage<Real> storage;
  std::vector<Real> score_errors;         ///< [b, h_q, n_q]: max_j e_ij
  std::vector<Real> native_score_errors;  ///< the same with native products; empty: no target has them
  Real sums;                              ///< c eps

  explicit Expected(const Case<T>& c)
      : Expected(c.problem, {c.q.dtype(), c.k.dtype(), c.v_view().dtype, c.key_scales, !c.problem.network.present()}) {}

  explicit Expected(const reference::Problem<Real>& p, const Storage<Real>& stored_as = {})
      : exact(reference::attention(p)), storage(stored_as) {
    sums = summation_constant<Real>(p.n_kv) * std::numeric_limits<T>::epsilon();
    if (p.dropout > 0) sums += std::numeric_limits<T>::epsilon();  // the factor, and a product with it
    const auto errors = [&](bool native) {
      std::vector<Real> all(exact.lse.size(), 0);
      for (int64_t b = 0; b < p.b; ++b)
        for (int64_t h = 0; h < p.h_q; ++h)
          for (int64_t i = 0; i < reference::q_length(p, b); ++i) {
            all[(b * p.h_q + h) * p.n_q + i] = score_error<T>(p, storage, native, b, h, i);
          }
      return all;
    };
    score_errors = errors(false);
    if (storage.may_have_native_scores()) native_score_errors = errors(true);
  }

  /// Scores of errors beyond this say nothing of their weights. Native int8 scores of large queries and keys come to it.
  static constexpr Real kBeyond = 700;
  bool knows_nothing(int64_t row) const { return 2 * score_error_of(row) > kBeyond; }

  Real score_error_of(int64_t row) const {
    return storage.has_native_scores() ? native_score_errors[row] : score_errors[row];
  }
  /// Of a weight: c eps + 2 max_j e_ij, the latter not only to first order.
  Real relative_error(int64_t row) const { return sums + std::expm1(std::min<Real>(2 * score_error_of(row), 80)); }
  /// Of the sum of a_ij |v_j|.
  Real o_error(int64_t row) const {
    constexpr Real u = std::numeric_limits<T>::epsilon() / 2;
    return relative_error(row) + static_cast<Real>(storage.value_roundings()) * u + storage.native_weight_rounding();
  }
  Real lse_error(int64_t row) const { return score_error_of(row) + sums * (1 + std::abs(exact.lse[row])); }
};

/// Accepts or refuses numbers, and keeps the first refusal in words. Empty: all accepted.
class Verdict {
 public:
  const std::string& words() const { return words_; }
  bool ok() const { return words_.empty(); }

  /// `got`, stored as `dtype`, is a number within `bound` of `want`, rounded to that type; NaN where that is NaN, the same
  /// where that is infinite.
  template <class Real>
  void near(double got, Real want, Real bound, DType dtype, const char* name, int64_t row, int64_t column) {
    if (!fits(got, want, bound, dtype)) refuse(got, want, bound, name, row, column);
  }

  template <class Real>
  static bool fits(double got, Real want, Real bound, DType dtype) {
    if (std::isnan(want)) return std::isnan(got);
    if (std::isinf(want)) return static_cast<Real>(got) == want;
    if (std::isfinite(got) && std::abs(static_cast<Real>(got) - want) <= bound) return true;
    // The bound holds the rounding to the computing type; one more, to a narrower type, keeps the order of numbers.
    if (size_of(dtype) > 2) return false;
    return rounded_to(dtype, static_cast<double>(want - bound)) <= got &&
           got <= rounded_to(dtype, static_cast<double>(want + bound));
  }

  template <class Real>
  void refuse(double got, Real want, Real bound, const char* name, int64_t row, int64_t column) {
    if (!ok()) return;
    std::ostringstream out;
    out.precision(17);
    out << name << " of row " << row << ", element " << column << ": got " << got << ", exact " << want << ", bound "
        << bound << ", error " << std::abs(static_cast<Real>(got) - want);
    words_ = out.str();
  }

 private:
  std::string words_;
};

/// Judges one row of the weights.
template <class T>
void judge_weights(const Case<T>& c, const Expected<T>& expected, int64_t b, int64_t h, int64_t i, Verdict& verdict) {
  using Real = Judge<T>;
  const int64_t row = (b * c.spec.h_q + h) * c.spec.n_q + i;
  const Real relative = expected.relative_error(row);
  constexpr Real tiny = std::numeric_limits<T>::min();
  for (int64_t j = 0; j < c.spec.n_kv; ++j) {
    const Real want = expected.exact.weights[row * c.spec.n_kv + j];
    const bool takes_part = reference::takes_part(c.problem, b, h, i, j);
    const Real bound = expected.knows_nothing(row) && takes_part ? 1 : want == 0 ? 0 : want * relative + tiny;
    verdict.near(c.weights.at(b, h, i, j), want, bound, c.weights.dtype(), "weights", row, j);
  }
}

/// Judges one row of o.
template <class T>
void judge_o(const Case<T>& c, const Expected<T>& expected, int64_t b, int64_t h, int64_t i, Verdict& verdict) {
  using Real = Judge<T>;
  using Limits = std::numeric_limits<T>;
  const reference::Problem<Real>& p = c.problem;
  const int64_t row = (b * p.h_q + h) * p.n_q + i;
  const Real relative = expected.o_error(row);
  const bool there = i < reference::q_length(p, b);
  const auto values = [&](int64_t d) {
    Real sum = 0;
    for (int64_t j = 0; j < p.n_kv; ++j) {
      if (reference::takes_part(p, b, h, i, j))
        sum += std::abs(p.v[((b * p.h_kv + h / (p.h_q / p.h_kv)) * p.n_kv + j) * p.d_v + d]);
    }
    return sum / (1 - static_cast<Real>(p.dropout));
  };
  // What weights below the smallest normal number, which are 0, would have added; and the rounding of subnormal sums.
  const auto underflow = [&](int64_t d) {
    return Limits::min() * values(d) +
           static_cast<Real>(p.n_kv + 8) * (Limits::denorm_min() + expected.storage.native_underflow());
  };
  const RowMap::Place place = c.sequences.queries.places[b][i];
  for (int64_t d = 0; d < p.d_v; ++d) {
    const Real want = expected.exact.o[row * p.d_v + d];
    const double got = c.o.at(place.batch, h, place.row, d);
    if (std::isinf(want)) {
      // A weight that underflows to 0 makes NaN of an infinite value.
      if (std::isfinite(got)) verdict.refuse(got, want, Real{0}, "o", row, d);
      continue;
    }
    Real bound = expected.exact.abs_o[row * p.d_v + d] * relative;
    if (there && std::isfinite(want) && !Verdict::fits(got, want, bound, c.o.dtype())) {
      bound += expected.knows_nothing(row) ? 2 * values(d) : underflow(d);
    }
    verdict.near(got, want, bound, c.o.dtype(), "o", row, d);
    if (got == 0 && std::signbit(got)) verdict.refuse(got, Real{0}, Real{0}, "o's sign", row, d);
  }
}

/// Judges one row of every output. Packed sequences have no o and lse past their end, though their weights are padded.
template <class T>
void judge_row(const Case<T>& c, const Expected<T>& expected, int64_t b, int64_t h, int64_t i, Verdict& verdict) {
  if (c.spec.want_weights) judge_weights(c, expected, b, h, i, verdict);
  if (i >= c.sequences.queries.rows_of(b)) return;
  if (c.spec.want_lse) {
    const int64_t row = (b * c.spec.h_q + h) * c.spec.n_q + i;
    const RowMap::Place place = c.sequences.queries.places[b][i];
    verdict.near(c.lse.at(place.batch, h, place.row, 0), expected.exact.lse[row], expected.lse_error(row),
                 c.lse.dtype(), "lse", row, 0);
  }
  if (c.spec.want_o) judge_o(c, expected, b, h, i, verdict);
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
