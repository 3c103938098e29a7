// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The .safetensors reader and writer against files spelled out byte by byte, as others write them and as an attacker
// would.
#include "io/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/npy_bytes.h"

namespace foveate::io {
namespace {

namespace fs = std::filesystem;

std::string length_field(uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  return bytes;
}

std::string safetensors(const std::string& header, const std::string& data = "") {
  return length_field(header.size()) + header + data;
}

/// The header's entry of a tensor.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

/// A file of one tensor, "x".
std::string one(const std::string& dtype, const std::string& shape, const std::string& data) {
  return safetensors("{" + entry("x", dtype, shape, "[0," + std::to_string(data.size()) + "]") + "}", data);
}

Safetensors opened(const std::string& bytes) {
  MemorySource source(std::as_bytes(std::span(bytes)), "x");
  return Safetensors(source);
}

/// Memory that does not tell its size, like a pipe.
class Pipe final : public Source {
 public:
  explicit Pipe(std::string bytes)
      : Source("x"), bytes_(std::move(bytes)), left_(std::as_bytes(std::span(bytes_)), "x") {}
  size_t read(void* data, size_t bytes) override { return left_.read(data, bytes); }
  std::optional<uint64_t> remaining() const override { return std::nullopt; }

 private:
  std::string bytes_;
  MemorySource left_;
};

template <class Call>
std::string error_text(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  return "no error";
}

std::string refusal(const std::string& bytes) {
  return error_text([&] { opened(bytes); });
}

std::string written_tensors(const std::vector<NamedArray>& tensors, const SafetensorsMetadata& metadata = {}) {
  std::string bytes;
  const Sink sink = [&bytes](const void* data, size_t n) { bytes.append(static_cast<const char*>(data), n); };
  write_safetensors(sink, tensors, metadata, "x");
  return bytes;
}

// The example of the format's own library: "attn.0", F32 [1, 2, 3], 0 to 5.
const std::string kHeader = R"({"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}})";
const std::string kData = "\0\0\0\0\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@"s;
const std::string kFile = "@\0\0\0\0\0\0\0"s + kHeader + kData;

TEST(SafetensorsRead, FileByHand) {
  const Safetensors file = opened(kFile);
  EXPECT_EQ(file.name(), "x");
  ASSERT_EQ(file.tensors().size(), 1u);
  EXPECT_EQ(file.tensors()[0].name, "attn.0");
  EXPECT_EQ(file.tensors()[0].dtype, "F32");
  EXPECT_EQ(file.tensors()[0].shape, (Extents{1, 2, 3}));
  EXPECT_EQ(file.tensors()[0].bytes(), 24u);
  EXPECT_TRUE(file.metadata().empty());
  EXPECT_EQ(file.find("attn.0"), file.tensors().data());
  EXPECT_EQ(file.find("attn"), nullptr);
  const Array array = file.read("attn.0");
  EXPECT_EQ(array.dtype, DType::f32);
  EXPECT_EQ(array.stored_as, "F32");
  EXPECT_EQ(array.shape, (Extents{1, 2, 3}));
  EXPECT_EQ(array.stride, (Extents{6, 3, 1}));
  EXPECT_EQ(elements<float>(array), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % Buffer::kAlignment, 0u);
  EXPECT_EQ(elements<float>(file.read("attn.0")), elements<float>(array)) << "read once more";
}

TEST(SafetensorsRead, ManyTensorsInTheOrderOfTheirData) {
  const std::string header = R"({ "b" : {"data_offsets": [2, 4], "shape": [2], "dtype": "U8"},)"
                             R"("empty":{"dtype":"F64","shape":[3,0],"data_offsets":[2,2]},)"
                             R"("__metadata__":{"format":"pt","\u00e9\n":""},)"
                             R"("é \"q\"":{"dtype":"I16","shape":[],"data_offsets":[0,2]} }  )"
                             "\n ";
  const Safetensors file = opened(safetensors(header, "\xfe\xff\x01\xff"));
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.names(), "é \"q\", empty, b");
  EXPECT_EQ(file.metadata(), (SafetensorsMetadata{{"format", "pt"}, {"é\n", ""}}));
  EXPECT_EQ(elements<int64_t>(file.read("é \"q\"")), Extents{-2});
  EXPECT_EQ(elements<int64_t>(file.read("b")), (Extents{1, 255}));
  EXPECT_EQ(file.read("empty").shape, (Extents{3, 0}));
  EXPECT_EQ(file.read("empty").dtype, DType::f64);
}

