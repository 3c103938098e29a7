// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels of linear attention compiled for every target that the compiler can make.
#include "kernels/linear.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/linear_backward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

const LinearKernels* Linear() {
  static const LinearKernels kernels = {LinearKernelOf<float>(), LinearKernelOf<double>()};
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::kernels {
HWY_EXPORT(Linear);

const LinearKernels* linear_kernels(int64_t target) { return of_target(HWY_DISPATCH_TABLE(Linear), target)(); }

}  // namespace foveate::kernels
#endif  // HWY_ONCE
