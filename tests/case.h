// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The folders of tests/cases (see the README there), and how their arrays are compared.
#ifndef FOVEATE_TESTS_CASE_H_
#define FOVEATE_TESTS_CASE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "foveate/tensor.h"
#include "io/npy.h"

namespace foveate::cases {

using nlohmann::json;

/// Numbers in C order. Every element a case holds fits a double.
struct Values {
  DType dtype = DType::none;
  std::vector<int64_t> shape;
  std::vector<double> data;
};

template <class T>
void append_strided(const io::Array& array, const T* at, size_t axis, std::vector<double>* to) {
  if (axis == array.shape.size()) {
    if constexpr (std::is_same_v<T, Float16>) {
      to->push_back(static_cast<double>(static_cast<float>(*at)));
    } else {
      to->push_back(static_cast<double>(*at));
    }
    return;
  }
  for (int64_t i = 0; i < array.shape[axis]; ++i) append_strided(array, at + i * array.stride[axis], axis + 1, to);
}

inline Values values(const io::Array& array) {
  Values to{array.dtype, array.shape, {}};
  if (array.size() == 0) return to;
  switch (array.dtype) {
    case DType::f32:
      append_strided(array, static_cast<const float*>(array.data()), 0, &to.data);
      return to;
    case DType::f16:
      append_strided(array, static_cast<const Float16*>(array.data()), 0, &to.data);
      return to;
    case DType::f64:
      append_strided(array, static_cast<const double*>(array.data()), 0, &to.data);
      return to;
    case DType::i64:
      append_strided(array, static_cast<const int64_t*>(array.data()), 0, &to.data);
      return to;
    case DType::boolean:
      append_strided(array, static_cast<const unsigned char*>(array.data()), 0, &to.data);
      return to;
    default:
      throw std::invalid_argument(std::string("no case compares elements of ") + name_of(array.dtype));
  }
}

struct Case {
  std::string name;
  std::filesystem::path folder;
  json about;  ///< case.json

  bool needs(const std::string& feature) const {
    const json list = about.value("needs", json::array());
    return std::find(list.begin(), list.end(), feature) != list.end();
  }
  Values read(const std::string& file) const { return values(io::read_npy((folder / file).string())); }
};

/// The options of a call, those that name a file left out.
inline json options_of(const json& call) { return call.value("options", json::object()); }

/// What GoogleTest shows of a case.
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.about.at("shows").get<std::string>(); }

/// The cases that `wanted` accepts, by name.
template <class Predicate>
std::vector<Case> cases_where(Predicate wanted) {
  std::vector<Case> found;
  for (const auto& entry : std::filesystem::directory_iterator(FOVEATE_CASES_DIR)) {
    if (!entry.is_directory()) continue;
    Case c{entry.path().filename().string(), entry.path(), json::parse(std::ifstream(entry.path() / "case.json"))};
    if (wanted(c)) found.push_back(std::move(c));
  }
  std::sort(found.begin(), found.end(), [](const Case& x, const Case& y) { return x.name < y.name; });
  return found;
}

inline std::string test_name(const testing::TestParamInfo<Case>& info) { return info.param.name; }

/// |got - want| <= atol + rtol |want|, with NaN and infinities in the same places.
inline testing::AssertionResult close(const Values& got, const Values& want, double rtol, double atol) {
  if (got.shape != want.shape) {
    return testing::AssertionFailure() << "shape " << testing::PrintToString(got.shape) << ", expected "
                                       << testing::PrintToString(want.shape);
  }
  for (size_t i = 0; i < want.data.size(); ++i) {
    const double x = got.data[i], y = want.data[i];
    const bool same_kind = std::isnan(x) == std::isnan(y) && (std::isinf(x) || std::isinf(y) ? x == y : true);
    if (!same_kind || std::abs(x - y) > atol + rtol * std::abs(y)) {
      return testing::AssertionFailure() << "element " << i << " is " << x << ", expected " << y << " within " << atol
                                         << " + " << rtol << " * |expected|";
    }
  }
  return testing::AssertionSuccess();
}

/// Rows `from` to `to` of one axis.
inline Values slice(const Values& all, size_t axis, int64_t from, int64_t to) {
  int64_t outer = 1, inner = 1;
  for (size_t a = 0; a < axis; ++a) outer *= all.shape[a];
  for (size_t a = axis + 1; a < all.shape.size(); ++a) inner *= all.shape[a];
  Values part{all.dtype, all.shape, {}};
  part.shape[axis] = to - from;
  for (int64_t o = 0; o < outer; ++o) {
    const auto row = all.data.begin() + o * all.shape[axis] * inner;
    part.data.insert(part.data.end(), row + from * inner, row + to * inner);
  }
  return part;
}

/// The same dtype, shape and bits. Only payloads of NaN may be lost on the way to double, and they do not count.
inline testing::AssertionResult same_bits(const Values& x, const Values& y) {
  if (x.dtype != y.dtype || x.shape != y.shape) return testing::AssertionFailure() << "dtypes or shapes differ";
  for (size_t i = 0; i < x.data.size(); ++i) {
    if (std::isnan(x.data[i]) && std::isnan(y.data[i])) continue;
    if (std::bit_cast<uint64_t>(x.data[i]) != std::bit_cast<uint64_t>(y.data[i])) {
      return testing::AssertionFailure() << "element " << i << ": " << std::hexfloat << x.data[i] << " and "
                                         << y.data[i];
    }
  }
  return testing::AssertionSuccess();
}

/// Checks the `same_bits` of a case, where outputs(call, array) gives the Values that a call gave.
template <class Outputs>
void expect_same_bits(const Case& c, Outputs outputs) {
  for (const json& same : c.about.value("same_bits", json::array())) {
    const std::string array = same.at("array");
    const json& calls = same.at("calls");
    Values first = outputs(calls.at(0).get<size_t>(), array);
    if (same.contains("of_first")) {
      const json& part = same.at("of_first");
      first = slice(first, part.at("axis"), part.at("from"), part.at("to"));
    }
    EXPECT_TRUE(same_bits(first, outputs(calls.at(1).get<size_t>(), array))) << array << " of calls " << calls.dump();
  }
}

}  // namespace foveate::cases

#endif  // FOVEATE_TESTS_CASE_H_
