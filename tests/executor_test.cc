// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What an executor promises (foveate/executor.h), asked of each there is, and calls that meet in one.
#include "foveate/executor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "tests/backward_call.h"
#include "tests/call.h"

namespace foveate {
namespace {

/// Runs body(task, worker) for each task.
template <class Body>
void run(Executor& executor, int64_t n_tasks, Body body) {
  executor.run(
      n_tasks, [](void* context, int64_t task, int64_t worker) { (*static_cast<Body*>(context))(task, worker); },
      &body);
}

template <class E>
class ExecutorTest : public testing::Test {};
#ifdef FOVEATE_TESTS_TBB
using Executors = testing::Types<ThreadExecutor, TbbExecutor>;
#else
using Executors = testing::Types<ThreadExecutor>;
#endif
TYPED_TEST_SUITE(ExecutorTest, Executors);

TYPED_TEST(ExecutorTest, HasAtMostTheWorkersAskedFor) {
  EXPECT_EQ(TypeParam(1).concurrency(), 1);
  for (const int workers : {2, 3, 7}) {
    EXPECT_GE(TypeParam(workers).concurrency(), 1);
    EXPECT_LE(TypeParam(workers).concurrency(), workers);
  }
}

TYPED_TEST(ExecutorTest, RunsEachTaskOnce) {
  for (const int workers : {1, 2, 3, 7}) {
    TypeParam executor(workers);
    for (const int64_t n_tasks : {0, 1, 2, 7, 1000}) {
      std::vector<int> times(static_cast<size_t>(n_tasks));  // unsynchronised: what tasks wrote is the caller's to see
      std::atomic<bool> out_of_range = false;
      run(executor, n_tasks, [&](int64_t task, int64_t worker) {
        if (worker < 0 || worker >= executor.concurrency()) out_of_range = true;
        ++times[static_cast<size_t>(task)];
      });
      EXPECT_EQ(times, std::vector<int>(static_cast<size_t>(n_tasks), 1));
      EXPECT_FALSE(out_of_range);
    }
  }
}

TYPED_TEST(ExecutorTest, OneTaskAtATimeOnAWorker) {
  TypeParam executor(4);
  std::vector<int64_t> sums(static_cast<size_t>(executor.concurrency()));  // unsynchronised, as scratch memory is
  std::vector<std::atomic<bool>> busy(sums.size());
  std::atomic<bool> met = false;
  run(executor, 2000, [&](int64_t task, int64_t worker) {
    const size_t w = static_cast<size_t>(worker);
    if (busy[w].exchange(true)) met = true;
    sums[w] += task;
    if (task % 64 == 0) std::this_thread::yield();
    busy[w] = false;
  });
  EXPECT_FALSE(met);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), 2000 * 1999 / 2);
}

TYPED_TEST(ExecutorTest, RunsTasksAtOnce) {
  TypeParam executor(2);
  if (executor.concurrency() < 2) GTEST_SKIP() << "one processor";
  // Each of two tasks waits for the other: what a real task must never do, and the only proof.
  std::atomic<int> there = 0;
  std::atomic<bool> alone = false;
  run(executor, 2, [&](int64_t, int64_t) {
    ++there;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (there < 2) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > deadline) alone = true;
      if (alone) break;
    }
  });
  EXPECT_FALSE(alone);
}

TYPED_TEST(ExecutorTest, RunsAgainAndAgain) {
  TypeParam executor(3);
  int64_t total = 0;
  for (int round = 0; round < 500; ++round) {
    std::atomic<int64_t> count = 0;
    run(executor, round % 5, [&](int64_t, int64_t) { ++count; });
    total += count;
  }
  EXPECT_EQ(total, 100 * (0 + 1 + 2 + 3 + 4));
}

