// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Linear attention in float64 where the vectors have none (Highway's WebAssembly).
#define HWY_COMPILE_ONLY_SCALAR
#include "hwy/highway.h"
#include "kernels/linear.h"
#include "kernels/linear_backward-inl.h"

namespace foveate::kernels {

LinearKernel<double> scalar_f64_linear_kernel() { return HWY_STATIC_DISPATCH(LinearKernelOf<double>)(); }

}  // namespace foveate::kernels
