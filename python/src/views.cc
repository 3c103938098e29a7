// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/views.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace foveate::python {
namespace {

DType dtype_of_format(std::string_view format, Py_ssize_t bytes) {
  if (format == "d") return DType::f64;
  if (format == "f") return DType::f32;
  if (format == "e") return DType::f16;
  if (format == "T{H:bfloat16:}") return DType::bf16;
  if (format == "?") return DType::boolean;
  if (format == "b") return DType::i8;
  // C's int, long and long long: which of them has how many bytes is the platform's affair.
  if (format == "i" || format == "l" || format == "q") return bytes == 8 ? DType::i64 : DType::i32;
  throw nb::type_error(("array: format '" + std::string(format) + "' has no dtype in the engine").c_str());
}

/// The view of a buffer, and its dtype; throws where it has not that many axes.
DType element_type(const Py_buffer& buffer, int axes) {
  if (buffer.ndim != axes) {
    throw nb::value_error(
        ("array: " + std::to_string(buffer.ndim) + " axes, expected " + std::to_string(axes)).c_str());
  }
  return dtype_of_format(buffer.format, buffer.itemsize);
}

int64_t stride_of(const Py_buffer& buffer, int axis) {
  if (buffer.shape[axis] > 1 && buffer.strides[axis] % buffer.itemsize != 0) {
    throw nb::type_error("array: strides that are no multiple of an element; expected a copy");
  }
  return buffer.strides[axis] / buffer.itemsize;
}

}  // namespace

Views::~Views() {
  for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
}

const Py_buffer& Views::held(nb::handle array, bool writable) {
  Py_buffer buffer;
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(array.ptr(), &buffer, flags) != 0) throw nb::python_error();
  buffers_.push_back(buffer);
  return buffers_.back();
}

template <class View>
View Views::strided(nb::handle array, int axes, bool writable) {
  View view;
  if (array.is_none()) return view;
  const Py_buffer& buffer = held(array, writable);
  view.data = buffer.buf;
  view.dtype = element_type(buffer, axes);
  for (int axis = 0; axis < axes; ++axis) {
    view.shape[axis] = buffer.shape[axis];
    view.stride[axis] = stride_of(buffer, axis);
  }
  return view;
}

template <class View>
View Views::leading(nb::handle array, bool writable) {
  const Py_buffer& buffer = held(array, writable);
  if (axes_of_rows_ == 0) axes_of_rows_ = buffer.ndim;
  if (axes_of_rows_ < 2 || axes_of_rows_ > 4) throw nb::value_error("array: expected 2 to 4 axes");
  View view;
  view.data = buffer.buf;
  view.dtype = element_type(buffer, axes_of_rows_);
  if (reinterpret_cast<uintptr_t>(buffer.buf) % static_cast<uintptr_t>(buffer.itemsize) != 0) {
    throw nb::type_error("array: elements that are not aligned; expected a copy");
  }
  const int missing = 4 - axes_of_rows_;
  for (int axis = 0; axis < 4; ++axis) {
    view.shape[axis] = axis < missing ? 1 : buffer.shape[axis - missing];
    view.stride[axis] = axis < missing ? 0 : stride_of(buffer, axis - missing);
  }
  return view;
}

template ConstTensor Views::leading(nb::handle, bool);
template Tensor Views::leading(nb::handle, bool);

template <class View>
View Views::single(nb::handle array, bool writable) {
  struct OneAxis {
    void* data = nullptr;
    DType dtype = DType::none;
    int64_t shape[1] = {0};
    int64_t stride[1] = {1};
  };
  const auto view = strided<OneAxis>(array, 1, writable);
  return {view.data, view.dtype, view.shape[0], view.stride[0]};
}

ConstTensor Views::tensor(nb::handle array) { return strided<ConstTensor>(array, 4, false); }
ConstVector Views::vector(nb::handle array) { return single<ConstVector>(array, false); }
ConstMatrix Views::matrix(nb::handle array) { return strided<ConstMatrix>(array, 2, false); }
Tensor Views::output(nb::handle array) { return strided<Tensor>(array, 4, true); }
Vector Views::output_vector(nb::handle array) { return single<Vector>(array, true); }
Matrix Views::output_matrix(nb::handle array) { return strided<Matrix>(array, 2, true); }

}  // namespace foveate::python
