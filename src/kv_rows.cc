// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "kv_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "foveate/float16.h"
#include "vector_at.h"

namespace foveate {
namespace {

/// Calls body with a null pointer of the element type that a float dtype names.
template <class Body>
auto with_float(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f64:
      return body(static_cast<double*>(nullptr));
    case DType::f16:
      return body(static_cast<Float16*>(nullptr));
    case DType::bf16:
      return body(static_cast<BFloat16*>(nullptr));
    default:
      return body(static_cast<float*>(nullptr));
  }
}

/// Rounded once, to the nearest.
template <class To, class From>
To rounded(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (sizeof(From) == 2) {
    return rounded<To>(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

/// To the nearest integer, ties to even, and no farther than 127: adding 1.5 * 2^23 leaves no room for a fraction.
int8_t nearest_int8(float x) {
  constexpr float kNoFraction = 0x1.8p23f;
  return static_cast<int8_t>((std::clamp(x, -127.0f, 127.0f) + kNoFraction) - kNoFraction);
}

/// Quantises a row by a scale of its own, which is returned.
template <class From>
float quantise(const From* from, int64_t stride, int64_t d, int8_t* to) {
  float most = 0;
  bool finite = true;
  for (int64_t i = 0; i < d; ++i) {
    const float size = std::abs(rounded<float>(from[i * stride]));
    finite = finite && size <= std::numeric_limits<float>::max();
    most = std::max(most, size);
  }
  // 127 scales are a finite number too: the largest float's 127th part, rounded up, would make infinity of it.
  const float largest = std::nextafter(std::numeric_limits<float>::max() / 127, 0.0f);
  const float scale = finite ? std::min(most / 127, largest) : std::numeric_limits<float>::quiet_NaN();
  for (int64_t i = 0; i < d; ++i)
    to[i] = scale > 0 ? nearest_int8(rounded<float>(from[i * stride]) / scale) : int8_t{0};
  return scale;
}

/// Quantises a row by scales of its channels.
template <class From>
void quantise(const From* from, int64_t stride, int64_t d, const float* scales, int8_t* to) {
  for (int64_t i = 0; i < d; ++i) {
    to[i] = scales[i] > 0 ? nearest_int8(rounded<float>(from[i * stride]) / scales[i]) : int8_t{0};
  }
}

}  // namespace

bool KvRows::set_channel_scales(const ConstTensor& scales) {
  channel_scales_.reset(new (std::nothrow) float[static_cast<size_t>(h_kv_ * d_)]);
  if (channel_scales_ == nullptr) return false;
  for (int64_t h = 0; h < h_kv_; ++h) {
    for (int64_t i = 0; i < d_; ++i) {
      channel_scales_[static_cast<size_t>(h * d_ + i)] =
          static_cast<const float*>(scales.data)[h * step(scales, 1) + i * step(scales, 3)];
    }
  }
  return true;
}

bool KvRows::resize(int64_t pages, int64_t page_size) {
  // Every page is h_kv blocks of rows; block by block they move to where they begin when pages are longer.
  const auto moved = [&](const Memory& old, int64_t bytes_per_row) {
    const int64_t rows = pages * h_kv_ * page_size;
    if (rows > std::numeric_limits<ptrdiff_t>::max() / std::max<int64_t>(bytes_per_row, 1)) return Memory();
    const auto bytes = static_cast<size_t>(rows * bytes_per_row);
    Memory memory(static_cast<char*>(::operator new[](bytes, kAlignment, std::nothrow)));
    if (memory == nullptr || pages_ == 0) return memory;
    const int64_t whole = page_size == page_size_ ? pages_ * h_kv_ : 1, block = whole * page_size_ * bytes_per_row;
    for (int64_t i = 0; i < pages_ * h_kv_ / whole; ++i) {
      std::memcpy(memory.get() + i * page_size * bytes_per_row, old.get() + i * block, static_cast<size_t>(block));
    }
    return memory;
  };
  if (pages == pages_ && page_size == page_size_) return true;
  Memory rows = moved(rows_, row_bytes());
  if (rows == nullptr) return false;
  if (has_row_scales()) {
    Memory scales = moved(scales_, sizeof(float));
    if (scales == nullptr) return false;
    scales_ = std::move(scales);
  }
  rows_ = std::move(rows);
  pages_ = pages;
  page_size_ = page_size;
  return true;
}

bool KvRows::can_hold(const ConstTensor& rows) const {
  if (channel_scales_ == nullptr) return true;
  return with_float(rows.dtype, [&](auto* element) {
    const auto* const from = static_cast<decltype(element)>(const_cast<void*>(rows.data));
    for (int64_t h = 0; h < h_kv_; ++h) {
      for (int64_t i = 0; i < rows.shape[2]; ++i) {
        for (int64_t c = 0; c < d_; ++c) {
          if (!std::isfinite(rounded<float>(from[h * step(rows, 1) + i * step(rows, 2) + c * step(rows, 3)])))
            return false;
        }
      }
    }
    return true;
  });
}

template <class From>
void KvRows::write_row(const From* from, int64_t stride, int64_t h, int64_t at) {
  if (dtype_ == DType::i8) {
    int8_t* const to = reinterpret_cast<int8_t*>(rows_.get()) + at * d_;
    if (has_row_scales()) {
      row_scales()[at] = quantise(from, stride, d_, to);
    } else {
      quantise(from, stride, d_, channel_scales_.get() + h * d_, to);
    }
    return;
  }
  with_float(dtype_, [&](auto* element) {
    using To = std::remove_pointer_t<decltype(element)>;
    To* const to = reinterpret_cast<To*>(rows_.get()) + at * d_;
    for (int64_t i = 0; i < d_; ++i) to[i] = rounded<To>(from[i * stride]);
  });
}

void KvRows::write(int64_t page, int64_t row, const ConstTensor& rows, int64_t first, int64_t n) {
  if (d_ == 0) return;  // such arrays may be null
  with_float(rows.dtype, [&](auto* element) {
    const auto* const from = static_cast<decltype(element)>(const_cast<void*>(rows.data));
    for (int64_t h = 0; h < h_kv_; ++h) {
      for (int64_t i = 0; i < n; ++i) {
        write_row(from + h * step(rows, 1) + (first + i) * step(rows, 2), step(rows, 3), h, row_at(page, h, row + i));
      }
    }
  });
}

void KvRows::copy_page(int64_t from, int64_t to, int64_t n) {
  for (int64_t h = 0; h < h_kv_; ++h) {
    const int64_t source = row_at(from, h, 0), target = row_at(to, h, 0);
    std::memcpy(rows_.get() + target * row_bytes(), rows_.get() + source * row_bytes(),
                static_cast<size_t>(n * row_bytes()));
    if (has_row_scales()) std::copy_n(row_scales() + source, n, row_scales() + target);
  }
}

size_t KvRows::bytes_per_key() const {
  return static_cast<size_t>(h_kv_) * (static_cast<size_t>(row_bytes()) + (has_row_scales() ? sizeof(float) : 0));
}

ConstTensor KvRows::view(int64_t rows) const {
  return {rows_.get(), dtype_, {pages_, h_kv_, rows, d_}, {h_kv_ * page_size_ * d_, page_size_ * d_, d_, 1}};
}

ConstTensor KvRows::view_scales(int64_t rows) const {
  if (dtype_ != DType::i8) return {};
  if (!has_row_scales()) return {channel_scales_.get(), DType::f32, {1, h_kv_, 1, d_}, {0, d_, 0, 1}};
  return {scales_.get(), DType::f32, {pages_, h_kv_, rows, 1}, {h_kv_ * page_size_, page_size_, 1, 0}};
}

}  // namespace foveate
