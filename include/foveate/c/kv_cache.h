/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * A cache of keys and values: those of many sequences, of one attention layer, each growing at its end as tokens come.
 *
 *   foveate_kv_cache_options options = FOVEATE_KV_CACHE_OPTIONS_INIT;
 *   options.h_kv = 8, options.d_k = options.d_v = 128, options.max_pages = 4096;
 *   foveate_kv_cache* cache;
 *   int64_t sequence;
 *   foveate_kv_cache_create(&options, &cache, message, sizeof message);                     each returns a foveate_status
 *   foveate_kv_cache_add(cache, &sequence, message, sizeof message);
 *   foveate_kv_cache_append(cache, sequence, &k, &v, message, sizeof message);              k, v [1, h_kv, n, d]
 *   foveate_kv_cache_attend(cache, &q, &sequence, 1, &outputs, &causal, NULL, NULL, message, sizeof message);
 *   foveate_kv_cache_end(cache);
 *
 * Keys lie in pages of page_size rows. A fork shares every page with its original; whoever writes to a page that others hold too
 * writes to a copy of it.
 *
 *   Bits       attention over a cache has the bits of attention over the same stored numbers in one plain array.
 *   Errors     FOVEATE_INVALID_ARGUMENT, or FOVEATE_OUT_OF_MEMORY where no page is free or memory ends; then nothing has changed.
 *   Allocation with max_pages, foveate_kv_cache_create takes all memory of pages; append, truncate and remove allocate nothing.
 *   Threads    functions that take a const cache may run at once, each on a batch of its own; no other call beside any.
 *   Aliasing   what is appended may not lie in the cache; outputs overlap neither inputs nor the cache.
 *   NULL       a cache or batch that is NULL is refused, and ended without effect. message may be NULL.
 */
#ifndef FOVEATE_C_KV_CACHE_H_
#define FOVEATE_C_KV_CACHE_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A cache: made by foveate_kv_cache_create, ended by foveate_kv_cache_end. */
typedef struct foveate_kv_cache foveate_kv_cache;

/* The sizes and types of a cache. Begin with FOVEATE_KV_CACHE_OPTIONS_INIT, and set h_kv, d_k and d_v, which it has at 1. */
typedef struct foveate_kv_cache_options {
  size_t size;  /* of this struct, in bytes: FOVEATE_KV_CACHE_OPTIONS_INIT sets it */
  int64_t h_kv; /* key and value heads */
  int64_t d_k;  /* head dim of keys */
  int64_t d_v;  /* head dim of values */

  /* What keys are stored as: FOVEATE_F32 (the default), FOVEATE_F16, FOVEATE_BF16 or FOVEATE_I8, or keys and values both
   * FOVEATE_F64. As int8 a row of each head has the scale max|x| / 127. */
  int32_t k_dtype;
  int32_t v_dtype; /* what values are stored as, likewise */

  /* Keys to a page, 64 by default; with a multiple of 64 float32 is read where it lies. 0: each sequence in one run, as long as
   * it needs, and when one outgrows it the pages of all are made twice as long. */
  int64_t page_size;

  /* So many pages, never more. FOVEATE_UNLIMITED, the default: as many as it takes. Not with page_size 0. */
  int64_t max_pages;

  /* Scales of the channels of int8 keys, instead of one a row: FOVEATE_F32 [1, h_kv, 1, d_k], the second that or 1, finite, not
   * negative. Copied. Numbers past 127 scales saturate; NaN and Inf are then refused. */
  foveate_const_tensor k_scales;
} foveate_kv_cache_options;
#define FOVEATE_KV_CACHE_OPTIONS_INIT \
  { sizeof(foveate_kv_cache_options), 1, 1, 1, FOVEATE_F32, FOVEATE_F32, 64, FOVEATE_UNLIMITED, FOVEATE_NO_TENSOR }

/* FOVEATE_KV_CACHE_OPTIONS_INIT for callers that have no macros: writes the defaults to the `size` bytes of their struct, as far
 * as it reaches, and `size` itself. NULL is left alone. */
FOVEATE_C_API void foveate_kv_cache_options_init(foveate_kv_cache_options* options, size_t size);

/* Makes an empty cache, which the caller ends with foveate_kv_cache_end(). options NULL: the defaults. Where it fails, *cache is
 * NULL. */
FOVEATE_C_API foveate_status foveate_kv_cache_create(const foveate_kv_cache_options* options, foveate_kv_cache** cache,
                                                     char* message, size_t message_size);

/* Frees a cache and all that it holds. NULL is left alone. */
FOVEATE_C_API void foveate_kv_cache_end(foveate_kv_cache* cache);

/* Begins a sequence, without keys, and writes its number to *sequence: never given again. O(1). */
FOVEATE_C_API foveate_status foveate_kv_cache_add(foveate_kv_cache* cache, int64_t* sequence, char* message,
                                                  size_t message_size);

