// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle of linear attention, as its formulae read: pair by pair, in time n_q * n_kv, which is what the engine is
// spared.
//
//   phi(x) = x + 1 where x > 0, exp(x) elsewhere
//   A_ij   = phi(q_i) . phi(k_j)                    D_i = sum_j A_ij          o_i = sum_j A_ij v_j / D_i
//   j takes part iff mask_j, causal (j <= p_i) and j < kv_length_b all allow it
//
//   da_ij  = (d_o_i . v_j - d_o_i . o_i) / D_i      the gradient by A_ij
//   dq_i   = phi'(q_i) * sum_j da_ij phi(k_j)       phi'(x) = 1 where x > 0, exp(x) elsewhere
//   dk_j   = phi'(k_j) * sum_i da_ij phi(q_i)       over all rows of all query heads that read this key head
//   dv_j   = sum_i A_ij d_o_i / D_i
//
// What takes no part is never touched. What takes part propagates NaN and Inf as IEEE arithmetic does. A row that sees
// no key has o = 0 and adds nothing to any gradient; so has one whose D is 0, for 1 / D counts as 0 then.
//
// Nothing is validated: shapes that do not fit are undefined behaviour.
#ifndef FOVEATE_REFERENCE_LINEAR_H_
#define FOVEATE_REFERENCE_LINEAR_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace foveate::reference::linear {

/// One call. Arrays are packed, optional ones are left empty.
template <class Real>
struct Problem {
  int64_t b = 1, h_q = 1, h_kv = 1, n_q = 1, n_kv = 1, d_k = 1, d_v = 1;
  std::vector<Real> q = {};  ///< [b, h_q, n_q, d_k]
  std::vector<Real> k = {};  ///< [b, h_kv, n_kv, d_k]
  std::vector<Real> v = {};  ///< [b, h_kv, n_kv, d_v]

  bool causal = false;
  bool top_left = false;                 ///< p_i = i; else p_i = i + (n_kv - n_q), by the lengths of the sequence
  std::optional<int64_t> q_offset = {};  ///< p_i = q_offset + i outright
  std::vector<char> mask = {};           ///< [b, h_kv, n_kv], nonzero = takes part
  std::vector<int64_t> q_lengths = {};   ///< [b]
  std::vector<int64_t> kv_lengths = {};  ///< [b]
};

/// The output, and what a bound of its rounding error is made of.
template <class Real>
struct Result {
  std::vector<Real> o;      ///< [b, h_q, n_q, d_v]
  std::vector<Real> abs_o;  ///< the same: sum_j A_ij |v_jd| / D_i
};

/// The gradients, and the sums of their formulae with each term's absolute value in its place. With
/// A^|da|_ij = (sum_d |d_o_id v_jd| + sum_d |d_o_id| abs_o_id) / D_i:
template <class Real>
struct Gradients {
  std::vector<Real> dq, dk, dv;  ///< shaped as q, k and v
  std::vector<Real> abs_dq;      ///< phi'(q_i) * sum_j A^|da|_ij phi(k_j)
  std::vector<Real> abs_dk;      ///< phi'(k_j) * sum_i A^|da|_ij phi(q_i)
  std::vector<Real> abs_dv;      ///< sum_i A_ij |d_o_i| / D_i
};

template <class Real>
Real phi(Real x) {
  return x > 0 ? x + 1 : std::exp(x);
}

/// The derivative of phi.
template <class Real>
Real phi_slope(Real x) {
  return x > 0 ? Real{1} : std::exp(x);
}

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
  return p.top_left ? i : i + (kv_length(p, b) - q_length(p, b));
}

/// Which row of q and o query i of head h is.
template <class Real>
int64_t query_row(const Problem<Real>& p, int64_t b, int64_t h, int64_t i) {
  return (b * p.h_q + h) * p.n_q + i;
}

/// Which row of k, v and mask key j is to query head h.
template <class Real>
int64_t key_row(const Problem<Real>& p, int64_t b, int64_t h, int64_t j) {
  return (b * p.h_kv + h / (p.h_q / p.h_kv)) * p.n_kv + j;
}

/// Whether key j takes part for query i < q_length_b of head h.
template <class Real>
bool takes_part(const Problem<Real>& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  if (j >= kv_length(p, b)) return false;
  if (p.causal && j > query_position(p, b, i)) return false;
  return p.mask.empty() || p.mask[key_row(p, b, h, j)];
}

/// phi of all queries and keys, which meet in many pairs.
template <class Real>
struct Mapped {
  explicit Mapped(const Problem<Real>& p) {
    for (const Real x : p.q) q.push_back(phi(x));
    for (const Real x : p.k) k.push_back(phi(x));
  }

  std::vector<Real> q, k;
};

/// A_ij of a pair that takes part.
template <class Real>
Real weight(const Problem<Real>& p, const Mapped<Real>& mapped, int64_t b, int64_t h, int64_t i, int64_t j) {
  const Real* q = mapped.q.data() + query_row(p, b, h, i) * p.d_k;
  const Real* k = mapped.k.data() + key_row(p, b, h, j) * p.d_k;
  Real a = 0;
  for (int64_t d = 0; d < p.d_k; ++d) a += q[d] * k[d];
  return a;
}

