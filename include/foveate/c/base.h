/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * What all of the C interface stands on: the version, status, views, where a call runs, and the instruction set.
 */
#ifndef FOVEATE_C_BASE_H_
#define FOVEATE_C_BASE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FOVEATE_C_API __attribute__((visibility("default")))
#else
#define FOVEATE_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define FOVEATE_ABI_VERSION 1
#define FOVEATE_VERSION "0.1.0"

/* Of the library that is loaded, where the macros are of the one that was built with. */
FOVEATE_C_API int32_t foveate_abi_version(void);
FOVEATE_C_API const char* foveate_version(void);

typedef int32_t foveate_status;
enum {
  FOVEATE_OK = 0,
  FOVEATE_INVALID_ARGUMENT = 1,    /* an argument breaks the contract; nothing was written */
  FOVEATE_NOT_SUPPORTED = 2,       /* within the contract, but not built yet; nothing was written */
  FOVEATE_WORKSPACE_TOO_SMALL = 3, /* the workspace holds fewer bytes than the call needs; nothing was written */
  FOVEATE_OUT_OF_MEMORY = 4,       /* memory could not be allocated; nothing was written */
  FOVEATE_CANCELLED = 5            /* the stop flag was seen; outputs are partly written */
};

/* What a status means, in a few words; never NULL. */
FOVEATE_C_API const char* foveate_strerror(foveate_status status);

/* Every message fits. */
#define FOVEATE_MESSAGE_SIZE 256

/* Views: tensor.h. Axes are [batch, head, sequence, head_dim], strides count elements; dtype FOVEATE_NONE: absent. */

enum {
  FOVEATE_NONE = 0,
  FOVEATE_F64 = 1,
  FOVEATE_F32 = 2,
  FOVEATE_F16 = 3,
  FOVEATE_BF16 = 4,
  FOVEATE_I64 = 5,
  FOVEATE_I32 = 6,
  FOVEATE_BOOL = 7,
  FOVEATE_I8 = 8
};

typedef struct foveate_tensor {
  void* data;
  int32_t dtype;
  int64_t shape[4], stride[4];
} foveate_tensor;

typedef struct foveate_const_tensor {
  const void* data;
  int32_t dtype;
  int64_t shape[4], stride[4];
} foveate_const_tensor;

typedef struct foveate_matrix {
  void* data;
  int32_t dtype;
  int64_t shape[2], stride[2];
} foveate_matrix;

typedef struct foveate_const_matrix {
  const void* data;
  int32_t dtype;
  int64_t shape[2], stride[2];
} foveate_const_matrix;

typedef struct foveate_vector {
  void* data;
  int32_t dtype;
  int64_t size, stride;
} foveate_vector;

typedef struct foveate_const_vector {
  const void* data;
  int32_t dtype;
  int64_t size, stride;
} foveate_const_vector;

/* Views of nothing. */
#define FOVEATE_NO_TENSOR                            \
  {                                                  \
    NULL, FOVEATE_NONE, {0, 0, 0, 0}, { 0, 0, 0, 0 } \
  }
#define FOVEATE_NO_MATRIX                \
  {                                      \
    NULL, FOVEATE_NONE, {0, 0}, { 0, 0 } \
  }
#define FOVEATE_NO_VECTOR \
  { NULL, FOVEATE_NONE, 0, 1 }

/* Packed arrays that lie in memory as [b, h, n, d]; of vectors and matrices their like. */
static inline foveate_tensor foveate_view(void* data, int32_t dtype, int64_t b, int64_t h, int64_t n, int64_t d) {
  foveate_tensor view = {data, dtype, {0, 0, 0, 0}, {0, 0, 0, 1}};
  view.shape[0] = b, view.shape[1] = h, view.shape[2] = n, view.shape[3] = d;
  view.stride[0] = h * n * d, view.stride[1] = n * d, view.stride[2] = d;
  return view;
}
static inline foveate_const_tensor foveate_const_view(const void* data, int32_t dtype, int64_t b, int64_t h, int64_t n,
                                                      int64_t d) {
  foveate_const_tensor view = {data, dtype, {0, 0, 0, 0}, {0, 0, 0, 1}};
  view.shape[0] = b, view.shape[1] = h, view.shape[2] = n, view.shape[3] = d;
  view.stride[0] = h * n * d, view.stride[1] = n * d, view.stride[2] = d;
  return view;
}
static inline foveate_const_vector foveate_const_vector_view(const void* data, int32_t dtype, int64_t size) {
  foveate_const_vector view = {data, dtype, 0, 1};
  view.size = size;
  return view;
}

/* Where and how a call runs: executor.h and Execution in attention.h. */

/* One task of a call. It neither waits for another nor ends otherwise than by returning. */
typedef void (*foveate_task)(void* context, int64_t task, int64_t worker);

typedef struct foveate_execution {
  size_t size;

  /* The host's parallel loop: calls task(context, t, worker) once for each t in [0, n_tasks), on any threads, and returns when all
   * have returned. worker is in [0, workers), and no two tasks run at once with the same. NULL: serial, in the calling thread. */
  void (*parallel_for)(void* host, int64_t n_tasks, foveate_task task, void* context);
  void* host;
  int64_t workers; /* 1 to 65536, where there is a parallel_for */

  void* workspace; /* NULL: the call allocates */
  size_t workspace_bytes;

  /* Polled once a task: a byte that is 0, and 1 once the call should end, such as a C11 atomic_bool. NULL: none. */
  const unsigned char* stop;

  /* Counts tasks that are done, atomically, such as a C11 atomic_int_least64_t. NULL: not wanted. */
  int64_t* progress;
} foveate_execution;
#define FOVEATE_EXECUTION_INIT \
  { sizeof(foveate_execution), NULL, NULL, 1, NULL, 0, NULL, NULL }

/* What a call of some shape takes, whatever its options. */
typedef struct foveate_plan {
  size_t size;
  size_t workspace_bytes; /* for so many workers */
  size_t begin_bytes;     /* of the workspace of foveate_..._begin */
  int64_t tasks;
  int64_t tile_rows, block_keys, split_keys, tiles, splits,
      split_groups; /* of foveate_attention alone: AttentionPlan */
} foveate_plan;
#define FOVEATE_PLAN_INIT \
  { sizeof(foveate_plan), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* The instruction set: target.h. */

FOVEATE_C_API int64_t foveate_target_count(void);
FOVEATE_C_API const char* foveate_target_name(int64_t index);
FOVEATE_C_API const char* foveate_active_target(void);
FOVEATE_C_API foveate_status foveate_pin_target(const char* name, char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_BASE_H_ */
