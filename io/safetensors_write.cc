// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "io/safetensors.h"

namespace foveate::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMetadata = "__metadata__";
constexpr size_t kAlignment = 8;

/// Wide elements first: what follows data of 8 bytes an element begins at a multiple of 8, and so on down.
std::vector<const NamedArray*> in_order_of_the_file(std::span<const NamedArray> tensors) {
  std::vector<const NamedArray*> ordered;
  for (const NamedArray& tensor : tensors) ordered.push_back(&tensor);
  std::stable_sort(ordered.begin(), ordered.end(), [](const NamedArray* a, const NamedArray* b) {
    return size_of(a->array.dtype) > size_of(b->array.dtype);
  });
  return ordered;
}

Json header_of(const std::vector<const NamedArray*>& tensors, const SafetensorsMetadata& metadata,
               const std::string& name) {
  Json header = Json::object();
  for (const auto& [key, text] : metadata) header[kMetadata][key] = text;
  int64_t end = 0;
  for (const NamedArray* tensor : tensors) {
    const std::string_view dtype = safetensors_name_of(tensor->array.dtype);
    const std::string where = "tensor '" + printable(tensor->name) + "'";
    if (dtype.empty()) throw Error(name, where + ": dtype: .safetensors has no " + name_of(tensor->array.dtype));
    if (tensor->name == kMetadata || header.contains(tensor->name)) {
      throw Error(name, where + ": expected a name of its own, got one that is taken");
    }
    const int64_t begin = end;
    int64_t bytes = size_of(tensor->array.dtype);
    for (const int64_t extent : tensor->array.shape) bytes *= extent;
    end += bytes;
    header[tensor->name] = {{"dtype", dtype}, {"shape", tensor->array.shape}, {"data_offsets", {begin, end}}};
  }
  return header;
}

/// Padded with spaces, so that the data begin where they are aligned.
std::string text_of(const Json& header, const std::string& name) try {
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() > SafetensorsHeader::kMaxBytes) throw Error(name, "header: expected at most 100 MB, got more");
  return text;
} catch (const Json::exception&) {
  throw Error(name, "header: expected names and metadata in UTF-8, got others");
}

/// The sink of a machine whose bytes are the other way round.
Sink swapping(const Sink& sink, size_t width) {
  return [&sink, width](const void* data, size_t bytes) {
    std::vector<std::byte> swapped(bytes);
    std::memcpy(swapped.data(), data, bytes);
    for (size_t at = 0; at < bytes; at += width) {
      std::reverse(swapped.data() + at, swapped.data() + at + width);
    }
    sink(swapped.data(), bytes);
  };
}

}  // namespace

void write_safetensors(const Sink& sink, std::span<const NamedArray> tensors, const SafetensorsMetadata& metadata,
                       const std::string& name) {
  const std::vector<const NamedArray*> ordered = in_order_of_the_file(tensors);
  const std::string header = text_of(header_of(ordered, metadata, name), name);
  std::string length;
  for (size_t i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> (8 * i) & 0xff);
  sink(length.data(), length.size());
  sink(header.data(), header.size());
  for (const NamedArray* tensor : ordered) {
    const auto width = static_cast<size_t>(size_of(tensor->array.dtype));
    write_elements(std::endian::native == std::endian::big ? swapping(sink, width) : sink, tensor->array);
  }
}

void write_safetensors(OutputFile& out, std::span<const NamedArray> tensors, const SafetensorsMetadata& metadata) {
  write_safetensors([&out](const void* data, size_t bytes) { out.write(data, bytes); }, tensors, metadata, out.name());
}

}  // namespace foveate::io
