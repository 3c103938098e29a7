// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A long prompt in chunks, so that other requests get their turn between them: the bits are those of the prompt whole,
// whatever the chunks are.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "foveate/kv_cache.h"

namespace {

constexpr int64_t kHeads = 8, kKvHeads = 2, kDim = 64, kLength = 700;

std::vector<float> randn(int64_t size, std::mt19937& bits) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(size));
  for (float& x : values) x = normal(bits);
  return values;
}

struct Prompt {
  std::vector<float> q, k, v;  // [length, heads, d] in memory
};

/// The prompt's output [length, heads, d], `chunk` tokens at a time.
std::vector<float> prefill(const Prompt& prompt, int64_t chunk) {
  std::vector<float> o(prompt.q.size());
  foveate::KvCacheOptions cache_options;
  cache_options.h_kv = kKvHeads;
  cache_options.d_k = cache_options.d_v = kDim;
  foveate::KvCache cache;
  int64_t sequence = 0;
  foveate::Status status = foveate::KvCache::create(cache_options, &cache);
  if (status.ok()) status = cache.add(&sequence);

  foveate::AttentionOptions options;
  options.causal = true;  // bottom-right: the chunk's last query sees the last key there is
  for (int64_t at = 0; status.ok() && at < kLength; at += chunk) {
    const int64_t n = std::min(chunk, kLength - at);
    const auto rows = [&](auto* data, int64_t heads) {
      return foveate::view(data + at * heads * kDim, 1, heads, n, kDim, foveate::Layout::bnhd);
    };
    status = cache.append(sequence, rows(prompt.k.data(), kKvHeads), rows(prompt.v.data(), kKvHeads));
    foveate::AttentionOutputs outputs;
    outputs.o = rows(o.data(), kHeads);
    if (status.ok()) status = cache.attend(rows(prompt.q.data(), kHeads), {&sequence, 1}, outputs, options);
  }
  if (!status.ok()) std::fprintf(stderr, "prefill: %s\n", status.message());
  return o;
}

}  // namespace

int main() {
  std::mt19937 bits(1);
  const Prompt prompt = {randn(kLength * kHeads * kDim, bits), randn(kLength * kKvHeads * kDim, bits),
                         randn(kLength * kKvHeads * kDim, bits)};
  const std::vector<float> whole = prefill(prompt, kLength);
  bool same = true;
  for (const int64_t chunk : {1, 7, 64, 256}) {
    const std::vector<float> o = prefill(prompt, chunk);
    const bool equal = std::memcmp(o.data(), whole.data(), whole.size() * sizeof(float)) == 0;
    std::printf("chunks of %d: %s\n", static_cast<int>(chunk), equal ? "the same bits" : "other bits");
    same = same && equal;
  }
  return same ? 0 : 1;
}
