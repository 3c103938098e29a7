// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One run of an experiment: its sizes, its random numbers, its progress, and the engine's calls that several
// experiments make.
#ifndef FOVEATE_CLAIMS_RUN_H_
#define FOVEATE_CLAIMS_RUN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "claims/random.h"
#include "foveate/attention.h"

namespace foveate::claims {

/// Thrown out of an experiment whose stop flag was raised.
struct Stopped {};

struct Run {
  uint64_t seed = 1;
  bool quick = false;
  Executor* executor = nullptr;               ///< changes no result; what is timed runs without
  const std::atomic<bool>* stop = nullptr;    ///< polled by every step and every call
  std::function<void(double)> progress = {};  ///< told which share is done, 0 to 1

  /// Samples: of a full run, or of a quick one.
  int64_t samples(int64_t full, int64_t of_quick) const { return quick ? of_quick : full; }

  /// The random numbers of an experiment: the same whatever else is run.
  Normal normal(std::string_view experiment) const;

  /// Throws Stopped where asked to.
  void step(int64_t done, int64_t of) const;

  Execution execution() const { return {.executor = executor, .stop = stop}; }
};

/// Throws Stopped for `cancelled`, and std::runtime_error for any other failure: an experiment's calls are right.
void require_ok(const Status& status);

/// `count` rows of d numbers each.
template <class T = double>
std::vector<T> draw(Normal& normal, int64_t count, int64_t d) {
  std::vector<T> values(static_cast<size_t>(count * d));
  for (T& value : values) value = static_cast<T>(normal());
  return values;
}

/// scale * q_i . k_i for each row i of d_k numbers, by the engine: lse of a single key is its score.
std::vector<double> pair_scores(const Run& run, const std::vector<double>& q, const std::vector<double>& k, int64_t d_k,
                                double scale);

/// The weights [count][n] of `count` queries, each over n keys of its own.
template <class T>
std::vector<T> row_weights(const Run& run, const std::vector<T>& q, const std::vector<T>& k, int64_t n, int64_t d_k,
                           double scale);

/// The largest weight of each of `draws` rows over n keys, queries and keys N(0, 1), in float64.
std::vector<double> largest_weights(const Run& run, Normal& normal, int64_t draws, int64_t n, int64_t d_k,
                                    double scale);

/// Seconds of the calling thread's processor time that `work` takes, measured `times` times, after a first run and over
/// as many repeats as take two milliseconds: sorted.
std::vector<double> thread_seconds(int64_t times, const std::function<void()>& work);

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_RUN_H_
