// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays that lie in memory in any way a view can describe, every byte around their elements known: a NaN that must not
// be read, and must still be there after a call.
#ifndef FOVEATE_TESTS_PLACED_H_
#define FOVEATE_TESTS_PLACED_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <type_traits>
#include <vector>

#include "foveate/tensor.h"

namespace foveate::trial {

using Shape = std::array<int64_t, 4>;

/// How an array lies in memory.
struct Placement {
  std::array<int, 4> order = {0, 1, 2, 3};    ///< the axes, outermost first
  std::array<int64_t, 4> gap = {1, 1, 1, 1};  ///< along this axis, one element in so many belongs to the array
  std::array<bool, 4> reversed = {};          ///< stride below 0
  std::array<bool, 4> repeated = {};          ///< stride 0: for inputs alone
  int64_t guard = 4;                          ///< elements in front of the array and behind it
  int64_t stride_of_one = 0;                  ///< the stride of axes of extent 1, which means nothing

  bool repeats() const { return repeated[0] || repeated[1] || repeated[2] || repeated[3]; }
};

inline std::ostream& operator<<(std::ostream& out, const Placement& p) {
  for (int axis : p.order) {
    out << (p.reversed[axis] ? "-" : "") << "bhnd"[axis];
    if (p.gap[axis] != 1) out << '*' << p.gap[axis];
    if (p.repeated[axis]) out << "=0";
  }
  return out << '+' << p.guard;
}

/// What stands where no element is: for floats a NaN of its own kind, for masks a byte that would take part.
template <class T>
T canary() {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(0x7fc0ca7au);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(0x7ff80000ca7aca7au);
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return std::bit_cast<T>(static_cast<uint16_t>(0x7fca));
  } else {
    return static_cast<T>(0x5a);
  }
}

template <class T>
class Placed {
 public:
  Placed() = default;
  Placed(const Shape& shape, const Placement& placement) : shape_(shape), origin_(placement.guard) {
    int64_t step = 1;
    for (int place = 3; place >= 0; --place) {
      const int axis = placement.order[place];
      if (shape[axis] == 1) {
        stride_[axis] = placement.stride_of_one;
        continue;
      }
      if (placement.repeated[axis]) continue;
      step *= placement.gap[axis];
      stride_[axis] = step;
      if (placement.reversed[axis] && shape[axis] > 0) {
        stride_[axis] = -step;
        origin_ += (shape[axis] - 1) * step;
      }
      step *= shape[axis];
    }
    memory_.assign(size() == 0 ? 0 : static_cast<size_t>(step + 2 * placement.guard), canary<T>());
  }

  const Shape& shape() const { return shape_; }
  int64_t size() const { return shape_[0] * shape_[1] * shape_[2] * shape_[3]; }

  T& at(int64_t b, int64_t h, int64_t i, int64_t j) { return memory_[place(b, h, i, j)]; }
  const T& at(int64_t b, int64_t h, int64_t i, int64_t j) const { return memory_[place(b, h, i, j)]; }

  /// Calls body(element) for every element, in C order.
  template <class Body>
  void each(const Body& body) {
    for (int64_t b = 0; b < shape_[0]; ++b)
      for (int64_t h = 0; h < shape_[1]; ++h)
        for (int64_t i = 0; i < shape_[2]; ++i)
          for (int64_t j = 0; j < shape_[3]; ++j) body(at(b, h, i, j));
  }

  /// The elements in C order.
  std::vector<T> packed() const {
    std::vector<T> to;
    to.reserve(static_cast<size_t>(size()));
    const_cast<Placed*>(this)->each([&to](const T& x) { to.push_back(x); });
    return to;
  }

  ConstTensor view() const { return const_cast<Placed*>(this)->writable(); }
  Tensor writable() {
    // Masks are made of bytes here, lest std::vector<bool> pack them.
    constexpr DType dtype = std::is_same_v<T, unsigned char> ? DType::boolean : dtype_of<T>();
    return {memory_.empty() ? nullptr : memory_.data() + origin_,
            dtype,
            {shape_[0], shape_[1], shape_[2], shape_[3]},
            {stride_[0], stride_[1], stride_[2], stride_[3]}};
  }

  /// Puts the canary everywhere, the elements included.
  void clear() { memory_.assign(memory_.size(), canary<T>()); }

  /// Whether the canary stands everywhere, the elements included.
  bool untouched() const { return all_canaries(memory_); }

  /// Whether the canary stands everywhere but in the elements.
  bool padding_intact() const {
    Placed rest = *this;
    rest.each([](T& x) { x = canary<T>(); });
    return rest.untouched();
  }

 private:
  size_t place(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const Shape index = {b, h, i, j};
    int64_t at = origin_;
    for (int axis = 0; axis < 4; ++axis) at += shape_[axis] == 1 ? 0 : index[axis] * stride_[axis];
    return static_cast<size_t>(at);
  }

  static bool all_canaries(const std::vector<T>& memory) {
    const T c = canary<T>();
    for (const T& x : memory) {
      if (std::memcmp(&x, &c, sizeof(T)) != 0) return false;
    }
    return true;
  }

  Shape shape_ = {};
  Shape stride_ = {};
  int64_t origin_ = 0;
  std::vector<T> memory_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_PLACED_H_
