/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Additive attention: additive.h.
 */
#ifndef FOVEATE_C_ADDITIVE_H_
#define FOVEATE_C_ADDITIVE_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foveate_additive_parameters {
  size_t size;
  foveate_const_matrix w_q, w_k;
  foveate_const_vector w, b;
} foveate_additive_parameters;
#define FOVEATE_ADDITIVE_PARAMETERS_INIT \
  { sizeof(foveate_additive_parameters), FOVEATE_NO_MATRIX, FOVEATE_NO_MATRIX, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR }

typedef struct foveate_additive_gradients {
  size_t size;
  foveate_tensor dq, dk, dv, dbias;
  foveate_vector dsinks;
  foveate_matrix dw_q, dw_k;
  foveate_vector dw, db;
} foveate_additive_gradients;
#define FOVEATE_ADDITIVE_GRADIENTS_INIT                                                                             \
  {                                                                                                                 \
    sizeof(foveate_additive_gradients), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, \
        FOVEATE_NO_VECTOR, FOVEATE_NO_MATRIX, FOVEATE_NO_MATRIX, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR               \
  }

FOVEATE_C_API foveate_status foveate_additive_attention(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_attention_outputs* outputs,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_additive_attention_backward(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_const_tensor* o, const foveate_const_tensor* lse,
    const foveate_const_tensor* d_o, const foveate_additive_gradients* gradients,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_additive_attention_plan(const foveate_attention_shape* shape, int64_t d_a,
                                                             int64_t workers, foveate_plan* plan, char* message,
                                                             size_t message_size);
FOVEATE_C_API foveate_status foveate_additive_attention_backward_plan(const foveate_attention_shape* shape,
                                                                      const foveate_additive_gradients* gradients,
                                                                      int64_t d_a, int64_t workers, foveate_plan* plan,
                                                                      char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_ADDITIVE_H_ */
