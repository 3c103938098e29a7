// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which axes of the library, [b, h, n, d], those of a file are. What a file lacks has extent 1.
#ifndef FOVEATE_CLI_AXES_H_
#define FOVEATE_CLI_AXES_H_

#include <cstddef>
#include <type_traits>
#include <vector>

#include "foveate/tensor.h"
#include "io/array.h"

namespace foveate::cli {

/// Where each axis of an array of two, three or four axes goes, in the order of the file.
std::vector<size_t> axis_places(size_t axes, Layout layout);

/// The same for an array of at most four axes that is aligned to the right, as NumPy broadcasts.
std::vector<size_t> broadcast_places(size_t axes);

/// Views an array whose axes go to `places`: a Tensor, or a ConstTensor of what must not be written.
template <class Array>
auto view_at(Array& array, const std::vector<size_t>& places) {
  using View = std::conditional_t<std::is_const_v<Array>, ConstTensor, Tensor>;
  View view{array.data(), array.dtype, {1, 1, 1, 1}, {0, 0, 0, 0}};
  for (size_t axis = 0; axis < places.size(); ++axis) {
    view.shape[places[axis]] = array.shape[axis];
    view.stride[places[axis]] = array.stride[axis];
  }
  return view;
}

/// Views an array of one axis, and of two.
inline ConstVector view_vector(const io::Array& array) {
  return {array.data(), array.dtype, array.shape[0], array.stride[0]};
}
inline ConstMatrix view_matrix(const io::Array& array) {
  return {array.data(), array.dtype, {array.shape[0], array.shape[1]}, {array.stride[0], array.stride[1]}};
}

/// Views q, k, v or the gradient of out on the axes [b, h, n, d].
inline ConstTensor view_on_bhnd(const io::Array& array, Layout layout) {
  return view_at(array, axis_places(array.shape.size(), layout));
}

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_AXES_H_
