// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Linear attention at the kernel boundary: one plain task in, its rows or keys written. Two states are walked:
//
//   S [d_k x d_v'] = sum over keys of phi(k_j) v'_j^T        v' = [v, 1]: the column behind the values sums the weights
//   R [d_k x d_v'] = sum over rows of phi(q_i) g_i^T         g = [d_o, -(d_o . o)] / D
//
// Keys and positions are cut into splits of kLinearSplit and those into blocks of kLinearBlock, at absolute places. A
// task is a split of one key head, which begins with the state of all splits before it (of rows: behind it). Between
// blocks its state goes on; inside a block each row meets each key that it sees:
//
//   [N, D]  = phi(Q) . S + A . V'          A  = phi(Q) . phi(K)^T, 0 where a key takes no part
//   dphi(Q) = G . S^T    + dA . phi(K)     dA = G . V'^T, likewise
//   dphi(K) = V' . R^T   + dA^T . phi(Q)
//   dV'     = phi(K) . R + A^T . G
//
// all of them by the one micro-kernel (gemm-inl.h), lane = component, or key. (The chunkwise form: Hua et al.,
// arXiv:2202.10447; Yang et al., arXiv:2312.06635.) Rows whose position lies behind all keys, as all do without a
// causal mask, meet whole states alone.
//
// Order of summation: the keys of a block that take part, in sequence; the blocks of a split; the splits. Inside a
// split S is the sum of the splits before it plus the split's own part, so that it is the same whether splits follow
// one another or are summed apart. A product over a partly seen block takes the keys up to the last that its rows see;
// what rows before that one do not see are exact zeros times finite numbers, or else rows go one at a time. So bits do
// not depend on how rows are grouped.
#ifndef FOVEATE_SRC_KERNELS_LINEAR_H_
#define FOVEATE_SRC_KERNELS_LINEAR_H_

#include <cstdint>

#include "foveate/tensor.h"
#include "kernels/backward.h"

namespace foveate::kernels {

/// Keys of a block: the products inside it cost n * 64, those between blocks n * d.
inline constexpr int64_t kLinearBlock = 64;
/// Keys of a split: its state is 20 KB beside 512 KB of keys and values (float32, head_dim 64), and a long sequence is
/// work for many threads. A multiple of kLinearBlock.
inline constexpr int64_t kLinearSplit = 1024;

/// Rows of the heads of a task as they lie. Strides count elements.
struct LinearRows {
  const void* data;  ///< head 0, row 0; nullptr: not wanted
  DType dtype;
  int64_t head, row, component;  ///< strides
};

/// What the backward pass keeps of a query row: 1 / D, and (d_o . o) / D.
template <class T>
struct LinearFactors {
  T inverse, shift;
};

template <class T>
struct LinearTask {
  LinearRows q, d_o;  ///< of the query heads that read the key head
  LinearRows k, v;    ///< of the key head
  LinearRows o, dq, dk, dv;
  int64_t heads;  ///< query heads; 0: no row sees a key
  int64_t d_k, d_v;

  int64_t keys, n_kv;         ///< keys that are there, and that dk and dv have memory for
  const unsigned char* mask;  ///< one byte a key, mask_stride apart; nullptr: none
  int64_t mask_stride;

  int64_t n_q;                ///< rows that o and dq have memory for
  int64_t first, last;        ///< the rows that see some key; they stand at positions from 0 on
  int64_t position;           ///< of row 0
  int64_t split;              ///< the split of positions, or of keys
  bool first_split;           ///< rows in front of it are written too
  const T* before;            ///< S of all keys before the split; nullptr: there are none
  T* after;                   ///< where S of all keys up to the split's end goes, `before` perhaps; nullptr: not wanted
  const T* behind;            ///< R of all rows behind the split; nullptr: there are none
  LinearFactors<T>* factors;  ///< [heads][n_q]

  T* scratch;  ///< linear_scratch_elements(), aligned to 64 bytes
};

/// The kernels of one target, for one element type. States have linear_state_elements().
template <class T>
struct LinearKernel {
  int64_t lanes;  ///< of a vector

  /// Leaves S of the keys of a split alone in task.after.
  void (*sum_keys)(const LinearTask<T>& task);

  /// Writes o of the rows of a split. S is left in task.after here and below.
  void (*attend)(const LinearTask<T>& task);

  /// Writes dq and the factors of the rows of a split, and leaves R of these rows alone in `state`; nullptr: not
  /// wanted.
  void (*differentiate_rows)(const LinearTask<T>& task, T* state);

  /// Writes dk and dv of the keys of a split.
  void (*differentiate_keys)(const LinearTask<T>& task);
};

/// One target's kernels.
struct LinearKernels {
  LinearKernel<float> f32;
  LinearKernel<double> f64;
};

/// Those of a target.
const LinearKernels* linear_kernels(int64_t target);

template <class T>
const LinearKernel<T>& linear_of_type(const TargetKernels& kernels);
template <>
inline const LinearKernel<float>& linear_of_type<float>(const TargetKernels& kernels) {
  return linear_kernels(kernels.target)->f32;
}
template <>
inline const LinearKernel<double>& linear_of_type<double>(const TargetKernels& kernels) {
  return linear_kernels(kernels.target)->f64;
}

/// Elements of a state: panels of whole vectors, as accumulator_at() has them, d_k rows each.
constexpr int64_t linear_state_elements(int64_t lanes, int64_t d_k, int64_t d_v) {
  return (d_k * padded(d_v + 1, lanes) + 15) / 16 * 16;
}

/// Elements of a task's scratch (LinearWalk lays it out): states, and one transposed; of a block phi of keys and
/// queries, values and g in rows, panels and columns; A and dA; sums, and a row of them.
constexpr int64_t linear_scratch_elements(int64_t lanes, int64_t d_k, int64_t d_v) {
  const int64_t k = padded(d_k, lanes), v = padded(d_v + 1, lanes), block = kLinearBlock;
  return 3 * linear_state_elements(lanes, d_k, d_v) + (v * k + 15) / 16 * 16 + block * (6 * k + 6 * v + 4 * block);
}

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_LINEAR_H_
