// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The registry: the tile kernel compiled for every target that the compiler can make (Highway's foreach_target), and which
// of these the processor runs.
#include "kernels/tile.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tile.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/scalar_f64.h"
#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

TargetKernels Kernels(const char* name) {
#if HWY_HAVE_FLOAT64
  return {name, KernelOf<float>(), KernelOf<double>()};
#else
  return {name, KernelOf<float>(), scalar_f64_kernel()};
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::kernels {
HWY_EXPORT(Kernels);

namespace {

constexpr int64_t kMaxTargets = 32;

/// Our names for Highway's targets: the instruction set's own, best first within a processor.
const char* NameOf(int64_t target) {
  switch (target) {
#if HWY_ARCH_X86
    case HWY_SSSE3:
      return "ssse3";
    case HWY_SSE4:
      return "sse4";
    case HWY_AVX2:
      return "avx2";
    case HWY_AVX3:
      return "avx512";
    case HWY_AVX3_DL:
      return "avx512-dl";
#endif
    case HWY_EMU128:
    case HWY_SCALAR:
      return "scalar";
    default:
      return hwy::TargetName(target);
  }
}

struct Registry {
  int64_t n = 0;
  TargetKernels kernels[kMaxTargets];

  Registry() {
    // Highway orders its target bits best first. Its dispatch table is indexed through a choice of our own, so that the
    // process-wide choice, which other users of Highway see, is left alone.
    int64_t left = hwy::SupportedTargets() & (HWY_TARGETS);
    while (left != 0 && n < kMaxTargets) {
      const int64_t target = left & -left;
      left ^= target;
      hwy::ChosenTarget choice;
      choice.Update(target);
      const size_t index =
          sizeof(HWY_DISPATCH_TABLE(Kernels)) == sizeof(&HWY_STATIC_DISPATCH(Kernels)) ? 0 : choice.GetIndex();
      kernels[n++] = HWY_DISPATCH_TABLE(Kernels)[index](NameOf(target));
    }
  }
};

}  // namespace

const TargetKernels* target_kernels(int64_t i) {
  static const Registry registry;
  return i >= 0 && i < registry.n ? &registry.kernels[i] : nullptr;
}

}  // namespace foveate::kernels
#endif  // HWY_ONCE
