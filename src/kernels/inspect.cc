// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel of inspect() compiled for every target that the compiler can make.
#include "kernels/inspect.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/inspect.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/inspect-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

const InspectKernels* InspectTable() {
  static const InspectKernels kernels = {&Inspect<float>, &Inspect<double>};
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::kernels {
HWY_EXPORT(InspectTable);

const InspectKernels* inspect_kernels(int64_t target) { return of_target(HWY_DISPATCH_TABLE(InspectTable), target)(); }

}  // namespace foveate::kernels
#endif  // HWY_ONCE
