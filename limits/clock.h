// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The clocks that work is measured by.
#ifndef FOVEATE_LIMITS_CLOCK_H_
#define FOVEATE_LIMITS_CLOCK_H_

#include <time.h>

namespace foveate::limits {

inline double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Processor time of this thread, which other work on the machine disturbs little.
inline double thread_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

/// Time that passes: the only one that tells of several threads.
inline double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

}  // namespace foveate::limits

#endif  // FOVEATE_LIMITS_CLOCK_H_
