// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The rivals beside attention itself, on the same arrays, by turns in one process on one core: `of_dense` is the best time of
// the one over the best of the other. Times are the thread's processor time. Additive rows tell `Gtanh/s` too: b h n^2 d_a over
// the time of the forward pass. `grad` is forward and backward together, of both.
//
//   build/bench/rivals_bench [--benchmark_filter=additive] [--benchmark_repetitions=5]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "benchmarks/measure.h"
#include "foveate/additive.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/inspect.h"
#include "foveate/linear.h"
#include "foveate/patterns.h"
#include "foveate/target.h"

namespace foveate::benchmarks {
namespace {

/// Arrays of one head size for all that is compared.
struct Arrays {
  int64_t h, n, d;
  Array<float> q, k, v, d_o, o, lse, dq, dk, dv;
  Array<float> w_q, w_k, w, b, dw_q, dw_k, dw, db;

  Arrays(int64_t heads, int64_t length, int64_t head_dim)
      : h(heads),
        n(length),
        d(head_dim),
        q(normal<float>(h * n * d, 1)),
        k(normal<float>(h * n * d, 2)),
        v(normal<float>(h * n * d, 3)),
        d_o(normal<float>(h * n * d, 4)),
        o(q.size()),
        lse(static_cast<size_t>(h * n)),
        dq(q.size()),
        dk(q.size()),
        dv(q.size()),
        w_q(normal<float>(d * d, 5, 0.125f)),
        w_k(normal<float>(d * d, 6, 0.125f)),
        w(normal<float>(d, 7)),
        b(normal<float>(d, 8)),
        dw_q(w_q.size()),
        dw_k(w_q.size()),
        dw(w.size()),
        db(w.size()) {}

  ConstTensor in(const Array<float>& x) const { return view(x.data(), 1, h, n, d); }
  Tensor out(Array<float>& x) const { return view(x.data(), 1, h, n, d); }
  AttentionOutputs outputs() { return {.o = out(o), .lse = view(lse.data(), 1, h, n, 1)}; }
  AdditiveParameters parameters() const {
    return {
        .w_q = view(w_q.data(), d, d), .w_k = view(w_k.data(), d, d), .w = view(w.data(), d), .b = view(b.data(), d)};
  }
  AdditiveGradients gradients() {
    AdditiveGradients g;
    g.dq = out(dq), g.dk = out(dk), g.dv = out(dv);
    g.dw_q = view(dw_q.data(), d, d), g.dw_k = view(dw_k.data(), d, d);
    g.dw = view(dw.data(), d), g.db = view(db.data(), d);
    return g;
  }
};

using Call = std::function<Status()>;

/// Two calls by turns.
void compare(benchmark::State& state, const std::string& target, const Call& rival, const Call& dense, double tanhs) {
  if (Status status = pin_target(target.c_str()); !status.ok()) return state.SkipWithError(status.message());
  double best = 1e9, best_dense = 1e9;
  const auto time = [&state](const Call& call, double& least) {
    const double start = thread_seconds();
    const Status status = call();
    const double seconds = thread_seconds() - start;
    if (!status.ok()) state.SkipWithError(status.message());
    least = std::min(least, seconds);
    return seconds;
  };
  for (auto _ : state) {
    time(dense, best_dense);
    state.SetIterationTime(time(rival, best));
  }
  state.counters["ms"] = 1e3 * best;
  state.counters["of_dense"] = best / best_dense;
  if (tanhs > 0) state.counters["Gtanh/s"] = 1e-9 * tanhs / best;
}

Call forward(const std::shared_ptr<Arrays>& a, const AttentionOptions& options) {
  return [=] { return attention(a->in(a->q), a->in(a->k), a->in(a->v), a->outputs(), options); };
}

Call both(const std::shared_ptr<Arrays>& a, const AttentionOptions& options) {
  return [=] {
    const AttentionOutputs out = a->outputs();
    const Status status = attention(a->in(a->q), a->in(a->k), a->in(a->v), out, options);
    if (!status.ok()) return status;
    return attention_backward(a->in(a->q), a->in(a->k), a->in(a->v), out.o, out.lse, a->in(a->d_o), a->gradients(),
                              options);
  };
}

void additive(benchmark::State& state, const std::string& target, bool gradients) {
  const auto a = std::make_shared<Arrays>(8, 1024, 64);
  const auto attend = [=] {
    return additive_attention(a->in(a->q), a->in(a->k), a->in(a->v), a->parameters(), a->outputs());
  };
  const auto train = [=] {
    if (Status status = attend(); !status.ok()) return status;
    const AttentionOutputs out = a->outputs();
    return additive_attention_backward(a->in(a->q), a->in(a->k), a->in(a->v), a->parameters(), out.o, out.lse,
                                       a->in(a->d_o), a->gradients());
  };
  const double tanhs = static_cast<double>(a->h * a->n * a->n * a->d);
  if (gradients) return compare(state, target, train, both(a, {}), 0);
  compare(state, target, attend, forward(a, {}), tanhs);
}

void linear(benchmark::State& state, const std::string& target, bool causal, bool gradients) {
  const auto a = std::make_shared<Arrays>(1, 8192, 64);
  const LinearOptions options{.causal = causal};
  const auto attend = [=] { return linear_attention(a->in(a->q), a->in(a->k), a->in(a->v), a->out(a->o), options); };
  const auto train = [=] {
    if (Status status = attend(); !status.ok()) return status;
    return linear_attention_backward(a->in(a->q), a->in(a->k), a->in(a->v), a->in(a->d_o),
                                     {.dq = a->out(a->dq), .dk = a->out(a->dk), .dv = a->out(a->dv)}, options);
  };
  const AttentionOptions dense{.causal = causal};
  if (gradients) return compare(state, target, train, both(a, dense), 0);
  compare(state, target, attend, forward(a, dense), 0);
}

/// One block in ten, of 64 x 64.
void blocks(benchmark::State& state, const std::string& target, bool gradients) {
  const auto a = std::make_shared<Arrays>(1, 8192, 64);
  constexpr int64_t kRows = 128;
  const auto kept = std::make_shared<bool[]>(static_cast<size_t>(kRows * kRows));
  const Status status = make_blocks({.n_q = a->n, .n_kv = a->n, .block_size = 64, .random_blocks = kRows / 10 - 1},
                                    view(kept.get(), 1, 1, kRows, kRows));
  if (!status.ok()) return state.SkipWithError(status.message());
  AttentionOptions options;
  options.blocks = view(static_cast<const bool*>(kept.get()), 1, 1, kRows, kRows);
  options.block_size = 64;
  compare(
      state, target, [=, keep = kept] { return (gradients ? both(a, options) : forward(a, options))(); },
      gradients ? both(a, {}) : forward(a, {}), 0);
  state.counters["kept"] = static_cast<double>(std::count(&kept[0], &kept[kRows * kRows], true)) / (kRows * kRows);
}

/// Room for all that inspect() can give of 8 heads of 2048 rows.
struct Figures {
  static constexpr int64_t kHeads = 8, kLength = 2048, kTop = 5, kCells = 256;
  std::vector<HeadFigures> heads = std::vector<HeadFigures>(kHeads);
  std::vector<RowFigures> rows = std::vector<RowFigures>(kHeads * kLength);
  std::vector<double> received = std::vector<double>(kHeads * kLength);
  std::vector<KeyWeight> top = std::vector<KeyWeight>(kHeads * kLength * kTop);
  std::vector<float> largest = std::vector<float>(kHeads * kCells * kCells), mean = largest;

