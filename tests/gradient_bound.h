// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The judge of gradients: the engine's against the oracle's under the bounds derived in docs/numerics.md.
#ifndef FOVEATE_TESTS_GRADIENT_BOUND_H_
#define FOVEATE_TESTS_GRADIENT_BOUND_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reference/arrays.h"
#include "reference/attention_backward.h"
#include "tests/error_bound.h"
#include "tests/gradient_case.h"

namespace foveate::trial {

/// The largest error of storing a number as a narrow type, relative and, of subnormal numbers, absolute; 0 for others, which
/// are computed in.
template <class Real>
Real half_step(DType dtype) {
  return dtype == DType::bf16 ? std::ldexp(Real{1}, -8) : dtype == DType::f16 ? std::ldexp(Real{1}, -11) : Real{0};
}
template <class Real>
Real half_least(DType dtype) {
  return dtype == DType::bf16 ? std::ldexp(Real{1}, -134) : dtype == DType::f16 ? std::ldexp(Real{1}, -25) : Real{0};
}

/// What gradients are judged by on any target: a bound asks the active one what it multiplies itself.
template <class T>
class ExpectedGradients {
 public:
  using Real = Judge<T>;
  using Sums = reference::Gradients<Real>;

  explicit ExpectedGradients(const GradientCase<T>& c)
      : exact(reference::attention_backward(c.forward.problem, c.d_o_numbers)),
        forward_(c.forward),
        p_(c.forward.problem),
        d_o_(c.d_o_numbers),
        bias_shape_(c.spec.want_dbias ? c.dbias.shape() : Shape{}) {}

  const Sums exact;
  bool has_network() const { return p_.network.present(); }

  /// What a gradient may be off by.
  struct Bounds {
    std::vector<Real> dq, dk, dv, dbias, dsinks;
    std::vector<Real> dw_q, dw_k, dw, db;  ///< empty without a network
  };

  /// Relative errors, and the roundings of sums.
  const Bounds& bounds() const {
    return cached(bounds_, [this] { return bounds_of_sums(); });
  }

  /// What stands beside them where weights or products are below the smallest normal number, or nothing is known of a row's
  /// weights but that they are in [0, 1].
  const Bounds& floors() const {
    return cached(floors_, [this] { return floors_of_sums(); });
  }

  /// dbias as its bias is shaped; empty where it is not wanted.
  std::vector<Real> reduced(const std::vector<Real>& ds) const {
    if (bias_shape_ == Shape{}) return {};
    return reference::reduced(ds, {p_.b, p_.h_q, p_.n_q, p_.n_kv}, bias_shape_);
  }

 private:
  static constexpr Real u = std::numeric_limits<T>::epsilon() / 2;
  static constexpr Real tiny = std::numeric_limits<T>::min(), least = std::numeric_limits<T>::denorm_min();
  static constexpr Real kBeyond = 80;  ///< weights of errors beyond exp(this) are unknown

  template <class Make>
  const Bounds& cached(std::map<std::pair<bool, bool>, Bounds>& of_target, const Make& make) const {
    const std::pair<bool, bool> target = {forward_.storage.has_native_scores(), forward_.storage.has_native_sums()};
    const auto found = of_target.find(target);
    return found != of_target.end() ? found->second : of_target.emplace(target, make()).first->second;
  }

  /// Whether weights and their gradients are rounded to bfloat16 before they meet bfloat16 rows.
  bool native_gradients() const {
    const Storage<Real>& s = forward_.storage;
    return s.products && native_bf16() && s.q == DType::bf16 && s.k == DType::bf16 && s.v == DType::bf16;
  }
  /// What a weight, or a gradient of a score, is off by when it meets a row of d_o, q or k.
  Real rounding_of_factor() const { return native_gradients() ? half_step<Real>(DType::bf16) : Real{0}; }

  /// ln(1 + rho): twice the error of a score, once in the score made anew and once in lse, and the other errors of lse.
  Real exponent(int64_t row) const {
    constexpr Real eps = std::numeric_limits<T>::epsilon();
    return 2 * forward_.score_error_of(row) + (forward_.sums + 4 * eps) * (1 + std::abs(forward_.exact.lse[row]));
  }
  /// ln(1 + error) of softcap's derivative: exp(-2 |score / softcap|), but for some roundings.
  Real slope_exponent(int64_t row) const {
    if (p_.softcap == 0) return 0;
    if (p_.network.present()) return 2 * forward_.score_error_of(row) / p_.softcap;
    const auto roundings = static_cast<Real>(p_.d_k + 4 + forward_.storage.key_roundings());
    return 2 * roundings * u * forward_.exact.score_magnitude[row] / p_.softcap;
  }
  bool knows_nothing(int64_t row) const { return exponent(row) > kBeyond || slope_exponent(row) > kBeyond; }

