// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The floating-point mode of a task: round to nearest, subnormals kept, no traps, whatever the host program has set; the
// host's mode and its sticky exception flags come back afterwards.
#ifndef FOVEATE_SRC_FP_MODE_H_
#define FOVEATE_SRC_FP_MODE_H_

#include <cstdint>

#if defined(__SSE__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace foveate {

class [[maybe_unused]] FpMode {
 public:
#if defined(__SSE__) || defined(_M_X64)
  FpMode() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }  // the processor's reset value: all exceptions masked
  ~FpMode() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  FpMode() {
    asm volatile("mrs %0, fpcr" : "=r"(mode_));
    asm volatile("mrs %0, fpsr" : "=r"(flags_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  }
  ~FpMode() {
    asm volatile("msr fpcr, %0" : : "r"(mode_));
    asm volatile("msr fpsr, %0" : : "r"(flags_));
  }
#else
  FpMode() = default;  // WebAssembly has one mode
  ~FpMode() = default;
#endif
  FpMode(const FpMode&) = delete;
  FpMode& operator=(const FpMode&) = delete;

 private:
#if defined(__SSE__) || defined(_M_X64)
  unsigned saved_;
#elif defined(__aarch64__)
  uint64_t mode_, flags_;
#endif
};

}  // namespace foveate

#endif  // FOVEATE_SRC_FP_MODE_H_
