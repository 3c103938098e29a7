/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * A cache of keys and values of many sequences: kv_cache.h. Functions whose cache or batch is not const are for one thread at a
 * time. A cache or batch that is NULL is refused, and ended without effect.
 */
#ifndef FOVEATE_C_KV_CACHE_H_
#define FOVEATE_C_KV_CACHE_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foveate_kv_cache foveate_kv_cache;

typedef struct foveate_kv_cache_options {
  size_t size;
  int64_t h_kv, d_k, d_v;
  int32_t k_dtype, v_dtype;
  int64_t page_size; /* 0: each sequence in one run */
  int64_t max_pages;
  foveate_const_tensor k_scales;
} foveate_kv_cache_options;
#define FOVEATE_KV_CACHE_OPTIONS_INIT \
  { sizeof(foveate_kv_cache_options), 1, 1, 1, FOVEATE_F32, FOVEATE_F32, 64, FOVEATE_UNLIMITED, FOVEATE_NO_TENSOR }

FOVEATE_C_API void foveate_kv_cache_options_init(foveate_kv_cache_options* options, size_t size);

/* Makes a cache, to be ended with foveate_kv_cache_end. */
FOVEATE_C_API foveate_status foveate_kv_cache_create(const foveate_kv_cache_options* options, foveate_kv_cache** cache,
                                                     char* message, size_t message_size);
FOVEATE_C_API void foveate_kv_cache_end(foveate_kv_cache* cache);

FOVEATE_C_API foveate_status foveate_kv_cache_add(foveate_kv_cache* cache, int64_t* sequence, char* message,
                                                  size_t message_size);
FOVEATE_C_API foveate_status foveate_kv_cache_fork(foveate_kv_cache* cache, int64_t sequence, int64_t* copy,
                                                   char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_kv_cache_append(foveate_kv_cache* cache, int64_t sequence,
                                                     const foveate_const_tensor* k, const foveate_const_tensor* v,
                                                     char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_kv_cache_truncate(foveate_kv_cache* cache, int64_t sequence, int64_t length,
                                                       char* message, size_t message_size);
FOVEATE_C_API foveate_status foveate_kv_cache_remove(foveate_kv_cache* cache, int64_t sequence, char* message,
                                                     size_t message_size);

/* Keys of a sequence; -1 where there is none of that number. */
FOVEATE_C_API int64_t foveate_kv_cache_length(const foveate_kv_cache* cache, int64_t sequence);

typedef struct foveate_kv_cache_usage {
  size_t size;
  int64_t sequences, pages_in_use, pages_free;
  size_t bytes_in_use, bytes_held;
} foveate_kv_cache_usage;
#define FOVEATE_KV_CACHE_USAGE_INIT \
  { sizeof(foveate_kv_cache_usage), 0, 0, 0, 0, 0 }

FOVEATE_C_API foveate_status foveate_kv_cache_get_usage(const foveate_kv_cache* cache, foveate_kv_cache_usage* usage,
                                                        char* message, size_t message_size);

/* Memory in which sequences are laid out for a call, to be used again. */
typedef struct foveate_kv_batch foveate_kv_batch;

FOVEATE_C_API foveate_status foveate_kv_batch_create(foveate_kv_batch** batch, char* message, size_t message_size);
FOVEATE_C_API void foveate_kv_batch_end(foveate_kv_batch* batch);
FOVEATE_C_API foveate_status foveate_kv_batch_reserve(foveate_kv_batch* batch, int64_t sequences, int64_t pages,
                                                      char* message, size_t message_size);

/* Attention over these sequences. batch NULL: allocated for this call. */
FOVEATE_C_API foveate_status foveate_kv_cache_attend(const foveate_kv_cache* cache, const foveate_const_tensor* q,
                                                     const int64_t* sequences, int64_t n_sequences,
                                                     const foveate_attention_outputs* outputs,
                                                     const foveate_attention_options* options,
                                                     const foveate_execution* execution, foveate_kv_batch* batch,
                                                     char* message, size_t message_size);

/* Views of these sequences for any other call: k and v, and in `options` the scales, block table and lengths, its other fields
 * left as they are. Good until the cache changes or the batch is used again. */
FOVEATE_C_API foveate_status foveate_kv_cache_view(const foveate_kv_cache* cache, const int64_t* sequences,
                                                   int64_t n_sequences, foveate_kv_batch* batch,
                                                   foveate_const_tensor* k, foveate_const_tensor* v,
                                                   foveate_attention_options* options, char* message,
                                                   size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_KV_CACHE_H_ */
