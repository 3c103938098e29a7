// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How near the engine comes to what one core can do: each row runs attention and the multiply-add peak by turns in one
// process, and prints the best of each and their ratio, `share`. Times are the thread's processor time, so that other work
// on the machine disturbs little. The peak is that of the computing type: float32 for all narrower ones, but for the native
// products of bfloat16. FLOPs are 4 b h n_q n_kv d (2 (d_k + d_v) where these differ), half for causal. Rows named `grad`
// are forward and backward together, 3.5 times as many; `MB` is the memory that the backward pass takes beside its
// arguments.
//
//   build/bench/attention_bench [--benchmark_filter=avx2] [--benchmark_repetitions=5]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "benchmarks/measure.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/target.h"
#include "limits/limits.h"

namespace foveate::benchmarks {
namespace {

struct Work {
  const char* name;
  int64_t b, h, n, d;
  bool causal;
};

constexpr Work kWorks[] = {
    {"N2048_d64", 1, 8, 2048, 64, false},       {"N2048_d128", 1, 8, 2048, 128, false},
    {"causal_N2048_d64", 1, 8, 2048, 64, true}, {"causal_N4096_d128", 1, 8, 4096, 128, true},
    {"B8_H12_N128_d64", 8, 12, 128, 64, false}, {"B64_H12_N17_d32", 64, 12, 17, 32, false},
};

/// The type that arrays of T are computed in.
template <class T>
using Computing = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// FLOP/s of the peak, measured for as long as what it is set beside.
template <class T>
double measured_peak(double seconds) {
  if (std::is_same_v<T, BFloat16> && limits::has(limits::Product::bf16)) {
    return limits::peak(limits::Product::bf16, seconds);
  }
  return limits::peak(std::is_same_v<T, double> ? limits::Product::f64 : limits::Product::f32, seconds);
}

void count(benchmark::State& state, double best, double peak) {
  state.counters["GFLOP/s"] = best * 1e-9;
  state.counters["peak"] = peak * 1e-9;
  state.counters["share"] = best / peak;
}

template <class T>
void attend(benchmark::State& state, const Work& work, const std::string& target) {
  if (Status status = pin_target(target.c_str()); !status.ok()) return state.SkipWithError(status.message());
  const auto [name, b, h, n, d, causal] = work;
  const auto q = normal<T>(b * h * n * d, 1), k = normal<T>(b * h * n * d, 2), v = normal<T>(b * h * n * d, 3);
  Array<T> o(q.size());
  const double flops = 4.0 * static_cast<double>(b * h * n * n * d) * (causal ? 0.5 : 1.0);
  double best = 0, peak = 0, last = 0.001;
  for (auto _ : state) {
    peak = std::max(peak, measured_peak<T>(last));
    const double start = thread_seconds();
    const Status status = attention(view(q.data(), b, h, n, d), view(k.data(), b, h, n, d), view(v.data(), b, h, n, d),
                                    {.o = view(o.data(), b, h, n, d)}, {.causal = causal});
    const double seconds = thread_seconds() - start;
    if (!status.ok()) return state.SkipWithError(status.message());
    best = std::max(best, flops / seconds);
    last = seconds;
    state.SetIterationTime(seconds);
    benchmark::DoNotOptimize(o.data());
  }
  count(state, best, peak);
}

/// Forward and backward, as a step of training has them.
template <class T>
void train(benchmark::State& state, const Work& work, const std::string& target) {
  if (Status status = pin_target(target.c_str()); !status.ok()) return state.SkipWithError(status.message());
  const auto [name, b, h, n, d, causal] = work;
  const auto q = normal<T>(b * h * n * d, 1), k = normal<T>(b * h * n * d, 2), v = normal<T>(b * h * n * d, 3);
  const auto d_o = normal<T>(b * h * n * d, 4);
  Array<T> o(q.size()), dq(q.size()), dk(q.size()), dv(q.size());
  Array<Computing<T>> lse(static_cast<size_t>(b * h * n));
  const auto of = [&work](auto& array) { return view(array.data(), work.b, work.h, work.n, work.d); };
  const AttentionOutputs outputs{.o = of(o), .lse = view(lse.data(), b, h, n, 1)};
  const AttentionGradients gradients{.dq = of(dq), .dk = of(dk), .dv = of(dv)};
  const AttentionOptions options{.causal = causal};
  const double flops = 3.5 * 4.0 * static_cast<double>(b * h * n * n * d) * (causal ? 0.5 : 1.0);
  double best = 0, peak = 0, last = 0.001;
  for (auto _ : state) {
    peak = std::max(peak, measured_peak<T>(last));
    const double start = thread_seconds();
    Status status = attention(of(q), of(k), of(v), outputs, options);
    if (status.ok())
      status = attention_backward(of(q), of(k), of(v), outputs.o, outputs.lse, of(d_o), gradients, options);
    const double seconds = thread_seconds() - start;
    if (!status.ok()) return state.SkipWithError(status.message());
    best = std::max(best, flops / seconds);
    last = seconds;
    state.SetIterationTime(seconds);
  }
  AttentionBackwardPlan plan;
  const AttentionShape shape{
      .b = b, .h_q = h, .h_kv = h, .n_q = n, .n_kv = n, .d_k = d, .d_v = d, .dtype = dtype_of<T>()};
  if (Status status = attention_backward_plan(shape, gradients, 1, &plan); !status.ok())
    return state.SkipWithError(status.message());
  state.counters["MB"] = static_cast<double>(plan.workspace_bytes) * 1e-6;
  count(state, best, peak);
}

void add_rows() {
  for (int64_t i = 0; i < target_count(); ++i) {
    const std::string target = target_name(i);
    for (const Work& work : kWorks) {
      const auto add = [&](const char* type, auto function) {
        const std::string name = target + "/" + type + "/" + work.name;
        benchmark::RegisterBenchmark(name.c_str(), function, work, target)
            ->UseManualTime()
            ->MinTime(1.0)
            ->Unit(benchmark::kMillisecond);
      };
      add("f32", attend<float>);
      if (work.n <= 2048) add("f64", attend<double>);
      if (work.n == 2048) add("bf16", attend<BFloat16>);
      if (work.n == 2048) add("f16", attend<Float16>);
      add("grad_f32", train<float>);
      if (work.n == 2048) add("grad_bf16", train<BFloat16>);
      if (work.n == 2048) add("grad_f64", train<double>);
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
