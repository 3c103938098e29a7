// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which pages a sequence has is told from its last page backwards (page_tree.h), and so is a block table written.
#include "foveate/kv_cache.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <limits>
#include <utility>

#include "check.h"
#include "fp_mode.h"
#include "grow.h"
#include "kernels/tile.h"
#include "kv_rows.h"
#include "overlap.h"
#include "page_tree.h"
#include "sequence_table.h"

namespace foveate {
namespace {

/// Pages are counted in 32 bits, as block tables are.
constexpr int64_t kMostPages = std::numeric_limits<int32_t>::max();

/// The fewest keys that a sequence in one run has room for.
constexpr int64_t kShortestRun = 64;

Status unknown(const char* argument, int64_t number) {
  return Status::error(kInvalid, "%s: %" PRId64 " is not in the cache; it was removed, or add() never gave it",
                       argument, number);
}

Status not_created() { return Status::error(kInvalid, "cache: not created yet; call KvCache::create() first"); }

Status is_null(const char* argument) { return Status::error(kInvalid, "%s: the pointer is null", argument); }

/// A type that rows can be stored in.
Status check_stored(const char* name, DType dtype) {
  if (dtype == DType::i8 && kernels::kNarrowTypes) return {};
  return check_float(name, dtype);
}

Status check_channel_scales(const KvCacheOptions& o) {
  if (!o.k_scales.present()) return {};
  if (o.k_dtype != DType::i8) {
    return Status::error(kInvalid, "k_scales: given, but k_dtype is %s; scales go with int8 alone", name_of(o.k_dtype));
  }
  if (o.k_scales.dtype != DType::f32)
    return Status::error(kInvalid, "k_scales: dtype %s; expected float32", name_of(o.k_scales.dtype));
  FOVEATE_RETURN_IF_ERROR(check_broadcast("k_scales", o.k_scales, "[1, h_kv, 1, d_k]", {1, o.h_kv, 1, o.d_k}));
  if (o.k_scales.shape[3] != o.d_k) {
    return Status::error(kInvalid, "k_scales: %" PRId64 " channels; expected d_k = %" PRId64, o.k_scales.shape[3],
                         o.d_k);
  }
  for (int64_t h = 0; h < o.k_scales.shape[1]; ++h) {
    for (int64_t i = 0; i < o.d_k; ++i) {
      const float scale = static_cast<const float*>(
          o.k_scales.data)[(h == 0 ? 0 : h * o.k_scales.stride[1]) + (i == 0 ? 0 : i * o.k_scales.stride[3])];
      if (scale >= 0 && std::isfinite(scale)) continue;
      return Status::error(
          kInvalid, "k_scales: head %" PRId64 ", channel %" PRId64 " is %g; expected a finite number, not negative", h,
          i, static_cast<double>(scale));
    }
  }
  return {};
}

Status check_at_least(const char* name, int64_t got, int64_t least) {
  if (got >= least) return {};
  return Status::error(kInvalid, "%s: %" PRId64 "; expected at least %" PRId64, name, got, least);
}

Status check_options(const KvCacheOptions& o) {
  FOVEATE_RETURN_IF_ERROR(check_at_least("h_kv", o.h_kv, 1));
  FOVEATE_RETURN_IF_ERROR(check_at_least("d_k", o.d_k, 1));
  FOVEATE_RETURN_IF_ERROR(check_at_least("d_v", o.d_v, 0));
  FOVEATE_RETURN_IF_ERROR(check_head_dim("d_k", o.d_k));
  FOVEATE_RETURN_IF_ERROR(check_head_dim("d_v", o.d_v));
  FOVEATE_RETURN_IF_ERROR(check_stored("k_dtype", o.k_dtype));
  FOVEATE_RETURN_IF_ERROR(check_stored("v_dtype", o.v_dtype));
  if ((o.k_dtype == DType::f64) != (o.v_dtype == DType::f64)) {
    return Status::error(kInvalid, "v_dtype: %s beside k_dtype's %s; float64 goes with itself alone",
                         name_of(o.v_dtype), name_of(o.k_dtype));
  }
  if (o.page_size < 0) {
    return Status::error(kInvalid, "page_size: %" PRId64 "; expected keys to a page, or 0 (kContiguous)", o.page_size);
  }
  if (o.max_pages < kUnlimited || o.max_pages > kMostPages) {
    return Status::error(kInvalid, "max_pages: %" PRId64 "; expected 0 to %" PRId64 ", or -1 for no bound", o.max_pages,
                         kMostPages);
  }
  if (o.page_size == kContiguous && o.max_pages != kUnlimited) {
    return Status::error(kInvalid,
                         "max_pages: given, but page_size is kContiguous; for fixed memory set page_size to the "
                         "longest length a sequence may reach");
  }
  FOVEATE_RETURN_IF_ERROR(check_extents(
      o.max_pages > 0 ? "max_pages" : "page_size",
      {std::max<int64_t>(o.max_pages, 1), o.h_kv, std::max<int64_t>(o.page_size, 1), std::max(o.d_k, o.d_v)}));
  return check_channel_scales(o);
}

/// Options that the cache fills in itself.
Status check_collisions(const AttentionOptions& o) {
  const struct {
    const char* name;
    bool given;
  } own[] = {{"k_scales", o.k_scales.present()},
             {"v_scales", o.v_scales.present()},
             {"kv_lengths", o.kv_lengths.present()},
             {"kv_starts", o.kv_starts.present()},
             {"block_table", o.block_table.present()}};
  for (const auto& option : own) {
    if (option.given)
      return Status::error(kInvalid, "%s: given, but it comes from the cache; leave it out", option.name);
  }
  return {};
}

}  // namespace

class KvCache::Impl {
 public:
  explicit Impl(const KvCacheOptions& o)
      : o_(o), k_(o.k_dtype, o.h_kv, o.d_k), v_(o.v_dtype, o.h_kv, o.d_v), page_size_(o.page_size) {}

