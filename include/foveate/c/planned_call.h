/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Calls that their host runs on threads of its own, as rounds of tasks: planned_call.h.
 *
 *   foveate_attention_begin(&call, ..., &execution, ...);                        execution.workers: how many
 *   for (round = 0; round < foveate_call_rounds(&call); ++round) {               each thread, as a worker of its own
 *     foveate_call_run(&call, round, first, count, worker, NULL, 0);             its share of foveate_call_tasks(&call, round)
 *     barrier();
 *   }
 *   foveate_call_end(&call);
 */
#ifndef FOVEATE_C_PLANNED_CALL_H_
#define FOVEATE_C_PLANNED_CALL_H_

#include "foveate/c/additive.h"
#include "foveate/c/attention.h"
#include "foveate/c/base.h"
#include "foveate/c/linear.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's, and neither moved nor copied from begin to end. */
typedef struct foveate_call {
  uint64_t of_the_library[8];
} foveate_call;

FOVEATE_C_API foveate_status foveate_attention_begin(foveate_call* call, const foveate_const_tensor* q,
                                                     const foveate_const_tensor* k, const foveate_const_tensor* v,
                                                     const foveate_attention_outputs* outputs,
                                                     const foveate_attention_options* options,
                                                     const foveate_execution* execution, char* message,
                                                     size_t message_size);
FOVEATE_C_API foveate_status foveate_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* o, const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
    const foveate_attention_gradients* gradients, const foveate_attention_options* options,
    const foveate_execution* execution, char* message, size_t message_size);

FOVEATE_C_API int64_t foveate_call_rounds(const foveate_call* call);
FOVEATE_C_API int64_t foveate_call_tasks(const foveate_call* call, int64_t round);

/* Does tasks [first, first + count) of a round, in this thread, as that worker. FOVEATE_CANCELLED once the stop flag was seen. */
FOVEATE_C_API foveate_status foveate_call_run(foveate_call* call, int64_t round, int64_t first, int64_t count,
                                              int64_t worker, char* message, size_t message_size);

/* Once begin has succeeded, when no thread runs tasks any more. NULL is left alone. */
FOVEATE_C_API void foveate_call_end(foveate_call* call);

FOVEATE_C_API foveate_status foveate_linear_attention_begin(foveate_call* call, const foveate_const_tensor* q,
                                                            const foveate_const_tensor* k,
                                                            const foveate_const_tensor* v, const foveate_tensor* o,
                                                            const foveate_linear_options* options,
                                                            const foveate_execution* execution, char* message,
                                                            size_t message_size);
FOVEATE_C_API foveate_status foveate_linear_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* d_o, const foveate_linear_gradients* gradients, const foveate_linear_options* options,
    const foveate_execution* execution, char* message, size_t message_size);

FOVEATE_C_API foveate_status foveate_additive_attention_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_attention_outputs* outputs,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_additive_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_const_tensor* o, const foveate_const_tensor* lse,
    const foveate_const_tensor* d_o, const foveate_additive_gradients* gradients,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_PLANNED_CALL_H_ */
