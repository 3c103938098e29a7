// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The header of an .npy file: a Python dict such as
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//
// in any order of keys, with any spaces, either kind of quotes, and commas before the brackets that close.
#ifndef FOVEATE_IO_NPY_HEADER_H_
#define FOVEATE_IO_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foveate/tensor.h"
#include "io/source.h"

namespace foveate::io {

/// How elements lie in the file: the letter and the bytes of NumPy's descr, and whether to swap these bytes.
struct NpyElement {
  char kind = 0;  ///< f, b, i or u
  int width = 0;
  bool swapped = false;
};

struct NpyHeader {
  static constexpr size_t kMaxAxes = 32;

  NpyElement element;
  bool fortran_order = false;
  std::vector<int64_t> shape;  ///< the extents times 8 bytes, zeros left out, fit int64

  /// What its elements take in the file.
  int64_t bytes() const;
};

/// Reads all that comes before the elements. Throws Error.
NpyHeader read_npy_header(Source& source);

/// Parses the text after the length field; `name` stands for the file in messages. Throws Error.
NpyHeader parse_npy_header(std::string_view text, const std::string& name);

/// Everything before the elements, in version 1.0 and C order, its length a multiple of 64. At most kMaxAxes axes keep
/// it far below the 65,535 bytes that this version can tell. Throws Error where .npy has no such dtype.
std::string format_npy_header(DType dtype, const std::vector<int64_t>& shape, const std::string& name);

/// Throws the Error of a file that holds `got` bytes of its elements, fewer than its header says.
[[noreturn]] void refuse_size(const std::string& name, const NpyHeader& header, uint64_t got);

/// A shape as Python writes it: "()", "(3,)", "(3, 4)".
std::string to_string(const std::vector<int64_t>& shape);

}  // namespace foveate::io

#endif  // FOVEATE_IO_NPY_HEADER_H_
