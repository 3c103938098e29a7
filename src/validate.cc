// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include <cinttypes>
#include <cmath>
#include <cstdint>

#include "overlap.h"
#include "vector_at.h"

// A message begins with the argument it is about, then says what was got and what was expected, then a remedy.
#define FOVEATE_RETURN_IF_ERROR(expression)            \
  do {                                                 \
    const Status status_of_check = (expression);       \
    if (!status_of_check.ok()) return status_of_check; \
  } while (false)

namespace foveate {
namespace {

/// No extent, offset or product of extents goes past it, so that sums of a few of them stay in 64 bits.
constexpr int64_t kLargest = int64_t{1} << 60;

/// Bounds under which the bytes of a workspace stay in 64 bits.
constexpr int64_t kLargestHeadDim = int64_t{1} << 32;
constexpr int64_t kMostWorkers = int64_t{1} << 16;

constexpr StatusCode kInvalid = StatusCode::invalid_argument;

Status check_extents(const char* name, const int64_t (&shape)[4]) {
  int64_t elements = 1;
  for (int axis = 0; axis < 4; ++axis) {
    if (shape[axis] < 0)
      return Status::error(kInvalid, "%s: extent %" PRId64 " of axis %d is negative", name, shape[axis], axis);
    if (shape[axis] != 0 && elements > kLargest / shape[axis])
      return Status::error(kInvalid, "%s: more than 2^60 elements", name);
    elements *= shape[axis] == 0 ? 1 : shape[axis];
  }
  return {};
}

Status check_view(const char* name, const ConstTensor& view) {
  FOVEATE_RETURN_IF_ERROR(check_extents(name, view.shape));
  if (!addressable(view)) return Status::error(kInvalid, "%s: strides reach past 64-bit addresses", name);
  const bool empty = view.shape[0] == 0 || view.shape[1] == 0 || view.shape[2] == 0 || view.shape[3] == 0;
  if (!empty && view.data == nullptr) return Status::error(kInvalid, "%s: the data pointer is null", name);
  return {};
}

Status check_head_dim(const char* name, int64_t head_dim) {
  if (head_dim > kLargestHeadDim) {
    return Status::error(kInvalid, "%s: head dim %" PRId64 " is past 2^32", name, head_dim);
  }
  return {};
}

Status check_float(const char* name, DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::f64:
      return {};
    case DType::f16:
    case DType::bf16:
      return Status::error(StatusCode::not_supported, "%s: %s is not built yet; convert it to float32", name,
                           name_of(dtype));
    case DType::none:
      return Status::error(kInvalid, "%s: missing; expected a float32 or float64 array", name);
    default:
      return Status::error(kInvalid, "%s: dtype %s is not a float type; expected float32 or float64", name,
                           name_of(dtype));
  }
}

/// q, k and v against each other.
Status check_inputs(const Arguments& a, Extents* e) {
  const ConstTensor &q = a.q, &k = a.k, &v = a.v;
  FOVEATE_RETURN_IF_ERROR(check_float("q", q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_float("k", k.dtype));
  FOVEATE_RETURN_IF_ERROR(check_float("v", v.dtype));
  if (k.dtype != q.dtype)
    return Status::error(kInvalid, "k: %s does not equal q's %s", name_of(k.dtype), name_of(q.dtype));
  if (v.dtype != q.dtype)
    return Status::error(kInvalid, "v: %s does not equal q's %s", name_of(v.dtype), name_of(q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("q", q));
  FOVEATE_RETURN_IF_ERROR(check_view("k", k));
  FOVEATE_RETURN_IF_ERROR(check_view("v", v));

  *e = {q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3]};
  if (k.shape[0] != e->b)
    return Status::error(kInvalid, "k: batch %" PRId64 " does not equal q's %" PRId64, k.shape[0], e->b);
  if (v.shape[0] != e->b)
    return Status::error(kInvalid, "v: batch %" PRId64 " does not equal q's %" PRId64, v.shape[0], e->b);
  if (v.shape[1] != e->h_kv)
    return Status::error(kInvalid, "v: %" PRId64 " heads do not equal k's %" PRId64, v.shape[1], e->h_kv);
  if (v.shape[2] != e->n_kv)
    return Status::error(kInvalid, "v: %" PRId64 " keys do not equal k's %" PRId64, v.shape[2], e->n_kv);
  if (e->d_k == 0) return Status::error(kInvalid, "q: head dim is 0; expected at least 1");
  if (k.shape[3] != e->d_k)
    return Status::error(kInvalid, "k: head dim %" PRId64 " does not equal q's %" PRId64, k.shape[3], e->d_k);
  FOVEATE_RETURN_IF_ERROR(check_head_dim("q", e->d_k));
  FOVEATE_RETURN_IF_ERROR(check_head_dim("v", e->d_v));
  return {};
}

Status check_heads(const Extents& e) {
  if (e.h_kv == 0 && e.h_q > 0)
    return Status::error(kInvalid, "k: 0 heads for q's %" PRId64 "; expected at least 1", e.h_q);
  if (e.h_kv > 0 && e.h_q % e.h_kv != 0) {
    return Status::error(kInvalid, "q: %" PRId64 " heads are not a multiple of k's %" PRId64, e.h_q, e.h_kv);
  }
  return {};
}

/// A mask or a bias: each extent that of the scores, or 1.
Status check_broadcast(const char* name, const ConstTensor& view, const Extents& e) {
  FOVEATE_RETURN_IF_ERROR(check_view(name, view));
  const int64_t scores[4] = {e.b, e.h_q, e.n_q, e.n_kv};
  for (int axis = 0; axis < 4; ++axis) {
    if (view.shape[axis] == scores[axis] || view.shape[axis] == 1) continue;
    return Status::error(kInvalid,
                         "%s: shape [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                         "] does not broadcast to [b, h_q, n_q, "
                         "n_kv] = [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                         "]; each extent must equal it or be 1",
                         name, view.shape[0], view.shape[1], view.shape[2], view.shape[3], e.b, e.h_q, e.n_q, e.n_kv);
  }
  return {};
}

Status check_mask(const ConstTensor& mask, const Extents& e) {
  if (!mask.present()) return {};
  if (mask.dtype != DType::boolean) {
    return Status::error(
        kInvalid, "mask: dtype %s is not bool; convert it by astype(bool) (true = takes part), or pass it as bias",
        name_of(mask.dtype));
  }
  return check_broadcast("mask", mask, e);
}

Status check_bias(const ConstTensor& bias, const Extents& e) {
  if (!bias.present()) return {};
  if (bias.dtype == DType::boolean)
    return Status::error(kInvalid, "bias: dtype bool is not a float type; pass it as mask");
  FOVEATE_RETURN_IF_ERROR(check_float("bias", bias.dtype));
  return check_broadcast("bias", bias, e);
}

Status check_vector(const char* name, const ConstVector& vector, const char* extent_name, int64_t extent) {
  if (vector.size != extent) {
    return Status::error(kInvalid, "%s: %" PRId64 " entries; expected %s = %" PRId64, name, vector.size, extent_name,
                         extent);
  }
  const ConstTensor view{vector.data, vector.dtype, {1, 1, 1, vector.size}, {0, 0, 0, vector.stride}};
  return check_view(name, view);
}

Status check_slopes(const ConstVector& slopes, const Extents& e) {
  if (!slopes.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_float("alibi_slopes", slopes.dtype));
  FOVEATE_RETURN_IF_ERROR(check_vector("alibi_slopes", slopes, "h_q", e.h_q));
  for (int64_t h = 0; h < slopes.size; ++h) {
    if (!std::isfinite(float_at(slopes, h))) {
      return Status::error(kInvalid, "alibi_slopes: the slope of head %" PRId64 " is %g; expected a finite number", h,
                           float_at(slopes, h));
    }
  }
  return {};
}

Status check_sinks(const ConstVector& sinks, const Extents& e) {
  if (!sinks.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_float("sinks", sinks.dtype));
  return check_vector("sinks", sinks, "h_q", e.h_q);
}

Status check_lengths(const char* name, const ConstVector& lengths, int64_t b, const char* axis, int64_t extent) {
  if (!lengths.present()) return {};
  if (lengths.dtype != DType::i64 && lengths.dtype != DType::i32) {
    return Status::error(kInvalid, "%s: dtype %s is not an integer type; expected int32 or int64", name,
                         name_of(lengths.dtype));
  }
  FOVEATE_RETURN_IF_ERROR(check_vector(name, lengths, "b", b));
  for (int64_t i = 0; i < b; ++i) {
    const int64_t length = integer_at(lengths, i);
    if (length < 0 || length > extent) {
      return Status::error(kInvalid, "%s: entry %" PRId64 " is %" PRId64 "; expected 0 to %s = %" PRId64, name, i,
                           length, axis, extent);
    }
  }
  return {};
}

Status check_window(const char* name, int64_t side) {
  if (side < kUnlimited)
    return Status::error(kInvalid, "%s: %" PRId64 " is below -1; expected a width, or -1 for no bound", name, side);
  return {};
}

Status check_offset(const char* name, const std::optional<int64_t>& offset) {
  if (offset && (*offset > kLargest || *offset < -kLargest))
    return Status::error(kInvalid, "%s: %" PRId64 " is past 2^60", name, *offset);
  return {};
}

Status check_options(const AttentionOptions& o, const Extents& e) {
  if (o.scale && !std::isfinite(*o.scale)) {
    return Status::error(kInvalid, "scale: %g is not finite; leave it out for 1 / sqrt(head dim)", *o.scale);
  }
  if (!(o.softcap >= 0) || !std::isfinite(o.softcap)) {
    return Status::error(kInvalid, "softcap: %g; expected a finite number above 0, or 0 for none", o.softcap);
  }
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    return Status::error(kInvalid, "dropout: %g; expected a probability, at least 0 and below 1", o.dropout);
  }
  FOVEATE_RETURN_IF_ERROR(check_window("window_left", o.window_left));
  FOVEATE_RETURN_IF_ERROR(check_window("window_right", o.window_right));
  FOVEATE_RETURN_IF_ERROR(check_mask(o.mask, e));
  FOVEATE_RETURN_IF_ERROR(check_bias(o.bias, e));
  FOVEATE_RETURN_IF_ERROR(check_slopes(o.alibi_slopes, e));
  FOVEATE_RETURN_IF_ERROR(check_sinks(o.sinks, e));
  FOVEATE_RETURN_IF_ERROR(check_lengths("q_lengths", o.q_lengths, e.b, "n_q", e.n_q));
  FOVEATE_RETURN_IF_ERROR(check_lengths("kv_lengths", o.kv_lengths, e.b, "n_kv", e.n_kv));
  FOVEATE_RETURN_IF_ERROR(check_offset("q_offset", o.q_offset));
  return check_offset("kv_offset", o.kv_offset);
}

