// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/held_state.h"

#include "cli/axes.h"

namespace foveate::cli {

HeldState held_state(const AttentionShape& shape, bool wants_o) {
  HeldState state{.o_array = io::make_array(shape.dtype, {shape.b, shape.h_q, shape.n_q, wants_o ? shape.d_v : 0}),
                  .lse_array = io::make_array(computing_dtype(shape), {shape.b, shape.h_q, shape.n_q, 1})};
  state.o = view_at(state.o_array, {0, 1, 2, 3});
  state.lse = view_at(state.lse_array, {0, 1, 2, 3});
  return state;
}

}  // namespace foveate::cli
