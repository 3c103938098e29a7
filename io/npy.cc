// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "io/npy_header.h"

namespace foveate::io {
namespace {

constexpr std::string_view kMagic("\x93NUMPY");

void read_exactly(Source& source, void* data, size_t bytes, const char* what) {
  if (source.read(data, bytes) < bytes)
    throw Error(source.name(), std::string("not a whole .npy file: ends in ") + what);
}

NpyHeader read_header(Source& source) {
  std::array<unsigned char, 8> start{};
  read_exactly(source, start.data(), start.size(), "its first 8 bytes");
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    throw Error(source.name(), "expected an .npy file, got one that does not start with \\x93NUMPY");
  }
  const int major = start[6];
  const int minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(source.name(),
                "expected .npy version 1.0, 2.0 or 3.0, got " + std::to_string(major) + "." + std::to_string(minor));
  }
  std::array<unsigned char, 4> field{};
  read_exactly(source, field.data(), major == 1 ? 2 : 4, "the length of its header");
  const size_t length = field[0] | size_t{field[1]} << 8 | size_t{field[2]} << 16 | size_t{field[3]} << 24;
  // No header that we accept comes near it.
  constexpr size_t kMaxHeader = size_t{1} << 20;
  if (length > kMaxHeader) {
    throw Error(source.name(), "header: expected at most 1 MiB, got " + std::to_string(length) + " bytes");
  }
  if (const auto left = source.remaining(); left && *left < length) {
    throw Error(source.name(), "header: its length says " + std::to_string(length) + " bytes, the file has " +
                                   std::to_string(*left) + " left");
  }
  std::string text(length, '\0');
  read_exactly(source, text.data(), length, "its header");
  return parse_npy_header(text, source.name());
}

[[noreturn]] void refuse_size(const Source& source, const NpyHeader& header, uint64_t bytes, uint64_t got) {
  throw Error(source.name(), "shape: " + to_string(header.shape) + " of " + header.element.kind +
                                 std::to_string(header.element.width) + " takes " + std::to_string(bytes) +
                                 " bytes, the file holds " + std::to_string(got));
}

Buffer read_elements(Source& source, const NpyHeader& header, size_t bytes) {
  const auto left = source.remaining();
  if (left && *left < bytes) refuse_size(source, header, bytes, *left);
  // Out of a pipe the header's word is not enough: memory follows what arrives.
  constexpr size_t kFirstStep = size_t{1} << 20;
  Buffer buffer(left ? bytes : std::min(bytes, kFirstStep));
  size_t done = 0;
  for (;;) {
    done += source.read(buffer.data() + done, buffer.size() - done);
    if (done < buffer.size()) refuse_size(source, header, bytes, done);
    if (done == bytes) return buffer;
    buffer.resize(std::min(bytes, 2 * done));
  }
}

