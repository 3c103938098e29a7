// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A peer's side of the pipe in C++; the protocol stands in worker.py. Whoever uses it derives from Peer and calls serve().
#ifndef FOVEATE_BENCHMARKS_PEERS_WORKER_H_
#define FOVEATE_BENCHMARKS_PEERS_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limits/huge_pages.h"

namespace foveate::benchmarks {

using limits::Array;

using Json = nlohmann::json;
using limits::Array;

/// A call as work.py has it.
struct Work {
  int64_t b, h_q, h_kv, n_q, n_kv, d_k, d_v;
  std::string dtype, kv_dtype;
  bool causal, backward, additive;
  int64_t window;  ///< -1: no bound
  double kept_blocks;

  explicit Work(const Json& json);

  int64_t group() const { return h_q / h_kv; }
  double scale() const;
};

/// The float32 outputs of a call, by name.
using Outputs = std::map<std::string, std::vector<float>>;

/// One library. Whatever it cannot do it throws as std::runtime_error, whose text is the reason.
class Peer {
 public:
  virtual ~Peer() = default;

  /// Version and facts.
  virtual Json hello(int threads) = 0;
  virtual void prepare(const Work& work, const std::string& folder) = 0;
  /// The names of the ways there are to do what was prepared; the fastest is kept.
  virtual std::vector<std::string> ways() const = 0;
  virtual void run(size_t way) = 0;
  virtual Outputs outputs() const = 0;
};

/// Of FOLDER/NAME.DTYPE, `n` elements from `at` on, all of them unless n is given; throws std::runtime_error.
template <class T>
Array<T> read_array(const std::string& folder, const std::string& name, const std::string& dtype, int64_t at = 0,
                    int64_t n = -1);

/// Answers until the pipe is closed. Returns the process's status.
int serve(Peer& peer);

}  // namespace foveate::benchmarks

#endif  // FOVEATE_BENCHMARKS_PEERS_WORKER_H_
