// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Linear attention: the states, the blocks of keys and rows that they meet, and the forward kernel. See linear.h.
#if defined(FOVEATE_SRC_KERNELS_LINEAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_LINEAR_INL_H_
#undef FOVEATE_SRC_KERNELS_LINEAR_INL_H_
#else
#define FOVEATE_SRC_KERNELS_LINEAR_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/gemm-inl.h"
#include "kernels/linear.h"
#include "kernels/linear_matrix-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The keys of a block that take part, one behind the other; a place is counted from the block's first.
struct BlockKeys {
  int64_t n = 0;
  int64_t before[kLinearBlock + 1];  ///< how many stand before a place
  bool finite = true;                ///< all of phi and the values
};

/// The rows of one head whose positions lie in a block.
struct BlockRows {
  int64_t head, first, n;
  int64_t seen[kLinearBlock];  ///< how many of the block's keys each sees
  bool finite = true;          ///< all of phi and g
};

/// A task on its way: where everything lies in its scratch. Widths are whole vectors.
template <class T>
struct LinearWalk {
  explicit LinearWalk(const LinearTask<T>& t) : task(t) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    k_width = padded(t.d_k, lanes);
    v_width = padded(t.d_v + 1, lanes);
    T* at = t.scratch;
    const auto take = [&at](int64_t n) {
      T* const here = at;
      at += n;
      return here;
    };
    const auto block = [&](int64_t width) { return Matrix<T>{take(kLinearBlock * width), kLinearBlock, width}; };
    const int64_t elements = linear_state_elements(lanes, t.d_k, t.d_v);
    state = {take(elements), t.d_k, v_width};
    part = take(elements);
    before = take(elements);
    transposed = {take((v_width * k_width + 15) / 16 * 16), v_width, k_width};
    keys = take(kLinearBlock * k_width);
    key_panels = block(k_width);
    key_columns = {take(k_width * kLinearBlock), t.d_k, kLinearBlock};
    values = take(kLinearBlock * v_width);
    value_panels = block(v_width);
    value_columns = {take(v_width * kLinearBlock), t.d_v + 1, kLinearBlock};
    queries = take(kLinearBlock * k_width);
    query_panels = block(k_width);
    g = take(kLinearBlock * v_width);
    g_panels = block(v_width);
    k_sums = block(k_width);
    v_sums = block(v_width);
    a = take(kLinearBlock * kLinearBlock);
    da = take(kLinearBlock * kLinearBlock);
    pairs = take(kLinearBlock * kLinearBlock);
    k_row = take(k_width);
    v_row = take(v_width);
  }

  const LinearTask<T>& task;
  int64_t k_width, v_width;
  Matrix<T> state, transposed;
  T *part, *before;   ///< of S: the state is what was before the split and the split's part
  T *keys, *values;   ///< [key][width]: phi(k), [v, 1, 0...]
  T *queries, *g;     ///< [row][width]: phi(q), g
  T *a, *da, *pairs;  ///< [row][key]; panels of a few rows
  T *k_row, *v_row;
  Matrix<T> key_panels, value_panels, query_panels, g_panels;  ///< the same in panels
  Matrix<T> key_columns, value_columns;                        ///< and transposed
  Matrix<T> k_sums, v_sums;                                    ///< results, of rows or keys
};

/// Brings in the keys of a block that take part.
template <class D, class T>
HWY_NOINLINE BlockKeys ReadKeys(D d, const LinearWalk<T>& w, int64_t block) {
  const LinearTask<T>& task = w.task;
  BlockKeys keys;
  for (int64_t place = 0; place < kLinearBlock; ++place) {
    const int64_t j = block * kLinearBlock + place;
    keys.before[place] = keys.n;
    if (j >= task.keys || (task.mask != nullptr && task.mask[j * task.mask_stride] == 0)) continue;
    ReadRow(task.k, 0, j, task.d_k, w.k_width, w.keys + keys.n * w.k_width);
    T* const value = w.values + keys.n * w.v_width;
    ReadRow(task.v, 0, j, task.d_v, w.v_width, value);
    value[task.d_v] = 1;
    ++keys.n;
  }
  keys.before[kLinearBlock] = keys.n;
  Phi(d, keys.n * w.k_width, w.keys);
  keys.finite = Finite(d, w.keys, keys.n * w.k_width) && Finite(d, w.values, keys.n * w.v_width);
  ToPanels(d, w.values, keys.n, w.value_panels);
  return keys;
}

/// Which rows of a head stand in a block; n is 0 if none.
template <class T>
HWY_INLINE BlockRows RowsIn(const LinearTask<T>& task, int64_t head, int64_t block, const BlockKeys& keys) {
  BlockRows rows;
  const int64_t origin = block * kLinearBlock - task.position;  // of the block, as rows are counted
  rows.head = head;
  rows.first = std::max(task.first, origin);
  rows.n = std::max<int64_t>(0, std::min(task.last, origin + kLinearBlock) - rows.first);
  for (int64_t r = 0; r < rows.n; ++r) rows.seen[r] = keys.before[rows.first + r - origin + 1];
  return rows;
}

