/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Calls that their host runs, on threads of its own: checked and planned once by foveate_..._begin, then done as rounds of tasks,
 * of which any thread takes any range. For engines that have worker threads already, and a barrier; where there is a parallel loop
 * to hand out, `parallel_for` of foveate_execution is simpler. With POSIX threads:
 *
 *   #include <foveate/foveate_c.h>
 *   #include <pthread.h>
 *   #include <stdio.h>
 *   #include <stdlib.h>
 *
 *   enum { kWorkers = 4, kHeads = 8, kLength = 1000, kDim = 64 };
 *   static foveate_call call;
 *   static pthread_barrier_t barrier;
 *
 *   // A thread: in each round the worker of that number does its share of the tasks, then waits for the others.
 *   static void* work(void* argument) {
 *     const int64_t worker = *(const int64_t*)argument;
 *     for (int64_t round = 0; round < foveate_call_rounds(&call); ++round) {
 *       const int64_t tasks = foveate_call_tasks(&call, round);
 *       const int64_t first = tasks * worker / kWorkers, end = tasks * (worker + 1) / kWorkers;
 *       foveate_call_run(&call, round, first, end - first, worker, NULL, 0);
 *       pthread_barrier_wait(&barrier);
 *     }
 *     return NULL;
 *   }
 *
 *   int main(void) {
 *     float* x = malloc(kHeads * kLength * kDim * sizeof(float));
 *     float* o = malloc(kHeads * kLength * kDim * sizeof(float));
 *     for (int i = 0; i < kHeads * kLength * kDim; ++i) x[i] = 1;  // q, k and v
 *     const foveate_const_tensor in = foveate_const_view(x, FOVEATE_F32, 1, kHeads, kLength, kDim);
 *     foveate_attention_outputs outputs = FOVEATE_ATTENTION_OUTPUTS_INIT;
 *     outputs.o = foveate_view(o, FOVEATE_F32, 1, kHeads, kLength, kDim);
 *     foveate_execution execution = FOVEATE_EXECUTION_INIT;
 *     execution.workers = kWorkers;  // no parallel_for: the threads come to the call
 *     char message[FOVEATE_MESSAGE_SIZE];
 *     if (foveate_attention_begin(&call, &in, &in, &in, &outputs, NULL, &execution, message, sizeof message) != FOVEATE_OK) {
 *       puts(message);
 *       return 1;
 *     }
 *     pthread_t threads[kWorkers];
 *     int64_t workers[kWorkers];
 *     pthread_barrier_init(&barrier, NULL, kWorkers);
 *     for (int w = 0; w < kWorkers; ++w) {
 *       workers[w] = w;
 *       pthread_create(&threads[w], NULL, work, &workers[w]);
 *     }
 *     for (int w = 0; w < kWorkers; ++w) pthread_join(threads[w], NULL);
 *     pthread_barrier_destroy(&barrier);
 *     foveate_call_end(&call);
 *     printf("%g\n", o[0]);  // 1
 *     free(x);
 *     free(o);
 *     return 0;
 *   }
 *
 *   Bits       those of the call that is run whole, however its tasks are divided.
 *   Order      each task of a round is run once; a round begins when all of the one before have ended, and what they wrote is
 *              visible (a barrier sees to that). No two threads run at once as the same worker.
 *   Again      rounds may be run once more, from the first, when q, k, v, o, lse, d_o, mask, bias or sinks hold other numbers.
 *              Lengths, starts, block tables, scales, slopes and options were checked at the beginning, and must be the same.
 *              (Additive attention reads its parameters as it begins: it is run once.)
 *   Lifetime   structs and views are copied; the arrays, the workspace, the stop flag and the counter outlive the call.
 *   Allocation with a workspace of begin_bytes of the call's plan: none. Otherwise one block, which foveate_call_end frees.
 *   Target     that of its beginning, whatever is pinned later.
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

/* A call on its way, in memory of the caller's, which needs no initialising; neither moved nor copied from begin to end. */
typedef struct foveate_call {
  uint64_t of_the_library[8]; /* not for the caller */
} foveate_call;

/* Begins foveate_attention(): checks and plans it, from the same arguments, for the `workers` of `execution` (its parallel_for is
 * not used; NULL: one worker), and puts it into *call, which is not NULL. Nothing is computed yet. After FOVEATE_OK the call is to
 * be ended by foveate_call_end(), before it begins anew; after anything else *call is as it was, and there is nothing to end. */
FOVEATE_C_API foveate_status foveate_attention_begin(foveate_call* call, const foveate_const_tensor* q,
                                                     const foveate_const_tensor* k, const foveate_const_tensor* v,
                                                     const foveate_attention_outputs* outputs,
                                                     const foveate_attention_options* options,
                                                     const foveate_execution* execution, char* message,
                                                     size_t message_size);

/* Begins foveate_attention_backward(), as foveate_attention_begin() begins foveate_attention(). */
FOVEATE_C_API foveate_status foveate_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* o, const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
    const foveate_attention_gradients* gradients, const foveate_attention_options* options,
    const foveate_execution* execution, char* message, size_t message_size);

/* How many rounds a call has that has begun; none where there is nothing to do. NULL: 0. Any thread may ask. */
FOVEATE_C_API int64_t foveate_call_rounds(const foveate_call* call);

/* How many tasks a round has, perhaps none; 0 where there is no such round, or call is NULL. Any thread may ask. */
FOVEATE_C_API int64_t foveate_call_tasks(const foveate_call* call, int64_t round);

/* Does tasks [first, first + count) of a round, in this thread, as that worker, in [0, workers). Any number of threads may do so at
 * once, each as another worker. Out of range: FOVEATE_INVALID_ARGUMENT, and nothing is done. FOVEATE_CANCELLED once the stop flag
 * was seen: tasks are then left out. */
FOVEATE_C_API foveate_status foveate_call_run(foveate_call* call, int64_t round, int64_t first, int64_t count,
                                              int64_t worker, char* message, size_t message_size);

/* Ends a call, and frees what it has allocated: once begin has succeeded, when no thread runs tasks any more. It then has no
 * rounds, until it begins anew. NULL is left alone. */
FOVEATE_C_API void foveate_call_end(foveate_call* call);

/* Begins foveate_linear_attention(), as foveate_attention_begin() begins foveate_attention(). */
FOVEATE_C_API foveate_status foveate_linear_attention_begin(foveate_call* call, const foveate_const_tensor* q,
                                                            const foveate_const_tensor* k,
                                                            const foveate_const_tensor* v, const foveate_tensor* o,
                                                            const foveate_linear_options* options,
                                                            const foveate_execution* execution, char* message,
                                                            size_t message_size);

/* Begins foveate_linear_attention_backward(), as foveate_attention_begin() begins foveate_attention(). */
FOVEATE_C_API foveate_status foveate_linear_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* d_o, const foveate_linear_gradients* gradients, const foveate_linear_options* options,
    const foveate_execution* execution, char* message, size_t message_size);

/* Begins foveate_additive_attention(), as foveate_attention_begin() begins foveate_attention(). Parameters are read
 * here, and rounds run once. */
FOVEATE_C_API foveate_status foveate_additive_attention_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_attention_outputs* outputs,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);

/* Begins foveate_additive_attention_backward(), as foveate_attention_begin() begins foveate_attention(). Parameters are read
 * here, and rounds run once. */
FOVEATE_C_API foveate_status foveate_additive_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_const_tensor* o, const foveate_const_tensor* lse,
    const foveate_const_tensor* d_o, const foveate_additive_gradients* gradients,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_PLANNED_CALL_H_ */
