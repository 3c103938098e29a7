// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/row_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "cli/errors.h"
#include "foveate/float16.h"
#include "foveate/kv_cache.h"

namespace foveate::cli {
namespace {

using Size = WaySizes;
using Feed = Way::Feed;
using Keys = Way::Keys;
using Company = Way::Company;

constexpr int kOwn = 1;  // the place of our sequence in a batch
constexpr int64_t kLengths[] = {9, Size::n, Size::n + 137};

// --- Arrays ---

/// Memory and a view of it. What nobody writes is NaN, so that whoever reads it shows.
struct Array {
  std::vector<std::byte> bytes;
  Tensor view;
};

/// Of these extents, in memory in the order that `keys` names; bhnd for all but the plain ones.
Array make_array(DType dtype, int64_t b, int64_t h, int64_t n, int64_t d, Keys order = Keys::bhnd) {
  Array a = {std::vector<std::byte>(static_cast<size_t>(b * h * n * d * size_of(dtype)), std::byte{0xff}), {}};
  a.view = {a.bytes.data(), dtype, {b, h, n, d}, {h * n * d, n * d, d, 1}};
  if (order == Keys::bnhd) a.view = {a.bytes.data(), dtype, {b, h, n, d}, {n * h * d, d, h * d, 1}};
  if (order == Keys::bhdn) a.view = {a.bytes.data(), dtype, {b, h, n, d}, {h * n * d, n * d, 1, n}};
  return a;
}

/// `count` of a view's entries along an axis.
template <class View>
View slice(View view, int axis, int64_t first, int64_t count) {
  using Byte =
      std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>, const std::byte, std::byte>;
  view.data = static_cast<Byte*>(view.data) + first * view.stride[axis] * size_of(view.dtype);
  view.shape[axis] = count;
  return view;
}

/// Rows of one sequence in a batch.
template <class View>
View rows_of(const View& view, int64_t batch, int64_t first, int64_t count) {
  return slice(slice(view, 0, batch, 1), 2, first, count);
}

/// Copies elements between views of one shape and dtype.
void copy(const ConstTensor& from, const Tensor& to) {
  const auto size = static_cast<size_t>(size_of(from.dtype));
  const auto at = [&](const auto& t, int64_t b, int64_t h, int64_t n, int64_t d) {
    return (b * t.stride[0] + h * t.stride[1] + n * t.stride[2] + d * t.stride[3]) * size_of(t.dtype);
  };
  for (int64_t b = 0; b < from.shape[0]; ++b)
    for (int64_t h = 0; h < from.shape[1]; ++h)
      for (int64_t n = 0; n < from.shape[2]; ++n)
        for (int64_t d = 0; d < from.shape[3]; ++d) {
          std::memcpy(static_cast<std::byte*>(to.data) + at(to, b, h, n, d),
                      static_cast<const std::byte*>(from.data) + at(from, b, h, n, d), size);
        }
}

void store(double x, DType dtype, std::byte* to) {
  const auto put = [to](const auto& element) { std::memcpy(to, &element, sizeof(element)); };
  if (dtype == DType::f64) put(x);
  if (dtype == DType::f32) put(static_cast<float>(x));
  if (dtype == DType::f16) put(Float16(x));
  if (dtype == DType::bf16) put(BFloat16(x));
}

/// Numbers of [-2, 2), the same everywhere: no distribution of the standard library is.
double draw(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-51 - 2; }

Array random_array(DType dtype, int64_t h, int64_t n, int64_t d, std::mt19937_64& random) {
  Array a = make_array(dtype, 1, h, n, d);
  for (int64_t at = 0; at < h * n * d; ++at) store(draw(random), dtype, a.bytes.data() + at * size_of(dtype));
  return a;
}

/// Keys, values and the scales of int8 ones; scales are absent where there are none.
constexpr int kParts = 4;
using KeyArrays = std::array<Array, kParts>;
using KeyViews = std::array<ConstTensor, kParts>;

KeyArrays make_key_arrays(DType dtype, int64_t b, int64_t n, Keys order) {
  KeyArrays arrays;
  const int64_t depths[kParts] = {Size::d_k, Size::d_v, 1, 1};
  for (int part = 0; part < (dtype == DType::i8 ? kParts : 2); ++part) {
    arrays[part] = make_array(part < 2 ? dtype : DType::f32, b, Size::h_kv, n, depths[part], order);
  }
  return arrays;
}

Status attend_over(const ConstTensor& q, const KeyViews& keys, const AttentionOutputs& outputs,
                   AttentionOptions options, const Execution& execution) {
  options.k_scales = keys[2];
  options.v_scales = keys[3];
  return attention(q, keys[0], keys[1], outputs, options, execution);
}

}  // namespace

// --- Sequences and where their keys lie ---

struct RowWays::Sequence {
  int64_t length;
  Array q;
  Array k, v;        ///< as they come, in the type that attention computes in
  KeyArrays stored;  ///< as the type keeps them
};

/// The keys of one sequence, or of three. Ours grows; the others are all there from the start.
class RowWays::KeyStore {
 public:
  virtual ~KeyStore() = default;
  virtual void grow_to(int64_t length) = 0;
  virtual Status attend(const ConstTensor& q, const AttentionOutputs& outputs, const AttentionOptions& options,
                        const Execution& execution) = 0;
};

/// In one array: padded, or one sequence behind the other.
class RowWays::PlainKeys final : public KeyStore {
 public:
  PlainKeys(std::span<const std::unique_ptr<Sequence>> sequences, int own, DType dtype, const Way& way)
      : own_(own), company_(way.company) {
    const bool packed = company_ == Company::packed;
    int64_t longest = 0;
    for (const auto& s : sequences) {
      lengths_.push_back(s->length);
      starts_.push_back(starts_.back() + s->length);
      longest = std::max(longest, s->length);
    }
    const auto b = static_cast<int64_t>(sequences.size());
    arrays_ = make_key_arrays(dtype, packed ? 1 : b, packed ? starts_.back() : longest, way.keys);
    for (int64_t s = 0; s < b; ++s) {
      for (int part = 0; part < kParts; ++part) {
        if (!arrays_[part].view.present()) continue;
        copy(sequences[s]->stored[part].view,
             rows_of(arrays_[part].view, packed ? 0 : s, packed ? starts_[s] : 0, lengths_[s]));
      }
    }
  }