/// A view of the very shape and dtype, which is `whose`.
Status check_like(const char* name, const ConstTensor& view, const int64_t (&shape)[4], const char* whose,
                  DType dtype) {
  if (!view.present()) return Status::error(kInvalid, "%s: missing; expected %s as %s", name, name_of(dtype), whose);
  if (view.dtype != dtype)
    return Status::error(kInvalid, "%s: %s does not equal %s's %s", name, name_of(view.dtype), whose, name_of(dtype));
  for (int axis = 0; axis < 4; ++axis) {
    if (view.shape[axis] == shape[axis]) continue;
    return Status::error(kInvalid,
                         "%s: shape [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]; expected [%" PRId64
                         ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
                         name, view.shape[0], view.shape[1], view.shape[2], view.shape[3], shape[0], shape[1], shape[2],
                         shape[3]);
  }
  return check_view(name, view);
}

Status check_output(const char* name, const Tensor& output, const int64_t (&shape)[4], const char* whose, DType dtype) {
  if (!output.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_like(name, output, shape, whose, dtype));
  if (overlaps_itself(output))
    return Status::error(
        kInvalid, "%s: its axes overlap or interleave in memory; expected a packed, sliced or transposed array", name);
  return {};
}

ConstTensor as_tensor(const ConstVector& vector) {
  return {vector.data, vector.dtype, {1, 1, 1, vector.size}, {0, 0, 0, vector.stride}};
}

