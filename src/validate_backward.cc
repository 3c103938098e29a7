// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "check.h"
#include "validate.h"

namespace foveate {

Status check_gradient(const char* name, const Tensor& gradient, const int64_t (&shape)[4], DType q) {
  if (!gradient.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_float(name, gradient.dtype));
  if ((gradient.dtype == DType::f64) != (q == DType::f64)) {
    return Status::error(kInvalid, "%s: %s; expected %s, as all is computed in %s", name, name_of(gradient.dtype),
                         q == DType::f64 ? "float64" : "float32, float16 or bfloat16", name_of(computing(q)));
  }
  return check_output(name, gradient, shape, "q", gradient.dtype);
}

bool any_of(const AttentionGradients& g) {
  return g.dq.present() || g.dk.present() || g.dv.present() || g.dbias.present() || g.dsinks.present();
}

namespace {

Status check_gradients(const BackwardArguments& a, const Extents& e, bool more) {
  const AttentionGradients& g = a.gradients;
  if (!more && !any_of(g)) {
    return Status::error(kInvalid, "gradients: none given; expected dq, dk, dv, dbias or dsinks");
  }
  const DType dtype = a.q.dtype;
  const int64_t(&q)[4] = a.q.shape, (&k)[4] = a.k.shape, (&v)[4] = a.v.shape;
  FOVEATE_RETURN_IF_ERROR(check_gradient("dq", g.dq, {q[0], q[1], q[2], q[3]}, dtype));
  FOVEATE_RETURN_IF_ERROR(check_gradient("dk", g.dk, {k[0], k[1], k[2], k[3]}, dtype));
  FOVEATE_RETURN_IF_ERROR(check_gradient("dv", g.dv, {v[0], v[1], v[2], v[3]}, dtype));
  if (g.dbias.present() && !a.options.bias.present()) return Status::error(kInvalid, "dbias: given without bias");
  const int64_t(&bias)[4] = a.options.bias.shape;
  FOVEATE_RETURN_IF_ERROR(check_gradient("dbias", g.dbias, {bias[0], bias[1], bias[2], bias[3]}, dtype));
  if (!g.dsinks.present()) return {};
  if (!a.options.sinks.present()) return Status::error(kInvalid, "dsinks: given without sinks");
  FOVEATE_RETURN_IF_ERROR(check_vector("dsinks", g.dsinks, "h_q", e.h_q));
  const Tensor dsinks{g.dsinks.data, g.dsinks.dtype, {1, 1, 1, e.h_q}, {0, 0, 0, g.dsinks.stride}};
  return check_output("dsinks", dsinks, {1, 1, 1, e.h_q}, "q", computing(dtype));
}

}  // namespace

Status validate(const BackwardArguments& a, Extents* extents, bool more) {
  if (a.options.block_table.present()) {
    return Status::error(kInvalid, "block_table: keys in pages have no gradients; give k and v padded or packed");
  }
  FOVEATE_RETURN_IF_ERROR(check_inputs(a, extents));
  const Extents& e = *extents;
  const int64_t b = a.q.shape[0], rows = a.q.shape[2];
  FOVEATE_RETURN_IF_ERROR(check_like("o", a.o, {b, e.h_q, rows, e.d_v}, "q", a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_like("lse", a.lse, {b, e.h_q, rows, 1}, "q", computing(a.q.dtype)));
  FOVEATE_RETURN_IF_ERROR(check_like("d_o", a.d_o, {b, e.h_q, rows, e.d_v}, "q", a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_gradients(a, e, more));
  const AttentionGradients& g = a.gradients;
  const Named outputs[] = {
      {"dq", g.dq}, {"dk", g.dk}, {"dv", g.dv}, {"dbias", g.dbias}, {"dsinks", as_tensor(g.dsinks)}};
  const Named saved[] = {{"o", a.o}, {"lse", a.lse}, {"d_o", a.d_o}};
  FOVEATE_RETURN_IF_ERROR(check_aliasing(outputs, a));
  return check_aliasing(outputs, saved);
}

}  // namespace foveate
