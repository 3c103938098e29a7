// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "validate_linear.h"

#include <cinttypes>
#include <cstdint>

#include "check.h"
#include "validate.h"
#include "vector_at.h"

namespace foveate {
namespace {

/// Keys or values beside the queries: float64 goes with itself alone.
Status check_beside(const char* name, DType dtype, DType q) {
  FOVEATE_RETURN_IF_ERROR(check_float(name, dtype));
  if ((dtype == DType::f64) == (q == DType::f64)) return {};
  return Status::error(kInvalid, "%s: %s; expected %s, as all is computed in %s", name, name_of(dtype),
                       q == DType::f64 ? "float64" : "float32, float16 or bfloat16", name_of(computing(q)));
}

Status check_sizes(const Extents& e) {
  if (e.d_k == 0) return Status::error(kInvalid, "q: head dim is 0; expected at least 1");
  FOVEATE_RETURN_IF_ERROR(check_head_dim("q", e.d_k));
  FOVEATE_RETURN_IF_ERROR(check_head_dim("v", e.d_v));
  return check_heads(e);
}

/// An extent that two views have to share.
Status check_equal(const char* name, const char* what, int64_t extent, const char* whose, int64_t expected) {
  if (extent == expected) return {};
  return Status::error(kInvalid, "%s: %s %" PRId64 " does not equal %s's %" PRId64, name, what, extent, whose,
                       expected);
}

/// q, k and v against each other.
Status check_tensors(const LinearInputs& a, Extents* e) {
  const ConstTensor &q = a.q, &k = a.k, &v = a.v;
  FOVEATE_RETURN_IF_ERROR(check_float("q", q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("q", q));
  FOVEATE_RETURN_IF_ERROR(check_beside("k", k.dtype, q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("k", k));
  FOVEATE_RETURN_IF_ERROR(check_beside("v", v.dtype, q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("v", v));
  FOVEATE_RETURN_IF_ERROR(check_equal("k", "batch", k.shape[0], "q", q.shape[0]));
  FOVEATE_RETURN_IF_ERROR(check_equal("v", "batch", v.shape[0], "k", k.shape[0]));
  FOVEATE_RETURN_IF_ERROR(check_equal("v", "number of heads", v.shape[1], "k", k.shape[1]));
  FOVEATE_RETURN_IF_ERROR(check_equal("v", "number of keys", v.shape[2], "k", k.shape[2]));
  FOVEATE_RETURN_IF_ERROR(check_equal("k", "head dim", k.shape[3], "q", q.shape[3]));
  *e = {q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3]};
  return check_sizes(*e);
}

Status check_mask(const ConstTensor& mask, const Extents& e) {
  if (!mask.present()) return {};
  if (mask.dtype != DType::boolean) {
    return Status::error(kInvalid, "mask: dtype %s is not bool; convert it by astype(bool) (true = takes part)",
                         name_of(mask.dtype));
  }
  return check_broadcast("mask", mask, "[b, h_kv, 1, n_kv]", {e.b, e.h_kv, 1, e.n_kv});
}

/// Lengths of b sequences, each within its axis.
Status check_lengths(const char* name, const ConstVector& lengths, int64_t b, const char* axis, int64_t extent) {
  FOVEATE_RETURN_IF_ERROR(foveate::check_lengths(name, lengths, b));
  for (int64_t i = 0; lengths.present() && i < lengths.size; ++i) {
    const int64_t length = integer_at(lengths, i);
    if (length >= 0 && length <= extent) continue;
    return Status::error(kInvalid, "%s: entry %" PRId64 " is %" PRId64 "; expected 0 to %s = %" PRId64, name, i, length,
                         axis, extent);
  }
  return {};
}

Status check_inputs(const LinearInputs& a, Extents* e) {
  const LinearOptions& o = a.options;
  FOVEATE_RETURN_IF_ERROR(check_tensors(a, e));
  FOVEATE_RETURN_IF_ERROR(check_mask(o.mask, *e));
  FOVEATE_RETURN_IF_ERROR(check_lengths("q_lengths", o.q_lengths, e->b, "n_q", e->n_q));
  FOVEATE_RETURN_IF_ERROR(check_lengths("kv_lengths", o.kv_lengths, e->b, "n_kv", e->n_kv));
  return check_offset("q_offset", o.q_offset);
}

/// Outputs against all inputs of a call; d_o of none may be absent.
template <size_t kOutputs>
Status check_aliasing(const Named (&outputs)[kOutputs], const LinearInputs& a, const ConstTensor& d_o) {
  const Named inputs[] = {{"q", a.q},
                          {"k", a.k},
                          {"v", a.v},
                          {"d_o", d_o},
                          {"mask", a.options.mask},
                          {"q_lengths", as_tensor(a.options.q_lengths)},
                          {"kv_lengths", as_tensor(a.options.kv_lengths)}};
  return check_aliasing(outputs, inputs);
}

}  // namespace

Status validate(const LinearArguments& a, Extents* e) {
  FOVEATE_RETURN_IF_ERROR(check_inputs(a, e));
  if (!a.o.present())
    return Status::error(kInvalid, "o: missing; expected an array of q's type, %s", name_of(a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_output("o", a.o, {e->b, e->h_q, e->n_q, e->d_v}, "q", a.q.dtype));
  const Named outputs[] = {{"o", a.o}};
  return check_aliasing(outputs, a, {});
}

Status validate(const LinearBackwardArguments& a, Extents* e) {
  FOVEATE_RETURN_IF_ERROR(check_inputs(a, e));
  FOVEATE_RETURN_IF_ERROR(check_like("d_o", a.d_o, {e->b, e->h_q, e->n_q, e->d_v}, "q", a.q.dtype));
  const LinearGradients& g = a.gradients;
  if (!g.dq.present() && !g.dk.present() && !g.dv.present())
    return Status::error(kInvalid, "gradients: none given; expected dq, dk or dv");
  FOVEATE_RETURN_IF_ERROR(check_gradient("dq", g.dq, a.q.shape, a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_gradient("dk", g.dk, a.k.shape, a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_gradient("dv", g.dv, a.v.shape, a.q.dtype));
  const Named outputs[] = {{"dq", g.dq}, {"dk", g.dk}, {"dv", g.dv}};
  return check_aliasing(outputs, a, a.d_o);
}

Status validate(const LinearShape& s, Extents* e) {
  FOVEATE_RETURN_IF_ERROR(check_float("dtype", s.dtype));
  FOVEATE_RETURN_IF_ERROR(check_extents("q", {s.b, s.h_q, s.n_q, s.d_k}));
  FOVEATE_RETURN_IF_ERROR(check_extents("k", {s.b, s.h_kv, s.n_kv, s.d_k}));
  FOVEATE_RETURN_IF_ERROR(check_extents("v", {s.b, s.h_kv, s.n_kv, s.d_v}));
  FOVEATE_RETURN_IF_ERROR(check_extents("o", {s.b, s.h_q, s.n_q, s.d_v}));
  *e = {s.b, s.h_q, s.h_kv, s.n_q, s.n_kv, s.d_k, s.d_v};
  return check_sizes(*e);
}

}  // namespace foveate
