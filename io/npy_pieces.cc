// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/npy_pieces.h"

#include <cassert>
#include <new>

#include "io/npy_elements.h"

namespace foveate::io {

NpyPieces::NpyPieces(const std::string& path)
    : source_(path), header_(read_npy_header(source_)), start_(source_.position()) {
  const auto left = source_.remaining();
  if (!left) throw Error(source_.name(), "expected a regular file, which can be read in pieces");
  if (*left < static_cast<uint64_t>(header_.bytes())) refuse_size(source_.name(), header_, *left);
}

DType NpyPieces::dtype() const { return native_dtype(header_.element); }

std::string NpyPieces::stored_as() const { return type_name(header_.element); }

Array NpyPieces::read(size_t axis, int64_t first, int64_t last) const {
  assert(axis < shape().size() && first >= 0 && first <= last && last <= shape()[axis]);
  // Axes slower and faster than this one in the file: before and behind it in C order, the reverse in Fortran order.
  int64_t before = 1, behind = 1;
  for (size_t other = 0; other < shape().size(); ++other) {
    if (other < axis) before *= shape()[other];
    if (other > axis) behind *= shape()[other];
  }
  const int64_t runs = header_.fortran_order ? behind : before;
  const int64_t step = (header_.fortran_order ? before : behind) * header_.element.width;  // bytes along the axis
  const auto run_bytes = static_cast<size_t>((last - first) * step);

  Array array;
  array.shape = shape();
  array.shape[axis] = last - first;
  array.stride = strides(header_, array.shape);
  array.stored_as = stored_as();
  try {
    array.buffer = Buffer(static_cast<size_t>(runs) * run_bytes);
    for (int64_t run = 0; run_bytes > 0 && run < runs; ++run) {
      const uint64_t place = start_ + static_cast<uint64_t>((run * shape()[axis] + first) * step);
      std::byte* const data = array.buffer.data() + static_cast<size_t>(run) * run_bytes;
      const size_t got = source_.read_at(place, data, run_bytes);
      if (got < run_bytes) refuse_size(source_.name(), header_, place + got - start_);
    }
    array.dtype = make_native(source_.name(), header_.element, array.buffer);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(source_.name(), "not enough memory for a piece of it");
  }
  return array;
}

}  // namespace foveate::io
