// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A prompt that many answers share is attended to once for all of them: their queries over the prompt's keys in one
// call, then each answer over its own keys, and the two merged by lse. (With a KvCache, fork() shares the pages instead, to the bit.)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "foveate/attention.h"
#include "foveate/state.h"

namespace {

constexpr int64_t kAnswers = 6, kHeads = 4, kDim = 32, kPrompt = 500, kOwn = 20;

std::vector<float> randn(int64_t size, std::mt19937& bits) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(size));
  for (float& x : values) x = normal(bits);
  return values;
}

struct Rows {
  std::vector<float> o = std::vector<float>(kAnswers * kHeads * kDim), lse = std::vector<float>(kAnswers * kHeads);
};

bool check(const foveate::Status& status) {
  if (!status.ok()) std::fprintf(stderr, "shared_prefix: %s\n", status.message());
  return status.ok();
}

}  // namespace

int main() {
  std::mt19937 bits(1);
  // One query row an answer: the token that is being decoded, which sees all keys before it.
  const std::vector<float> q = randn(kAnswers * kHeads * kDim, bits);
  const std::vector<float> prompt_k = randn(kHeads * kPrompt * kDim, bits),
                           prompt_v = randn(kHeads * kPrompt * kDim, bits);
  const std::vector<float> own_k = randn(kAnswers * kHeads * kOwn * kDim, bits), own_v = randn(own_k.size(), bits);
  Rows prompt, own, merged;

  // All answers are rows of one sequence here: [1, heads, answers, d].
  const auto as_rows = [](auto* data, int64_t d) {
    return foveate::view(data, 1, kHeads, kAnswers, d, foveate::Layout::bnhd);
  };
  bool ok = check(foveate::attention(as_rows(q.data(), kDim), foveate::view(prompt_k.data(), 1, kHeads, kPrompt, kDim),
                                     foveate::view(prompt_v.data(), 1, kHeads, kPrompt, kDim),
                                     {.o = as_rows(prompt.o.data(), kDim), .lse = as_rows(prompt.lse.data(), 1)}));
  // And a batch of sequences of one row: [answers, heads, 1, d], the same memory.
  const auto as_batch = [](auto* data, int64_t d) { return foveate::view(data, kAnswers, kHeads, 1, d); };
  ok = ok &&
       check(foveate::attention(as_batch(q.data(), kDim), foveate::view(own_k.data(), kAnswers, kHeads, kOwn, kDim),
                                foveate::view(own_v.data(), kAnswers, kHeads, kOwn, kDim),
                                {.o = as_batch(own.o.data(), kDim), .lse = as_batch(own.lse.data(), 1)}));
  ok = ok && check(foveate::merge({.o = as_batch(prompt.o.data(), kDim), .lse = as_batch(prompt.lse.data(), 1)},
                                  {.o = as_batch(own.o.data(), kDim), .lse = as_batch(own.lse.data(), 1)},
                                  as_batch(merged.o.data(), kDim), as_batch(merged.lse.data(), 1)));

  // The last answer with its keys in one piece.
  std::vector<float> k, v;
  for (int64_t h = 0; h < kHeads; ++h) {
    const auto put = [&](std::vector<float>& to, const std::vector<float>& from, int64_t head, int64_t n) {
      to.insert(to.end(), from.begin() + head * n * kDim, from.begin() + (head + 1) * n * kDim);
    };
    put(k, prompt_k, h, kPrompt), put(k, own_k, (kAnswers - 1) * kHeads + h, kOwn);
    put(v, prompt_v, h, kPrompt), put(v, own_v, (kAnswers - 1) * kHeads + h, kOwn);
  }
  std::vector<float> whole(kHeads * kDim);
  const int64_t last = (kAnswers - 1) * kHeads * kDim;
  ok = ok && check(foveate::attention(foveate::view(q.data() + last, 1, kHeads, 1, kDim),
                                      foveate::view(k.data(), 1, kHeads, kPrompt + kOwn, kDim),
                                      foveate::view(v.data(), 1, kHeads, kPrompt + kOwn, kDim),
                                      {.o = foveate::view(whole.data(), 1, kHeads, 1, kDim)}));
  float apart = 0;
  for (int64_t i = 0; i < kHeads * kDim; ++i) apart = std::max(apart, std::abs(whole[i] - merged.o[last + i]));
  std::printf("merged and whole are %s\n", apart < 1e-6f ? "the same up to rounding" : "apart");
  return ok && apart < 1e-6f ? 0 : 1;
}
