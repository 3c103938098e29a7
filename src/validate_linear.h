// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Argument errors of linear attention. What passes here, the rest of the library trusts.
#ifndef FOVEATE_SRC_VALIDATE_LINEAR_H_
#define FOVEATE_SRC_VALIDATE_LINEAR_H_

#include "foveate/linear.h"
#include "foveate/status.h"
#include "foveate/tensor.h"
#include "plan.h"

namespace foveate {

/// What a call computes from.
struct LinearInputs {
  const ConstTensor& q;
  const ConstTensor& k;
  const ConstTensor& v;
  const LinearOptions& options;
};

struct LinearArguments : LinearInputs {
  const Tensor& o;
};

struct LinearBackwardArguments : LinearInputs {
  const ConstTensor& d_o;
  const LinearGradients& gradients;
};

/// Checks every argument against the contract and the others, and gives the sizes of the call.
Status validate(const LinearArguments& arguments, Extents* extents);
Status validate(const LinearBackwardArguments& arguments, Extents* extents);

/// Checks the sizes and the dtype of a call that is only planned.
Status validate(const LinearShape& shape, Extents* extents);

}  // namespace foveate

#endif  // FOVEATE_SRC_VALIDATE_LINEAR_H_
