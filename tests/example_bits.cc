// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What examples/attention.c and examples/rust have to print: the same arrays through the engine in C++.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "foveate/attention.h"

namespace {

std::vector<float> numbers(size_t n, uint32_t seed) {
  std::vector<float> x(n);
  for (float& one : x) {
    seed = seed * 1664525u + 1013904223u;
    one = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return x;
}

}  // namespace

int main() {
  const std::vector<float> q = numbers(4 * 6 * 8, 1), k = numbers(2 * 6 * 8, 2), v = numbers(2 * 6 * 8, 3);
  std::vector<float> o(q.size());
  const auto attend = [&](const foveate::AttentionOptions& options) {
    return foveate::attention(foveate::view(q.data(), 1, 4, 6, 8), foveate::view(k.data(), 1, 2, 6, 8),
                              foveate::view(v.data(), 1, 2, 6, 8), {.o = foveate::view(o.data(), 1, 4, 6, 8)}, options);
  };
  if (!attend({.causal = true}).ok()) return 1;
  for (size_t row = 0; row < 24; ++row) {
    std::printf("%zu %zu:", row / 6, row % 6);
    for (size_t d = 0; d < 8; ++d) std::printf(" %08x", std::bit_cast<uint32_t>(o[8 * row + d]));
    std::printf("\n");
  }
  std::printf("an argument breaks the contract: %s\n", attend({.causal = true, .softcap = -1}).message());
}
