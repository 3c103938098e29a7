// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What benchmarks measure with and on.
#ifndef FOVEATE_BENCHMARKS_MEASURE_H_
#define FOVEATE_BENCHMARKS_MEASURE_H_

#include <cstddef>
#include <cstdint>
#include <random>

#include "limits/clock.h"
#include "limits/huge_pages.h"

namespace foveate::benchmarks {

using limits::Array;
using limits::thread_seconds;

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