  /// f(row) for all rows; 0 for those of which nothing is known.
  template <class F>
  std::vector<Real> for_rows(const F& f) const {
    std::vector<Real> all(forward_.exact.lse.size());
    for (size_t row = 0; row < all.size(); ++row) all[row] = knows_nothing(row) ? 0 : f(static_cast<int64_t>(row));
    return all;
  }

  Real weight_error(int64_t row) const { return std::expm1(exponent(row)); }
  /// Of d_o . o, by D: o's own, the step it is stored with, and the roundings of the sum and its result.
  Real delta_error(int64_t row) const {
    const Real stored = (1 + forward_.o_error(row)) * (1 + half_step<Real>(forward_.storage.q));
    return stored * (1 + static_cast<Real>(p_.d_v + 8) * u) - 1;
  }
  /// Of ds, by a (A + D).
  Real ds_error(int64_t row) const { return (1 + weight_error(row)) * (1 + delta_error(row)) - 1; }
  Real slope_error(int64_t row) const {
    const Real of_network = network_slope_error<T>(p_, forward_.exact.argument[row]);
    return p_.softcap == 0 ? of_network : std::exp(slope_exponent(row)) * (1 + 8 * u) * (1 + of_network) - 1;
  }

  static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
  /// Roundings of a term of dq: the chain over a block's keys, its blocks, the chunks of 512 keys; slope, scale, key. With a
  /// network: any sums over keys, then over features.
  Real key_chain() const {
    if (p_.network.present()) return static_cast<Real>(p_.n_kv + p_.network.d_a + 8);
    const int64_t blocks = std::min<int64_t>(ceil_div(p_.n_kv, 64) + 1, 8);
    return static_cast<Real>(std::min<int64_t>(p_.n_kv, 64) + blocks + ceil_div(p_.n_kv, 512) + 1 + 6);
  }
  /// Of a term of dk and dv: the chain over a tile's rows, the tiles; slope and scale, or kept weights.
  Real row_chain() const {
    const int64_t rows = p_.h_kv == 0 ? 0 : p_.h_q / p_.h_kv * p_.n_q;
    if (p_.network.present()) return static_cast<Real>(rows + p_.network.d_a + 8);
    return static_cast<Real>(std::min<int64_t>(rows, 48) + ceil_div(rows, 3) + 6);
  }
  /// Of a term of dbias: the tiles that are summed in T, the sum over their lanes and keys in double.
  Real bias_chain() const {
    const auto summed = [this](int axis, int64_t n) { return bias_shape_[axis] == n ? 1 : n; };
    const int64_t tiles = summed(0, p_.b) * summed(1, p_.h_q) * ceil_div(summed(2, p_.n_q), 3);
    const int64_t wide = sizeof(T) == 8 ? summed(2, p_.n_q) + summed(3, p_.n_kv) : 0;
    return static_cast<Real>(tiles + wide + 2);
  }
  /// Of a term of dsinks: exp, its product, the sum over all rows in double, the result.
  Real sink_chain() const { return static_cast<Real>(sizeof(T) == 8 ? p_.b * p_.n_q + 4 : 2); }

  /// Of a term of what is summed over all pairs: any sums over one axis, then over the other of all heads and sequences.
  Real pair_chain() const {
    const int64_t by_rows = p_.n_kv + p_.b * p_.h_q * p_.n_q, group = p_.h_kv == 0 ? 0 : p_.h_q / p_.h_kv;
    return static_cast<Real>(std::max(by_rows, group * p_.n_q + p_.b * p_.h_kv * p_.n_kv) + 8);
  }

  /// Of a term of dw: all pairs of a unit and 512 keys, then units and chunks in double.
  Real chain_of_all_pairs() const {
    const int64_t rows = p_.h_kv == 0 ? 0 : p_.h_q / p_.h_kv * p_.n_q;
    const int64_t wide = sizeof(T) == 8 ? p_.b * p_.h_kv * (ceil_div(p_.n_kv, 512) + 1) : 0;
    return static_cast<Real>(rows * std::min<int64_t>(p_.n_kv, 512) + wide + 8);
  }

