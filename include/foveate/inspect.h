// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What attention looks at, in figures: of each head and each row, without the n_q x n_kv matrix. With p_ij the weights of
// attention.h before dropout, s_ij its scores as softmax sees them, and t_ij = scale * q_i . k_j, for a row i:
//
//   keys             how many take part
//   product mean, variance    of t_ij over them; divided by scale and scale^2 they are those of q_i . k_j
//   largest score    max_j s_ij, and the first key that has it
//   largest weight   max_j p_ij
//   lse              ln sum_j exp s_ij, the sink included
//   entropy          H_i = -sum_j p_ij ln p_ij, in nats; exp(H_i) is the effective number of keys
//   Jacobian         || d p_i / d s_i ||_F = || diag(p) - p p^T ||_F = (sum_j p_j^2 (1 - p_j)^2 + sum_{j != l} p_j^2 p_l^2)^(1/2)
//
// and of a key j the mass it receives, sum_i p_ij. The weights are made anew, block by block, from lse. (The closed form of
// the Jacobian: || diag(p) - p p^T ||_F^2 = sum p^2 - 2 sum p^3 + (sum p^2)^2, here without its cancellation where a weight
// nears 1.)
//
// Rows count as
//   empty        no key takes part
//   not finite   lse is NaN or +-inf though keys take part: they have their keys and lse, and no other figure; a row whose
//                scores are all -inf is among them
//   saturated    largest weight above kSaturatedWeight, though more than one key takes part
// Means and extremes of a head are over its other rows; `received` is a sum over these too.
//
// Shapes and types as attention() takes them, but that there are no values, and int8 keys are met in float32
// (`native_products` is not used).
//
// Guarantees
//   Memory     O(n): 8 numbers at most a key and head, lse, and scratch for each worker; of maps, 12 bytes a cell.
//   Allocation two blocks, freed on return; Execution's workspace is not used.
//   Bits       figures do not depend on threads, batch, or strides.
//   Errors     of attention.h for s_ij and lse, and so p_ij to a factor of 1 +- 2 e_ij; sums are carried in float64 from
//              block to block of 64 keys.
//   Threads    any number of calls may run at once, on disjoint outputs.
//   Aliasing   outputs overlap neither inputs nor each other.
#ifndef FOVEATE_INSPECT_H_
#define FOVEATE_INSPECT_H_

#include <cstdint>

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

/// A row of more than one key whose largest weight is above it is saturated.
inline constexpr double kSaturatedWeight = 0.99;

/// Figures of one row; NaN where there is none to give.
struct RowFigures {
  int64_t keys = 0;
  double product_mean = 0, product_variance = 0;
  double largest_score = 0;
  int64_t largest_key = -1;
  double largest_weight = 0;
  double lse = 0;
  double entropy = 0;
  double jacobian = 0;
};

/// A figure and where it was met first.
struct Extreme {
  double value = 0;
  int64_t row = -1, key = -1;
};

struct HeadFigures {
  int64_t rows = 0, empty = 0, not_finite = 0, saturated = 0;
  int64_t first_not_finite = -1;  ///< the row
  int64_t pairs = 0;              ///< of a row with figures, all its products finite, and a key that takes part
  double product_mean = 0, product_variance = 0;  ///< over the pairs
  Extreme largest_score;
  Extreme largest_weight;  ///< of rows that more than one key takes part in
  double lse_mean = 0, entropy_mean = 0, effective_keys_mean = 0, jacobian_mean = 0;
  double first_key_mass = 0;  ///< mean weight of key 0
  double sink_mass = 0;       ///< mean share that the head's sink takes: 1 - sum_j p_ij
};

/// A key and its weight in a row.
struct KeyWeight {
  int64_t key = -1;
  double weight = 0;
};

/// Weights of each head pooled into cells: cell [y, x] has the queries i of floor(i * rows / n_q) = y and the keys j of
/// floor(j * columns / n_kv) = x, so with rows = n_q and columns = n_kv each cell is a pair. A pair that takes no part counts
/// as 0.
struct InspectMaps {
  int64_t rows = 0, columns = 0;  ///< at most n_q and n_kv, and 65,536
  float* largest = nullptr;       ///< [b][h_q][rows][columns]
  float* mean = nullptr;          ///< likewise
};

/// Where figures go: packed arrays; nullptr: not wanted. At least one is.
struct InspectOutputs {
  HeadFigures* heads = nullptr;  ///< [b][h_q]
  RowFigures* rows = nullptr;    ///< [b][h_q][n_q]
  double* received = nullptr;    ///< [b][h_q][n_kv]

  /// [b][h_q][n_q][top_keys]: keys of the greatest weights, the greatest first, of equal ones the first key; {-1, 0} where
  /// no more have any.
  KeyWeight* top = nullptr;
  int64_t top_keys = 0;  ///< 1 to 1024 where `top` is wanted

  InspectMaps maps = {};
};

/// Computes the figures. Everything is checked before the first is written. b, n_q and n_kv are those of attention(): of
/// packed sequences as many as there are, and the longest one's.
FOVEATE_API Status inspect(const ConstTensor& q, const ConstTensor& k, const InspectOutputs& outputs,
                           const AttentionOptions& options = {}, const Execution& execution = {});

/// How far Execution::progress counts in such a call, for that many workers.
FOVEATE_API Status inspect_tasks(const AttentionShape& shape, int64_t workers, int64_t* tasks);

}  // namespace foveate

#endif  // FOVEATE_INSPECT_H_
