// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle's gradients, as their formulae read. With the symbols of attention.h, d_o the gradient of a loss by o, and
// kept_ij = keep_ij / (1 - dropout):
//
//   da_ij   = kept_ij (d_o_i . v_j)
//   ds_ij   = a_ij (da_ij - d_o_i . o_i)
//   dv_j    = sum_i a_ij kept_ij d_o_i              over all rows of all query heads that read this key head
//   dq_i    = scale sum_j ds_ij c_ij k_j            c_ij = 1 - tanh^2(scale (q_i . k_j) / softcap)
//   dk_j    = scale sum_i ds_ij c_ij q_i
//   dbias   = ds
//   dsink_h = -sum_i exp(sink_h) / z_i (d_o_i . o_i)
//
// With a network (additive.h), g_ija = scale ds_ij c_ij w_a (1 - tanh^2 x_ija):
//
//   dq_i    = sum_ja g_ija w_q_a                    dk_j    = sum_ia g_ija w_k_a
//   dw_q_a  = sum_ij g_ija q_i                      dw_k_a  = sum_ij g_ija k_j       over all heads and sequences
//   db_a    = sum_ij g_ija                          dw_a    = scale sum_ij ds_ij c_ij tanh x_ija
//
// What takes no part is never touched. In what takes part NaN and Inf go where the sums over pairs that take part carry
// them: through a dropped pair too, which is a factor of 0. A row that sees no key, or scores of -inf alone, adds nothing
// to any gradient, whatever its q and d_o; if its o is NaN all the same, which is the sink's doing, then so is dsink. A
// sink of -inf is none: its gradient is 0.
#ifndef FOVEATE_REFERENCE_ATTENTION_BACKWARD_H_
#define FOVEATE_REFERENCE_ATTENTION_BACKWARD_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/attention.h"

namespace foveate::reference {

/// The gradients, and what bounds of their rounding errors are made of: the sums of the formulae with each term's absolute
/// value in its place, and each row's share times the row's factor w_i. With A_ij = kept_ij sum_d |d_o_id v_jd| and
/// D_i = sum_d |d_o_id| abs_o_id:
template <class Real>
struct Gradients {
  std::vector<Real> dq;      ///< [b, h_q, n_q, d_k]
  std::vector<Real> dk;      ///< [b, h_kv, n_kv, d_k]
  std::vector<Real> dv;      ///< [b, h_kv, n_kv, d_v]
  std::vector<Real> dbias;   ///< [b, h_q, n_q, n_kv]: ds, 0 where j takes no part; `reduced` (arrays.h) sums it
  std::vector<Real> dsinks;  ///< [h_q]
  std::vector<Real> dw_q;    ///< [d_a, d_k], as dw_k
  std::vector<Real> dw_k;
  std::vector<Real> dw;  ///< [d_a], as db
  std::vector<Real> db;

  std::vector<Real> abs_dq;      ///< |scale| sum_j w_i a_ij (A_ij + D_i) c_ij |k_jd|
  std::vector<Real> abs_dk;      ///< |scale| sum_i w_i a_ij (A_ij + D_i) c_ij |q_id|
  std::vector<Real> abs_dv;      ///< sum_i w_i a_ij kept_ij |d_o_id|
  std::vector<Real> abs_dbias;   ///< w_i a_ij (A_ij + D_i)
  std::vector<Real> abs_dsinks;  ///< sum_i w_i exp(sink_h) / z_i D_i

