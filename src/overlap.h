// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which bytes a strided view reaches, and whether two views may meet.
#ifndef FOVEATE_SRC_OVERLAP_H_
#define FOVEATE_SRC_OVERLAP_H_

#include "foveate/tensor.h"

namespace foveate {

/// Whether all offsets of the view, in bytes, fit in 63 bits.
bool addressable(const ConstTensor& view);

/// Whether two elements of the view share a byte. Never wrong when it says no; a yes may be wrong for views whose axes
/// interleave, which no packed, sliced, transposed or broadcast array does.
bool overlaps_itself(const ConstTensor& view);

/// Whether the views share a byte. Never wrong when it says no. Views of one array that interleave are told apart when
/// they step through it alike (q, k, v and o side by side in each row, say); stranger ones may get a wrong yes.
bool overlap(const ConstTensor& a, const ConstTensor& b);

}  // namespace foveate

#endif  // FOVEATE_SRC_OVERLAP_H_
