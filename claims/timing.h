// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Times as evidence: processor time of one thread by length, and how it grows.
#ifndef FOVEATE_CLAIMS_TIMING_H_
#define FOVEATE_CLAIMS_TIMING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "claims/evidence.h"
#include "claims/run.h"
#include "claims/statistics.h"
#include "claims/text.h"

namespace foveate::claims {

inline const Text kLength = {"length n (tokens)", "长度 n（词元数）"};
inline const Text kThreadTime = {"processor time of one thread (s)", "单线程处理器时间（秒）"};
inline const Text kTimesNote = {"Fastest of several runs; lines reach to the slowest, which is no confidence interval.",
                                "取多次运行中最快的一次，竖线到最慢的一次（不是置信区间）。"};

/// q, k, v and o of a head of n queries and keys, d_k = d_v = 64: what is timed.
struct TimedHead {
  static constexpr int64_t kDim = 64;

  int64_t n;
  std::vector<float> q, k, v, o;

  TimedHead(Normal& normal, int64_t length)
      : n(length),
        q(draw<float>(normal, n, kDim)),
        k(draw<float>(normal, n, kDim)),
        v(draw<float>(normal, n, kDim)),
        o(q.size()) {}

  ConstTensor in(const std::vector<float>& x) const { return view(x.data(), 1, 1, n, kDim); }
  Tensor out() { return view(o.data(), 1, 1, n, kDim); }
};

/// Fastest, and from it to the slowest, of some runs of the same work.
inline Estimate seconds_of(int64_t times, const std::function<void()>& work) {
  const std::vector<double> all = thread_seconds(times, work);
  return {all.front(), all.front(), all.back(), IntervalKind::range, times};
}

/// The slope of a series by x, both in logarithms.
inline Estimate slope_of(const Series& series) {
  std::vector<double> x, y;
  for (const Point& point : series.points) {
    x.push_back(point.x);
    y.push_back(point.estimate.value);
  }
  return log_log_slope(x, y);
}

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_TIMING_H_
