/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Linear attention: linear.h. Of a shape, b to d_v and dtype matter.
 */
#ifndef FOVEATE_C_LINEAR_H_
#define FOVEATE_C_LINEAR_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foveate_linear_options {
  size_t size;
  int32_t causal, align;
  int64_t has_q_offset, q_offset;
  foveate_const_tensor mask;
  foveate_const_vector q_lengths, kv_lengths;
} foveate_linear_options;
#define FOVEATE_LINEAR_OPTIONS_INIT                                                                      \
  {                                                                                                      \
    sizeof(foveate_linear_options), 0, FOVEATE_BOTTOM_RIGHT, 0, 0, FOVEATE_NO_TENSOR, FOVEATE_NO_VECTOR, \
        FOVEATE_NO_VECTOR                                                                                \
  }

typedef struct foveate_linear_gradients {
  size_t size;
  foveate_tensor dq, dk, dv;
} foveate_linear_gradients;
#define FOVEATE_LINEAR_GRADIENTS_INIT \
  { sizeof(foveate_linear_gradients), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR }

FOVEATE_C_API foveate_status foveate_linear_attention(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                                      const foveate_const_tensor* v, const foveate_tensor* o,
                                                      const foveate_linear_options* options,
                                                      const foveate_execution* execution, char* message,
                                                      size_t message_size);
FOVEATE_C_API foveate_status foveate_linear_attention_backward(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* d_o, const foveate_linear_gradients* gradients, const foveate_linear_options* options,
    const foveate_execution* execution, char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_linear_attention_plan(const foveate_attention_shape* shape, int64_t workers,
                                                           foveate_plan* plan, char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_linear_attention_backward_plan(const foveate_attention_shape* shape,
                                                                    int64_t workers, foveate_plan* plan, char* message,
                                                                    size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_LINEAR_H_ */