  void grow_to(int64_t length) override { lengths_[own_] = length; }

  Status attend(const ConstTensor& q, const AttentionOutputs& outputs, const AttentionOptions& given,
                const Execution& execution) override {
    AttentionOptions options = given;
    KeyViews keys;
    for (int part = 0; part < kParts; ++part) {
      keys[part] = arrays_[part].view;
      if (company_ == Company::alone && keys[part].present()) keys[part] = slice(keys[part], 2, 0, lengths_[own_]);
    }
    if (company_ != Company::alone) options.kv_lengths = view(lengths_.data(), std::ssize(lengths_));
    if (company_ == Company::packed) options.kv_starts = view(starts_.data(), std::ssize(starts_));
    return attend_over(q, keys, outputs, options, execution);
  }

 private:
  const int own_;
  const Company company_;
  std::vector<int64_t> lengths_, starts_ = {0};
  KeyArrays arrays_;
};

/// In pages of the caller's, in no order.
class RowWays::TableKeys final : public KeyStore {
 public:
  TableKeys(std::span<const std::unique_ptr<Sequence>> sequences, int own, DType dtype, const Way& way) : own_(own) {
    const int64_t size = way.page_size, b = std::ssize(sequences);
    for (const auto& s : sequences) {
      lengths_.push_back(s->length);
      columns_ = std::max(columns_, (s->length + size - 1) / size);
    }
    table_.resize(static_cast<size_t>(b * columns_));
    std::iota(table_.begin(), table_.end(), 0);
    std::mt19937_64 random(7);
    for (size_t i = table_.size(); i > 1; --i) std::swap(table_[i - 1], table_[random() % i]);
    arrays_ = make_key_arrays(dtype, b * columns_, size, Keys::bhnd);
    for (int64_t at = 0; at < b * columns_; ++at) {
      const Sequence& s = *sequences[at / columns_];
      const int64_t first = at % columns_ * size, count = std::min(size, s.length - first);
      for (int part = 0; part < kParts && count > 0; ++part) {
        if (!arrays_[part].view.present()) continue;
        copy(rows_of(s.stored[part].view, 0, first, count), rows_of(arrays_[part].view, table_[at], 0, count));
      }
    }
  }

  void grow_to(int64_t length) override { lengths_[own_] = length; }

  Status attend(const ConstTensor& q, const AttentionOutputs& outputs, const AttentionOptions& given,
                const Execution& execution) override {
    AttentionOptions options = given;
    options.block_table = view(table_.data(), std::ssize(lengths_), columns_);
    options.kv_lengths = view(lengths_.data(), std::ssize(lengths_));
    KeyViews keys;
    for (int part = 0; part < kParts; ++part) keys[part] = arrays_[part].view;
    return attend_over(q, keys, outputs, options, execution);
  }

