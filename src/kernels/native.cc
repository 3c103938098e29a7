// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "kernels/native.h"

#include <cstring>

#include "kernels/native_amx.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace foveate::kernels {
namespace {

#if defined(__x86_64__)
/// AMX first. AMD's processors do a vdpbf16ps at the rate of a float32 multiply-add; Intel's (Sapphire Rapids: 117 GFLOP/s,
/// where float32 has 234) do one in the time of four, so that converting to float32 is faster there.
NativeTarget avx512(int i) {
  const bool vnni = __builtin_cpu_supports("avx512vnni"), bf16 = vnni && __builtin_cpu_supports("avx512bf16");
  const NativeTarget by_vnni = {"avx512-vnni", &kAvx512Vnni}, by_bf16 = {"avx512-bf16", &kAvx512Bf16};
  if (bf16 && has_amx() && i-- == 0) return {"avx512-amx", &kAvx512Amx};
  const bool bf16_first = bf16 && __builtin_cpu_is("amd");
  if (i == 0 && vnni) return bf16_first ? by_bf16 : by_vnni;
  if (i == 1 && bf16) return bf16_first ? by_vnni : by_bf16;
  return {};
}

/// AVX-VNNI has no name in __builtin_cpu_supports: leaf 7, subleaf 1, bit 4 of eax. Whoever runs AVX2 saves its registers.
bool has_avx_vnni() {
  unsigned a = 7, b, c = 1, d;
  asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (a >> 4 & 1) != 0;
}
#endif

}  // namespace

NativeTarget native_target(const char* base, int i) {
#if defined(__x86_64__)
  if (std::strncmp(base, "avx512", 6) == 0) return avx512(i);
  if (std::strcmp(base, "avx2") == 0 && i == 0 && has_avx_vnni()) return {"avx2-vnni", &kAvx2Vnni};
#elif defined(__aarch64__) && defined(__linux__)
  const bool has = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  if (std::strcmp(base, "neon") == 0 && i == 0 && has) return {"neon-dotprod", &kNeonDotprod};
  if (std::strcmp(base, "sve2-128") == 0 && i == 0 && has) return {"sve2-128-dotprod", &kNeonDotprod};
#endif
  (void)base, (void)i;
  return {};
}

}  // namespace foveate::kernels
