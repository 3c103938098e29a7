// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Additive attention in float64 where the vectors have none (Highway's WebAssembly).
#define HWY_COMPILE_ONLY_SCALAR
#include "hwy/highway.h"
#include "kernels/projection-inl.h"
#include "kernels/projection.h"
#include "kernels/tanh_gradients-inl.h"
#include "kernels/tanh_scores.h"

namespace foveate::kernels {

ProjectionKernel<double> scalar_f64_projection_kernel() { return HWY_STATIC_DISPATCH(ProjectionKernelOf<double>)(); }

TanhKernel<double> scalar_f64_tanh_kernel() { return HWY_STATIC_DISPATCH(TanhKernelOf<double>)(); }

}  // namespace foveate::kernels