void swap_bytes(std::byte* data, size_t n, size_t width) {
  for (size_t i = 0; i < n; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

/// As NumPy names it.
std::string type_name(const NpyElement& element) {
  if (element.kind == 'b') return "bool";
  const char* kind = element.kind == 'f' ? "float" : element.kind == 'i' ? "int" : "uint";
  return kind + std::to_string(8 * element.width);
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

/// Makes elements as they lie in the file ours, and says of which dtype they now are.
DType convert(const std::string& name, const NpyElement& element, Buffer& buffer, size_t n) {
  if (element.swapped) swap_bytes(buffer.data(), n, static_cast<size_t>(element.width));
  const bool is_signed = element.kind == 'i';
  switch (element.kind) {
    case 'f':
      return element.width == 2 ? DType::f16 : element.width == 4 ? DType::f32 : DType::f64;
    case 'b':
      for (size_t i = 0; i < n; ++i) buffer.data()[i] = std::byte{buffer.data()[i] != std::byte{0}};
      return DType::boolean;
    default:
      break;
  }
  switch (element.width) {
    case 1:
      is_signed ? widen<int8_t>(name, buffer, n) : widen<uint8_t>(name, buffer, n);
      return DType::i64;
    case 2:
      is_signed ? widen<int16_t>(name, buffer, n) : widen<uint16_t>(name, buffer, n);
      return DType::i64;
    case 4:
      if (is_signed) return DType::i32;
      widen<uint32_t>(name, buffer, n);
      return DType::i64;
    default:
      if (!is_signed) widen<uint64_t>(name, buffer, n);
      return DType::i64;
  }
}

std::vector<int64_t> fortran_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> stride = c_strides({shape.rbegin(), shape.rend()});
  std::reverse(stride.begin(), stride.end());
  return stride;
}

bool is_packed(const ConstArray& array) {
  const std::vector<int64_t> packed = c_strides(array.shape);
  for (size_t axis = 0; axis < packed.size(); ++axis) {
    if (array.shape[axis] != 1 && array.stride[axis] != packed[axis]) return false;
  }
  return true;
}

/// Walks the elements in C order, one row of the last axis at a time, and gathers them in pieces of bounded size.
template <class Sink>
void write_strided(const Sink& sink, const ConstArray& array, int64_t size) {
  constexpr int64_t kPiece = int64_t{1} << 13;
  const int64_t width = size_of(array.dtype);
  const size_t last = array.shape.size() - 1;
  const int64_t row = array.shape[last];
  const int64_t step = array.stride[last] * width;
  std::vector<std::byte> piece(static_cast<size_t>(std::min(row, kPiece) * width));
  std::vector<int64_t> index(array.shape.size(), 0);
  const auto* data = static_cast<const std::byte*>(array.data);
  for (int64_t rows = size / row; rows > 0; --rows) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < last; ++axis) offset += index[axis] * array.stride[axis];
    const std::byte* from = data + offset * width;
    for (int64_t done = 0; done < row; done += kPiece) {
      const int64_t n = std::min(kPiece, row - done);
      for (int64_t i = 0; i < n; ++i) {
        std::memcpy(piece.data() + i * width, from + (done + i) * step, static_cast<size_t>(width));
      }
      sink(piece.data(), static_cast<size_t>(n * width));
    }
    for (size_t axis = last; axis-- > 0 && ++index[axis] == array.shape[axis];) index[axis] = 0;
  }
}

}  // namespace

Array read_npy(Source& source) {
  NpyHeader header = read_header(source);
  Array array;
  array.shape = std::move(header.shape);
  array.stored_as = type_name(header.element);
  array.stride = header.fortran_order ? fortran_strides(array.shape) : c_strides(array.shape);
  header.shape = array.shape;
  const auto n = static_cast<size_t>(array.size());
  const size_t bytes = n * static_cast<size_t>(header.element.width);
  try {
    array.buffer = read_elements(source, header, bytes);
    array.dtype = convert(source.name(), header.element, array.buffer, n);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(source.name(), "not enough memory for its " + std::to_string(bytes) + " bytes");
  }
  return array;
}

Array read_npy(const std::string& path) {
  FileSource source(path);
  return read_npy(source);
}

Array read_npy_bytes(std::span<const std::byte> bytes, const std::string& name) {
  MemorySource source(bytes, name);
  return read_npy(source);
}

void write_npy(const std::function<void(const void* data, size_t bytes)>& sink, const ConstArray& array,
               const std::string& name) {
  const std::string header = format_npy_header(array.dtype, array.shape, name);
  sink(header.data(), header.size());
  int64_t size = 1;
  for (const int64_t extent : array.shape) size *= extent;
  if (size == 0) return;
  if (is_packed(array)) {
    sink(array.data, static_cast<size_t>(size * size_of(array.dtype)));
  } else {
    write_strided(sink, array, size);
  }
}

void write_npy(OutputFile& out, const ConstArray& array) {
  write_npy([&out](const void* data, size_t bytes) { out.write(data, bytes); }, array, out.name());
}

}  // namespace foveate::io
