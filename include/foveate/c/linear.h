/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Linear attention: phi(q) . phi(k) in the place of exp(scale q . k), so that time is linear in the number of keys. For query row
 * i of head h, over the keys j of key head h / (h_q / h_kv):
 *
 *   phi(x) = x + 1 where x > 0, exp(x) elsewhere    component by component
 *   A_ij   = phi(q_i) . phi(k_j)                    no scale, no softmax
 *   o_i    = sum_j A_ij v_j / sum_j A_ij
 *   j takes part iff mask_j, causal (j <= p_i) and j < kv_length_b all allow it; where none does, o and gradients are 0
 *
 * Shapes: q [b, h_q, n_q, d_k], k [b, h_kv, n_kv, d_k], v [b, h_kv, n_kv, d_v], o and d_o [b, h_q, n_q, d_v], any strides.
 * Types: q float64, then k and v too; or q, k and v each float32, float16 or bfloat16, and all is computed in float32. o and d_o
 * have q's type. Packed sequences, pages and int8 are not supported.
 * Any number of calls may run at once, on disjoint outputs and workspaces; outputs overlap neither inputs nor each other.
 * (Katharopoulos, Vyas, Pappas and Fleuret, arXiv:2006.16236.)
 */
#ifndef FOVEATE_C_LINEAR_H_
#define FOVEATE_C_LINEAR_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which keys take part: all by default. Begin with FOVEATE_LINEAR_OPTIONS_INIT. */
typedef struct foveate_linear_options {
  size_t size;          /* of this struct, in bytes: FOVEATE_LINEAR_OPTIONS_INIT sets it */
  int32_t causal;       /* not 0: only keys at or before the query's position take part */
  int32_t align;        /* FOVEATE_BOTTOM_RIGHT (the default) or FOVEATE_TOP_LEFT: where the first query stands */
  int64_t has_q_offset; /* not 0: q_offset counts, in place of `align` */
  int64_t q_offset;     /* p_i = q_offset + i outright; at most 2^60 either way */

  /* FOVEATE_BOOL, 1 = takes part. [b, h_kv, 1, n_kv], each extent that or 1 (broadcast); read in place. Not by rows: the keys of
   * a head are summed once for all. */
  foveate_const_tensor mask;

  /* [b], int32 or int64, in [0, n_q]: how many rows of each sequence are there. Those past it get o = 0, and are not read. */
  foveate_const_vector q_lengths;
  foveate_const_vector kv_lengths; /* [b], in [0, n_kv]: the same of keys; none past it is read */
} foveate_linear_options;
#define FOVEATE_LINEAR_OPTIONS_INIT                                                                      \
  {                                                                                                      \
    sizeof(foveate_linear_options), 0, FOVEATE_BOTTOM_RIGHT, 0, 0, FOVEATE_NO_TENSOR, FOVEATE_NO_VECTOR, \
        FOVEATE_NO_VECTOR                                                                                \
  }

/* Which gradients are written, each of any float type that the computing type is rounded to. Each may be left out, not all of
 * them. */
typedef struct foveate_linear_gradients {
  size_t size;       /* of this struct, in bytes: FOVEATE_LINEAR_GRADIENTS_INIT sets it */
  foveate_tensor dq; /* [b, h_q, n_q, d_k] */
  foveate_tensor dk; /* [b, h_kv, n_kv, d_k] */
  foveate_tensor dv; /* [b, h_kv, n_kv, d_v] */
} foveate_linear_gradients;
#define FOVEATE_LINEAR_GRADIENTS_INIT \
  { sizeof(foveate_linear_gradients), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR }

/* Computes o. Everything is checked before the first byte is written. options and execution may be NULL: the defaults.
 * foveate_linear_attention_plan tells how large a workspace has to be. */
FOVEATE_C_API foveate_status foveate_linear_attention(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                                      const foveate_const_tensor* v, const foveate_tensor* o,
                                                      const foveate_linear_options* options,
                                                      const foveate_execution* execution, char* message,
                                                      size_t message_size);

/* Computes gradients from what foveate_linear_attention() was given, the same options among it, and d_o, the gradient of a loss by
 * o: what it gave is made anew. Everything is checked before the first byte is written. */
FOVEATE_C_API foveate_status foveate_linear_attention_backward(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* d_o, const foveate_linear_gradients* gradients, const foveate_linear_options* options,
    const foveate_execution* execution, char* message, size_t message_size);

/* Tells what foveate_linear_attention() takes for calls of that shape on so many workers, 1 (serial) to 65536, whatever the
 * options: as foveate_attention_plan(). Of the shape, b to d_v and dtype matter. */
FOVEATE_C_API foveate_status foveate_linear_attention_plan(const foveate_attention_shape* shape, int64_t workers,
                                                           foveate_plan* plan, char* message, size_t message_size);

/* The same of foveate_linear_attention_backward(). */
FOVEATE_C_API foveate_status foveate_linear_attention_backward_plan(const foveate_attention_shape* shape,
                                                                    int64_t workers, foveate_plan* plan, char* message,
                                                                    size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_LINEAR_H_ */
