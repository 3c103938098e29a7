// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "validate_additive.h"

#include <cinttypes>
#include <cstdint>

#include "check.h"

namespace foveate {
namespace {

Status check_d_a(const char* name, int64_t d_a) {
  if (d_a >= 1 && d_a <= kLargestHeadDim) return {};
  return Status::error(kInvalid, "%s: d_a is %" PRId64 "; expected 1 to 2^32", name, d_a);
}

/// A projection of d_a rows, or its gradient.
Status check_shape(const char* name, const ConstMatrix& w, int64_t d_a, int64_t d_k) {
  if (w.shape[0] == d_a && w.shape[1] == d_k) return {};
  return Status::error(kInvalid,
                       "%s: shape [%" PRId64 ", %" PRId64 "]; expected [d_a, d_k] = [%" PRId64 ", %" PRId64 "]", name,
                       w.shape[0], w.shape[1], d_a, d_k);
}

Status check_projection(const char* name, const ConstMatrix& w, int64_t d_a, int64_t d_k) {
  if (!w.present()) return Status::error(kInvalid, "%s: missing; expected [d_a, d_k]", name);
  FOVEATE_RETURN_IF_ERROR(check_float(name, w.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view(name, as_tensor(w)));
  return check_shape(name, w, d_a, d_k);
}

Tensor as_output(const Matrix& m) {
  return {m.data, m.dtype, {1, 1, m.shape[0], m.shape[1]}, {0, 0, m.stride[0], m.stride[1]}};
}
Tensor as_output(const Vector& v) { return {v.data, v.dtype, {1, 1, 1, v.size}, {0, 0, 0, v.stride}}; }

/// Gradients of parameters, where they are wanted.
Status check_gradient(const char* name, const Matrix& gradient, int64_t d_a, int64_t d_k, DType q) {
  if (!gradient.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_shape(name, gradient, d_a, d_k));
  return check_gradient(name, as_output(gradient), {1, 1, d_a, d_k}, q);
}
Status check_gradient(const char* name, const Vector& gradient, int64_t d_a, DType q) {
  if (!gradient.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_vector(name, gradient, "d_a", d_a));
  return check_gradient(name, as_output(gradient), {1, 1, 1, d_a}, q);
}

/// What attention() takes and additive attention does not.
Status check_supported(const Inputs& a) {
  if (a.options.block_table.present()) {
    return Status::error(kInvalid,
                         "block_table: additive attention takes no keys in pages; give k and v padded or packed");
  }
  if (a.k.dtype == DType::i8)
    return Status::error(kInvalid, "k: int8; additive attention projects its keys: give them as a float type");
  return {};
}

Status check_parameters(const AdditiveParameters& p, const Extents& e) {
  const int64_t d_a = p.w_q.shape[0];
  if (p.w_q.present()) FOVEATE_RETURN_IF_ERROR(check_d_a("w_q", d_a));
  FOVEATE_RETURN_IF_ERROR(check_projection("w_q", p.w_q, d_a, e.d_k));
  FOVEATE_RETURN_IF_ERROR(check_projection("w_k", p.w_k, d_a, e.d_k));
  if (!p.w.present()) return Status::error(kInvalid, "w: missing; expected [d_a]");
  FOVEATE_RETURN_IF_ERROR(check_float("w", p.w.dtype));
  FOVEATE_RETURN_IF_ERROR(check_vector("w", p.w, "d_a", d_a));
  if (!p.b.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_float("b", p.b.dtype));
  return check_vector("b", p.b, "d_a", d_a);
}

}  // namespace

Status validate(const AdditiveArguments& a, Extents* extents) {
  FOVEATE_RETURN_IF_ERROR(check_supported(a));
  FOVEATE_RETURN_IF_ERROR(validate(static_cast<const Arguments&>(a), extents));
  FOVEATE_RETURN_IF_ERROR(check_parameters(a.parameters, *extents));
  const Named outputs[] = {{"o", a.outputs.o}, {"lse", a.outputs.lse}, {"weights", a.outputs.weights}};
  const AdditiveParameters& p = a.parameters;
  const Named parameters[] = {
      {"w_q", as_tensor(p.w_q)}, {"w_k", as_tensor(p.w_k)}, {"w", as_tensor(p.w)}, {"b", as_tensor(p.b)}};
  return check_aliasing(outputs, parameters);
}

Status validate(const AdditiveBackwardArguments& a, Extents* extents) {
  const AdditiveGradients& g = a.all;
  FOVEATE_RETURN_IF_ERROR(check_supported(a));
  const bool of_parameters = g.dw_q.present() || g.dw_k.present() || g.dw.present() || g.db.present();
  if (!of_parameters && !any_of(g)) {
    return Status::error(kInvalid, "gradients: none given; expected dq, dk, dv, dbias, dsinks, dw_q, dw_k, dw or db");
  }
  FOVEATE_RETURN_IF_ERROR(validate(static_cast<const BackwardArguments&>(a), extents, of_parameters));
  FOVEATE_RETURN_IF_ERROR(check_parameters(a.parameters, *extents));
  const AdditiveParameters& p = a.parameters;
  const int64_t d_a = p.w.size, d_k = extents->d_k;
  const DType q = a.q.dtype;
  FOVEATE_RETURN_IF_ERROR(check_gradient("dw_q", g.dw_q, d_a, d_k, q));
  FOVEATE_RETURN_IF_ERROR(check_gradient("dw_k", g.dw_k, d_a, d_k, q));
  FOVEATE_RETURN_IF_ERROR(check_gradient("dw", g.dw, d_a, q));
  FOVEATE_RETURN_IF_ERROR(check_gradient("db", g.db, d_a, q));
  if (g.db.present() && !p.b.present()) return Status::error(kInvalid, "db: given without b");
  const Named outputs[] = {{"dq", g.dq},
                           {"dk", g.dk},
                           {"dv", g.dv},
                           {"dbias", g.dbias},
                           {"dsinks", as_tensor(g.dsinks)},
                           {"dw_q", as_output(g.dw_q)},
                           {"dw_k", as_output(g.dw_k)},
                           {"dw", as_output(g.dw)},
                           {"db", as_output(g.db)}};
  const Named inputs[] = {{"w_q", as_tensor(p.w_q)},
                          {"w_k", as_tensor(p.w_k)},
                          {"w", as_tensor(p.w)},
                          {"b", as_tensor(p.b)},
                          {"o", a.o},
                          {"lse", a.lse},
                          {"d_o", a.d_o}};
  FOVEATE_RETURN_IF_ERROR(check_aliasing(outputs, inputs));
  return check_aliasing(outputs, a);
}

Status validate(const AttentionShape& shape, int64_t d_a, Extents* extents) {
  FOVEATE_RETURN_IF_ERROR(validate(shape, extents));
  return check_d_a("d_a", d_a);
}

}  // namespace foveate
