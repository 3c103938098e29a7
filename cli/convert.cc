// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/convert.h"

#include <cassert>
#include <cstdint>
#include <utility>

#include "foveate/float16.h"

namespace foveate::cli {
namespace {

/// Rounded once, to the nearest.
template <class To, class From>
To converted(From x) {
  if constexpr (sizeof(From) == 2) {
    return static_cast<To>(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void convert_elements(const io::Array& from, io::Array& to) {
  int64_t extent[4] = {1, 1, 1, 1};
  int64_t stride[4] = {0, 0, 0, 0};
  assert(from.shape.size() <= 4);
  for (size_t axis = 0, place = 4 - from.shape.size(); axis < from.shape.size(); ++axis, ++place) {
    extent[place] = from.shape[axis];
    stride[place] = from.stride[axis];
  }
  const From* source = static_cast<const From*>(from.data());
  To* target = static_cast<To*>(to.data());
  for (int64_t a = 0; a < extent[0]; ++a) {
    for (int64_t b = 0; b < extent[1]; ++b) {
      for (int64_t c = 0; c < extent[2]; ++c) {
        const From* row = source + a * stride[0] + b * stride[1] + c * stride[2];
        for (int64_t d = 0; d < extent[3]; ++d) *target++ = converted<To>(row[d * stride[3]]);
      }
    }
  }
}

template <class To>
io::Array convert_to(const io::Array& from) {
  io::Array to = io::make_array(dtype_of<To>(), from.shape);
  if (from.size() == 0) return to;
  switch (from.dtype) {
    case DType::f16:
      convert_elements<Float16, To>(from, to);
      break;
    case DType::bf16:
      convert_elements<BFloat16, To>(from, to);
      break;
    case DType::f32:
      convert_elements<float, To>(from, to);
      break;
    default:
      assert(from.dtype == DType::f64);
      convert_elements<double, To>(from, to);
  }
  return to;
}

}  // namespace

io::Array convert(io::Array array, DType to) {
  if (array.dtype == to) return array;
  switch (to) {
    case DType::f16:
      return convert_to<Float16>(array);
    case DType::bf16:
      return convert_to<BFloat16>(array);
    case DType::f32:
      return convert_to<float>(array);
    default:
      assert(to == DType::f64);
      return convert_to<double>(array);
  }
}

}  // namespace foveate::cli