  Status create() {
    if (o_.k_scales.present() && !k_.set_channel_scales(o_.k_scales))
      return Status::error(StatusCode::out_of_memory, "k_scales: no memory for a copy");
    o_.k_scales = {};
    return o_.max_pages > 0 ? resize(o_.max_pages, o_.page_size) : Status();
  }

  Status add(int64_t* number) { return add({0, PageTree::kNone}, number); }

  Status fork(int64_t number, int64_t* copy) {
    const Sequence* const original = sequences_.find(number);
    if (original == nullptr) return unknown("sequence", number);
    const Sequence same = *original;  // the table may move
    FOVEATE_RETURN_IF_ERROR(add(same, copy));
    pages_.hold(same.last_page);
    return {};
  }

  Status append(int64_t number, const ConstTensor& k, const ConstTensor& v) {
    Sequence* const sequence = sequences_.find(number);
    if (sequence == nullptr) return unknown("sequence", number);
    FOVEATE_RETURN_IF_ERROR(check_rows(k, v));
    const FpMode mode;  // numbers are rounded alike under any mode of the host
    if (!k_.can_hold(k)) {
      return Status::error(
          kInvalid,
          "k: NaN or Inf among its numbers, which scales of channels cannot tell; mend them, or create "
          "the cache without k_scales");
    }
    FOVEATE_RETURN_IF_ERROR(make_room(*sequence, k.shape[2]));
    write(sequence, k, v);
    return {};
  }

  Status truncate(int64_t number, int64_t length) {
    Sequence* const sequence = sequences_.find(number);
    if (sequence == nullptr) return unknown("sequence", number);
    if (length < 0 || length > sequence->length) {
      return Status::error(kInvalid, "length: %" PRId64 "; expected 0 to the sequence's %" PRId64, length,
                           sequence->length);
    }
    int32_t last = sequence->last_page;
    for (int64_t i = pages_of(sequence->length); i > pages_of(length); --i) last = pages_.previous(last);
    pages_.hold(last);
    pages_.release(sequence->last_page);
    *sequence = {length, last};
    return {};
  }

