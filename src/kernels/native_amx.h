// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Products of bfloat16 by AMX: tiles of 16 x 16 sums, to which an instruction adds 16 steps of pairs. A step's sums are those of
// the pairs' low halves and of their high halves, sixteen each in sequence from 0, joined to C one after the other, so that the
// steps of one instruction belong together: whoever wants the same bits from other steps begins at multiples of kAmxSteps.
// Numbers below 2^-126 count as 0.
#ifndef FOVEATE_SRC_KERNELS_NATIVE_AMX_H_
#define FOVEATE_SRC_KERNELS_NATIVE_AMX_H_

#include <cstdint>

#include "kernels/native.h"

namespace foveate::kernels {

inline constexpr int64_t kAmxSteps = 16;

/// Whether the processor has AMX with bfloat16, and the system lets this process use it, for which it is asked.
bool has_amx();

/// As in NativeProducts.
void amx_scores_bf16(const NativeProduct& product, float factor);
void amx_weighted_sum(const NativeProduct& product, const float* correction);
void amx_add_bf16(const NativeProduct& product);

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_NATIVE_AMX_H_
