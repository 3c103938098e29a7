// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How fast the engine is here: one call of fused attention, for the host to time.
#include <vector>

#include "claims/random.h"
#include "exports.h"
#include "foveate/attention.h"

namespace foveate::web {

class Benchmark {
 public:
  Benchmark(int32_t n, int32_t d) : n_(n), d_(d) {
    claims::Normal normal(1);
    for (std::vector<float>* x : {&q_, &k_, &v_, &o_}) {
      x->resize(static_cast<size_t>(n) * static_cast<size_t>(d));
      for (float& element : *x) element = static_cast<float>(normal());
    }
  }

  Status run() { return attention(input(q_), input(k_), input(v_), {.o = view(o_.data(), 1, 1, n_, d_)}); }

  double flops() const { return 4.0 * n_ * n_ * d_; }

 private:
  ConstTensor input(const std::vector<float>& x) const { return view(x.data(), 1, 1, n_, d_); }

  int32_t n_, d_;
  std::vector<float> q_, k_, v_, o_;
};

Benchmark* fv_benchmark_begin(int32_t n, int32_t d) {
  if (n >= 1 && n <= 1 << 14 && d >= 1 && d <= 1 << 10) return new Benchmark(n, d);
  refuse("benchmark: n %d and d %d; expected up to 16384 and 1024", static_cast<int>(n), static_cast<int>(d));
  return nullptr;
}

int32_t fv_benchmark_run(Benchmark* benchmark) { return report(benchmark->run()); }
double fv_benchmark_flops(const Benchmark* benchmark) { return benchmark->flops(); }
void fv_benchmark_end(Benchmark* benchmark) { delete benchmark; }

}  // namespace foveate::web
