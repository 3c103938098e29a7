// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Any sequence of calls of a cache against the model: after each, lengths and pages are as they should be; attention
// from the cache has the bits of attention over the model's plain arrays, one sequence at a time.
#ifndef FOVEATE_TESTS_KV_TRIAL_H_
#define FOVEATE_TESTS_KV_TRIAL_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "foveate/kv_cache.h"
#include "tests/kv_model.h"
#include "tests/random_spec.h"

namespace foveate::trial {

/// An array [1, h, n, d] of a float type, of its own making.
class Drawn {
 public:
  enum class Order : uint8_t { bhnd, bnhd, every_other };

  /// Normal numbers, of which one in `odd_one_in` is zero, tiny, huge, infinite or no number. 0: none is.
  Drawn(DType dtype, int64_t h, int64_t n, int64_t d, Order order, uint64_t seed, unsigned odd_one_in = 0) {
    const int64_t gap = order == Order::every_other ? 2 : 1;
    bytes_.resize(static_cast<size_t>(h * n * d * gap * size_of(dtype)));
    view_ = {bytes_.data(), dtype, {1, h, n, d}, {0, n * d * gap, d * gap, gap}};
    if (order == Order::bnhd) view_ = {bytes_.data(), dtype, {1, h, n, d}, {0, d, h * d, 1}};
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < h * n * d * gap; ++i) {
      const bool odd = odd_one_in != 0 && random() % odd_one_in == 0;
      put(i, odd ? kOdd[random() % std::size(kOdd)] : normal(random));
    }
  }

  const ConstTensor& view() const { return view_; }

 private:
  static constexpr double kOdd[] = {0, -0.0, 1e-45, -3e-41, 6.1e-5, 65519.9, 3.4e38, 1e-300, HUGE_VAL, NAN};

  void put(int64_t i, double x) {
    switch (view_.dtype) {
      case DType::f64:
        return store(i, x);
      case DType::f16:
        return store(i, Float16(static_cast<float>(x)));
      case DType::bf16:
        return store(i, BFloat16(static_cast<float>(x)));
      default:
        return store(i, static_cast<float>(x));
    }
  }
  template <class E>
  void store(int64_t i, E e) {
    std::memcpy(bytes_.data() + i * static_cast<int64_t>(sizeof(E)), &e, sizeof(E));
  }

  std::vector<unsigned char> bytes_;
  ConstTensor view_;
};

/// Outputs of q's type, packed, [b, h, n, d].
struct Attended {
  Attended(DType dtype, int64_t b, int64_t h, int64_t n, int64_t d)
      : o(static_cast<size_t>(b * h * n * d * size_of(dtype)), 0x5a),
        lse(static_cast<size_t>(b * h * n * (dtype == DType::f64 ? 8 : 4)), 0x5a),
        outputs{.o = {o.data(), dtype, {b, h, n, d}, {h * n * d, n * d, d, 1}},
                .lse = {lse.data(), dtype == DType::f64 ? DType::f64 : DType::f32, {b, h, n, 1}, {h * n, n, 1, 1}}} {}
  Attended(const Attended&) = delete;
  Attended& operator=(const Attended&) = delete;

  std::vector<unsigned char> o, lse;
  AttentionOutputs outputs;
};

/// Whether rows [from, from + n) of batch b are those of a batch of one, to the bit; NaN payloads do not count.
inline bool same_rows(const Tensor& one, const Tensor& many, int64_t b, int64_t from, int64_t n) {
  const auto batch = [&many](int64_t index) {
    ConstTensor view = many;
    view.data = static_cast<const char*>(many.data) + index * many.stride[0] * size_of(many.dtype);
    return view;
  };
  for (int64_t h = 0; h < one.shape[1]; ++h) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < one.shape[3]; ++c) {
        const double x = element(one, h, i, c), y = element(batch(b), h, from + i, c);
        if (std::isnan(x) && std::isnan(y)) continue;
        if (std::bit_cast<uint64_t>(x) != std::bit_cast<uint64_t>(y)) return false;
      }
    }
  }
  return true;
}

inline std::string list_of(const KvCacheOptions& o) {
  std::ostringstream out;
  out << "h_kv " << o.h_kv << ", d " << o.d_k << ' ' << o.d_v << ", " << name_of(o.k_dtype) << ' ' << name_of(o.v_dtype)
      << ", page_size " << o.page_size << ", max_pages " << o.max_pages << (o.k_scales.present() ? ", k_scales" : "");
  return out.str();
}

