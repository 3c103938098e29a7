// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// .npy files spelled out byte by byte.
#ifndef FOVEATE_TESTS_NPY_BYTES_H_
#define FOVEATE_TESTS_NPY_BYTES_H_

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "io/npy.h"

namespace foveate::io {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): the only way to use literals

inline std::string file(const std::string& dict, const std::string& data, int major = 1) {
  std::string bytes = "\x93NUMPY"s + static_cast<char>(major) + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) bytes += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  return bytes + dict + data;
}

inline std::string dict(const std::string& descr, const std::string& shape, bool fortran_order = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': " + shape +
         ", }\n";
}

inline Array read(const std::string& bytes) { return read_npy_bytes(std::as_bytes(std::span(bytes)), "x.npy"); }

inline std::string error_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline std::string written(const ConstArray& array) {
  std::string bytes;
  write_npy([&bytes](const void* data, size_t n) { bytes.append(static_cast<const char*>(data), n); }, array, "x.npy");
  return bytes;
}

template <class T>
std::vector<T> elements(const Array& array) {
  std::vector<T> out(static_cast<size_t>(array.size()));
  EXPECT_EQ(out.size() * sizeof(T), array.buffer.size());
  if (!out.empty()) std::memcpy(out.data(), array.data(), out.size() * sizeof(T));
  return out;
}

using Extents = std::vector<int64_t>;

// What Python 3.11 with NumPy 1.24 saved for np.save(f, np.array([[1, -2, 3], [4, 5, 6.5]], '<f4')).
inline const std::string kNumPyFile =
    "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"s + std::string(58, ' ') +
    "\n\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xd0\x40"s;

}  // namespace foveate::io

#endif  // FOVEATE_TESTS_NPY_BYTES_H_
