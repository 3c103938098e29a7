// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The limits of the machine, measured in the run that they are set beside. Speaks lines of JSON, as peers do:
//
//   {"op": "hello", "threads": n}                      {"version": ..., "facts": {...}}
//   {"op": "measure", "what": "f32", "seconds": x}     {"wall": operations or bytes a second, "processor": ...}
//
// "f32", "bf16" and "i8" are multiply-adds on registers, counted as two; "read" is plain loads of memory far larger than any
// cache. A rate of 0: the processor has no such instruction.
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/fma_peak.h"
#include "benchmarks/measure.h"
#include "foveate/target.h"

namespace foveate::benchmarks {
namespace {

using Json = nlohmann::json;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Sums of all words, in as many chains as hide the latency of a load.
uint64_t read_all(const char* bytes, size_t n) {
  constexpr size_t kWords = 32;
  uint64_t sums[kWords] = {};
  for (size_t at = 0; at + sizeof(sums) <= n; at += sizeof(sums)) {
    uint64_t words[kWords];
    std::memcpy(words, bytes + at, sizeof(words));
    for (size_t i = 0; i < kWords; ++i) sums[i] += words[i];
  }
  uint64_t sum = 0;
  for (const uint64_t x : sums) sum += x;
  return sum;
}

/// vpdpbusd on registers, 64 multiply-adds each; 0 where the processor lacks it.
int64_t int8_products(int64_t rounds) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512vnni")) return 0;
  int64_t left = rounds;
  asm volatile(
      "vpxord %%zmm10, %%zmm10, %%zmm10\n"
      "1:\n"
      "vpdpbusd %%zmm10, %%zmm10, %%zmm0\n vpdpbusd %%zmm10, %%zmm10, %%zmm1\n"
      "vpdpbusd %%zmm10, %%zmm10, %%zmm2\n vpdpbusd %%zmm10, %%zmm10, %%zmm3\n"
      "vpdpbusd %%zmm10, %%zmm10, %%zmm4\n vpdpbusd %%zmm10, %%zmm10, %%zmm5\n"
      "vpdpbusd %%zmm10, %%zmm10, %%zmm6\n vpdpbusd %%zmm10, %%zmm10, %%zmm7\n"
      "vpdpbusd %%zmm10, %%zmm10, %%zmm8\n vpdpbusd %%zmm10, %%zmm10, %%zmm9\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(left)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10");
  return rounds * 10 * 2 * 64;
#else
  return rounds * 0;
#endif
}

/// Does a little of what is measured, in thread `index` of `threads`; returns how much.
class Load {
 public:
  explicit Load(int threads) : memory_(size_t{256} << 20, 1), share_(memory_.size() / static_cast<size_t>(threads)) {}

  double some(const std::string& what, size_t index) {
    constexpr int64_t kRounds = 20000;
    if (what == "f32") return static_cast<double>(multiply_adds<float>(kRounds));
    if (what == "bf16") return static_cast<double>(bf16_products(kRounds));
    if (what == "i8") return static_cast<double>(int8_products(kRounds));
    if (what != "read") throw std::runtime_error("measure: expected f32, bf16, i8 or read, got " + what);
    sum_ += read_all(memory_.data() + index * share_, share_);
    return static_cast<double>(share_);
  }

 private:
  Array<char> memory_;
  size_t share_;
  std::atomic<uint64_t> sum_ = 0;  // so that nothing read is left out
};

/// What all threads do in a second, and in a second of their processor time.
Json rate(Load& load, const std::string& what, int threads, double at_least) {
  load.some(what, 0);  // what is wrong with the request is thrown here
  std::vector<std::thread> others;
  std::vector<double> by_wall(static_cast<size_t>(threads)), by_processor(by_wall.size());
  const auto measure = [&](size_t index) {
    const double start = seconds(), start_of_thread = thread_seconds();
    double done = 0, elapsed = 0;
    while (elapsed < at_least) done += load.some(what, index), elapsed = seconds() - start;
    by_wall[index] = done / elapsed;
    by_processor[index] = done / (thread_seconds() - start_of_thread);
  };
  for (int i = 1; i < threads; ++i) others.emplace_back(measure, static_cast<size_t>(i));
  measure(0);
  for (std::thread& thread : others) thread.join();
  return {{"wall", std::accumulate(by_wall.begin(), by_wall.end(), 0.0)},
          {"processor", std::accumulate(by_processor.begin(), by_processor.end(), 0.0)}};
}

Json answer(const Json& request, std::unique_ptr<Load>& load, int& threads) {
  if (request.at("op") == "hello") {
    threads = request.at("threads");
    load = std::make_unique<Load>(threads);
    return {{"version", ""}, {"facts", {{"target", active_target()}}}};
  }
  return rate(*load, request.at("what"), threads, request.at("seconds"));
}

}  // namespace
}  // namespace foveate::benchmarks

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::unique_ptr<foveate::benchmarks::Load> load;
  int threads = 1;
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json answer;
    try {
      answer = foveate::benchmarks::answer(nlohmann::json::parse(line), load, threads);
    } catch (const std::exception& error) {
      answer = {{"cannot", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
