// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "benchmarks/peers/worker.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>

#include "foveate/float16.h"
#include "limits/clock.h"

namespace foveate::benchmarks {

Work::Work(const Json& json)
    : b(json.at("b")),
      h_q(json.at("h_q")),
      h_kv(json.at("h_kv")),
      n_q(json.at("n_q")),
      n_kv(json.at("n_kv")),
      d_k(json.at("d_k")),
      d_v(json.at("d_v")),
      dtype(json.at("dtype")),
      kv_dtype(json.at("kv_dtype")),
      causal(json.at("causal")),
      backward(json.at("backward")),
      additive(json.at("additive")),
      window(json.at("window").is_null() ? -1 : json.at("window").get<int64_t>()),
      kept_blocks(json.at("kept_blocks")) {}

double Work::scale() const { return 1 / std::sqrt(static_cast<double>(d_k)); }

template <class T>
Array<T> read_array(const std::string& folder, const std::string& name, const std::string& dtype, int64_t at,
                    int64_t n) {
  const std::string path = folder + "/" + name + "." + dtype;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("no file " + path);
  if (n < 0) n = static_cast<int64_t>(file.tellg()) / static_cast<int64_t>(sizeof(T));
  Array<T> values(static_cast<size_t>(n));
  file.seekg(at * static_cast<int64_t>(sizeof(T)));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file) throw std::runtime_error(path + " is too short");
  return values;
}

#define FOVEATE_INSTANTIATE(T) \
  template Array<T> read_array(const std::string&, const std::string&, const std::string&, int64_t, int64_t)
FOVEATE_INSTANTIATE(float);
FOVEATE_INSTANTIATE(Float16);
FOVEATE_INSTANTIATE(BFloat16);
FOVEATE_INSTANTIATE(int8_t);
FOVEATE_INSTANTIATE(char);
#undef FOVEATE_INSTANTIATE

namespace {

using limits::wall_seconds;

double processor_seconds() { return limits::seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

/// A line of /proc/self/status, in bytes.
int64_t status_bytes(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

/// Bytes by which the process grows at most during a call.
int64_t extra_memory(Peer& peer, size_t way) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  const int64_t before = status_bytes("VmRSS");
  peer.run(way);
  return std::max<int64_t>(0, status_bytes("VmHWM") - before);
}

double best_of(Peer& peer, size_t way) {
  double best = std::numeric_limits<double>::infinity();
  const double start = wall_seconds();
  for (int i = 0; i < 5 && wall_seconds() - start < 0.1; ++i) {
    const double begin = wall_seconds();
    peer.run(way);
    best = std::min(best, wall_seconds() - begin);
  }
  return best;
}

/// A call that lasts so long need not be made once before it is timed.
constexpr double kLong = 0.1;

class Session {
 public:
  explicit Session(Peer& peer) : peer_(peer) {}

  Json answer(const Json& request) {
    const std::string op = request.at("op");
    if (op == "hello") return peer_.hello(request.at("threads"));
    if (op == "prepare") return prepare(request);
    if (op == "write") return write(request.at("folder"));
    if (op == "time") return time(request.at("calls"));
    if (op == "release") return Json::object();  // arrays are replaced when the next are prepared
    throw std::runtime_error("no request " + op);
  }

 private:
  Json prepare(const Json& request) {
    peer_.prepare(Work(request.at("work")), request.at("folder"));
    const std::vector<std::string> ways = peer_.ways();
    double best = std::numeric_limits<double>::infinity();
    int64_t memory = 0;
    const std::vector<std::string> without = request.at("without");
    for (size_t i = 0; i < ways.size(); ++i) {
      if (std::find(without.begin(), without.end(), ways[i]) != without.end()) continue;
      const int64_t extra = extra_memory(peer_, i);
      const double seconds = best_of(peer_, i);
      if (seconds < best) best = seconds, memory = extra, way_ = i;
    }
    if (std::isinf(best)) throw std::runtime_error("no way is left");
    seconds_ = best;
    return {{"way", ways.at(way_)}, {"seconds", best}, {"memory", memory}};
  }

  Json write(const std::string& folder) {
    const Json answer = timed(1);
    for (const auto& [name, values] : peer_.outputs()) {
      std::ofstream file(folder + "/" + name + ".f32", std::ios::binary);
      file.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(float)));
    }
    return answer;
  }

  Json time(int64_t calls) {
    if (seconds_ < kLong) peer_.run(way_);  // caches and threads are awake again
    return timed(calls);
  }

  Json timed(int64_t calls) {
    const double processor = processor_seconds(), wall = wall_seconds();
    for (int64_t i = 0; i < calls; ++i) peer_.run(way_);
    const auto n = static_cast<double>(calls);
    return {{"wall", (wall_seconds() - wall) / n}, {"processor", (processor_seconds() - processor) / n}};
  }

  Peer& peer_;
  size_t way_ = 0;
  double seconds_ = 0;
};

}  // namespace

int serve(Peer& peer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no stopped process is left behind
  Session session(peer);
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      answer = session.answer(Json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"cannot", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace foveate::benchmarks