  /// With a network, and abs_dq and abs_dk too: 1 stands for tanh and its slope, both of which are off by amounts of their
  /// own.
  std::vector<Real> abs_dw_q, abs_dw_k, abs_dw, abs_db;
};

/// c_ij: the derivative of softcap at a score.
template <class Real>
Real softcap_slope(const Problem<Real>& p, Real scaled) {
  return p.softcap == 0 ? 1 : tanh_slope(scaled / p.softcap);
}

/// What a pair adds to the gradients by q . k's operands. ds: the gradient by the product, abs_ds: its magnitude.
template <class Real>
void add_gradients_of_product(const Problem<Real>& p, int64_t row, int64_t key, Real ds, Real abs_ds,
                              Gradients<Real>& g) {
  const Real *q = p.q.data() + row * p.d_k, *k = p.k.data() + key * p.d_k;
  for (int64_t d = 0; d < p.d_k; ++d) {
    g.dq[row * p.d_k + d] += ds * k[d];
    g.dk[key * p.d_k + d] += ds * q[d];
    g.abs_dq[row * p.d_k + d] += abs_ds * std::abs(k[d]);
    g.abs_dk[key * p.d_k + d] += abs_ds * std::abs(q[d]);
  }
}

/// By those of the network's sum, likewise.
template <class Real>
void add_gradients_of_network(const Problem<Real>& p, int64_t row, int64_t key, Real ds, Real abs_ds,
                              Gradients<Real>& g) {
  const Network<Real>& n = p.network;
  const Real *q = p.q.data() + row * p.d_k, *k = p.k.data() + key * p.d_k;
  for (int64_t a = 0; a < n.d_a; ++a) {
    const Real x = feature(n, a, q, k, p.d_k).x;
    const Real slope = tanh_slope(x), dx = ds * n.w[a] * slope, abs_dx = abs_ds * std::abs(n.w[a]);
    g.dw[a] += ds * std::tanh(x);
    g.db[a] += dx;
    g.abs_dw[a] += abs_ds;
    g.abs_db[a] += abs_dx;
    if (slope == 0 && dx == 0) continue;  // of an infinite row: the limit, where 0 times infinity is none
    for (int64_t d = 0; d < p.d_k; ++d) {
      const int64_t weight = a * p.d_k + d;
      g.dq[row * p.d_k + d] += dx * n.w_q[weight];
      g.dk[key * p.d_k + d] += dx * n.w_k[weight];
      g.dw_q[weight] += dx * q[d];
      g.dw_k[weight] += dx * k[d];
      g.abs_dq[row * p.d_k + d] += abs_dx * std::abs(n.w_q[weight]);
      g.abs_dk[key * p.d_k + d] += abs_dx * std::abs(n.w_k[weight]);
      g.abs_dw_q[weight] += abs_dx * std::abs(q[d]);
      g.abs_dw_k[weight] += abs_dx * std::abs(k[d]);
    }
  }
}

/// What one row adds to every gradient, where i < q_length_b. r: the forward operation's result; w: the row's factor.
template <class Real>
void add_gradients_of_row(const Problem<Real>& p, const Result<Real>& r, const std::vector<Real>& d_o, Real w,
                          int64_t b, int64_t h, int64_t i, Gradients<Real>& g) {
  constexpr Real inf = std::numeric_limits<Real>::infinity();
  const int64_t row = query_row(p, b, h, i);
  const Real* d_o_i = d_o.data() + row * p.d_v;

  const std::vector<Pair<Real>> pairs = pairs_of(p, b, h, i);
  if (top_of(pairs) == -inf) {
    if (std::isnan(r.lse[row])) g.dsinks[h] = r.lse[row];
    return;
  }

  Real delta = 0, abs_delta = 0;
  for (int64_t d = 0; d < p.d_v; ++d) {
    delta += d_o_i[d] * r.o[row * p.d_v + d];
    abs_delta += std::abs(d_o_i[d]) * r.abs_o[row * p.d_v + d];
  }

  if (!p.sinks.empty() && p.sinks[h] != -inf) {
    g.dsinks[h] -= r.sink_weights[row] * delta;
    g.abs_dsinks[h] += w * r.sink_weights[row] * abs_delta;
  }

  for (const auto& [j, s] : pairs) {
    const int64_t pair = pair_index(p, b, h, i, j), key = key_row(p, b, h, j);
    const Real* v = p.v.data() + key * p.d_v;
    const Real a = r.weights[pair], keep = kept(p, b, h, i, j);

    Real da = 0, abs_da = 0;
    for (int64_t d = 0; d < p.d_v; ++d) {
      da += keep * d_o_i[d] * v[d];
      abs_da += keep * std::abs(d_o_i[d] * v[d]);
      g.dv[key * p.d_v + d] += a * keep * d_o_i[d];
      g.abs_dv[key * p.d_v + d] += w * a * keep * std::abs(d_o_i[d]);
    }
    const Real ds = a * (da - delta), abs_ds = w * a * (abs_da + abs_delta);
    g.dbias[pair] = ds;
    g.abs_dbias[pair] = abs_ds;

    const Real slope = scale_of(p) * softcap_slope(p, s.scaled);  // of the score, by q_i . k_j
    const auto add = p.network.present() ? add_gradients_of_network<Real> : add_gradients_of_product<Real>;
    add(p, row, key, slope * ds, std::abs(slope) * abs_ds, g);
  }
}

/// All there are, 0.
template <class Real>
Gradients<Real> no_gradients(const Problem<Real>& p) {
  const size_t rows = p.b * p.h_q * p.n_q, keys = p.b * p.h_kv * p.n_kv, features = p.network.d_a;
  Gradients<Real> g;
  for (auto* dq : {&g.dq, &g.abs_dq}) dq->assign(rows * p.d_k, 0);
  for (auto* dk : {&g.dk, &g.abs_dk}) dk->assign(keys * p.d_k, 0);
  for (auto* dv : {&g.dv, &g.abs_dv}) dv->assign(keys * p.d_v, 0);
  for (auto* dbias : {&g.dbias, &g.abs_dbias}) dbias->assign(rows * p.n_kv, 0);
  for (auto* dsinks : {&g.dsinks, &g.abs_dsinks}) dsinks->assign(p.h_q, 0);
  for (auto* dw : {&g.dw_q, &g.dw_k, &g.abs_dw_q, &g.abs_dw_k}) dw->assign(features * p.d_k, 0);
  for (auto* dw : {&g.dw, &g.db, &g.abs_dw, &g.abs_db}) dw->assign(features, 0);
  return g;
}

/// The whole backward operation, after a forward one of its own. d_o: [b, h_q, n_q, d_v]. row_factor: [b, h_q, n_q], the
/// w_i of the magnitudes; empty: 1.
template <class Real>
Gradients<Real> attention_backward(const Problem<Real>& p, const std::vector<Real>& d_o,
                                   const std::vector<Real>& row_factor = {}) {
  Gradients<Real> g = no_gradients(p);
  const Result<Real> r = attention(p);
  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t h = 0; h < p.h_q; ++h)
      for (int64_t i = 0; i < q_length(p, b); ++i) {
        const Real w = row_factor.empty() ? 1 : row_factor[query_row(p, b, h, i)];
        add_gradients_of_row(p, r, d_o, w, b, h, i, g);
      }
  return g;
}

}  // namespace foveate::reference

#endif  // FOVEATE_REFERENCE_ATTENTION_BACKWARD_H_
