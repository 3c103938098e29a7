// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// With a workspace and an executor handed in a backward pass allocates nothing; the stop flag and the progress count.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "foveate/attention_backward.h"
#include "tests/backward_call.h"
#include "tests/counted_allocations.h"
#include "tests/stopping_executor.h"

namespace foveate {
namespace {

/// Units enough for a task each; one whose pairs of chunks are shared out.
constexpr AttentionShape kMany = {.b = 3, .h_q = 8, .h_kv = 4, .n_q = 30, .n_kv = 40, .d_k = 8, .d_v = 5};
constexpr AttentionShape kShared = {.h_q = 2, .h_kv = 1, .n_q = 260, .n_kv = 520, .d_k = 8, .d_v = 5};

using Floats = Family<float, float>;

// --- Allocation ---

template <class F>
class BackwardAllocation : public testing::Test {};
using Types = testing::Types<Floats, Family<double, double>, Family<BFloat16, BFloat16>>;
TYPED_TEST_SUITE(BackwardAllocation, Types);

TYPED_TEST(BackwardAllocation, NoneWithAWorkspace) {
  ThreadExecutor three(3);
  for (const AttentionShape& shape : {kMany, kShared}) {
    for (const Features& features : kFeatures) {
      SCOPED_TRACE(features.name);
      const BackwardProblem<TypeParam> problem(shape, features, 0.25);
      GradientsOf<TypeParam> gradients(problem.call);
      const AttentionGradients wanted = gradients.views();
      for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
        std::vector<char> memory(plan_of(problem.call, wanted, executor != nullptr ? 3 : 1).workspace_bytes);
        const Execution execution = {
            .executor = executor, .workspace = memory.data(), .workspace_bytes = memory.size()};
        Status status;
        EXPECT_EQ(allocations_of([&] { status = differentiate(problem.call, wanted, execution); }), 0);
        EXPECT_TRUE(status.ok()) << status.message();
      }
    }
  }
}

TYPED_TEST(BackwardAllocation, OneBlockWithoutAWorkspace) {
  ThreadExecutor three(3);
  for (const AttentionShape& shape : {kMany, kShared}) {
    const BackwardProblem<TypeParam> problem(shape, kAllFeatures);
    GradientsOf<TypeParam> gradients(problem.call);
    const AttentionGradients wanted = gradients.views();
    Status status;
    EXPECT_EQ(allocations_of([&] { status = differentiate(problem.call, wanted); }), 1);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(allocations_of([&] { status = differentiate(problem.call, wanted, {.executor = &three}); }), 1);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TYPED_TEST(BackwardAllocation, AWorkspaceOneByteShortIsRefused) {
  ThreadExecutor three(3);
  for (const AttentionShape& shape : {kMany, kShared}) {
    const BackwardProblem<TypeParam> problem(shape, kAllFeatures);
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
      GradientsOf<TypeParam> gradients(problem.call);
      // An offset that cuts the keys at the worst places: all that is planned is needed.
      BackwardCall call = problem.call;
      call.options.kv_offset = 1023;
      const size_t needed = plan_of<TypeParam>(call, executor != nullptr ? 3 : 1).workspace_bytes;
      std::vector<char> memory(needed);
      Status status;
      EXPECT_EQ(allocations_of([&] {
                  status =
                      differentiate(call, gradients.views(),
                                    {.executor = executor, .workspace = memory.data(), .workspace_bytes = needed - 1});
                }),
                0);
      EXPECT_EQ(status.code(), StatusCode::workspace_too_small);
      EXPECT_EQ(status.message(), "workspace: " + std::to_string(needed - 1) + " bytes; this call needs " +
                                      std::to_string(needed) + " (attention_backward_plan tells)");
      EXPECT_TRUE(gradients.untouched());
    }
  }
}

TEST(BackwardAllocation, NoneForARejection) {
  BackwardProblem<Floats> problem(kMany, kPlain);
  problem.call.options.window_left = -7;
  GradientsOf<Floats> gradients(problem.call);
  const AttentionGradients wanted = gradients.views();
  Status status;
  EXPECT_EQ(allocations_of([&] { status = differentiate(problem.call, wanted); }), 0);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_TRUE(gradients.untouched());
}

TEST(BackwardAllocation, NoneForAPlan) {
  const AttentionGradients wanted = {.dq = {nullptr, DType::f32}};
  AttentionBackwardPlan plan;
  ASSERT_TRUE(attention_backward_plan({}, wanted, 1, &plan).ok());  // the registry of targets is made once
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(attention_backward_plan(kShared, wanted, 4, &plan).ok()); }), 0);
}

/// As many workers as are allowed, and none that works.
class IdleCrowd final : public Executor {
 public:
  int64_t concurrency() const override { return 65536; }
  void run(int64_t, Task, void*) override { ADD_FAILURE() << "nothing to run"; }
};

