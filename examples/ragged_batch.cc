// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Sequences of unequal lengths in one call, without padding: packed one behind the other, as FlashAttention's
// "varlen" calls hold them. Each gives the bits that it gives alone.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "foveate/attention.h"

int main() {
  constexpr int64_t kHeads = 4, kDim = 32;
  const std::vector<int64_t> starts = {0, 17, 18, 118};  // three sequences: of 17 tokens, 1 and 100
  const int64_t total = starts.back();

  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  std::vector<float> q(total * kHeads * kDim), k(q.size()), v(q.size()), o(q.size());
  for (std::vector<float>* array : {&q, &k, &v}) {
    for (float& x : *array) x = normal(bits);
  }

  // [total, heads, d] in memory.
  const auto rows = [&](auto* data, int64_t first, int64_t n) {
    return foveate::view(data + first * kHeads * kDim, 1, kHeads, n, kDim, foveate::Layout::bnhd);
  };

  foveate::AttentionOptions options;
  options.causal = true;
  options.q_starts = options.kv_starts = foveate::view(starts.data(), static_cast<int64_t>(starts.size()));
  foveate::AttentionOutputs outputs;
  outputs.o = rows(o.data(), 0, total);
  foveate::Status status = foveate::attention(rows(q.data(), 0, total), rows(k.data(), 0, total),
                                              rows(v.data(), 0, total), outputs, options);
  if (!status.ok()) std::fprintf(stderr, "attention: %s\n", status.message());

  std::vector<float> alone(100 * kHeads * kDim);
  options.q_starts = options.kv_starts = {};
  outputs.o = rows(alone.data(), 0, 100);
  if (status.ok()) {
    status =
        foveate::attention(rows(q.data(), 18, 100), rows(k.data(), 18, 100), rows(v.data(), 18, 100), outputs, options);
  }
  const bool same =
      status.ok() && std::memcmp(alone.data(), o.data() + 18 * kHeads * kDim, alone.size() * sizeof(float)) == 0;
  std::printf("the third sequence, in the batch and alone: %s\n", same ? "the same bits" : "other bits");
  return same ? 0 : 1;
}
