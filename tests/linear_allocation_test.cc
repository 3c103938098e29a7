// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// With a workspace handed in linear attention allocates nothing; its stop flag and its progress.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "foveate/linear.h"
#include "tests/counted_allocations.h"
#include "tests/linear_case.h"
#include "tests/stopping_executor.h"
#include "tests/thread_executor.h"

namespace foveate::trial {
namespace {

/// One sequence whose splits are shared out where there are workers, and many units.
const LinearSpec kSpecs[] = {
    {.n_q = 1500, .n_kv = 2100, .d_k = 3, .d_v = 2, .causal = true},
    {.n_q = 1500, .n_kv = 2100, .d_k = 3, .d_v = 2},
    {.b = 3,
     .h_q = 8,
     .h_kv = 4,
     .n_q = 70,
     .n_kv = 90,
     .causal = true,
     .mask = Whole{},
     .q_lengths = true,
     .kv_lengths = true},
};

/// Calls body(name, tasks, workspace bytes, call) for both passes of a call by so many workers.
template <class Body>
void for_both_passes(const LinearSpec& spec, int64_t workers, const Body& body) {
  LinearCase<float> call(spec);
  LinearPlan plan;
  ASSERT_TRUE(linear_attention_plan(call.shape(), workers, &plan).ok());
  const ConstTensor q = call.q.view(), k = call.k.view(), v = call.v.view(), d_o = call.d_o.view();
  const Tensor o = call.o.writable();
  const LinearGradients gradients = call.gradients();
  body("forward", plan.tasks, plan.workspace_bytes,
       [&](const Execution& execution) { return linear_attention(q, k, v, o, call.options, execution); });
  body("backward", plan.backward_tasks, plan.backward_workspace_bytes, [&](const Execution& execution) {
    return linear_attention_backward(q, k, v, d_o, gradients, call.options, execution);
  });
}

TEST(LinearAllocation, NoneWithAWorkspaceOneWithout) {
  ThreadExecutor three(3);
  for (const LinearSpec& spec : kSpecs) {
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
      for_both_passes(
          spec, executor != nullptr ? 3 : 1, [&](const char* name, int64_t, size_t bytes, const auto& call) {
            SCOPED_TRACE(testing::Message() << name << ' ' << spec);
            std::vector<char> memory(bytes + 1);
            Status status;
            const Execution own = {.executor = executor, .workspace = memory.data() + 1, .workspace_bytes = bytes};
            EXPECT_EQ(allocations_of([&] { status = call(own); }), 0);
            EXPECT_TRUE(status.ok()) << status.message();
            EXPECT_EQ(allocations_of([&] { status = call({.executor = executor}); }), 1);
            EXPECT_TRUE(status.ok()) << status.message();
          });
    }
  }
}

TEST(LinearProgress, CountsUpToThePlansTasks) {
  ThreadExecutor three(3);
  for (const LinearSpec& spec : kSpecs) {
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
      for_both_passes(spec, executor != nullptr ? 3 : 1,
                      [&](const char* name, int64_t tasks, size_t, const auto& call) {
                        std::atomic<int64_t> progress = 0;
                        EXPECT_TRUE(call({.executor = executor, .progress = &progress}).ok());
                        EXPECT_EQ(progress, tasks) << name << ' ' << spec;
                      });
    }
  }
}

TEST(LinearStop, EndsTheCallAtAnyTask) {
  ThreadExecutor one(1), three(3);
  for (Executor* inner : {&one, &three}) {
    for (const LinearSpec& spec : kSpecs) {
      for_both_passes(spec, inner->concurrency(), [&](const char* name, int64_t tasks, size_t, const auto& call) {
        for (int64_t k = 0; k < tasks; ++k) {
          StoppingExecutor stopping(inner, k);
          std::atomic<int64_t> progress = 0;
          const Status status = call({.executor = &stopping, .stop = &stopping.stop, .progress = &progress});
          EXPECT_EQ(status.code(), StatusCode::cancelled) << name << ' ' << k << ' ' << spec;
          EXPECT_LE(progress, k + inner->concurrency() - 1) << name << ' ' << spec;
        }
      });
    }
  }
}

TEST(LinearStop, SetBeforeTheCallWritesNothing) {
  const std::atomic<bool> stop = true;
  for (const LinearSpec& spec : kSpecs) {
    LinearCase<float> call(spec);
    const Execution execution = {.stop = &stop};
    EXPECT_EQ(linear_attention(call.q.view(), call.k.view(), call.v.view(), call.o.writable(), call.options, execution)
                  .code(),
              StatusCode::cancelled);
    EXPECT_EQ(linear_attention_backward(call.q.view(), call.k.view(), call.v.view(), call.d_o.view(), call.gradients(),
                                        call.options, execution)
                  .code(),
              StatusCode::cancelled);
    EXPECT_TRUE(call.untouched());
  }
}

TEST(LinearPlans, SizesPastCountingAreNotMiscounted) {
  LinearPlan plan;
  for (const int64_t d : {int64_t{1} << 31, int64_t{1} << 32}) {
    ASSERT_TRUE(linear_attention_plan({.d_k = d, .d_v = d}, 1, &plan).ok());
    EXPECT_EQ(plan.workspace_bytes, std::numeric_limits<size_t>::max());
    EXPECT_EQ(plan.backward_workspace_bytes, std::numeric_limits<size_t>::max());
  }
}

/// Nothing to compute takes no memory, however large a state would be.
TEST(LinearPlans, EmptyAxesNeedNoStates) {
  constexpr int64_t kLarge = int64_t{1} << 20;
  LinearPlan plan;
  for (const LinearShape& shape : {LinearShape{.b = 0, .d_k = kLarge, .d_v = kLarge},
                                   LinearShape{.n_q = 0, .n_kv = 0, .d_k = kLarge, .d_v = kLarge}}) {
    ASSERT_TRUE(linear_attention_plan(shape, 3, &plan).ok());
    EXPECT_LT(plan.workspace_bytes, 1000U);
    EXPECT_LT(plan.backward_workspace_bytes, 1000U);
  }
  ASSERT_TRUE(linear_attention_plan({.n_q = 0, .n_kv = 5, .d_k = kLarge, .d_v = kLarge}, 3, &plan).ok());
  EXPECT_LT(plan.workspace_bytes, 1000U);
  float none = 1;
  const ConstTensor q = {&none, DType::f32, {1, 1, 0, kLarge}, {0, 0, 0, 1}};
  EXPECT_TRUE(linear_attention(q, q, q, {&none, DType::f32, {1, 1, 0, kLarge}, {0, 0, 0, 1}}).ok());
  EXPECT_EQ(none, 1);
}

TEST(LinearAllocation, AFailedOneIsReported) {
  // Keys and values are one and the same number 2^60 times over, so that only their states take memory: some 2^56
  // bytes.
  constexpr int64_t kMost = int64_t{1} << 60;
  float one = 1, o = 12345;
  const ConstTensor row = {&one, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}};
  const ConstTensor keys = {&one, DType::f32, {1, 1, kMost, 1}, {0, 0, 0, 0}};
  ThreadExecutor three(3);
  const Tensor to = {&o, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}};
  const Status status = linear_attention(row, keys, keys, to, {}, {.executor = &three});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory) << status.message();
  EXPECT_EQ(o, 12345);
}

}  // namespace
}  // namespace foveate::trial
