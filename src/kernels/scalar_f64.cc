// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "kernels/scalar_f64.h"

#define HWY_COMPILE_ONLY_SCALAR
#include "hwy/highway.h"
#include "kernels/backward-inl.h"
#include "kernels/tile-inl.h"

namespace foveate::kernels {

TileKernel<double> scalar_f64_kernel() { return HWY_STATIC_DISPATCH(KernelOf<double>)(); }

BackwardKernel<double> scalar_f64_backward_kernel() { return HWY_STATIC_DISPATCH(BackwardKernelOf<double>)(); }

}  // namespace foveate::kernels
