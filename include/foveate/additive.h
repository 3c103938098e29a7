// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Additive attention: attention.h with another score, a small network instead of a product. For query row i of head h, over
// the keys j of key head h / (h_q / h_kv):
//
//   s_ij = scale * sum_a w_a tanh(u_ia + t_ja)      u = q W_q^T + b,  t = k W_k^T;  scale: 1 unless given
//
// and from there on all is as attention.h has it: softcap, bias, ALiBi, masks, sinks, dropout, softmax, the weighted sum, and
// its corners. (Bahdanau, Cho and Bengio, arXiv:1409.0473.) Cost: d_a tanh a pair, where the product takes d_k multiply-adds.
//
// How it is made fast: tanh(u + t) = 1 - 2 / (1 + exp(2u) exp(2t)), so that exp is taken of every query and key once and
// not of every pair, and four such fractions are brought to one denominator, so that four tanh cost one division. Where some
// |u_ia| or |t_ja| of a pair's rows is above 40 (float64: 300), its tanh is computed of the sum itself.
//
// Shapes: q, k, v, o, lse and weights as attention()'s; W_q and W_k [d_a, d_k], w and b [d_a], d_a >= 1, the same for all heads.
// Types: as attention() takes them, but k is not int8; the parameters of any float type, converted to the computing type. u, t
// and all else are computed in the computing type.
//
// Guarantees: those of attention.h for memory, allocation, bits, NaN and Inf, empty rows, threads and aliasing, beside
//   Memory     u and t: d_a numbers of the computing type a row of q and k.
//   Errors     a tanh is off by at most 17 u (u = 2^-24, 2^-53) beside the rounding of u_ia and t_ja; e_ij of the bound in
//              attention.h is derived in docs/numerics.md.
#ifndef FOVEATE_ADDITIVE_H_
#define FOVEATE_ADDITIVE_H_

#include <cstdint>

#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

struct AdditiveParameters {
  ConstMatrix w_q;     ///< [d_a, d_k]
  ConstMatrix w_k;     ///< [d_a, d_k]
  ConstVector w;       ///< [d_a]
  ConstVector b = {};  ///< [d_a]; left out: 0
};

/// Computes the outputs. Everything is checked before the first byte is written. Keys in pages (`block_table`) are refused.
FOVEATE_API Status additive_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                      const AdditiveParameters& parameters, const AttentionOutputs& outputs,
                                      const AttentionOptions& options = {}, const Execution& execution = {});

/// What to write. Each may be left out, not all of them. Gradients of parameters are sums over all rows and heads, of any
/// float type that the computing type is rounded to.
struct AdditiveGradients : AttentionGradients {
  Matrix dw_q = {};  ///< [d_a, d_k]
  Matrix dw_k = {};  ///< [d_a, d_k]
  Vector dw = {};    ///< [d_a]
  Vector db = {};    ///< [d_a]
};

/// Computes the gradients from what additive_attention() was given and gave, as attention_backward() does from attention().
/// With ds_ij, the gradient of the score before softcap, g_ija = scale ds_ij w_a (1 - tanh^2(u_ia + t_ja)):
///
///   du_ia = sum_j g_ija   dq = du W_q   dW_q = sum_i du_i^T q_i   db = sum_i du_i   dw_a = scale sum_ij ds_ij tanh(u_ia + t_ja)
///   dt_ja = sum_i g_ija   dk = dt W_k   dW_k = sum_j dt_j^T k_j
FOVEATE_API Status additive_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                               const AdditiveParameters& parameters, const ConstTensor& o,
                                               const ConstTensor& lse, const ConstTensor& d_o,
                                               const AdditiveGradients& gradients, const AttentionOptions& options = {},
                                               const Execution& execution = {});

/// As attention_plan() and attention_backward_plan(), for calls with d_a features.
FOVEATE_API Status additive_attention_plan(const AttentionShape& shape, int64_t d_a, int64_t workers,
                                           AttentionPlan* plan);
FOVEATE_API Status additive_attention_backward_plan(const AttentionShape& shape, const AdditiveGradients& gradients,
                                                    int64_t d_a, int64_t workers, AttentionBackwardPlan* plan);

}  // namespace foveate

#endif  // FOVEATE_ADDITIVE_H_
