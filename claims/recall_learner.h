// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A model of recall.h that learns by Adam (Kingma and Ba, arXiv:1412.6980: 0.9, 0.999, 1e-8).
#ifndef FOVEATE_CLAIMS_RECALL_LEARNER_H_
#define FOVEATE_CLAIMS_RECALL_LEARNER_H_

#include <cstddef>
#include <vector>

#include "claims/recall.h"

namespace foveate::claims {

class RecallLearner {
 public:
  /// On a batch that had not been learnt from yet: shares and means of it.
  struct Step {
    double loss, right, largest_weight;
  };

  /// The score has to outlive the learner.
  RecallLearner(const RecallShape& shape, const RecallScore& score, std::vector<float> initial, double rate);

  Status learn(const RecallBatch& batch);

  const RecallShape& shape() const { return shape_; }
  const RecallScore& score() const { return *score_; }
  const std::vector<float>& parameters() const { return parameters_; }
  const std::vector<Step>& history() const { return history_; }

  /// The means of `count` steps from `first` on.
  Step mean_of(size_t first, size_t count) const;

 private:
  void update();

  RecallShape shape_;
  const RecallScore* score_;
  double rate_;
  std::vector<float> parameters_, gradient_, mean_, square_;  ///< the latter two of gradients, for Adam
  std::vector<Step> history_;
  RecallPass<float> pass_;
};

/// How a gradient compares with central differences of the loss in float64.
struct RecallCheck {
  double largest = 0;  ///< difference, of the largest entry that was compared of the same parameter
  double entries = 0;  ///< that were compared
};

/// Of the learner's loss on a batch, at its present parameters: some `count` entries of each parameter, evenly spread.
Status check_recall_gradient(const RecallLearner& learner, const RecallBatch& batch, int32_t count, RecallCheck* check);

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_RECALL_LEARNER_H_
