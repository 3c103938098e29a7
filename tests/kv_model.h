// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a cache of keys and values should hold, kept in the plainest way: each sequence an array of its own.
#ifndef FOVEATE_TESTS_KV_MODEL_H_
#define FOVEATE_TESTS_KV_MODEL_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "foveate/kv_cache.h"

namespace foveate::trial {

/// An element of a view of any float type.
inline double element(const ConstTensor& view, int64_t h, int64_t i, int64_t c) {
  const auto step = [&view](int axis) { return view.shape[axis] == 1 ? 0 : view.stride[axis]; };
  const int64_t at = h * step(1) + i * step(2) + c * step(3);
  switch (view.dtype) {
    case DType::f64:
      return static_cast<const double*>(view.data)[at];
    case DType::f16:
      return static_cast<double>(static_cast<float>(static_cast<const Float16*>(view.data)[at]));
    case DType::bf16:
      return static_cast<double>(static_cast<float>(static_cast<const BFloat16*>(view.data)[at]));
    default:
      return static_cast<double>(static_cast<const float*>(view.data)[at]);
  }
}

/// The nearest number of a 16-bit type, ties to even, found by looking at the neighbours of one that is near.
template <class E>
E nearest(double x, double past_the_largest) {
  E near(static_cast<float>(x));
  if (std::isnan(x)) return near;
  const auto value = [&](int bits) {
    E e;
    e.bits = static_cast<uint16_t>(bits);
    const auto f = static_cast<double>(static_cast<float>(e));
    return std::isinf(f) ? past_the_largest : f;
  };
  const int middle = near.bits & 0x7fff, infinity = E(std::numeric_limits<float>::infinity()).bits;
  int best = middle;
  for (int bits = std::max(0, middle - 1); bits <= std::min(infinity, middle + 1); ++bits) {
    const double distance = std::abs(value(bits) - std::abs(x)), least = std::abs(value(best) - std::abs(x));
    if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
  }
  if (std::isinf(x)) best = infinity;
  near.bits = static_cast<uint16_t>(best | (std::signbit(x) ? 0x8000 : 0));
  return near;
}

/// Keys or values of one sequence: rows [n, h, d] of a dtype, and scales [n, h].
class ModelRows {
 public:
  ModelRows(DType dtype, int64_t h, int64_t d, std::vector<float> channel_scales = {})
      : dtype_(dtype), h_(h), d_(d), channel_scales_(std::move(channel_scales)) {}

  void append(const ConstTensor& rows) {
    for (int64_t i = 0; i < rows.shape[2]; ++i) {
      for (int64_t h = 0; h < h_; ++h) {
        std::vector<double> row;
        for (int64_t c = 0; c < d_; ++c) row.push_back(element(rows, h, i, c));
        dtype_ == DType::i8 ? quantise(row, h) : convert(row);
      }
    }
  }

  void truncate(int64_t n) {
    bytes_.resize(static_cast<size_t>(n * h_ * d_ * size_of(dtype_)));
    if (!scales_.empty()) scales_.resize(static_cast<size_t>(n * h_));
  }

  ConstTensor view(int64_t n) const { return {bytes_.data(), dtype_, {1, h_, n, d_}, {0, d_, h_ * d_, 1}}; }

  ConstTensor view_scales(int64_t n) const {
    if (dtype_ != DType::i8) return {};
    if (!channel_scales_.empty()) return {channel_scales_.data(), DType::f32, {1, h_, 1, d_}, {0, d_, 0, 1}};
    return {scales_.data(), DType::f32, {1, h_, n, 1}, {0, 1, h_, 0}};
  }

  size_t bytes_per_key() const {
    const bool scaled = dtype_ == DType::i8 && channel_scales_.empty();
    return static_cast<size_t>(h_ * (d_ * size_of(dtype_) + (scaled ? 4 : 0)));
  }

 private:
  template <class E>
  void put(E e) {
    const auto* const from = reinterpret_cast<const unsigned char*>(&e);
    bytes_.insert(bytes_.end(), from, from + sizeof(E));
  }

