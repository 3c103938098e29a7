// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/npy_elements.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "io/error.h"

namespace foveate::io {
namespace {

void swap_bytes(std::byte* data, size_t n, size_t width) {
  for (size_t i = 0; i < n; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

/// In place, from the last element to the first, since each grows.
template <class T>
void widen(const std::string& name, Buffer& buffer, size_t n) {
  buffer.resize(n * sizeof(int64_t));
  for (size_t i = n; i-- > 0;) {
    T narrow;
    std::memcpy(&narrow, buffer.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (narrow > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        throw Error(name, "uint64 element " + std::to_string(i) + ": expected an integer below 2^63, got " +
                              std::to_string(narrow));
      }
    }
    const auto wide = static_cast<int64_t>(narrow);  // NOLINT(bugprone-signed-char-misuse): int8 is a number here
    std::memcpy(buffer.data() + i * sizeof(wide), &wide, sizeof(wide));
  }
}

std::vector<int64_t> fortran_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> stride = c_strides({shape.rbegin(), shape.rend()});
  std::reverse(stride.begin(), stride.end());
  return stride;
}

}  // namespace

std::string type_name(const NpyElement& element) {
  if (element.kind == 'b') return "bool";
  const char* kind = element.kind == 'f' ? "float" : element.kind == 'i' ? "int" : "uint";
  return kind + std::to_string(8 * element.width);
}

DType native_dtype(const NpyElement& element) {
  switch (element.kind) {
    case 'f':
      return element.width == 2 ? DType::f16 : element.width == 4 ? DType::f32 : DType::f64;
    case 'b':
      return DType::boolean;
    default:
      return element.kind == 'i' && element.width == 4 ? DType::i32 : DType::i64;
  }
}

DType make_native(const std::string& name, const NpyElement& element, Buffer& buffer) {
  const auto width = static_cast<size_t>(element.width);
  const size_t n = buffer.size() / width;
  if (element.swapped) swap_bytes(buffer.data(), n, width);
  if (element.kind == 'b') {
    for (size_t i = 0; i < n; ++i) buffer.data()[i] = std::byte{buffer.data()[i] != std::byte{0}};
  }
  const DType dtype = native_dtype(element);
  if (dtype != DType::i64) return dtype;
  const bool is_signed = element.kind == 'i';
  switch (element.width) {
    case 1:
      is_signed ? widen<int8_t>(name, buffer, n) : widen<uint8_t>(name, buffer, n);
      break;
    case 2:
      is_signed ? widen<int16_t>(name, buffer, n) : widen<uint16_t>(name, buffer, n);
      break;
    case 4:
      widen<uint32_t>(name, buffer, n);
      break;
    default:
      if (!is_signed) widen<uint64_t>(name, buffer, n);
  }
  return dtype;
}

std::vector<int64_t> strides(const NpyHeader& header, const std::vector<int64_t>& shape) {
  return header.fortran_order ? fortran_strides(shape) : c_strides(shape);
}

}  // namespace foveate::io
