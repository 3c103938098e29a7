// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scores of random queries and keys, and what softmax makes of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "draws.h"
#include "exports.h"
#include "foveate/attention.h"

namespace foveate::web {

/// Scores come in groups: side queries, each with side keys. Up to head dim 64 a side is 1, and all pairs are
/// independent. Past it, where drawing the components is what takes time, a side is 8: scores of one group stay
/// uncorrelated, their squares are correlated by 1 / (d_k + 3), and so the variance of the measured variance grows by
/// 14 / (d_k + 3), 21 % at most.
class Histogram {
 public:
  Histogram(int32_t d_k, int32_t samples, uint32_t seed, int32_t bins, int32_t n_divisors, const double* divisors,
            const double* ranges)
      : d_k_(d_k),
        samples_(samples),
        bins_(bins),
        side_(d_k <= 64 ? 1 : 8),
        normal_(seed),
        divisors_(divisors, divisors + n_divisors),
        ranges_(ranges, ranges + n_divisors),
        counts_(static_cast<size_t>(n_divisors) * static_cast<size_t>(bins + 2)) {}

  int32_t step(int32_t count) {
    const int32_t wanted = std::clamp(count, 1, samples_ - done_ + (samples_ == done_));
    const int32_t per_group = side_ * side_;
    // Enough groups a call of the engine to make its cost small, and no more than 256 KB of components.
    const int32_t most = std::clamp((1 << 15) / (d_k_ * side_), 1, 1024);
    for (int32_t left = wanted; left > 0 && done_ < samples_;) {
      const int32_t groups = std::min(most, (left + per_group - 1) / per_group);
      if (!score(groups)) return -1;
      const auto scores = static_cast<int32_t>(scores_.size());
      for (int32_t i = 0; i < scores && done_ < samples_; ++i) count_one(scores_[static_cast<size_t>(i)]);
      left -= scores;
    }
    return done_;
  }

  const uint32_t* counts(int32_t i) const { return counts_.data() + i * (bins_ + 2); }

  void moments(int32_t i, double* to) const {
    const double d = divisors_[static_cast<size_t>(i)], n = done_;
    to[0] = done_ > 0 ? mean_ / d : std::nan("");
    to[1] = done_ > 1 ? squares_ / (n - 1) / (d * d) : std::nan("");
    to[2] = std::sqrt(to[1]);
    to[3] = smallest_ / d;
    to[4] = largest_ / d;
  }

 private:
  bool score(int32_t groups) {
    const size_t of_group = static_cast<size_t>(side_) * static_cast<size_t>(d_k_);
    const size_t components = static_cast<size_t>(groups) * of_group;
    q_.resize(components);
    k_.resize(components);
    scores_.resize(static_cast<size_t>(groups * side_ * side_));
    // Group by group, so that a seed gives the same scores whatever the steps.
    for (size_t at = 0; at < components; at += of_group) {
      fill(normal_, &q_[at], of_group);
      fill(normal_, &k_[at], of_group);
    }
    Call call{};
    call.scale = 1;
    call.window_left = call.window_right = -1;
    const TensorField field{
        q_.data(), static_cast<int32_t>(DType::f32), {groups, 1, side_, d_k_}, {side_ * d_k_, side_ * d_k_, d_k_, 1}};
    call.q = call.k = call.v = field;
    call.k.data = call.v.data = k_.data();
    return fv_scores(&call, scores_.data()) == 0;
  }

  void count_one(double score) {
    ++done_;
    const double distance = score - mean_;  // Welford
    mean_ += distance / done_;
    squares_ += distance * (score - mean_);
    smallest_ = std::min(smallest_, score);
    largest_ = std::max(largest_, score);
    for (size_t i = 0; i < divisors_.size(); ++i) {
      const double place = (score / divisors_[i] + ranges_[i]) * bins_ / (2 * ranges_[i]);
      const auto bin = static_cast<size_t>(std::clamp(std::floor(place), -1.0, static_cast<double>(bins_)) + 1);
      ++counts_[i * static_cast<size_t>(bins_ + 2) + bin];
    }
  }

