// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two models of claims/recall.h that differ in the divisor of their scores alone, learning in lockstep.
#include <vector>

#include "claims/recall_learner.h"
#include "claims/recall_scores.h"
#include "draws.h"
#include "gradients.h"

namespace foveate::web {

using claims::DotScore;
using claims::RecallLearner;

class Training {
 public:
  Training(int32_t d_k, int32_t steps, uint32_t seed, double rate, const double* divisors)
      : shape_{.d_k = d_k},
        steps_(steps),
        normal_(seed),
        scores_{DotScore(divisors[0]), DotScore(divisors[1])},
        learners_(learners(rate)) {}
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  int32_t step(int32_t count) {
    for (int32_t i = 0; i < count && done() < steps_; ++i) {
      const claims::RecallBatch batch = draw_recall(shape_, normal_.random());
      for (RecallLearner& learner : learners_) {
        if (report(learner.learn(batch)) != 0) return -1;
      }
    }
    return done();
  }

  int32_t points(int32_t i, int32_t window, double* to) const {
    const RecallLearner& learner = learners_[static_cast<size_t>(i)];
    const auto width = static_cast<size_t>(window);
    const size_t n = learner.history().size() / width;
    for (size_t point = 0; to != nullptr && point < n; ++point, to += 3) {
      const RecallLearner::Step mean = learner.mean_of(point * width, width);
      to[0] = mean.loss;
      to[1] = mean.right;
      to[2] = mean.largest_weight;
    }
    return static_cast<int32_t>(n);
  }

  Status check(int32_t i, int32_t count, double* to) const {
    Normal fresh(static_cast<uint64_t>(done()) + 1);
    claims::RecallCheck check;
    Status status =
        check_recall_gradient(learners_[static_cast<size_t>(i)], draw_recall(shape_, fresh.random()), count, &check);
    to[0] = check.largest;
    to[1] = check.entries;
    return status;
  }

 private:
  int32_t done() const { return static_cast<int32_t>(learners_[1].history().size()); }

  std::vector<RecallLearner> learners(double rate) {
    const std::vector<float> initial = initial_recall(shape_, scores_[0], normal_);
    return {{shape_, scores_[0], initial, rate}, {shape_, scores_[1], initial, rate}};
  }

  claims::RecallShape shape_;
  int32_t steps_;
  Normal normal_;
  DotScore scores_[2];
  std::vector<RecallLearner> learners_;
};

Training* fv_training_begin(int32_t d_k, int32_t steps, uint32_t seed, double rate, const double* divisors) {
  if (!in_range("d_k", d_k, 1024) || !in_range("steps", steps, 1 << 20) || !positive("rate", rate) ||
      !positive("divisor", divisors[0]) || !positive("divisor", divisors[1])) {
    return nullptr;
  }
  return new Training(d_k, steps, seed, rate, divisors);
}

int32_t fv_training_step(Training* training, int32_t count) { return training->step(count); }
int32_t fv_training_points(const Training* training, int32_t i, int32_t window, double* points) {
  return training->points(i, window, points);
}
int32_t fv_training_check(const Training* training, int32_t i, int32_t count, double* check) {
  return report(training->check(i, count, check));
}
void fv_training_end(Training* training) { delete training; }

}  // namespace foveate::web