class KvTrial {
 public:
  explicit KvTrial(Choices& c) : KvTrial(c, random_options(c)) {}
  KvTrial(Choices& c, const KvCacheOptions& options) : c_(c), o_(options) {
    if (o_.k_dtype == DType::i8 && c_.one_in(3)) {
      for (int64_t i = 0; i < o_.h_kv * o_.d_k; ++i) k_scales_.push_back(static_cast<float>(c_.below(9)) / 256);
      o_.k_scales = {k_scales_.data(), DType::f32, {1, o_.h_kv, 1, o_.d_k}, {0, o_.d_k, 0, 1}};
    }
  }

  /// Empty, or what went wrong.
  std::string run(int64_t steps) {
    KvModel model(o_);
    model_ = &model;
    const Status status = KvCache::create(o_, &cache_);
    if (!status.ok()) return list_of(o_) + ": create: " + status.message();
    std::string wrong;
    for (int64_t i = 0; i < steps && wrong.empty(); ++i) {
      wrong = step();
      if (wrong.empty()) wrong = check_state();
    }
    if (wrong.empty() && !model.sequences.empty()) wrong = attend();
    return wrong.empty() ? wrong : list_of(o_) + ": " + wrong;
  }

 private:
  static KvCacheOptions random_options(Choices& c) {
    constexpr DType kNarrow[] = {DType::f32, DType::f16, DType::bf16, DType::i8};
    KvCacheOptions o{.h_kv = 1 + c.below(3), .d_k = 1 + c.below(12), .d_v = c.below(12)};
    const bool wide = c.one_in(5);
    o.k_dtype = wide ? DType::f64 : kNarrow[c.below(4)];
    o.v_dtype = wide ? DType::f64 : kNarrow[c.below(4)];
    o.page_size = c.one_of<int64_t>({1, 2, 3, 7, 16, 64, 100, kContiguous});
    if (o.page_size != kContiguous && c.one_in(2)) o.max_pages = c.below(40);
    return o;
  }

  std::string step() {
    const int64_t kind = c_.below(8);
    if (model_->sequences.empty() || kind == 0) return add();
    if (kind == 1) return fork();
    if (kind == 2) return truncate();
    if (kind == 3) return remove();
    if (kind == 4) return attend();
    return append();
  }

  int64_t some() {
    return std::next(model_->sequences.begin(), c_.below(static_cast<int64_t>(model_->sequences.size())))->first;
  }

  std::string add() {
    int64_t number = -1;
    const Status status = cache_.add(&number);
    if (!status.ok()) return std::string("add: ") + status.message();
    return insert(number, model_->empty());
  }

  std::string fork() {
    const int64_t number = some();
    int64_t copy = -1;
    const Status status = cache_.fork(number, &copy);
    if (!status.ok()) return std::string("fork: ") + status.message();
    return insert(copy, model_->sequences.at(number));
  }

  std::string insert(int64_t number, const ModelSequence& sequence) {
    if (!given_.insert(number).second) return "a number that was given before";
    model_->sequences.emplace(number, sequence);
    return {};
  }

  std::string truncate() {
    const int64_t number = some();
    ModelSequence& s = model_->sequences.at(number);
    const int64_t length = c_.below(s.length + 2);  // one too many is refused
    const Status status = cache_.truncate(number, length);
    if (status.ok() != (length <= s.length)) return std::string("truncate: ") + status.message();
    if (status.ok()) model_->truncate(s, length);
    return {};
  }

  std::string remove() {
    const int64_t number = some();
    const Status status = cache_.remove(number);
    if (!status.ok()) return std::string("remove: ") + status.message();
    if (cache_.remove(number).ok()) return "remove: twice the same";
    model_->sequences.erase(number);
    return {};
  }

  std::string append() {
    const int64_t number = some(), n = c_.one_of<int64_t>({1, 1, 2, 0, 5, 15, 16, 17, 63, 65, 130});
    ModelSequence& s = model_->sequences.at(number);
    const unsigned odd = c_.one_in(4) ? 50 : 0;
    const Drawn k = draw(n, o_.d_k, odd), v = draw(n, o_.d_v, odd);
    const bool refused = o_.k_scales.present() && !all_finite(k.view());
    const Status status = cache_.append(number, k.view(), v.view());
    if (refused || !model_->has_room(s, n)) {
      const StatusCode code = refused ? StatusCode::invalid_argument : StatusCode::out_of_memory;
      return status.code() == code ? std::string() : std::string("append, which should fail: ") + status.message();
    }
    if (!status.ok()) return std::string("append: ") + status.message();
    model_->append(s, k.view(), v.view());
    return {};
  }

  Drawn draw(int64_t n, int64_t d, unsigned odd) {
    const DType dtype = c_.one_of({DType::f32, DType::f16, DType::bf16, DType::f64});
    const auto order = c_.one_of({Drawn::Order::bhnd, Drawn::Order::bnhd, Drawn::Order::every_other});
    return Drawn(dtype, o_.h_kv, n, d, order, static_cast<uint64_t>(c_.below(256)), odd);
  }

