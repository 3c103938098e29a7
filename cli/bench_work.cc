// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/bench_work.h"

#include <fmt/format.h>

#include <algorithm>

namespace foveate::cli {
namespace {

AttentionShape heads(int64_t b, int64_t h, int64_t n, int64_t d, DType dtype) {
  return {.b = b, .h_q = h, .h_kv = h, .n_q = n, .n_kv = n, .d_k = d, .d_v = d, .dtype = dtype};
}

BenchWork square(DType dtype, int64_t n, int64_t d) {
  return {
      .name = fmt::format("{} N{} d{}", short_name(dtype), n, d), .shape = heads(1, 8, n, d, dtype), .stored = dtype};
}

BenchWork causal(BenchWork work) {
  work.name.insert(work.name.find(" N"), " causal");
  work.causal = true;
  return work;
}

BenchWork training(BenchWork work) {
  work.name = "train " + work.name;
  work.gradients = true;
  return work;
}

BenchWork short_rows(int64_t b, int64_t n, int64_t d) {
  return {.name = fmt::format("f32 B{} H12 N{} d{}", b, n, d), .shape = heads(b, 12, n, d, DType::f32)};
}

/// Keys and values of int8 meet queries of float32.
BenchWork int8_keys(BenchWork work) {
  work.stored = DType::i8;
  return work;
}

BenchWork decoding(DType stored, int64_t h_kv, int64_t n) {
  AttentionShape shape = heads(1, 32, n, 128, stored == DType::i8 ? DType::f32 : stored);
  shape.h_kv = h_kv;
  shape.n_q = 1;
  return {
      .name = fmt::format("decode {} 32:{} N{} d128", short_name(stored), h_kv, n), .shape = shape, .stored = stored};
}

/// Pairs of a query and a key that take part, of one head.
double pairs_of(const BenchWork& work) {
  const AttentionShape& s = work.shape;
  double pairs = 0;
  for (int64_t i = 0; i < s.n_q; ++i) {
    const int64_t position = i + s.n_kv - s.n_q;
    int64_t last = s.n_kv - 1, first = 0;
    if (work.window_left != kUnlimited) first = std::max(first, position - work.window_left);
    if (work.window_right != kUnlimited) last = std::min(last, position + work.window_right);
    if (work.causal) last = std::min(last, position);
    pairs += static_cast<double>(std::max<int64_t>(0, last - first + 1));
  }
  return pairs;
}

}  // namespace

const char* short_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "f64";
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    default:
      return name_of(dtype);
  }
}

std::vector<BenchWork> usual_works() {
  BenchWork int8 = int8_keys(square(DType::f32, 2048, 128));
  int8.name = "int8 N2048 d128";
  const BenchWork tiny = {.name = "f32 H1 N8 d16", .shape = heads(1, 1, 8, 16, DType::f32)};
  BenchWork window = causal(square(DType::f32, 16384, 64));
  window.name = "f32 window 256 N16384 d64";
  window.window_left = 256;
  return {square(DType::f32, 2048, 64),
          square(DType::f32, 2048, 128),
          causal(square(DType::f32, 2048, 64)),
          causal(square(DType::f32, 4096, 128)),
          window,
          short_rows(8, 128, 64),
          short_rows(8, 384, 64),
          short_rows(64, 17, 32),
          tiny,
          square(DType::bf16, 2048, 64),
          square(DType::bf16, 2048, 128),
          square(DType::f16, 2048, 64),
          int8,
          training(square(DType::f32, 2048, 64)),
          training(causal(square(DType::f32, 2048, 64))),
          decoding(DType::f32, 32, 4096),
          decoding(DType::bf16, 32, 4096),
          decoding(DType::bf16, 8, 32768),
          decoding(DType::i8, 8, 32768)};
}

std::string own_name(const BenchWork& work) {
  std::string name = (work.gradients ? "train " : "") + std::string(short_name(work.stored));
  if (work.causal) name += " causal";
  if (work.window_left != kUnlimited || work.window_right != kUnlimited) {
    name += fmt::format(" window {},{}", work.window_left, work.window_right);
  }
  return name;
}

std::string shape_text(const AttentionShape& s) {
  return fmt::format("b {}, heads {}:{}, n {}:{}, d {}:{}", s.b, s.h_q, s.h_kv, s.n_q, s.n_kv, s.d_k, s.d_v);
}

double operations_of(const BenchWork& work) {
  const AttentionShape& s = work.shape;
  const auto d_k = static_cast<double>(s.d_k), d_v = static_cast<double>(s.d_v);
  // Backward: scores, their gradients' product with keys and with queries; gradients of weights, and of values.
  const double a_pair = 2 * (d_k + d_v) + (work.gradients ? 2 * (3 * d_k + 2 * d_v) : 0);
  return static_cast<double>(s.b) * static_cast<double>(s.h_q) * pairs_of(work) * a_pair;
}

double key_bytes_of(const BenchWork& work) {
  const AttentionShape& s = work.shape;
  const double rows = static_cast<double>(s.b) * static_cast<double>(s.h_kv) * static_cast<double>(s.n_kv);
  return rows * static_cast<double>(s.d_k + s.d_v) * static_cast<double>(size_of(work.stored));
}

}  // namespace foveate::cli
