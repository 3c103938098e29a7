// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Views of NumPy arrays. Those handed in have the engine's axes already, by strides alone; None is an absent one.
// bfloat16, which buffers have no letter for, comes as a record of one field of that name (python/foveate/_arrays.py).
#ifndef FOVEATE_PYTHON_VIEWS_H_
#define FOVEATE_PYTHON_VIEWS_H_

#include <nanobind/nanobind.h>

#include <list>

#include "foveate/tensor.h"

namespace foveate::python {

namespace nb = nanobind;

/// Keeps the buffers that were viewed; what is viewed is good as long as this is. Made and ended with the GIL held.
class Views {
 public:
  Views() = default;
  ~Views();
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;

  /// Each throws a Python exception where the array has other axes or a type that there is no DType for, or may not be
  /// written to though it is `writable`.
  ConstTensor tensor(nb::handle array);
  ConstVector vector(nb::handle array);
  ConstMatrix matrix(nb::handle array);
  Tensor output(nb::handle array);

  /// Arrays as callers have them, [n, d], [h, n, d] or [b, h, n, d], all as the first: axes that are not there become 1.
  /// Throws where elements are not aligned, too.
  ConstTensor rows(nb::handle array) { return leading<ConstTensor>(array, false); }
  Tensor output_rows(nb::handle array) { return leading<Tensor>(array, true); }
  int axes_of_rows() const { return axes_of_rows_; }

  Vector output_vector(nb::handle array);
  Matrix output_matrix(nb::handle array);

 private:
  const Py_buffer& held(nb::handle array, bool writable);
  template <class View>
  View strided(nb::handle array, int axes, bool writable);
  template <class View>
  View leading(nb::handle array, bool writable);
  template <class View>
  View single(nb::handle array, bool writable);

  std::list<Py_buffer> buffers_;
  int axes_of_rows_ = 0;
};

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_VIEWS_H_
