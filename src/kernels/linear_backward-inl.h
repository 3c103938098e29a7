// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Linear attention, the backward kernel: see linear.h. Rows first, with S going on, which leaves what is kept of each;
// then keys, with R coming back.
#if defined(FOVEATE_SRC_KERNELS_LINEAR_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_LINEAR_BACKWARD_INL_H_
#undef FOVEATE_SRC_KERNELS_LINEAR_BACKWARD_INL_H_
#else
#define FOVEATE_SRC_KERNELS_LINEAR_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm-inl.h"
#include "kernels/linear-inl.h"
#include "kernels/linear.h"
#include "kernels/linear_matrix-inl.h"
#include "kernels/multiply_add-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The state transposed; none of none.
template <class D, class T>
HWY_INLINE Matrix<T> TransposedState(D d, const LinearWalk<T>& w, const Matrix<T>& state) {
  if (state.data == nullptr) return {nullptr, w.transposed.rows, w.transposed.columns};
  for_each_panel(state.columns, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) HWY_ATTR {
    for_each_panel(w.k_width, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t row, int64_t rows) HWY_ATTR {
      const Broadcasts<T, false> from = {state.at(first, components, row), components};
      Transpose(from, std::min(rows, state.rows - row), components, w.transposed.at(row, rows, first), rows);
    });
  });
  return w.transposed;
}

/// g of a block's row: [d_o, -(d_o . o)] / D, of the factors that are kept of it.
template <class D, class T>
HWY_INLINE void ReadGradient(D d, const LinearWalk<T>& w, const BlockRows& rows, int64_t r) {
  const LinearTask<T>& task = w.task;
  const LinearFactors<T>& factors = task.factors[rows.head * task.n_q + rows.first + r];
  T* const g = w.g + r * w.v_width;
  ReadRow(task.d_o, rows.head, rows.first + r, task.d_v, w.v_width, g);
  for (int64_t i = 0; i < w.v_width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Mul(hn::Load(d, g + i), hn::Set(d, factors.inverse)), d, g + i);
  }
  g[task.d_v] = -factors.shift;
}

/// Finds the factors of a block's row, whose [N, D] is in w.v_sums.
template <class D, class T>
HWY_INLINE LinearFactors<T> FactorsOf(D d, const LinearWalk<T>& w, const BlockRows& rows, int64_t r) {
  const LinearTask<T>& task = w.task;
  const T inverse = Divide(d, w, r);
  T* const d_o = w.g + r * w.v_width;
  ReadRow(task.d_o, rows.head, rows.first + r, task.d_v, w.v_width, d_o);
  std::fill(w.v_row + task.d_v, w.v_row + w.v_width, T{0});
  auto product = hn::Zero(d);
  for (int64_t i = 0; i < w.v_width; i += static_cast<int64_t>(hn::Lanes(d))) {
    product = MultiplyAdd(hn::Load(d, w.v_row + i), hn::Load(d, d_o + i), product);
  }
  return {inverse, hn::GetLane(hn::SumOfLanes(d, product)) * inverse};
}

/// Writes row r of sums of dphi times phi', which is the lesser of phi and 1. A key that no row sees may be NaN, and
/// has 0.
template <class D, class T>
HWY_INLINE void WriteGradient(D d, const LinearWalk<T>& w, const T* phi, int64_t r, const LinearRows& to, int64_t head,
                              int64_t i) {
  FromPanels(d, w.k_sums, r, w.k_row);
  const auto one = hn::Set(d, T{1});
  for (int64_t j = 0; j < w.k_width; j += static_cast<int64_t>(hn::Lanes(d))) {
    const auto x = hn::Load(d, phi + r * w.k_width + j);
    const auto slope = hn::IfThenElse(hn::Gt(x, one), one, x);
    const auto sum = hn::Load(d, w.k_row + j);
    hn::Store(hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), sum, hn::Mul(sum, slope)), d, w.k_row + j);
  }
  WriteRow(w.k_row, w.task.d_k, to, head, i);
}

