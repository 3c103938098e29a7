// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The gradients of attention: given d_o, the gradient of a loss by o, those by q, k, v, bias and sinks. With the symbols of
// attention.h, kept_ij = keep_ij / (1 - P) under dropout and 1 without:
//
//   da_ij   = kept_ij (d_o_i . v_j)
//   ds_ij   = a_ij (da_ij - d_o_i . o_i)            0 where j takes no part
//   dv_j    = sum_i a_ij kept_ij d_o_i              over all rows of all query heads that read key head h_kv
//   dq_i    = scale sum_j ds_ij c_ij k_j            c_ij = 1 - tanh^2(score / softcap), 1 without softcap
//   dk_j    = scale sum_i ds_ij c_ij q_i
//   dbias   = ds, summed over the axes along which the bias is broadcast
//   dsink_h = -sum_i exp(sink_h - lse_i) (d_o_i . o_i)
//
// Slopes, scale and softcap have no gradient. Weights are made anew from lse, so that nothing of the size n_q x n_kv is kept
// between the passes.
//
// Shapes: d_o and o as attention()'s o, lse as its lse; dq, dk, dv as q, k, v; dbias as the bias; any strides.
// Types: q, k, v as attention() takes them; o and d_o of q's type; lse of the computing type. Gradients are computed in the
// computing type and rounded once, each to a float type of the caller's choice (float64 beside float64 alone). Of int8 keys and
// values it is the gradient by the number meant, element times scale.
//
// Guarantees
//   Memory     O(n) beyond the arguments.
//   Allocation with a workspace handed in: none. Otherwise one block, freed on return.
//   Bits       on one target, the gradients of a sequence depend only on its own q, k, v, o, lse, d_o, masks and options: not on
//              threads, on what else is in the batch, or on strides. (dbias and dsinks are sums over the batch, in its order.)
//   Errors     derived in docs/numerics.md.
//   Range      d_o . v, d_o . o and, before scale joins, the sums of ds k and ds q have to fit the computing type: where one
//              does not (1e38 times 100, in float32), what it goes into is Inf or NaN.
//   NaN, Inf   in what takes no part have no effect; in what takes part they reach just the gradients that depend on them.
//   Empty rows no key takes part, or all that do score -inf: all gradients of the row are 0, whatever its q and d_o.
//   Threads    any number of calls may run at once, on disjoint outputs and workspaces.
//   Aliasing   outputs overlap neither inputs nor each other; inputs may overlap.
//
// Recomputing weights from lse: Dao et al., FlashAttention, arXiv:2205.14135, appendix B.
#ifndef FOVEATE_ATTENTION_BACKWARD_H_
#define FOVEATE_ATTENTION_BACKWARD_H_

#include <cstddef>
#include <cstdint>

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

/// What to write. Each may be left out, not all of them.
struct AttentionGradients {
  Tensor dq = {};      ///< [b, h_q, n_q, d_k]
  Tensor dk = {};      ///< [b, h_kv, n_kv, d_k]
  Tensor dv = {};      ///< [b, h_kv, n_kv, d_v]
  Tensor dbias = {};   ///< the extents of `bias`
  Vector dsinks = {};  ///< [h_q], of the computing type
};

/// Computes the gradients from what attention() was given and gave: the same q, k, v and options, its o and lse. Everything is
/// checked before the first byte is written. Keys in pages (`block_table`) are refused: what trains has its keys at hand.
FOVEATE_API Status attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                      const ConstTensor& o, const ConstTensor& lse, const ConstTensor& d_o,
                                      const AttentionGradients& gradients, const AttentionOptions& options = {},
                                      const Execution& execution = {});

/// How a call is cut.
struct AttentionBackwardPlan {
  int64_t tasks = 0;           ///< handed to the executor
  size_t workspace_bytes = 0;  ///< for that many workers
};

/// Plans a call of that shape that asks for these gradients, of which only whether they are present matters, and the extents
/// of dbias. `workspace_bytes` suffices whatever the options; `tasks` is for padded sequences.
FOVEATE_API Status attention_backward_plan(const AttentionShape& shape, const AttentionGradients& gradients,
                                           int64_t workers, AttentionBackwardPlan* plan);

}  // namespace foveate

#endif  // FOVEATE_ATTENTION_BACKWARD_H_
