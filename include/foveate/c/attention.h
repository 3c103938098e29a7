/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Softmax attention and its gradients: attention.h, attention_backward.h; and what belongs to it: merging states over pieces of
 * keys, dropout's mask, block patterns (state.h, dropout.h, patterns.h).
 */
#ifndef FOVEATE_C_ATTENTION_H_
#define FOVEATE_C_ATTENTION_H_

#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FOVEATE_BOTTOM_RIGHT = 0, FOVEATE_TOP_LEFT = 1 };
#define FOVEATE_UNLIMITED (-1)

/* AttentionOptions; what is optional there has a has_ here. */
typedef struct foveate_attention_options {
  size_t size;
  int32_t has_scale, causal;
  double scale;
  int32_t align, native_products;
  int64_t window_left, window_right;
  foveate_const_tensor mask, bias;
  double softcap;
  foveate_const_vector alibi_slopes, sinks;
  foveate_const_vector q_lengths, kv_lengths;
  int32_t has_q_offset, has_kv_offset;
  int64_t q_offset, kv_offset;
  double dropout;
  uint64_t seed;
  foveate_const_tensor k_scales, v_scales;
  foveate_const_vector q_starts, kv_starts;
  foveate_const_matrix block_table;
  foveate_const_tensor tree_mask;
  int64_t tree_tokens;
  foveate_const_tensor blocks;
  int64_t block_size;
} foveate_attention_options;
#define FOVEATE_ATTENTION_OPTIONS_INIT                                                                         \
  {                                                                                                            \
    sizeof(foveate_attention_options), 0, 0, 0, FOVEATE_BOTTOM_RIGHT, 1, FOVEATE_UNLIMITED, FOVEATE_UNLIMITED, \
        FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, 0, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR,      \
        FOVEATE_NO_VECTOR, 0, 0, 0, 0, 0, 0, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_VECTOR,          \
        FOVEATE_NO_VECTOR, FOVEATE_NO_MATRIX, FOVEATE_NO_TENSOR, 0, FOVEATE_NO_TENSOR, 0                       \
  }

/* The same for callers that have no macros: fills `size` bytes, which is the size of their struct. */
FOVEATE_C_API void foveate_attention_options_init(foveate_attention_options* options, size_t size);

typedef struct foveate_attention_outputs {
  size_t size;
  foveate_tensor o, lse, weights;
} foveate_attention_outputs;
#define FOVEATE_ATTENTION_OUTPUTS_INIT \
  { sizeof(foveate_attention_outputs), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR }

typedef struct foveate_attention_gradients {
  size_t size;
  foveate_tensor dq, dk, dv, dbias;
  foveate_vector dsinks;
} foveate_attention_gradients;
#define FOVEATE_ATTENTION_GRADIENTS_INIT                                                                             \
  {                                                                                                                  \
    sizeof(foveate_attention_gradients), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, \
        FOVEATE_NO_VECTOR                                                                                            \
  }

FOVEATE_C_API foveate_status foveate_attention(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                               const foveate_const_tensor* v, const foveate_attention_outputs* outputs,
                                               const foveate_attention_options* options,
                                               const foveate_execution* execution, char* message, size_t message_size);

FOVEATE_C_API foveate_status foveate_attention_backward(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* o, const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
    const foveate_attention_gradients* gradients, const foveate_attention_options* options,
    const foveate_execution* execution, char* message, size_t message_size);

/* The shape of a call: AttentionShape. */
typedef struct foveate_attention_shape {
  size_t size;
  int64_t b, h_q, h_kv, n_q, n_kv, d_k, d_v;
  int32_t dtype, weights;
  int64_t kv_offset, block_size;
} foveate_attention_shape;
#define FOVEATE_ATTENTION_SHAPE_INIT \
  { sizeof(foveate_attention_shape), 1, 1, 1, 1, 1, 1, 1, FOVEATE_F32, 0, 0, 0 }

FOVEATE_C_API void foveate_attention_shape_init(foveate_attention_shape* shape, size_t size);

FOVEATE_C_API foveate_status foveate_attention_plan(const foveate_attention_shape* shape, int64_t workers,
                                                    foveate_plan* plan, char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_attention_backward_plan(const foveate_attention_shape* shape,
                                                             const foveate_attention_gradients* gradients,
                                                             int64_t workers, foveate_plan* plan, char* message,
                                                             size_t message_size);

FOVEATE_C_API foveate_status foveate_merge(const foveate_const_tensor* o_a, const foveate_const_tensor* lse_a,
                                           const foveate_const_tensor* o_b, const foveate_const_tensor* lse_b,
                                           const foveate_tensor* o, const foveate_tensor* lse,
                                           const foveate_execution* execution, char* message, size_t message_size);

FOVEATE_C_API foveate_status foveate_dropout_mask(const foveate_tensor* keep, const foveate_attention_options* options,
                                                  const foveate_execution* execution, char* message,
                                                  size_t message_size);

typedef struct foveate_block_pattern {
  size_t size;
  int64_t n_q, n_kv, block_size;
  int64_t window_left, window_right;
  int64_t global_tokens, random_blocks;
  uint64_t seed;
  int64_t causal;
} foveate_block_pattern;
#define FOVEATE_BLOCK_PATTERN_INIT \
  { sizeof(foveate_block_pattern), 0, 0, 64, 0, 0, 0, 0, 0, 0 }

FOVEATE_C_API void foveate_block_pattern_init(foveate_block_pattern* pattern, size_t size);

FOVEATE_C_API foveate_status foveate_make_blocks(const foveate_block_pattern* pattern, const foveate_tensor* blocks,
                                                 char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_ATTENTION_H_ */
