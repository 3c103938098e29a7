// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The elements of an .npy file: from how they lie there to how this machine has them.
#ifndef FOVEATE_IO_NPY_ELEMENTS_H_
#define FOVEATE_IO_NPY_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "foveate/tensor.h"
#include "io/array.h"
#include "io/npy_header.h"

namespace foveate::io {

/// As NumPy names it: "float32", "uint16".
std::string type_name(const NpyElement& element);

/// The dtype that such elements are read as (npy.h tells which).
DType native_dtype(const NpyElement& element);

/// Makes elements as they lie in the file ours, in place, and says of which dtype they now are. `name` stands for the file
/// in messages. Throws Error where one does not fit, and std::bad_alloc.
DType make_native(const std::string& name, const NpyElement& element, Buffer& buffer);

/// Strides of packed elements in the order of the file.
std::vector<int64_t> strides(const NpyHeader& header, const std::vector<int64_t>& shape);

}  // namespace foveate::io

#endif  // FOVEATE_IO_NPY_ELEMENTS_H_
