// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/npy.h"

#include <new>

#include "io/elements.h"
#include "io/npy_elements.h"
#include "io/npy_header.h"

namespace foveate::io {
namespace {

Buffer read_elements(Source& source, const NpyHeader& header) {
  const auto bytes = static_cast<size_t>(header.bytes());
  const auto left = source.remaining();
  if (left && *left < bytes) refuse_size(source.name(), header, *left);
  Buffer buffer = read_bytes(source, bytes);
  if (buffer.size() < bytes) refuse_size(source.name(), header, buffer.size());
  return buffer;
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

void write_npy(const Sink& sink, const ConstArray& array, const std::string& name) {
  const std::string header = format_npy_header(array.dtype, array.shape, name);
  sink(header.data(), header.size());
  write_elements(sink, array);
}

void write_npy(OutputFile& out, const ConstArray& array) {
  write_npy([&out](const void* data, size_t bytes) { out.write(data, bytes); }, array, out.name());
}

}  // namespace foveate::io
