// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A cache of keys and values: those of many sequences, of one attention layer, each growing at its end as tokens come.
//
//   KvCache cache;
//   KvCache::create({.h_kv = 8, .d_k = 128, .d_v = 128, .max_pages = 4096}, &cache);
//   int64_t sequence;
//   cache.add(&sequence);
//   cache.append(sequence, k, v);                                        // k, v [1, h_kv, n, d]: a prompt, then tokens
//   cache.attend(q, {&sequence, 1}, {.o = o}, {.causal = true});         // q [b, h_q, n_q, d_k], a batch of sequences
//
// Keys lie in pages of page_size rows, [pages, h_kv, page_size, d] in all, and key j of a sequence in row j % page_size
// of its page j / page_size. A fork shares every page with its original; whoever writes to a page that others hold too
// writes to a copy of it, and only a sequence's last page is ever written to. Sequences need not lie in any order, and
// leave no gaps but the unused end of a last page.
//
// Stored as int8, a row x of each head is kept as round(x / scale), the scale being max|x| / 127: |x - stored| is at
// most (0.5 + 2^-16) scale + 2^-143. A row that is not finite in float32 becomes all NaN. Keys may have scales of
// channels instead, fixed beforehand: then numbers past 127 scales saturate, and NaN and Inf are refused. Narrower
// floats round to nearest, ties to even, once, from float64 too. Processors with integer dot products round the query
// to int8 as well when it meets such keys, unless AttentionOptions::native_products is false.
//
// Guarantees
//   Bits       attend() gives the bits that attention() gives over the same stored numbers in one plain array: pages,
//              their size and order, forks and what else the batch holds have no part in them.
//   Errors     invalid_argument, or out_of_memory where no page is free or memory ends; then nothing has changed.
//   Time       add and fork: O(1); truncate and remove: the pages left; append: the rows written, and at most one page
//              copied; view and attend: a few nanoseconds for each page of the batch before attention() begins.
//   Allocation with max_pages create() takes all memory of pages; append, truncate and remove allocate nothing; add and
//              fork only where more sequences are alive than ever before; view and attend only where the batch handed
//              in is too small, besides what attention() does. Without, pages double by copying when they run out.
//   Threads    calls of const functions may run at once, each on a KvBatch of its own; no other call beside any.
//   Aliasing   what is appended may not lie in the cache; outputs overlap neither inputs nor the cache.
//
// Pages and sharing them: Kwon et al., SOSP 2023, arXiv:2309.06180. Keys by channel, values by token: Liu et al.
// (KIVI), arXiv:2402.02750.
#ifndef FOVEATE_KV_CACHE_H_
#define FOVEATE_KV_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

/// A page size: each sequence in one run, as long as it needs.
inline constexpr int64_t kContiguous = 0;

struct KvCacheOptions {
  int64_t h_kv = 1, d_k = 1, d_v = 1;

  /// What keys and values are stored as: each float32, float16, bfloat16 or int8, or both float64.
  DType k_dtype = DType::f32;
  DType v_dtype = DType::f32;

  /// Keys to a page. With a multiple of 64 attention() reads float32 where it lies; with others it copies a block at a
  /// time. kContiguous: a sequence is one page, and when one outgrows it the pages of all are made twice as long; for
  /// one sequence, or few of like lengths.
  int64_t page_size = 64;

  /// So many pages, never more. kUnlimited: as many as it takes. Not for kContiguous: sequences in one run of memory
  /// fixed beforehand are pages as long as the longest may become.
  int64_t max_pages = kUnlimited;

  /// Scales of the channels of int8 keys, instead of one a row: float32 [1, h_kv, 1, d_k], the second that or 1,
  /// finite, not negative. Copied.
  ConstTensor k_scales = {};
};

struct KvCacheUsage {
  int64_t sequences = 0;
  int64_t pages_in_use = 0;  ///< a page shared by several sequences counts once
  int64_t pages_free = 0;    ///< that there is memory for
  size_t bytes_in_use = 0;   ///< of the pages in use, scales included
  size_t bytes_held = 0;     ///< of all pages
};

/// Some sequences of a cache as attention() takes them: views of it, and a block table and lengths in memory of the
/// batch's own, kept from one KvCache::view() to the next. Good until the cache changes or the batch is used again.
class FOVEATE_API KvBatch {
 public:
  KvBatch() = default;
  KvBatch(const KvBatch&) = delete;
  KvBatch& operator=(const KvBatch&) = delete;

  /// Memory for so many sequences of so many pages, so that views of no more allocate nothing.
  Status reserve(int64_t sequences, int64_t pages);

  const ConstTensor& k() const { return k_; }
  const ConstTensor& v() const { return v_; }

  /// The options, with k_scales, v_scales, block_table and kv_lengths filled in. n_kv, which mask, bias and weights are
  /// shaped by, is the longest of the lengths, rounded up to whole pages if the cache has them.
  AttentionOptions options(const AttentionOptions& rest = {}) const;

 private:
  friend class KvCache;

  /// Where there is too little, `growth` times what there was, if that is enough.
  Status make_room(int64_t sequences, int64_t entries, int64_t growth);

  ConstTensor k_, v_, k_scales_, v_scales_;
  std::unique_ptr<int32_t[]> table_;
  std::unique_ptr<int64_t[]> lengths_;
  int64_t sequences_ = 0, pages_ = 0;              ///< of the view
  int64_t room_sequences_ = 0, room_entries_ = 0;  ///< of the memory
};

class FOVEATE_API KvCache {
 public:
  /// Makes an empty cache, in place of whatever `cache` held.
  static Status create(const KvCacheOptions& options, KvCache* cache);

  KvCache();  ///< no cache: every call but create() is refused
  KvCache(KvCache&& other) noexcept;
  KvCache& operator=(KvCache&& other) noexcept;
  ~KvCache();

  /// A new sequence, without keys. Its number is never given again.
  Status add(int64_t* sequence);

  /// A new sequence of the same keys and values, in the same pages.
  Status fork(int64_t sequence, int64_t* copy);

  /// Puts rows behind the last: k [1, h_kv, n, d_k] and v [1, h_kv, n, d_v] of any float types, any strides.
  Status append(int64_t sequence, const ConstTensor& k, const ConstTensor& v);

  /// Keeps the first `length` keys.
  Status truncate(int64_t sequence, int64_t length);

  /// Ends a sequence. Its pages are free once nobody else has them.
  Status remove(int64_t sequence);

  /// Keys of a sequence; -1 where there is none of that number.
  int64_t length(int64_t sequence) const;

  KvCacheUsage usage() const;

  /// Views some sequences, in the order named; one may be named twice.
  Status view(std::span<const int64_t> sequences, KvBatch* batch) const;

  /// attention() over these sequences: q [b, h_q, n_q, d_k] with a row of the batch for each, or packed by q_starts.
  /// The options may not have k_scales, v_scales, kv_lengths, kv_starts or block_table, which come from the cache.
  /// `batch` is memory to use again; nullptr: allocated for this call.
  Status attend(const ConstTensor& q, std::span<const int64_t> sequences, const AttentionOutputs& outputs,
                const AttentionOptions& options = {}, const Execution& execution = {}, KvBatch* batch = nullptr) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foveate

#endif  // FOVEATE_KV_CACHE_H_
