// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/row_bits.h"

#include <fmt/format.h>

#include <cstring>

namespace foveate::cli {
namespace {

Tensor packed(std::vector<std::byte>& bytes, DType dtype, int64_t h, int64_t n, int64_t d) {
  return {bytes.data(), dtype, {1, h, n, d}, {h * n * d, n * d, d, 1}};
}

uint64_t fnv_1a(const std::vector<std::byte>& bytes, uint64_t hash) {
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

std::string bits_text(const std::byte* element, int64_t bytes) {
  const auto text = [&](auto bits) {
    std::memcpy(&bits, element, sizeof(bits));
    return fmt::format("0x{:0{}x}", bits, 2 * sizeof(bits));
  };
  return bytes == 8 ? text(uint64_t{}) : bytes == 4 ? text(uint32_t{}) : text(uint16_t{});
}

/// Compares `count` elements that begin at `first`.
std::optional<BitDifference> compare(const std::vector<std::byte>& expected, const std::vector<std::byte>& got,
                                     DType dtype, int64_t first, int64_t count) {
  const int64_t size = size_of(dtype);
  for (int64_t i = 0; i < count; ++i) {
    const std::byte *a = expected.data() + (first + i) * size, *b = got.data() + (first + i) * size;
    if (std::memcmp(a, b, static_cast<size_t>(size)) == 0) continue;
    return BitDifference{.element = i, .expected = bits_text(a, size), .got = bits_text(b, size)};
  }
  return std::nullopt;
}

}  // namespace

RowBits::RowBits(DType dtype, int64_t heads, int64_t rows, int64_t depth)
    : o_dtype(dtype),
      lse_dtype(dtype == DType::f64 ? DType::f64 : DType::f32),
      h(heads),
      n(rows),
      d_v(depth),
      o(static_cast<size_t>(h * n * d_v * size_of(o_dtype))),
      lse(static_cast<size_t>(h * n * size_of(lse_dtype))) {}

AttentionOutputs RowBits::outputs() {
  return {.o = packed(o, o_dtype, h, n, d_v), .lse = packed(lse, lse_dtype, h, n, 1)};
}

uint64_t hash_of(const RowBits& rows) { return fnv_1a(rows.lse, fnv_1a(rows.o, 0xcbf29ce484222325)); }

std::optional<BitDifference> first_difference(const RowBits& expected, const RowBits& got) {
  for (int64_t row = 0; row < expected.n; ++row) {
    for (int64_t head = 0; head < expected.h; ++head) {
      const int64_t at = head * expected.n + row;
      std::string_view output = "o";
      auto found = compare(expected.o, got.o, expected.o_dtype, at * expected.d_v, expected.d_v);
      if (!found) {
        output = "lse";
        found = compare(expected.lse, got.lse, expected.lse_dtype, at, 1);
      }
      if (!found) continue;
      found->row = row;
      found->head = head;
      found->output = output;
      return found;
    }
  }
  return std::nullopt;
}

std::string words_of(const BitDifference& difference) {
  const std::string place = difference.output == "o" ? fmt::format("o[{}]", difference.element) : "lse";
  return fmt::format("row {}, head {}: {} is {}, not {}", difference.row, difference.head, place, difference.got,
                     difference.expected);
}

}  // namespace foveate::cli
