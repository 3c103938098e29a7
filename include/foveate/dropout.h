// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which weights dropout keeps, written out: for checking it, showing it, or applying it elsewhere.
//
//   keep_ij = word J mod 4 of Philox4x32-10 is at least P * 2^32
//             key: seed, low word first; counter: J / 4, p_i, h, b, the low 32 bits of each; J = kv_offset + j
//
// So attention() under dropout gives o_i = sum_j a_ij keep_ij / (1 - P) v_j, a_ij being its weights.
//
// Guarantees
//   Whole      every pair is written, whether it takes part or not: masks, windows and lengths leave none out.
//   Positions  p_i is what attention() has by the same options: q_offset, or `align` and the lengths of the sequence.
//   P = 0      keeps all.
//   Bits       an entry depends on its pair and the options alone: the same on every target, in pieces, on any threads.
//   Allocation none. Threads: any number of calls at once, on disjoint outputs. Aliasing: keep overlaps no input.
//
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
// https://doi.org/10.1145/2063384.2063405.
#ifndef FOVEATE_DROPOUT_H_
#define FOVEATE_DROPOUT_H_

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

/// Writes keep, bool [b, h_q, n_q, n_kv], true = kept. Of the options it reads dropout, seed, align, the lengths and the
/// offsets; the others may be set or not, and of sequences packed behind each other it takes the lengths as q_lengths and
/// kv_lengths. The workspace of `execution` is not used.
FOVEATE_API Status dropout_mask(const Tensor& keep, const AttentionOptions& options, const Execution& execution = {});

}  // namespace foveate

#endif  // FOVEATE_DROPOUT_H_
