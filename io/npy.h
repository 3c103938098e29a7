// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files, versions 1.0, 2.0 and 3.0, either byte order, C and Fortran order.
//
//   read     f2 -> f16, f4 -> f32, f8 -> f64, b1 -> boolean (any byte but 0 is true), i4 -> i32, i8 -> i64;
//            i1 i2 u1 u2 u4 u8 -> i64, where an element past int64 is refused
//   written  the same kinds from f16, f32, f64, boolean, i32, i64; version 1.0, C order, this machine's byte order
//
// Nothing in a header is trusted: a shape larger than the file is refused before memory is asked for, and what comes
// from a pipe is held in memory that grows with what has arrived. Bytes after the last element are ignored, as NumPy
// ignores them. Everything here throws Error.
#ifndef FOVEATE_IO_NPY_H_
#define FOVEATE_IO_NPY_H_

#include <cstddef>
#include <span>
#include <string>

#include "io/array.h"
#include "io/elements.h"
#include "io/error.h"
#include "io/output_file.h"
#include "io/source.h"

namespace foveate::io {

/// Reads the file at `path`; "-" is standard input.
Array read_npy(const std::string& path);

/// Reads from where a source stands.
Array read_npy(Source& source);

/// Reads a file held in memory; `name` stands for it in messages.
Array read_npy_bytes(std::span<const std::byte> bytes, const std::string& name = "npy");

/// Writes one file.
void write_npy(OutputFile& out, const ConstArray& array);

/// Writes the bytes of one file, in order, to `sink`; `name` stands for it in messages.
void write_npy(const Sink& sink, const ConstArray& array, const std::string& name = "npy");

}  // namespace foveate::io

#endif  // FOVEATE_IO_NPY_H_