 private:
  const int own_;
  std::vector<int64_t> lengths_;
  int64_t columns_ = 0;
  std::vector<int32_t> table_;
  KeyArrays arrays_;
};

/// In a KvCache, to which rows are appended as they come.
class RowWays::CacheKeys final : public KeyStore {
 public:
  CacheKeys(std::span<const std::unique_ptr<Sequence>> sequences, int own, DType dtype, const Way& way)
      : sequence_(*sequences[own]), numbers_(sequences.size()), own_(own) {
    throw_unless_ok(KvCache::create({.h_kv = Size::h_kv,
                                     .d_k = Size::d_k,
                                     .d_v = Size::d_v,
                                     .k_dtype = dtype,
                                     .v_dtype = dtype,
                                     .page_size = way.page_size},
                                    &cache_));
    for (size_t s = 0; s < sequences.size(); ++s) {
      throw_unless_ok(cache_.add(&numbers_[s]));
      if (static_cast<int>(s) == own) continue;
      throw_unless_ok(cache_.append(numbers_[s], sequences[s]->k.view, sequences[s]->v.view));
    }
  }

  void grow_to(int64_t length) override {
    const int64_t first = cache_.length(numbers_[own_]);
    throw_unless_ok(cache_.append(numbers_[own_], rows_of(sequence_.k.view, 0, first, length - first),
                                  rows_of(sequence_.v.view, 0, first, length - first)));
  }

  Status attend(const ConstTensor& q, const AttentionOutputs& outputs, const AttentionOptions& options,
                const Execution& execution) override {
    return cache_.attend(q, numbers_, outputs, options, execution, &batch_);
  }

