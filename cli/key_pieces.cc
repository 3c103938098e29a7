// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/key_pieces.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cli/attend_read.h"
#include "cli/convert.h"
#include "cli/files.h"
#include "io/source.h"

namespace foveate::cli {
namespace {

/// 0 for pipes, for .safetensors, which are read whole, and for what cannot be looked at: reading it will say why.
double regular_bytes(const std::string& path) {
  std::error_code unknown;
  if (names_safetensors(path) || io::is_standard_input(path) || !std::filesystem::is_regular_file(path, unknown))
    return 0;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : static_cast<double>(bytes);
}

/// Bytes of one key's or value's elements, all batch entries and heads: as computed with, and as they come where they
/// are converted.
double bytes_of_a_key(const io::NpyPieces& file, size_t axis, DType dtype) {
  double elements = 1;
  for (size_t other = 0; other < file.shape().size(); ++other) {
    if (other != axis) elements *= static_cast<double>(file.shape()[other]);
  }
  return elements * static_cast<double>(size_of(dtype) + (file.dtype() == dtype ? 0 : file.stored_width()));
}

}  // namespace

bool KeyPieces::wanted(const std::string& k, const std::string& v, const PieceLimits& limits) {
  const double of_k = regular_bytes(k), of_v = regular_bytes(v);
  return of_k > 0 && of_v > 0 && of_k + of_v > static_cast<double>(limits.whole);
}

KeyPieces::KeyPieces(const std::string& k, const std::string& v)
    : k_(read_named("k", [&] { return io::NpyPieces(k); })), v_(read_named("v", [&] { return io::NpyPieces(v); })) {}

io::Array KeyPieces::outline(const io::NpyPieces& file) {
  io::Array array = io::make_array(DType::f64, {1});  // room for an element of any type
  array.dtype = file.dtype();
  array.stored_as = file.stored_as();
  array.shape = file.shape();
  array.stride.assign(array.shape.size(), 0);
  return array;
}

void KeyPieces::cut(size_t axis, DType dtype, const PieceLimits& limits) {
  axis_ = axis;
  dtype_ = dtype;
  const double a_key = std::max(1.0, bytes_of_a_key(k_, axis, dtype) + bytes_of_a_key(v_, axis, dtype));
  const auto fit = static_cast<int64_t>(static_cast<double>(limits.piece) / a_key);
  keys_ = fit >= limits.keys ? fit / limits.keys * limits.keys : std::max<int64_t>(1, fit);
}

KeyPieces::Piece KeyPieces::read(int64_t first, int64_t last) const {
  const auto part = [&](const char* name, const io::NpyPieces& file) {
    return convert(read_named(name, [&] { return file.read(axis_, first, last); }), dtype_);
  };
  return {.k = part("k", k_), .v = part("v", v_)};
}

}  // namespace foveate::cli
