// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What benchmarks measure with and on.
#ifndef FOVEATE_BENCHMARKS_MEASURE_H_
#define FOVEATE_BENCHMARKS_MEASURE_H_

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <random>

#include "benchmarks/huge_pages.h"

namespace foveate::benchmarks {

/// Processor time of this thread, which other work on the machine disturbs little.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class T>
Array<T> normal(int64_t n, unsigned seed, float deviation = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> distribution(0, deviation);
  Array<T> values(static_cast<size_t>(n));
  for (T& value : values) value = static_cast<T>(distribution(generator));
  return values;
}

}  // namespace foveate::benchmarks

#endif  // FOVEATE_BENCHMARKS_MEASURE_H_
