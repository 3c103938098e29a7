// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of the types that arrays are stored in, beside the computing type T.
#ifndef FOVEATE_SRC_STORED_ROWS_H_
#define FOVEATE_SRC_STORED_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "foveate/float16.h"
#include "foveate/tensor.h"
#include "kernels/tile.h"

namespace foveate {

/// Calls body with a null pointer of the element type that a dtype names, among those that T is stored as.
template <class T, class Body>
void with_element(DType dtype, const Body& body) {
  if constexpr (std::is_same_v<T, float> && kernels::kNarrowTypes) {
    if (dtype == DType::f16) return body(static_cast<Float16*>(nullptr));
    if (dtype == DType::bf16) return body(static_cast<BFloat16*>(nullptr));
  }
  body(static_cast<T*>(nullptr));
}

/// n sums of T, times a factor, to elements E; a null pointer stands for zeros.
template <class E, class T>
void store(const T* sums, T factor, int64_t n, E* to, int64_t stride) {
  if (sums == nullptr) {
    for (int64_t i = 0; i < n; ++i) to[i * stride] = E{};
  } else if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<E>(sums[i] * factor + T{0});
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * stride] = static_cast<E>(sums[i] * factor + T{0});
  }
}

/// A row of o and of d_o.
struct OutputRow {
  double product = 0;  ///< d_o . o
  bool zero = true;    ///< o is 0 throughout
};

template <class E>
OutputRow output_row(const void* o_row, int64_t o_stride, const void* d_o_row, int64_t d_o_stride, int64_t n) {
  const E *o = static_cast<const E*>(o_row), *d_o = static_cast<const E*>(d_o_row);
  using Wide = std::conditional_t<sizeof(E) == sizeof(double), double, float>;
  constexpr int64_t kChains = 4;
  OutputRow row;
  double chains[kChains] = {};
  const auto join = [&](int64_t i, int64_t chain) {
    const double x = static_cast<Wide>(o[i * o_stride]), y = static_cast<Wide>(d_o[i * d_o_stride]);
    chains[chain] += x * y;
    row.zero &= x == 0;
  };
  int64_t i = 0;
  for (; i + kChains <= n; i += kChains) {
    for (int64_t chain = 0; chain < kChains; ++chain) join(i + chain, chain);
  }
  for (; i < n; ++i) join(i, i % kChains);
  row.product = (chains[0] + chains[1]) + (chains[2] + chains[3]);
  return row;
}

}  // namespace foveate

#endif  // FOVEATE_SRC_STORED_ROWS_H_
