// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention on threads of one's own: an Executor over std::thread, and a check that it changes no bit of the result.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "foveate/attention.h"

namespace {

// Each worker takes the next task that nobody has; a pool that already runs would be told to do the same.
class ThreadExecutor : public foveate::Executor {
 public:
  explicit ThreadExecutor(int64_t workers) : workers_(workers) {}
  int64_t concurrency() const override { return workers_; }
  void run(int64_t n_tasks, Task task, void* context) override {
    std::atomic<int64_t> next = 0;
    const auto work = [&](int64_t worker) {
      for (int64_t t; (t = next++) < n_tasks;) task(context, t, worker);
    };
    std::vector<std::thread> threads;
    for (int64_t worker = 1; worker < workers_; ++worker) threads.emplace_back(work, worker);
    work(0);
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int64_t workers_;
};

constexpr int64_t kBatch = 1, kHeads = 4, kLength = 300, kDim = 64;

std::vector<float> attend(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
                          foveate::Executor* executor) {
  const auto input = [](const std::vector<float>& a) { return foveate::view(a.data(), kBatch, kHeads, kLength, kDim); };
  std::vector<float> o(q.size());
  foveate::AttentionOutputs outputs;
  outputs.o = foveate::view(o.data(), kBatch, kHeads, kLength, kDim);
  foveate::AttentionOptions options;
  options.causal = true;
  foveate::Execution execution;
  execution.executor = executor;
  const foveate::Status status = foveate::attention(input(q), input(k), input(v), outputs, options, execution);
  if (!status.ok()) std::fprintf(stderr, "attention: %s\n", status.message());
  return status.ok() ? o : std::vector<float>();
}

}  // namespace

int main() {
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  std::vector<float> q(kBatch * kHeads * kLength * kDim), k(q.size()), v(q.size());
  for (std::vector<float>* array : {&q, &k, &v}) {
    for (float& value : *array) value = normal(bits);
  }

  ThreadExecutor threads(std::max(2u, std::thread::hardware_concurrency()));
  const std::vector<float> serial = attend(q, k, v, nullptr);
  const std::vector<float> parallel = attend(q, k, v, &threads);
  const bool same = !serial.empty() && serial.size() == parallel.size() &&
                    std::memcmp(serial.data(), parallel.data(), serial.size() * sizeof(float)) == 0;
  std::printf("serial and %d workers: %s\n", static_cast<int>(threads.concurrency()),
              same ? "the same bits" : "different");
  return same ? 0 : 1;
}
