// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/npy_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "io/error.h"

namespace foveate::io {
namespace {

constexpr std::string_view kMagic("\x93NUMPY");
constexpr bool kBigEndian = std::endian::native == std::endian::big;
constexpr std::array<std::string_view, 12> kKinds = {"f2", "f4", "f8", "b1", "i1", "i2",
                                                     "i4", "i8", "u1", "u2", "u4", "u8"};

/// Text out of the file, fit for a message.
std::string excerpt(std::string_view text) {
  constexpr size_t kMax = 24;
  std::string shown(text.substr(0, kMax));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + shown + (text.size() > kMax ? "...'" : "'");
}

/// One pass from left to right over what the header may hold, and no more of Python than that: nothing nests, so
/// nothing recurses.
class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader header() {
    expect('{', "a dict");
    bool seen_descr = false;
    bool seen_order = false;
    bool seen_shape = false;
    while (!accept('}')) {
      const std::string_view key = string("a key in quotes");
      expect(':', "':'");
      if (key == "descr") {
        once(key, seen_descr);
        header_.element = element();
      } else if (key == "fortran_order") {
        once(key, seen_order);
        header_.fortran_order = boolean();
      } else if (key == "shape") {
        once(key, seen_shape);
        header_.shape = shape();
      } else {
        throw Error(name_, "header: expected the keys descr, fortran_order and shape, got " + excerpt(key));
      }
      if (accept('}')) break;
      expect(',', "',' or '}'");
    }
    skip_space();
    if (at_ != text_.size()) fail("nothing after the dict");
    if (!seen_descr) missing("descr");
    if (!seen_order) missing("fortran_order");
    if (!seen_shape) missing("shape");
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    const std::string got = at_ == text_.size() ? "its end" : excerpt(text_.substr(at_, 1));
    throw Error(name_, "header: expected " + expected + ", got " + got + " at byte " + std::to_string(at_));
  }

  [[noreturn]] void missing(const char* key) const {
    throw Error(name_, std::string("header: expected the key ") + key + ", got none");
  }

  [[noreturn]] void refuse_dtype(const std::string& got) const {
    std::string accepted;
    for (const std::string_view kind : kKinds) accepted += (accepted.empty() ? "" : " ") + std::string(kind);
    throw Error(name_,
                "dtype: expected one of " + accepted + ", got " + got + "; convert it first, say with .astype('f4')");
  }

  void once(std::string_view key, bool& seen) const {
    if (seen) throw Error(name_, "header: expected the key " + std::string(key) + " once, got it twice");
    seen = true;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r\f").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }

  bool accept(char c) {
    const bool found = next_is(c);
    at_ += found;
    return found;
  }

  void expect(char c, const std::string& what) {
    if (!accept(c)) fail(what);
  }

  std::string_view string(const std::string& what) {
    if (!next_is('\'') && !next_is('"')) fail(what);
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) throw Error(name_, "header: expected a closing quote, got its end");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("True or False");
  }

  NpyElement element() {
    if (next_is('[') || next_is('(')) refuse_dtype("a structured one");
    const std::string_view descr = string("a dtype in quotes");
    std::string_view kind = descr;
    char order = '=';
    if (!kind.empty() && std::string_view("<>=|").find(kind.front()) != std::string_view::npos) {
      order = kind.front();
      kind.remove_prefix(1);
    }
    if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) refuse_dtype(excerpt(descr));
    return {kind[0], kind[1] - '0', order == (kBigEndian ? '<' : '>')};
  }

