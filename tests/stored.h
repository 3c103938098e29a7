// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A placed array of any element type, whose elements are read and written as numbers.
#ifndef FOVEATE_TESTS_STORED_H_
#define FOVEATE_TESTS_STORED_H_

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "foveate/tensor.h"
#include "tests/placed.h"

namespace foveate::trial {

template <class E>
double number_of(const E& x) {
  if constexpr (std::is_same_v<E, Float16> || std::is_same_v<E, BFloat16>) {
    return static_cast<double>(static_cast<float>(x));
  } else {
    return static_cast<double>(x);
  }
}

/// The element nearest to a number that its type can hold.
template <class E>
E element_of(double x) {
  if constexpr (std::is_same_v<E, Float16> || std::is_same_v<E, BFloat16>) {
    return E(static_cast<float>(x));
  } else {
    return static_cast<E>(x);
  }
}

/// Calls body with a null pointer of the element type that a dtype names.
template <class Body>
auto with_element(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f64:
      return body(static_cast<double*>(nullptr));
    case DType::f16:
      return body(static_cast<Float16*>(nullptr));
    case DType::bf16:
      return body(static_cast<BFloat16*>(nullptr));
    case DType::i8:
      return body(static_cast<int8_t*>(nullptr));
    case DType::i64:
      return body(static_cast<int64_t*>(nullptr));
    case DType::i32:
      return body(static_cast<int32_t*>(nullptr));
    case DType::boolean:
      return body(static_cast<unsigned char*>(nullptr));
    default:
      return body(static_cast<float*>(nullptr));
  }
}

/// A number as an array of that dtype holds it.
inline double rounded_to(DType dtype, double x) {
  return with_element(dtype, [x]<class E>(E*) { return number_of(element_of<E>(x)); });
}

class Stored {
 public:
  Stored() = default;
  Stored(DType dtype, const Shape& shape, const Placement& placement) : shape_(shape), present_(true) {
    with_element(dtype, [&]<class E>(E*) { array_ = Placed<E>(shape, placement); });
  }
  /// One axis, its elements `stride` apart.
  Stored(DType dtype, int64_t n, int64_t stride)
      : Stored(
            dtype, {1, 1, 1, n},
            Placement{.gap = {1, 1, 1, stride < 0 ? -stride : stride}, .reversed = {false, false, false, stride < 0}}) {
  }

  bool present() const { return present_; }
  DType dtype() const { return view().dtype; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return shape_[0] * shape_[1] * shape_[2] * shape_[3]; }

  double at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return std::visit([&](const auto& a) { return number_of(a.at(b, h, i, j)); }, array_);
  }
  void set(int64_t b, int64_t h, int64_t i, int64_t j, double x) {
    std::visit([&]<class E>(Placed<E>& a) { a.at(b, h, i, j) = element_of<E>(x); }, array_);
  }

  /// Fills the array, in C order, with what draw() gives.
  template <class Draw>
  void fill(const Draw& draw) {
    std::visit([&]<class E>(Placed<E>& a) { a.each([&](E& x) { x = element_of<E>(draw()); }); }, array_);
  }

  /// The elements in C order.
  std::vector<double> packed() const {
    std::vector<double> to;
    to.reserve(static_cast<size_t>(size()));
    std::visit(
        [&](const auto& a) {
          for (const auto& x : a.packed()) to.push_back(number_of(x));
        },
        array_);
    return to;
  }

  ConstTensor view() const {
    return std::visit([](const auto& a) { return a.view(); }, array_);
  }
  Tensor writable() {
    return std::visit([](auto& a) { return a.writable(); }, array_);
  }
  ConstVector vector() const {
    const ConstTensor all = view();
    return {all.data, all.dtype, shape_[3], all.stride[3]};
  }
  ConstMatrix matrix() const {
    const ConstTensor all = view();
    return {all.data, all.dtype, {shape_[2], shape_[3]}, {all.stride[2], all.stride[3]}};
  }

  void clear() {
    std::visit([](auto& a) { a.clear(); }, array_);
  }
  bool untouched() const {
    return std::visit([](const auto& a) { return a.untouched(); }, array_);
  }
  bool padding_intact() const {
    return std::visit([](const auto& a) { return a.padding_intact(); }, array_);
  }

 private:
  Shape shape_ = {};
  bool present_ = false;
  std::variant<Placed<float>, Placed<double>, Placed<Float16>, Placed<BFloat16>, Placed<int8_t>, Placed<int64_t>,
               Placed<int32_t>, Placed<unsigned char>>
      array_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_STORED_H_
