// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The Case of a Spec with a backward pass behind it: d_o, and the gradients asked for by a GradientSpec.
#ifndef FOVEATE_TESTS_GRADIENT_CASE_H_
#define FOVEATE_TESTS_GRADIENT_CASE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "foveate/attention_backward.h"
#include "reference/attention.h"
#include "tests/attention_case.h"
#include "tests/spec.h"
#include "tests/stored.h"

namespace foveate::trial {

/// A call of attention() computed in T, and one of attention_backward() that takes what it gave.
template <class T>
class GradientCase {
 public:
  using Real = Judge<T>;

  GradientCase(const Spec& s, const GradientSpec& g);

  /// Calls the engine for o and lse, then for every gradient asked for.
  Status differentiate();

  AttentionGradients gradients();
  bool padding_intact() const {
    return forward.padding_intact() && dq.padding_intact() && dk.padding_intact() && dv.padding_intact() &&
           dbias.padding_intact() && dsinks.padding_intact();
  }
  bool untouched() const {
    return dq.untouched() && dk.untouched() && dv.untouched() && dbias.untouched() && dsinks.untouched();
  }

  Case<T> forward;
  GradientSpec spec;  ///< with no more wanted than there can be
  Stored d_o, dq, dk, dv, dbias, dsinks;
  std::vector<Real> d_o_numbers;  ///< [b, h_q, n_q, d_v], as the oracle takes it

 private:
  /// Keys in pages have no gradients. o and lse are inputs.
  static Spec with_outputs(Spec s) {
    s.page_size = 0;
    s.want_o = s.want_lse = true;
    s.want_weights = false;
    return s;
  }

  double normal() { return std::normal_distribution<double>()(random_); }
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  void make_gradients();
  void make_non_finite();
  void poison();
  void state_d_o();

  /// Calls body(b, h, i, place) for every query row that there is memory for.
  template <class Body>
  void each_row(const Body& body) const;

  std::mt19937_64 random_;
};

template <class T>
GradientCase<T>::GradientCase(const Spec& s, const GradientSpec& g)
    : forward(with_outputs(s)), spec(g), random_(s.seed) {
  make_gradients();
  d_o = Stored(forward.q.dtype(), forward.o.shape(), g.d_o_in);
  d_o.fill([this] { return spec.magnitude * normal(); });
  make_non_finite();
  if (s.poison) poison();
  state_d_o();
}

template <class T>
void GradientCase<T>::make_gradients() {
  const Spec& s = forward.spec;
  spec.want_dbias = spec.want_dbias && s.bias;
  spec.want_dsinks = spec.want_dsinks && s.sinks;
  if (!spec.want_dk && !spec.want_dv && !spec.want_dbias && !spec.want_dsinks) spec.want_dq = true;
  const auto type = [](DType dtype) { return sizeof(T) == 8 || dtype == DType::none ? dtype_of<T>() : dtype; };
  const Shape& keys = forward.k.shape();
  dq = Stored(type(spec.dq_type), forward.q.shape(), spec.dq_in);
  dk = Stored(type(spec.dk_type), keys, spec.dk_in);
  dv = Stored(type(spec.dv_type), {keys[0], keys[1], keys[2], s.d_v}, spec.dv_in);
  if (spec.want_dbias) {
    const int64_t(&n)[4] = forward.options.bias.shape;
    dbias = Stored(type(spec.dbias_type), {n[0], n[1], n[2], n[3]}, spec.dbias_in);
  }
  if (spec.want_dsinks) dsinks = Stored(dtype_of<T>(), s.h_q, s.vector_stride);
}

template <class T>
void GradientCase<T>::make_non_finite() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double kinds[] = {std::numeric_limits<double>::quiet_NaN(), inf, -inf};
  const Shape& e = d_o.shape();
  for (int64_t n = 0; n < spec.non_finite && d_o.size() > 0; ++n) {
    d_o.set(below(e[0]), below(e[1]), below(e[2]), below(e[3]), kinds[below(3)]);
  }
}

template <class T>
template <class Body>
void GradientCase<T>::each_row(const Body& body) const {
  const RowMap& queries = forward.sequences.queries;
  for (int64_t b = 0; b < forward.spec.b; ++b)
    for (int64_t h = 0; h < forward.spec.h_q; ++h)
      for (int64_t i = 0; i < queries.rows_of(b); ++i) body(b, h, i, queries.places[b][i]);
}

/// NaN in the rows of d_o that are past a length or have no weight, and in the queries that see no key.
template <class T>
void GradientCase<T>::poison() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  reference::Problem<Real>& p = forward.problem;
  each_row([&](int64_t b, int64_t h, int64_t i, RowMap::Place place) {
    const bool there = i < reference::q_length(p, b);
    std::vector<reference::Pair<Real>> pairs;
    if (there) pairs = reference::pairs_of(p, b, h, i);
    if (!spec.d_o_in.repeats() && reference::top_of(pairs) == -std::numeric_limits<Real>::infinity()) {
      for (int64_t d = 0; d < p.d_v; ++d) d_o.set(place.batch, h, place.row, d, nan);
    }
    if (!forward.spec.q_in.repeats() && pairs.empty()) {
      for (int64_t d = 0; d < p.d_k; ++d) {
        forward.q.set(place.batch, h, place.row, d, nan);
        p.q[reference::query_row(p, b, h, i) * p.d_k + d] = nan;
      }
    }
  });
}

template <class T>
void GradientCase<T>::state_d_o() {
  const reference::Problem<Real>& p = forward.problem;
  d_o_numbers.assign(static_cast<size_t>(p.b * p.h_q * p.n_q * p.d_v), 0);
  each_row([&](int64_t b, int64_t h, int64_t i, RowMap::Place place) {
    for (int64_t d = 0; d < p.d_v; ++d) {
      d_o_numbers[reference::query_row(p, b, h, i) * p.d_v + d] = d_o.at(place.batch, h, place.row, d);
    }
  });
}

template <class T>
AttentionGradients GradientCase<T>::gradients() {
  AttentionGradients g;
  if (spec.want_dq) g.dq = dq.writable();
  if (spec.want_dk) g.dk = dk.writable();
  if (spec.want_dv) g.dv = dv.writable();
  if (spec.want_dbias) g.dbias = dbias.writable();
  if (spec.want_dsinks) {
    const Tensor all = dsinks.writable();
    g.dsinks = {all.data, all.dtype, all.shape[3], all.stride[3]};
  }
  return g;
}

template <class T>
Status GradientCase<T>::differentiate() {
  if (Status status = forward.attend(); !status.ok()) return status;
  for (Stored* gradient : {&dq, &dk, &dv, &dbias, &dsinks}) gradient->clear();
  const auto plan = [this](int64_t workers, size_t* bytes) {
    AttentionBackwardPlan planned;
    const Status status = attention_backward_plan(forward.shape(), gradients(), workers, &planned);
    *bytes = planned.workspace_bytes;
    return status;
  };
  return with_execution(forward.spec, plan, [this](const Execution& execution) {
    return attention_backward(forward.q.view(), forward.k.view(), forward.v_view(), forward.o.view(),
                              forward.lse.view(), d_o.view(), gradients(), forward.options, execution);
  });
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_GRADIENT_CASE_H_
