// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "limits/loops.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "foveate/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "limits/loops.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::limits {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The compiler must neither merge chains that compute the same nor drop one: it is told that the value may have changed.
template <class V>
HWY_INLINE void Opaque(V& v) {
#if HWY_HAVE_SCALABLE
  asm volatile("" : "+w"(v));
#elif HWY_TARGET == HWY_EMU128
  asm volatile("" : "+m"(v));
#else
  auto raw = v.raw;
#if HWY_TARGET == HWY_SCALAR && HWY_ARCH_X86
  asm volatile("" : "+x"(raw));
#elif HWY_ARCH_X86
  asm volatile("" : "+v"(raw));
#else
  asm volatile("" : "+w"(raw));
#endif
  v.raw = raw;
#endif
}

/// Fourteen chains cover a latency of seven cycles at two a cycle (a multiply and an add, of SSE4), and leave registers even where
/// there are sixteen.
template <class T>
int64_t MultiplyAdds(int64_t rounds) {
  const hn::ScalableTag<T> d;
  auto c0 = hn::Set(d, T(0.10)), c1 = hn::Set(d, T(0.11)), c2 = hn::Set(d, T(0.12)), c3 = hn::Set(d, T(0.13));
  auto c4 = hn::Set(d, T(0.14)), c5 = hn::Set(d, T(0.15)), c6 = hn::Set(d, T(0.16)), c7 = hn::Set(d, T(0.17));
  auto c8 = hn::Set(d, T(0.18)), c9 = hn::Set(d, T(0.19)), c10 = hn::Set(d, T(0.20)), c11 = hn::Set(d, T(0.21));
  auto c12 = hn::Set(d, T(0.22)), c13 = hn::Set(d, T(0.23));
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
    c10 = hn::MulAdd(c10, a, b);
    c11 = hn::MulAdd(c11, a, b);
    c12 = hn::MulAdd(c12, a, b);
    c13 = hn::MulAdd(c13, a, b);
    Opaque(c0), Opaque(c1), Opaque(c2), Opaque(c3), Opaque(c4), Opaque(c5);
    Opaque(c6), Opaque(c7), Opaque(c8), Opaque(c9), Opaque(c10), Opaque(c11), Opaque(c12);
    Opaque(c13);
  }
  return rounds * 14 * 2 * static_cast<int64_t>(hn::Lanes(d));
}

int64_t MultiplyAddsF32(int64_t rounds) { return MultiplyAdds<float>(rounds); }
int64_t MultiplyAddsF64(int64_t rounds) { return MultiplyAdds<double>(rounds); }

/// Two streams of plain loads. On a Zen 5 server, where sums of words by the compiler's 128-bit loads come to 34 GB/s, all
/// loops of 512-bit loads are within 2 % of one another at 39 to 46 GB/s (as other work on the machine allows): one to
/// eight streams, prefetched to L1 or L2 from 0.5 to 32 KB ahead or not at all, non-temporal or not. In pages of 4 KB
/// instead of 2 MB prefetching costs 10 to 20 %, and so does going through four or eight pages at once in either.
uint64_t ReadAll(const uint8_t* data, size_t bytes) {
  const hn::ScalableTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d), step = 4 * lanes, half = bytes / 8 / 2 / step * step;
  const auto* first = reinterpret_cast<const uint64_t*>(data);
  const auto* second = first + half;
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  auto t0 = hn::Zero(d), t1 = hn::Zero(d), t2 = hn::Zero(d), t3 = hn::Zero(d);
  for (size_t i = 0; i < half; i += step) {
    s0 = hn::Add(s0, hn::LoadU(d, first + i));
    s1 = hn::Add(s1, hn::LoadU(d, first + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, first + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, first + i + 3 * lanes));
    t0 = hn::Add(t0, hn::LoadU(d, second + i));
    t1 = hn::Add(t1, hn::LoadU(d, second + i + lanes));
    t2 = hn::Add(t2, hn::LoadU(d, second + i + 2 * lanes));
    t3 = hn::Add(t3, hn::LoadU(d, second + i + 3 * lanes));
  }
  s0 = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(t0, t1), hn::Add(t2, t3)));
  // Lane by lane: g++'s own sum of lanes is one of signed numbers, which may not overflow.
  HWY_ALIGN uint64_t words[hn::MaxLanes(d)];
  hn::Store(s0, d, words);
  uint64_t sum = 0;
  for (size_t lane = 0; lane < lanes; ++lane) sum += words[lane];
  size_t at = 2 * half * sizeof(uint64_t);
  for (uint64_t word; at + sizeof(word) <= bytes; at += sizeof(word)) {
    std::memcpy(&word, data + at, sizeof(word));
    sum += word;
  }
  for (; at < bytes; ++at) sum += data[at];
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::limits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "src/kernels/dispatch.h"

namespace foveate::limits {
namespace {

HWY_EXPORT(MultiplyAddsF32);
HWY_EXPORT(MultiplyAddsF64);
HWY_EXPORT(ReadAll);

using kernels::of_target;

/// Whether a target is another with native products, which is listed right before it.
bool is_native(std::string_view name) {
  return name.ends_with("-amx") || name.ends_with("-vnni") || name.ends_with("-bf16") || name.ends_with("-dotprod");
}

/// Asked but once: in a virtual machine the answer takes as long as a hundred thousand multiply-adds.
int64_t supported_bits() {
  static const int64_t bits = hwy::SupportedTargets() & (HWY_TARGETS);
  return bits;
}

/// Highway's bit of the active target.
int64_t active_bit() {
  int64_t left = supported_bits();
  int64_t target = 0;
  bool found = false;
  for (int64_t i = 0; left != 0; ++i) {
    found |= std::strcmp(target_name(i), active_target()) == 0;
    if (is_native(target_name(i))) continue;
    target = left & -left;
    left ^= target;
    if (found) break;
  }
  return target;
}

}  // namespace

template <>
int64_t multiply_adds<float>(int64_t rounds) {
  return of_target(HWY_DISPATCH_TABLE(MultiplyAddsF32), active_bit())(rounds);
}

template <>
int64_t multiply_adds<double>(int64_t rounds) {
  return of_target(HWY_DISPATCH_TABLE(MultiplyAddsF64), active_bit())(rounds);
}

uint64_t read_all(const void* data, size_t bytes) {
  return of_target(HWY_DISPATCH_TABLE(ReadAll), supported_bits())(static_cast<const uint8_t*>(data), bytes);
}

}  // namespace foveate::limits
#endif  // HWY_ONCE
