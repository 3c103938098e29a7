// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/c/kv_cache.h"

#include <memory>
#include <new>
#include <span>

#include "c/convert.h"
#include "c/sized.h"
#include "foveate/kv_cache.h"

struct foveate_kv_cache {
  foveate::KvCache cache;
};
struct foveate_kv_batch {
  foveate::KvBatch batch;
};

namespace foveate::c {
namespace {

Status no_memory(const char* name) {
  return Status::error(StatusCode::out_of_memory, "%s: %s", name, "memory could not be allocated");
}

Status create(const foveate_kv_cache_options* options, foveate_kv_cache** cache) {
  if (cache == nullptr) return missing("cache");
  *cache = nullptr;
  foveate_kv_cache_options in = FOVEATE_KV_CACHE_OPTIONS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("options", options, &in));
  std::unique_ptr<foveate_kv_cache> made(new (std::nothrow) foveate_kv_cache);
  if (made == nullptr) return no_memory("cache");
  FOVEATE_C_RETURN_IF_ERROR(KvCache::create({.h_kv = in.h_kv,
                                             .d_k = in.d_k,
                                             .d_v = in.d_v,
                                             .k_dtype = dtype_of(in.k_dtype),
                                             .v_dtype = dtype_of(in.v_dtype),
                                             .page_size = in.page_size,
                                             .max_pages = in.max_pages,
                                             .k_scales = tensor_of(&in.k_scales)},
                                            &made->cache));
  *cache = made.release();
  return {};
}

Status usage_of(const foveate_kv_cache* cache, foveate_kv_cache_usage* usage) {
  if (cache == nullptr) return missing("cache");
  const KvCacheUsage u = cache->cache.usage();
  return answer("usage",
                foveate_kv_cache_usage{.size = 0,
                                       .sequences = u.sequences,
                                       .pages_in_use = u.pages_in_use,
                                       .pages_free = u.pages_free,
                                       .bytes_in_use = u.bytes_in_use,
                                       .bytes_held = u.bytes_held},
                usage);
}

Status sequences_of(const int64_t* sequences, int64_t n, std::span<const int64_t>* to) {
  if (n < 0) {
    return Status::error(StatusCode::invalid_argument, "n_sequences: %lld; expected 0 or more",
                         static_cast<long long>(n));
  }
  if (sequences == nullptr && n > 0) return missing("sequences");
  *to = {sequences, static_cast<size_t>(n)};
  return {};
}

Status attend(const foveate_kv_cache* cache, const foveate_const_tensor* q, const int64_t* sequences, int64_t n,
              const foveate_attention_outputs* outputs, const foveate_attention_options* options,
              const foveate_execution* execution, foveate_kv_batch* batch) {
  if (cache == nullptr) return missing("cache");
  std::span<const int64_t> named;
  AttentionOutputs out;
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(sequences_of(sequences, n, &named));
  FOVEATE_C_RETURN_IF_ERROR(convert(outputs, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return cache->cache.attend(tensor_of(q), named, out, in, running.execution(),
                             batch != nullptr ? &batch->batch : nullptr);
}

Status view(const foveate_kv_cache* cache, const int64_t* sequences, int64_t n, foveate_kv_batch* batch,
            foveate_const_tensor* k, foveate_const_tensor* v, foveate_attention_options* options) {
  if (cache == nullptr) return missing("cache");
  if (batch == nullptr) return missing("batch");
  if (k == nullptr) return missing("k");
  if (v == nullptr) return missing("v");
  std::span<const int64_t> named;
  foveate_attention_options rest = FOVEATE_ATTENTION_OPTIONS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(sequences_of(sequences, n, &named));
  if (options == nullptr) return missing("options");
  FOVEATE_C_RETURN_IF_ERROR(read("options", options, &rest));
  FOVEATE_C_RETURN_IF_ERROR(cache->cache.view(named, &batch->batch));
  const AttentionOptions viewed = batch->batch.options();
  *k = view_of(batch->batch.k());
  *v = view_of(batch->batch.v());
  rest.k_scales = view_of(viewed.k_scales);
  rest.v_scales = view_of(viewed.v_scales);
  rest.block_table = view_of(viewed.block_table);
  rest.kv_lengths = view_of(viewed.kv_lengths);
  fill(rest, options, rest.size);
  return {};
}

}  // namespace
}  // namespace foveate::c

using namespace foveate::c;  // what follows is C

void foveate_kv_cache_options_init(foveate_kv_cache_options* options, size_t size) {
  fill(foveate_kv_cache_options FOVEATE_KV_CACHE_OPTIONS_INIT, options, size);
}

foveate_status foveate_kv_cache_create(const foveate_kv_cache_options* options, foveate_kv_cache** cache, char* message,
                                       size_t message_size) {
  return report(create(options, cache), message, message_size);
}

void foveate_kv_cache_end(foveate_kv_cache* cache) { delete cache; }

foveate_status foveate_kv_cache_add(foveate_kv_cache* cache, int64_t* sequence, char* message, size_t message_size) {
  return report(cache == nullptr      ? missing("cache")
                : sequence == nullptr ? missing("sequence")
                                      : cache->cache.add(sequence),
                message, message_size);
}

foveate_status foveate_kv_cache_fork(foveate_kv_cache* cache, int64_t sequence, int64_t* copy, char* message,
                                     size_t message_size) {
  return report(cache == nullptr  ? missing("cache")
                : copy == nullptr ? missing("copy")
                                  : cache->cache.fork(sequence, copy),
                message, message_size);
}

foveate_status foveate_kv_cache_append(foveate_kv_cache* cache, int64_t sequence, const foveate_const_tensor* k,
                                       const foveate_const_tensor* v, char* message, size_t message_size) {
  return report(cache == nullptr ? missing("cache") : cache->cache.append(sequence, tensor_of(k), tensor_of(v)),
                message, message_size);
}

foveate_status foveate_kv_cache_truncate(foveate_kv_cache* cache, int64_t sequence, int64_t length, char* message,
                                         size_t message_size) {
  return report(cache == nullptr ? missing("cache") : cache->cache.truncate(sequence, length), message, message_size);
}

foveate_status foveate_kv_cache_remove(foveate_kv_cache* cache, int64_t sequence, char* message, size_t message_size) {
  return report(cache == nullptr ? missing("cache") : cache->cache.remove(sequence), message, message_size);
}

int64_t foveate_kv_cache_length(const foveate_kv_cache* cache, int64_t sequence) {
  return cache == nullptr ? -1 : cache->cache.length(sequence);
}

foveate_status foveate_kv_cache_get_usage(const foveate_kv_cache* cache, foveate_kv_cache_usage* usage, char* message,
                                          size_t message_size) {
  return report(usage_of(cache, usage), message, message_size);
}

foveate_status foveate_kv_batch_create(foveate_kv_batch** batch, char* message, size_t message_size) {
  if (batch == nullptr) return report(missing("batch"), message, message_size);
  *batch = new (std::nothrow) foveate_kv_batch;
  if (*batch == nullptr) return report(no_memory("batch"), message, message_size);
  return report({}, message, message_size);
}

void foveate_kv_batch_end(foveate_kv_batch* batch) { delete batch; }

foveate_status foveate_kv_batch_reserve(foveate_kv_batch* batch, int64_t sequences, int64_t pages, char* message,
                                        size_t message_size) {
  return report(batch == nullptr ? missing("batch") : batch->batch.reserve(sequences, pages), message, message_size);
}

foveate_status foveate_kv_cache_attend(const foveate_kv_cache* cache, const foveate_const_tensor* q,
                                       const int64_t* sequences, int64_t n_sequences,
                                       const foveate_attention_outputs* outputs,
                                       const foveate_attention_options* options, const foveate_execution* execution,
                                       foveate_kv_batch* batch, char* message, size_t message_size) {
  return report(attend(cache, q, sequences, n_sequences, outputs, options, execution, batch), message, message_size);
}

foveate_status foveate_kv_cache_view(const foveate_kv_cache* cache, const int64_t* sequences, int64_t n_sequences,
                                     foveate_kv_batch* batch, foveate_const_tensor* k, foveate_const_tensor* v,
                                     foveate_attention_options* options, char* message, size_t message_size) {
  return report(view(cache, sequences, n_sequences, batch, k, v, options), message, message_size);
}
