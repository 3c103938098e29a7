// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Copies of arrays that lie elsewhere with other strides.
#ifndef FOVEATE_TESTS_SCATTERED_H_
#define FOVEATE_TESTS_SCATTERED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "foveate/tensor.h"

namespace foveate {

/// A copy of a view that lies elsewhere with other strides.
template <class T>
class Scattered {
 public:
  /// Axes in memory from outermost to innermost; `apart` elements between neighbours of the innermost; `reversed`: the
  /// last element first; `shift` elements past an aligned address.
  struct Form {
    int order[4];
    int64_t apart;
    bool reversed;
    int64_t shift;
  };

  Scattered(const ConstTensor& from, const Form& form) {
    Tensor to{nullptr, from.dtype, {from.shape[0], from.shape[1], from.shape[2], from.shape[3]}, {}};
    int64_t elements = form.apart;
    for (int i = 3; i >= 0; --i) {
      const int axis = form.order[i];
      to.stride[axis] = elements;
      elements = elements * from.shape[axis] + (i == 2 ? 3 : 0);
    }
    memory_.resize(static_cast<size_t>(elements + form.shift));
    T* first = memory_.data() + form.shift;
    if (form.reversed) {
      for (int axis = 0; axis < 4; ++axis) {
        first += (to.shape[axis] - 1) * to.stride[axis];
        to.stride[axis] = -to.stride[axis];
      }
    }
    to.data = first;
    view = to;
    copy(from, to);
  }

  static void copy(const ConstTensor& from, const Tensor& to) {
    for (int64_t b = 0; b < from.shape[0]; ++b) {
      for (int64_t h = 0; h < from.shape[1]; ++h) {
        for (int64_t i = 0; i < from.shape[2]; ++i) {
          for (int64_t d = 0; d < from.shape[3]; ++d) {
            static_cast<T*>(to.data)[b * to.stride[0] + h * to.stride[1] + i * to.stride[2] + d * to.stride[3]] =
                static_cast<const T*>(
                    from.data)[b * from.stride[0] + h * from.stride[1] + i * from.stride[2] + d * from.stride[3]];
          }
        }
      }
    }
  }

  Tensor view;

 private:
  std::vector<T> memory_;
};

}  // namespace foveate

#endif  // FOVEATE_TESTS_SCATTERED_H_
