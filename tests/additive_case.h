// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The Case of a Spec, and the one with gradients, with additive scores: a network beside q and k, and its gradients.
#ifndef FOVEATE_TESTS_ADDITIVE_CASE_H_
#define FOVEATE_TESTS_ADDITIVE_CASE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>

#include "foveate/additive.h"
#include "reference/arrays.h"
#include "tests/attention_case.h"
#include "tests/gradient_bound.h"
#include "tests/gradient_case.h"
#include "tests/random_spec.h"
#include "tests/spec.h"
#include "tests/stored.h"

namespace foveate::trial {

/// What there is beside a Spec. The types of gradients: none is the computing type.
struct NetworkSpec {
  int64_t d_a = 8;
  bool b = true;
  DType type = DType::none;        ///< of the parameters
  double arguments = 1, sums = 1;  ///< magnitudes of W q, for q of magnitude 1, and of w
  int64_t non_finite = 0;          ///< so many parameters are NaN
  Placement w_in = {};             ///< of matrices; axes h and b have extent 1
  int64_t vector_stride = 1;

  bool want_dw_q = true, want_dw_k = true, want_dw = true, want_db = true;
  DType dw_q_type = DType::none, dw_k_type = DType::none, dw_type = DType::none, db_type = DType::none;
};

inline std::ostream& operator<<(std::ostream& out, const NetworkSpec& n) {
  out << "d_a " << n.d_a << " b " << n.b;
  print_type(out, " parameters ", n.type);
  out << " arguments " << n.arguments << " sums " << n.sums << " non_finite " << n.non_finite << " w " << n.w_in
      << " vector_stride " << n.vector_stride << " wants " << n.want_dw_q << n.want_dw_k << n.want_dw << n.want_db;
  print_type(out, " dw_q ", n.dw_q_type);
  print_type(out, " dw_k ", n.dw_k_type);
  print_type(out, " dw ", n.dw_type);
  print_type(out, " db ", n.db_type);
  return out;
}

/// No more features than so many multiply-adds of the oracle, which knows none of u and t.
inline NetworkSpec random_network(Choices& c, const Spec& s, int64_t multiply_adds) {
  NetworkSpec n;
  const int64_t one = std::max<int64_t>(1, s.b * s.h_q * s.n_q * s.n_kv * (2 * s.d_k + 30));
  n.d_a =
      std::min(c.one_of<int64_t>({1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64}), std::max<int64_t>(1, multiply_adds / one));
  n.b = !c.one_in(3);
  if (c.one_in(3)) n.type = random_float(c);
  n.arguments = c.one_of({1.0, 0.1, 5.0, 40.0});
  n.sums = c.one_of({1.0, 0.1, 20.0});
  n.non_finite = c.one_in(10) ? 1 : 0;
  n.w_in = random_placement(c, true);
  n.vector_stride = c.one_of<int64_t>({1, 2, -1});
  for (bool* wanted : {&n.want_dw_q, &n.want_dw_k, &n.want_dw, &n.want_db}) *wanted = !c.one_in(6);
  for (DType* dtype : {&n.dw_q_type, &n.dw_k_type, &n.dw_type, &n.db_type}) {
    if (c.one_in(3)) *dtype = c.one_of({DType::f32, DType::f16, DType::bf16});
  }
  return n;
}

/// Keys that can be projected, and scores that may be anything.
inline Spec without_pages(Spec s) {
  s.page_size = 0;
  if (s.k_type == DType::i8) s.k_type = DType::none;
  return s;
}

/// The parameters of a case.
template <class T>
class NetworkArrays {
 public:
  using Real = Judge<T>;

  NetworkArrays(const Spec& s, const NetworkSpec& spec) : random_(s.seed + 1) {
    const DType dtype = spec.type == DType::none ? dtype_of<T>() : spec.type;
    const double size = spec.arguments / std::sqrt(static_cast<double>(s.d_k));
    w_q = Stored(dtype, {1, 1, spec.d_a, s.d_k}, spec.w_in);
    w_k = Stored(dtype, {1, 1, spec.d_a, s.d_k}, spec.w_in);
    w = Stored(dtype, spec.d_a, spec.vector_stride);
    w_q.fill([&] { return size * normal_(random_); });
    w_k.fill([&] { return size * normal_(random_); });
    w.fill([&] { return spec.sums * normal_(random_); });
    if (spec.b) {
      b = Stored(dtype, spec.d_a, spec.vector_stride);
      b.fill([&] { return spec.arguments * normal_(random_); });
    }
    for (int64_t n = 0; n < spec.non_finite; ++n) make_non_finite();
  }

  AdditiveParameters parameters() const {
    return {.w_q = w_q.matrix(), .w_k = w_k.matrix(), .w = w.vector(), .b = b.present() ? b.vector() : ConstVector{}};
  }

  reference::Network<Real> network() const {
    return {.d_a = w.size(),
            .w_q = reference::widened<Real>(w_q.packed()),
            .w_k = reference::widened<Real>(w_k.packed()),
            .w = reference::widened<Real>(w.packed()),
            .b = reference::widened<Real>(b.present() ? b.packed() : std::vector<double>{})};
  }