/* Begins a sequence of the same keys and values, in the same pages, and writes its number to *copy. O(1). */
FOVEATE_C_API foveate_status foveate_kv_cache_fork(foveate_kv_cache* cache, int64_t sequence, int64_t* copy,
                                                   char* message, size_t message_size);

/* Puts n rows behind the last of a sequence: k [1, h_kv, n, d_k] and v [1, h_kv, n, d_v] of any float types, any strides, rounded
 * to what the cache stores. They are copied. All rows go in, or none. */
FOVEATE_C_API foveate_status foveate_kv_cache_append(foveate_kv_cache* cache, int64_t sequence,
                                                     const foveate_const_tensor* k, const foveate_const_tensor* v,
                                                     char* message, size_t message_size);

/* Keeps the first `length` keys of a sequence, 0 to as many as it has. */
FOVEATE_C_API foveate_status foveate_kv_cache_truncate(foveate_kv_cache* cache, int64_t sequence, int64_t length,
                                                       char* message, size_t message_size);

/* Ends a sequence. Its pages are free once no other has them. */
FOVEATE_C_API foveate_status foveate_kv_cache_remove(foveate_kv_cache* cache, int64_t sequence, char* message,
                                                     size_t message_size);

/* How many keys a sequence has; -1 where there is none of that number, or cache is NULL. */
FOVEATE_C_API int64_t foveate_kv_cache_length(const foveate_kv_cache* cache, int64_t sequence);

/* What a cache holds: foveate_kv_cache_get_usage fills it. */
typedef struct foveate_kv_cache_usage {
  size_t size;          /* of this struct, in bytes: FOVEATE_KV_CACHE_USAGE_INIT sets it */
  int64_t sequences;    /* that are alive */
  int64_t pages_in_use; /* a page shared by several sequences counts once */
  int64_t pages_free;   /* that there is memory for */
  size_t bytes_in_use;  /* of the pages in use, scales included */
  size_t bytes_held;    /* of all pages */
} foveate_kv_cache_usage;
#define FOVEATE_KV_CACHE_USAGE_INIT \
  { sizeof(foveate_kv_cache_usage), 0, 0, 0, 0, 0 }

/* Fills `usage` as far as its size reaches: set that before, by FOVEATE_KV_CACHE_USAGE_INIT. Neither may be NULL. */
FOVEATE_C_API foveate_status foveate_kv_cache_get_usage(const foveate_kv_cache* cache, foveate_kv_cache_usage* usage,
                                                        char* message, size_t message_size);

/* Memory in which sequences are laid out for a call, to be used again. */
typedef struct foveate_kv_batch foveate_kv_batch;

/* Makes an empty batch, which the caller ends with foveate_kv_batch_end(). It belongs to no cache. Where it fails,
 * *batch is NULL. */
FOVEATE_C_API foveate_status foveate_kv_batch_create(foveate_kv_batch** batch, char* message, size_t message_size);

/* Frees a batch, and with it what views of it point to. NULL is left alone. */
FOVEATE_C_API void foveate_kv_batch_end(foveate_kv_batch* batch);

/* Takes memory for so many sequences of so many pages each, so that calls with no more allocate nothing. Views of the batch are no
 * longer good. */
FOVEATE_C_API foveate_status foveate_kv_batch_reserve(foveate_kv_batch* batch, int64_t sequences, int64_t pages,
                                                      char* message, size_t message_size);

/* foveate_attention() over these sequences, n_sequences of them, in the order named; one may be named twice. q [b, h_q, n_q, d_k]
 * has a row of the batch for each, or is packed by q_starts. The options may not have k_scales, v_scales, kv_lengths, kv_starts or
 * block_table, which come from the cache. n_kv, which mask, bias and weights are shaped by, is the longest of the lengths, rounded
 * up to whole pages if the cache has them. `batch` is memory to use again; NULL: allocated for this call. */
FOVEATE_C_API foveate_status foveate_kv_cache_attend(const foveate_kv_cache* cache, const foveate_const_tensor* q,
                                                     const int64_t* sequences, int64_t n_sequences,
                                                     const foveate_attention_outputs* outputs,
                                                     const foveate_attention_options* options,
                                                     const foveate_execution* execution, foveate_kv_batch* batch,
                                                     char* message, size_t message_size);

/* Views of these sequences for any other call: writes *k and *v, and in `options` k_scales, v_scales, block_table and kv_lengths,
 * its other fields left as they are (begin with FOVEATE_ATTENTION_OPTIONS_INIT). None may be NULL. They point into the cache and
 * the batch, and are good until the cache changes or the batch is used again. */
FOVEATE_C_API foveate_status foveate_kv_cache_view(const foveate_kv_cache* cache, const int64_t* sequences,
                                                   int64_t n_sequences, foveate_kv_batch* batch,
                                                   foveate_const_tensor* k, foveate_const_tensor* v,
                                                   foveate_attention_options* options, char* message,
                                                   size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_KV_CACHE_H_ */
