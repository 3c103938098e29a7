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

/* The ABI version of this header, which a program is built with. */
#define FOVEATE_ABI_VERSION 1

/* The version of this header. */
#define FOVEATE_VERSION "0.1.0"

/* The ABI version of the library that is loaded; FOVEATE_ABI_VERSION is that of the header. Any thread may ask. */
FOVEATE_C_API int32_t foveate_abi_version(void);

/* The version of the library that is loaded, such as "0.1.0"; FOVEATE_VERSION is that of the header. Static text. Any thread
 * may ask. */
FOVEATE_C_API const char* foveate_version(void);

/* What a call returns: one of the numbers below. */
typedef int32_t foveate_status;

/* The outcomes of a call. */
enum {
  FOVEATE_OK = 0,                  /* done */
  FOVEATE_INVALID_ARGUMENT = 1,    /* an argument breaks the contract; nothing was written */
  FOVEATE_NOT_SUPPORTED = 2,       /* within the contract, but not built yet; nothing was written */
  FOVEATE_WORKSPACE_TOO_SMALL = 3, /* the workspace holds fewer bytes than the call needs; nothing was written */
  FOVEATE_OUT_OF_MEMORY = 4,       /* memory could not be allocated; nothing was written */
  FOVEATE_CANCELLED = 5,           /* the stop flag was seen; outputs are partly written */
};

/* What a status means, in a few words: static text, never NULL; of numbers that are no status "unknown status". The message
 * of the call says more. Any thread may ask. */
FOVEATE_C_API const char* foveate_strerror(foveate_status status);

/* Bytes in which every message fits, its zero byte included. A smaller buffer gets as much of it as it holds. */
#define FOVEATE_MESSAGE_SIZE 256

/* What an array's elements are: the `dtype` of a view. */
enum {
  FOVEATE_NONE = 0, /* there is no array: the view is absent */
  FOVEATE_F64 = 1,  /* double */
  FOVEATE_F32 = 2,  /* float */
  FOVEATE_F16 = 3,  /* IEEE binary16, 2 bytes */
  FOVEATE_BF16 = 4, /* bfloat16: the upper 2 bytes of a float */
  FOVEATE_I64 = 5,  /* int64_t */
  FOVEATE_I32 = 6,  /* int32_t */
  FOVEATE_BOOL = 7, /* a byte: 0 or 1 */
  FOVEATE_I8 = 8,   /* int8_t */
};

/* A view of an array to write to. It owns nothing, and is read during a call alone. Axes are always [batch, head, sequence,
 * head_dim], whatever their order in memory, which the strides tell. */
typedef struct foveate_tensor {
  void* data;        /* the element at 0, 0, 0, 0, at an address that the size of an element divides */
  int32_t dtype;     /* FOVEATE_F32 and its like; FOVEATE_NONE: absent */
  int64_t shape[4];  /* extents, 0 or more */
  int64_t stride[4]; /* in elements, not bytes; may be 0 or negative; not looked at where the extent is 1 */
} foveate_tensor;

/* The same of an array that is read. */
typedef struct foveate_const_tensor {
  const void* data;  /* the element at 0, 0, 0, 0, at an address that the size of an element divides */
  int32_t dtype;     /* FOVEATE_F32 and its like; FOVEATE_NONE: absent */
  int64_t shape[4];  /* extents, 0 or more */
  int64_t stride[4]; /* in elements, not bytes; may be 0 or negative; not looked at where the extent is 1 */
} foveate_const_tensor;

/* A view of two axes to write to: gradients of projections. */
typedef struct foveate_matrix {
  void* data;        /* the element at 0, 0; its size divides the address */
  int32_t dtype;     /* FOVEATE_F32 and its like; FOVEATE_NONE: absent */
  int64_t shape[2];  /* rows, columns */
  int64_t stride[2]; /* in elements */
} foveate_matrix;

/* A view of two axes to read: a block table, a projection. */
typedef struct foveate_const_matrix {
  const void* data;  /* the element at 0, 0; its size divides the address */
  int32_t dtype;     /* FOVEATE_I32, FOVEATE_F32 and their like; FOVEATE_NONE: absent */
  int64_t shape[2];  /* rows, columns */
  int64_t stride[2]; /* in elements */
} foveate_const_matrix;

/* A view of one axis to write to: gradients of sinks. */
typedef struct foveate_vector {
  void* data;     /* the first element; its size divides the address */
  int32_t dtype;  /* FOVEATE_F32 and its like; FOVEATE_NONE: absent */
  int64_t size;   /* how many elements: unlike that of other structs, not bytes */
  int64_t stride; /* in elements */
} foveate_vector;

/* A view of one axis to read: sinks, slopes, lengths, starts. */
typedef struct foveate_const_vector {
  const void* data; /* the first element; its size divides the address */
  int32_t dtype;    /* FOVEATE_F32, FOVEATE_I64 and their like; FOVEATE_NONE: absent */
  int64_t size;     /* how many elements: unlike that of other structs, not bytes */
  int64_t stride;   /* in elements */
} foveate_const_vector;

/* Initialisers of views that are absent; those to read have the same. */
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

/* A view to write to of a packed array that lies in memory as [b, h, n, d]. For [b, n, h, d] exchange stride[1] and stride[2]:
 * view.stride[1] = d, view.stride[2] = h * d. */
