// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The .npy reader and writer against files spelled out byte by byte, as NumPy writes them and as an attacker would.
#include "io/npy.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/npy_bytes.h"

namespace foveate::io {
namespace {

TEST(NpyRead, FileOfNumPy) {
  const Array array = read(kNumPyFile);
  EXPECT_EQ(array.dtype, DType::f32);
  EXPECT_EQ(array.shape, (Extents{2, 3}));
  EXPECT_EQ(array.stride, (Extents{3, 1}));
  EXPECT_EQ(elements<float>(array), (std::vector<float>{1, -2, 3, 4, 5, 6.5}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0u);
}

TEST(NpyRead, EveryVersion) {
  for (const int major : {1, 2, 3}) {
    EXPECT_EQ(elements<int32_t>(read(file(dict("<i4", "(1,)"), "\x07\x00\x00\x00"s, major))), std::vector<int32_t>{7})
        << major;
  }
}

TEST(NpyRead, Floats) {
  const Array half = read(file(dict("<f2", "(2,)"), "\x00\x3c\x01\x80"s));
  EXPECT_EQ(half.dtype, DType::f16);
  EXPECT_EQ(elements<uint16_t>(half), (std::vector<uint16_t>{0x3c00, 0x8001}));
  EXPECT_EQ(elements<uint16_t>(read(file(dict(">f2", "(2,)"), "\x3c\x00\x80\x01"s))), elements<uint16_t>(half));

  const Array big = read(file(dict(">f4", "(2,)"), "\x3f\x80\x00\x00\xc0\x00\x00\x00"s));
  EXPECT_EQ(big.dtype, DType::f32);
  EXPECT_EQ(elements<float>(big), (std::vector<float>{1, -2}));

  const Array wide = read(file(dict("<f8", "(1,)"), "\x00\x00\x00\x00\x00\x00\xf8\x3f"s));
  EXPECT_EQ(wide.dtype, DType::f64);
  EXPECT_EQ(elements<double>(wide), std::vector<double>{1.5});
  EXPECT_EQ(elements<double>(read(file(dict(">f8", "(1,)"), "\x3f\xf8\x00\x00\x00\x00\x00\x00"s))),
            std::vector<double>{1.5});
}

TEST(NpyRead, FloatBitsSurvive) {  // a signalling NaN with a payload, infinity, a subnormal, -0
  const std::string data = "\x01\x00\xa0\x7f\x00\x00\x80\xff\x01\x00\x00\x00\x00\x00\x00\x80"s;
  EXPECT_EQ(elements<uint32_t>(read(file(dict("<f4", "(4,)"), data))),
            (std::vector<uint32_t>{0x7fa00001, 0xff800000, 1, 0x80000000}));
}

TEST(NpyRead, ByteOrders) {
  for (const char* descr : {"<i4", "=i4", "|i4", "i4"}) {
    EXPECT_EQ(elements<int32_t>(read(file(dict(descr, "(1,)"), "\x01\x02\x03\xff"s))),
              std::vector<int32_t>{static_cast<int32_t>(0xff030201)})
        << descr;
  }
  EXPECT_EQ(elements<int32_t>(read(file(dict(">i4", "(1,)"), "\xff\x03\x02\x01"s))),
            std::vector<int32_t>{static_cast<int32_t>(0xff030201)});
}

TEST(NpyRead, IntegersKeptOrWidened) {
  const struct {
    const char* descr;
    std::string data;
    DType dtype;
    int64_t first, second;
  } cases[] = {
      {"|i1", "\x80\x7f"s, DType::i64, -128, 127},
      {"|u1", "\xff\x01"s, DType::i64, 255, 1},
      {"<i2", "\x00\x80\xff\x7f"s, DType::i64, -32768, 32767},
      {">i2", "\x80\x00\x7f\xff"s, DType::i64, -32768, 32767},
      {"<u2", "\xff\xff\x01\x00"s, DType::i64, 65535, 1},
      {"<i4", "\x00\x00\x00\x80\xff\xff\xff\x7f"s, DType::i32, -2147483648, 2147483647},
      {"<u4", "\xff\xff\xff\xff\x01\x00\x00\x00"s, DType::i64, 4294967295, 1},
      {">u4", "\xff\xff\xff\xff\x00\x00\x00\x01"s, DType::i64, 4294967295, 1},
      {"<i8", "\xfe\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00"s, DType::i64, -2, 1},
      {">i8", "\xff\xff\xff\xff\xff\xff\xff\xfe\x00\x00\x00\x00\x00\x00\x00\x01"s, DType::i64, -2, 1},
      {"<u8", "\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x00\x00\x00\x00\x00\x00\x00"s, DType::i64,
       std::numeric_limits<int64_t>::max(), 1},
      {">u8", "\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x01"s, DType::i64,
       std::numeric_limits<int64_t>::max(), 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.descr);
    const Array array = read(file(dict(c.descr, "(2,)"), c.data));
    ASSERT_EQ(array.dtype, c.dtype);
    if (c.dtype == DType::i32) {
      EXPECT_EQ(elements<int32_t>(array),
                (std::vector<int32_t>{static_cast<int32_t>(c.first), static_cast<int32_t>(c.second)}));
    } else {
      EXPECT_EQ(elements<int64_t>(array), (Extents{c.first, c.second}));
    }
  }
}

TEST(NpyRead, UnsignedPastInt64) {
  EXPECT_EQ(error_of(file(dict("<u8", "(2,)"), "\0\0\0\0\0\0\0\0\x00\x00\x00\x00\x00\x00\x00\x80"s)),
            "x.npy: uint64 element 1: expected an integer below 2^63, got 9223372036854775808");
}

TEST(NpyRead, BooleansAreZeroOrOne) {
  const Array array = read(file(dict("|b1", "(4,)"), "\x00\x01\x02\xff"s));
  EXPECT_EQ(array.dtype, DType::boolean);
  EXPECT_EQ(elements<uint8_t>(array), (std::vector<uint8_t>{0, 1, 1, 1}));
}

TEST(NpyRead, FortranOrderIsStrides) {
  const Array array = read(file(dict("|i1", "(2, 3, 2)", true), "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"s));
  EXPECT_EQ(array.shape, (Extents{2, 3, 2}));
  EXPECT_EQ(array.stride, (Extents{1, 2, 6}));
  // Written anew it is in C order: element [i, j, k] was number i + 2 j + 6 k.
  EXPECT_EQ(elements<int64_t>(read(written(array))), (Extents{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}));
}

TEST(NpyRead, ShapesWithoutElementsOrAxes) {
  const Array scalar = read(file(dict("<i4", "()"), "\x2a\x00\x00\x00"s));
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(elements<int32_t>(scalar), std::vector<int32_t>{42});
  for (const bool fortran_order : {false, true}) {
    const Array empty = read(file(dict("<f4", "(3, 0, 5)", fortran_order), ""));
    EXPECT_EQ(empty.shape, (Extents{3, 0, 5}));
    EXPECT_EQ(empty.size(), 0);
    EXPECT_EQ(read(written(empty)).shape, empty.shape);
  }
}

TEST(NpyRead, PythonsLatitude) {
  for (const char* header : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}",
           "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3), }   \n",
           " \t{ 'fortran_order' : False ,\n'descr'\t: '<f4' , 'shape' : ( 2 , 3 , ) , }\r\n",
       }) {
    EXPECT_EQ(read(file(header, kNumPyFile.substr(128))).shape, (Extents{2, 3})) << header;
  }
}

TEST(NpyRead, TrailingBytesAreIgnored) {
  EXPECT_EQ(elements<float>(read(kNumPyFile + "more")), elements<float>(read(kNumPyFile)));
}

TEST(NpyRead, ThirtyTwoAxes) {
  std::string shape = "(";
  for (int i = 0; i < 32; ++i) shape += "1,";
  const std::string most = file(dict("|b1", shape + ")"), "\x01");
  EXPECT_EQ(read(most).shape, Extents(32, 1));
  EXPECT_EQ(read(written(read(most))).shape, Extents(32, 1));
  EXPECT_EQ(error_of(file(dict("|b1", shape + "1,)"), "\x01")), "x.npy: shape: expected at most 32 axes, got more");
}

TEST(NpyRead, Truncated) {
  for (size_t n = 0; n < kNumPyFile.size(); ++n) {
    EXPECT_EQ(error_of(kNumPyFile.substr(0, n)).substr(0, 7), "x.npy: ") << n;
  }
  EXPECT_EQ(error_of(""), "x.npy: not a whole .npy file: ends in its first 8 bytes");
  EXPECT_EQ(error_of(kNumPyFile.substr(0, 9)), "x.npy: not a whole .npy file: ends in the length of its header");
  EXPECT_EQ(error_of(kNumPyFile.substr(0, 100)), "x.npy: header: its length says 118 bytes, the file has 90 left");
  EXPECT_EQ(error_of(kNumPyFile.substr(0, kNumPyFile.size() - 1)),
            "x.npy: shape: (2, 3) of f4 takes 24 bytes, the file holds 23");
}

TEST(NpyRead, NotNpy) {
  const std::string message = "x.npy: expected an .npy file, got one that does not start with \\x93NUMPY";
  EXPECT_EQ(error_of("PK\x03\x04 a zip archive"), message);
  EXPECT_EQ(error_of("\x93NUMPX\x01\x00\x76\x00"s), message);
  for (const int major : {0, 4, 255}) {
    EXPECT_EQ(error_of(file(dict("<f4", "()"), "1234", major)),
              "x.npy: expected .npy version 1.0, 2.0 or 3.0, got " + std::to_string(major) + ".0");
  }
  EXPECT_EQ(error_of("\x93NUMPY\x01\x01\x00\x00"s), "x.npy: expected .npy version 1.0, 2.0 or 3.0, got 1.1");
}

TEST(NpyRead, DtypesThatAreRefused) {
  const std::string accepted = "x.npy: dtype: expected one of f2 f4 f8 b1 i1 i2 i4 i8 u1 u2 u4 u8, got ";
  const std::string remedy = "; convert it first, say with .astype('f4')";
  for (const char* descr : {"<c8", "<c16", "|O", "|S3", "<U5", "<M8[ns]", "<m8", "|V2", "<f16", "<f3", "", "<", "f",
                            "<<f4", "<f4 ", " <f4", "<f44", "float32", "\\x66"}) {
    EXPECT_EQ(error_of(file(dict(descr, "(1,)"), std::string(64, '\0'))), accepted + "'" + descr + "'" + remedy);
  }
  for (const char* descr : {"[('a', '<f4'), ('b', '<i4')]", "('<f4', (2,))", "[[[[[["}) {
    EXPECT_EQ(error_of(file("{'descr': "s + descr + ", 'fortran_order': False, 'shape': (1,)}", "12345678")),
              accepted + "a structured one" + remedy);
  }
  EXPECT_EQ(error_of(file(dict("\x01\n\xff" + std::string(100, 'x'), "(1,)"), "1234")),
            accepted + "'???xxxxxxxxxxxxxxxxxxxxx...'" + remedy);
}

TEST(NpyRead, HostileHeaders) {
  const struct {
    std::string header, message;
  } cases[] = {
      {"", "expected a dict, got its end at byte 0"},
      {"[]", "expected a dict, got '[' at byte 0"},
      {std::string(60000, '('), "expected a dict, got '(' at byte 0"},
      {std::string(60000, '{'), "expected a key in quotes, got '{' at byte 1"},
      {"{}", "expected the key descr, got none"},
      {"{,}", "expected a key in quotes, got ',' at byte 1"},
      {"{'descr': '<f4'}", "expected the key fortran_order, got none"},
      {"{'descr': '<f4', 'fortran_order': False}", "expected the key shape, got none"},
      {"{'fortran_order': False, 'shape': (1,)}", "expected the key descr, got none"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
       "expected the key descr once, got it twice"},
      {"{'shape': (1,), 'shape': (1,)}", "expected the key shape once, got it twice"},
      {"{'fortran_order': True, 'fortran_order': True}", "expected the key fortran_order once, got it twice"},
      {"{'order': 'C'}", "expected the keys descr, fortran_order and shape, got 'order'"},
      {"{'de\nscr': '<f4'}", "expected the keys descr, fortran_order and shape, got 'de?scr'"},
      {"{'descr", "expected a closing quote, got its end"},
      {"{'descr\": '<f4'}", "expected ':', got '<' at byte 11"},
      {"{'descr' '<f4'}", "expected ':', got ''' at byte 9"},
      {"{'descr': '<f4' 'shape': ()}", "expected ',' or '}', got ''' at byte 16"},
      {"{'descr': '<f4',, 'shape': ()}", "expected a key in quotes, got ',' at byte 16"},
      {"{'descr': 4}", "expected a dtype in quotes, got '4' at byte 10"},
      {"{descr: '<f4'}", "expected a key in quotes, got 'd' at byte 1"},
      {"{'fortran_order': 1}", "expected True or False, got '1' at byte 18"},
      {"{'fortran_order': Falsehood}", "expected ',' or '}', got 'h' at byte 23"},
      {"{'fortran_order': None}", "expected True or False, got 'N' at byte 18"},
      {"{'shape': [1]}", "expected a tuple of axis lengths, got '[' at byte 10"},
      {"{'shape': 1}", "expected a tuple of axis lengths, got '1' at byte 10"},
      {"{'shape': (,)}", "expected an axis length, got ',' at byte 11"},
      {"{'shape': (1 2)}", "expected ',' or ')', got '2' at byte 13"},
      {"{'shape': (1,,)}", "expected an axis length, got ',' at byte 13"},
      {"{'shape': (1.5,)}", "expected ',' or ')', got '.' at byte 12"},
      {"{'shape': (True,)}", "expected an axis length, got 'T' at byte 11"},
      {"{'shape': ((1,),)}", "expected an axis length, got '(' at byte 11"},
      {"{'shape': (1, ", "expected an axis length, got its end at byte 14"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
       "expected nothing after the dict, got 'x' at byte 56"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\0"s,
       "expected nothing after the dict, got '?' at byte 55"},
      {"\xc3\xa9{}", "expected a dict, got '?' at byte 0"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(error_of(file(c.header, "1234", 2)), "x.npy: header: " + c.message) << c.header.substr(0, 80);
  }
}

TEST(NpyRead, HostileShapes) {
  const struct {
    const char *shape, *message;
  } cases[] = {
      {"(1)", "expected a tuple, got a number in brackets"},
      {"(-1,)", "expected axis lengths of at least 0, got a negative one"},
      {"(2, -9223372036854775808)", "expected axis lengths of at least 0, got a negative one"},
      {"(03,)", "expected a number, got a leading zero"},
      {"(9223372036854775807,)", "expected a size below 2^63 bytes, got more"},
      {"(9223372036854775808,)", "expected a size below 2^63 bytes, got more"},
      {"(99999999999999999999999999999999999999,)", "expected a size below 2^63 bytes, got more"},
      {"(4294967296, 4294967296)", "expected a size below 2^63 bytes, got more"},
      {"(1152921504606846976,)", "expected a size below 2^63 bytes, got more"},
      {"(0, 4294967296, 4294967296)", "expected a size below 2^63 bytes, got more"},
      {"(1152921504606846975,)", "(1152921504606846975,) of f4 takes 4611686018427387900 bytes, the file holds 8"},
      {"(1000000, 1000000)", "(1000000, 1000000) of f4 takes 4000000000000 bytes, the file holds 8"},
      {"(3,)", "(3,) of f4 takes 12 bytes, the file holds 8"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(error_of(file(dict("<f4", c.shape), "12345678")), "x.npy: shape: "s + c.message);
  }
}

TEST(NpyRead, HeaderLengthPastTheFile) {
  EXPECT_EQ(error_of("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s),
            "x.npy: header: expected at most 1 MiB, got 4294967295 bytes");
  EXPECT_EQ(error_of("\x93NUMPY\x01\x00\xff\xff{}"s),
            "x.npy: header: its length says 65535 bytes, the file has 2 left");
}

TEST(NpyWrite, AsNumPyDoes) { EXPECT_EQ(written(read(kNumPyFile)), kNumPyFile); }

TEST(NpyWrite, EveryDtype) {
  const struct {
    DType dtype;
    const char* descr;
  } cases[] = {{DType::f64, "<f8"}, {DType::f32, "<f4"}, {DType::f16, "<f2"},
               {DType::i64, "<i8"}, {DType::i32, "<i4"}, {DType::boolean, "|b1"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.descr);
    const Array array = make_array(c.dtype, {5});
    const std::string bytes = written(array);
    EXPECT_NE(bytes.find("'"s + c.descr + "', 'fortran_order': False, 'shape': (5,), }"), std::string::npos);
    EXPECT_EQ(bytes.find('\n') % 64, 63u);
    EXPECT_EQ(bytes.size(), bytes.find('\n') + 1 + 5 * static_cast<size_t>(size_of(c.dtype)));
    EXPECT_EQ(read(bytes).dtype, c.dtype);
  }
}

TEST(NpyWrite, DtypesWithoutAName) {
  const uint16_t element = 0;
  try {
    written({&element, DType::bf16, {1}, {1}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "x.npy: dtype: .npy has no bfloat16; write it as float32");
  }
}

TEST(NpyWrite, AnyStrides) {
  const int32_t data[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto of = [&data](int start, Extents shape, Extents stride) {
    return elements<int32_t>(read(written({data + start, DType::i32, std::move(shape), std::move(stride)})));
  };
  using Ints = std::vector<int32_t>;
  EXPECT_EQ(of(0, {2, 3}, {6, 2}), (Ints{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(of(0, {3, 2}, {1, 3}), (Ints{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(of(11, {2, 2}, {-4, -1}), (Ints{11, 10, 7, 6}));
  EXPECT_EQ(of(5, {2, 2}, {0, 0}), (Ints{5, 5, 5, 5}));
  EXPECT_EQ(of(0, {2, 2, 3}, {3, 6, 1}), (Ints{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(of(0, {1, 3, 1}, {-7, 1, 99}), (Ints{0, 1, 2}));  // strides of axes of length 1 do not count
  EXPECT_EQ(of(0, {0, 3}, {3, 1}), Ints{});
}

TEST(NpyWrite, StridedRowsLongerThanAPiece) {
  Array array = make_array(DType::i64, {2, 20000});
  auto* data = static_cast<int64_t*>(array.data());
  for (int64_t i = 0; i < array.size(); ++i) data[i] = i;
  const std::vector<int64_t> columns = elements<int64_t>(read(written({data, DType::i64, {2, 20000}, {1, 2}})));
  for (int64_t i = 0; i < array.size(); ++i) ASSERT_EQ(columns[i], i / 20000 + i % 20000 * 2);
}

TEST(NpyWrite, BytesOfEveryFloatSurvive) {
  Array array = make_array(DType::f32, {1 << 16});
  auto* data = static_cast<uint32_t*>(array.data());
  for (uint32_t i = 0; i < 1 << 16; ++i) data[i] = i << 16 | (i * 40503u & 0xffff);
  EXPECT_EQ(elements<uint32_t>(read(written(array))), elements<uint32_t>(array));
}

TEST(Array, StartsAtZero) {
  const Array array = make_array(DType::f64, {1000, 33});
  EXPECT_EQ(array.stride, (Extents{33, 1}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0u);
  for (const double x : elements<double>(array)) ASSERT_EQ(x, 0);
}

TEST(Array, BufferKeepsItsBytesWhenItGrows) {
  for (const size_t start : {0, 1, 1000, 1 << 20}) {
    Buffer buffer(start);
    for (size_t i = 0; i < start; ++i) buffer.data()[i] = static_cast<std::byte>(i * 7);
    for (const size_t next : {start + 1, 3 * start + 64, size_t{1} << 22, start}) {
      buffer.resize(next);
      EXPECT_EQ(buffer.size(), next);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
      for (size_t i = 0; i < start; ++i) ASSERT_EQ(buffer.data()[i], static_cast<std::byte>(i * 7));
    }
  }
}

}  // namespace
}  // namespace foveate::io
