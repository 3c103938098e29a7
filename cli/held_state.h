// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// o and lse in memory of their own: what is needed on the way, whether it goes into a file or not.
#ifndef FOVEATE_CLI_HELD_STATE_H_
#define FOVEATE_CLI_HELD_STATE_H_

#include "foveate/attention.h"
#include "foveate/tensor.h"
#include "io/array.h"

namespace foveate::cli {

struct HeldState {
  io::Array o_array, lse_array;
  Tensor o = {}, lse = {};
};

/// Memory is taken as it is written. Without `wants_o`, o has no columns.
HeldState held_state(const AttentionShape& shape, bool wants_o);

/// The type of lse, and of what else is in the computing type.
inline DType computing_dtype(const AttentionShape& shape) {
  return shape.dtype == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_HELD_STATE_H_
