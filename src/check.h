// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Checks of one argument each, of which validate.cc is made. A message begins with the argument it is about, then says what
// was got and what was expected, then a remedy.
#ifndef FOVEATE_SRC_CHECK_H_
#define FOVEATE_SRC_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "foveate/status.h"
#include "foveate/tensor.h"

#define FOVEATE_RETURN_IF_ERROR(expression)            \
  do {                                                 \
    const Status status_of_check = (expression);       \
    if (!status_of_check.ok()) return status_of_check; \
  } while (false)

namespace foveate {

/// No extent, offset or product of extents goes past it, so that sums of a few of them stay in 64 bits.
inline constexpr int64_t kLargest = int64_t{1} << 60;
inline constexpr int64_t kLargestHeadDim = int64_t{1} << 32;

inline constexpr StatusCode kInvalid = StatusCode::invalid_argument;

/// Extents from 0 on whose product is at most kLargest.
Status check_extents(const char* name, const int64_t (&shape)[4]);

/// A view whose elements can be addressed, each at a multiple of its size.
Status check_view(const char* name, const ConstTensor& view);

/// At most 2^32, so that the bytes of a workspace stay in 64 bits.
Status check_head_dim(const char* name, int64_t head_dim);

/// A float type that this build computes with.
Status check_float(const char* name, DType dtype);

/// int32 or int64.
Status check_integer(const char* name, DType dtype);

/// A view of which each extent is that of `shape`, which the message calls `meaning`, or 1.
Status check_broadcast(const char* name, const ConstTensor& view, const char* meaning, const int64_t (&shape)[4]);

/// A vector of `extent` entries, which the message calls `extent_name`.
Status check_vector(const char* name, const ConstVector& vector, const char* extent_name, int64_t extent);

/// A view of the very shape and dtype, which is `whose`.
Status check_like(const char* name, const ConstTensor& view, const int64_t (&shape)[4], const char* whose, DType dtype);

/// check_like, and no two elements share memory. Absent outputs are well.
Status check_output(const char* name, const Tensor& output, const int64_t (&shape)[4], const char* whose, DType dtype);

/// A vector or a matrix as a view of four axes.
ConstTensor as_tensor(const ConstVector& vector);
ConstTensor as_tensor(const ConstMatrix& matrix);

struct Named {
  const char* name;
  ConstTensor view;
};

/// Outputs overlap neither inputs nor each other. Absent views meet nothing.
Status check_aliasing(const Named* outputs, size_t n_outputs, const Named* inputs, size_t n_inputs);
template <size_t kOutputs, size_t kInputs>
Status check_aliasing(const Named (&outputs)[kOutputs], const Named (&inputs)[kInputs]) {
  return check_aliasing(outputs, kOutputs, inputs, kInputs);
}

}  // namespace foveate

#endif  // FOVEATE_SRC_CHECK_H_
