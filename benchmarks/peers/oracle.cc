// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The judge: what some rows of a work are in float64 by the oracle (reference/). One request a line, JSON:
//
//   {"work": {...}, "folder": "...", "rows": [[b, h, i], ...]}     {}
//
// FOLDER/exact_o.f64 has a row of o for each of them. With the gradients it has exact_dq.f64, exact_dk.f64 and exact_dv.f64
// too, of the last query head whole, which has to be a key head of its own.
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "benchmarks/peers/worker.h"
#include "foveate/float16.h"
#include "reference/attention_backward.h"

namespace foveate::benchmarks {
namespace {

using Problem = reference::Problem<double>;

template <class T>
std::vector<double> part(const std::string& folder, const std::string& name, const std::string& dtype, int64_t at,
                         int64_t n) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(n));
  for (const T x : read_array<T>(folder, name, dtype, at, n)) values.push_back(static_cast<float>(x));
  return values;
}

/// `n` elements of an input from `at` on; int8 in rows of d times their scales.
std::vector<double> input(const std::string& folder, const std::string& name, const std::string& dtype, int64_t at,
                          int64_t n, int64_t d) {
  if (dtype == "f32") return part<float>(folder, name, dtype, at, n);
  if (dtype == "f16") return part<Float16>(folder, name, dtype, at, n);
  if (dtype == "bf16") return part<BFloat16>(folder, name, dtype, at, n);
  std::vector<double> values = part<int8_t>(folder, name, dtype, at, n);
  const std::vector<double> scales = part<float>(folder, name + "_scales", "f32", at / d, n / d);
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] *= scales[static_cast<size_t>(i / d)];
  return values;
}

/// One head of a work, with query rows [first, first + n_q).
Problem head_of(const Work& w, const std::string& folder, int64_t b, int64_t h, int64_t first, int64_t n_q) {
  Problem p;
  p.n_q = n_q, p.n_kv = w.n_kv, p.d_k = w.d_k, p.d_v = w.d_v;
  p.q = input(folder, "q", w.dtype, ((b * w.h_q + h) * w.n_q + first) * w.d_k, n_q * w.d_k, w.d_k);
  const int64_t keys = (b * w.h_kv + h / w.group()) * w.n_kv;
  p.k = input(folder, "k", w.kv_dtype, keys * w.d_k, w.n_kv * w.d_k, w.d_k);
  p.v = input(folder, "v", w.kv_dtype, keys * w.d_v, w.n_kv * w.d_v, w.d_v);
  p.causal = w.causal;
  p.window_left = w.window;
  p.q_offset = first + w.n_kv - w.n_q;
  if (w.additive) {
    p.network = {w.d_k, part<float>(folder, "w_q", "f32", 0, w.d_k * w.d_k),
                 part<float>(folder, "w_k", "f32", 0, w.d_k * w.d_k), part<float>(folder, "w", "f32", 0, w.d_k),
                 part<float>(folder, "bias", "f32", 0, w.d_k)};
  }
  if (w.kept_blocks < 1) {
    // Of one row alone: its row of blocks.
    constexpr int64_t kBlock = 64;
    const int64_t columns = (w.n_kv + kBlock - 1) / kBlock;
    const Array<char> blocks = read_array<char>(folder, "blocks", "bool");
    const auto* row = blocks.data() + first / kBlock * columns;
    p.blocks = {row, row + columns};
    p.block_size = kBlock;
  }
  return p;
}

void write(const std::string& folder, const std::string& name, const std::vector<double>& values) {
  std::ofstream file(folder + "/exact_" + name + ".f64", std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(double)));
}

void judge(const Json& request) {
  const Work work(request.at("work"));
  const std::string folder = request.at("folder");
  std::vector<double> o;
  for (const Json& row : request.at("rows")) {
    const Problem p = head_of(work, folder, row.at(0), row.at(1), row.at(2), 1);
    const std::vector<double> exact = reference::attention(p).o;
    o.insert(o.end(), exact.begin(), exact.end());
  }
  write(folder, "o", o);
  if (!work.backward) return;
  const Problem p = head_of(work, folder, work.b - 1, work.h_q - 1, 0, work.n_q);
  const int64_t first = ((work.b - 1) * work.h_q + work.h_q - 1) * work.n_q * work.d_v;
  const std::vector<double> d_o = input(folder, "d_o", work.dtype, first, work.n_q * work.d_v, work.d_v);
  const auto gradients = reference::attention_backward(p, d_o);
  write(folder, "dq", gradients.dq);
  write(folder, "dk", gradients.dk);
  write(folder, "dv", gradients.dv);
}

}  // namespace
}  // namespace foveate::benchmarks

int main() {
  using foveate::benchmarks::Json;
  for (std::string line; std::getline(std::cin, line);) {
    Json answer = Json::object();
    try {
      foveate::benchmarks::judge(Json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"cannot", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
