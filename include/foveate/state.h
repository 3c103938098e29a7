// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention over one set of keys is a state: its outputs and their lse. States over disjoint sets of keys merge into the
// state over all of them, so that keys may come in pieces: from several caches, machines, or files larger than memory.
//
//   m = max(lse_a, lse_b)    w_a = exp(lse_a - m)    w_b = exp(lse_b - m)
//   lse = m + ln(w_a + w_b)  o = (w_a o_a + w_b o_b) / (w_a + w_b)
//
// Pieces are computed by attention() with q_offset and kv_offset in the options, so that causal masks, windows and ALiBi
// know where each key stands; a sink belongs to exactly one piece. Merging pieces does not give the bits of the whole; its
// error is that of the pieces, weighted as they are, plus a rounding of each result: |o - exact| grows by eps max |o|.
//
// Two pieces of n keys, the second from `start` on: q_offset = n - n_q for both, kv_offset = 0 and start. Many: begin with lse
// -inf and any o, and let two pairs of outputs take turns.
//
// Guarantees
//   Empty rows lse -inf: the other state's row, to the bit but for NaN, whatever o holds there; both: o = 0, lse = -inf.
//   NaN, Inf   an lse of NaN or +inf gives NaN in its row; in o they reach just their element.
//   Range      no intermediate overflows: where o_a and o_b are finite, o is.
//   Bits       a row depends on that row of the states alone: not on threads, strides, or what else is merged.
//   Allocation none. Threads: any number of calls at once, on disjoint outputs. Aliasing: outputs overlap no input.
//
// Milakov and Gimelshein, arXiv:1805.02867; as an algebra: FlashInfer, arXiv:2501.01005 (whose lse is of base 2).
#ifndef FOVEATE_STATE_H_
#define FOVEATE_STATE_H_

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

/// What attention() leaves of some keys: o of any float type, lse of the computing type.
struct State {
  ConstTensor o = {};    ///< [b, h, n, d_v]
  ConstTensor lse = {};  ///< [b, h, n, 1], natural logarithms
};

/// Writes the state over the keys of both: o [b, h, n, d_v] and lse [b, h, n, 1], of the states' dtypes. Either output may be left
/// out, not both; the states are whole. The workspace of `execution` is not used.
FOVEATE_API Status merge(const State& a, const State& b, const Tensor& o, const Tensor& lse,
                         const Execution& execution = {});

}  // namespace foveate

#endif  // FOVEATE_STATE_H_
