// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes at all, read as a .safetensors file: either an Error of one line, or tensors that lie side by side, are the
// same out of a pipe, and are the same again after writing and reading.
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/reading.h"
#include "io/safetensors.h"

namespace {

using foveate::fuzz::attempt;
using foveate::fuzz::Pipe;
using foveate::fuzz::require;
using foveate::io::Array;
using foveate::io::Safetensors;

Safetensors from_memory(std::span<const std::byte> bytes) {
  foveate::io::MemorySource source(bytes, "memory");
  return Safetensors(source);
}

Safetensors from_pipe(std::span<const std::byte> bytes) {
  Pipe pipe(bytes);
  return Safetensors(pipe);
}

void check_coverage(const Safetensors& file, size_t file_bytes) {
  uint64_t covered = 0;
  for (const foveate::io::SafetensorsTensor& tensor : file.tensors()) {
    require(tensor.begin == covered && tensor.end >= covered, "tensors lie side by side");
    covered = tensor.end;
    require(file.find(tensor.name) == &tensor, "a name is one tensor's");
  }
  require(covered <= file_bytes, "tensors lie in the file");
}

void check_bounds(const Array& array) {
  require(array.stride == foveate::io::c_strides(array.shape), "elements are packed");
  require(static_cast<size_t>(array.size() * size_of(array.dtype)) == array.buffer.size(), "the buffer holds them all");
  require(reinterpret_cast<uintptr_t>(array.data()) % foveate::io::Buffer::kAlignment == 0, "the buffer is aligned");
}

bool equal(const Array& a, const Array& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.buffer.size() == b.buffer.size() &&
         (a.buffer.size() == 0 || std::memcmp(a.data(), b.data(), a.buffer.size()) == 0);
}

std::vector<std::byte> rewritten(const std::vector<foveate::io::NamedArray>& tensors, const Safetensors& file) {
  std::vector<std::byte> bytes;
  const foveate::io::Sink sink = [&bytes](const void* data, size_t n) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + n);
  };
  write_safetensors(sink, tensors, file.metadata());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::optional<Safetensors> file = attempt([&] { return from_memory(bytes); });
  const std::optional<Safetensors> piped = attempt([&] { return from_pipe(bytes); });
  require(file.has_value() == piped.has_value(), "memory and a pipe agree");
  if (!file) return 0;
  check_coverage(*file, size);

  std::vector<Array> arrays;
  std::vector<std::string> names;
  for (const foveate::io::SafetensorsTensor& tensor : file->tensors()) {
    std::optional<Array> array = attempt([&] { return file->read(tensor.name); });
    const std::optional<Array> same = attempt([&] { return piped->read(tensor.name); });
    require(array.has_value() == same.has_value(), "memory and a pipe agree on a tensor");
    if (!array) continue;
    check_bounds(*array);
    require(equal(*array, *same), "memory and a pipe hold the same elements");
    arrays.push_back(std::move(*array));
    names.push_back(tensor.name);
  }

  std::vector<foveate::io::NamedArray> tensors;
  for (size_t i = 0; i < arrays.size(); ++i) tensors.push_back({names[i], arrays[i]});
  const std::vector<std::byte> again = rewritten(tensors, *file);
  const Safetensors read_again = from_memory(again);
  require(read_again.metadata() == file->metadata(), "metadata survive");
  require(read_again.tensors().size() == arrays.size(), "tensors survive");
  for (size_t i = 0; i < arrays.size(); ++i) require(equal(read_again.read(names[i]), arrays[i]), "elements survive");
  return 0;
}