  Status remove(int64_t number) {
    const Sequence* const sequence = sequences_.find(number);
    if (sequence == nullptr) return unknown("sequence", number);
    pages_.release(sequence->last_page);
    sequences_.remove(number);
    return {};
  }

  int64_t length(int64_t number) const {
    const Sequence* const sequence = sequences_.find(number);
    return sequence == nullptr ? -1 : sequence->length;
  }

  KvCacheUsage usage() const {
    const size_t page_bytes = static_cast<size_t>(page_size_) * (k_.bytes_per_key() + v_.bytes_per_key());
    return {sequences_.alive(), pages_.in_use(), pages_.free(), static_cast<size_t>(pages_.in_use()) * page_bytes,
            static_cast<size_t>(pages_.size()) * page_bytes};
  }

  Status view(std::span<const int64_t> numbers, KvBatch* batch) const {
    const auto n = static_cast<int64_t>(numbers.size());
    int64_t longest = 0;
    for (const int64_t number : numbers) {
      const Sequence* const sequence = sequences_.find(number);
      if (sequence == nullptr) return unknown("sequences", number);
      longest = std::max(longest, sequence->length);
    }
    const int64_t columns = pages_of(longest);
    FOVEATE_RETURN_IF_ERROR(batch->make_room(n, n * columns, 2));
    for (int64_t b = 0; b < n; ++b) {
      const Sequence& sequence = *sequences_.find(numbers[static_cast<size_t>(b)]);
      batch->lengths_[static_cast<size_t>(b)] = sequence.length;
      int32_t* const row = batch->table_.get() + b * columns;
      const int64_t used = pages_of(sequence.length);
      int32_t page = sequence.last_page;
      for (int64_t i = used - 1; i >= 0; --i, page = pages_.previous(page)) row[i] = page;
      std::fill(row + used, row + columns, 0);
    }
    // Sequences in one run end where the longest does, so that whoever gives a mask need not know how long runs are.
    const int64_t rows = o_.page_size == kContiguous ? longest : page_size_;
    batch->k_ = k_.view(rows);
    batch->v_ = v_.view(rows);
    batch->k_scales_ = k_.view_scales(rows);
    batch->v_scales_ = v_.view_scales(rows);
    batch->sequences_ = n;
    batch->pages_ = columns;
    return {};
  }

 private:
  static int64_t pages_of(int64_t length, int64_t page_size) { return length == 0 ? 0 : (length - 1) / page_size + 1; }
  int64_t pages_of(int64_t length) const { return pages_of(length, page_size_); }

  /// Whether the next row goes to a page that others hold too.
  bool writes_shared(const Sequence& s, int64_t page_size) const {
    return s.length % page_size != 0 && pages_.shared(s.last_page);
  }

  Status add(const Sequence& sequence, int64_t* number) {
    if (sequences_.add(sequence, number)) return {};
    return Status::error(StatusCode::out_of_memory, "sequence: no memory for one more beside %" PRId64,
                         sequences_.alive());
  }

  Status check_rows(const ConstTensor& k, const ConstTensor& v) const {
    FOVEATE_RETURN_IF_ERROR(check_float("k", k.dtype));
    FOVEATE_RETURN_IF_ERROR(check_float("v", v.dtype));
    FOVEATE_RETURN_IF_ERROR(check_like("k", k, {1, o_.h_kv, k.shape[2], o_.d_k}, "k", k.dtype));
    FOVEATE_RETURN_IF_ERROR(check_like("v", v, {1, o_.h_kv, k.shape[2], o_.d_v}, "v", v.dtype));
    const ConstTensor own[] = {k_.view(page_size_), v_.view(page_size_)};
    for (const ConstTensor& rows : own) {
      const bool of_k = overlap(k, rows);
      if (!of_k && !overlap(v, rows)) continue;
      return Status::error(kInvalid, "%s: lies in the cache's own memory; append a copy", of_k ? "k" : "v");
    }
    return {};
  }

