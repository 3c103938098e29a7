// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The backward kernel compiled for every target that the compiler can make.
#include "kernels/backward.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/backward.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/backward-inl.h"
#include "kernels/dispatch.h"
#include "kernels/scalar_f64.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

const BackwardKernels* Backward() {
#if HWY_HAVE_FLOAT64
  static const BackwardKernels kernels = {BackwardKernelOf<float>(), BackwardKernelOf<double>()};
#else
  static const BackwardKernels kernels = {BackwardKernelOf<float>(), scalar_f64_backward_kernel()};
#endif
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::kernels {
HWY_EXPORT(Backward);

const BackwardKernels* backward_kernels(int64_t target) { return of_target(HWY_DISPATCH_TABLE(Backward), target)(); }

}  // namespace foveate::kernels
#endif  // HWY_ONCE
