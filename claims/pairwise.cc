// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/pairwise.h"

namespace foveate::claims {

void attend_by_pairs_of_float(const float* q, const float* k, const float* v, int64_t n, int64_t d, float scale,
                              float* scores, float* o) {
  attend_by_pairs(q, k, v, n, d, scale, scores, o);
}

}  // namespace foveate::claims