  /// Sees to it that there are pages for n more rows, which in one run means long enough ones.
  Status make_room(const Sequence& s, int64_t n) {
    if (n == 0) return {};
    if (n > kLargest - s.length) return Status::error(kInvalid, "k: %" PRId64 " keys are too many", n);
    const int64_t length = s.length + n;
    int64_t page_size = page_size_;
    if (o_.page_size == kContiguous && length > page_size) page_size = std::max({length, 2 * page_size, kShortestRun});
    const int64_t wanted =
        pages_of(length, page_size) - pages_of(s.length, page_size) + (writes_shared(s, page_size) ? 1 : 0);
    int64_t pages = pages_.size();
    if (wanted > pages_.free()) {
      if (o_.max_pages != kUnlimited) {
        return Status::error(StatusCode::out_of_memory,
                             "pages: %" PRId64 " wanted, %" PRId64 " of max_pages = %" PRId64
                             " free; remove or truncate sequences, or create the cache with more",
                             wanted, pages_.free(), o_.max_pages);
      }
      pages = std::max(pages_.in_use() + wanted, std::min(2 * pages, kMostPages));
    }
    return pages == pages_.size() && page_size == page_size_ ? Status() : resize(pages, page_size);
  }

  Status resize(int64_t pages, int64_t page_size) {
    const int64_t widest = o_.h_kv * std::max(o_.d_k, o_.d_v);
    const bool fits = pages <= kMostPages && page_size <= kLargest / pages / widest;
    // Rows before the pages that they are of: rows that nobody uses do no harm.
    if (fits && k_.resize(pages, page_size) && v_.resize(pages, page_size) && pages_.resize(pages)) {
      page_size_ = page_size;
      return {};
    }
    const bool bounded = o_.max_pages != kUnlimited;
    return Status::error(StatusCode::out_of_memory,
                         "%s: no memory for %" PRId64 " of %" PRId64 " keys, %zu bytes a key; %s",
                         bounded ? "max_pages" : "pages", pages, page_size, k_.bytes_per_key() + v_.bytes_per_key(),
                         bounded ? "ask for fewer, or a narrower type" : "remove sequences, or store a narrower type");
  }

  /// Appends rows that there is room for.
  void write(Sequence* s, const ConstTensor& k, const ConstTensor& v) {
    const int64_t n = k.shape[2];
    if (n > 0 && writes_shared(*s, page_size_)) own_last_page(s);
    for (int64_t done = 0; done < n;) {
      const int64_t row = s->length % page_size_, rows = std::min(n - done, page_size_ - row);
      if (row == 0) s->last_page = pages_.take(s->last_page);
      k_.write(s->last_page, row, k, done, rows);
      v_.write(s->last_page, row, v, done, rows);
      s->length += rows;
      done += rows;
    }
  }

  /// Copy on write.
  void own_last_page(Sequence* s) {
    const int32_t shared = s->last_page;
    pages_.hold(pages_.previous(shared));
    s->last_page = pages_.take(pages_.previous(shared));
    k_.copy_page(shared, s->last_page, s->length % page_size_);
    v_.copy_page(shared, s->last_page, s->length % page_size_);
    pages_.release(shared);
  }

