// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The header of a .safetensors file, a JSON object such as
//
//   {"__metadata__":{"format":"pt"},"q":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}
//
// padded with spaces. Offsets count bytes from the first after the header; together they cover all of the data, each
// byte once.
#ifndef FOVEATE_IO_SAFETENSORS_HEADER_H_
#define FOVEATE_IO_SAFETENSORS_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foveate/tensor.h"

namespace foveate::io {

struct SafetensorsTensor {
  std::string name;            ///< any UTF-8, none twice
  std::string dtype;           ///< as the file has it: "BF16"
  std::vector<int64_t> shape;  ///< the extents times 8 bytes, zeros left out, fit int64
  uint64_t begin = 0, end = 0;

  uint64_t bytes() const { return end - begin; }
};

/// Names and texts, in the order of the file.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsHeader {
  static constexpr uint64_t kMaxBytes = 100'000'000;  ///< what the format's own library takes
  static constexpr size_t kMaxAxes = 32;

  std::vector<SafetensorsTensor> tensors;  ///< in the order of their data
  SafetensorsMetadata metadata;

  /// What the data take in the file.
  uint64_t data_bytes() const { return tensors.empty() ? 0 : tensors.back().end; }
};

/// A dtype of the format.
struct SafetensorsType {
  std::string_view name;
  int bits;   ///< of an element
  char kind;  ///< f, b, i or u, as .npy has it; g for bfloat16; 0 for what is told of, but not read
};

/// The type of this name; none where the format has no such.
const SafetensorsType* find_safetensors_type(std::string_view name);

/// What the format calls it; "" where it has no such type.
std::string_view safetensors_name_of(DType dtype);

/// Parses the text after the length field and checks it, all but that the file is as long as it says; `name` stands for
/// the file in messages. Throws Error and std::bad_alloc.
SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& name);

}  // namespace foveate::io

#endif  // FOVEATE_IO_SAFETENSORS_HEADER_H_