TYPED_TEST(ExecutorTest, CallsFromSeveralThreadsDoNotMix) {
  TypeParam executor(3);
  constexpr int kThreads = 4, kTasks = 300;
  std::vector<std::vector<int>> times(kThreads, std::vector<int>(kTasks));
  std::vector<std::atomic<bool>> busy(static_cast<size_t>(executor.concurrency()));
  std::atomic<bool> met = false;
  std::vector<std::thread> threads;
  for (auto& mine : times) {
    threads.emplace_back([&] {
      run(executor, kTasks, [&](int64_t task, int64_t worker) {
        if (busy[static_cast<size_t>(worker)].exchange(true)) met = true;
        ++mine[static_cast<size_t>(task)];
        busy[static_cast<size_t>(worker)] = false;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(met);
  for (const auto& mine : times) EXPECT_EQ(mine, std::vector<int>(kTasks, 1));
}

TYPED_TEST(ExecutorTest, RunsWithinATaskOfAnother) {
  TypeParam outer(2);
  std::vector<std::unique_ptr<TypeParam>> inner;
  for (int64_t worker = 0; worker < outer.concurrency(); ++worker) inner.push_back(std::make_unique<TypeParam>(2));
  std::atomic<int64_t> count = 0;
  run(outer, 20, [&](int64_t, int64_t worker) {
    run(*inner[static_cast<size_t>(worker)], 10, [&](int64_t, int64_t) { ++count; });
  });
  EXPECT_EQ(count, 200);
  // All tasks of one executor in one other.
  TypeParam shared(2);
  count = 0;
  run(outer, 20, [&](int64_t, int64_t) { run(shared, 10, [&](int64_t, int64_t) { ++count; }); });
  EXPECT_EQ(count, 200);
}

TYPED_TEST(ExecutorTest, AttentionFromSeveralThreadsAtOnce) {
  constexpr size_t kThreads = 4;
  TypeParam executor(3);
  const AttentionShape shapes[] = {{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 60, .n_kv = 150, .d_k = 8, .d_v = 5},
                                   {.n_q = 48, .n_kv = 3000, .d_k = 8, .d_v = 8}};
  for (const AttentionShape& shape : shapes) {
    const Problem<float> problem(shape, kAllFeatures);
    const Result<float> expected = attend<float>(problem.call);
    std::vector<Result<float>> results(kThreads, Result<float>(problem.call));
    std::vector<Status> statuses(kThreads);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        const Execution execution = {.executor = i % 2 == 0 ? &executor : nullptr};
        for (int round = 0; round < 5 && statuses[i].ok(); ++round) {
          statuses[i] = attention(problem.call.q, problem.call.k, problem.call.v, results[i].outputs(),
                                  problem.call.options, execution);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < kThreads; ++i) {
      EXPECT_TRUE(statuses[i].ok()) << statuses[i].message();
      expect_same_bits(expected, results[i]);
    }
  }
}

TYPED_TEST(ExecutorTest, AttentionWithinATask) {
  TypeParam outer(2), shared(2);
  const Problem<float> problem({.h_q = 2, .h_kv = 1, .n_q = 60, .n_kv = 150, .d_k = 8, .d_v = 5}, kPlain);
  const Result<float> expected = attend<float>(problem.call);
  std::vector<Result<float>> results(8, Result<float>(problem.call));
  std::vector<Status> statuses(8);
  run(outer, 8, [&](int64_t task, int64_t) {
    const size_t i = static_cast<size_t>(task);
    statuses[i] = attention(problem.call.q, problem.call.k, problem.call.v, results[i].outputs(), problem.call.options,
                            {.executor = &shared});
  });
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(statuses[i].ok()) << statuses[i].message();
    expect_same_bits(expected, results[i]);
  }
}

TYPED_TEST(ExecutorTest, GradientsFromSeveralThreadsAtOnce) {
  using Floats = Family<float, float>;
  constexpr size_t kThreads = 4;
  TypeParam executor(3);
  // A task a unit; pairs of chunks shared out.
  const AttentionShape shapes[] = {{.b = 3, .h_q = 8, .h_kv = 4, .n_q = 30, .n_kv = 70, .d_k = 8, .d_v = 5},
                                   {.h_q = 2, .h_kv = 1, .n_q = 260, .n_kv = 520, .d_k = 8, .d_v = 8}};
  for (const AttentionShape& shape : shapes) {
    const BackwardProblem<Floats> problem(shape, kAllFeatures, 0.25);
    const GradientsOf<Floats> expected = gradients_of<Floats>(problem.call);
    std::vector<GradientsOf<Floats>> results(kThreads, GradientsOf<Floats>(problem.call));
    std::vector<Status> statuses(kThreads);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        const Execution execution = {.executor = i % 2 == 0 ? &executor : nullptr};
        for (int round = 0; round < 2 && statuses[i].ok(); ++round) {
          statuses[i] = differentiate(problem.call, results[i].views(), execution);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < kThreads; ++i) {
      EXPECT_TRUE(statuses[i].ok()) << statuses[i].message();
      expect_same_bits(expected, results[i]);
    }
  }
}

/// Sets its flag a little after each task began, from a thread of its own.
class LateStop final : public Executor {
 public:
  int64_t concurrency() const override { return 1; }
  void run(int64_t n_tasks, Task task, void* context) override {
    for (int64_t t = 0; t < n_tasks; ++t) {
      std::thread late([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        stop = wanted.load();
      });
      task(context, t, 0);
      late.join();
    }
  }
  std::atomic<bool> stop = false, wanted = false;
};

// A head of one sequence is one task of the backward pass, minutes long where the sequence is.
TEST(Stopping, AHeadsGradientsStopInTheMiddle) {
  constexpr int64_t kLength = 6000, kDim = 8;
  const std::vector<float> zeros(kLength * kDim), lse(kLength, std::log(float{kLength}));
  const auto input = [](const std::vector<float>& x, int64_t d) { return view(x.data(), 1, 1, kLength, d); };
  std::vector<float> dq(kLength * kDim, 7);
  LateStop executor;
  for (const bool stop : {true, false}) {
    executor.wanted = stop;
    executor.stop = false;
    const ConstTensor q = input(zeros, kDim);
    const Status status = attention_backward(q, q, q, q, input(lse, 1), q, {.dq = view(dq.data(), 1, 1, kLength, kDim)},
                                             {}, {.executor = &executor, .stop = &executor.stop});
    EXPECT_EQ(status.code(), stop ? StatusCode::cancelled : StatusCode::ok);
    EXPECT_EQ(dq, std::vector<float>(dq.size(), stop ? 7.0f : 0.0f));
  }
}

#ifdef FOVEATE_TESTS_TBB
TEST(TbbExecutorTest, TakesWhatProcessorsThereAre) {
  EXPECT_GE(TbbExecutor().concurrency(), 1);
  EXPECT_EQ(TbbExecutor(0).concurrency(), TbbExecutor().concurrency());
  EXPECT_EQ(TbbExecutor(-3).concurrency(), TbbExecutor().concurrency());
}

int64_t resident_kib() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

TEST(TbbExecutorTest, OneAfterAnotherTakesNoMemory) {
  const auto calls = [](int n) {
    for (int i = 0; i < n; ++i) {
      TbbExecutor executor(2);
      run(executor, 6, [](int64_t, int64_t) {});
    }
  };
  calls(100);
  const int64_t before = resident_kib();
  calls(6000);
  EXPECT_LT(resident_kib() - before, 4096);  // 7 KiB for each would be 42 MiB
}

// An executor made before the fork, and one of the child's own.
TEST(TbbExecutorTest, InAForkedProcessTheCallingThreadDoesAll) {
  TbbExecutor before(2);
  run(before, 100, [](int64_t, int64_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    bool right = true;
    const auto all_here = [&](Executor& executor) {
      int done = 0;  // unsynchronised
      const std::thread::id here = std::this_thread::get_id();
      run(executor, 100, [&](int64_t, int64_t worker) {
        right = right && worker == 0 && std::this_thread::get_id() == here;
        ++done;
      });
      right = right && done == 100;
    };
    all_here(before);
    TbbExecutor after(2);
    right = right && after.concurrency() == 1;
    all_here(after);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

}  // namespace
}  // namespace foveate
