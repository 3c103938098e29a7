// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// With a workspace and an executor handed in a call allocates nothing; the stop flag and the progress count.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "foveate/attention.h"
#include "foveate/target.h"
#include "tests/call.h"
#include "tests/counted_allocations.h"
#include "tests/stopping_executor.h"

namespace foveate {
namespace {

TEST(Counting, SeesAllocations) {
  EXPECT_EQ(allocations_of([] {}), 0);
  int* volatile ints = nullptr;  // a compiler may leave out an allocation that nobody looks at
  EXPECT_EQ(allocations_of([&ints] { ints = new int[100]; }), 1);
  delete[] ints;
  std::vector<int> vector;
  EXPECT_EQ(allocations_of([&vector] { vector.resize(100); }), 1);
}

AttentionPlan plan_of(const AttentionShape& shape, int64_t workers) {
  AttentionPlan plan;
  EXPECT_TRUE(attention_plan(shape, workers, &plan).ok());
  return plan;
}

// --- Allocation ---

template <class T>
class Allocation : public testing::Test {
 public:
  /// Many tiles, some of them narrow; few tiles whose splits are shared out.
  static std::vector<AttentionShape> shapes() {
    const DType dtype = dtype_of<T>();
    return {{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 100, .n_kv = 130, .d_k = 8, .d_v = 5, .dtype = dtype},
            {.n_q = 50, .n_kv = 2100, .d_k = 8, .d_v = 5, .dtype = dtype}};
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Allocation, Types);

TYPED_TEST(Allocation, NoneWithAWorkspace) {
  ThreadExecutor three(3);
  for (const AttentionShape& shape : this->shapes()) {
    for (const Features& features : kFeatures) {
      SCOPED_TRACE(features.name);
      const Problem<TypeParam> problem(shape, features);
      const Call& call = problem.call;
      for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
        const AttentionPlan plan = plan_of(shape, executor != nullptr ? 3 : 1);
        std::vector<char> memory(plan.workspace_bytes);
        std::vector<TypeParam> weights(static_cast<size_t>(shape.b * shape.h_q * shape.n_q * shape.n_kv));
        Result<TypeParam> result(call);
        const Execution execution = {
            .executor = executor, .workspace = memory.data(), .workspace_bytes = memory.size()};
        AttentionOutputs outputs = result.outputs();
        for (const bool with_weights : {false, true}) {
          if (with_weights) outputs.weights = view(weights.data(), shape.b, shape.h_q, shape.n_q, shape.n_kv);
          Status status;
          EXPECT_EQ(
              allocations_of([&] { status = attention(call.q, call.k, call.v, outputs, call.options, execution); }), 0);
          EXPECT_TRUE(status.ok()) << status.message();
        }
      }
    }
  }
}

TYPED_TEST(Allocation, OneBlockWithoutAWorkspace) {
  const Problem<TypeParam> problem(this->shapes()[0], kAllFeatures);
  Result<TypeParam> result(problem.call);
  EXPECT_EQ(allocations_of([&] { attend(problem.call, result.outputs()); }), 1);
}

TYPED_TEST(Allocation, NoneForARejection) {
  Problem<TypeParam> problem(this->shapes()[0], kPlain);
  problem.call.options.window_left = -7;
  Result<TypeParam> result(problem.call);
  const Call& call = problem.call;
  Status status;
  EXPECT_EQ(allocations_of([&] { status = attention(call.q, call.k, call.v, result.outputs(), call.options); }), 0);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
}

TEST(Allocation, NoneForAPlanOrATarget) {
  AttentionPlan plan;
  EXPECT_TRUE(attention_plan({}, 1, &plan).ok());  // the registry of targets is made once
  EXPECT_EQ(allocations_of([&] {
              EXPECT_TRUE(attention_plan({.n_q = 1000, .n_kv = 5000}, 4, &plan).ok());
              EXPECT_TRUE(pin_target(active_target()).ok());
            }),
            0);
  EXPECT_TRUE(pin_target(nullptr).ok());
}

/// As many workers as are allowed, and none that works.
class IdleCrowd final : public Executor {
 public:
  int64_t concurrency() const override { return 65536; }
  void run(int64_t, Task, void*) override { ADD_FAILURE() << "nothing to run"; }
};

TEST(Allocation, AFailedOneIsReported) {
  // q and k are one and the same number 2^32 times over, so that only the workspace takes memory: some 2^56 bytes.
  constexpr int64_t kLongest = int64_t{1} << 32;
  float one = 1, o = 12345;
  const ConstTensor view = {&one, DType::f32, {1, 1, 1, kLongest}, {0, 0, 0, 0}};
  IdleCrowd crowd;
  const Status status = attention(view, view, {&one, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}},
                                  {.o = {&o, DType::f32, {1, 1, 1, 1}, {0, 0, 0, 0}}}, {}, {.executor = &crowd});
  EXPECT_EQ(status.code(), StatusCode::out_of_memory) << status.message();
  EXPECT_EQ(std::string(status.message()).rfind("workspace: ", 0), 0u) << status.message();
  EXPECT_EQ(o, 12345);
}

// --- The stop flag and the progress ---

class Stop : public testing::Test {
 protected:
  static constexpr AttentionShape kShared = {.n_q = 50, .n_kv = 5000, .d_k = 8, .d_v = 5};
  static constexpr AttentionShape kMany = {.b = 3, .h_q = 4, .h_kv = 2, .n_q = 100, .n_kv = 130, .d_k = 8, .d_v = 5};

