// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays as files hold them: a dtype, any number of axes, and strides that count elements. Array owns its elements,
// ConstArray views those of someone else. Elements are in the byte order of this machine.
#ifndef FOVEATE_IO_ARRAY_H_
#define FOVEATE_IO_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "foveate/tensor.h"

namespace foveate::io {

/// Bytes that start at a multiple of 64. Movable; throws std::bad_alloc.
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  /// Zeros, whose pages take no memory before they are touched.
  explicit Buffer(size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Keeps what fits; bytes added are not initialised. Large buffers move by remapping, not by copying.
  void resize(size_t bytes);

  size_t size() const { return size_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }

 private:
  void swap(Buffer& other) noexcept;

  void* block_ = nullptr;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Strides of packed C order: the last axis is next to next in memory.
std::vector<int64_t> c_strides(const std::vector<int64_t>& shape);

struct Array {
  DType dtype = DType::none;
  std::string stored_as;  ///< what the file calls it, where it comes from one: "uint16" is read as i64
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;  ///< in elements; Fortran order is told here, never by copying
  Buffer buffer;

  /// How many elements: 1 for an array without axes.
  int64_t size() const;
  const void* data() const { return buffer.data(); }
  void* data() { return buffer.data(); }
};

/// A packed array in C order, of zeros whose pages take no memory before they are touched.
Array make_array(DType dtype, std::vector<int64_t> shape);

/// A view to read from. Strides may be zero or negative.
struct ConstArray {
  const void* data = nullptr;
  DType dtype = DType::none;
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;

  ConstArray() = default;
  ConstArray(const void* elements, DType type, std::vector<int64_t> extents, std::vector<int64_t> strides);
  ConstArray(const Array& array);  // NOLINT(google-explicit-constructor): an array is readable
};

}  // namespace foveate::io

#endif  // FOVEATE_IO_ARRAY_H_