  Stored w_q, w_k, w, b;

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  void make_non_finite() {
    Stored* const arrays[] = {&w_q, &w_k, &w, &b};
    Stored& hit = *arrays[below(b.present() ? 4 : 3)];
    hit.set(0, 0, below(hit.shape()[2]), below(hit.shape()[3]), std::numeric_limits<double>::quiet_NaN());
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

/// Calls the engine with memory of exactly the plan's size where the spec wants a workspace of its own.
template <class T>
Status attend(Case<T>& c, const NetworkArrays<T>& arrays) {
  for (Stored* output : {&c.o, &c.lse, &c.weights}) output->clear();
  const auto plan = [&](int64_t workers, size_t* bytes) {
    AttentionPlan planned;
    const Status status = additive_attention_plan(c.shape(), arrays.w.size(), workers, &planned);
    *bytes = planned.workspace_bytes;
    return status;
  };
  return with_execution(c.spec, plan, [&](const Execution& execution) {
    return additive_attention(c.q.view(), c.k.view(), c.v_view(), arrays.parameters(), c.outputs(), c.options,
                              execution);
  });
}

/// A call of additive_attention() computed in T.
template <class T>
struct AdditiveCase {
  Case<T> forward;
  NetworkArrays<T> arrays;

  AdditiveCase(const Spec& s, const NetworkSpec& n) : forward(without_pages(s)), arrays(forward.spec, n) {
    forward.problem.network = arrays.network();
  }

  Status attend() { return trial::attend(forward, arrays); }
};

/// And one of additive_attention_backward() that takes what it gave.
template <class T>
class AdditiveGradientCase {
 public:
  AdditiveGradientCase(const Spec& s, const GradientSpec& g, const NetworkSpec& n)
      : call(without_pages(s), g), arrays(call.forward.spec, n), spec(n) {
    call.forward.problem.network = arrays.network();
    spec.want_db = n.want_db && n.b;
    const auto type = [](DType dtype) { return sizeof(T) == 8 || dtype == DType::none ? dtype_of<T>() : dtype; };
    Placement in = n.w_in;
    in.repeated = {};
    dw_q = Stored(type(n.dw_q_type), arrays.w_q.shape(), in);
    dw_k = Stored(type(n.dw_k_type), arrays.w_k.shape(), in);
    dw = Stored(type(n.dw_type), n.d_a, n.vector_stride);
    db = Stored(type(n.db_type), n.d_a, n.vector_stride);
  }

  AdditiveGradients gradients() {
    AdditiveGradients g = {call.gradients()};
    const auto matrix = [](Stored& x) {
      const Tensor all = x.writable();
      return Matrix{all.data, all.dtype, {all.shape[2], all.shape[3]}, {all.stride[2], all.stride[3]}};
    };
    const auto vector = [](Stored& x) {
      const Tensor all = x.writable();
      return Vector{all.data, all.dtype, all.shape[3], all.stride[3]};
    };
    if (spec.want_dw_q) g.dw_q = matrix(dw_q);
    if (spec.want_dw_k) g.dw_k = matrix(dw_k);
    if (spec.want_dw) g.dw = vector(dw);
    if (spec.want_db) g.db = vector(db);
    return g;
  }

  Status differentiate() {
    Case<T>& c = call.forward;
    if (Status status = attend(c, arrays); !status.ok()) return status;
    for (Stored* x : {&call.dq, &call.dk, &call.dv, &call.dbias, &call.dsinks, &dw_q, &dw_k, &dw, &db}) x->clear();
    const auto plan = [&](int64_t workers, size_t* bytes) {
      AttentionBackwardPlan planned;
      const Status status = additive_attention_backward_plan(c.shape(), gradients(), spec.d_a, workers, &planned);
      *bytes = planned.workspace_bytes;
      return status;
    };
    return with_execution(c.spec, plan, [&](const Execution& execution) {
      return additive_attention_backward(c.q.view(), c.k.view(), c.v_view(), arrays.parameters(), c.o.view(),
                                         c.lse.view(), call.d_o.view(), gradients(), c.options, execution);
    });
  }

  GradientCase<T> call;
  NetworkArrays<T> arrays;
  NetworkSpec spec;  ///< with no more wanted than there can be
  Stored dw_q, dw_k, dw, db;
};

/// Judges a backward pass that has been made. Empty if all is well.
template <class T>
std::string judge(const AdditiveGradientCase<T>& c, const ExpectedGradients<T>& expected) {
  using Bounds = typename ExpectedGradients<T>::Bounds;
  Verdict verdict;
  const auto judge_all = [&](bool wanted, const char* name, const Stored& got, const std::vector<Judge<T>>& want,
                             std::vector<Judge<T>> Bounds::*of) {
    if (!wanted) return;
    const GradientJudge<T> judge(name, got, want, expected, of, verdict);
    const Shape& e = got.shape();
    for (int64_t a = 0; a < e[2]; ++a)
      for (int64_t d = 0; d < e[3]; ++d) judge.element(0, 0, a, d, a, d, e[3]);
    if (verdict.ok() && !got.padding_intact()) verdict.refuse(0, Judge<T>{0}, Judge<T>{0}, name, -1, -1);
  };
  const auto& exact = expected.exact;
  judge_all(c.spec.want_dw_q, "dw_q", c.dw_q, exact.dw_q, &Bounds::dw_q);
  judge_all(c.spec.want_dw_k, "dw_k", c.dw_k, exact.dw_k, &Bounds::dw_k);
  judge_all(c.spec.want_dw, "dw", c.dw, exact.dw, &Bounds::dw);
  judge_all(c.spec.want_db, "db", c.db, exact.db, &Bounds::db);
  return verdict.ok() ? judge(c.call, expected) : verdict.words();
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_ADDITIVE_CASE_H_