  static Status attend(const Call& call, const AttentionOutputs& outputs, const Execution& execution) {
    return attention(call.q, call.k, call.v, outputs, call.options, execution);
  }

  static bool untouched(const Result<float>& result) {
    return std::all_of(result.o.begin(), result.o.end(), [](float x) { return x == 12345; }) &&
           std::all_of(result.lse.begin(), result.lse.end(), [](float x) { return x == 12345; });
  }
};

TEST_F(Stop, SetBeforeTheCallWritesNothing) {
  const std::atomic<bool> stop = true;
  ThreadExecutor three(3);
  for (const AttentionShape& shape : {kShared, kMany}) {
    const Problem<float> problem(shape, kPlain);
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
      std::atomic<int64_t> progress = 0;
      Result<float> result(problem.call);
      const Status status =
          attend(problem.call, result.outputs(), {.executor = executor, .stop = &stop, .progress = &progress});
      EXPECT_EQ(status.code(), StatusCode::cancelled);
      EXPECT_STREQ(status.message(), "cancelled by the stop flag");
      EXPECT_EQ(progress, 0);
      EXPECT_TRUE(untouched(result));
    }
  }
}

TEST_F(Stop, SetByATaskEndsTheCall) {
  ThreadExecutor one(1), three(3);
  for (const AttentionShape& shape : {kShared, kMany}) {
    const Problem<float> problem(shape, kPlain);
    for (Executor* inner : {&one, &three}) {
      const int64_t tasks = plan_of(shape, inner->concurrency()).tasks;
      for (int64_t k = 0; k < tasks; ++k) {
        StoppingExecutor stopping(inner, k);
        std::atomic<int64_t> progress = 0;
        Result<float> result(problem.call);
        const Status status = attend(problem.call, result.outputs(),
                                     {.executor = &stopping, .stop = &stopping.stop, .progress = &progress});
        EXPECT_EQ(status.code(), StatusCode::cancelled) << k;
        // Tasks under way as the flag is set may finish; none begins afterwards.
        EXPECT_LE(progress, k + inner->concurrency() - 1);
        EXPECT_TRUE(inner != &one || progress == k) << progress << " of " << k;
      }
    }
  }
}

TEST_F(Stop, SetByAnotherThreadEndsTheCall) {
  std::atomic<bool> stop = false;
  std::atomic<int64_t> progress = 0;
  std::thread other([&] {
    while (progress < 1) std::this_thread::yield();
    stop = true;
  });
  const AttentionShape long_call = {.h_q = 512, .h_kv = 512, .n_q = 48, .n_kv = 1000, .d_k = 8, .d_v = 8};
  const Problem<float> problem(long_call, kPlain);
  Result<float> result(problem.call);
  const Status status = attend(problem.call, result.outputs(), {.stop = &stop, .progress = &progress});
  other.join();
  EXPECT_EQ(status.code(), StatusCode::cancelled);
  EXPECT_LT(progress, 512);
}

TEST_F(Stop, NeverSetChangesNothing) {
  const std::atomic<bool> stop = false;
  const Problem<float> problem(kMany, kPlain);
  expect_same_bits(foveate::attend<float>(problem.call), foveate::attend<float>(problem.call, {.stop = &stop}));
}

TEST_F(Stop, ProgressCountsUpToThePlansTasks) {
  ThreadExecutor three(3);
  for (AttentionShape shape : {kShared, kMany}) {
    Problem<float> problem(shape, kPlain);
    Result<float> result(problem.call);
    std::vector<float> weights(static_cast<size_t>(shape.b * shape.h_q * shape.n_q * shape.n_kv));
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&three)}) {
      for (const int64_t kv_offset : {0, 500}) {
        for (const bool with_weights : {false, true}) {
          problem.call.options.kv_offset = shape.kv_offset = kv_offset;
          shape.weights = with_weights;
          AttentionOutputs outputs = result.outputs();
          if (with_weights) outputs.weights = view(weights.data(), shape.b, shape.h_q, shape.n_q, shape.n_kv);
          std::atomic<int64_t> progress = 0;
          foveate::attend(problem.call, outputs, {.executor = executor, .progress = &progress});
          EXPECT_EQ(progress, plan_of(shape, executor != nullptr ? 3 : 1).tasks);
        }
      }
    }
  }
}

}  // namespace
}  // namespace foveate
