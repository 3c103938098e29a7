// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A work of `foveate bench`, measured by turns with the limits of the machine.
#ifndef FOVEATE_CLI_BENCH_MEASURE_H_
#define FOVEATE_CLI_BENCH_MEASURE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/bench_work.h"
#include "foveate/executor.h"

namespace foveate::cli {

/// What was measured of one work. Times are seconds: the thread's processor time where there is one thread, else the time that
/// passes.
struct BenchRow {
  BenchWork work;
  std::string target;
  int64_t threads = 1;
  int64_t turns = 0;
  int64_t calls = 1;  ///< of a turn: one, but of short work as many as the clock can tell; times are of one
  double best = 0, median = 0;
  double peak = 0;            ///< operations a second of multiply-adds of the work's types, the best of all turns
  std::string products = {};  ///< and what these multiply: "float32", "int8 and bfloat16"
  std::optional<double> read_rate = {};  ///< bytes a second of reading keys and values alone; of decoding
  size_t workspace_bytes = 0;            ///< memory that a call takes beside its arrays

  double operations_rate() const { return operations_of(work) / best; }
  double bytes_rate() const { return key_bytes_of(work) / best; }

  /// Seconds that the machine's limit leaves: to multiply, or to read where that takes longer.
  double limit() const;
  bool limited_by_reading() const;
  double share() const { return limit() / best; }
};

struct BenchTime {
  double seconds;                        ///< a work, limits included; three turns at the least
  const std::atomic<bool>* stop;         ///< polled within calls too
  std::function<void(double)> progress;  ///< told the share of the time that is over
};

/// Measures on the active target; without an executor on the calling thread. Returns nothing where it was stopped.
std::optional<BenchRow> measure(const BenchWork& work, Executor* executor, const BenchTime& time);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_BENCH_MEASURE_H_