  int32_t d_k_, samples_, bins_, side_, done_ = 0;
  Normal normal_;
  std::vector<double> divisors_, ranges_;
  std::vector<uint32_t> counts_;
  std::vector<float> q_, k_, scores_;
  double mean_ = 0, squares_ = 0;
  double smallest_ = std::numeric_limits<double>::infinity(), largest_ = -smallest_;
};

/// In float64, for the closed form takes the difference of numbers near 1.
class Saturation {
 public:
  Saturation(int32_t d_k, int32_t keys, int32_t draws, uint32_t seed, double divisor)
      : d_k_(d_k),
        keys_(keys),
        draws_(draws),
        divisor_(divisor),
        normal_(seed),
        q_(static_cast<size_t>(d_k)),
        k_(static_cast<size_t>(keys) * static_cast<size_t>(d_k)),
        weights_(static_cast<size_t>(keys)) {}

  int32_t step(int32_t count) {
    for (int32_t i = 0; i < count && done() < draws_; ++i) {
      if (!draw()) return -1;
    }
    return done();
  }

  void percentiles(int32_t n, const double* at, double* largest, double* norms) const {
    for (int32_t i = 0; i < n; ++i) {
      largest[i] = percentile(largest_, at[i]);
      norms[i] = percentile(norms_, at[i]);
    }
  }

 private:
  int32_t done() const { return static_cast<int32_t>(norms_.size()); }

  bool draw() {
    fill(normal_, q_.data(), q_.size());
    fill(normal_, k_.data(), k_.size());
    const ConstTensor q = view(static_cast<const double*>(q_.data()), 1, 1, 1, d_k_);
    const ConstTensor k = view(static_cast<const double*>(k_.data()), 1, 1, keys_, d_k_);
    // Values do not matter: the keys' first components stand in.
    ConstTensor v = k;
    v.shape[3] = 1;
    const AttentionOutputs outputs{.weights = view(weights_.data(), 1, 1, 1, keys_)};
    if (report(attention(q, k, v, outputs, {.scale = 1 / divisor_})) != 0) return false;

    double squares = 0, cubes = 0;
    for (const double p : weights_) {
      squares += p * p;
      cubes += p * p * p;
    }
    insert(*std::max_element(weights_.begin(), weights_.end()), largest_);
    insert(std::sqrt(std::max(0.0, squares - 2 * cubes + squares * squares)), norms_);
    return true;
  }

  int32_t d_k_, keys_, draws_;
  double divisor_;
  Normal normal_;
  std::vector<double> q_, k_, weights_;
  std::vector<double> largest_, norms_;  ///< sorted
};

Histogram* fv_histogram_begin(int32_t d_k, int32_t samples, uint32_t seed, int32_t bins, int32_t n_divisors,
                              const double* divisors, const double* ranges) {
  if (!in_range("d_k", d_k, kMaxHeadDim) || !in_range("samples", samples, kMaxCount) ||
      !in_range("bins", bins, 1 << 16) || !in_range("n_divisors", n_divisors, 16)) {
    return nullptr;
  }
  for (int32_t i = 0; i < n_divisors; ++i) {
    if (!positive("divisor", divisors[i]) || !positive("range", ranges[i])) return nullptr;
  }
  return new Histogram(d_k, samples, seed, bins, n_divisors, divisors, ranges);
}

int32_t fv_histogram_step(Histogram* histogram, int32_t count) { return histogram->step(count); }
const uint32_t* fv_histogram_counts(const Histogram* histogram, int32_t i) { return histogram->counts(i); }
void fv_histogram_moments(const Histogram* histogram, int32_t i, double* moments) { histogram->moments(i, moments); }
void fv_histogram_end(Histogram* histogram) { delete histogram; }

Saturation* fv_saturation_begin(int32_t d_k, int32_t keys, int32_t draws, uint32_t seed, double divisor) {
  if (!in_range("d_k", d_k, kMaxHeadDim) || !in_range("keys", keys, kMaxKeys) || !in_range("draws", draws, kMaxCount) ||
      !positive("divisor", divisor)) {
    return nullptr;
  }
  return new Saturation(d_k, keys, draws, seed, divisor);
}

int32_t fv_saturation_step(Saturation* saturation, int32_t count) { return saturation->step(count); }
void fv_saturation_percentiles(const Saturation* saturation, int32_t n, const double* percentiles, double* largest,
                               double* norms) {
  saturation->percentiles(n, percentiles, largest, norms);
}
void fv_saturation_end(Saturation* saturation) { delete saturation; }

}  // namespace foveate::web
