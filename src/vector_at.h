// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Entries of the options' vectors, whatever their dtype: float32 or float64, int32 or int64.
#ifndef FOVEATE_SRC_VECTOR_AT_H_
#define FOVEATE_SRC_VECTOR_AT_H_

#include <cstdint>

#include "foveate/tensor.h"

namespace foveate {

inline double float_at(const ConstVector& vector, int64_t i) {
  return vector.dtype == DType::f64 ? static_cast<const double*>(vector.data)[i * vector.stride]
                                    : static_cast<double>(static_cast<const float*>(vector.data)[i * vector.stride]);
}

inline int64_t integer_at(const ConstVector& vector, int64_t i) {
  return vector.dtype == DType::i64 ? static_cast<const int64_t*>(vector.data)[i * vector.stride]
                                    : static_cast<const int32_t*>(vector.data)[i * vector.stride];
}

}  // namespace foveate

#endif  // FOVEATE_SRC_VECTOR_AT_H_
