// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <cinttypes>

#include "kernels/tile.h"
#include "overlap.h"

namespace foveate {

Status check_extents(const char* name, const int64_t (&shape)[4]) {
  int64_t elements = 1;
  for (int axis = 0; axis < 4; ++axis) {
    if (shape[axis] < 0)
      return Status::error(kInvalid, "%s: extent %" PRId64 " of axis %d is negative", name, shape[axis], axis);
    const int64_t extent = shape[axis] == 0 ? 1 : shape[axis];
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > kLargest)
      return Status::error(kInvalid, "%s: more than 2^60 elements", name);
  }
  return {};
}

Status check_view(const char* name, const ConstTensor& view) {
  FOVEATE_RETURN_IF_ERROR(check_extents(name, view.shape));
  if (!addressable(view)) return Status::error(kInvalid, "%s: strides reach past 64-bit addresses", name);
  const bool empty = view.shape[0] == 0 || view.shape[1] == 0 || view.shape[2] == 0 || view.shape[3] == 0;
  if (empty) return {};
  if (view.data == nullptr) return Status::error(kInvalid, "%s: the data pointer is null", name);
  const int64_t size = size_of(view.dtype);
  if (size > 1 && reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(size) != 0) {
    return Status::error(kInvalid,
                         "%s: its data lies across %s elements; expected an address that %" PRId64
                         " divides; copy it to aligned memory",
                         name, name_of(view.dtype), size);
  }
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
      if (kernels::kNarrowTypes) return {};
      return Status::error(StatusCode::not_supported, "%s: %s is not in this build; convert it to float32", name,
                           name_of(dtype));
    case DType::none:
      return Status::error(kInvalid, "%s: missing; expected an array of a float type", name);
    default:
      return Status::error(kInvalid, "%s: dtype %s is not a float type; expected float32, float64, float16 or bfloat16",
                           name, name_of(dtype));
  }
}

Status check_integer(const char* name, DType dtype) {
  if (dtype == DType::i64 || dtype == DType::i32) return {};
  return Status::error(kInvalid, "%s: dtype %s is not an integer type; expected int32 or int64", name, name_of(dtype));
}

Status check_broadcast(const char* name, const ConstTensor& view, const char* meaning, const int64_t (&shape)[4]) {
  FOVEATE_RETURN_IF_ERROR(check_view(name, view));
  for (int axis = 0; axis < 4; ++axis) {
    if (view.shape[axis] == shape[axis] || view.shape[axis] == 1) continue;
    return Status::error(kInvalid,
                         "%s: shape [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                         "] does not broadcast to %s = [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                         "]; each extent must equal it or be 1",
                         name, view.shape[0], view.shape[1], view.shape[2], view.shape[3], meaning, shape[0], shape[1],
                         shape[2], shape[3]);
  }
  return {};
}

Status check_vector(const char* name, const ConstVector& vector, const char* extent_name, int64_t extent) {
  if (vector.size != extent) {
    return Status::error(kInvalid, "%s: %" PRId64 " entries; expected %s = %" PRId64, name, vector.size, extent_name,
                         extent);
  }
  return check_view(name, as_tensor(vector));
}

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

ConstTensor as_tensor(const ConstMatrix& matrix) {
  return {
      matrix.data, matrix.dtype, {1, 1, matrix.shape[0], matrix.shape[1]}, {0, 0, matrix.stride[0], matrix.stride[1]}};
}

Status check_aliasing(const Named* outputs, size_t n_outputs, const Named* inputs, size_t n_inputs) {
  for (size_t o = 0; o < n_outputs; ++o) {
    const Named& output = outputs[o];
    if (!output.view.present()) continue;
    for (size_t i = 0; i < n_inputs; ++i) {
      if (inputs[i].view.present() && overlap(output.view, inputs[i].view)) {
        return Status::error(kInvalid, "%s: overlaps the input %s in memory; give it memory of its own", output.name,
                             inputs[i].name);
      }
    }
    for (size_t other = 0; other < o; ++other) {
      if (outputs[other].view.present() && overlap(output.view, outputs[other].view)) {
        return Status::error(kInvalid, "%s: overlaps the output %s in memory; give it memory of its own", output.name,
                             outputs[other].name);
      }
    }
  }
  return {};
}

}  // namespace foveate