  static std::vector<Real> with_chain(std::vector<Real> off, const std::vector<Real>& terms, Real roundings) {
    for (size_t i = 0; i < off.size(); ++i) off[i] += roundings * u * (terms[i] + off[i]);
    return off;
  }

  Bounds bounds_of_sums() const {
    const Real factor = 1 + rounding_of_factor();
    const auto ds = for_rows([this](int64_t row) { return ds_error(row); });
    const auto sloped =
        for_rows([&](int64_t row) { return (1 + ds_error(row)) * (1 + slope_error(row)) * factor - 1; });
    const auto weights = for_rows([&](int64_t row) { return (1 + weight_error(row)) * factor - 1; });
    Sums of_ds = reference::attention_backward(p_, d_o_, ds);
    const Sums of_weights = reference::attention_backward(p_, d_o_, weights);
    Bounds off;
    off.dbias = with_chain(reduced(of_ds.abs_dbias), reduced(exact.abs_dbias), bias_chain());
    off.dsinks = with_chain(of_ds.abs_dsinks, exact.abs_dsinks, sink_chain());
    if (sloped != ds) of_ds = reference::attention_backward(p_, d_o_, sloped);
    off.dq = with_chain(of_ds.abs_dq, exact.abs_dq, key_chain());
    off.dk = with_chain(of_ds.abs_dk, exact.abs_dk, row_chain());
    off.dv = with_chain(of_weights.abs_dv, exact.abs_dv, row_chain());
    off.dw_q = with_chain(of_ds.abs_dw_q, exact.abs_dw_q, pair_chain());
    off.dw_k = with_chain(of_ds.abs_dw_k, exact.abs_dw_k, pair_chain());
    off.dw = with_chain(of_ds.abs_dw, exact.abs_dw, chain_of_all_pairs());
    off.db = with_chain(of_ds.abs_db, exact.abs_db, pair_chain());
    return off;
  }

  /// A key of a row in absolute values, as if its weight were 1.
  struct Term {
    int64_t key;
    Real da;  ///< A
  };
  /// A row likewise: keys that take part, D, and the sum of |d_o|.
  struct Row {
    int64_t b, h, i;
    std::vector<Term> terms = {};
    Real delta = 0, d_o = 0;
  };
  /// Rows of scores -inf alone add nothing, whatever their d_o.
  bool has_weight(int64_t row) const {
    const auto first = forward_.exact.weights.begin() + row * p_.n_kv;
    return forward_.exact.sink_weights[row] != 0 || std::any_of(first, first + p_.n_kv, [](Real a) { return a != 0; });
  }
  Row row_of_ones(int64_t b, int64_t h, int64_t i) const;
  Real ds_floor(const Row& row, const Term& term) const;
  void add_floors(const Row& row, Sums& floors) const;
  Bounds floors_of_sums() const;

  /// What two numbers up to x, of any sign, are apart, either with the roundings of its sums and of a stored o.
  static Real apart(Real x) { return 2 * x * (1 + std::ldexp(Real{1}, -6)); }
  Real most() const { return 1 / (1 - static_cast<Real>(p_.dropout)); }
  /// What a product may lose: the subnormal numbers, where the target flushes them.
  Real lost() const { return native_gradients() ? tiny : least; }
  /// What d_o . o is off by beside its relative error.
  Real delta_floor(const Row& row) const {
    const Storage<Real>& storage = forward_.storage;
    const Real of_sum = static_cast<Real>(p_.n_kv + 8) * (least + storage.native_underflow());
    return tiny * row.delta + (of_sum + half_least<Real>(storage.q)) * row.d_o + least;
  }

