// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// float64 where the vectors have none.
#ifndef FOVEATE_SRC_KERNELS_SCALAR_F64_H_
#define FOVEATE_SRC_KERNELS_SCALAR_F64_H_

#include "kernels/backward.h"
#include "kernels/tile.h"

namespace foveate::kernels {

/// The scalar target's kernels. Linked only where a target lacks float64 vectors (Highway's WebAssembly).
TileKernel<double> scalar_f64_kernel();
BackwardKernel<double> scalar_f64_backward_kernel();

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_SCALAR_F64_H_
