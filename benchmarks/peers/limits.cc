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
#include <csignal>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "foveate/target.h"
#include "foveate/tbb.h"
#include "limits/huge_pages.h"
#include "limits/limits.h"

namespace foveate::benchmarks {
namespace {

using Json = nlohmann::json;

/// What is measured with: some memory, and the workers, unless one thread alone is meant.
struct Machine {
  explicit Machine(int threads) : memory(size_t{256} << 20, 1) {
    if (threads > 1) executor = std::make_unique<TbbExecutor>(threads);
  }

  limits::Array<char> memory;
  std::unique_ptr<TbbExecutor> executor;
};

double rate(const Machine& machine, const std::string& what, double seconds) {
  Executor* const executor = machine.executor.get();
  if (what == "read") {
    const limits::Bytes all[] = {{machine.memory.data(), machine.memory.size()}};
    double best = 0, spent = 0;
    do {
      const double once = limits::read_seconds(all, executor);
      best = std::max(best, static_cast<double>(machine.memory.size()) / once);
      spent += once;
    } while (spent < seconds);
    return best;
  }
  for (const limits::Product product : {limits::Product::f32, limits::Product::bf16, limits::Product::i8}) {
    const std::string name = product == limits::Product::f32 ? "f32" : product == limits::Product::bf16 ? "bf16" : "i8";
    if (name == what) return limits::has(product) ? limits::peak(product, seconds, executor) : 0;
  }
  throw std::runtime_error("measure: expected f32, bf16, i8 or read, got " + what);
}

Json answer(const Json& request, std::unique_ptr<Machine>& machine) {
  if (request.at("op") == "hello") {
    machine = std::make_unique<Machine>(request.at("threads").get<int>());
    return {{"version", ""}, {"facts", {{"target", active_target()}}}};
  }
  // One thread is measured by its processor time, several by the time that passes: there is one answer.
  const double measured = rate(*machine, request.at("what"), request.at("seconds"));
  return {{"wall", measured}, {"processor", measured}};
}

}  // namespace
}  // namespace foveate::benchmarks

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::unique_ptr<foveate::benchmarks::Machine> machine;
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json answer;
    try {
      answer = foveate::benchmarks::answer(nlohmann::json::parse(line), machine);
    } catch (const std::exception& error) {
      answer = {{"cannot", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