struct Named {
  const char* name;
  ConstTensor view;
};

/// Outputs overlap neither inputs nor each other. Absent views meet nothing.
template <size_t kOutputs, size_t kInputs>
Status check_aliasing(const Named (&outputs)[kOutputs], const Named (&inputs)[kInputs]) {
  for (const Named& output : outputs) {
    if (!output.view.present()) continue;
    for (const Named& input : inputs) {
      if (input.view.present() && overlap(output.view, input.view)) {
        return Status::error(kInvalid, "%s: overlaps the input %s in memory; give it memory of its own", output.name,
                             input.name);
      }
    }
    for (const Named* other = outputs; other->name != output.name; ++other) {
      if (other->view.present() && overlap(output.view, other->view)) {
        return Status::error(kInvalid, "%s: overlaps the output %s in memory; give it memory of its own", output.name,
                             other->name);
      }
    }
  }
  return {};
}

Status check_aliasing(const Arguments& a) {
  const AttentionOptions& o = a.options;
  const Named outputs[] = {{"o", a.outputs.o}, {"lse", a.outputs.lse}, {"weights", a.outputs.weights}};
  const Named inputs[] = {{"q", a.q},
                          {"k", a.k},
                          {"v", a.v},
                          {"mask", o.mask},
                          {"bias", o.bias},
                          {"alibi_slopes", as_tensor(o.alibi_slopes)},
                          {"sinks", as_tensor(o.sinks)},
                          {"q_lengths", as_tensor(o.q_lengths)},
                          {"kv_lengths", as_tensor(o.kv_lengths)}};
  return check_aliasing(outputs, inputs);
}

}  // namespace

