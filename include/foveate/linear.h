// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Linear attention: the kernel phi(q) . phi(k) in the place of exp(scale q . k), so that keys and values become one
// matrix, whatever their number, and time is linear in it. For query row i of head h, over the keys j of key head
// h / (h_q / h_kv):
//
//   phi(x) = elu(x) + 1 = x + 1 where x > 0, exp(x) elsewhere          component by component
//   A_ij   = phi(q_i) . phi(k_j)                                       no scale, no softmax
//   D_i    = sum_j A_ij          o_i = sum_j A_ij v_j / D_i
//   j takes part iff mask_j, causal (j <= p_i) and j < kv_length_b all allow it
//
// It is computed as o_i = phi(q_i)^T S_i, S_i = sum_j phi(k_j) [v_j, 1]^T of the keys that row i sees, the last column
// being D. The gradients, with v'_j = [v_j, 1], g_i = [d_o_i, -(d_o_i . o_i)] / D_i and R_j = sum of phi(q_i) g_i^T
// over the rows of all query heads that see key j:
//
//   dq_i = phi'(q_i) * (S_i g_i)      dk_j = phi'(k_j) * (R_j v'_j)      phi'(x) = 1 where x > 0, exp(x) elsewhere
//   dv_j = phi(k_j)^T R_j             but for its last column
//
// Shapes: q [b, h_q, n_q, d_k], k [b, h_kv, n_kv, d_k], v [b, h_kv, n_kv, d_v], o and d_o [b, h_q, n_q, d_v], any
// strides.
// Types: q float64, then k and v too, and all is computed in float64; or q, k and v each float32, float16 or bfloat16,
// and all is computed in float32. o and d_o have q's type; gradients any float type that the computing type is rounded
// to. Packed sequences, pages and int8 are not supported.
//
// Guarantees
//   Memory     O(n) beyond the arguments: at most a matrix of d_k x (d_v + 1) for each 1024 keys (and, backward, for
//              each 1024 rows) of a key head.
//   Allocation with a workspace handed in: none. Otherwise one block, freed on return.
//   Bits       on one target, a row of o depends only on its own q, the keys and values that take part, its position and
//              the options: not on threads, batch, strides, or how many rows come with it (a prompt whole or in chunks
//              with q_offset: the same bits). The gradients of a sequence: not on threads, batch or strides.
//   Errors     |o - exact| <= sum_j a_ij |v_j| (2 chain + 26) u, a_ij = A_ij / D_i, u half the computing type's epsilon,
//              chain = d_k + min(n, 64) + min(n / 64, 16) + n / 1024 over n keys, up to some thousand; then rounded to
//              o's type. In full, and of the gradients: tests/linear_bound.h. What components of phi or products lose
//              below the normal numbers (where components of q and k come to -87 in float32) is on top.
//   NaN, Inf   in what takes no part have no effect; in what takes part they reach just the rows and columns they touch.
//   Empty rows no key takes part: o = 0, gradients 0. So are rows at or past q_length_b, of which nothing is read.
//   Underflow  a D_i below the smallest normal number counts as 0, and 1 / D_i then too: o = 0, gradients of the row 0.
//   Threads    any number of calls may run at once, on disjoint outputs and workspaces.
//   Aliasing   outputs overlap neither inputs nor each other; inputs may overlap.
//
// Katharopoulos, Vyas, Pappas and Fleuret, "Transformers are RNNs", arXiv:2006.16236.
#ifndef FOVEATE_LINEAR_H_
#define FOVEATE_LINEAR_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

struct LinearOptions {
  /// Only keys at or before the query's position take part.
  bool causal = false;
  Align align = Align::bottom_right;

  /// p_i = q_offset + i outright. Left out: p_i from `align`. At most 2^60 either way.
  std::optional<int64_t> q_offset = {};

  /// Boolean, true = takes part. [b, h_kv, 1, n_kv], each extent that or 1 (broadcast); read in place. Not by rows: the
  /// keys of a head are summed once for all.
  ConstTensor mask = {};

  /// [b], int32 or int64, in [0, n_q] and [0, n_kv]: how much of each sequence is there. Query rows past the length get
  /// o = 0; nothing past a length is read.
  ConstVector q_lengths = {};
  ConstVector kv_lengths = {};
};

/// Computes o. Everything is checked before the first byte is written.
FOVEATE_API Status linear_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const Tensor& o,
                                    const LinearOptions& options = {}, const Execution& execution = {});

/// What to write. Each may be left out, not all of them.
struct LinearGradients {
  Tensor dq = {};  ///< [b, h_q, n_q, d_k]
  Tensor dk = {};  ///< [b, h_kv, n_kv, d_k]
  Tensor dv = {};  ///< [b, h_kv, n_kv, d_v]
};

/// Computes the gradients from what linear_attention() was given, the same options among it: what it gave is made anew.
FOVEATE_API Status linear_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                             const ConstTensor& d_o, const LinearGradients& gradients,
                                             const LinearOptions& options = {}, const Execution& execution = {});

/// The shape of a call, for planning. dtype is q's; those of k and v do not matter.
struct LinearShape {
  int64_t b = 1, h_q = 1, h_kv = 1, n_q = 1, n_kv = 1, d_k = 1, d_v = 1;
  DType dtype = DType::f32;
};

/// What a call of that shape takes, whatever its options.
struct LinearPlan {
  int64_t tasks = 0;           ///< handed to the executor by linear_attention()
  size_t workspace_bytes = 0;  ///< for that many workers
  int64_t backward_tasks = 0;  ///< the same of linear_attention_backward()
  size_t backward_workspace_bytes = 0;
};

/// Plans a call for `workers` workers, 1 to 65536.
FOVEATE_API Status linear_attention_plan(const LinearShape& shape, int64_t workers, LinearPlan* plan);

}  // namespace foveate

#endif  // FOVEATE_LINEAR_H_
