// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two models of recall.h that differ in the divisor of their scores alone, learning in lockstep.
#include <algorithm>
#include <cmath>
#include <vector>

#include "draws.h"
#include "gradients.h"
#include "recall.h"

namespace foveate::web {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
constexpr double kDifference = 1e-4;  // of a parameter, in checks

struct Learner {
  double divisor;
  std::vector<float> parameters, mean, square;  ///< of gradients, for Adam

  struct Step {
    double loss, right, largest_weight;
  };
  std::vector<Step> history;

  void update(const std::vector<float>& gradient, double rate) {
    const auto t = static_cast<double>(history.size());
    const double fresh1 = 1 - std::pow(kBeta1, t), fresh2 = 1 - std::pow(kBeta2, t);
    const auto step = static_cast<float>(rate / fresh1), scale = static_cast<float>(1 / fresh2);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const float g = gradient[i];
      mean[i] += static_cast<float>(1 - kBeta1) * (g - mean[i]);
      square[i] += static_cast<float>(1 - kBeta2) * (g * g - square[i]);
      parameters[i] -= step * mean[i] / (std::sqrt(scale * square[i]) + static_cast<float>(kEpsilon));
    }
  }
};

/// The largest difference of some entries of a gradient from central differences of the loss.
struct Check {
  double largest = 0, entries = 0;

  Status add(const RecallShape& shape, double divisor, std::vector<double>* parameters, const RecallBatch& batch,
             const std::vector<float>& gradient, const Parameter& of, int32_t count) {
    RecallPass<double> pass;
    double most = 0, difference = 0;
    const size_t stride = std::max<size_t>(1, of.size() / static_cast<size_t>(count));
    for (size_t i = of.first; i < of.first + of.size(); i += stride) {
      double& moved = (*parameters)[i];
      const double from = moved;
      double losses[2];
      for (const int side : {0, 1}) {
        moved = side == 0 ? from - kDifference : from + kDifference;
        if (Status status = recall(shape, divisor, *parameters, batch, &pass); !status.ok()) return status;
        losses[side] = pass.loss;
      }
      moved = from;
      const double slope = (losses[1] - losses[0]) / (2 * kDifference);
      most = std::max(most, std::abs(slope));
      difference = std::max(difference, std::abs(slope - gradient[i]));
      ++entries;
    }
    if (most > 0) largest = std::max(largest, difference / most);
    return {};
  }
};

}  // namespace

class Training {
 public:
  Training(int32_t d_k, int32_t steps, uint32_t seed, double rate, const double* divisors)
      : shape_{.d_k = d_k}, steps_(steps), rate_(rate), normal_(seed) {
    const std::vector<float> initial = initial_recall(shape_, normal_);
    const std::vector<float> zeros(initial.size());
    for (const int i : {0, 1}) learners_[i] = {divisors[i], initial, zeros, zeros, {}};
  }

  int32_t step(int32_t count) {
    for (int32_t i = 0; i < count && done() < steps_; ++i) {
      const RecallBatch batch = draw_recall(shape_, normal_.random());
      for (Learner& learner : learners_) {
        if (report(learn(batch, learner)) != 0) return -1;
      }
    }
    return done();
  }

  int32_t points(int32_t i, int32_t window, double* to) const {
    const std::vector<Learner::Step>& history = learners_[i].history;
    const auto width = static_cast<size_t>(window);
    const size_t n = history.size() / width;
    for (size_t point = 0; to != nullptr && point < n; ++point, to += 3) {
      to[0] = to[1] = to[2] = 0;
      for (size_t at = point * width; at < (point + 1) * width; ++at) {
        to[0] += history[at].loss / window;
        to[1] += history[at].right / window;
        to[2] += history[at].largest_weight / window;
      }
    }
    return static_cast<int32_t>(n);
  }

  Status check(int32_t i, int32_t count, double* to) const {
    const Learner& learner = learners_[i];
    Normal fresh(static_cast<uint64_t>(done()) + 1);
    const RecallBatch batch = draw_recall(shape_, fresh.random());
    RecallPass<float> pass;
    std::vector<float> gradient;
    if (Status status = recall(shape_, learner.divisor, learner.parameters, batch, &pass); !status.ok()) return status;
    if (Status status = recall_gradient(shape_, learner.divisor, learner.parameters, batch, pass, &gradient);
        !status.ok()) {
      return status;
    }
    std::vector<double> parameters(learner.parameters.begin(), learner.parameters.end());
    const RecallParameters p(shape_);
    Check check;
    for (const Parameter* of : {&p.embedding, &p.w_q, &p.w_k, &p.w_v, &p.w_o}) {
      if (Status status = check.add(shape_, learner.divisor, &parameters, batch, gradient, *of, count); !status.ok()) {
        return status;
      }
    }
    to[0] = check.largest;
    to[1] = check.entries;
    return {};
  }

 private:
  int32_t done() const { return static_cast<int32_t>(learners_[1].history.size()); }

  Status learn(const RecallBatch& batch, Learner& learner) {
    if (Status status = recall(shape_, learner.divisor, learner.parameters, batch, &pass_); !status.ok()) return status;
    if (Status status = recall_gradient(shape_, learner.divisor, learner.parameters, batch, pass_, &gradient_);
        !status.ok()) {
      return status;
    }
    learner.history.push_back({pass_.loss, static_cast<double>(pass_.right) / shape_.batch, pass_.largest_weight});
    learner.update(gradient_, rate_);
    return {};
  }

  RecallShape shape_;
  int32_t steps_;
  double rate_;
  Normal normal_;
  Learner learners_[2];
  RecallPass<float> pass_;
  std::vector<float> gradient_;
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
