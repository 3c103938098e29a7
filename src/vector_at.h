// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a view says, as it is meant: entries of the options' vectors, whatever their dtype (any float type, int32 or int64),
// and steps along axes.
#ifndef FOVEATE_SRC_VECTOR_AT_H_
#define FOVEATE_SRC_VECTOR_AT_H_

#include <cstdint>

#include "foveate/float16.h"
#include "foveate/tensor.h"

namespace foveate {

/// Stride along an axis; 0 where the extent is 1, whatever the view says.
inline int64_t step(const ConstTensor& view, int axis) { return view.shape[axis] == 1 ? 0 : view.stride[axis]; }

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

inline int64_t integer_at(const ConstVector& vector, int64_t i) {
  return vector.dtype == DType::i64 ? static_cast<const int64_t*>(vector.data)[i * vector.stride]
                                    : static_cast<const int32_t*>(vector.data)[i * vector.stride];
}

}  // namespace foveate

#endif  // FOVEATE_SRC_VECTOR_AT_H_
