// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "tests/counted_allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace foveate {

std::atomic<bool> counting_allocations = false;
std::atomic<int64_t> counted_allocations = 0;

}  // namespace foveate

namespace {
void* counted(void* memory) {
  if (foveate::counting_allocations.load(std::memory_order_relaxed)) {
    foveate::counted_allocations.fetch_add(1, std::memory_order_relaxed);
  }
  return memory;
}
}  // namespace

// Sanitizers put their own malloc in place, and see to operator new by it.
#if defined(__GLIBC__) && !defined(FOVEATE_MALLOC_OF_SANITIZER)
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's names for what is replaced here
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t n, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(size_t size) noexcept { return counted(__libc_malloc(size)); }
void* calloc(size_t n, size_t size) noexcept { return counted(__libc_calloc(n, size)); }
void* realloc(void* memory, size_t size) noexcept { return counted(__libc_realloc(memory, size)); }
void* aligned_alloc(size_t alignment, size_t size) noexcept { return counted(__libc_memalign(alignment, size)); }
void* memalign(size_t alignment, size_t size) noexcept { return counted(__libc_memalign(alignment, size)); }
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  *memory = counted(__libc_memalign(alignment, size));
  return *memory != nullptr ? 0 : 12;
}
}
#else
// A request too large gives null from them too.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

void* operator new(size_t size) {
  void* const memory = counted(std::malloc(size));
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return counted(std::malloc(size)); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return counted(std::malloc(size)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
#endif
