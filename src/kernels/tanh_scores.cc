// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The scores of additive attention compiled for every target that the compiler can make.
#include "kernels/tanh_scores.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/tanh_scores.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/tanh_gradients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

const TanhKernels* Tanhs() {
  static const TanhKernels kernels = {TanhKernelOf<float>(), TanhKernelOf<double>()};
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::kernels {
HWY_EXPORT(Tanhs);

const TanhKernels* tanh_kernels(int64_t target) { return of_target(HWY_DISPATCH_TABLE(Tanhs), target)(); }

}  // namespace foveate::kernels
#endif  // HWY_ONCE
