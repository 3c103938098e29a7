// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The model that claims about learning train: its gradients, and that it learns what can be learnt.
#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "claims/recall_learner.h"
#include "claims/recall_scores.h"

namespace foveate::claims {
namespace {

constexpr RecallShape kShape{.d_k = 5, .symbols = 6, .pairs = 4, .batch = 7, .d_model = 9, .d_v = 3};

std::vector<std::unique_ptr<RecallScore>> scores() {
  std::vector<std::unique_ptr<RecallScore>> all;
  all.push_back(std::make_unique<DotScore>(2.0));
  all.push_back(std::make_unique<AdditiveScore>());
  return all;
}

/// One that has learnt for so many steps.
RecallLearner learner(const RecallScore& score, const RecallShape& shape, int steps) {
  Normal normal(3);
  RecallLearner made(shape, score, initial_recall(shape, score, normal), 0.01);
  for (int i = 0; i < steps; ++i) {
    const Status status = made.learn(draw_recall(shape, normal.random()));
    EXPECT_TRUE(status.ok()) << status.message();
  }
  return made;
}

TEST(Recall, GradientsAreThoseOfTheLoss) {
  for (const auto& score : scores()) {
    for (const int steps : {0, 20}) {
      const RecallLearner one = learner(*score, kShape, steps);
      Normal normal(4);
      RecallCheck check;
      ASSERT_TRUE(check_recall_gradient(one, draw_recall(kShape, normal.random()), 1000, &check).ok());
      EXPECT_EQ(check.entries, static_cast<double>(one.parameters().size()));
      EXPECT_LT(check.largest, 1e-4);
      EXPECT_GT(check.largest, 0);
    }
  }
}

/// Those of the score too.
TEST(Recall, EachParameterMoves) {
  for (const auto& score : scores()) {
    const RecallLearner before = learner(*score, kShape, 0), after = learner(*score, kShape, 5);
    for (const Parameter& of : RecallParameters(kShape, *score).all()) {
      bool moved = false;
      for (size_t i = of.first; i < of.first + of.size(); ++i) moved |= before.parameters()[i] != after.parameters()[i];
      EXPECT_TRUE(moved) << "the parameter at " << of.first;
    }
  }
}

TEST(Recall, IsLearnt) {
  const RecallShape shape{.d_k = 8, .symbols = 6, .pairs = 3};
  for (const auto& score : scores()) {
    const RecallLearner one = learner(*score, shape, 400);
    EXPECT_LT(one.mean_of(0, 10).right, 0.5);
    EXPECT_GT(one.mean_of(350, 50).right, 0.99);
    EXPECT_LT(one.mean_of(350, 50).loss, one.mean_of(0, 50).loss / 10);
  }
}

TEST(Recall, AQuestionIsAboutOneOfItsPairs) {
  Random random(5);
  const RecallBatch batch = draw_recall(kShape, random);
  ASSERT_EQ(std::ssize(batch.keys), kShape.batch * kShape.pairs);
  ASSERT_EQ(batch.values.size(), batch.keys.size());
  for (int32_t i = 0; i < kShape.batch; ++i) {
    const auto first = batch.keys.begin() + i * kShape.pairs;
    const std::set<int32_t> keys(first, first + kShape.pairs);
    EXPECT_EQ(std::ssize(keys), kShape.pairs) << "a key comes twice in question " << i;
    EXPECT_GE(*keys.begin(), 0);
    EXPECT_LT(*keys.rbegin(), kShape.symbols);
    EXPECT_LT(batch.asked[static_cast<size_t>(i)], kShape.pairs);
  }
}

}  // namespace
}  // namespace foveate::claims
