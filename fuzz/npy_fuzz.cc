// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes at all, read as an .npy file: either an Error of one line, or an array within its buffer that is the same out
// of a pipe, and the same again after writing and reading.
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/reading.h"
#include "io/npy.h"

namespace {

using foveate::fuzz::attempt;
using foveate::fuzz::Pipe;
using foveate::fuzz::require;
using foveate::io::Array;

std::vector<std::byte> rewritten(const Array& array) {
  std::vector<std::byte> file;
  write_npy(
      [&file](const void* data, size_t bytes) {
        const auto* from = static_cast<const std::byte*>(data);
        file.insert(file.end(), from, from + bytes);
      },
      array);
  return file;
}

void check_bounds(const Array& array) {
  require(array.shape.size() == array.stride.size(), "one stride an axis");
  uint64_t past = 1;  // one past the farthest element
  for (size_t axis = 0; axis < array.shape.size(); ++axis) {
    require(array.shape[axis] >= 0 && array.stride[axis] > 0, "extents and strides as a file has them");
    if (array.size() > 0)
      past += static_cast<uint64_t>(array.shape[axis] - 1) * static_cast<uint64_t>(array.stride[axis]);
  }
  if (array.size() == 0) past = 0;
  require(past == static_cast<uint64_t>(array.size()), "elements are packed");
  require(past * static_cast<uint64_t>(size_of(array.dtype)) == array.buffer.size(), "the buffer holds them all");
  require(reinterpret_cast<uintptr_t>(array.data()) % foveate::io::Buffer::kAlignment == 0, "the buffer is aligned");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::optional<Array> array = attempt([&] { return foveate::io::read_npy_bytes(bytes); });
  const std::optional<Array> piped = attempt([&] {
    Pipe pipe(bytes);
    return read_npy(pipe);
  });
  require(array.has_value() == piped.has_value(), "memory and a pipe agree");
  if (!array) return 0;
  check_bounds(*array);
  check_bounds(*piped);

  const std::vector<std::byte> file = rewritten(*array);
  require(file == rewritten(*piped), "memory and a pipe hold the same elements");
  const Array again = foveate::io::read_npy_bytes(file);
  require(again.dtype == array->dtype && again.shape == array->shape, "dtype and shape survive");
  require(file == rewritten(again), "elements survive");
  return 0;
}
