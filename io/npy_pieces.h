// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// An .npy file larger than memory, read a range of one axis at a time: what lies together in the file is one read, so a
// range takes as many reads as there are indices on the axes that are slower than its own in the file's order.
#ifndef FOVEATE_IO_NPY_PIECES_H_
#define FOVEATE_IO_NPY_PIECES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "foveate/tensor.h"
#include "io/array.h"
#include "io/error.h"
#include "io/npy_header.h"
#include "io/source.h"

namespace foveate::io {

class NpyPieces {
 public:
  /// Opens a regular file, checks its header, and that it is as long as this says. Throws Error, as read() does.
  explicit NpyPieces(const std::string& path);

  const std::vector<int64_t>& shape() const { return header_.shape; }
  DType dtype() const;            ///< of the arrays that are read
  std::string stored_as() const;  ///< what the file calls it
  int64_t stored_width() const { return header_.element.width; }

  /// Elements [first, last) along `axis`, all there are along the others, in the order of the file.
  Array read(size_t axis, int64_t first, int64_t last) const;

 private:
  FileSource source_;
  NpyHeader header_;
  uint64_t start_;  ///< where the elements begin
};

}  // namespace foveate::io

#endif  // FOVEATE_IO_NPY_PIECES_H_
