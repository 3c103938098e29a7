// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "io/error.h"

namespace foveate::io {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr SafetensorsType kTypes[] = {
    {"BOOL", 8, 'b'},      {"F16", 16, 'f'},      {"BF16", 16, 'g'}, {"F32", 32, 'f'},  {"F64", 64, 'f'},
    {"I8", 8, 'i'},        {"I16", 16, 'i'},      {"I32", 32, 'i'},  {"I64", 64, 'i'},  {"U8", 8, 'u'},
    {"U16", 16, 'u'},      {"U32", 32, 'u'},      {"U64", 64, 'u'},  {"F8_E4M3", 8, 0}, {"F8_E5M2", 8, 0},
    {"F8_E4M3FNUZ", 8, 0}, {"F8_E5M2FNUZ", 8, 0}, {"F8_E8M0", 8, 0}, {"F6_E2M3", 6, 0}, {"F6_E3M2", 6, 0},
    {"F4", 4, 0},          {"C64", 64, 0},
};

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

std::string to_text(uint64_t begin, uint64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + "]";
}

std::string to_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

/// Follows the parser through the header. Only what the format has is let in, so depth is bounded by it: whatever else
/// nests is refused at its first bracket.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  Reader(const std::string& name, SafetensorsHeader& header) : name_(name), header_(header) {}

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t& text) override { unexpected(printable(text, 24)); }
  bool binary(binary_t&) override { unexpected("bytes"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) {
      add_extent(value);
    } else if (place_ == Place::offsets) {
      add_offset(value);
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::dtype) {
      tensor().dtype = std::move(value);
      place_ = Place::tensor;
    } else if (place_ == Place::metadata) {
      header_.metadata.back().second = std::move(value);
    } else {
      unexpected("a string");
    }
    return true;
  }

  bool start_object(size_t) override {
    if (place_ == Place::start) {
      place_ = Place::file;
    } else if (place_ == Place::before_metadata) {
      place_ = Place::metadata;
    } else if (place_ == Place::before_tensor) {
      place_ = Place::tensor;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& key) override {
    if (place_ == Place::file) {
      require_once(keys_, key, "header");
      begin_member(std::move(key));
    } else if (place_ == Place::metadata) {
      require_once(metadata_keys_, key, kMetadata);
      header_.metadata.emplace_back(std::move(key), "");
    } else {
      begin_field(key);
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (fields_.count(field) == 0) fail(where() + ": expected the key " + field + ", got none");
      }
    }
    place_ = Place::file;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ == Place::before_shape) {
      place_ = Place::shape;
    } else if (place_ == Place::before_offsets) {
      place_ = Place::offsets;
    } else {
      unexpected("an array");
    }
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets && offsets_ != 2) fail(where() + ": expected two, got " + std::to_string(offsets_));
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    const bool bytes = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
    fail(std::string("header: not ") + (bytes ? "UTF-8" : "JSON") + " at byte " + std::to_string(position) +
         (bytes || token.empty() ? "" : ": got " + in_quotes(std::string_view(token).substr(0, 24))));
  }

 private:
  enum class Place {
    start,
    file,  ///< in the outermost object, where only keys come
    before_metadata,
    metadata,
    before_tensor,
    tensor,  ///< in a tensor's object, where only keys come
    dtype,
    before_shape,
    shape,
    before_offsets,
    offsets,
  };

  [[noreturn]] void fail(const std::string& problem) const { throw Error(name_, problem); }

  [[noreturn]] void unexpected(const std::string& got) const {
    fail(where() + ": expected " + expected() + ", got " + got);
  }

  std::string where() const {
    switch (place_) {
      case Place::start:
      case Place::file:
        return "header";
      case Place::before_metadata:
        return std::string(kMetadata);
      case Place::metadata:
        return std::string(kMetadata) + ": " + in_quotes(header_.metadata.back().first);
      case Place::before_tensor:
      case Place::tensor:
        return of_tensor("");
      case Place::dtype:
        return of_tensor(": dtype");
      case Place::before_shape:
      case Place::shape:
        return of_tensor(": shape");
      case Place::before_offsets:
      case Place::offsets:
        return of_tensor(": data_offsets");
    }
    return {};
  }

  const char* expected() const {
    switch (place_) {
      case Place::metadata:
      case Place::dtype:
        return "a string";
      case Place::before_shape:
      case Place::before_offsets:
        return "an array";
      case Place::shape:
      case Place::offsets:
        return "whole numbers of at least 0";
      default:
        return "an object";
    }
  }

  SafetensorsTensor& tensor() { return header_.tensors.back(); }
  std::string of_tensor(const char* field) const {
    return "tensor " + in_quotes(header_.tensors.back().name) + std::string(field);
  }

  template <class Keys>
  void require_once(Keys& keys, const std::string& key, std::string_view where) const {
    if (!keys.insert(key).second)
      fail(std::string(where) + ": expected each name once, got " + in_quotes(key) + " twice");
  }

  void begin_member(std::string&& key) {
    if (key == kMetadata) {
      place_ = Place::before_metadata;
      return;
    }
    header_.tensors.emplace_back().name = std::move(key);
    fields_.clear();
    offsets_ = 0;
    place_ = Place::before_tensor;
  }

  void begin_field(const std::string& key) {
    require_once(fields_, key, where());
    if (key == "dtype") {
      place_ = Place::dtype;
    } else if (key == "shape") {
      place_ = Place::before_shape;
    } else if (key == "data_offsets") {
      place_ = Place::before_offsets;
    } else {
      fail(where() + ": expected the keys dtype, shape and data_offsets, got " + in_quotes(key));
    }
  }

  void add_extent(uint64_t value) {
    std::vector<int64_t>& shape = tensor().shape;
    if (shape.size() == SafetensorsHeader::kMaxAxes) fail(where() + ": expected at most 32 axes, got more");
    // What is past int64 is past any size, which is checked where all extents are known.
    shape.push_back(static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max())));
  }

  void add_offset(uint64_t value) {
    if (offsets_ == 2) fail(where() + ": expected two, got more");
    (offsets_++ == 0 ? tensor().begin : tensor().end) = value;
  }

  const std::string& name_;
  SafetensorsHeader& header_;
  Place place_ = Place::start;
  std::set<std::string> keys_, metadata_keys_, fields_;
  int offsets_ = 0;
};

