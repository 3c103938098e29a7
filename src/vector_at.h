// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a view says, as it is meant: entries of the options' vectors, whatever their dtype (any float type, int32 or int64),
// and steps along axes.
#ifndef FOVEATE_SRC_VECTOR_AT_H_
#define FOVEATE_SRC_VECTOR_AT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "foveate/float16.h"
#include "foveate/tensor.h"

namespace foveate {

/// Stride along an axis; 0 where the extent is 1, whatever the view says.
inline int64_t step(const ConstTensor& view, int axis) { return view.shape[axis] == 1 ? 0 : view.stride[axis]; }

/// Where element [b, h, i, 0] lies; nullptr in an absent view, and the pointer itself, which may be null, in an empty one.
inline const void* row_at(const ConstTensor& view, int64_t b, int64_t h, int64_t i) {
  if (!view.present()) return nullptr;
  const bool empty = view.shape[2] == 0 || view.shape[3] == 0;
  const int64_t offset = empty ? 0 : b * step(view, 0) + h * step(view, 1) + i * step(view, 2);
  return static_cast<const char*>(view.data) + offset * size_of(view.dtype);
}
inline void* row_at(const Tensor& view, int64_t b, int64_t h, int64_t i) {
  return const_cast<void*>(row_at(static_cast<const ConstTensor&>(view), b, h, i));
}

/// The rows [b, h, first + i, ...] of a view, so many bytes apart: what row_at() gives, to one who wants many.
struct RowsAt {
  const char* first;
  int64_t bytes;

  const void* operator[](int64_t i) const { return first + i * bytes; }
};
inline RowsAt rows_at(const ConstTensor& view, int64_t b, int64_t h, int64_t first) {
  const bool empty = !view.present() || view.shape[2] == 0 || view.shape[3] == 0;
  return {static_cast<const char*>(row_at(view, b, h, first)), empty ? 0 : step(view, 2) * size_of(view.dtype)};
}

inline double float_at(const ConstVector& vector, int64_t i) {
  const int64_t at = i * vector.stride;
  switch (vector.dtype) {
    case DType::f64:
      return static_cast<const double*>(vector.data)[at];
    case DType::f16:
      return static_cast<double>(static_cast<float>(static_cast<const Float16*>(vector.data)[at]));
    case DType::bf16:
      return static_cast<double>(static_cast<float>(static_cast<const BFloat16*>(vector.data)[at]));
    default:
      return static_cast<double>(static_cast<const float*>(vector.data)[at]);
  }
}

/// A number of the arguments in the computing type: finite stays finite.
template <class T>
T narrowed(double x) {
  constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::isfinite(x) ? std::clamp(x, -largest, largest) : x);
}

inline double float_at(const ConstMatrix& matrix, int64_t row, int64_t column) {
  const char* const first = static_cast<const char*>(matrix.data) + row * matrix.stride[0] * size_of(matrix.dtype);
  return float_at(ConstVector{first, matrix.dtype, matrix.shape[1], matrix.stride[1]}, column);
}

inline int64_t integer_at(const ConstVector& vector, int64_t i) {
  return vector.dtype == DType::i64 ? static_cast<const int64_t*>(vector.data)[i * vector.stride]
                                    : static_cast<const int32_t*>(vector.data)[i * vector.stride];
}

}  // namespace foveate

#endif  // FOVEATE_SRC_VECTOR_AT_H_
