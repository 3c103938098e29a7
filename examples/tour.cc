// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The README's lines of C++, in a program: attention, its gradients, a cache of keys and values.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/kv_cache.h"

namespace {

constexpr int64_t b = 2, h_q = 8, h_kv = 2, n_q = 50, n_kv = 50, d_k = 16, d_v = 16;

std::vector<float> randn(int64_t size) {
  static std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(size));
  for (float& x : values) x = normal(bits);
  return values;
}

bool forward(const float* q, const float* k, const float* v, float* o) {
  foveate::Status status = foveate::attention(foveate::view(q, b, h_q, n_q, d_k), foveate::view(k, b, h_kv, n_kv, d_k),
                                              foveate::view(v, b, h_kv, n_kv, d_v),
                                              {.o = foveate::view(o, b, h_q, n_q, d_v)}, {.causal = true});
  if (!status.ok()) std::puts(status.message());  // "k: head dim 4 does not equal q's 8"
  return status.ok();
}

bool train(const foveate::ConstTensor& q, const foveate::ConstTensor& k, const foveate::ConstTensor& v,
           const foveate::ConstTensor& d_o, const foveate::Tensor& o, const foveate::Tensor& lse,
           const foveate::AttentionGradients& gradients) {
  const foveate::AttentionOptions options = {.causal = true};
  foveate::Status status = foveate::attention(q, k, v, {.o = o, .lse = lse}, options);
  if (status.ok()) status = foveate::attention_backward(q, k, v, o, lse, d_o, gradients, options);  // {.dq = dq, ...}
  return status.ok();
}

bool serve(const foveate::ConstTensor& q, const foveate::ConstTensor& k, const foveate::ConstTensor& v,
           const foveate::Tensor& o) {
  foveate::KvCache cache;  // int8, 4096 pages of 64 keys: all the memory there will ever be
  foveate::Status status = foveate::KvCache::create({.h_kv = h_kv,
                                                     .d_k = d_k,
                                                     .d_v = d_v,
                                                     .k_dtype = foveate::DType::i8,
                                                     .v_dtype = foveate::DType::i8,
                                                     .max_pages = 4096},
                                                    &cache);
  int64_t sequence = 0, branch = 0;
  if (status.ok()) status = cache.add(&sequence);
  if (status.ok()) status = cache.append(sequence, k, v);  // [1, h_kv, n, d]: a prompt, then token by token
  if (status.ok()) status = cache.attend(q, {&sequence, 1}, {.o = o}, {.causal = true});
  if (status.ok()) status = cache.fork(sequence, &branch);  // shares every page until one of them writes
  return status.ok();
}

}  // namespace

int main() {
  const std::vector<float> q = randn(b * h_q * n_q * d_k), k = randn(b * h_kv * n_kv * d_k),
                           v = randn(b * h_kv * n_kv * d_v);
  const std::vector<float> d_o = randn(q.size());
  std::vector<float> o(q.size()), o_trained(q.size()), o_served(q.size()), lse(b * h_q * n_q), dq(q.size());

  bool ok = forward(q.data(), k.data(), v.data(), o.data());
  ok = ok && train(foveate::view(q.data(), b, h_q, n_q, d_k), foveate::view(k.data(), b, h_kv, n_kv, d_k),
                   foveate::view(v.data(), b, h_kv, n_kv, d_v), foveate::view(d_o.data(), b, h_q, n_q, d_v),
                   foveate::view(o_trained.data(), b, h_q, n_q, d_v), foveate::view(lse.data(), b, h_q, n_q, 1),
                   {.dq = foveate::view(dq.data(), b, h_q, n_q, d_k)});
  ok = ok && serve(foveate::view(q.data(), 1, h_q, n_q, d_k), foveate::view(k.data(), 1, h_kv, n_kv, d_k),
                   foveate::view(v.data(), 1, h_kv, n_kv, d_v), foveate::view(o_served.data(), 1, h_q, n_q, d_v));
  // The same rows, from int8 keys and values.
  for (int64_t i = 0; i < h_q * n_q * d_v; ++i) ok = ok && std::abs(o_served[i] - o[i]) < 0.2f;
  ok = ok && o == o_trained;
  std::puts(ok ? "done" : "something is wrong");
  return ok ? 0 : 1;
}
