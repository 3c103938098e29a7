// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention pair by pair, as whoever has no matrix product would write it: what the engine's one product is compared
// with. Float is float, or a number that counts what is done with it.
#ifndef FOVEATE_CLAIMS_PAIRWISE_H_
#define FOVEATE_CLAIMS_PAIRWISE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace foveate::claims {

/// o [n, d] of q, k, v [n, d]; `scores` is room for n numbers. Two passes over the keys a query, all of it in cache
/// order.
template <class Float>
void attend_by_pairs(const Float* q, const Float* k, const Float* v, int64_t n, int64_t d, Float scale, Float* scores,
                     Float* o) {
  using std::exp;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Float score = 0;
      for (int64_t c = 0; c < d; ++c) score += q[i * d + c] * k[j * d + c];
      scores[j] = scale * score;
    }
    const Float most = *std::max_element(scores, scores + n);
    Float sum = 0;
    std::fill_n(o + i * d, d, Float{0});
    for (int64_t j = 0; j < n; ++j) {
      const Float weight = exp(scores[j] - most);
      sum += weight;
      for (int64_t c = 0; c < d; ++c) o[i * d + c] += weight * v[j * d + c];
    }
    for (int64_t c = 0; c < d; ++c) o[i * d + c] /= sum;
  }
}

/// The same of float, compiled -O2 by itself: what a compiler makes of the loops as they stand.
void attend_by_pairs_of_float(const float* q, const float* k, const float* v, int64_t n, int64_t d, float scale,
                              float* scores, float* o);

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_PAIRWISE_H_