  InspectOutputs outputs(bool everything) {
    if (!everything) return {.heads = heads.data()};
    return {heads.data(), rows.data(), received.data(),
            top.data(),   kTop,        {kCells, kCells, largest.data(), mean.data()}};
  }
};

/// What inspect() costs beside attention: figures of heads alone, or everything.
void figures(benchmark::State& state, const std::string& target, bool causal, bool everything) {
  const auto a = std::make_shared<Arrays>(Figures::kHeads, Figures::kLength, 64);
  const auto all = std::make_shared<Figures>();
  const AttentionOptions options{.causal = causal};
  compare(
      state, target, [=] { return inspect(a->in(a->q), a->in(a->k), all->outputs(everything), options); },
      forward(a, options), 0);
}

void add_rows() {
  for (int64_t i = 0; i < target_count(); ++i) {
    const std::string target = target_name(i);
    const auto add = [&](const char* name, const std::function<void(benchmark::State&)>& body) {
      benchmark::RegisterBenchmark((target + "/" + name).c_str(), body)
          ->UseManualTime()
          ->MinTime(0.5)
          ->Unit(benchmark::kMillisecond);
    };
    for (const bool causal : {false, true}) {
      for (const bool everything : {false, true}) {
        const std::string name = std::string("inspect/") + (everything ? "all_" : "") + (causal ? "causal_" : "");
        add((name + "N2048_d64").c_str(), [=](benchmark::State& state) { figures(state, target, causal, everything); });
      }
    }
    for (const bool gradients : {false, true}) {
      const std::string grad = gradients ? "grad_" : "";
      add((grad + "additive/N1024_d64").c_str(), [=](benchmark::State& state) { additive(state, target, gradients); });
      add((grad + "linear/N8192_d64").c_str(),
          [=](benchmark::State& state) { linear(state, target, false, gradients); });
      add((grad + "linear/causal_N8192_d64").c_str(),
          [=](benchmark::State& state) { linear(state, target, true, gradients); });
      add((grad + "blocks/N8192_d64").c_str(), [=](benchmark::State& state) { blocks(state, target, gradients); });
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
