// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// .safetensors files: tensors by name, little-endian, in C order.
//
//   read     F16 F32 F64 BF16 -> the same, BOOL -> boolean (any byte but 0 is true), I32 -> i32, I64 -> i64;
//            I8 I16 U8 U16 U32 U64 -> i64, where an element past int64 is refused
//   listed   besides these F8_*, F6_*, F4 and C64, which are refused when they are read
//   written  f16, f32, f64, bf16, boolean, i8, i32, i64
//
// Nothing in a header is trusted: it is checked as a whole before a tensor is read, memory for it is bounded by what
// the file holds, and what comes from a pipe is held in memory that grows with what has arrived. Everything here throws
// Error.
#ifndef FOVEATE_IO_SAFETENSORS_H_
#define FOVEATE_IO_SAFETENSORS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/array.h"
#include "io/elements.h"
#include "io/error.h"
#include "io/output_file.h"
#include "io/safetensors_header.h"
#include "io/source.h"

namespace foveate::io {

class Safetensors {
 public:
  /// Opens the file at `path`, and reads its header; "-" is standard input. A pipe is read to its end.
  explicit Safetensors(const std::string& path);

  /// Reads a source to its end.
  explicit Safetensors(Source& source);

  /// What messages call it.
  const std::string& name() const { return name_; }

  /// In the order of their data.
  const std::vector<SafetensorsTensor>& tensors() const { return header_.tensors; }
  const SafetensorsMetadata& metadata() const { return header_.metadata; }

  /// The tensor of this name, or nullptr.
  const SafetensorsTensor* find(std::string_view tensor) const;

  /// The tensors' names, for a message: "q, k, v", "a, b, ... (7 in all)", or "no tensor".
  std::string names() const;

  /// Reads one tensor.
  Array read(std::string_view tensor) const;

 private:
  void read_header(Source& source);
  void read_data(Source& source);
  void require_size(uint64_t got) const;
  Buffer bytes_of(const SafetensorsTensor& tensor) const;

  std::string name_;
  SafetensorsHeader header_;
  std::unique_ptr<FileSource> file_;  ///< what tensors are read from; none where data_ holds them all
  uint64_t start_ = 0;                ///< where the data begin in it
  Buffer data_;
};

struct NamedArray {
  std::string name;
  ConstArray array;
};

/// Writes one file. Tensors of wide elements come first, so that each is aligned, else in the order given.
void write_safetensors(OutputFile& out, std::span<const NamedArray> tensors, const SafetensorsMetadata& metadata = {});

/// Writes the bytes of one file, in order, to `sink`; `name` stands for it in messages.
void write_safetensors(const Sink& sink, std::span<const NamedArray> tensors, const SafetensorsMetadata& metadata = {},
                       const std::string& name = "safetensors");

}  // namespace foveate::io

#endif  // FOVEATE_IO_SAFETENSORS_H_
