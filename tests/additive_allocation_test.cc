// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// With a workspace of the plan's bytes and an executor handed in additive attention allocates nothing, forward and backward;
// the stop flag and the progress count.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "foveate/additive.h"
#include "tests/additive_call.h"
#include "tests/counted_allocations.h"
#include "tests/stopping_executor.h"

namespace foveate {
namespace {

constexpr int64_t kFeatureCount = 9;

/// Many tiles and units; one unit whose pairs of chunks, and few tiles whose splits, are shared out.
constexpr AttentionShape kMany = {.b = 3, .h_q = 8, .h_kv = 4, .n_q = 30, .n_kv = 40, .d_k = 8, .d_v = 5};
constexpr AttentionShape kPairs = {.h_q = 2, .h_kv = 1, .n_q = 260, .n_kv = 520, .d_k = 8, .d_v = 5};
constexpr AttentionShape kSplits = {.n_q = 20, .n_kv = 2100, .d_k = 8, .d_v = 5};

template <class F>
class AdditiveAllocation : public testing::Test {
 public:
  using Problem = AdditiveProblem<F>;

  /// Calls body(call, parameters, executor, workers) for each problem, serially and with three workers.
  template <class Body>
  static void on_each_problem(const Body& body) {
    ThreadExecutor three(3);
    for (const AttentionShape& shape : {kMany, kPairs, kSplits}) {
      for (const Features& features : {kPlain, kAllFeatures}) {
        SCOPED_TRACE(features.name);
        const Problem problem(shape, features, kFeatureCount, 1, 0.25);
        body(problem, static_cast<Executor*>(nullptr), 1);
        body(problem, static_cast<Executor*>(&three), 3);
      }
    }
  }

