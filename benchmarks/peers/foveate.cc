// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Foveate called from C++: what a call costs without Python. float32, without masks of blocks.
#include <memory>
#include <stdexcept>

#include "benchmarks/peers/worker.h"
#include "foveate/attention.h"
#include "foveate/target.h"
#include "foveate/tbb.h"

namespace foveate::benchmarks {
namespace {

class FoveateInCpp : public Peer {
 public:
  Json hello(int threads) override {
    if (threads > 1) executor_ = std::make_unique<TbbExecutor>(threads);
    return {{"version", ""}, {"facts", {{"target", active_target()}}}};
  }

  void prepare(const Work& work, const std::string& folder) override {
    if (work.dtype != "f32" || work.kv_dtype != "f32" || work.backward || work.additive || work.kept_blocks < 1) {
      throw std::runtime_error("measured through Python; from C++ float32 alone, forward, without blocks");
    }
    work_ = std::make_unique<Work>(work);
    q_ = read_array<float>(folder, "q", "f32");
    k_ = read_array<float>(folder, "k", "f32");
    v_ = read_array<float>(folder, "v", "f32");
    o_.assign(static_cast<size_t>(work.b * work.h_q * work.n_q * work.d_v), 0);
    options_ = {.causal = work.causal, .window_left = work.window};
    AttentionPlan plan;
    const Status status = attention_plan({.b = work.b,
                                          .h_q = work.h_q,
                                          .h_kv = work.h_kv,
                                          .n_q = work.n_q,
                                          .n_kv = work.n_kv,
                                          .d_k = work.d_k,
                                          .d_v = work.d_v},
                                         executor_ ? executor_->concurrency() : 1, &plan);
    if (!status.ok()) throw std::runtime_error(status.message());
    workspace_.assign(plan.workspace_bytes, 0);
    execution_ = {.executor = executor_.get(), .workspace = workspace_.data(), .workspace_bytes = workspace_.size()};
  }

  std::vector<std::string> ways() const override { return {"attention"}; }

  void run(size_t /*way*/) override {
    const Work& w = *work_;
    const Status status =
        attention(view(q_.data(), w.b, w.h_q, w.n_q, w.d_k), view(k_.data(), w.b, w.h_kv, w.n_kv, w.d_k),
                  view(v_.data(), w.b, w.h_kv, w.n_kv, w.d_v), {.o = view(o_.data(), w.b, w.h_q, w.n_q, w.d_v)},
                  options_, execution_);
    if (!status.ok()) throw std::runtime_error(status.message());
  }

  Outputs outputs() const override { return {{"o", {o_.begin(), o_.end()}}}; }

 private:
  std::unique_ptr<TbbExecutor> executor_;
  std::unique_ptr<Work> work_;
  Array<float> q_, k_, v_, o_;
  Array<char> workspace_;
  AttentionOptions options_;
  Execution execution_;
};

}  // namespace
}  // namespace foveate::benchmarks

int main() {
  foveate::benchmarks::FoveateInCpp peer;
  return foveate::benchmarks::serve(peer);
}
