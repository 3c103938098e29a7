// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The registry: the tile kernel compiled for every target that the compiler can make (Highway's foreach_target), and which
// of these the processor runs.
#include "kernels/tile.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tile.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/native.h"
#include "kernels/scalar_f64.h"
#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

TargetKernels Kernels(const char* name) {
#if HWY_HAVE_FLOAT64
  return {name, HWY_TARGET, KernelOf<float>(), KernelOf<double>(), nullptr};
#else
  return {name, HWY_TARGET, KernelOf<float>(), scalar_f64_kernel(), nullptr};
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

/// Our name for a target: Highway's in lower case, but the instruction set's own where Highway has a number for it
/// ("AVX3_SPR": avx512-spr) and one for what is no instruction set.
struct Name {
  char text[32] = "scalar";

  Name() = default;
  explicit Name(int64_t target) {
    if ((target & (HWY_EMU128 | HWY_SCALAR)) != 0) return;
    const char* from = hwy::TargetName(target);
    char* to = text;
    if (std::strncmp(from, "AVX3", 4) == 0) {
      std::memcpy(to, "avx512", 6);
      from += 4, to += 6;
    }
    for (; *from != '\0' && to < text + sizeof(text) - 1; ++from) {
      const bool capital = 'A' <= *from && *from <= 'Z';
      *to++ = *from == '_' ? '-' : static_cast<char>(capital ? *from - 'A' + 'a' : *from);
    }
    *to = '\0';
  }
};

struct Registry {
  int64_t n = 0;
  Name names[kMaxTargets];
  TargetKernels kernels[kMaxTargets];

  Registry() {
    // Highway orders its target bits best first.
    int64_t left = hwy::SupportedTargets() & (HWY_TARGETS);
    while (left != 0 && n < kMaxTargets) {
      const int64_t target = left & -left;
      left ^= target;
      Name& name = names[n];
      name = Name(target);
      const TargetKernels found = of_target(HWY_DISPATCH_TABLE(Kernels), target)(name.text);
      add_native(found);
      kernels[n++] = found;
    }
  }

  bool lists(const char* name) const {
    for (int64_t i = 0; i < n; ++i) {
      if (std::strcmp(kernels[i].name, name) == 0) return true;
    }
    return false;
  }

  /// A target again, with each table of native products that this processor has beside it.
  void add_native(const TargetKernels& base) {
    if constexpr (!kNativeProducts) return;
    for (int i = 0; native_target(base.name, i).name != nullptr; ++i) {
      const NativeTarget native = native_target(base.name, i);
      if (n >= kMaxTargets - 1 || native.products->lanes != base.f32.lanes || lists(native.name)) continue;
      kernels[n] = base;
      kernels[n].name = native.name;
      kernels[n++].native = native.products;
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
