// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes in and elements out, whatever the format of the file.
#ifndef FOVEATE_IO_ELEMENTS_H_
#define FOVEATE_IO_ELEMENTS_H_

#include <cstddef>
#include <functional>

#include "io/array.h"
#include "io/source.h"

namespace foveate::io {

/// Takes the bytes of a file, in order.
using Sink = std::function<void(const void* data, size_t bytes)>;

/// Reads `bytes` bytes, fewer only where the source ends. Memory is taken at once where the source tells how much it
/// holds; out of a pipe it follows what arrives, whatever `bytes` says. Throws Error and std::bad_alloc.
Buffer read_bytes(Source& source, size_t bytes);

/// Gives the elements in C order, in pieces of whole elements.
void write_elements(const Sink& sink, const ConstArray& array);

}  // namespace foveate::io

#endif  // FOVEATE_IO_ELEMENTS_H_