  std::vector<int64_t> shape() {
    std::vector<int64_t> extents;
    expect('(', "a tuple of axis lengths");
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("',' or ')'");
      if (extents.size() == NpyHeader::kMaxAxes) throw Error(name_, "shape: expected at most 32 axes, got more");
      extents.push_back(extent());
      comma = accept(',');
    }
    if (extents.size() == 1 && !comma) throw Error(name_, "shape: expected a tuple, got a number in brackets");
    check_size(extents);
    return extents;
  }

  int64_t extent() {
    if (next_is('-')) throw Error(name_, "shape: expected axis lengths of at least 0, got a negative one");
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    const size_t begin = at_;
    int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const int64_t digit = text_[at_] - '0';
      if (value > (kMax - digit) / 10) too_large();
      value = value * 10 + digit;
    }
    if (at_ == begin) fail("an axis length");
    if (text_[begin] == '0' && at_ - begin > 1) throw Error(name_, "shape: expected a number, got a leading zero");
    return value;
  }

  /// Eight bytes an element, since smaller integers are widened. Zeros are left out, so that strides fit as well.
  void check_size(const std::vector<int64_t>& extents) const {
    int64_t left = std::numeric_limits<int64_t>::max() / 8;
    for (const int64_t n : extents) {
      if (n > left) too_large();
      if (n > 0) left /= n;
    }
  }

  [[noreturn]] void too_large() const { throw Error(name_, "shape: expected a size below 2^63 bytes, got more"); }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  NpyHeader header_;
};

std::string_view descr_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "f8";
    case DType::f32:
      return "f4";
    case DType::f16:
      return "f2";
    case DType::i64:
      return "i8";
    case DType::i32:
      return "i4";
    case DType::i8:
      return "i1";
    case DType::boolean:
      return "b1";
    case DType::bf16:
    case DType::none:
      return {};
  }
  return {};
}

void read_exactly(Source& source, void* data, size_t bytes, const char* what) {
  if (source.read(data, bytes) < bytes)
    throw Error(source.name(), std::string("not a whole .npy file: ends in ") + what);
}

}  // namespace

int64_t NpyHeader::bytes() const {
  int64_t n = element.width;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

NpyHeader read_npy_header(Source& source) {
  std::array<unsigned char, 8> start{};
  read_exactly(source, start.data(), start.size(), "its first 8 bytes");
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    throw Error(source.name(), "expected an .npy file, got one that does not start with \\x93NUMPY");
  }
  const int major = start[6];
  const int minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(source.name(),
                "expected .npy version 1.0, 2.0 or 3.0, got " + std::to_string(major) + "." + std::to_string(minor));
  }
  std::array<unsigned char, 4> field{};
  read_exactly(source, field.data(), major == 1 ? 2 : 4, "the length of its header");
  const size_t length = field[0] | size_t{field[1]} << 8 | size_t{field[2]} << 16 | size_t{field[3]} << 24;
  // No header that we accept comes near it.
  constexpr size_t kMaxHeader = size_t{1} << 20;
  if (length > kMaxHeader) {
    throw Error(source.name(), "header: expected at most 1 MiB, got " + std::to_string(length) + " bytes");
  }
  if (const auto left = source.remaining(); left && *left < length) {
    throw Error(source.name(), "header: its length says " + std::to_string(length) + " bytes, the file has " +
                                   std::to_string(*left) + " left");
  }
  std::string text(length, '\0');
  read_exactly(source, text.data(), length, "its header");
  return parse_npy_header(text, source.name());
}

void refuse_size(const std::string& name, const NpyHeader& header, uint64_t got) {
  throw Error(name, "shape: " + to_string(header.shape) + " of " + header.element.kind +
                        std::to_string(header.element.width) + " takes " + std::to_string(header.bytes()) +
                        " bytes, the file holds " + std::to_string(got));
}

NpyHeader parse_npy_header(std::string_view text, const std::string& name) { return Parser(text, name).header(); }

std::string format_npy_header(DType dtype, const std::vector<int64_t>& shape, const std::string& name) {
  const std::string_view descr = descr_of(dtype);
  if (descr.empty()) {
    throw Error(name, std::string("dtype: .npy has no ") + name_of(dtype) + "; write it as float32");
  }
  if (shape.size() > NpyHeader::kMaxAxes) throw Error(name, "shape: expected at most 32 axes, got more");
  const char order = size_of(dtype) == 1 ? '|' : kBigEndian ? '>' : '<';
  std::string dict = std::string("{'descr': '") + order + std::string(descr) +
                     "', 'fortran_order': False, 'shape': " + to_string(shape) + ", }";
  constexpr size_t kPreamble = 10;  // magic, version, length
  constexpr size_t kAlignment = 64;
  const size_t total = (kPreamble + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dict.resize(total - kPreamble - 1, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

std::string to_string(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (const int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace foveate::io
