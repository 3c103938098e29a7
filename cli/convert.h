// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Conversion between float types, as NumPy's astype does it: to nearest even, what is too large becomes infinite.
#ifndef FOVEATE_CLI_CONVERT_H_
#define FOVEATE_CLI_CONVERT_H_

#include "foveate/tensor.h"
#include "io/array.h"

namespace foveate::cli {

/// Any float type to any other. Of the same type: the array itself. At most four axes.
io::Array convert(io::Array array, DType to);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_CONVERT_H_
