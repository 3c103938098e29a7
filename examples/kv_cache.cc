// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Decoding from a cache: a prompt at once, tokens one by one, then a fork that continues otherwise. Keys and values are
// kept as int8, a quarter of float32's bytes; the fork shares the prompt's pages.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "foveate/kv_cache.h"

namespace {

constexpr int64_t kHeads = 8, kKvHeads = 2, kDim = 64;

/// Stands for what a model's projections give for n tokens.
struct Tokens {
  std::vector<float> q, k, v, o;
  int64_t n;

  Tokens(int64_t count, std::mt19937& bits)
      : q(kHeads * count * kDim), k(kKvHeads * count * kDim), v(k), o(q), n(count) {
    std::normal_distribution<float> normal;
    for (std::vector<float>* array : {&q, &k, &v}) {
      for (float& value : *array) value = normal(bits);
    }
  }
};

void check(const foveate::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "kv_cache: %s\n", status.message());
  std::exit(1);
}

/// Appends the tokens' keys and values, and attends from each token to all up to itself.
void step(foveate::KvCache& cache, int64_t sequence, Tokens& tokens) {
  const auto input = [&](const std::vector<float>& array, int64_t heads) {
    return foveate::view(array.data(), 1, heads, tokens.n, kDim);
  };
  check(cache.append(sequence, input(tokens.k, kKvHeads), input(tokens.v, kKvHeads)));
  foveate::AttentionOutputs outputs;
  outputs.o = foveate::view(tokens.o.data(), 1, kHeads, tokens.n, kDim);
  foveate::AttentionOptions options;
  options.causal = true;
  check(cache.attend(input(tokens.q, kHeads), {&sequence, 1}, outputs, options));
}

void report(const char* when, const foveate::KvCache& cache) {
  const foveate::KvCacheUsage usage = cache.usage();
  std::printf("%s: %d pages, %d KB\n", when, static_cast<int>(usage.pages_in_use),
              static_cast<int>(usage.bytes_in_use / 1024));
}

}  // namespace

int main() {
  foveate::KvCacheOptions options;
  options.h_kv = kKvHeads;
  options.d_k = options.d_v = kDim;
  options.k_dtype = options.v_dtype = foveate::DType::i8;
  options.max_pages = 16;  // all the memory there will ever be
  foveate::KvCache cache;
  check(foveate::KvCache::create(options, &cache));

  std::mt19937 bits(1);
  int64_t sequence = 0, fork = 0;
  check(cache.add(&sequence));
  Tokens prompt(300, bits);
  step(cache, sequence, prompt);
  report("a prompt of 300 tokens", cache);

  check(cache.fork(sequence, &fork));
  report("forked", cache);
  for (int i = 0; i < 30; ++i) {
    for (const int64_t branch : {sequence, fork}) {
      Tokens token(1, bits);
      step(cache, branch, token);
    }
  }
  report("30 tokens on either branch", cache);

  check(cache.remove(fork));
  check(cache.truncate(sequence, 300));
  report("back to the prompt", cache);
  return 0;
}
