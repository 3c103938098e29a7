// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scores of independent draws: each of a query and a key of its own.
#ifndef FOVEATE_CLAIMS_SCORE_DRAWS_H_
#define FOVEATE_CLAIMS_SCORE_DRAWS_H_

#include <cstdint>
#include <vector>

#include "claims/evidence.h"
#include "claims/run.h"

namespace foveate::claims {

/// A variance is told from what is expected by this much. A quick run's intervals reach some 0.04 to each side.
inline constexpr double kLow = 0.85, kHigh = 1.15;

/// Fills `count` rows of queries and of keys.
using DrawPairs = void (*)(Normal& normal, int64_t count, int64_t d_k, std::vector<double>* q, std::vector<double>* k);

inline void draw_independent(Normal& normal, int64_t count, int64_t d_k, std::vector<double>* q,
                             std::vector<double>* k) {
  *q = draw(normal, count, d_k);
  *k = draw(normal, count, d_k);
}

inline std::vector<double> draw_scores(const Run& run, Normal& normal, int64_t draws, int64_t d_k, double scale,
                                       DrawPairs pairs) {
  constexpr int64_t kChunk = 2000;
  std::vector<double> scores, q, k;
  for (int64_t done = 0; done < draws; done += kChunk) {
    pairs(normal, kChunk, d_k, &q, &k);
    const std::vector<double> some = pair_scores(run, q, k, d_k, scale);
    scores.insert(scores.end(), some.begin(), some.end());
  }
  return scores;
}

inline Text samples_note(const Series& series) {
  return text("Intervals: t, 95 %, of mean squared deviations; {} scores a point.",
              "区间：均方偏差的 t 区间，95 %；每点 {} 个分数。", series.points.front().estimate.samples);
}

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_SCORE_DRAWS_H_