/// dq of a block's rows; g is there.
template <class D, class T>
HWY_INLINE void DifferentiateQueries(D d, const LinearWalk<T>& w, const BlockKeys& keys, const BlockRows& rows,
                                     const Matrix<T>& transposed) {
  const Broadcasts<T, false> g = {w.g, w.v_width};
  MultiplyState(d, g, rows.n, w.task.d_v + 1, transposed, w.k_sums);
  AddSeenKeys(d, w, keys, rows, g, w.value_columns, w.da, w.key_panels, w.k_sums);
  for (int64_t r = 0; r < rows.n; ++r) WriteGradient(d, w, w.queries, r, w.task.dq, rows.head, rows.first + r);
}

template <class T>
void DifferentiateRows(const LinearTask<T>& task, T* rows_state) {
  const hn::ScalableTag<T> d;
  const LinearWalk<T> w(task);
  if (rows_state != nullptr) std::fill_n(rows_state, task.d_k * w.v_width, T{0});
  ClearRows(task, task.dq, task.d_k);
  Matrix<T> transposed = {};
  const auto at_block = [&](const BlockKeys& keys, const Matrix<T>& state, bool changed) HWY_ATTR {
    if (task.dq.data == nullptr) return;
    if (changed) transposed = TransposedState(d, w, state);
    ToColumns(d, w.values, w.v_width, keys.n, task.d_v + 1, w.value_columns);
    ToPanels(d, w.keys, keys.n, w.key_panels);
  };
  WalkRows(d, w, at_block, [&](const BlockKeys& keys, const BlockRows& rows, const Matrix<T>& state) HWY_ATTR {
    SumRows(d, w, keys, rows, state);
    for (int64_t r = 0; r < rows.n; ++r) {
      task.factors[rows.head * task.n_q + rows.first + r] = FactorsOf(d, w, rows, r);
      ReadGradient(d, w, rows, r);
    }
    if (task.dq.data != nullptr) DifferentiateQueries(d, w, keys, rows, transposed);
    if (rows_state == nullptr) return;
    ToPanels(d, w.g, rows.n, w.g_panels);
    AddProducts(d, w, w.queries, rows.n, w.g_panels, Added<T>(), rows_state);
  });
}

/// sums[key] += sum over the rows that see it of pairs[row][key] * row.
template <class D, class T>
HWY_INLINE void AddSeeingRows(D d, const BlockKeys& keys, const BlockRows& rows, const T* pairs,
                              const Matrix<T>& row_panels, const Matrix<T>& sums) {
  const int64_t step = rows.finite ? kMicroRows : 1;
  int64_t r = 0;  // the first row that sees the key
  for (int64_t key = 0; key < keys.n; key += step) {
    while (r < rows.n && rows.seen[r] <= key) ++r;
    if (r == rows.n) return;
    const Broadcasts<T, true> from = {pairs + r * kLinearBlock + key, kLinearBlock};
    Multiply(d, from, std::min(step, keys.n - key), rows.n - r, row_panels, r, Added<T>(), sums, key);
  }
}

/// What a block's rows give to its keys.
template <class D, class T>
HWY_INLINE void AddRowsToKeys(D d, const LinearWalk<T>& w, const BlockKeys& keys, const BlockRows& rows) {
  for (int64_t r = 0; r < rows.n; r += kMicroRows) {
    const int64_t m = std::min(kMicroRows, rows.n - r);
    MultiplyPairs(d, w, rows, r, m, Broadcasts<T, false>{w.queries, w.k_width}, w.key_columns, w.a);
    MultiplyPairs(d, w, rows, r, m, Broadcasts<T, false>{w.g, w.v_width}, w.value_columns, w.da);
  }
  ToPanels(d, w.queries, rows.n, w.query_panels);
  AddSeeingRows(d, keys, rows, w.da, w.query_panels, w.k_sums);
  AddSeeingRows(d, keys, rows, w.a, w.g_panels, w.v_sums);
}