Status validate(const Arguments& a, Extents* extents) {
  FOVEATE_RETURN_IF_ERROR(check_inputs(a, extents));
  const Extents& e = *extents;
  FOVEATE_RETURN_IF_ERROR(check_heads(e));
  FOVEATE_RETURN_IF_ERROR(check_options(a.options, e));
  if (!a.outputs.o.present() && !a.outputs.lse.present() && !a.outputs.weights.present()) {
    return Status::error(kInvalid, "outputs: none given; expected o, lse or weights");
  }
  FOVEATE_RETURN_IF_ERROR(check_output("o", a.outputs.o, {e.b, e.h_q, e.n_q, e.d_v}, "q", a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_output("lse", a.outputs.lse, {e.b, e.h_q, e.n_q, 1}, "q", a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_output("weights", a.outputs.weights, {e.b, e.h_q, e.n_q, e.n_kv}, "q", a.q.dtype));
  return check_aliasing(a);
}

Status validate(const State& a, const State& b, const Tensor& o, const Tensor& lse) {
  FOVEATE_RETURN_IF_ERROR(check_float("a.o", a.o.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("a.o", a.o));
  const int64_t *n = a.o.shape, rows[4] = {n[0], n[1], n[2], 1}, whole[4] = {n[0], n[1], n[2], n[3]};
  const Named inputs[] = {{"a.o", a.o}, {"a.lse", a.lse}, {"b.o", b.o}, {"b.lse", b.lse}};
  for (const Named& input : inputs) {
    const bool is_lse = input.name[2] == 'l';
    FOVEATE_RETURN_IF_ERROR(check_like(input.name, input.view, is_lse ? rows : whole, "a.o", a.o.dtype));
  }
  if (!o.present() && !lse.present()) return Status::error(kInvalid, "outputs: none given; expected o or lse");
  const Named outputs[] = {{"o", o}, {"lse", lse}};
  FOVEATE_RETURN_IF_ERROR(check_output("o", o, whole, "a.o", a.o.dtype));
  FOVEATE_RETURN_IF_ERROR(check_output("lse", lse, rows, "a.o", a.o.dtype));
  return check_aliasing(outputs, inputs);
}

Status validate_workers(const char* name, int64_t workers) {
  if (workers < 1 || workers > kMostWorkers) {
    return Status::error(kInvalid, "%s: %" PRId64 " workers; expected 1 to %" PRId64, name, workers, kMostWorkers);
  }
  return {};
}

Status validate(const AttentionShape& s, Extents* extents) {
  FOVEATE_RETURN_IF_ERROR(check_float("dtype", s.dtype));
  FOVEATE_RETURN_IF_ERROR(check_extents("q", {s.b, s.h_q, s.n_q, s.d_k}));
  FOVEATE_RETURN_IF_ERROR(check_extents("k", {s.b, s.h_kv, s.n_kv, s.d_k}));
  FOVEATE_RETURN_IF_ERROR(check_extents("v", {s.b, s.h_kv, s.n_kv, s.d_v}));
  FOVEATE_RETURN_IF_ERROR(check_extents("o", {s.b, s.h_q, s.n_q, s.d_v}));
  *extents = {s.b, s.h_q, s.h_kv, s.n_q, s.n_kv, s.d_k, s.d_v};
  if (s.d_k == 0) return Status::error(kInvalid, "d_k: 0; expected at least 1");
  FOVEATE_RETURN_IF_ERROR(check_head_dim("d_k", s.d_k));
  FOVEATE_RETURN_IF_ERROR(check_head_dim("d_v", s.d_v));
  FOVEATE_RETURN_IF_ERROR(check_offset("kv_offset", s.kv_offset));
  return check_heads(*extents);
}

}  // namespace foveate
