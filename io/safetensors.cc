// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>

#include "io/npy_elements.h"
#include "io/npy_header.h"

namespace foveate::io {
namespace {

constexpr size_t kLengthBytes = 8;

uint64_t read_length(Source& source) {
  std::array<unsigned char, kLengthBytes> field{};
  if (source.read(field.data(), field.size()) < field.size()) {
    throw Error(source.name(), "not a whole .safetensors file: ends in the length of its header");
  }
  if (std::memcmp(field.data(), "\x93NUMPY", 6) == 0) {
    throw Error(source.name(), "expected a .safetensors file, got an .npy file");
  }
  uint64_t length = 0;
  for (size_t i = 0; i < field.size(); ++i) length |= uint64_t{field[i]} << (8 * i);
  return length;
}

std::string not_enough_memory(uint64_t bytes) {
  return "not enough memory for its " + std::to_string(bytes) + " bytes";
}

std::string in_words(const SafetensorsTensor& tensor) { return "tensor '" + printable(tensor.name) + "'"; }

}  // namespace

Safetensors::Safetensors(const std::string& path) {
  auto file = std::make_unique<FileSource>(path);
  read_header(*file);
  if (const auto left = file->remaining()) {
    require_size(*left);
    start_ = file->position();
    file_ = std::move(file);
  } else {
    read_data(*file);
  }
}

Safetensors::Safetensors(Source& source) {
  read_header(source);
  if (const auto left = source.remaining()) require_size(*left);
  read_data(source);
}

void Safetensors::read_header(Source& source) {
  name_ = source.name();
  const uint64_t length = read_length(source);
  if (length > SafetensorsHeader::kMaxBytes) {
    throw Error(name_, "header: expected at most 100 MB, got " + std::to_string(length) + " bytes");
  }
  const auto refuse = [&](uint64_t got) {
    throw Error(name_, "header: its length says " + std::to_string(length) + " bytes, the file has " +
                           std::to_string(got) + " left");
  };
  if (const auto left = source.remaining(); left && *left < length) refuse(*left);
  try {
    const Buffer text = read_bytes(source, static_cast<size_t>(length));
    if (text.size() < length) refuse(text.size());
    header_ = parse_safetensors_header({reinterpret_cast<const char*>(text.data()), text.size()}, name_);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(name_, not_enough_memory(length));
  }
}

void Safetensors::read_data(Source& source) {
  const uint64_t bytes = header_.data_bytes();
  try {
    data_ = read_bytes(source, static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(name_, not_enough_memory(bytes));
  }
  require_size(data_.size());
  std::byte more{};
  if (source.read(&more, 1) == 0) return;
  throw Error(name_, "data: its tensors take " + std::to_string(bytes) + " bytes, more follow");
}

void Safetensors::require_size(uint64_t got) const {
  const uint64_t bytes = header_.data_bytes();
  if (got == bytes) return;
  const auto past = std::find_if(tensors().begin(), tensors().end(),
                                 [got](const SafetensorsTensor& tensor) { return tensor.end > got; });
  throw Error(name_, (past == tensors().end() ? "data" : in_words(*past)) + ": the file's tensors take " +
                         std::to_string(bytes) + " bytes, it holds " + std::to_string(got));
}

const SafetensorsTensor* Safetensors::find(std::string_view tensor) const {
  for (const SafetensorsTensor& held : tensors()) {
    if (held.name == tensor) return &held;
  }
  return nullptr;
}

std::string Safetensors::names() const {
  constexpr size_t kMost = 8;
  if (tensors().empty()) return "no tensor";
  std::string names;
  for (size_t i = 0; i < std::min(kMost, tensors().size()); ++i) {
    names += (i == 0 ? "" : ", ") + printable(tensors()[i].name);
  }
  return tensors().size() <= kMost ? names : names + ", ... (" + std::to_string(tensors().size()) + " in all)";
}

Buffer Safetensors::bytes_of(const SafetensorsTensor& tensor) const {
  Buffer buffer(static_cast<size_t>(tensor.bytes()));
  if (buffer.size() == 0) return buffer;
  if (file_ == nullptr) {
    std::memcpy(buffer.data(), data_.data() + tensor.begin, buffer.size());
  } else if (file_->read_at(start_ + tensor.begin, buffer.data(), buffer.size()) < buffer.size()) {
    throw Error(name_, in_words(tensor) + ": the file has become shorter since it was opened");
  }
  return buffer;
}

Array Safetensors::read(std::string_view tensor) const {
  const SafetensorsTensor* const held = find(tensor);
  if (held == nullptr) throw Error(name_, "no tensor '" + printable(tensor) + "'; it holds " + names());
  const std::string where = name_ + ": " + in_words(*held);
  const SafetensorsType& type = *find_safetensors_type(held->dtype);
  if (type.kind == 0) throw Error(where, "dtype: " + held->dtype + " cannot be read; save it as F32 or BF16");
  const bool bfloat16 = type.kind == 'g';
  const NpyElement element = {bfloat16 ? 'f' : type.kind, type.bits / 8, std::endian::native == std::endian::big};
  Array array;
  array.shape = held->shape;
  array.stored_as = held->dtype;
  array.stride = c_strides(array.shape);
  try {
    array.buffer = bytes_of(*held);
    const DType dtype = make_native(where, element, array.buffer);
    array.dtype = bfloat16 ? DType::bf16 : dtype;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(where, not_enough_memory(held->bytes()));
  }
  return array;
}

}  // namespace foveate::io
