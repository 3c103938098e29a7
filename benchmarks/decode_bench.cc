// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Decoding: one query row a head over a long cache, which is bound by memory. Each row reads all of the cache by plain loads
// and attends to it by turns in one process, and prints the best of each in GB/s and their ratio, `share`. The cache is
// larger than the processor's own, and one thread reads it.
//
//   build/bench/decode_bench [--benchmark_filter=avx512/bf16] [--benchmark_repetitions=5]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "foveate/attention.h"
#include "foveate/target.h"
#include "limits/clock.h"
#include "limits/huge_pages.h"
#include "limits/limits.h"

namespace foveate::benchmarks {
namespace {

using limits::Array;

struct Work {
  const char* name;
  int64_t h_q, h_kv, n_kv, d;
};

constexpr Work kWorks[] = {
    {"32:32_N4096_d128", 32, 32, 4096, 128},
    {"32:8_N32768_d128", 32, 8, 32768, 128},
    {"64:8_N32768_d128", 64, 8, 32768, 128},
};

ConstTensor cache_view(const Array<char>& bytes, DType dtype, const Work& w) {
  return {bytes.data(), dtype, {1, w.h_kv, w.n_kv, w.d}, {0, w.n_kv * w.d, w.d, 1}};
}

void decode(benchmark::State& state, const Work& w, DType stored, const std::string& target) {
  if (Status status = pin_target(target.c_str()); !status.ok()) return state.SkipWithError(status.message());
  // Ones in every byte are small numbers of any type.
  const auto bytes = static_cast<size_t>(w.h_kv * w.n_kv * w.d * size_of(stored));
  const Array<char> k(bytes, 1), v(bytes, 1);
  const limits::Bytes cache[] = {{k.data(), k.size()}, {v.data(), v.size()}};
  const Array<float> scales(static_cast<size_t>(w.h_kv * w.n_kv), 0.01f), q(static_cast<size_t>(w.h_q * w.d), 0.5f);
  const Array<BFloat16> narrow_q(q.size(), BFloat16(0.5f));
  Array<float> o(q.size());
  Array<BFloat16> narrow_o(q.size());
  const bool narrow = stored == DType::bf16;
  AttentionOptions options;
  if (stored == DType::i8) options.k_scales = options.v_scales = view(scales.data(), 1, w.h_kv, w.n_kv, 1);
  double best = 1e9, best_read = 1e9;
  for (auto _ : state) {
    best_read = std::min(best_read, limits::read_seconds(cache));
    const double start = limits::thread_seconds();
    const Status status =
        attention(narrow ? view(narrow_q.data(), 1, w.h_q, 1, w.d) : view(q.data(), 1, w.h_q, 1, w.d),
                  cache_view(k, stored, w), cache_view(v, stored, w),
                  {.o = narrow ? view(narrow_o.data(), 1, w.h_q, 1, w.d) : view(o.data(), 1, w.h_q, 1, w.d)}, options);
    const double elapsed = limits::thread_seconds() - start;
    if (!status.ok()) return state.SkipWithError(status.message());
    best = std::min(best, elapsed);
    state.SetIterationTime(elapsed);
  }
  const double gigabytes = 2e-9 * static_cast<double>(k.size());
  state.counters["GB/s"] = gigabytes / best;
  state.counters["read"] = gigabytes / best_read;
  state.counters["share"] = best_read / best;
}

void add_rows() {
  for (int64_t i = 0; i < target_count(); ++i) {
    const std::string target = target_name(i);
    for (const Work& work : kWorks) {
      for (const DType stored : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
        const std::string name = target + "/" + name_of(stored) + "/" + work.name;
        benchmark::RegisterBenchmark(name.c_str(), decode, work, stored, target)
            ->UseManualTime()
            ->MinTime(0.5)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

}  // namespace
}  // namespace foveate::benchmarks

int main(int argc, char** argv) {
  foveate::benchmarks::add_rows();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
