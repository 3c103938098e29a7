// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/elements.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace foveate::io {
namespace {

bool is_packed(const ConstArray& array) {
  const std::vector<int64_t> packed = c_strides(array.shape);
  for (size_t axis = 0; axis < packed.size(); ++axis) {
    if (array.shape[axis] != 1 && array.stride[axis] != packed[axis]) return false;
  }
  return true;
}

/// Walks the elements in C order, one row of the last axis at a time, and gathers them in pieces of bounded size.
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

Buffer read_bytes(Source& source, size_t bytes) {
  constexpr size_t kFirstStep = size_t{1} << 20;
  const auto left = source.remaining();
  const size_t most = left && *left < bytes ? static_cast<size_t>(*left) : bytes;
  Buffer buffer(left ? most : std::min(most, kFirstStep));
  size_t done = 0;
  for (;;) {
    done += source.read(buffer.data() + done, buffer.size() - done);
    if (done < buffer.size()) {
      buffer.resize(done);
      return buffer;
    }
    if (done == most) return buffer;
    buffer.resize(std::min(most, 2 * done));
  }
}

void write_elements(const Sink& sink, const ConstArray& array) {
  int64_t size = 1;
  for (const int64_t extent : array.shape) size *= extent;
  if (size == 0) return;
  if (is_packed(array)) {
    sink(array.data, static_cast<size_t>(size * size_of(array.dtype)));
  } else {
    write_strided(sink, array, size);
  }
}

}  // namespace foveate::io
