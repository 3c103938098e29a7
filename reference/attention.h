// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle: attention as its formula reads, one plain loop after another. Slow on purpose, and shared with nothing:
// the engine is judged by it, in double for float32 and in long double for float64.
//
//   s_ij  = scale * (q_i . k_j)                     with a network, the sum of additive.h for q_i . k_j
//   s_ij  = softcap * tanh(s_ij / softcap)          where softcap > 0
//   s_ij += bias_ij
//   s_ij -= alibi_h * |p_i - j|
//   j takes part iff mask_ij, causal (j <= p_i), window (p_i - left <= j <= p_i + right), j < kv_length_b,
//   bias_ij != -inf and the block that i and j are in all allow it
//   z_i   = sum_j exp(s_ij)  (+ exp(sink_h))        lse_i = ln z_i
//   a_ij  = exp(s_ij) / z_i                         o_i   = sum_j a_ij v_j
//
// What takes no part is never touched. What takes part propagates NaN and Inf as IEEE arithmetic does, a weight that
// underflowed to 0 times a NaN value included.
//
// Nothing is validated: shapes that do not fit are undefined behaviour. Memory is O(n_q * n_kv), for the weights.
#ifndef FOVEATE_REFERENCE_ATTENTION_H_
#define FOVEATE_REFERENCE_ATTENTION_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "reference/additive.h"
#include "reference/philox.h"

namespace foveate::reference {

enum class Align {
  bottom_right,  ///< p_i = i + (n_kv - n_q), by the lengths of the sequence
  top_left,      ///< p_i = i
};

/// One call. Arrays are packed, optional ones are left empty; `widened` and `broadcast` (arrays.h) make them from
/// narrower and smaller ones.
template <class Real>
struct Problem {
  int64_t b = 1, h_q = 1, h_kv = 1, n_q = 1, n_kv = 1, d_k = 1, d_v = 1;
  std::vector<Real> q = {};  ///< [b, h_q, n_q, d_k]
  std::vector<Real> k = {};  ///< [b, h_kv, n_kv, d_k]
  std::vector<Real> v = {};  ///< [b, h_kv, n_kv, d_v]

  Network<Real> network = {};  ///< of additive scores; left out: products

  std::optional<Real> scale = {};  ///< left out: 1 / sqrt(d_k), or 1 with a network
  bool causal = false;
  Align align = Align::bottom_right;
  int64_t window_left = -1;  ///< inclusive, as window_right; -1: unlimited
  int64_t window_right = -1;
  std::vector<char> mask = {};    ///< [b, h_q, n_q, n_kv], nonzero = takes part
  std::vector<Real> bias = {};    ///< [b, h_q, n_q, n_kv]
  std::vector<char> blocks = {};  ///< [b, h_q, ceil(n_q / block_size), ceil(n_kv / block_size)], nonzero = kept
  int64_t block_size = 0;
  Real softcap = 0;                       ///< 0: off
  std::vector<Real> alibi_slopes = {};    ///< [h_q]
  std::vector<Real> sinks = {};           ///< [h_q]
  std::vector<int64_t> q_lengths = {};    ///< [b]
  std::vector<int64_t> kv_lengths = {};   ///< [b]
  std::optional<int64_t> q_offset = {};   ///< p_i = q_offset + i, whatever `align`
  std::optional<int64_t> kv_offset = {};  ///< key j stands at kv_offset + j; left out: 0

  double dropout = 0;  ///< o_i = sum_j a_ij keep_ij / (1 - dropout) v_j
  uint64_t seed = 0;
};

/// The outputs, and what a bound of their rounding errors is made of:
///
///   |o - exact| <= abs_o * (c eps + 2 max_j e_ij)
///   e_ij        <= (d_k + c) eps * score_magnitude + c eps * addend_magnitude      d_k + d_a with a network
///
/// The magnitudes are the largest over the keys that take part and score above -inf; 0 where there are none.
template <class Real>
struct Result {
  std::vector<Real> o;             ///< [b, h_q, n_q, d_v]
  std::vector<Real> lse;           ///< [b, h_q, n_q]
  std::vector<Real> weights;       ///< [b, h_q, n_q, n_kv]: a_ij, 0 where j takes no part
  std::vector<Real> sink_weights;  ///< [b, h_q, n_q]: exp(sink_h) / z_i, 0 where lse_i is sink_h, for want of keys

