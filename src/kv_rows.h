// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Keys or values as a cache stores them: rows of one dtype, [pages, h_kv, page_size, d], with scales beside them where
// it is int8. What the rows mean, and which are in use, is the cache's affair.
#ifndef FOVEATE_SRC_KV_ROWS_H_
#define FOVEATE_SRC_KV_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "foveate/tensor.h"

namespace foveate {

class KvRows {
 public:
  KvRows(DType dtype, int64_t h_kv, int64_t d) : dtype_(dtype), h_kv_(h_kv), d_(d) {}

  /// Scales of channels instead of one a row, [1, h_kv or 1, 1, d] of float32. False: no memory.
  bool set_channel_scales(const ConstTensor& scales);

  /// Room for pages of page_size rows, neither of which shrinks; what is there stays. False: no memory, nothing
  /// changed.
  bool resize(int64_t pages, int64_t page_size);

  /// Whether such numbers can be stored: scales of channels have no way to tell NaN and Inf.
  bool can_hold(const ConstTensor& rows) const;

  /// Stores rows [first, first + n) of a [1, h_kv, ., d] view of a float type from a page's row `row` on.
  void write(int64_t page, int64_t row, const ConstTensor& rows, int64_t first, int64_t n);

  /// Copies a page's first n rows.
  void copy_page(int64_t from, int64_t to, int64_t n);

  size_t bytes_per_key() const;

  /// The first `rows` rows of every page, and their scales; absent but for int8.
  ConstTensor view(int64_t rows) const;
  ConstTensor view_scales(int64_t rows) const;

 private:
  struct Free {
    void operator()(char* memory) const { ::operator delete[](memory, kAlignment); }
  };
  using Memory = std::unique_ptr<char[], Free>;
  static constexpr std::align_val_t kAlignment{64};  // rows of whole cache lines begin with one

  bool has_row_scales() const { return dtype_ == DType::i8 && channel_scales_ == nullptr; }
  int64_t row_bytes() const { return d_ * size_of(dtype_); }
  int64_t row_at(int64_t page, int64_t h, int64_t row) const { return (page * h_kv_ + h) * page_size_ + row; }
  float* row_scales() const { return reinterpret_cast<float*>(scales_.get()); }

  template <class From>
  void write_row(const From* from, int64_t stride, int64_t h, int64_t at);

  DType dtype_;
  int64_t h_kv_, d_;
  int64_t pages_ = 0, page_size_ = 0;
  Memory rows_, scales_;
  std::unique_ptr<float[]> channel_scales_;  ///< [h_kv, d]
};

}  // namespace foveate

#endif  // FOVEATE_SRC_KV_ROWS_H_
