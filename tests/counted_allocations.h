// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Counts what a test allocates. Its source puts operator new and, on glibc, malloc in place for the whole program.
#ifndef FOVEATE_TESTS_COUNTED_ALLOCATIONS_H_
#define FOVEATE_TESTS_COUNTED_ALLOCATIONS_H_

#include <atomic>
#include <cstdint>

namespace foveate {

/// Allocations of this process while counting is on.
extern std::atomic<bool> counting_allocations;
extern std::atomic<int64_t> counted_allocations;

/// How many allocations body makes.
template <class Body>
int64_t allocations_of(const Body& body) {
  counted_allocations = 0;
  counting_allocations = true;
  body();
  counting_allocations = false;
  return counted_allocations;
}

}  // namespace foveate

#endif  // FOVEATE_TESTS_COUNTED_ALLOCATIONS_H_