/// Brings in their queries.
template <class D, class T>
HWY_INLINE void ReadQueries(D d, const LinearWalk<T>& w, const BlockRows& rows) {
  for (int64_t r = 0; r < rows.n; ++r) {
    ReadRow(w.task.q, rows.head, rows.first + r, w.task.d_k, w.k_width, w.queries + r * w.k_width);
  }
  Phi(d, rows.n * w.k_width, w.queries);
}

/// to[row][key] = row . key for the rows [r, r + m) over the keys that each sees, 0 for others.
template <class D, class T>
HWY_INLINE void MultiplyPairs(D d, const LinearWalk<T>& w, const BlockRows& rows, int64_t r, int64_t m,
                              Broadcasts<T, false> from, const Matrix<T>& columns, T* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t most = rows.seen[r + m - 1];
  for_each_panel(kLinearBlock, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
    if (first < most) {
      GemmOfPanel(d, Broadcasts<T, false>{from.row(r), from.stride}, m, columns.rows, columns.at(first, components, 0),
                  components, Scaled<T>{1}, w.pairs);
    }
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t lane = 0; lane < components; lane += lanes) {
        const int64_t seen = std::clamp<int64_t>(rows.seen[r + i] - first - lane, 0, lanes);
        const auto there = hn::FirstN(d, static_cast<size_t>(seen));
        const auto products = hn::Load(d, w.pairs + i * components + lane);
        hn::Store(hn::IfThenElseZero(there, products), d, to + (r + i) * kLinearBlock + first + lane);
      }
    }
  });
}

/// sums[row] += sum over the keys that it sees of (from[row] . column of the key) * key's row in `keys`. The products
/// are left in `pairs`.
template <class D, class T>
HWY_INLINE void AddSeenKeys(D d, const LinearWalk<T>& w, const BlockKeys& keys, const BlockRows& rows,
                            Broadcasts<T, false> from, const Matrix<T>& columns, T* pairs, const Matrix<T>& key_rows,
                            const Matrix<T>& sums) {
  const int64_t step = keys.finite ? kMicroRows : 1;
  for (int64_t r = 0; r < rows.n; r += step) {
    const int64_t m = std::min(step, rows.n - r), most = rows.seen[r + m - 1];
    if (most == 0) continue;
    MultiplyPairs(d, w, rows, r, m, from, columns, pairs);
    Multiply(d, Broadcasts<T, false>{pairs + r * kLinearBlock, kLinearBlock}, m, most, key_rows, 0, Added<T>(), sums,
             r);
  }
}

/// sums = rows . state; of no state, zeros.
template <class D, class T>
HWY_INLINE void MultiplyState(D d, Broadcasts<T, false> rows, int64_t n, int64_t depth, const Matrix<T>& state,
                              const Matrix<T>& sums) {
  if (state.data != nullptr) return Multiply(d, rows, n, depth, state, 0, Scaled<T>{1}, sums, 0);
  for_each_panel(sums.columns, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) {
    std::fill_n(sums.at(first, components, 0), n * components, T{0});
  });
}

/// A state that is only read lies where it came from; its data may be null: all zeros.
template <class T>
HWY_INLINE Matrix<T> StateAt(const LinearWalk<T>& w, const T* data) {
  return {const_cast<T*>(data), w.task.d_k, w.v_width};
}

/// sums += phi(rows)^T . panels, over n rows.
template <class D, class T, class Epilogue>
HWY_INLINE void AddProducts(D d, const LinearWalk<T>& w, const T* phi, int64_t n, const Matrix<T>& panels,
                            const Epilogue& epilogue, T* sums) {
  const Matrix<T> matrix = {sums, w.task.d_k, w.v_width};
  Multiply(d, Broadcasts<T, true>{phi, w.k_width}, w.task.d_k, n, panels, 0, epilogue, matrix, 0);
}

/// Adds a block's keys to S: to the split's part, and that to what was before it, so that S is what sums of whole
/// splits give.
template <class D, class T>
HWY_INLINE void AddKeys(D d, const LinearWalk<T>& w, const BlockKeys& keys, Matrix<T>& state) {
  if (keys.n == 0) return;
  const int64_t elements = w.task.d_k * w.v_width;
  const bool first = state.data != w.state.data && state.data != w.part;
  if (first) std::fill_n(w.part, elements, T{0});
  if (w.task.before == nullptr) {
    state = StateAt(w, w.part);
    return AddProducts(d, w, w.keys, keys.n, w.value_panels, Added<T>(), w.part);
  }
  if (first) std::copy_n(w.task.before, elements, w.before);
  state = w.state;
  AddProducts(d, w, w.keys, keys.n, w.value_panels, AddedAndTotal<T>{w.before - w.part, w.state.data - w.part}, w.part);
}