  const Expected<T> forward_;
  const reference::Problem<Real>& p_;
  const std::vector<Real>& d_o_;
  const Shape bias_shape_;
  mutable std::map<std::pair<bool, bool>, Bounds> bounds_, floors_;
};

template <class T>
typename ExpectedGradients<T>::Row ExpectedGradients<T>::row_of_ones(int64_t b, int64_t h, int64_t i) const {
  Row row{.b = b, .h = h, .i = i};
  const Real* d_o = d_o_.data() + reference::query_row(p_, b, h, i) * p_.d_v;
  for (int64_t d = 0; d < p_.d_v; ++d) row.d_o += std::abs(d_o[d]);
  for (int64_t j = 0; j < p_.n_kv; ++j) {
    if (!reference::takes_part(p_, b, h, i, j)) continue;
    const Real* v = p_.v.data() + reference::key_row(p_, b, h, j) * p_.d_v;
    Real da = 0;
    for (int64_t d = 0; d < p_.d_v; ++d) da += most() * std::abs(d_o[d] * v[d]);
    row.terms.push_back({j, da});
    row.delta += da;
  }
  return row;
}

/// Of an unknown weight ds is anything up to A + D, on either side. Otherwise: the weight, softcap's derivative and what is
/// lost of the sums that go into ds.
template <class T>
Judge<T> ExpectedGradients<T>::ds_floor(const Row& row, const Term& term) const {
  const Real size = term.da + row.delta;
  if (knows_nothing(reference::query_row(p_, row.b, row.h, row.i))) return apart(size);
  const Real of_sums = static_cast<Real>(p_.d_v + 4) * most() * lost();
  return (p_.softcap > 0 ? 5 : 1) * tiny * size + delta_floor(row) + of_sums;
}

template <class T>
void ExpectedGradients<T>::add_floors(const Row& row, Sums& floors) const {
  const int64_t at = reference::query_row(p_, row.b, row.h, row.i);
  const bool unknown = knows_nothing(at);
  const Real scale = std::abs(reference::scale_of(p_));
  const Real weight = unknown ? most() : tiny * most() + least;
  floors.abs_dsinks[row.h] += unknown ? apart(row.delta) : tiny * row.delta + delta_floor(row);
  for (const Term& term : row.terms) {
    const int64_t key = reference::key_row(p_, row.b, row.h, term.key);
    const Real ds = ds_floor(row, term);
    floors.abs_dbias[at * p_.n_kv + term.key] = ds;
    if (p_.network.present()) {
      reference::add_gradients_of_network(p_, at, key, Real{0}, scale * ds + 3 * least, floors);
    } else {
      reference::add_gradients_of_product(p_, at, key, Real{0}, scale * ds, floors);
    }
    const Real of_products = p_.network.present() ? static_cast<Real>(3 * p_.network.d_a) * least : scale * lost();
    for (int64_t d = 0; d < p_.d_k; ++d) {
      floors.abs_dq[at * p_.d_k + d] += of_products;
      floors.abs_dk[key * p_.d_k + d] += of_products;
    }
    for (auto* floor : {&floors.abs_dw_q, &floors.abs_dw_k, &floors.abs_dw, &floors.abs_db}) {
      for (Real& x : *floor) x += 3 * least;
    }
    for (int64_t d = 0; d < p_.d_v; ++d) {
      floors.abs_dv[key * p_.d_v + d] += weight * std::abs(d_o_[at * p_.d_v + d]) + lost();
    }
  }
}

template <class T>
typename ExpectedGradients<T>::Bounds ExpectedGradients<T>::floors_of_sums() const {
  Sums floors = reference::no_gradients(p_);
  for (auto* floor : {&floors.abs_dq, &floors.abs_dk, &floors.abs_dv, &floors.abs_dsinks, &floors.abs_dw_q,
                      &floors.abs_dw_k, &floors.abs_dw, &floors.abs_db}) {
    std::fill(floor->begin(), floor->end(), least);
  }
  for (int64_t b = 0; b < p_.b; ++b)
    for (int64_t h = 0; h < p_.h_q; ++h)
      for (int64_t i = 0; i < reference::q_length(p_, b); ++i) {
        if (has_weight(reference::query_row(p_, b, h, i))) add_floors(row_of_ones(b, h, i), floors);
      }
  return {floors.abs_dq,   floors.abs_dk, floors.abs_dv, reduced(floors.abs_dbias), floors.abs_dsinks, floors.abs_dw_q,
          floors.abs_dw_k, floors.abs_dw, floors.abs_db};
}

/// Judges the elements of one gradient.
template <class T>
class GradientJudge {
 public:
  using Real = Judge<T>;
  using Bounds = typename ExpectedGradients<T>::Bounds;

