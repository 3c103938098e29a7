// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Packed arrays for the oracle, made from narrower and smaller ones.
#ifndef FOVEATE_REFERENCE_ARRAYS_H_
#define FOVEATE_REFERENCE_ARRAYS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace foveate::reference {

/// The same numbers in the type that is computed in.
template <class Real, class Range>
std::vector<Real> widened(const Range& from) {
  std::vector<Real> to;
  to.reserve(from.size());
  for (const auto& x : from) to.push_back(static_cast<Real>(x));
  return to;
}

/// For each element of a packed array of extents `full`, first to last, which one of an array of extents `shape`, each that
/// of `full` or 1, NumPy's broadcasting puts there.
inline std::vector<int64_t> broadcast_from(const std::array<int64_t, 4>& shape, const std::array<int64_t, 4>& full) {
  std::array<int64_t, 4> stride{};
  int64_t step = 1;
  for (int axis = 3; axis >= 0; --axis) {
    stride[axis] = shape[axis] == 1 ? 0 : step;
    step *= shape[axis];
  }
  std::vector<int64_t> from;
  from.reserve(full[0] * full[1] * full[2] * full[3]);
  for (int64_t b = 0; b < full[0]; ++b)
    for (int64_t h = 0; h < full[1]; ++h)
      for (int64_t i = 0; i < full[2]; ++i)
        for (int64_t j = 0; j < full[3]; ++j)
          from.push_back(b * stride[0] + h * stride[1] + i * stride[2] + j * stride[3]);
  return from;
}

/// A packed array of extents `shape`, repeated to `full`.
template <class T>
std::vector<T> broadcast(const std::vector<T>& from, const std::array<int64_t, 4>& shape,
                         const std::array<int64_t, 4>& full) {
  std::vector<T> to;
  to.reserve(full[0] * full[1] * full[2] * full[3]);
  for (int64_t at : broadcast_from(shape, full)) to.push_back(from[at]);
  return to;
}

/// The way back, as gradients take it: a packed array of extents `full`, summed over the axes where `shape` is 1.
template <class T>
std::vector<T> reduced(const std::vector<T>& from, const std::array<int64_t, 4>& full,
                       const std::array<int64_t, 4>& shape) {
  std::vector<T> to(shape[0] * shape[1] * shape[2] * shape[3], T{0});
  size_t at = 0;
  for (int64_t sum : broadcast_from(shape, full)) to[sum] += from[at++];
  return to;
}

}  // namespace foveate::reference

#endif  // FOVEATE_REFERENCE_ARRAYS_H_