  bool all_finite(const ConstTensor& k) const {
    for (int64_t h = 0; h < k.shape[1]; ++h) {
      for (int64_t i = 0; i < k.shape[2]; ++i) {
        for (int64_t c = 0; c < k.shape[3]; ++c) {
          if (!std::isfinite(static_cast<float>(element(k, h, i, c)))) return false;
        }
      }
    }
    return true;
  }

  std::string check_state() const {
    const KvCacheUsage usage = cache_.usage();
    for (const auto& [number, s] : model_->sequences) {
      if (cache_.length(number) != s.length) return "a length is " + std::to_string(cache_.length(number));
    }
    if (usage.sequences != static_cast<int64_t>(model_->sequences.size())) return "sequences are miscounted";
    if (usage.pages_in_use != model_->pages_in_use()) {
      return std::to_string(usage.pages_in_use) + " pages in use, not " + std::to_string(model_->pages_in_use());
    }
    const ModelSequence plain = model_->empty();
    const size_t key = plain.k.bytes_per_key() + plain.v.bytes_per_key();
    if (o_.page_size != kContiguous &&
        usage.bytes_in_use != static_cast<size_t>(usage.pages_in_use * o_.page_size) * key)
      return "bytes are miscounted";
    if (o_.max_pages != kUnlimited && usage.pages_in_use + usage.pages_free != o_.max_pages) return "pages were lost";
    return {};
  }

  /// Attention over a batch of some sequences, with as many queries each, or packed with unequal numbers of them.
  std::string attend() {
    std::vector<int64_t> batch, starts = {0};
    const bool packed = c_.one_in(3);
    const int64_t n_q = 1 + c_.below(5);
    for (int64_t b = 1 + c_.below(4); b > 0; --b) {
      batch.push_back(some());
      starts.push_back(starts.back() + (packed ? c_.below(5) : n_q));
    }
    const int64_t h_q = o_.h_kv * (1 + c_.below(3)), total = starts.back();
    const DType dtype = o_.k_dtype == DType::f64 ? DType::f64 : c_.one_of({DType::f32, DType::f16, DType::bf16});
    const Drawn q(dtype, h_q, total, o_.d_k, Drawn::Order::bnhd, static_cast<uint64_t>(c_.below(256)));
    AttentionOptions options{.causal = c_.one_in(2)};
    if (c_.one_in(4)) options.window_left = c_.below(20);

    // Batches and rows lie behind each other in q [1, h_q, total, d], so that it is packed and padded at once.
    const auto b = static_cast<int64_t>(batch.size());
    Attended many(dtype, packed ? 1 : b, h_q, packed ? total : n_q, o_.d_v);
    ConstTensor queries = q.view();
    if (!packed) {
      queries.shape[0] = b;
      queries.shape[2] = n_q;
      queries.stride[0] = n_q * queries.stride[2];
    }
    AttentionOptions whole = options;
    if (packed) whole.q_starts = foveate::view<const int64_t>(starts.data(), b + 1);
    const Status status = cache_.attend(queries, batch, many.outputs, whole, {}, c_.one_in(2) ? &batch_ : nullptr);
    if (!status.ok()) return std::string("attend: ") + status.message();

    for (int64_t i = 0; i < b; ++i) {
      const int64_t first = starts[static_cast<size_t>(i)], n = starts[static_cast<size_t>(i + 1)] - first;
      const ModelSequence& s = model_->sequences.at(batch[static_cast<size_t>(i)]);
      ConstTensor part = q.view();
      part.data = static_cast<const char*>(part.data) + first * part.stride[2] * size_of(dtype);
      part.shape[2] = n;
      Attended one(dtype, 1, h_q, n, o_.d_v);
      AttentionOptions alone = options;
      alone.k_scales = s.k.view_scales(s.length);
      alone.v_scales = s.v.view_scales(s.length);
      const Status plain = attention(part, s.k.view(s.length), s.v.view(s.length), one.outputs, alone);
      if (!plain.ok()) return std::string("attention over the model: ") + plain.message();
      const int64_t at = packed ? 0 : i, from = packed ? first : 0;
      if (!same_rows(one.outputs.o, many.outputs.o, at, from, n)) return "o differs in row " + std::to_string(i);
      if (!same_rows(one.outputs.lse, many.outputs.lse, at, from, n)) return "lse differs in row " + std::to_string(i);
    }
    return {};
  }

  Choices& c_;
  KvCacheOptions o_;
  std::vector<float> k_scales_;
  KvModel* model_ = nullptr;
  KvCache cache_;
  KvBatch batch_;
  std::set<int64_t> given_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_KV_TRIAL_H_