  static size_t forward_bytes(const Call& call, int64_t workers) {
    AttentionPlan plan;
    EXPECT_TRUE(additive_attention_plan(shape_of(call), kFeatureCount, workers, &plan).ok());
    return plan.workspace_bytes;
  }
  static size_t backward_bytes(const Call& call, const AdditiveGradients& gradients, int64_t workers) {
    AttentionBackwardPlan plan;
    EXPECT_TRUE(additive_attention_backward_plan(shape_of(call), gradients, kFeatureCount, workers, &plan).ok());
    return plan.workspace_bytes;
  }
};
using Types = testing::Types<Family<float, float>, Family<double, double>, Family<BFloat16, BFloat16>>;
TYPED_TEST_SUITE(AdditiveAllocation, Types);

TYPED_TEST(AdditiveAllocation, NoneWithAWorkspace) {
  using Q = typename TypeParam::Q;
  this->on_each_problem([&](const auto& problem, Executor* executor, int64_t workers) {
    const BackwardCall& call = problem.call;
    const AdditiveParameters parameters = problem.parameters.views();
    std::vector<char> memory(this->forward_bytes(call, workers));
    Execution execution = {.executor = executor, .workspace = memory.data(), .workspace_bytes = memory.size()};
    Result<Q> result(call);
    Status status;
    const auto forward = [&] {
      status = additive_attention(call.q, call.k, call.v, parameters, result.outputs(), call.options, execution);
    };
    EXPECT_EQ(allocations_of(forward), 0);
    EXPECT_TRUE(status.ok()) << status.message();

    AdditiveGradientsOf<TypeParam> gradients(call, problem.parameters);
    const AdditiveGradients wanted = gradients.views();
    memory.assign(this->backward_bytes(call, wanted, workers), 0);
    execution.workspace = memory.data(), execution.workspace_bytes = memory.size();
    EXPECT_EQ(allocations_of([&] { status = differentiate(call, problem.parameters, wanted, execution); }), 0);
    EXPECT_TRUE(status.ok()) << status.message();
  });
}

TYPED_TEST(AdditiveAllocation, OneBlockWithoutAWorkspace) {
  using Q = typename TypeParam::Q;
  this->on_each_problem([&](const auto& problem, Executor* executor, int64_t) {
    const BackwardCall& call = problem.call;
    Result<Q> result(call);
    AdditiveGradientsOf<TypeParam> gradients(call, problem.parameters);
    const AdditiveGradients wanted = gradients.views();
    EXPECT_EQ(allocations_of([&] { attend(call, problem.parameters, result.outputs(), {.executor = executor}); }), 1);
    Status status;
    EXPECT_EQ(allocations_of([&] { status = differentiate(call, problem.parameters, wanted, {.executor = executor}); }),
              1);
    EXPECT_TRUE(status.ok()) << status.message();
  });
}

TYPED_TEST(AdditiveAllocation, AWorkspaceOneByteShortIsRefused) {
  this->on_each_problem([&](const auto& problem, Executor* executor, int64_t workers) {
    const auto message = [](size_t needed, const char* plan) {
      return "workspace: " + std::to_string(needed - 1) + " bytes; this call needs " + std::to_string(needed) + " (" +
             plan + " tells)";
    };
    // An offset that cuts the keys at the worst places: all that is planned is needed.
    BackwardCall call = problem.call;
    call.options.kv_offset = 1023;
    size_t needed = this->forward_bytes(call, workers);
    std::vector<char> memory(needed);
    Result<typename TypeParam::Q> result(call);
    const Status forward =
        additive_attention(call.q, call.k, call.v, problem.parameters.views(), result.outputs(), call.options,
                           {.executor = executor, .workspace = memory.data(), .workspace_bytes = needed - 1});
    EXPECT_EQ(forward.code(), StatusCode::workspace_too_small);
    EXPECT_EQ(forward.message(), message(needed, "additive_attention_plan"));

    AdditiveGradientsOf<TypeParam> gradients(call, problem.parameters);
    const AdditiveGradients wanted = gradients.views();
    needed = this->backward_bytes(call, wanted, workers);
    memory.resize(needed);
    const Status backward =
        differentiate(call, problem.parameters, wanted,
                      {.executor = executor, .workspace = memory.data(), .workspace_bytes = needed - 1});
    EXPECT_EQ(backward.code(), StatusCode::workspace_too_small);
    EXPECT_EQ(backward.message(), message(needed, "additive_attention_backward_plan"));
    EXPECT_TRUE(gradients.untouched());
  });
}

TYPED_TEST(AdditiveAllocation, NoneForAPlan) {
  AdditiveGradients wanted;
  wanted.dw = {nullptr, DType::f32, kFeatureCount};
  AttentionPlan plan;
  AttentionBackwardPlan backward;
  ASSERT_TRUE(additive_attention_plan(kMany, 1, 1, &plan).ok());  // the registry of targets is made once
  EXPECT_EQ(allocations_of([&] {
              EXPECT_TRUE(additive_attention_plan(kSplits, 7, 4, &plan).ok());
              EXPECT_TRUE(additive_attention_backward_plan(kPairs, wanted, 7, 4, &backward).ok());
            }),
            0);
}

// --- The stop flag and the progress ---

using Floats = Family<float, float>;

TEST(AdditiveStop, SetByATaskEndsTheCall) {
  ThreadExecutor one(1), three(3);
  for (const AttentionShape& shape : {kMany, kSplits}) {
    const AdditiveProblem<Floats> problem(shape, kPlain, kFeatureCount);
    const BackwardCall& call = problem.call;
    for (Executor* inner : {&one, &three}) {
      AttentionPlan plan;
      ASSERT_TRUE(additive_attention_plan(shape_of(call), kFeatureCount, inner->concurrency(), &plan).ok());
      for (int64_t k = 0; k < plan.tasks; ++k) {
        StoppingExecutor stopping(inner, k);
        std::atomic<int64_t> progress = 0;
        Result<float> result(call);
        const Status status =
            additive_attention(call.q, call.k, call.v, problem.parameters.views(), result.outputs(), call.options,
                               {.executor = &stopping, .stop = &stopping.stop, .progress = &progress});
        EXPECT_EQ(status.code(), StatusCode::cancelled) << k;
        // Tasks under way as the flag is set may finish; none begins afterwards.
        EXPECT_LE(progress, k + inner->concurrency() - 1);
        EXPECT_TRUE(inner != &one || progress == k) << progress << " of " << k;
      }
    }
  }
}

TEST(AdditiveStop, SetByATaskEndsABackwardPass) {
  ThreadExecutor one(1), three(3);
  for (const AttentionShape& shape : {kMany, kPairs}) {
    const AdditiveProblem<Floats> problem(shape, kPlain, kFeatureCount);
    const BackwardCall& call = problem.call;
    AdditiveGradientsOf<Floats> gradients(call, problem.parameters);
    const AdditiveGradients wanted = gradients.views();
    for (Executor* inner : {&one, &three}) {
      AttentionBackwardPlan plan;
      ASSERT_TRUE(
          additive_attention_backward_plan(shape_of(call), wanted, kFeatureCount, inner->concurrency(), &plan).ok());
      for (int64_t k = 0; k < plan.tasks; ++k) {
        StoppingExecutor stopping(inner, k);
        std::atomic<int64_t> progress = 0;
        const Status status = differentiate(call, problem.parameters, wanted,
                                            {.executor = &stopping, .stop = &stopping.stop, .progress = &progress});
        EXPECT_EQ(status.code(), StatusCode::cancelled) << k;
        EXPECT_LE(progress, k + inner->concurrency() - 1);
        EXPECT_TRUE(inner != &one || progress == k) << progress << " of " << k;
      }
    }
  }
}

TEST(AdditiveStop, ProgressCountsUpToThePlansTasks) {
  ThreadExecutor three(3);
  for (const AttentionShape& shape : {kMany, kPairs, kSplits}) {
    const AdditiveProblem<Floats> problem(shape, kPlain, kFeatureCount);
    const BackwardCall& call = problem.call;
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
      const int64_t workers = executor == nullptr ? 1 : 3;
      std::atomic<int64_t> progress = 0;
      Result<float> result(call);
      attend(call, problem.parameters, result.outputs(), {.executor = executor, .progress = &progress});
      AttentionPlan plan;
      ASSERT_TRUE(additive_attention_plan(shape_of(call), kFeatureCount, workers, &plan).ok());
      EXPECT_EQ(progress, plan.tasks);

      progress = 0;
      AdditiveGradientsOf<Floats> gradients(call, problem.parameters);
      const AdditiveGradients wanted = gradients.views();
      ASSERT_TRUE(differentiate(call, problem.parameters, wanted, {.executor = executor, .progress = &progress}).ok());
      AttentionBackwardPlan backward;
      ASSERT_TRUE(additive_attention_backward_plan(shape_of(call), wanted, kFeatureCount, workers, &backward).ok());
      EXPECT_EQ(progress, backward.tasks);
    }
  }
}

}  // namespace
}  // namespace foveate