TEST(BackwardAllocation, AFailedOneIsReported) {
  // q and k are one and the same number 2^32 times over, so that only the workspace takes memory: some 2^59 bytes.
  float one = 1, dv = 12345;
  const ConstTensor single = {&one, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}};
  ConstTensor longest = single;
  longest.shape[3] = int64_t{1} << 32;
  IdleCrowd crowd;
  const Status status =
      attention_backward(longest, longest, single, single, single, single,
                         {.dv = {&dv, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}}}, {}, {.executor = &crowd});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory) << status.message();
  EXPECT_EQ(std::string(status.message()).rfind("workspace: ", 0), 0u) << status.message();
  EXPECT_EQ(dv, 12345);
}

TEST(BackwardAllocation, MoreThanCanBeCountedIsReported) {
  // One key 2^58 times over, of which the row sees the first: sums of all their gradients would take 2^64 bytes.
  float one = 1, dq = 12345;
  const ConstTensor single = {&one, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}};
  ConstTensor keys = single;
  keys.shape[2] = int64_t{1} << 58;
  const Status status =
      attention_backward(single, keys, keys, single, single, single,
                         {.dq = {&dq, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}}}, {.causal = true, .q_offset = 0});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory) << status.message();
  EXPECT_EQ(dq, 12345);
}

// --- The stop flag and the progress ---

TEST(BackwardStop, SetBeforeTheCallWritesNothing) {
  const std::atomic<bool> stop = true;
  ThreadExecutor three(3);
  for (const AttentionShape& shape : {kMany, kShared}) {
    const BackwardProblem<Floats> problem(shape, kAllFeatures);
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
      std::atomic<int64_t> progress = 0;
      GradientsOf<Floats> gradients(problem.call);
      const Status status =
          differentiate(problem.call, gradients.views(), {.executor = executor, .stop = &stop, .progress = &progress});
      EXPECT_EQ(status.code(), StatusCode::cancelled);
      EXPECT_STREQ(status.message(), "cancelled by the stop flag");
      EXPECT_EQ(progress, 0);
      EXPECT_TRUE(gradients.untouched());
    }
  }
}

TEST(BackwardStop, SetByATaskEndsTheCall) {
  ThreadExecutor one(1), three(3);
  for (const bool shared : {false, true}) {
    // Gradients by the bias are many tasks, which are few enough of the smaller shape.
    const Features features = {.name = "some", .causal = true, .bias = !shared, .sinks = true};
    const BackwardProblem<Floats> problem(shared ? kShared : kMany, features);
    for (Executor* inner : {&one, &three}) {
      const int64_t tasks = plan_of<Floats>(problem.call, inner->concurrency()).tasks;
      GradientsOf<Floats> gradients(problem.call);
      for (int64_t k = 0; k < tasks; ++k) {
        StoppingExecutor stopping(inner, k);
        std::atomic<int64_t> progress = 0;
        const Status status = differentiate(problem.call, gradients.views(),
                                            {.executor = &stopping, .stop = &stopping.stop, .progress = &progress});
        EXPECT_EQ(status.code(), StatusCode::cancelled) << k;
        // Tasks under way as the flag is set may finish; none begins afterwards.
        EXPECT_LE(progress, k + inner->concurrency() - 1);
        EXPECT_TRUE(inner != &one || progress == k) << progress << " of " << k;
      }
    }
  }
}

TEST(BackwardStop, NeverSetChangesNothing) {
  const std::atomic<bool> stop = false;
  const BackwardProblem<Floats> problem(kShared, kAllFeatures);
  expect_same_bits(gradients_of<Floats>(problem.call), gradients_of<Floats>(problem.call, {.stop = &stop}));
}

/// Each of the gradients that a call has alone, and all of them.
std::vector<AttentionGradients> ways_to_ask(const AttentionGradients& all) {
  return {all, {.dq = all.dq}, {.dk = all.dk}, {.dv = all.dv}, {.dbias = all.dbias}, {.dsinks = all.dsinks}};
}

TEST(BackwardStop, ProgressCountsUpToThePlansTasks) {
  ThreadExecutor three(3);
  for (const AttentionShape& shape : {kMany, kShared}) {
    BackwardProblem<Floats> problem(shape, kAllFeatures);
    GradientsOf<Floats> gradients(problem.call);
    const std::vector<int64_t> q_lengths(static_cast<size_t>(shape.b), shape.n_q / 2);
    for (const bool shorter : {false, true}) {
      if (shorter) problem.call.options.q_lengths = view(q_lengths.data(), shape.b);
      for (const int64_t kv_offset : {0, 500, -1}) {
        problem.call.options.kv_offset = kv_offset;
        for (const AttentionGradients& wanted : ways_to_ask(gradients.views())) {
          for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
            std::atomic<int64_t> progress = 0;
            const Status status = differentiate(problem.call, wanted, {.executor = executor, .progress = &progress});
            ASSERT_TRUE(status.ok()) << status.message();
            EXPECT_EQ(progress, plan_of(problem.call, wanted, executor != nullptr ? 3 : 1).tasks);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace foveate
