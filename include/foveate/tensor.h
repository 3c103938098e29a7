// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Strided views: a pointer to aligned elements, a dtype, four extents and four strides. A view owns nothing and is passed by value.
//
// Axes are always [batch, head, sequence, head_dim], whatever the order in memory: the order is told by the strides alone.
// Strides count elements, not bytes, may be zero or negative, and are ignored on an axis of extent 1.
#ifndef FOVEATE_TENSOR_H_
#define FOVEATE_TENSOR_H_

#include <cstdint>
#include <type_traits>

#include "foveate/float16.h"

namespace foveate {

enum class DType : uint8_t { none, f64, f32, f16, bf16, i64, i32, boolean, i8 };

/// Bytes of one element; 0 for DType::none.
constexpr int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::boolean:
    case DType::i8:
      return 1;
    case DType::none:
      return 0;
  }
  return 0;
}

/// "float32", "bool", ...: the names NumPy uses.
constexpr const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::i64:
      return "int64";
    case DType::i32:
      return "int32";
    case DType::boolean:
      return "bool";
    case DType::i8:
      return "int8";
    case DType::none:
      return "none";
  }
  return "unknown";
}

/// The dtype of a C++ element type.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, double>) return DType::f64;
  if constexpr (std::is_same_v<U, float>) return DType::f32;
  if constexpr (std::is_same_v<U, Float16>) return DType::f16;
  if constexpr (std::is_same_v<U, BFloat16>) return DType::bf16;
  if constexpr (std::is_same_v<U, int64_t>) return DType::i64;
  if constexpr (std::is_same_v<U, int32_t>) return DType::i32;
  if constexpr (std::is_same_v<U, int8_t>) return DType::i8;
  if constexpr (std::is_same_v<U, bool>) return DType::boolean;
  return DType::none;
}

/// Order of the axes in memory of a packed array; views made by hand may have any strides.
enum class Layout : uint8_t {
  bhnd,  ///< [batch, head, sequence, head_dim]
  bnhd,  ///< [batch, sequence, head, head_dim]
};

/// A read-only view. A default-made one is absent: `mask`, `bias` and the like left out.
struct ConstTensor {
  const void* data = nullptr;
  DType dtype = DType::none;
  int64_t shape[4] = {0, 0, 0, 0};
  int64_t stride[4] = {0, 0, 0, 0};

  constexpr bool present() const { return dtype != DType::none; }
};

/// A view to write through. Converts to ConstTensor.
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::none;
  int64_t shape[4] = {0, 0, 0, 0};
  int64_t stride[4] = {0, 0, 0, 0};

  constexpr bool present() const { return dtype != DType::none; }

  constexpr operator ConstTensor() const {  // NOLINT(google-explicit-constructor): a writable view is a readable one
    return {data, dtype, {shape[0], shape[1], shape[2], shape[3]}, {stride[0], stride[1], stride[2], stride[3]}};
  }
};

/// A read-only view of one axis: sinks, slopes, lengths, starts.
struct ConstVector {
  const void* data = nullptr;
  DType dtype = DType::none;
  int64_t size = 0;
  int64_t stride = 1;

  constexpr bool present() const { return dtype != DType::none; }
};

/// A vector to write through: gradients of sinks. Converts to ConstVector.
struct Vector {
  void* data = nullptr;
  DType dtype = DType::none;
  int64_t size = 0;
  int64_t stride = 1;

  constexpr bool present() const { return dtype != DType::none; }

  constexpr operator ConstVector() const {  // NOLINT(google-explicit-constructor): as Tensor
    return {data, dtype, size, stride};
  }
};

/// A read-only view of two axes: a block table, a projection.
struct ConstMatrix {
  const void* data = nullptr;
  DType dtype = DType::none;
  int64_t shape[2] = {0, 0};
  int64_t stride[2] = {0, 0};

  constexpr bool present() const { return dtype != DType::none; }
};

/// A matrix to write through: gradients of projections. Converts to ConstMatrix.
struct Matrix {
  void* data = nullptr;
  DType dtype = DType::none;
  int64_t shape[2] = {0, 0};
  int64_t stride[2] = {0, 0};

  constexpr bool present() const { return dtype != DType::none; }

  constexpr operator ConstMatrix() const {  // NOLINT(google-explicit-constructor): as Tensor
    return {data, dtype, {shape[0], shape[1]}, {stride[0], stride[1]}};
  }
};

/// Views a packed array of extents b, h, n, d that lies in memory in the order `layout`.
/// A `const T*` gives a ConstTensor, a `T*` a Tensor.
template <class T>
constexpr auto view(T* data, int64_t b, int64_t h, int64_t n, int64_t d, Layout layout = Layout::bhnd) {
  using View = std::conditional_t<std::is_const_v<T>, ConstTensor, Tensor>;
  static_assert(dtype_of<T>() != DType::none, "no dtype for this element type");
  return layout == Layout::bhnd ? View{data, dtype_of<T>(), {b, h, n, d}, {h * n * d, n * d, d, 1}}
                                : View{data, dtype_of<T>(), {b, h, n, d}, {n * h * d, d, h * d, 1}};
}

/// Views `size` packed elements: a `const T*` gives a ConstVector, a `T*` a Vector.
template <class T>
constexpr auto view(T* data, int64_t size) {
  using View = std::conditional_t<std::is_const_v<T>, ConstVector, Vector>;
  static_assert(dtype_of<T>() != DType::none, "no dtype for this element type");
  return View{data, dtype_of<T>(), size, 1};
}

/// Views a packed matrix: a `const T*` gives a ConstMatrix, a `T*` a Matrix.
template <class T>
constexpr auto view(T* data, int64_t rows, int64_t columns) {
  using View = std::conditional_t<std::is_const_v<T>, ConstMatrix, Matrix>;
  static_assert(dtype_of<T>() != DType::none, "no dtype for this element type");
  return View{data, dtype_of<T>(), {rows, columns}, {columns, 1}};
}

}  // namespace foveate

#endif  // FOVEATE_TENSOR_H_
