// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays of what is measured, in pages of 2 MB where the system gives them. In a virtual machine the first touch of a small
// page may cost as much as all that is computed of it (22 us a page measured, after a second untouched): rows of float32
// N2048_d64 then show 0.37 to 0.57 of the peak instead of 0.67, and no two runs agree.
#ifndef FOVEATE_LIMITS_HUGE_PAGES_H_
#define FOVEATE_LIMITS_HUGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace foveate::limits {

template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class U>
  explicit HugePages(const HugePages<U>& /*other*/) {}

  T* allocate(size_t n) {
    constexpr size_t kPage = size_t{2} << 20;
    const size_t bytes = (n * sizeof(T) + kPage - 1) / kPage * kPage;
    void* memory = std::aligned_alloc(kPage, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE);  // advice: where it is not taken, pages stay small
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t /*n*/) { std::free(memory); }

  bool operator==(const HugePages& /*other*/) const { return true; }
};

template <class T>
using Array = std::vector<T, HugePages<T>>;

}  // namespace foveate::limits

#endif  // FOVEATE_LIMITS_HUGE_PAGES_H_
