// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One head of random numbers in float32, and the error its outputs may have.
#ifndef FOVEATE_CLAIMS_HEAD_H_
#define FOVEATE_CLAIMS_HEAD_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "claims/run.h"

namespace foveate::claims {

/// c of docs/numerics.md, `Error of an output`: how many eps the sums over n keys may be off by.
inline double sum_error(int64_t n) {
  const double keys = static_cast<double>(std::min<int64_t>(n, 64)), all = static_cast<double>(n);
  const double blocks = std::min(std::ceil(all / 64) + 1, 16.0), splits = std::ceil(all / 1024) + 1;
  return (keys + keys / 4 + 8 * blocks + 10 * splits + 20) / 2;
}

struct Head {
  static constexpr int64_t kDim = 16;

  int64_t n_q, n, d_v;
  std::vector<float> q, k, v;

  Head(Normal& normal, int64_t queries, int64_t keys, int64_t value_dim)
      : n_q(queries),
        n(keys),
        d_v(value_dim),
        q(draw<float>(normal, n_q, kDim)),
        k(draw<float>(normal, n, kDim)),
        v(draw<float>(normal, n, d_v)) {}

  struct Result {
    std::vector<float> o, weights;
  };

  Result attend(const Run& run, const AttentionOptions& options = {}) const {
    Result result{std::vector<float>(static_cast<size_t>(n_q * d_v)), std::vector<float>(static_cast<size_t>(n_q * n))};
    require_ok(
        attention(view(q.data(), 1, 1, n_q, kDim), view(k.data(), 1, 1, n, kDim), view(v.data(), 1, 1, n, d_v),
                  {.o = view(result.o.data(), 1, 1, n_q, d_v), .weights = view(result.weights.data(), 1, 1, n_q, n)},
                  options, run.execution()));
    return result;
  }

  float largest_value() const {
    return std::abs(*std::ranges::max_element(v, {}, [](float x) { return std::abs(x); }));
  }
};

/// The largest distance of two arrays' elements.
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  return most;
}

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_HEAD_H_