static inline foveate_tensor foveate_view(void* data, int32_t dtype, int64_t b, int64_t h, int64_t n, int64_t d) {
  foveate_tensor view = {data, dtype, {0, 0, 0, 0}, {0, 0, 0, 1}};
  view.shape[0] = b, view.shape[1] = h, view.shape[2] = n, view.shape[3] = d;
  view.stride[0] = h * n * d, view.stride[1] = n * d, view.stride[2] = d;
  return view;
}

/* The same of an array that is read. */
static inline foveate_const_tensor foveate_const_view(const void* data, int32_t dtype, int64_t b, int64_t h, int64_t n,
                                                      int64_t d) {
  foveate_const_tensor view = {data, dtype, {0, 0, 0, 0}, {0, 0, 0, 1}};
  view.shape[0] = b, view.shape[1] = h, view.shape[2] = n, view.shape[3] = d;
  view.stride[0] = h * n * d, view.stride[1] = n * d, view.stride[2] = d;
  return view;
}

/* A view to read of `size` elements, one behind the other. */
static inline foveate_const_vector foveate_const_vector_view(const void* data, int32_t dtype, int64_t size) {
  foveate_const_vector view = {data, dtype, 0, 1};
  view.size = size;
  return view;
}

/* One task of a call, which a parallel_for runs with the context that it was given. It neither waits for another nor ends
 * otherwise than by returning. */
typedef void (*foveate_task)(void* context, int64_t task, int64_t worker);

/* Where and how a call runs. The default is serial, in the calling thread, with memory that the call allocates and frees. */
typedef struct foveate_execution {
  size_t size; /* of this struct, in bytes: FOVEATE_EXECUTION_INIT sets it */

  /* The host's parallel loop: calls task(context, t, worker) once for each t in [0, n_tasks), in any order, on any threads, and
   * returns when all have returned; what they wrote is then visible to who called it. `worker` is in [0, workers), and no two
   * tasks run at once with the same, for it selects the scratch memory that they write. NULL: serial, in the calling thread. */
  void (*parallel_for)(void* host, int64_t n_tasks, foveate_task task, void* context);
  void* host; /* handed to parallel_for as it is */

  /* How many workers there are, 1 to 65536: those of parallel_for, and those that will run the tasks of foveate_..._begin, which
   * has no parallel_for. Not looked at where a call is serial. */
  int64_t workers;

  /* Scratch memory of the caller, at any alignment, whatever it holds, for one call at a time. As many bytes as the plan of the
   * call tells, or more, with the same number of workers (a serial call: 1). NULL: the call allocates. */
  void* workspace;
  size_t workspace_bytes; /* how many there are */

  /* Polled once a task: a byte that is 0, and 1 once the call should end, such as a C11 atomic_bool. NULL: none. */
  const unsigned char* stop;

  /* Counts up by 1 for each task that is done, atomically, up to the `tasks` of the call's plan: a progress display may read it
   * meanwhile, such as a C11 atomic_int_least64_t. Not set to 0 first. NULL: not wanted. */
  int64_t* progress;
} foveate_execution;
#define FOVEATE_EXECUTION_INIT \
  { sizeof(foveate_execution), NULL, NULL, 1, NULL, 0, NULL, NULL }

/* What a call of some shape takes, whatever its options: foveate_..._plan fills it. Set `size` before, by FOVEATE_PLAN_INIT. The
 * figures after `tasks` are those of foveate_attention_plan, and 0 of other plans; no result depends on them. */
typedef struct foveate_plan {
  size_t size;            /* of this struct, in bytes: FOVEATE_PLAN_INIT sets it */
  size_t workspace_bytes; /* of the workspace of a call, for so many workers */
  size_t begin_bytes;     /* of the workspace of foveate_..._begin: somewhat more */
  int64_t tasks;          /* in all, merging included: how far `progress` counts */
  int64_t tile_rows;      /* query rows of a full tile */
  int64_t block_keys;     /* keys of a block */
  int64_t split_keys;     /* keys of a split, each begun from a fresh maximum */
  int64_t tiles;          /* query tiles in all */
  int64_t splits;         /* key splits that a tile walks */
  int64_t split_groups;   /* tasks that a tile's splits are divided among; 1: one task walks them all */
} foveate_plan;
#define FOVEATE_PLAN_INIT \
  { sizeof(foveate_plan), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* How many targets, instruction sets of the kernels, this library has that this processor can run: 1 or more. The best one is
 * chosen at the first call; the environment variable FOVEATE_TARGET, or foveate_pin_target(), fixes another. On one target results
 * are the same to the bit. Any thread may ask. */
FOVEATE_C_API int64_t foveate_target_count(void);

/* The name of one of them, the best first: "avx512-bf16", "avx512", "avx2", "sse4", "neon", "scalar" and others. Static text;
 * NULL where index is not in [0, foveate_target_count()). Any thread may ask. */
FOVEATE_C_API const char* foveate_target_name(int64_t index);

/* The name of the target that calls use now: static text. Any thread may ask. */
FOVEATE_C_API const char* foveate_active_target(void);

/* Makes later calls of this process use the target of that name. NULL, "" or "auto": the best one again. FOVEATE_INVALID_ARGUMENT
 * where the name is unknown or this processor cannot run it, with those it can in the message. Any thread may call it; calls
 * that run already keep theirs. */
FOVEATE_C_API foveate_status foveate_pin_target(const char* name, char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_BASE_H_ */