/// 1 / D_i of query i < q_length_b of head h; 0 where D_i is, as where no key takes part.
template <class Real>
Real inverse_sum(const Problem<Real>& p, const Mapped<Real>& mapped, int64_t b, int64_t h, int64_t i) {
  Real sum = 0;
  for (int64_t j = 0; j < p.n_kv; ++j) {
    if (takes_part(p, b, h, i, j)) sum += weight(p, mapped, b, h, i, j);
  }
  return sum == 0 ? Real{0} : 1 / sum;
}

/// Rows at or past q_length_b: o = 0.
template <class Real>
Result<Real> attention(const Problem<Real>& p) {
  const Mapped<Real> mapped(p);
  Result<Real> r;
  r.o.assign(p.b * p.h_q * p.n_q * p.d_v, 0);
  r.abs_o.assign(p.b * p.h_q * p.n_q * p.d_v, 0);

  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t h = 0; h < p.h_q; ++h)
      for (int64_t i = 0; i < q_length(p, b); ++i) {
        Real* o = r.o.data() + query_row(p, b, h, i) * p.d_v;
        Real* abs_o = r.abs_o.data() + query_row(p, b, h, i) * p.d_v;
        const Real inverse = inverse_sum(p, mapped, b, h, i);
        for (int64_t j = 0; j < p.n_kv; ++j) {
          if (!takes_part(p, b, h, i, j)) continue;
          const Real a = weight(p, mapped, b, h, i, j) * inverse;
          const Real* v = p.v.data() + key_row(p, b, h, j) * p.d_v;
          for (int64_t d = 0; d < p.d_v; ++d) {
            o[d] += a * v[d];
            abs_o[d] += a * std::abs(v[d]);
          }
        }
      }
  return r;
}

/// What one row gives to the gradients, where i < q_length_b; here those by phi(q) and phi(k).
template <class Real>
void differentiate_row(const Problem<Real>& p, const Mapped<Real>& mapped, const Result<Real>& r,
                       const std::vector<Real>& d_o_all, int64_t b, int64_t h, int64_t i, Gradients<Real>& g) {
  const int64_t row = query_row(p, b, h, i);
  const Real* phi_q = mapped.q.data() + row * p.d_k;
  const Real* d_o = d_o_all.data() + row * p.d_v;
  const Real inverse = inverse_sum(p, mapped, b, h, i);

  Real delta = 0, abs_delta = 0;
  for (int64_t d = 0; d < p.d_v; ++d) {
    delta += d_o[d] * r.o[row * p.d_v + d];
    abs_delta += std::abs(d_o[d]) * r.abs_o[row * p.d_v + d];
  }

  for (int64_t j = 0; j < p.n_kv; ++j) {
    if (!takes_part(p, b, h, i, j)) continue;
    const int64_t key = key_row(p, b, h, j);
    const Real* phi_k = mapped.k.data() + key * p.d_k;
    const Real* v = p.v.data() + key * p.d_v;
    const Real a = weight(p, mapped, b, h, i, j) * inverse;

    Real da = -delta, abs_da = abs_delta;
    for (int64_t d = 0; d < p.d_v; ++d) {
      da += d_o[d] * v[d];
      abs_da += std::abs(d_o[d] * v[d]);
      g.dv[key * p.d_v + d] += a * d_o[d];
      g.abs_dv[key * p.d_v + d] += a * std::abs(d_o[d]);
    }
    da *= inverse;
    abs_da *= inverse;
    for (int64_t d = 0; d < p.d_k; ++d) {
      g.dq[row * p.d_k + d] += da * phi_k[d];
      g.abs_dq[row * p.d_k + d] += abs_da * phi_k[d];
      g.dk[key * p.d_k + d] += da * phi_q[d];
      g.abs_dk[key * p.d_k + d] += abs_da * phi_q[d];
    }
  }
}

/// On to the gradients by x: what no pair added to stays 0, were x NaN.
template <class Real>
void multiply_by_slope(const std::vector<Real>& x, std::vector<Real>& gradient) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (gradient[i] != 0) gradient[i] *= phi_slope(x[i]);
  }
}

/// The gradients of a loss whose gradient by o is d_o, [b, h_q, n_q, d_v].
template <class Real>
Gradients<Real> attention_backward(const Problem<Real>& p, const std::vector<Real>& d_o) {
  const Mapped<Real> mapped(p);
  const Result<Real> r = attention(p);
  Gradients<Real> g;
  for (auto* gradient : {&g.dq, &g.abs_dq}) gradient->assign(p.b * p.h_q * p.n_q * p.d_k, 0);
  for (auto* gradient : {&g.dk, &g.abs_dk}) gradient->assign(p.b * p.h_kv * p.n_kv * p.d_k, 0);
  for (auto* gradient : {&g.dv, &g.abs_dv}) gradient->assign(p.b * p.h_kv * p.n_kv * p.d_v, 0);

  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t h = 0; h < p.h_q; ++h)
      for (int64_t i = 0; i < q_length(p, b); ++i) differentiate_row(p, mapped, r, d_o, b, h, i, g);

  multiply_by_slope(p.q, g.dq);
  multiply_by_slope(p.q, g.abs_dq);
  multiply_by_slope(p.k, g.dk);
  multiply_by_slope(p.k, g.abs_dk);
  return g;
}

}  // namespace foveate::reference::linear

#endif  // FOVEATE_REFERENCE_LINEAR_H_
