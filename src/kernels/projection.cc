// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Projections compiled for every target that the compiler can make.
#include "kernels/projection.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/projection.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/dispatch.h"
#include "kernels/projection-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {

const ProjectionKernels* Projections() {
  static const ProjectionKernels kernels = {ProjectionKernelOf<float>(), ProjectionKernelOf<double>()};
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foveate::kernels {
HWY_EXPORT(Projections);

const ProjectionKernels* projection_kernels(int64_t target) {
  return of_target(HWY_DISPATCH_TABLE(Projections), target)();
}

}  // namespace foveate::kernels
#endif  // HWY_ONCE
