// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the kernels of linear attention are made of: matrices in panels and their products, rows in and out, phi.
#if defined(FOVEATE_SRC_KERNELS_LINEAR_MATRIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_LINEAR_MATRIX_INL_H_
#undef FOVEATE_SRC_KERNELS_LINEAR_MATRIX_INL_H_
#else
#define FOVEATE_SRC_KERNELS_LINEAR_MATRIX_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/exp-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/linear.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/panels-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// C = C + sum, and beside it what stands in front of C added to that.
template <class T>
struct AddedAndTotal {
  int64_t before, total;  ///< where they lie from C

  template <class D, class V>
  HWY_INLINE void store(D d, V sum, T* c, size_t /*lane*/) const {
    const V part = hn::Add(hn::Load(d, c), sum);
    hn::Store(part, d, c);
    hn::Store(hn::Add(hn::Load(d, c + before), part), d, c + total);
  }
};

/// A matrix in panels of up to three vectors of columns, so that the micro-kernel finds rows of whole vectors.
template <class T>
struct Matrix {
  T* data;
  int64_t rows, columns;

  /// Where the panel that begins with column `first` of `components` has a row.
  HWY_INLINE T* at(int64_t first, int64_t components, int64_t row) const {
    return data + rows * first + row * components;
  }
};

/// A . B, of B's rows from b_row on, to rows of C from c_row on.
template <bool kAdjacentRows, class D, class T, class Epilogue>
HWY_INLINE void Multiply(D d, Broadcasts<T, kAdjacentRows> a, int64_t rows, int64_t depth, const Matrix<T>& b,
                         int64_t b_row, const Epilogue& epilogue, const Matrix<T>& c, int64_t c_row) {
  for_each_panel(c.columns, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) HWY_ATTR {
    GemmOfPanel(d, a, rows, depth, b.at(first, components, b_row), components, epilogue,
                c.at(first, components, c_row));
  });
}

/// Rows one behind the other into panels, and a row out of them.
template <class D, class T>
HWY_NOINLINE void ToPanels(D d, const T* rows, int64_t n, const Matrix<T>& to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for_each_panel(to.columns, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
    for (int64_t r = 0; r < n; ++r) {
      const T* const from = rows + r * to.columns + first;
      T* const row = to.at(first, components, r);
      for (int64_t i = 0; i < components; i += lanes) hn::Store(hn::Load(d, from + i), d, row + i);
    }
  });
}
template <class D, class T>
HWY_INLINE void FromPanels(D d, const Matrix<T>& from, int64_t r, T* row) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for_each_panel(from.columns, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
    const T* const at = from.at(first, components, r);
    for (int64_t i = 0; i < components; i += lanes) hn::Store(hn::Load(d, at + i), d, row + first + i);
  });
}

/// Rows one behind the other, `stride` apart, as columns: to[i][r] = rows[r][i] for i < depth.
template <class D, class T>
HWY_INLINE void ToColumns(D d, const T* rows, int64_t stride, int64_t n, int64_t depth, const Matrix<T>& to) {
  for_each_panel(to.columns, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) HWY_ATTR {
    if (first >= n) return;
    Transpose(Broadcasts<T, false>{rows + first * stride, stride}, std::min(components, n - first), depth,
              to.at(first, components, 0), components);
  });
}

/// x + 1 where x > 0, exp(x) elsewhere; NaN stays. n is whole vectors.
template <class D, class T>
HWY_INLINE void Phi(D d, int64_t n, T* x) {
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto at = hn::Load(d, x + i);
    const auto positive = hn::Gt(at, hn::Zero(d));
    hn::Store(hn::IfThenElse(positive, hn::Add(at, hn::Set(d, T{1})), Exp(d, at)), d, x + i);
  }
}

/// A row of d components in the computing type, then zeros up to `width`.
template <class T>
HWY_INLINE void ReadRow(const LinearRows& rows, int64_t head, int64_t i, int64_t d, int64_t width, T* to) {
  WithElement<T>(rows.dtype, [&](auto* element) HWY_ATTR {
    using E = std::remove_pointer_t<decltype(element)>;
    ConvertRow(static_cast<const E*>(rows.data) + head * rows.head + i * rows.row, rows.component, d, to);
  });
  std::fill(to + d, to + width, T{0});
}

/// Writes a row; nullptr stands for zeros. -0, which narrowing may make too, becomes +0.
template <class T>
HWY_NOINLINE void WriteRow(const T* from, int64_t d, const LinearRows& rows, int64_t head, int64_t i) {
  WithElement<T>(rows.dtype, [&](auto* element) HWY_ATTR {
    using E = std::remove_pointer_t<decltype(element)>;
    E* const to = static_cast<E*>(const_cast<void*>(rows.data)) + head * rows.head + i * rows.row;
    if (from == nullptr) {
      for (int64_t j = 0; j < d; ++j) to[j * rows.component] = E{};
    } else if constexpr (std::is_same_v<E, T>) {
      if (rows.component == 1) {
        for (int64_t j = 0; j < d; ++j) to[j] = from[j] + T{0};
      } else {
        for (int64_t j = 0; j < d; ++j) to[j * rows.component] = from[j] + T{0};
      }
    } else {
      for (int64_t j = 0; j < d; ++j) {
        const E narrow = static_cast<E>(from[j]);
        to[j * rows.component] = static_cast<T>(narrow) == T{0} ? E{} : narrow;
      }
    }
  });
}

/// Whether n elements, whole vectors, hold neither NaN nor Inf: x * 0 is 0 for nothing else.
template <class D, class T>
HWY_NOINLINE bool Finite(D d, const T* x, int64_t n) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  auto sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    sum0 = MultiplyAdd(hn::Load(d, x + i), zero, sum0);
    sum1 = MultiplyAdd(hn::Load(d, x + i + lanes), zero, sum1);
    sum2 = MultiplyAdd(hn::Load(d, x + i + 2 * lanes), zero, sum2);
    sum3 = MultiplyAdd(hn::Load(d, x + i + 3 * lanes), zero, sum3);
  }
  for (; i < n; i += lanes) sum0 = MultiplyAdd(hn::Load(d, x + i), zero, sum0);
  return hn::AllTrue(d, hn::Eq(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)), zero));
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_LINEAR_MATRIX_INL_H_