  std::vector<Real> abs_o;             ///< [b, h_q, n_q, d_v]: sum_j a_ij |v_jd|
  std::vector<Real> score_magnitude;   ///< [b, h_q, n_q]: max_j |scale| * sum_d |q_id k_jd|, or network_sum's
  std::vector<Real> addend_magnitude;  ///< [b, h_q, n_q]: max_j |capped score| + |bias_ij| + |alibi term|
  std::vector<Real> argument;          ///< [b, h_q, n_q]: max_j of network_sum's; 0 without a network
};

/// The score of one pair, in the steps of the formula.
template <class Real>
struct Score {
  Real magnitude = 0;  ///< |scale| * sum_d |q_id k_jd|, or network_sum's
  Real argument = 0;   ///< network_sum's
  Real scaled = 0;     ///< scale * (q_i . k_j)
  Real capped = 0;     ///< the same through softcap
  Real bias = 0;
  Real alibi = 0;  ///< alibi_h * |p_i - j|

  Real value() const { return capped + bias - alibi; }
  Real addend_magnitude() const { return std::abs(capped) + std::abs(bias) + std::abs(alibi); }
};

template <class Real>
int64_t q_length(const Problem<Real>& p, int64_t b) {
  return p.q_lengths.empty() ? p.n_q : p.q_lengths[b];
}

template <class Real>
int64_t kv_length(const Problem<Real>& p, int64_t b) {
  return p.kv_lengths.empty() ? p.n_kv : p.kv_lengths[b];
}

/// p_i: where query i stands among the keys.
template <class Real>
int64_t query_position(const Problem<Real>& p, int64_t b, int64_t i) {
  if (p.q_offset) return *p.q_offset + i;
  if (p.align == Align::top_left) return i;
  return i + (kv_length(p, b) - q_length(p, b));
}

template <class Real>
int64_t key_position(const Problem<Real>& p, int64_t j) {
  return p.kv_offset.value_or(0) + j;
}

template <class Real>
Real scale_of(const Problem<Real>& p) {
  return p.scale.value_or(p.network.present() ? 1 : 1 / std::sqrt(static_cast<Real>(p.d_k)));
}

/// Which row of q, o and lse query i of head h is.
template <class Real>
int64_t query_row(const Problem<Real>& p, int64_t b, int64_t h, int64_t i) {
  return (b * p.h_q + h) * p.n_q + i;
}

/// Which row of k and v key j is to query head h.
template <class Real>
int64_t key_row(const Problem<Real>& p, int64_t b, int64_t h, int64_t j) {
  return (b * p.h_kv + h / (p.h_q / p.h_kv)) * p.n_kv + j;
}

/// Where pair [b, h, i, j] lies in mask, bias and weights.
template <class Real>
int64_t pair_index(const Problem<Real>& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  return query_row(p, b, h, i) * p.n_kv + j;
}

/// Whether the block that i and j are in is kept.
template <class Real>
bool keeps_block(const Problem<Real>& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  if (p.blocks.empty()) return true;
  const int64_t rows = (p.n_q + p.block_size - 1) / p.block_size, columns = (p.n_kv + p.block_size - 1) / p.block_size;
  return p.blocks[((b * p.h_q + h) * rows + i / p.block_size) * columns + j / p.block_size] != 0;
}

/// Whether key j takes part for query i < q_length_b of head h.
template <class Real>
bool takes_part(const Problem<Real>& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  if (j >= kv_length(p, b)) return false;
  const int64_t ahead = key_position(p, j) - query_position(p, b, i);
  if (p.causal && ahead > 0) return false;
  if (p.window_left >= 0 && -ahead > p.window_left) return false;
  if (p.window_right >= 0 && ahead > p.window_right) return false;
  const int64_t pair = pair_index(p, b, h, i, j);
  if (!p.mask.empty() && !p.mask[pair]) return false;
  if (!keeps_block(p, b, h, i, j)) return false;
  return p.bias.empty() || p.bias[pair] != -std::numeric_limits<Real>::infinity();
}

template <class Real>
Sum<Real> product(const Real* q, const Real* k, int64_t d_k) {
  Sum<Real> dot;
  for (int64_t d = 0; d < d_k; ++d) {
    dot.value += q[d] * k[d];
    dot.magnitude += std::abs(q[d] * k[d]);
  }
  return dot;
}

/// The score of a pair that takes part.
template <class Real>
Score<Real> score(const Problem<Real>& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  const Real* q = p.q.data() + query_row(p, b, h, i) * p.d_k;
  const Real* k = p.k.data() + key_row(p, b, h, j) * p.d_k;
  const Sum<Real> sum = p.network.present() ? network_sum(p.network, q, k, p.d_k) : product(q, k, p.d_k);

  Score<Real> s;
  s.magnitude = std::abs(scale_of(p)) * sum.magnitude;
  s.argument = sum.argument;
  s.scaled = scale_of(p) * sum.value;
  s.capped = p.softcap > 0 ? p.softcap * std::tanh(s.scaled / p.softcap) : s.scaled;
  if (!p.bias.empty()) s.bias = p.bias[pair_index(p, b, h, i, j)];
  if (!p.alibi_slopes.empty()) {
    const int64_t distance = std::abs(query_position(p, b, i) - key_position(p, j));
    s.alibi = p.alibi_slopes[h] * static_cast<Real>(distance);
  }
  return s;
}

/// The larger of the two; NaN if either is, unlike std::max.
template <class Real>
Real larger(Real x, Real y) {
  return std::isnan(x) || x >= y ? x : y;
}

/// A key that takes part in a row.
template <class Real>
struct Pair {
  int64_t j;
  Score<Real> score;
};

/// The keys that take part for query i < q_length_b of head h, first to last.
template <class Real>
std::vector<Pair<Real>> pairs_of(const Problem<Real>& p, int64_t b, int64_t h, int64_t i) {
  std::vector<Pair<Real>> pairs;
  for (int64_t j = 0; j < p.n_kv; ++j) {
    if (takes_part(p, b, h, i, j)) pairs.push_back({j, score(p, b, h, i, j)});
  }
  return pairs;
}

/// The largest score. -inf: no key takes part, or all that do score -inf, and no value has a say, not even a NaN.
template <class Real>
Real top_of(const std::vector<Pair<Real>>& pairs) {
  Real top = -std::numeric_limits<Real>::infinity();
  for (const Pair<Real>& pair : pairs) top = larger(top, pair.score.value());
  return top;
}

/// What dropout makes of the weight of a pair: a factor of 1 / (1 - dropout), or 0.
template <class Real>
Real kept(const Problem<Real>& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  if (p.dropout == 0) return 1;
  const bool keep = keeps(p.dropout, p.seed, b, h, query_position(p, b, i), key_position(p, j));
  return keep ? 1 / (1 - static_cast<Real>(p.dropout)) : 0;
}

/// One row of every output, where i < q_length_b.
template <class Real>
void attend_row(const Problem<Real>& p, int64_t b, int64_t h, int64_t i, Result<Real>& r) {
  constexpr Real inf = std::numeric_limits<Real>::infinity();
  const int64_t row = query_row(p, b, h, i);
  Real* o = r.o.data() + row * p.d_v;
  Real* abs_o = r.abs_o.data() + row * p.d_v;

  const std::vector<Pair<Real>> pairs = pairs_of(p, b, h, i);
  for (const auto& [j, s] : pairs) {
    if (s.value() == -inf) continue;  // a weight of 0 carries no rounding error
    r.score_magnitude[row] = std::max(r.score_magnitude[row], s.magnitude);
    r.addend_magnitude[row] = std::max(r.addend_magnitude[row], s.addend_magnitude());
    r.argument[row] = std::max(r.argument[row], s.argument);
  }

  // The weight of a sink of +inf is inf - inf, so NaN: the same as a sink of NaN.
  Real sink = p.sinks.empty() ? -inf : p.sinks[h];
  if (sink == inf) sink = std::numeric_limits<Real>::quiet_NaN();

  Real top = top_of(pairs);
  if (top == -inf) {
    r.lse[row] = sink;
    std::fill(o, o + p.d_v, std::isnan(sink) ? sink : Real{0});
    return;
  }

  // exp(s - top), lest exp(s) overflow: the factor exp(top) cancels in the weights.
  top = larger(top, sink);
  Real z = std::exp(sink - top);
  for (const auto& [j, s] : pairs) z += std::exp(s.value() - top);
  r.lse[row] = top + std::log(z);
  r.sink_weights[row] = std::exp(sink - top) / z;

  for (const auto& [j, s] : pairs) {
    const Real a = std::exp(s.value() - top) / z;
    const Real share = a * kept(p, b, h, i, j);
    const Real* v = p.v.data() + key_row(p, b, h, j) * p.d_v;
    r.weights[pair_index(p, b, h, i, j)] = a;
    for (int64_t d = 0; d < p.d_v; ++d) {
      o[d] += share * v[d];
      abs_o[d] += share * std::abs(v[d]);
    }
  }
}

/// The whole forward operation. Rows at or past q_length_b: o = 0, lse = -inf, weights 0, whatever the sink.
template <class Real>
Result<Real> attention(const Problem<Real>& p) {
  const size_t rows = p.b * p.h_q * p.n_q;
  Result<Real> r;
  r.o.assign(rows * p.d_v, 0);
  r.lse.assign(rows, -std::numeric_limits<Real>::infinity());
  r.weights.assign(rows * p.n_kv, 0);
  r.sink_weights.assign(rows, 0);
  r.abs_o.assign(rows * p.d_v, 0);
  r.score_magnitude.assign(rows, 0);
  r.addend_magnitude.assign(rows, 0);
  r.argument.assign(rows, 0);

  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t h = 0; h < p.h_q; ++h)
      for (int64_t i = 0; i < q_length(p, b); ++i) attend_row(p, b, h, i, r);
  return r;
}

}  // namespace foveate::reference

#endif  // FOVEATE_REFERENCE_ATTENTION_H_