 private:
  const Sequence& sequence_;
  KvCache cache_;
  KvBatch batch_;
  std::vector<int64_t> numbers_;
  const int own_;
};

RowWays::RowWays(const StoredType& type, uint64_t seed) : type_(type) {
  std::mt19937_64 random(seed);
  const DType computing = type.q == DType::f64 ? DType::f64 : DType::f32;
  for (size_t s = 0; s < sequences_.size(); ++s) {
    const int64_t n = kLengths[s];
    auto sequence = std::make_unique<Sequence>();
    sequence->length = n;
    sequence->q = random_array(type.q, Size::h_q, n, Size::d_k, random);
    sequence->k = random_array(computing, Size::h_kv, n, Size::d_k, random);
    sequence->v = random_array(computing, Size::h_kv, n, Size::d_v, random);
    // What a cache of one page makes of them is what the plain arrays hold.
    KvCache cache;
    KvBatch batch;
    int64_t number = 0;
    throw_unless_ok(KvCache::create({.h_kv = Size::h_kv,
                                     .d_k = Size::d_k,
                                     .d_v = Size::d_v,
                                     .k_dtype = type.kv,
                                     .v_dtype = type.kv,
                                     .page_size = n,
                                     .max_pages = 1},
                                    &cache));
    throw_unless_ok(cache.add(&number));
    throw_unless_ok(cache.append(number, sequence->k.view, sequence->v.view));
    throw_unless_ok(cache.view({&number, 1}, &batch));
    const AttentionOptions options = batch.options();
    const KeyViews kept = {batch.k(), batch.v(), options.k_scales, options.v_scales};
    sequence->stored = make_key_arrays(type.kv, 1, n, Keys::bhnd);
    for (int part = 0; part < kParts; ++part) {
      if (kept[part].present()) copy(kept[part], sequence->stored[part].view);
    }
    sequences_[s] = std::move(sequence);
  }
  for (int64_t h = 0; h < Size::h_q; ++h) sinks_.push_back(draw(random));
}

RowWays::~RowWays() = default;

RowBits RowWays::make_rows() const { return {type_.q, Size::h_q, Size::n, Size::d_v}; }

std::unique_ptr<RowWays::KeyStore> RowWays::make_keys(const Way& way) const {
  std::span<const std::unique_ptr<Sequence>> all(sequences_);
  const bool alone = way.company == Company::alone;
  const auto some = alone ? all.subspan(kOwn, 1) : all;
  const int own = alone ? 0 : kOwn;
  if (way.keys == Keys::cache) return std::make_unique<CacheKeys>(some, own, type_.kv, way);
  if (way.keys == Keys::table) return std::make_unique<TableKeys>(some, own, type_.kv, way);
  return std::make_unique<PlainKeys>(some, own, type_.kv, way);
}

/// Rows first to first + rows - 1 of our sequence, beside some of the others' where there are any.
Status RowWays::attend(const Way& way, KeyStore& keys, int64_t first, int64_t rows, const Execution& execution,
                       RowBits& to) const {
  const bool alone = way.company == Company::alone, packed = way.company == Company::packed;
  const bool decoding = way.company == Company::padded && rows == 1;
  std::vector<int64_t> lengths = {rows};
  if (!alone) lengths = decoding ? std::vector<int64_t>{1, 1, 1} : std::vector<int64_t>{3, rows, rows + 5};
  std::vector<int64_t> starts = {0};
  for (const int64_t n : lengths) starts.push_back(starts.back() + n);

  const int64_t b = packed ? 1 : std::ssize(lengths);
  const int64_t n = packed ? starts.back() : *std::max_element(lengths.begin(), lengths.end());
  const Array q = make_array(type_.q, b, Size::h_q, n, Size::d_k, way.keys);
  const Array o = make_array(type_.q, b, Size::h_q, n, Size::d_v, way.keys);
  const Array lse = make_array(to.lse_dtype, b, Size::h_q, n, 1, way.keys);
  const auto of_sequence = [&](const Tensor& view, int64_t s) {
    return rows_of(view, packed ? 0 : s, packed ? starts[s] : 0, lengths[s]);
  };
  for (int64_t s = 0; s < std::ssize(lengths); ++s) {
    const bool ours = alone || s == kOwn;
    const Sequence& sequence = *sequences_[alone ? kOwn : s];
    copy(rows_of(sequence.q.view, 0, ours ? first : sequence.length - lengths[s], lengths[s]), of_sequence(q.view, s));
  }

  AttentionOptions options;
  options.causal = true;
  options.window_left = Size::window_left;
  options.softcap = Size::softcap;
  options.sinks = view(sinks_.data(), Size::h_q);
  if (packed) options.q_starts = view(starts.data(), std::ssize(starts));
  if (way.company == Company::padded) options.q_lengths = view(lengths.data(), std::ssize(lengths));
  const Status status = keys.attend(q.view, {.o = o.view, .lse = lse.view}, options, execution);
  if (!status.ok()) return status;
  const int64_t own = alone ? 0 : kOwn;
  copy(of_sequence(o.view, own), slice(to.outputs().o, 2, first, rows));
  copy(of_sequence(lse.view, own), slice(to.outputs().lse, 2, first, rows));
  return {};
}

Status RowWays::compute(const Way& way, const Execution& execution, RowBits& rows) const {
  const std::unique_ptr<KeyStore> keys = make_keys(way);
  const int64_t step = way.feed == Feed::prompt ? Size::n : way.feed == Feed::chunks ? Size::chunk : 1;
  for (int64_t first = 0; first < Size::n; first += step) {
    const int64_t count = std::min(step, Size::n - first);
    keys->grow_to(first + count);
    if (Status status = attend(way, *keys, first, count, execution, rows); !status.ok()) return status;
  }
  return {};
}

// --- Which ways ---

std::string name_of(const Way& way) {
  const auto pages = [&way] {
    return way.page_size == 0 ? std::string("contiguous") : fmt::format("in pages of {}", way.page_size);
  };
  std::string keys;
  switch (way.keys) {
    case Keys::bhnd:
      keys = "plain arrays";
      break;
    case Keys::bnhd:
      keys = "plain arrays (bnhd)";
      break;
    case Keys::bhdn:
      keys = "plain arrays (bhdn)";
      break;
    case Keys::cache:
      keys = fmt::format("a KvCache {}", pages());
      break;
    case Keys::table:
      keys = fmt::format("a block table {}", pages());
      break;
  }
  const std::string feed = way.feed == Feed::prompt   ? "one prompt"
                           : way.feed == Feed::chunks ? fmt::format("chunks of {}", Size::chunk)
                                                      : "token by token";
  const char* company = way.company == Company::alone    ? "alone"
                        : way.company == Company::padded ? "in a padded batch"
                                                         : "in a packed batch";
  return fmt::format("{}, {}, {}, {} thread{}", feed, keys, company, way.threads, way.threads == 1 ? "" : "s");
}

std::vector<Way> ways_with(const std::vector<int>& threads) {
  constexpr Feed kFeeds[] = {Feed::prompt, Feed::chunks, Feed::tokens};
  constexpr std::pair<Keys, int64_t> kPlaces[] = {{Keys::bnhd, 0},  {Keys::bhdn, 0},   {Keys::cache, 0},
                                                  {Keys::cache, 1}, {Keys::cache, 16}, {Keys::cache, 64},
                                                  {Keys::table, 16}};
  const int most = threads.back();
  std::vector<Way> ways;
  for (const Feed feed : kFeeds) {
    for (const int count : threads) ways.push_back({feed, Keys::bhnd, 0, Company::alone, count});
    for (const auto& [keys, page_size] : kPlaces) ways.push_back({feed, keys, page_size, Company::alone, most});
    for (const Company company : {Company::padded, Company::packed}) {
      for (const auto& [keys, page_size] : {std::pair(Keys::bhnd, int64_t{0}), {Keys::cache, 16}, {Keys::table, 16}}) {
        ways.push_back({feed, keys, page_size, company, most});
      }
    }
  }
  return ways;
}

}  // namespace foveate::cli