  GradientJudge(const char* name, const Stored& got, const std::vector<Real>& want,
                const ExpectedGradients<T>& expected, std::vector<Real> Bounds::*of, Verdict& verdict)
      : name_(name),
        got_(got),
        want_(want),
        expected_(expected),
        of_(of),
        bound_(expected.bounds().*of),
        verdict_(verdict) {}

  /// Element [b, h, i, d] of the gradient against element `column` of row `row` of the oracle's, `columns` to a row.
  void element(int64_t b, int64_t h, int64_t i, int64_t d, int64_t row, int64_t column, int64_t columns) const {
    const double got = got_.at(b, h, i, d);
    const auto at = static_cast<size_t>(row * columns + column);
    const Real want = want_[at];
    if (std::isinf(want)) {
      // A weight that underflows to 0 makes NaN of it.
      if (std::isfinite(got)) verdict_.refuse(got, want, Real{0}, name_, row, column);
      return;
    }
    // A flat tanh has a slope of some u or 0, of any sign: infinity times it is either.
    if (std::isnan(want) && std::isinf(got) && expected_.has_network()) return;
    Real bound = bound_[at];
    if (std::isfinite(want) && !Verdict::fits(got, want, bound, got_.dtype())) bound += (expected_.floors().*of_)[at];
    verdict_.near(got, want, bound, got_.dtype(), name_, row, column);
  }

 private:
  const char* name_;
  const Stored& got_;
  const std::vector<Real>& want_;
  const ExpectedGradients<T>& expected_;
  std::vector<Real> Bounds::*of_;
  const std::vector<Real>& bound_;
  Verdict& verdict_;
};

/// Judges the rows of each sequence that a map places, `heads` times n rows of d elements in the oracle's array.
template <class T>
void judge_rows(const GradientJudge<T>& judge, const RowMap& map, int64_t heads, int64_t n, int64_t d) {
  for (size_t b = 0; b < map.places.size(); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < map.rows_of(static_cast<int64_t>(b)); ++i) {
        const RowMap::Place place = map.places[b][i];
        const int64_t row = (static_cast<int64_t>(b) * heads + h) * n + i;
        for (int64_t column = 0; column < d; ++column) {
          judge.element(place.batch, h, place.row, column, row, column, d);
        }
      }
}

/// Judges a backward pass that has been made. Empty if all is well.
template <class T>
std::string judge(const GradientCase<T>& c, const ExpectedGradients<T>& expected) {
  using Bounds = typename ExpectedGradients<T>::Bounds;
  const Spec& s = c.forward.spec;
  const RowMap &queries = c.forward.sequences.queries, &keys = c.forward.sequences.keys;
  const auto& exact = expected.exact;
  Verdict verdict;
  if (c.spec.want_dq) {
    const GradientJudge<T> judge("dq", c.dq, exact.dq, expected, &Bounds::dq, verdict);
    judge_rows(judge, queries, s.h_q, s.n_q, s.d_k);
  }
  if (c.spec.want_dk) {
    const GradientJudge<T> judge("dk", c.dk, exact.dk, expected, &Bounds::dk, verdict);
    judge_rows(judge, keys, s.h_kv, s.n_kv, s.d_k);
  }
  if (c.spec.want_dv) {
    const GradientJudge<T> judge("dv", c.dv, exact.dv, expected, &Bounds::dv, verdict);
    judge_rows(judge, keys, s.h_kv, s.n_kv, s.d_v);
  }
  if (c.spec.want_dbias) {
    const Shape& e = c.dbias.shape();
    const std::vector<Judge<T>> want = expected.reduced(exact.dbias);
    const GradientJudge<T> judge("dbias", c.dbias, want, expected, &Bounds::dbias, verdict);
    for (int64_t b = 0; b < e[0]; ++b)
      for (int64_t h = 0; h < e[1]; ++h)
        for (int64_t i = 0; i < e[2]; ++i)
          for (int64_t j = 0; j < e[3]; ++j) judge.element(b, h, i, j, (b * e[1] + h) * e[2] + i, j, e[3]);
  }
  if (c.spec.want_dsinks) {
    const GradientJudge<T> judge("dsinks", c.dsinks, exact.dsinks, expected, &Bounds::dsinks, verdict);
    for (int64_t h = 0; h < s.h_q; ++h) judge.element(0, 0, 0, h, 0, h, s.h_q);
  }
  if (!verdict.ok()) return verdict.words();
  return c.padding_intact() ? "" : "something was written beside the gradients";
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_GRADIENT_BOUND_H_