/// Writes dk and dv of a block's keys; those that take no part have zeros.
template <class D, class T>
HWY_INLINE void WriteKeys(D d, const LinearWalk<T>& w, const BlockKeys& keys, int64_t block) {
  const LinearTask<T>& task = w.task;
  const int64_t end = std::min(kLinearBlock, task.n_kv - block * kLinearBlock);
  for (int64_t place = 0; place < end; ++place) {
    const int64_t key = keys.before[place], j = block * kLinearBlock + place;
    const bool there = keys.before[place + 1] > key;
    if (task.dk.data != nullptr) {
      if (there) WriteGradient(d, w, w.keys, key, task.dk, 0, j);
      if (!there) WriteRow<T>(nullptr, task.d_k, task.dk, 0, j);
    }
    if (task.dv.data != nullptr) {
      if (there) FromPanels(d, w.v_sums, key, w.v_row);
      WriteRow<T>(there ? w.v_row : nullptr, task.d_v, task.dv, 0, j);
    }
  }
}

/// Adds a block's rows to R, which the first time moves to the scratch.
template <class D, class T>
HWY_INLINE void AddRows(D d, const LinearWalk<T>& w, const BlockRows& rows, Matrix<T>& state) {
  const int64_t elements = w.task.d_k * w.v_width;
  if (state.data == nullptr) {
    std::fill_n(w.state.data, elements, T{0});
  } else if (state.data != w.state.data) {
    std::copy_n(state.data, elements, w.state.data);
  }
  state = w.state;
  AddProducts(d, w, w.queries, rows.n, w.g_panels, Added<T>(), state.data);
}

template <class T>
void DifferentiateKeys(const LinearTask<T>& task) {
  const hn::ScalableTag<T> d;
  const LinearWalk<T> w(task);
  constexpr int64_t kBlocks = kLinearSplit / kLinearBlock;
  Matrix<T> state = StateAt(w, task.behind);
  const int64_t begin = task.split * kBlocks;
  const int64_t end = std::min(begin + kBlocks, (task.n_kv + kLinearBlock - 1) / kLinearBlock);
  for (int64_t block = begin + kBlocks - 1; block >= begin; --block) {
    const BlockKeys keys = ReadKeys(d, w, block);
    MultiplyState(d, Broadcasts<T, false>{w.values, w.v_width}, keys.n, task.d_v + 1, TransposedState(d, w, state),
                  w.k_sums);
    MultiplyState(d, Broadcasts<T, false>{w.keys, w.k_width}, keys.n, task.d_k, state, w.v_sums);
    ToColumns(d, w.keys, w.k_width, keys.n, task.d_k, w.key_columns);
    ToColumns(d, w.values, w.v_width, keys.n, task.d_v + 1, w.value_columns);
    for (int64_t head = 0; head < task.heads; ++head) {
      BlockRows rows = RowsIn(task, head, block, keys);
      if (rows.n == 0) continue;
      ReadQueries(d, w, rows);
      for (int64_t r = 0; r < rows.n; ++r) ReadGradient(d, w, rows, r);
      rows.finite = Finite(d, w.queries, rows.n * w.k_width) && Finite(d, w.g, rows.n * w.v_width);
      ToPanels(d, w.g, rows.n, w.g_panels);
      if (keys.n > 0) AddRowsToKeys(d, w, keys, rows);
      if (block > begin) AddRows(d, w, rows, state);
    }
    if (block < end) WriteKeys(d, w, keys, block);
  }
}

template <class T>
LinearKernel<T> LinearKernelOf() {
  return {static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())), &SumKeys<T>, &AttendLinear<T>, &DifferentiateRows<T>,
          &DifferentiateKeys<T>};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_LINEAR_BACKWARD_INL_H_
