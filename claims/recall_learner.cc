// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/recall_learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace foveate::claims {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
constexpr double kDifference = 1e-4;  // of a parameter, in checks

Status compare(const RecallLearner& learner, const RecallBatch& batch, const std::vector<float>& gradient,
               const Parameter& of, int32_t count, std::vector<double>* parameters, RecallCheck* check) {
  RecallPass<double> pass;
  double most = 0, difference = 0;
  const size_t stride = std::max<size_t>(1, of.size() / static_cast<size_t>(count));
  for (size_t i = of.first; i < of.first + of.size(); i += stride) {
    double& moved = (*parameters)[i];
    const double from = moved;
    double losses[2];
    for (const int side : {0, 1}) {
      moved = side == 0 ? from - kDifference : from + kDifference;
      if (Status status = recall(learner.shape(), learner.score(), *parameters, batch, &pass); !status.ok()) {
        return status;
      }
      losses[side] = pass.loss;
    }
    moved = from;
    const double slope = (losses[1] - losses[0]) / (2 * kDifference);
    most = std::max(most, std::abs(slope));
    difference = std::max(difference, std::abs(slope - gradient[i]));
    ++check->entries;
  }
  if (most > 0) check->largest = std::max(check->largest, difference / most);
  return {};
}

}  // namespace

RecallLearner::RecallLearner(const RecallShape& shape, const RecallScore& score, std::vector<float> initial,
                             double rate)
    : shape_(shape),
      score_(&score),
      rate_(rate),
      parameters_(std::move(initial)),
      mean_(parameters_.size()),
      square_(parameters_.size()) {}

Status RecallLearner::learn(const RecallBatch& batch) {
  if (Status status = recall(shape_, *score_, parameters_, batch, &pass_); !status.ok()) return status;
  if (Status status = recall_gradient(shape_, *score_, parameters_, batch, pass_, &gradient_); !status.ok()) {
    return status;
  }
  history_.push_back({pass_.loss, static_cast<double>(pass_.right) / shape_.batch, pass_.largest_weight});
  update();
  return {};
}

void RecallLearner::update() {
  const auto t = static_cast<double>(history_.size());
  const double fresh1 = 1 - std::pow(kBeta1, t), fresh2 = 1 - std::pow(kBeta2, t);
  const auto step = static_cast<float>(rate_ / fresh1), scale = static_cast<float>(1 / fresh2);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const float g = gradient_[i];
    mean_[i] += static_cast<float>(1 - kBeta1) * (g - mean_[i]);
    square_[i] += static_cast<float>(1 - kBeta2) * (g * g - square_[i]);
    parameters_[i] -= step * mean_[i] / (std::sqrt(scale * square_[i]) + static_cast<float>(kEpsilon));
  }
}

RecallLearner::Step RecallLearner::mean_of(size_t first, size_t count) const {
  Step sum{};
  for (size_t at = first; at < first + count; ++at) {
    sum.loss += history_[at].loss;
    sum.right += history_[at].right;
    sum.largest_weight += history_[at].largest_weight;
  }
  const auto n = static_cast<double>(count);
  return {sum.loss / n, sum.right / n, sum.largest_weight / n};
}

Status check_recall_gradient(const RecallLearner& learner, const RecallBatch& batch, int32_t count,
                             RecallCheck* check) {
  RecallPass<float> pass;
  std::vector<float> gradient;
  if (Status status = recall(learner.shape(), learner.score(), learner.parameters(), batch, &pass); !status.ok()) {
    return status;
  }
  if (Status status = recall_gradient(learner.shape(), learner.score(), learner.parameters(), batch, pass, &gradient);
      !status.ok()) {
    return status;
  }
  std::vector<double> parameters(learner.parameters().begin(), learner.parameters().end());
  *check = {};
  for (const Parameter& of : RecallParameters(learner.shape(), learner.score()).all()) {
    if (Status status = compare(learner, batch, gradient, of, count, &parameters, check); !status.ok()) return status;
  }
  return {};
}

}  // namespace foveate::claims