TEST(SafetensorsRead, NoTensors) {
  EXPECT_TRUE(opened(safetensors("{}")).tensors().empty());
  EXPECT_EQ(opened(safetensors("{}      ")).names(), "no tensor");
  EXPECT_EQ(opened(safetensors(R"({"__metadata__":{}})")).metadata().size(), 0u);
}

TEST(SafetensorsRead, FloatsKeepTheirBits) {
  const Array bf16 = opened(one("BF16", "[2]", "\x80\x3f\xa0\x7f"s)).read("x");
  EXPECT_EQ(bf16.dtype, DType::bf16);
  EXPECT_EQ(bf16.stored_as, "BF16");
  EXPECT_EQ(elements<uint16_t>(bf16), (std::vector<uint16_t>{0x3f80, 0x7fa0}));
  const Array f16 = opened(one("F16", "[2]", "\x00\x3c\x01\x80"s)).read("x");
  EXPECT_EQ(f16.dtype, DType::f16);
  EXPECT_EQ(elements<uint16_t>(f16), (std::vector<uint16_t>{0x3c00, 0x8001}));
  const Array f64 = opened(one("F64", "[1]", "\x00\x00\x00\x00\x00\x00\xf8\x3f"s)).read("x");
  EXPECT_EQ(f64.dtype, DType::f64);
  EXPECT_EQ(elements<double>(f64), std::vector<double>{1.5});
}

