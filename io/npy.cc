// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/npy.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "io/npy_elements.h"
#include "io/npy_header.h"

namespace foveate::io {
namespace {

Buffer read_elements(Source& source, const NpyHeader& header) {
  const auto bytes = static_cast<size_t>(header.bytes());
  const auto left = source.remaining();
  if (left && *left < bytes) refuse_size(source.name(), header, *left);
  // Out of a pipe the header's word is not enough: memory follows what arrives.
  constexpr size_t kFirstStep = size_t{1} << 20;
  Buffer buffer(left ? bytes : std::min(bytes, kFirstStep));
  size_t done = 0;
  for (;;) {
    done += source.read(buffer.data() + done, buffer.size() - done);
    if (done < buffer.size()) refuse_size(source.name(), header, done);
    if (done == bytes) return buffer;
    buffer.resize(std::min(bytes, 2 * done));
  }
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
  const NpyHeader header = read_npy_header(source);
  Array array;
  array.shape = header.shape;
  array.stored_as = type_name(header.element);
  array.stride = strides(header, array.shape);
  try {
    array.buffer = read_elements(source, header);
    array.dtype = make_native(source.name(), header.element, array.buffer);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(source.name(), "not enough memory for its " + std::to_string(header.bytes()) + " bytes");
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