  void convert(const std::vector<double>& row) {
    for (const double x : row) {
      switch (dtype_) {
        case DType::f64:
          put(x);
          break;
        case DType::f16:
          put(nearest<Float16>(x, 65536));
          break;
        case DType::bf16:
          put(nearest<BFloat16>(x, 0x1p128));
          break;
        default:
          put(static_cast<float>(x));
      }
    }
  }

  void quantise(const std::vector<double>& row, int64_t h) {
    bool finite = true;
    float most = 0;
    for (const double x : row) {
      finite = finite && std::isfinite(static_cast<float>(x));
      most = std::max(most, std::abs(static_cast<float>(x)));
    }
    const float own = finite ? most / 127 : std::numeric_limits<float>::quiet_NaN();
    if (channel_scales_.empty()) scales_.push_back(own);
    for (size_t c = 0; c < row.size(); ++c) {
      const float scale = channel_scales_.empty() ? own : channel_scales_[static_cast<size_t>(h * d_) + c];
      const float steps = scale > 0 ? std::nearbyint(static_cast<float>(row[c]) / scale) : 0;
      put(static_cast<int8_t>(std::min(127.0f, std::max(-127.0f, steps))));
    }
  }

  DType dtype_;
  int64_t h_, d_;
  std::vector<float> channel_scales_, scales_;
  std::vector<unsigned char> bytes_;
};

struct ModelSequence {
  ModelRows k, v;
  int64_t length = 0;
  std::vector<std::shared_ptr<char>> pages = {};  ///< one object a page, its owners the sequences that share it
};

/// The whole cache. Pages of kContiguous are as long as anything.
class KvModel {
 public:
  explicit KvModel(const KvCacheOptions& o)
      : page_size_(o.page_size == kContiguous ? int64_t{1} << 40 : o.page_size), max_pages_(o.max_pages), o_(o) {
    for (int64_t h = 0; o.k_scales.present() && h < o.h_kv; ++h) {
      for (int64_t c = 0; c < o.d_k; ++c) k_scales_.push_back(static_cast<float>(element(o.k_scales, h, 0, c)));
    }
    o_.k_scales = {};
  }

  ModelSequence empty() const {
    return {ModelRows(o_.k_dtype, o_.h_kv, o_.d_k, k_scales_), ModelRows(o_.v_dtype, o_.h_kv, o_.d_v)};
  }

  /// Whether n more rows find pages enough.
  bool has_room(const ModelSequence& s, int64_t n) const {
    if (max_pages_ == kUnlimited || n == 0) return true;
    const int64_t after = pages_of(s.length + n), copied = copies(s) ? 1 : 0;
    return pages_in_use() + after - static_cast<int64_t>(s.pages.size()) + copied <= max_pages_;
  }

  void append(ModelSequence& s, const ConstTensor& k, const ConstTensor& v) const {
    if (k.shape[2] > 0 && copies(s)) s.pages.back() = std::make_shared<char>();
    s.length += k.shape[2];
    while (static_cast<int64_t>(s.pages.size()) < pages_of(s.length)) s.pages.push_back(std::make_shared<char>());
    s.k.append(k);
    s.v.append(v);
  }

  void truncate(ModelSequence& s, int64_t length) const {
    s.length = length;
    s.pages.resize(static_cast<size_t>(pages_of(length)));
    s.k.truncate(length);
    s.v.truncate(length);
  }

  int64_t pages_in_use() const {
    std::set<const char*> pages;
    for (const auto& [number, s] : sequences) {
      for (const auto& page : s.pages) pages.insert(page.get());
    }
    return static_cast<int64_t>(pages.size());
  }

  std::map<int64_t, ModelSequence> sequences;

 private:
  bool copies(const ModelSequence& s) const { return s.length % page_size_ != 0 && s.pages.back().use_count() > 1; }
  int64_t pages_of(int64_t length) const { return (length + page_size_ - 1) / page_size_; }

  int64_t page_size_, max_pages_;
  KvCacheOptions o_;
  std::vector<float> k_scales_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_KV_MODEL_H_
