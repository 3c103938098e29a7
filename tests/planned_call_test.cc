// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Calls that their host runs as rounds of tasks: the bits of the whole call, at any division among any threads.
#include "foveate/planned_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "foveate/target.h"
#include "tests/additive_call.h"
#include "tests/backward_call.h"
#include "tests/call.h"
#include "tests/counted_allocations.h"
#include "tests/each_target.h"

namespace foveate {
namespace {

using Floats = Family<float, float>;
using Doubles = Family<double, double>;

/// Runs a call on threads, each of which takes up to `most` tasks at a time; serially, in scattered order, for one worker.
void run(PlannedCall& call, int64_t workers, int64_t most) {
  std::barrier barrier(workers);
  std::vector<std::atomic<int64_t>> next(static_cast<size_t>(call.rounds()));
  const auto work = [&](int64_t worker) {
    std::mt19937 random(static_cast<unsigned>(worker));
    for (int64_t round = 0; round < call.rounds(); ++round) {
      const int64_t n = call.tasks(round);
      while (true) {
        const int64_t count = 1 + static_cast<int64_t>(random() % static_cast<unsigned>(most));
        const int64_t first = next[static_cast<size_t>(round)].fetch_add(count);
        if (first >= n) break;
        const Status status = call.run(round, first, std::min(count, n - first), worker);
        EXPECT_TRUE(status.ok()) << status.message();
      }
      barrier.arrive_and_wait();
    }
  };
  std::vector<std::thread> threads;
  for (int64_t worker = 1; worker < workers; ++worker) threads.emplace_back(work, worker);
  work(0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(call.status().ok());
}

/// Rounds in order, the tasks of each backwards.
void run_backwards(PlannedCall& call) {
  for (int64_t round = 0; round < call.rounds(); ++round) {
    for (int64_t task = call.tasks(round) - 1; task >= 0; --task) EXPECT_TRUE(call.run(round, task, 1, 0).ok());
  }
}

Status begin(const Call& call, const AttentionOutputs& outputs, int64_t workers, const Execution& execution,
             PlannedCall* planned) {
  return begin_attention(call.q, call.k, call.v, outputs, call.options, workers, execution, planned);
}

Status begin(const BackwardCall& call, const AttentionGradients& gradients, int64_t workers, const Execution& execution,
             PlannedCall* planned) {
  return begin_attention_backward(call.q, call.k, call.v, call.o, call.lse, call.d_o, gradients, call.options, workers,
                                  execution, planned);
}

template <class F>
class Planned : public testing::Test {
 public:
  /// Many tiles; few tiles whose splits are shared out, or whose pairs of chunks are.
  static std::vector<AttentionShape> shapes() {
    const DType dtype = dtype_of<typename F::Computing>();
    return {{.b = 2, .h_q = 6, .h_kv = 2, .n_q = 101, .n_kv = 157, .d_k = 9, .d_v = 5, .dtype = dtype},
            {.h_q = 2, .h_kv = 1, .n_q = 67, .n_kv = 2111, .d_k = 8, .d_v = 7, .dtype = dtype}};
  }
};
using Families = testing::Types<Floats, Doubles, Family<BFloat16, BFloat16>>;
TYPED_TEST_SUITE(Planned, Families);

TYPED_TEST(Planned, AttentionHasTheBitsOfTheWholeCall) {
  using Q = typename TypeParam::Q;
  trial::on_each_target([&] {
    for (const AttentionShape& shape : this->shapes()) {
      for (const Features& features : {kPlain, kAllFeatures}) {
        const StoredProblem<TypeParam> problem(shape, features);
        const Result<Q> expected = attend<Q>(problem.call);
        for (const int64_t workers : {1, 2, 3}) {
          for (const int64_t most : {1, 4, 1000}) {
            Result<Q> got(problem.call);
            PlannedCall call;
            const Status status = begin(problem.call, got.outputs(), workers, {}, &call);
            ASSERT_TRUE(status.ok()) << status.message();
            run(call, workers, most);
            expect_same_bits(expected, got);
          }
        }
        Result<Q> got(problem.call);
        PlannedCall call;
        ASSERT_TRUE(begin(problem.call, got.outputs(), 2, {}, &call).ok());
        run_backwards(call);
        expect_same_bits(expected, got);
      }
    }
  });
}

TYPED_TEST(Planned, GradientsHaveTheBitsOfTheWholeCall) {
  for (const AttentionShape& shape : this->shapes()) {
    for (const Features& features : {kPlain, kAllFeatures}) {
      const BackwardProblem<TypeParam> problem(shape, features, 0.25);
      const GradientsOf<TypeParam> expected = gradients_of<TypeParam>(problem.call);
      for (const int64_t workers : {1, 3}) {
        for (const int64_t most : {1, 7}) {
          GradientsOf<TypeParam> got(problem.call);
          PlannedCall call;
          const Status status = begin(problem.call, got.views(), workers, {}, &call);
          ASSERT_TRUE(status.ok()) << status.message();
          run(call, workers, most);
          expect_same_bits(expected, got);
        }
      }
      GradientsOf<TypeParam> got(problem.call);
      PlannedCall call;
      ASSERT_TRUE(begin(problem.call, got.views(), 2, {}, &call).ok());
      run_backwards(call);
      expect_same_bits(expected, got);
    }
  }
}

template <class F>
class PlannedAdditive : public testing::Test {};
TYPED_TEST_SUITE(PlannedAdditive, Families);

TYPED_TEST(PlannedAdditive, HasTheBitsOfTheWholeCall) {
  using Q = typename TypeParam::Q;
  for (const AttentionShape& shape : Planned<TypeParam>::shapes()) {
    for (const Features& features : {kPlain, kAllFeatures}) {
      const AdditiveProblem<TypeParam> problem(shape, features, 7, 1, 0.25);
      const BackwardCall& c = problem.call;
      const AdditiveParameters parameters = problem.parameters.views();
      Result<Q> expected(c);
      attend(c, problem.parameters, expected.outputs());
      const AdditiveGradientsOf<TypeParam> expected_gradients = gradients_of<TypeParam>(c, problem.parameters);
      for (const int64_t workers : {1, 3}) {
        Result<Q> got(c);
        AdditiveGradientsOf<TypeParam> got_gradients(c, problem.parameters);
        PlannedCall forward, backward;
        Status status =
            begin_additive_attention(c.q, c.k, c.v, parameters, got.outputs(), c.options, workers, {}, &forward);
        ASSERT_TRUE(status.ok()) << status.message();
        status = begin_additive_attention_backward(c.q, c.k, c.v, parameters, c.o, c.lse, c.d_o, got_gradients.views(),
                                                   c.options, workers, {}, &backward);
        ASSERT_TRUE(status.ok()) << status.message();
        run(forward, workers, 3);
        run(backward, workers, 3);
        expect_same_bits(expected, got);
        expect_same_bits(expected_gradients, got_gradients);
      }
    }
  }
}

TEST(PlannedLinear, HasTheBitsOfTheWholeCall) {
  for (const AttentionShape& shape :
       {AttentionShape{.b = 4, .h_q = 2, .h_kv = 1, .n_q = 70, .n_kv = 1100, .d_k = 9, .d_v = 5},
        AttentionShape{.h_q = 1, .h_kv = 1, .n_q = 2050, .n_kv = 2100, .d_k = 8, .d_v = 3}}) {
    const Problem<float> problem(shape, kPlain);
    const Call& c = problem.call;
    const Result<float> d_o = attend<float>(c);  // some numbers of o's shape
    const ConstTensor gradient = view(d_o.o.data(), d_o.b, d_o.h, d_o.n, d_o.d);
    for (const bool causal : {false, true}) {
      const LinearOptions options = {.causal = causal};
      const auto views = [](GradientsOf<Floats>& g) {
        const AttentionGradients all = g.views();
        return LinearGradients{.dq = all.dq, .dk = all.dk, .dv = all.dv};
      };
      Result<float> expected(c);
      GradientsOf<Floats> expected_gradients(c);
      ASSERT_TRUE(linear_attention(c.q, c.k, c.v, expected.outputs().o, options).ok());
      ASSERT_TRUE(linear_attention_backward(c.q, c.k, c.v, gradient, views(expected_gradients), options).ok());
      for (const int64_t workers : {1, 3}) {
        Result<float> got(c);
        GradientsOf<Floats> got_gradients(c);
        PlannedCall forward, backward;
        ASSERT_TRUE(begin_linear_attention(c.q, c.k, c.v, got.outputs().o, options, workers, {}, &forward).ok());
        ASSERT_TRUE(begin_linear_attention_backward(c.q, c.k, c.v, gradient, views(got_gradients), options, workers, {},
                                                    &backward)
                        .ok());
        run(forward, workers, 3);
        run(backward, workers, 3);
        expect_same_bits(expected.o, got.o, "o");
        expect_same_bits(expected_gradients, got_gradients);
      }
    }
  }
}

TEST(PlannedCall, MayBeRunAgainOnOtherNumbers) {
  const AttentionShape shape = {.n_q = 50, .n_kv = 2100, .d_k = 8, .d_v = 5};
  Problem<float> problem(shape, kAllFeatures);
  Result<float> got(problem.call);
  PlannedCall call;
  ASSERT_TRUE(begin(problem.call, got.outputs(), 2, {}, &call).ok());
  for (int again = 0; again < 3; ++again) {
    for (float& x : problem.q) x *= 1.25f;
    problem.v[0] += 1;
    run(call, 2, 5);
    expect_same_bits(attend<float>(problem.call), got);
  }
}

TEST(PlannedCall, MayBeRunAgainOnOtherValuesOfBfloat16) {
  constexpr int64_t kHeads = 2, kQueries = 150, kKeys = 300, kDim = 16;
  std::vector<BFloat16> q(kHeads * kQueries * kDim), k(kHeads * kKeys * kDim), v(k.size()), o(q.size()),
      whole(q.size());
  std::mt19937 random(7);
  const auto fill = [&random](std::vector<BFloat16>& x) {
    for (BFloat16& element : x) element = BFloat16(std::normal_distribution<float>()(random));
  };
  const auto keys = [](const std::vector<BFloat16>& x) { return view(x.data(), 1, kHeads, kKeys, kDim); };
  const auto rows = [](auto& x) { return view(x.data(), 1, kHeads, kQueries, kDim); };
  fill(q), fill(k);
  trial::on_each_target([&] {
    PlannedCall call;
    ASSERT_TRUE(begin_attention(rows(std::as_const(q)), keys(k), keys(v), {.o = rows(o)}, {}, 2, {}, &call).ok());
    for (int again = 0; again < 3; ++again) {
      fill(v);
      run(call, 2, 2);
      ASSERT_TRUE(attention(rows(std::as_const(q)), keys(k), keys(v), {.o = rows(whole)}).ok());
      EXPECT_EQ(std::memcmp(o.data(), whole.data(), o.size() * sizeof(BFloat16)), 0);
    }
  });
}

TEST(PlannedCall, AllocatesNothingWithAWorkspace) {
  const BackwardProblem<Floats> problem({.h_q = 2, .n_q = 50, .n_kv = 2100, .d_k = 8, .d_v = 5}, kAllFeatures);
  const Result<float> expected = attend<float>(problem.call);
  const GradientsOf<Floats> expected_gradients = gradients_of<Floats>(problem.call);
  AttentionPlan plan;
  ASSERT_TRUE(attention_plan({.h_q = 2, .n_q = 50, .n_kv = 2100, .d_k = 8, .d_v = 5}, 2, &plan).ok());
  Result<float> got(problem.call);
  GradientsOf<Floats> got_gradients(problem.call);
  const AttentionGradients gradients = got_gradients.views();
  for (const size_t shift : {0, 1, 63}) {
    std::vector<char> memory(plan.workspace_bytes + PlannedCall::kBytes + shift);
    std::vector<char> more(plan_of(problem.call, gradients, 2).workspace_bytes + PlannedCall::kBytes + shift);
    const Execution execution = {.workspace = memory.data() + shift, .workspace_bytes = memory.size() - shift};
    const Execution of_backward = {.workspace = more.data() + shift, .workspace_bytes = more.size() - shift};
    Status status, backward_status;
    EXPECT_EQ(allocations_of([&] {
                PlannedCall call, backward;
                status = begin(problem.call, got.outputs(), 2, execution, &call);
                backward_status = begin(problem.call, gradients, 2, of_backward, &backward);
                for (PlannedCall* one : {&call, &backward}) {
                  for (int64_t r = 0; r < one->rounds(); ++r) (void)one->run(r, 0, one->tasks(r), r % 2);
                }
              }),
              0);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(backward_status.ok()) << backward_status.message();
    expect_same_bits(expected, got);
    expect_same_bits(expected_gradients, got_gradients);
  }
}

TEST(PlannedCall, AWorkspaceTooSmallIsRefused) {
  const Problem<float> problem({.n_q = 50, .n_kv = 210, .d_k = 8, .d_v = 5}, kPlain);
  Result<float> got(problem.call);
  char memory[1000];
  PlannedCall call;
  const Status status =
      begin(problem.call, got.outputs(), 1, {.workspace = memory, .workspace_bytes = sizeof(memory)}, &call);
  EXPECT_EQ(status.code(), StatusCode::workspace_too_small);
  EXPECT_NE(std::strstr(status.message(), "workspace: 1000 bytes; this call needs "), nullptr) << status.message();
  EXPECT_EQ(call.rounds(), 0);
}

TEST(PlannedCall, ArgumentsAreThoseOfTheWholeCall) {
  const Problem<float> problem({.n_q = 5, .n_kv = 7, .d_k = 8, .d_v = 5}, kPlain);
  Result<float> got(problem.call);
  PlannedCall call;
  Call wrong = problem.call;
  wrong.options.softcap = -1;
  const Status status = begin(wrong, got.outputs(), 1, {}, &call);
  EXPECT_STREQ(status.message(), attention(wrong.q, wrong.k, wrong.v, got.outputs(), wrong.options).message());
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(begin(problem.call, got.outputs(), 0, {}, &call).message(), "workers: 0 workers; expected 1 to 65536");
  EXPECT_STREQ(begin(problem.call, got.outputs(), 1, {}, nullptr).message(), "call: the pointer is null");
}

TEST(PlannedCall, RangesOutsideARoundAreRefusedAndRunNothing) {
  const Problem<float> problem({.h_q = 3, .h_kv = 3, .n_q = 5, .n_kv = 7, .d_k = 8, .d_v = 5}, kPlain);
  Result<float> got(problem.call);
  PlannedCall call;
  ASSERT_TRUE(begin(problem.call, got.outputs(), 2, {}, &call).ok());
  ASSERT_EQ(call.rounds(), 1);
  ASSERT_EQ(call.tasks(0), 3);
  EXPECT_EQ(call.tasks(1), 0);
  EXPECT_EQ(call.tasks(-1), 0);
  constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
  EXPECT_STREQ(call.run(1, 0, 1, 0).message(), "round: 1; expected 0 to 0");
  EXPECT_STREQ(call.run(-1, 0, 1, 0).message(), "round: -1; expected 0 to 0");
  EXPECT_STREQ(call.run(0, 0, 1, 2).message(), "worker: 2; expected 0 to 1");
  EXPECT_STREQ(call.run(0, 4, 0, 0).message(), "first: 4; expected 0 to 3");
  EXPECT_STREQ(call.run(0, 1, 3, 0).message(), "count: 3; expected 0 to 2");
  for (const int64_t wild : {kMost, kLeast, int64_t{-1}}) {
    EXPECT_FALSE(call.run(wild, 0, 1, 0).ok());
    EXPECT_FALSE(call.run(0, wild, 1, 0).ok());
    EXPECT_FALSE(call.run(0, 1, wild, 0).ok());
    EXPECT_FALSE(call.run(0, 0, 1, wild).ok());
  }
  expect_same_bits(Result<float>(problem.call), got);
  EXPECT_TRUE(call.run(0, 3, 0, 0).ok());
  EXPECT_STREQ(PlannedCall().run(0, 0, 0, 0).message(), "round: 0; the call has none");
}

TEST(PlannedCall, StopsAndCounts) {
  const Problem<float> problem({.h_q = 8, .h_kv = 8, .n_q = 5, .n_kv = 7, .d_k = 8, .d_v = 5}, kPlain);
  Result<float> got(problem.call);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> progress = 0;
  PlannedCall call;
  ASSERT_TRUE(begin(problem.call, got.outputs(), 1, {.stop = &stop, .progress = &progress}, &call).ok());
  EXPECT_TRUE(call.run(0, 0, 3, 0).ok());
  EXPECT_EQ(progress, 3);
  stop = true;
  EXPECT_EQ(call.run(0, 3, 5, 0).code(), StatusCode::cancelled);
  EXPECT_EQ(progress, 3);
  EXPECT_EQ(call.status().code(), StatusCode::cancelled);
}

TEST(PlannedCall, MovesAndEnds) {
  const Problem<float> problem({.n_q = 5, .n_kv = 7, .d_k = 8, .d_v = 5}, kPlain);
  const Result<float> expected = attend<float>(problem.call);
  Result<float> got(problem.call);
  PlannedCall first;
  ASSERT_TRUE(begin(problem.call, got.outputs(), 1, {}, &first).ok());
  PlannedCall second = std::move(first);
  EXPECT_EQ(first.rounds(), 0);  // NOLINT(bugprone-use-after-move): that is what is asked
  first = std::move(second);
  run(first, 1, 100);
  expect_same_bits(expected, got);
}

TEST(PlannedCall, WithoutRowsHasNoRounds) {
  const Problem<float> problem({.n_q = 0, .n_kv = 7, .d_k = 8, .d_v = 5}, kPlain);
  Result<float> got(problem.call);
  PlannedCall call;
  const Status status = begin(problem.call, got.outputs(), 1, {}, &call);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(call.rounds(), 0);
}

}  // namespace
}  // namespace foveate