  KvCacheOptions o_;
  KvRows k_, v_;
  PageTree pages_;
  SequenceTable sequences_;
  int64_t page_size_;  ///< in one run: as many keys as the longest sequence has room for
};

Status KvBatch::reserve(int64_t sequences, int64_t pages) {
  FOVEATE_RETURN_IF_ERROR(check_at_least("sequences", sequences, 0));
  FOVEATE_RETURN_IF_ERROR(check_at_least("pages", pages, 0));
  FOVEATE_RETURN_IF_ERROR(check_extents("pages", {sequences, pages, 1, 1}));
  return make_room(sequences, sequences * pages, 1);
}

Status KvBatch::make_room(int64_t sequences, int64_t entries, int64_t growth) {
  std::unique_ptr<int64_t[]> lengths;
  const int64_t room = sequences <= room_sequences_ ? room_sequences_ : std::max(sequences, growth * room_sequences_);
  if (room > room_sequences_ && !grow(lengths, 0, room))
    return Status::error(StatusCode::out_of_memory, "batch: no memory for %" PRId64 " sequences", room);
  if (entries > room_entries_) {
    entries = std::max(entries, growth * room_entries_);
    if (!grow(table_, 0, entries)) {
      return Status::error(StatusCode::out_of_memory, "batch: no memory for a block table of %" PRId64 " entries",
                           entries);
    }
    room_entries_ = entries;
  }
  if (lengths != nullptr) lengths_ = std::move(lengths);
  room_sequences_ = room;
  sequences_ = pages_ = 0;
  return {};
}

AttentionOptions KvBatch::options(const AttentionOptions& rest) const {
  AttentionOptions all = rest;
  all.k_scales = k_scales_;
  all.v_scales = v_scales_;
  all.kv_lengths = foveate::view<const int64_t>(lengths_.get(), sequences_);
  all.block_table = foveate::view<const int32_t>(table_.get(), sequences_, pages_);
  return all;
}

KvCache::KvCache() = default;
KvCache::KvCache(KvCache&& other) noexcept = default;
KvCache& KvCache::operator=(KvCache&& other) noexcept = default;
KvCache::~KvCache() = default;

Status KvCache::create(const KvCacheOptions& options, KvCache* cache) {
  if (cache == nullptr) return is_null("cache");
  const FpMode mode;  // scales are compared in a mode without traps
  FOVEATE_RETURN_IF_ERROR(check_options(options));
  std::unique_ptr<Impl> impl(new (std::nothrow) Impl(options));
  if (impl == nullptr) return Status::error(StatusCode::out_of_memory, "cache: no memory");
  FOVEATE_RETURN_IF_ERROR(impl->create());
  cache->impl_ = std::move(impl);
  return {};
}

Status KvCache::add(int64_t* sequence) {
  if (impl_ == nullptr) return not_created();
  return sequence == nullptr ? is_null("sequence") : impl_->add(sequence);
}

Status KvCache::fork(int64_t sequence, int64_t* copy) {
  if (impl_ == nullptr) return not_created();
  return copy == nullptr ? is_null("copy") : impl_->fork(sequence, copy);
}

Status KvCache::append(int64_t sequence, const ConstTensor& k, const ConstTensor& v) {
  return impl_ == nullptr ? not_created() : impl_->append(sequence, k, v);
}

Status KvCache::truncate(int64_t sequence, int64_t length) {
  return impl_ == nullptr ? not_created() : impl_->truncate(sequence, length);
}

Status KvCache::remove(int64_t sequence) { return impl_ == nullptr ? not_created() : impl_->remove(sequence); }

int64_t KvCache::length(int64_t sequence) const { return impl_ == nullptr ? -1 : impl_->length(sequence); }

KvCacheUsage KvCache::usage() const { return impl_ == nullptr ? KvCacheUsage() : impl_->usage(); }

Status KvCache::view(std::span<const int64_t> sequences, KvBatch* batch) const {
  if (impl_ == nullptr) return not_created();
  return batch == nullptr ? is_null("batch") : impl_->view(sequences, batch);
}

Status KvCache::attend(const ConstTensor& q, std::span<const int64_t> sequences, const AttentionOutputs& outputs,
                       const AttentionOptions& options, const Execution& execution, KvBatch* batch) const {
  FOVEATE_RETURN_IF_ERROR(check_collisions(options));
  const auto n = static_cast<int64_t>(sequences.size());
  const int64_t b = options.q_starts.present() ? options.q_starts.size - 1 : q.shape[0];
  if (n != b && b >= 0 && q.present()) {
    return Status::error(kInvalid, "sequences: %" PRId64 " entries; expected one for each of q's %" PRId64, n, b);
  }
  KvBatch own;
  if (batch == nullptr) batch = &own;
  FOVEATE_RETURN_IF_ERROR(view(sequences, batch));
  return attention(q, batch->k(), batch->v(), outputs, batch->options(options), execution);
}

}  // namespace foveate
