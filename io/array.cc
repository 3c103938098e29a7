// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/array.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace foveate::io {
namespace {

std::byte* aligned(void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  const uintptr_t past = address % Buffer::kAlignment;
  return static_cast<std::byte*>(block) + (past == 0 ? 0 : Buffer::kAlignment - past);
}

size_t padded(size_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max() / 2) throw std::bad_alloc();
  return bytes + Buffer::kAlignment;
}

}  // namespace

// calloc and realloc rather than aligned_alloc: large blocks of theirs are pages mapped on first touch, and grow by
// remapping.
Buffer::Buffer(size_t bytes) : block_(std::calloc(padded(bytes), 1)), size_(bytes) {
  if (block_ == nullptr) throw std::bad_alloc();
  data_ = aligned(block_);
}

Buffer::~Buffer() { std::free(block_); }

void Buffer::resize(size_t bytes) {
  const ptrdiff_t old_offset = data_ - static_cast<std::byte*>(block_);
  void* block = std::realloc(block_, padded(bytes));
  if (block == nullptr) throw std::bad_alloc();
  block_ = block;
  data_ = aligned(block);
  std::byte* kept = static_cast<std::byte*>(block) + old_offset;
  if (kept != data_) std::memmove(data_, kept, std::min(size_, bytes));
  size_ = bytes;
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

std::vector<int64_t> c_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> stride(shape.size());
  int64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    stride[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
  }
  return stride;
}

int64_t Array::size() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

Array make_array(DType dtype, std::vector<int64_t> shape) {
  Array array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  array.stride = c_strides(array.shape);
  array.buffer = Buffer(static_cast<size_t>(array.size() * size_of(dtype)));
  return array;
}

ConstArray::ConstArray(const void* elements, DType type, std::vector<int64_t> extents, std::vector<int64_t> strides)
    : data(elements), dtype(type), shape(std::move(extents)), stride(std::move(strides)) {}

ConstArray::ConstArray(const Array& array)
    : data(array.data()), dtype(array.dtype), shape(array.shape), stride(array.stride) {}

}  // namespace foveate::io
