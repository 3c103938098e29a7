// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The limits of the machine (limits/), measured in the run that they are set beside. Speaks lines of JSON, as peers do:
//
//   {"op": "hello", "threads": n}                      {"version": ..., "facts": {...}}
//   {"op": "measure", "what": "f32", "seconds": x}     {"wall": operations or bytes a second, "processor": ...}
//
// of all threads together: "f32", "bf16" and "i8" are operations on registers, "read" is plain loads of memory far larger than
// any cache. A rate of 0: the active target has no such products.
#include "limits/limits.h"

#include <sys/prctl.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "foveate/target.h"
#include "foveate/tbb.h"
#include "limits/clock.h"
#include "limits/huge_pages.h"

namespace foveate::benchmarks {
namespace {

using Json = nlohmann::json;

limits::Product product_named(const std::string& name) {
  if (name == "f32") return limits::Product::f32;
  if (name == "bf16") return limits::Product::bf16;
  if (name == "i8") return limits::Product::i8;
  throw std::runtime_error("what: expected f32, bf16, i8 or read, got " + name);
}

class Limits {
 public:
  explicit Limits(int threads)
      : threads_(threads), executor_(threads > 1 ? std::make_unique<TbbExecutor>(threads) : nullptr) {}

  Json measure(const std::string& what, double seconds) {
    const double wall = limits::wall_seconds(), processor = process_seconds();
    const double rate = what == "read" ? read_rate(seconds) : peak(what, seconds);
    const double busy = (process_seconds() - processor) / ((limits::wall_seconds() - wall) * threads_);
    // One thread's is a rate by processor time, that of several one by the time that passes.
    if (executor_) return {{"wall", rate}, {"processor", rate / busy}};
    return {{"wall", rate * busy}, {"processor", rate}};
  }

 private:
  static double process_seconds() { return limits::seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

  double peak(const std::string& what, double seconds) {
    const limits::Product product = product_named(what);
    return limits::has(product) ? limits::peak(product, seconds, executor_.get()) : 0;
  }

  double read_rate(double at_least) {
    const limits::Bytes all{memory_.data(), memory_.size()};
    double bytes = 0, seconds = 0;
    while (seconds < at_least) {
      seconds += limits::read_seconds({&all, 1}, executor_.get());
      bytes += static_cast<double>(memory_.size());
    }
    return bytes / seconds;
  }

  int threads_;
  std::unique_ptr<TbbExecutor> executor_;
  limits::Array<char> memory_ = limits::Array<char>(size_t{256} << 20, 1);
};

Json answer(const Json& request, std::unique_ptr<Limits>& limits) {
  if (request.at("op") == "hello") {
    limits = std::make_unique<Limits>(request.at("threads").get<int>());
    return {{"version", ""}, {"facts", {{"target", active_target()}}}};
  }
  if (!limits) throw std::runtime_error("not greeted yet");
  return limits->measure(request.at("what"), request.at("seconds"));
}

}  // namespace
}  // namespace foveate::benchmarks

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::unique_ptr<foveate::benchmarks::Limits> limits;
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json answer;
    try {
      answer = foveate::benchmarks::answer(nlohmann::json::parse(line), limits);
    } catch (const std::exception& error) {
      answer = {{"cannot", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
