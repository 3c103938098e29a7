/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Additive attention: c/attention.h with another score, a small network instead of a product. For query row i, over the keys j:
 *
 *   s_ij = scale * sum_a w_a tanh(u_ia + t_ja)      u = q W_q^T + b,  t = k W_k^T;  scale: 1 unless given
 *
 * From there on all is as c/attention.h has it: shapes, options, softmax, its corners, threads and aliasing. k is not int8, and
 * keys in pages (block_table) are refused. (Bahdanau, Cho and Bengio, arXiv:1409.0473.)
 */
#ifndef FOVEATE_C_ADDITIVE_H_
#define FOVEATE_C_ADDITIVE_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The network, the same for all heads, of any float types, converted to the computing type; d_a is 1 or more. w_q, w_k and w are
 * needed. */
typedef struct foveate_additive_parameters {
  size_t size;              /* of this struct, in bytes: FOVEATE_ADDITIVE_PARAMETERS_INIT sets it */
  foveate_const_matrix w_q; /* [d_a, d_k] */
  foveate_const_matrix w_k; /* [d_a, d_k] */
  foveate_const_vector w;   /* [d_a] */
  foveate_const_vector b;   /* [d_a]; absent: 0 */
} foveate_additive_parameters;
#define FOVEATE_ADDITIVE_PARAMETERS_INIT \
  { sizeof(foveate_additive_parameters), FOVEATE_NO_MATRIX, FOVEATE_NO_MATRIX, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR }

/* Which gradients are written. Each may be left out, not all of them. Types as in foveate_attention_gradients; those of parameters
 * are sums over all rows and heads. */
typedef struct foveate_additive_gradients {
  size_t size;           /* of this struct, in bytes: FOVEATE_ADDITIVE_GRADIENTS_INIT sets it */
  foveate_tensor dq;     /* [b, h_q, n_q, d_k] */
  foveate_tensor dk;     /* [b, h_kv, n_kv, d_k] */
  foveate_tensor dv;     /* [b, h_kv, n_kv, d_v] */
  foveate_tensor dbias;  /* the extents of `bias` */
  foveate_vector dsinks; /* [h_q], of the computing type */
  foveate_matrix dw_q;   /* [d_a, d_k] */
  foveate_matrix dw_k;   /* [d_a, d_k] */
  foveate_vector dw;     /* [d_a] */
  foveate_vector db;     /* [d_a] */
} foveate_additive_gradients;
#define FOVEATE_ADDITIVE_GRADIENTS_INIT                                                                             \
  {                                                                                                                 \
    sizeof(foveate_additive_gradients), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, \
        FOVEATE_NO_VECTOR, FOVEATE_NO_MATRIX, FOVEATE_NO_MATRIX, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR               \
  }

/* Computes o, lse and weights, those that `outputs` has. `parameters` may not be left out. Everything is checked before the first
 * byte is written. foveate_additive_attention_plan tells how large a workspace has to be: it holds u and t, d_a numbers a row of
 * q and k, beside the scratch of attention. */
FOVEATE_C_API foveate_status foveate_additive_attention(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_attention_outputs* outputs,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);

/* Computes gradients from what foveate_additive_attention() was given and gave: the same q, k, v, parameters and options, its o
 * and lse, and d_o, the gradient of a loss by o, of o's shape and q's dtype. Everything is checked before the first byte is
 * written. */
FOVEATE_C_API foveate_status foveate_additive_attention_backward(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_const_tensor* o, const foveate_const_tensor* lse,
    const foveate_const_tensor* d_o, const foveate_additive_gradients* gradients,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);

/* Tells what foveate_additive_attention() takes for calls of that shape, with d_a features, on so many workers, 1 (serial) to
 * 65536: as foveate_attention_plan(). */
FOVEATE_C_API foveate_status foveate_additive_attention_plan(const foveate_attention_shape* shape, int64_t d_a,
                                                             int64_t workers, foveate_plan* plan, char* message,
                                                             size_t message_size);

/* The same of foveate_additive_attention_backward(). Of `gradients` it matters which are there, and the extents of dbias; nothing
 * is written to them. */
FOVEATE_C_API foveate_status foveate_additive_attention_backward_plan(const foveate_attention_shape* shape,
                                                                      const foveate_additive_gradients* gradients,
                                                                      int64_t d_a, int64_t workers, foveate_plan* plan,
                                                                      char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_ADDITIVE_H_ */
