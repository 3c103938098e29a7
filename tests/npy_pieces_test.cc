// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Ranges of an axis of .npy files against the files as a whole: any order, type and axis; files that are not what they say.
#include "io/npy_pieces.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/npy_bytes.h"

namespace foveate::io {
namespace {

class NpyPiecesTest : public testing::Test {
 protected:
  NpyPiecesTest() {
    std::string pattern = testing::TempDir() + "npy_pieces_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~NpyPiecesTest() override { std::filesystem::remove_all(folder_); }

  std::string put(const std::string& bytes, const std::string& name = "x.npy") const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }

  static std::string error_of(const std::string& path) {
    try {
      NpyPieces file(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::string folder_;
};

/// Elements without a pattern, in so many bytes.
std::string noise(size_t bytes) {
  std::string data(bytes, '\0');
  uint32_t state = 1;
  for (char& c : data) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  return data;
}

/// The bytes of the element at `index`.
std::string element(const Array& array, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * array.stride[axis];
  const auto width = static_cast<size_t>(size_of(array.dtype));
  return {reinterpret_cast<const char*>(array.buffer.data()) + static_cast<size_t>(at) * width, width};
}

void expect_range(const Array& part, const Array& whole, size_t axis, int64_t first, int64_t last) {
  std::vector<int64_t> shape = whole.shape;
  shape[axis] = last - first;
  ASSERT_EQ(part.shape, shape);
  ASSERT_EQ(part.dtype, whole.dtype);
  EXPECT_EQ(part.stored_as, whole.stored_as);
  EXPECT_EQ(part.buffer.size(), static_cast<size_t>(part.size() * size_of(part.dtype)));
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < part.size(); ++i) {
    std::vector<int64_t> in_whole = index;
    in_whole[axis] += first;
    ASSERT_EQ(element(part, index), element(whole, in_whole)) << "axis " << axis << " element " << i;
    for (size_t a = shape.size(); a-- > 0 && ++index[a] == shape[a];) index[a] = 0;
  }
}

TEST_F(NpyPiecesTest, EachRangeOfEachAxisIsThatOfTheWhole) {
  const std::pair<const char*, size_t> types[] = {{"<f2", 2}, {"<f4", 4}, {">f4", 4}, {"<f8", 8}, {">f8", 8},
                                                  {"|b1", 1}, {">i2", 2}, {"<u4", 4}, {"<i8", 8}};
  for (const auto& [descr, width] : types) {
    for (const bool fortran : {false, true}) {
      SCOPED_TRACE(std::string(descr) + (fortran ? " fortran" : ""));
      const std::string path = put(file(dict(descr, "(2, 3, 5, 4)", fortran), noise(120 * width)));
      const Array whole = read_npy(path);
      const NpyPieces pieces(path);
      EXPECT_EQ(pieces.shape(), whole.shape);
      EXPECT_EQ(pieces.dtype(), whole.dtype);
      EXPECT_EQ(pieces.stored_width(), static_cast<int64_t>(width));
      for (size_t axis = 0; axis < 4; ++axis) {
        const int64_t n = whole.shape[axis];
        for (int64_t first = 0; first <= n; ++first) {
          for (int64_t last = first; last <= n; ++last) {
            expect_range(pieces.read(axis, first, last), whole, axis, first, last);
          }
        }
      }
    }
  }
}

TEST_F(NpyPiecesTest, EmptyAxesTakeNoTime) {
  for (const bool fortran : {false, true}) {
    const NpyPieces pieces(put(file(dict("<f4", "(1099511627776, 7, 0)", fortran), "")));
    EXPECT_EQ(pieces.read(1, 2, 5).shape, (Extents{int64_t{1} << 40, 3, 0}));
    EXPECT_EQ(pieces.read(2, 0, 0).shape, (Extents{int64_t{1} << 40, 7, 0}));
  }
}

TEST_F(NpyPiecesTest, BytesBehindTheElementsAreIgnored) {
  const NpyPieces pieces(put(file(dict("<i4", "(2,)"), std::string("\1\0\0\0\2\0\0\0more", 12))));
  EXPECT_EQ(elements<int32_t>(pieces.read(0, 1, 2)), std::vector<int32_t>{2});
}

TEST_F(NpyPiecesTest, NamesTheFileAndTheReason) {
  EXPECT_EQ(error_of(folder_ + "/none.npy"), folder_ + "/none.npy: No such file or directory");
  const std::string text = put("hello, hello", "text.npy");
  EXPECT_EQ(error_of(text), text + ": expected an .npy file, got one that does not start with \\x93NUMPY");
  const std::string brief = put(file(dict("<f4", "(2, 3)"), "12345678"), "short.npy");
  EXPECT_EQ(error_of(brief), brief + ": shape: (2, 3) of f4 takes 24 bytes, the file holds 8");
}

TEST_F(NpyPiecesTest, AFileThatShrinksMeanwhileIsAnError) {
  const std::string bytes = file(dict("<f4", "(4, 2)"), noise(32)), path = put(bytes);
  const NpyPieces pieces(path);
  std::filesystem::resize_file(path, bytes.size() - 12);
  EXPECT_EQ(pieces.read(0, 0, 2).size(), 4);
  try {
    pieces.read(0, 2, 4);
    ADD_FAILURE() << "read what is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path + ": shape: (4, 2) of f4 takes 32 bytes, the file holds 20");
  }
}

TEST_F(NpyPiecesTest, IntegersPastInt64AreRefused) {
  const NpyPieces pieces(put(file(dict("<u8", "(2,)"), std::string(8, '\0') + std::string(8, '\xff'))));
  EXPECT_EQ(pieces.read(0, 0, 1).size(), 1);
  EXPECT_THROW(pieces.read(0, 1, 2), Error);
}

}  // namespace
}  // namespace foveate::io