/// [N, D] of a block's rows in w.v_sums; their queries are brought in.
template <class D, class T>
HWY_INLINE void SumRows(D d, const LinearWalk<T>& w, const BlockKeys& keys, const BlockRows& rows,
                        const Matrix<T>& state) {
  ReadQueries(d, w, rows);
  const Broadcasts<T, false> queries = {w.queries, w.k_width};
  MultiplyState(d, queries, rows.n, w.task.d_k, state, w.v_sums);
  AddSeenKeys(d, w, keys, rows, queries, w.key_columns, w.a, w.value_panels, w.v_sums);
}

/// o of a row of w.v_sums in w.v_row; gives 1 / D.
template <class D, class T>
HWY_INLINE T Divide(D d, const LinearWalk<T>& w, int64_t r) {
  FromPanels(d, w.v_sums, r, w.v_row);
  const T sum = w.v_row[w.task.d_v];
  const T inverse = sum < std::numeric_limits<T>::min() ? T{0} : T{1} / sum;
  for (int64_t i = 0; i < w.v_width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Mul(hn::Load(d, w.v_row + i), hn::Set(d, inverse)), d, w.v_row + i);
  }
  return inverse;
}

/// Writes zeros to the rows of the split that see no key.
template <class T>
HWY_INLINE void ClearRows(const LinearTask<T>& task, const LinearRows& to, int64_t d) {
  if (to.data == nullptr) return;
  const auto row_at = [&](int64_t split) {
    return std::clamp<int64_t>(split * kLinearSplit - task.position, 0, task.n_q);
  };
  const int64_t begin = task.first_split ? 0 : row_at(task.split), end = row_at(task.split + 1);
  for (int64_t head = 0; head < task.heads; ++head) {
    for (int64_t i = begin; i < end; ++i) {
      if (i < task.first || i >= task.last) WriteRow<T>(nullptr, d, to, head, i);
    }
  }
}

/// Walks the blocks of the split in which rows stand, or all: at_block(keys, state, whether the state is a new one),
/// then rows_of(keys, rows, state) for each head that has some. Keys have their columns. S of all keys so far is left
/// in task.after.
template <class D, class T, class AtBlock, class RowsOf>
HWY_INLINE void WalkRows(D d, const LinearWalk<T>& w, const AtBlock& at_block, const RowsOf& rows_of) {
  const LinearTask<T>& task = w.task;
  constexpr int64_t kBlocks = kLinearSplit / kLinearBlock;
  if (task.first >= task.last) return;
  const int64_t begin = task.split * kBlocks, end = begin + kBlocks;
  const int64_t rows_begin = std::max(begin, (task.position + task.first) / kLinearBlock);
  const int64_t rows_end = std::min(end, (task.position + task.last - 1) / kLinearBlock + 1);
  if (rows_begin >= rows_end && task.after == nullptr) return;
  Matrix<T> state = StateAt(w, task.before);
  bool changed = true;
  for (int64_t block = begin; block < (task.after != nullptr ? end : rows_end); ++block) {
    const BlockKeys keys = ReadKeys(d, w, block);
    if (block >= rows_begin && block < rows_end) {
      ToColumns(d, w.keys, w.k_width, keys.n, task.d_k, w.key_columns);
      at_block(keys, state, changed);
      for (int64_t head = 0; head < task.heads; ++head) {
        const BlockRows rows = RowsIn(task, head, block, keys);
        if (rows.n > 0) rows_of(keys, rows, state);
      }
      changed = keys.n > 0;
    }
    if (block + 1 < rows_end || task.after != nullptr) AddKeys(d, w, keys, state);
  }
  if (task.after == nullptr || task.after == state.data) return;
  if (state.data == nullptr) std::fill_n(task.after, task.d_k * w.v_width, T{0});
  if (state.data != nullptr) std::copy_n(state.data, task.d_k * w.v_width, task.after);
}

template <class T>
void SumKeys(const LinearTask<T>& task) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kBlocks = kLinearSplit / kLinearBlock;
  const LinearWalk<T> w(task);
  std::fill_n(task.after, task.d_k * w.v_width, T{0});
  for (int64_t block = task.split * kBlocks; block < (task.split + 1) * kBlocks; ++block) {
    const BlockKeys keys = ReadKeys(d, w, block);
    if (keys.n > 0) AddProducts(d, w, w.keys, keys.n, w.value_panels, Added<T>(), task.after);
  }
}

template <class T>
void AttendLinear(const LinearTask<T>& task) {
  const hn::ScalableTag<T> d;
  const LinearWalk<T> w(task);
  ClearRows(task, task.o, task.d_v);
  const auto at_block = [](const BlockKeys&, const Matrix<T>&, bool) {};
  WalkRows(d, w, at_block, [&](const BlockKeys& keys, const BlockRows& rows, const Matrix<T>& state) HWY_ATTR {
    SumRows(d, w, keys, rows, state);
    for (int64_t r = 0; r < rows.n; ++r) {
      Divide(d, w, r);
      WriteRow(w.v_row, task.d_v, task.o, rows.head, rows.first + r);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_LINEAR_INL_H_
