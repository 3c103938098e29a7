// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Products that Highway 1.0.3 does not reach, in assembly: no compiler can then merge or drop a chain. Fourteen chains cover a
// latency of seven cycles at two a cycle.
#include <cstring>
#include <string_view>

#include "foveate/target.h"
#include "limits/loops.h"

namespace foveate::limits {

#if defined(__x86_64__)
namespace {

constexpr int64_t kChains = 14;

/// Four tiles of sums, 16 x 16 of 16 pairs each.
int64_t amx_products(int64_t rounds) {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t column_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } const config;
  int64_t left = rounds;
  asm volatile(
      "ldtilecfg %1\n"
      "1:\n"
      "tdpbf16ps %%tmm4, %%tmm5, %%tmm0\n tdpbf16ps %%tmm4, %%tmm5, %%tmm1\n"
      "tdpbf16ps %%tmm4, %%tmm5, %%tmm2\n tdpbf16ps %%tmm4, %%tmm5, %%tmm3\n"
      "dec %0\n"
      "jnz 1b\n"
      "tilerelease\n"
      : "+r"(left)
      : "m"(config)
      : "cc");
  return rounds * 4 * 2 * 16 * 16 * 32;
}

/// Two multiply-adds a lane of 32 bits. Of numbers as work has them: a processor may run faster with zeros than it can with any.
int64_t bf16_512(int64_t rounds) {
  int64_t left = rounds;
  asm volatile(
      "vpbroadcastd %1, %%zmm14\n"
      ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
      "vpxord %%zmm\\i, %%zmm\\i, %%zmm\\i\n"
      ".endr\n"
      "1:\n"
      ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
      "vdpbf16ps %%zmm14, %%zmm14, %%zmm\\i\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(left)
      : "r"(0x3eab3eab)  // a third
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14");
  return rounds * kChains * 2 * 2 * 16;
}

/// Four multiply-adds a lane of 32 bits.
int64_t i8_512(int64_t rounds) {
  int64_t left = rounds;
  asm volatile(
      "vpbroadcastd %1, %%zmm14\n"
      "1:\n"
      ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
      "vpdpbusd %%zmm14, %%zmm14, %%zmm\\i\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(left)
      : "r"(0x55aa3317)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14");
  return rounds * kChains * 4 * 2 * 16;
}

int64_t i8_256(int64_t rounds) {
  int64_t left = rounds;
  asm volatile(
      "vmovd %1, %%xmm14\n"
      "vpbroadcastd %%xmm14, %%ymm14\n"
      "1:\n"
      ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
      "%{vex%} vpdpbusd %%ymm14, %%ymm14, %%ymm\\i\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(left)
      : "r"(0x55aa3317)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14");
  return rounds * kChains * 4 * 2 * 8;
}

}  // namespace

int64_t bf16_products(int64_t rounds) {
  const std::string_view target = active_target();
  if (target == "avx512-amx") return amx_products(rounds);
  return target == "avx512-bf16" ? bf16_512(rounds) : 0;
}

int64_t i8_products(int64_t rounds) {
  const std::string_view target = active_target();
  if (target == "avx512-amx" || target == "avx512-bf16" || target == "avx512-vnni") return i8_512(rounds);
  return target == "avx2-vnni" ? i8_256(rounds) : 0;
}

#elif defined(__aarch64__)

int64_t bf16_products(int64_t /*rounds*/) { return 0; }

int64_t i8_products(int64_t rounds) {
  if (!std::string_view(active_target()).ends_with("-dotprod")) return 0;
  int64_t left = rounds;
  asm volatile(
      ".arch armv8.2-a+dotprod\n"
      "1:\n"
      ".irp i, 0,1,2,3,4,5,6,7,16,17,18,19,20,21\n"
      "sdot v\\i\\().4s, v22.16b, v22.16b\n"
      ".endr\n"
      "subs %0, %0, #1\n"
      "b.ne 1b\n"
      ".arch armv8-a\n"
      : "+r"(left)
      :
      : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21");
  return rounds * 14 * 4 * 2 * 4;
}

#else

int64_t bf16_products(int64_t /*rounds*/) { return 0; }
int64_t i8_products(int64_t /*rounds*/) { return 0; }

#endif

}  // namespace foveate::limits
