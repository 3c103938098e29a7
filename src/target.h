// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The choice of target, for the calls.
#ifndef FOVEATE_SRC_TARGET_H_
#define FOVEATE_SRC_TARGET_H_

#include "foveate/status.h"
#include "kernels/tile.h"

namespace foveate {

/// The kernels that a call beginning now uses; an error if FOVEATE_TARGET names what this processor cannot run.
Status choose_kernels(const kernels::TargetKernels** kernels);

}  // namespace foveate

#endif  // FOVEATE_SRC_TARGET_H_
