// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What additive attention asks of its arguments beyond what attention does.
#ifndef FOVEATE_SRC_VALIDATE_ADDITIVE_H_
#define FOVEATE_SRC_VALIDATE_ADDITIVE_H_

#include "foveate/additive.h"
#include "foveate/status.h"
#include "plan.h"
#include "validate.h"

namespace foveate {

struct AdditiveArguments : Arguments {
  const AdditiveParameters& parameters;
};

struct AdditiveBackwardArguments : BackwardArguments {
  const AdditiveParameters& parameters;
  const AdditiveGradients& all;  ///< of which BackwardArguments::gradients are those that attention has too
};

Status validate(const AdditiveArguments& arguments, Extents* extents);
Status validate(const AdditiveBackwardArguments& arguments, Extents* extents);

/// Checks the sizes of a call that is only planned.
Status validate(const AttentionShape& shape, int64_t d_a, Extents* extents);

}  // namespace foveate

#endif  // FOVEATE_SRC_VALIDATE_ADDITIVE_H_