TEST(SafetensorsRead, IntegersKeptOrWidened) {
  const struct {
    const char* dtype;
    std::string data;
    int64_t first, second;
  } cases[] = {
      {"I8", "\x80\x7f"s, -128, 127},
      {"U8", "\xff\x01"s, 255, 1},
      {"I16", "\x00\x80\xff\x7f"s, -32768, 32767},
      {"U16", "\xff\xff\x01\x00"s, 65535, 1},
      {"U32", "\xff\xff\xff\xff\x01\x00\x00\x00"s, 4294967295, 1},
      {"I64", "\xfe\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00"s, -2, 1},
      {"U64", "\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x00\x00\x00\x00\x00\x00\x00"s, std::numeric_limits<int64_t>::max(),
       1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.dtype);
    const Array array = opened(one(c.dtype, "[2]", c.data)).read("x");
    EXPECT_EQ(array.dtype, DType::i64);
    EXPECT_EQ(array.stored_as, c.dtype);
    EXPECT_EQ(elements<int64_t>(array), (Extents{c.first, c.second}));
  }
  const Array kept = opened(one("I32", "[1]", "\x01\x00\x00\x80"s)).read("x");
  EXPECT_EQ(kept.dtype, DType::i32);
  EXPECT_EQ(elements<int32_t>(kept), std::vector<int32_t>{-2147483647});
  const Array boolean = opened(one("BOOL", "[3]", "\x00\x01\xff"s)).read("x");
  EXPECT_EQ(boolean.dtype, DType::boolean);
  EXPECT_EQ(elements<uint8_t>(boolean), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(SafetensorsRead, WhatCannotBeReadIsListedAllTheSame) {
  const std::pair<const char*, size_t> types[] = {{"F8_E4M3", 8},     {"F8_E5M2", 8}, {"F8_E4M3FNUZ", 8},
                                                  {"F8_E5M2FNUZ", 8}, {"F8_E8M0", 8}, {"F6_E2M3", 6},
                                                  {"F6_E3M2", 6},     {"F4", 4},      {"C64", 64}};
  for (const auto& [dtype, bits] : types) {
    const Safetensors file = opened(one(dtype, "[4,2]", std::string(bits, '\1')));
    EXPECT_EQ(file.tensors().at(0).dtype, dtype);
    EXPECT_EQ(error_text([&] { file.read("x"); }),
              "x: tensor 'x': dtype: "s + dtype + " cannot be read; save it as F32 or BF16");
  }
  EXPECT_EQ(refusal(one("F4", "[3]", "12")), "x: tensor 'x': shape: [3] of F4 ends inside a byte");
}

TEST(SafetensorsRead, TensorsThatAreRefused) {
  EXPECT_EQ(error_text([] { opened(kFile).read("q"); }), "x: no tensor 'q'; it holds attn.0");
  EXPECT_EQ(error_text([] { opened(safetensors("{}")).read("q\n"); }), "x: no tensor 'q?'; it holds no tensor");
  EXPECT_EQ(error_text([] { opened(one("U64", "[2]", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80"s)).read("x"); }),
            "x: tensor 'x': uint64 element 1: expected an integer below 2^63, got 9223372036854775808");
  std::string header = "{";
  for (int i = 0; i < 9; ++i) header += (i > 0 ? "," : "") + entry("t" + std::to_string(i), "U8", "[0]", "[0,0]");
  EXPECT_EQ(opened(safetensors(header + "}")).names(), "t0, t1, t2, t3, t4, t5, t6, t7, ... (9 in all)");
}

TEST(SafetensorsRead, TextForMessagesIsCutBetweenCharacters) {
  EXPECT_EQ(printable("aéb", 4), "aéb");
  EXPECT_EQ(printable("aéb", 3), "aé...");
  EXPECT_EQ(printable("aéb", 2), "a...");
  EXPECT_EQ(printable("a\x1b\x7f\xc2\x9b\xc2\xa0", 9), "a???\xc2\xa0");
}

TEST(SafetensorsRead, Truncated) {
  for (size_t n = 0; n < kFile.size(); ++n) {
    EXPECT_EQ(refusal(kFile.substr(0, n)).substr(0, 3), "x: ") << n;
    const std::string piped = error_text([&] {
      Pipe pipe(kFile.substr(0, n));
      Safetensors file(pipe);
    });
    EXPECT_EQ(piped, refusal(kFile.substr(0, n))) << n;
  }
  EXPECT_EQ(refusal(""), "x: not a whole .safetensors file: ends in the length of its header");
  EXPECT_EQ(refusal(kFile.substr(0, 70)), "x: header: its length says 64 bytes, the file has 62 left");
  EXPECT_EQ(refusal(kFile.substr(0, kFile.size() - 1)),
            "x: tensor 'attn.0': the file's tensors take 24 bytes, it holds 23");
  EXPECT_EQ(refusal(kFile + "more"), "x: data: the file's tensors take 24 bytes, it holds 28");
  Pipe pipe(kFile + "more");
  EXPECT_EQ(error_text([&] { Safetensors file(pipe); }), "x: data: its tensors take 24 bytes, more follow");
}

TEST(SafetensorsRead, LengthsOfHeaders) {
  EXPECT_EQ(refusal(length_field(100'000'001) + "{}"), "x: header: expected at most 100 MB, got 100000001 bytes");
  EXPECT_EQ(refusal(std::string(8, '\xff') + "{}"),
            "x: header: expected at most 100 MB, got 18446744073709551615 bytes");
  EXPECT_EQ(refusal(length_field(100'000'000) + "{}"),
            "x: header: its length says 100000000 bytes, the file has 2 left");
  Pipe pipe(length_field(100'000'000) + "{}");
  EXPECT_EQ(error_text([&] { Safetensors file(pipe); }),
            "x: header: its length says 100000000 bytes, the file has 2 left");
  EXPECT_EQ(refusal(length_field(0)), "x: header: expected a JSON object, got none at byte 0");
  EXPECT_EQ(refusal(kNumPyFile), "x: expected a .safetensors file, got an .npy file");
}

/// A pipe whose header promises far more than comes.
TEST(SafetensorsRead, MemoryFollowsWhatArrives) {
  Pipe pipe(safetensors("{" + entry("x", "U8", "[4611686018427387904]", "[0,4611686018427387904]") + "}", "few"));
  EXPECT_EQ(error_text([&] { Safetensors file(pipe); }),
            "x: tensor 'x': shape: expected a size below 2^63 bytes, got more");
  Pipe large(safetensors("{" + entry("x", "U8", "[1152921504606846975]", "[0,1152921504606846975]") + "}", "few"));
  EXPECT_EQ(error_text([&] { Safetensors file(large); }),
            "x: tensor 'x': the file's tensors take 1152921504606846975 bytes, it holds 3");
}

TEST(SafetensorsRead, HostileJson) {
  const std::pair<std::string, std::string> cases[] = {
      {" {}", "header: expected a JSON object, got none at byte 0"},
      {"[]", "header: expected a JSON object, got none at byte 0"},
      {"\xef\xbb\xbf{}", "header: expected a JSON object, got none at byte 0"},
      {"{", "header: not JSON at byte 2: got '{'"},
      {"{}{}", "header: not JSON at byte 3: got '{}{'"},
      {"{}\0 "s, "header: not JSON at byte 2: got a zero byte"},
      {"{'x': 1}", "header: not JSON at byte 2: got '{''"},
      {R"({"x":nan})", "header: not JSON at byte 7: got '\"x\":na'"},
      {"{\"\xff\":1}", "header: not UTF-8 at byte 3"},
      {"{\"\xc3\":1}", "header: not UTF-8 at byte 4"},
      {"{\"\xed\xa0\x80\":1}", "header: not UTF-8 at byte 4"},
      {R"({"\ud800":1})", "header: not JSON at byte 9: got '\"\\ud800\"'"},
      {"{\"a\nb\":1}", "header: not JSON at byte 4: got '\"a<U+000A>'"},
      {R"({"x":1})", "tensor 'x': expected an object, got a number"},
      {R"({"x":null})", "tensor 'x': expected an object, got null"},
      {R"({"x":true})", "tensor 'x': expected an object, got a boolean"},
      {R"({"x":"F32"})", "tensor 'x': expected an object, got a string"},
      {R"({"x":)" + std::string(100'000, '['), "tensor 'x': expected an object, got an array"},
      {R"({"x":{"shape":)" + std::string(100'000, '['),
       "tensor 'x': shape: expected whole numbers of at least 0, got an array"},
      {R"({"x":{"dtype":{"a":{)", "tensor 'x': dtype: expected a string, got an object"},
      {R"({"x":{"dtype":4}})", "tensor 'x': dtype: expected a string, got a number"},
      {R"({"x":{"shape":4}})", "tensor 'x': shape: expected an array, got a number"},
      {R"({"x":{"data_offsets":"0,4"}})", "tensor 'x': data_offsets: expected an array, got a string"},
      {R"({"x":{"dtype":"F32","dtype":"F32"}})", "tensor 'x': expected each name once, got 'dtype' twice"},
      {R"({"x":{"strides":[1]}})", "tensor 'x': expected the keys dtype, shape and data_offsets, got 'strides'"},
      {R"({"x":{}})", "tensor 'x': expected the key dtype, got none"},
      {R"({"x":{"dtype":"F32"}})", "tensor 'x': expected the key shape, got none"},
      {R"({"x":{"dtype":"F32","shape":[]}})", "tensor 'x': expected the key data_offsets, got none"},
      {"{" + entry("x", "U8", "[0]", "[0,0]") + "," + entry("x", "U8", "[0]", "[0,0]") + "}",
       "header: expected each name once, got 'x' twice"},
      {"{" + entry("x", "U8", "[0]", "[0,0]") + "," + entry("\\u0078", "U8", "[0]", "[0,0]") + "}",
       "header: expected each name once, got 'x' twice"},
      {R"({"__metadata__":"pt"})", "__metadata__: expected an object, got a string"},
      {R"({"__metadata__":{"n":1}})", "__metadata__: 'n': expected a string, got a number"},
      {R"({"__metadata__":{"n":{"m":"o"}}})", "__metadata__: 'n': expected a string, got an object"},
      {R"({"__metadata__":{"n":"","n":""}})", "__metadata__: expected each name once, got 'n' twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "header: expected each name once, got '__metadata__' twice"},
      {R"({"a\u0007\u009b)" + std::string(100, 'n') + R"(":1})",
       "tensor 'a??" + std::string(60, 'n') + "...': expected an object, got a number"},
  };
  for (const auto& [header, message] : cases) EXPECT_EQ(refusal(safetensors(header)), "x: " + message);
}

TEST(SafetensorsRead, HostileShapes) {
  const std::string whole = "shape: expected whole numbers of at least 0, got ";
  const std::string large = "shape: expected a size below 2^63 bytes, got more";
  std::string axes = "1";
  for (int i = 1; i < 32; ++i) axes += ",1";
  const std::pair<std::string, std::string> cases[] = {
      {"[-1]", whole + "a negative number"},
      {"[1.5]", whole + "1.5"},
      {"[1.0]", whole + "1.0"},
      {"[1e2]", whole + "1e2"},
      {"[\"1\"]", whole + "a string"},
      {"[null]", whole + "null"},
      {"[18446744073709551616]", whole + "18446744073709551616"},
      {"[18446744073709551615]", large},
      {"[9223372036854775807]", large},
      {"[4294967296,4294967296]", large},
      {"[0,4294967296,4294967296]", large},
      {"[" + axes + ",1]", "shape: expected at most 32 axes, got more"},
      {"[2]", "data_offsets: [0, 1] hold 1 bytes, shape [2] of U8 takes 2"},
      {"[]x", ""},
  };
  for (const auto& [shape, message] : cases) {
    const std::string text = refusal(safetensors("{" + entry("x", "U8", shape, "[0,1]") + "}", "1"));
    if (message.empty()) {
      EXPECT_EQ(text.rfind("x: header: not JSON at byte ", 0), 0u) << text;
    } else {
      EXPECT_EQ(text, "x: tensor 'x': " + message);
    }
  }
  EXPECT_EQ(opened(safetensors("{" + entry("x", "U8", "[" + axes + "]", "[0,1]") + "}", "1")).read("x").shape,
            Extents(32, 1));
  EXPECT_EQ(refusal(one("F128", "[1]", std::string(16, '1'))), "x: tensor 'x': dtype: there is none called 'F128'");
  EXPECT_EQ(refusal(one("f32", "[1]", "1234")), "x: tensor 'x': dtype: there is none called 'f32'");
}

TEST(SafetensorsRead, HostileOffsets) {
  const std::string name = "tensor 'x': data_offsets: ";
  const auto refused = [](const std::string& offsets, const std::string& shape = "[4]") {
    return refusal(safetensors("{" + entry("x", "U8", shape, offsets) + "}", "1234"));
  };
  EXPECT_EQ(refused("[0]"), "x: " + name + "expected two, got 1");
  EXPECT_EQ(refused("[0,4,8]"), "x: " + name + "expected two, got more");
  EXPECT_EQ(refused("[-4,0]"), "x: " + name + "expected whole numbers of at least 0, got a negative number");
  EXPECT_EQ(refused("[0,4.0]"), "x: " + name + "expected whole numbers of at least 0, got 4.0");
  EXPECT_EQ(refused("[4,0]"), "x: " + name + "[4, 0] end before they begin");
  EXPECT_EQ(refused("[0,3]"), "x: " + name + "[0, 3] hold 3 bytes, shape [4] of U8 takes 4");
  EXPECT_EQ(refused("[18446744073709551612,18446744073709551615]", "[3]"),
            "x: " + name + "[18446744073709551612, 18446744073709551615] leave a hole; expected them to begin at 0");
  EXPECT_EQ(refused("[1,5]"), "x: " + name + "[1, 5] leave a hole; expected them to begin at 0");
  EXPECT_EQ(refused("[0,8]", "[8]"), "x: tensor 'x': the file's tensors take 8 bytes, it holds 4");
  EXPECT_EQ(refused("[0,2]", "[2]"), "x: data: the file's tensors take 2 bytes, it holds 4");

  const auto two = [](const std::string& first, const std::string& second) {
    return refusal(
        safetensors("{" + entry("x", "U8", "[2]", first) + "," + entry("y", "U8", "[2]", second) + "}", "1234"));
  };
  EXPECT_EQ(two("[2,4]", "[0,2]"), "no error");
  EXPECT_EQ(two("[0,2]", "[1,3]"), "x: tensor 'y': data_offsets: [1, 3] overlap those of 'x', [0, 2]");
  EXPECT_EQ(two("[0,2]", "[0,2]"), "x: tensor 'y': data_offsets: [0, 2] overlap those of 'x', [0, 2]");
  EXPECT_EQ(two("[0,2]", "[3,5]"), "x: tensor 'y': data_offsets: [3, 5] leave a hole; expected them to begin at 2");
  EXPECT_EQ(two("[0,2]", "[4,6]"), "x: tensor 'y': data_offsets: [4, 6] leave a hole; expected them to begin at 2");
}

TEST(SafetensorsWrite, BytesByHand) {
  const std::vector<float> data = {0, 1, 2, 3, 4, 5};
  const ConstArray array(data.data(), DType::f32, {1, 2, 3}, {6, 3, 1});
  EXPECT_EQ(written_tensors({{"attn.0", array}}), kFile);
  EXPECT_EQ(written_tensors({}), "\x08\0\0\0\0\0\0\0{}      "s);
  EXPECT_EQ(written_tensors({}, {{"framework", "pt"}}),
            "\x28\0\0\0\0\0\0\0{\"__metadata__\":{\"framework\":\"pt\"}}     "s);
  const ConstArray turned(data.data(), DType::f32, {3, 2}, {1, 3});
  EXPECT_EQ(elements<float>(opened(written_tensors({{"t", turned}})).read("t")),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(SafetensorsWrite, EveryTypeIsReadAgainWhereItIsAligned) {
  const DType types[] = {DType::boolean, DType::bf16, DType::i32, DType::f64, DType::f16, DType::i64, DType::f32};
  std::vector<Array> arrays;
  std::vector<NamedArray> tensors;
  for (const DType type : types) {
    Array array = make_array(type, {3, 1});
    for (size_t i = 0; i < array.buffer.size(); ++i)
      array.buffer.data()[i] = std::byte(type == DType::boolean ? i % 2 : i);
    arrays.push_back(std::move(array));
  }
  for (const Array& array : arrays) tensors.push_back({name_of(array.dtype), array});
  const std::string bytes = written_tensors(tensors, {{"a", "b"}, {"é", "\n"}});
  const Safetensors file = opened(bytes);
  EXPECT_EQ(file.names(), "float64, int64, int32, float32, bfloat16, float16, bool");
  EXPECT_EQ(file.metadata(), (SafetensorsMetadata{{"a", "b"}, {"é", "\n"}}));
  EXPECT_EQ(bytes[0] % 8, 0) << "the header ends where data are aligned";
  for (const Array& array : arrays) {
    const Array again = file.read(name_of(array.dtype));
    EXPECT_EQ(again.dtype, array.dtype);
    EXPECT_EQ(again.shape, array.shape);
    EXPECT_EQ(file.find(name_of(array.dtype))->begin % static_cast<uint64_t>(size_of(array.dtype)), 0u);
    ASSERT_EQ(again.buffer.size(), array.buffer.size());
    EXPECT_EQ(std::memcmp(again.data(), array.data(), again.buffer.size()), 0) << name_of(array.dtype);
  }
}

TEST(SafetensorsWrite, WhatIsRefused) {
  const Array array = make_array(DType::f32, {1}), none;
  const auto refused = [](const std::vector<NamedArray>& tensors, const SafetensorsMetadata& metadata = {}) {
    return error_text([&] { written_tensors(tensors, metadata); });
  };
  EXPECT_EQ(refused({{"a", array}, {"a", array}}), "x: tensor 'a': expected a name of its own, got one that is taken");
  EXPECT_EQ(refused({{"__metadata__", array}}),
            "x: tensor '__metadata__': expected a name of its own, got one that is taken");
  EXPECT_EQ(refused({{"a", none}}), "x: tensor 'a': dtype: .safetensors has no none");
  EXPECT_EQ(refused({{"\xff", array}}), "x: header: expected names and metadata in UTF-8, got others");
  EXPECT_EQ(refused({}, {{"a", "\xff"}}), "x: header: expected names and metadata in UTF-8, got others");
}

class SafetensorsFile : public ::testing::Test {
 protected:
  SafetensorsFile() {
    std::string name = (fs::temp_directory_path() / "foveate-safetensors-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "x.safetensors";
  }
  ~SafetensorsFile() override { fs::remove_all(folder_); }

  fs::path folder_, path_;
};

TEST_F(SafetensorsFile, RegularFileIsReadTensorByTensor) {
  const Array large = make_array(DType::f64, {100'000});
  const Array small = make_array(DType::boolean, {3});
  OutputFile out(path_);
  write_safetensors(out, std::vector<NamedArray>{{"small", small}, {"large", large}});
  out.commit();
  Safetensors file(path_.string());
  EXPECT_EQ(file.name(), path_.string());
  const Safetensors moved = std::move(file);
  EXPECT_EQ(moved.read("large").shape, Extents{100'000});
  EXPECT_EQ(elements<uint8_t>(moved.read("small")), std::vector<uint8_t>(3, 0));
  fs::resize_file(path_, fs::file_size(path_) - 4);
  EXPECT_EQ(error_text([&] { moved.read("small"); }),
            path_.string() + ": tensor 'small': the file has become shorter since it was opened");
  EXPECT_EQ(error_text([&] { Safetensors again(path_.string()); }),
            path_.string() + ": tensor 'large': the file's tensors take 800003 bytes, it holds 799999");
}

TEST_F(SafetensorsFile, PipeIsReadToItsEnd) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path_, std::ios::binary) << kFile; });
  const Safetensors file(path_.string());
  writer.join();
  EXPECT_EQ(elements<float>(file.read("attn.0")), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST_F(SafetensorsFile, MissingAndEmptyFilesAndFolders) {
  EXPECT_EQ(error_text([&] { Safetensors file(path_.string()); }), path_.string() + ": No such file or directory");
  EXPECT_EQ(error_text([&] { Safetensors file(folder_.string()); }), folder_.string() + ": Is a directory");
  std::ofstream(path_).flush();
  EXPECT_EQ(error_text([&] { Safetensors file(path_.string()); }),
            path_.string() + ": not a whole .safetensors file: ends in the length of its header");
}

}  // namespace
}  // namespace foveate::io