/// Nothing overflows: eight bytes an element fit int64, since smaller integers are widened, and zeros are left out, so
/// that strides fit as well.
uint64_t elements_of(const SafetensorsTensor& tensor, const std::string& where, const std::string& name) {
  int64_t left = std::numeric_limits<int64_t>::max() / 8;
  uint64_t n = 1;
  for (const int64_t extent : tensor.shape) {
    if (extent > left) throw Error(name, where + ": shape: expected a size below 2^63 bytes, got more");
    if (extent > 0) left /= extent;
    n *= static_cast<uint64_t>(extent);
  }
  return n;
}

void check_tensor(const SafetensorsTensor& tensor, const std::string& name) {
  const std::string where = "tensor " + in_quotes(tensor.name);
  const SafetensorsType* const type = find_safetensors_type(tensor.dtype);
  if (type == nullptr) throw Error(name, where + ": dtype: there is none called " + in_quotes(tensor.dtype));
  const uint64_t bits = elements_of(tensor, where, name) * static_cast<uint64_t>(type->bits);
  if (bits % 8 != 0) {
    throw Error(name, where + ": shape: " + to_text(tensor.shape) + " of " + tensor.dtype + " ends inside a byte");
  }
  const std::string offsets = where + ": data_offsets: " + to_text(tensor.begin, tensor.end);
  if (tensor.begin > tensor.end) throw Error(name, offsets + " end before they begin");
  if (tensor.bytes() != bits / 8) {
    throw Error(name, offsets + " hold " + std::to_string(tensor.bytes()) + " bytes, shape " + to_text(tensor.shape) +
                          " of " + tensor.dtype + " takes " + std::to_string(bits / 8));
  }
}

/// Each byte of the data is one tensor's.
void check_coverage(const SafetensorsHeader& header, const std::string& name) {
  const SafetensorsTensor* before = nullptr;
  for (const SafetensorsTensor& tensor : header.tensors) {
    const uint64_t covered = before == nullptr ? 0 : before->end;
    const std::string where =
        "tensor " + in_quotes(tensor.name) + ": data_offsets: " + to_text(tensor.begin, tensor.end);
    if (tensor.begin < covered) {
      throw Error(name,
                  where + " overlap those of " + in_quotes(before->name) + ", " + to_text(before->begin, before->end));
    }
    if (tensor.begin > covered) {
      throw Error(name, where + " leave a hole; expected them to begin at " + std::to_string(covered));
    }
    before = &tensor;
  }
}

}  // namespace

const SafetensorsType* find_safetensors_type(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const SafetensorsType& type) { return type.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string_view safetensors_name_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "F64";
    case DType::f32:
      return "F32";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::i64:
      return "I64";
    case DType::i32:
      return "I32";
    case DType::i8:
      return "I8";
    case DType::boolean:
      return "BOOL";
    case DType::none:
      return {};
  }
  return {};
}

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& name) {
  // The parser would skip a byte order mark, and take a zero byte for the end.
  if (text.empty() || text.front() != '{') throw Error(name, "header: expected a JSON object, got none at byte 0");
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    throw Error(name, "header: not JSON at byte " + std::to_string(zero) + ": got a zero byte");
  }
  SafetensorsHeader header;
  Reader reader(name, header);
  Json::sax_parse(text.begin(), text.end(), &reader);
  for (const SafetensorsTensor& tensor : header.tensors) check_tensor(tensor, name);
  std::stable_sort(header.tensors.begin(), header.tensors.end(),
                   [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
                     return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
                   });
  check_coverage(header, name);
  return header;
}

}  // namespace foveate::io
