// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Values for calls that want none.
#ifndef FOVEATE_SRC_NO_VALUES_H_
#define FOVEATE_SRC_NO_VALUES_H_

#include "foveate/tensor.h"

namespace foveate {

/// One zero for all values of such keys.
inline ConstTensor no_values(const ConstTensor& k) {
  static constexpr double zero = 0;
  return {
      &zero, k.dtype == DType::f64 ? DType::f64 : DType::f32, {k.shape[0], k.shape[1], k.shape[2], 0}, {0, 0, 0, 0}};
}

}  // namespace foveate

#endif  // FOVEATE_SRC_NO_VALUES_H_
