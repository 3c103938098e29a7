// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "benchmarks/fma_peak.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "foveate/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/fma_peak.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::benchmarks {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The compiler must neither merge chains that compute the same nor drop one: it is told that the value may have changed.
template <class V>
HWY_INLINE void Opaque(V& v) {
#if HWY_TARGET == HWY_SCALAR && HWY_ARCH_X86
  asm volatile("" : "+x"(v.raw));
#elif HWY_ARCH_X86
  asm volatile("" : "+v"(v.raw));
#else
  asm volatile("" : "+w"(v.raw));
#endif
}

/// Ten chains cover a latency of five cycles at two a cycle, and leave registers even where there are sixteen.
template <class T>
int64_t MultiplyAdds(int64_t rounds) {
  const hn::ScalableTag<T> d;
  auto c0 = hn::Set(d, T(0.10)), c1 = hn::Set(d, T(0.11)), c2 = hn::Set(d, T(0.12)), c3 = hn::Set(d, T(0.13));
  auto c4 = hn::Set(d, T(0.14)), c5 = hn::Set(d, T(0.15)), c6 = hn::Set(d, T(0.16)), c7 = hn::Set(d, T(0.17));
  auto c8 = hn::Set(d, T(0.18)), c9 = hn::Set(d, T(0.19));
  auto a = hn::Set(d, T(0.5)), b = hn::Set(d, T(0.25));
  Opaque(a);
  Opaque(b);
  for (int64_t i = 0; i < rounds; ++i) {
    c0 = hn::MulAdd(c0, a, b);
    c1 = hn::MulAdd(c1, a, b);
    c2 = hn::MulAdd(c2, a, b);
    c3 = hn::MulAdd(c3, a, b);
    c4 = hn::MulAdd(c4, a, b);
    c5 = hn::MulAdd(c5, a, b);
    c6 = hn::MulAdd(c6, a, b);
    c7 = hn::MulAdd(c7, a, b);
    c8 = hn::MulAdd(c8, a, b);
    c9 = hn::MulAdd(c9, a, b);
    Opaque(c0), Opaque(c1), Opaque(c2), Opaque(c3), Opaque(c4);
    Opaque(c5), Opaque(c6), Opaque(c7), Opaque(c8), Opaque(c9);
  }
  return rounds * 10 * 2 * static_cast<int64_t>(hn::Lanes(d));
}

int64_t MultiplyAddsF32(int64_t rounds) { return MultiplyAdds<float>(rounds); }
int64_t MultiplyAddsF64(int64_t rounds) { return MultiplyAdds<double>(rounds); }

}  // namespace HWY_NAMESPACE
}  // namespace foveate::benchmarks
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::benchmarks {
namespace {

HWY_EXPORT(MultiplyAddsF32);
HWY_EXPORT(MultiplyAddsF64);

/// Whether a target is another with native products, which is listed right behind those.
bool is_native(std::string_view name) {
  return name.ends_with("-amx") || name.ends_with("-vnni") || name.ends_with("-bf16") || name.ends_with("-dotprod");
}

/// Makes Highway's own choice that of the library, which keeps its choice to itself. Asked but once for each: in a virtual
/// machine the question takes as long as a hundred thousand multiply-adds.
void follow_active_target() {
  static const char* followed = nullptr;
  if (followed == active_target()) return;
  followed = active_target();
  int64_t target = 0;
  int64_t left = hwy::SupportedTargets() & (HWY_TARGETS);
  bool found = false;
  for (int64_t i = 0; left != 0; ++i) {
    found |= std::strcmp(target_name(i), active_target()) == 0;
    if (is_native(target_name(i))) continue;
    target = left & -left;
    left ^= target;
    if (found) break;
  }
  hwy::GetChosenTarget().Update(target);
}

}  // namespace

template <>
int64_t multiply_adds<float>(int64_t rounds) {
  follow_active_target();
  return HWY_DYNAMIC_DISPATCH(MultiplyAddsF32)(rounds);
}

template <>
int64_t multiply_adds<double>(int64_t rounds) {
  follow_active_target();
  return HWY_DYNAMIC_DISPATCH(MultiplyAddsF64)(rounds);
}

#if HWY_ARCH_X86_64
namespace {

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

}  // namespace
#endif

int64_t bf16_products(int64_t rounds) {
#if HWY_ARCH_X86_64
  if (std::strcmp(active_target(), "avx512-amx") == 0) return amx_products(rounds);
  if (std::strcmp(active_target(), "avx512-bf16") != 0) return 0;
  int64_t left = rounds;
  asm volatile(
      "vpxord %%zmm10, %%zmm10, %%zmm10\n"
      "1:\n"
      "vdpbf16ps %%zmm10, %%zmm10, %%zmm0\n vdpbf16ps %%zmm10, %%zmm10, %%zmm1\n"
      "vdpbf16ps %%zmm10, %%zmm10, %%zmm2\n vdpbf16ps %%zmm10, %%zmm10, %%zmm3\n"
      "vdpbf16ps %%zmm10, %%zmm10, %%zmm4\n vdpbf16ps %%zmm10, %%zmm10, %%zmm5\n"
      "vdpbf16ps %%zmm10, %%zmm10, %%zmm6\n vdpbf16ps %%zmm10, %%zmm10, %%zmm7\n"
      "vdpbf16ps %%zmm10, %%zmm10, %%zmm8\n vdpbf16ps %%zmm10, %%zmm10, %%zmm9\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(left)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10");
  return rounds * 10 * 4 * 16;
#else
  return rounds * 0;
#endif
}

}  // namespace foveate::benchmarks
#endif  // HWY_ONCE
