// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How a backward pass is cut: each pair of chunks met once, by nobody else at the time, and a workspace that holds what
// any call of its shape needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "foveate/attention_backward.h"
#include "src/backward_plan.h"
#include "src/kernels/backward.h"
#include "tests/backward_call.h"

namespace foveate {
namespace {

using kernels::kChunkKeys;

constexpr BackwardPlanInputs kInputs = {.lanes = 16,
                                        .tile_vectors = 3,
                                        .element_size = 4,
                                        .row_size = 128,
                                        .phase = 0,
                                        .workers = 1,
                                        .query_rows = 0,
                                        .products = true,
                                        .sinks = false,
                                        .tanh = false,
                                        .bias_shape = nullptr};

BackwardPlanInputs with_workers(int64_t workers) {
  BackwardPlanInputs inputs = kInputs;
  inputs.workers = workers;
  return inputs;
}

constexpr int64_t kLengths[] = {0, 1, 479, 480, 481, 511, 512, 513, 961, 1024, 1025, 2400, 2401, 5000};

// --- Chunks ---

/// The rule of backward_plan.h, played through.
void expect_each_pair_once(const Chunks& chunks) {
  std::vector<int> times(static_cast<size_t>(chunks.keys * chunks.rows));
  for (int64_t round = 0; round < chunks.rounds; ++round) {
    std::vector<int> rows_met(static_cast<size_t>(chunks.rows));
    for (int64_t keys = 0; keys < chunks.keys; ++keys) {
      const int64_t rows = (keys + round) % chunks.rounds;
      if (rows >= chunks.rows) continue;
      EXPECT_EQ(++rows_met[rows], 1) << "round " << round;
      ++times[keys * chunks.rows + rows];
    }
  }
  EXPECT_EQ(std::count(times.begin(), times.end(), 1), chunks.keys * chunks.rows);
}

TEST(BackwardPlan, EachPairOfChunksMeetsOnceAndNoneInARoundShareOne) {
  for (const int64_t n_q : kLengths) {
    for (const int64_t n_kv : kLengths) {
      for (const int64_t group : {1, 2, 3, 7}) {
        SCOPED_TRACE(testing::Message() << n_q << " x " << group << " rows, " << n_kv << " keys");
        expect_each_pair_once(make_backward_plan({1, group, 1, n_q, n_kv, 8, 8}, kInputs).chunks);
      }
    }
  }
}

TEST(BackwardPlan, RowsAreCutIntoWholeTiles) {
  for (const int64_t lanes : {1, 2, 4, 8, 16, 64, 256}) {
    for (const int64_t n_q : kLengths) {
      for (const int64_t group : {1, 2, 3, 7}) {
        BackwardPlanInputs inputs = kInputs;
        inputs.lanes = lanes;
        const BackwardPlan plan = make_backward_plan({1, 2 * group, 2, n_q, 100, 8, 8}, inputs);
        ASSERT_EQ(plan.group, group);
        ASSERT_EQ(plan.tile_rows, 3 * lanes);
        ASSERT_EQ(plan.chunk_rows % plan.tile_rows, 0);
        if (plan.tile_rows <= kernels::kChunkRows) {
          ASSERT_LE(plan.chunk_rows, kernels::kChunkRows);
          ASSERT_GT(plan.chunk_rows + plan.tile_rows, kernels::kChunkRows);
        } else {
          ASSERT_EQ(plan.chunk_rows, plan.tile_rows);
        }
        ASSERT_GE(plan.chunks.rows * plan.chunk_rows, group * n_q);
        ASSERT_LT((plan.chunks.rows - 1) * plan.chunk_rows, group * n_q);
      }
    }
  }
}

TEST(BackwardPlan, KeysAreCutAtAbsolutePlaces) {
  const auto chunks = [](int64_t phase, int64_t n_kv) {
    BackwardPlanInputs inputs = kInputs;
    inputs.phase = phase;
    return make_backward_plan({1, 1, 1, 1, n_kv, 8, 8}, inputs).chunks.keys;
  };
  EXPECT_EQ(chunks(0, 0), 0);
  EXPECT_EQ(chunks(1000, 0), 0);
  EXPECT_EQ(chunks(0, 1), 1);
  EXPECT_EQ(chunks(0, 512), 1);
  EXPECT_EQ(chunks(0, 513), 2);
  EXPECT_EQ(chunks(1, 512), 2);
  EXPECT_EQ(chunks(511, 1), 1);
  EXPECT_EQ(chunks(511, 2), 2);
  EXPECT_EQ(chunks(1023, 2), 3);
}

TEST(BackwardPlan, AShorterSequenceIsCutLikeOneOfItsOwn) {
  const BackwardPlan longest = make_backward_plan({3, 2, 1, 5000, 5000, 8, 8}, kInputs);
  for (const int64_t n_q : kLengths) {
    for (const int64_t n_kv : kLengths) {
      const Chunks own = make_backward_plan({1, 2, 1, n_q, n_kv, 8, 8}, kInputs).chunks;
      const Chunks among = longest.chunks_of(n_q, n_kv);
      ASSERT_EQ(among.keys, own.keys);
      ASSERT_EQ(among.rows, own.rows);
      ASSERT_EQ(among.rounds, own.rounds);
      ASSERT_LE(among.rounds, longest.chunks.rounds);
    }
  }
}

// --- Tasks ---

TEST(BackwardPlan, PairsOfChunksAreSharedWhereUnitsAreFew) {
  const Extents one = {1, 4, 1, 500, 1500, 8, 8};  // 5 chunks of rows, 3 of keys
  const BackwardPlan alone = make_backward_plan(one, kInputs);
  EXPECT_FALSE(alone.share_pairs) << "nobody to share with";
  EXPECT_EQ(alone.units, 1);
  EXPECT_EQ(alone.tasks, 1);
  const BackwardPlan shared = make_backward_plan(one, with_workers(2));
  EXPECT_TRUE(shared.share_pairs);
  EXPECT_EQ(shared.chunks.rows, 5);
  EXPECT_EQ(shared.chunks.keys, 3);
  EXPECT_EQ(shared.chunks.rounds, 5);
  EXPECT_EQ(shared.tasks, 5 * 3 + 2 * 5);
  EXPECT_EQ(shared.slots(2), 1) << "each unit's sums are held at a time";
  EXPECT_EQ(alone.slots(1), 1);

  const BackwardPlan seven = make_backward_plan({7, 4, 1, 500, 1500, 8, 8}, with_workers(2));
  EXPECT_TRUE(seven.share_pairs);
  EXPECT_EQ(seven.tasks, 7 * (5 * 3 + 2 * 5));
  EXPECT_EQ(seven.slots(2), 7);
  const BackwardPlan eight = make_backward_plan({4, 8, 2, 500, 1500, 8, 8}, with_workers(2));
  EXPECT_FALSE(eight.share_pairs) << "units enough";
  EXPECT_EQ(eight.tasks, 8);
  EXPECT_EQ(eight.slots(2), 2);
  EXPECT_FALSE(make_backward_plan({1, 1, 1, 480, 512, 8, 8}, with_workers(9)).share_pairs) << "one pair";
  EXPECT_TRUE(make_backward_plan({1, 1, 1, 481, 512, 8, 8}, with_workers(9)).share_pairs);
  EXPECT_TRUE(make_backward_plan({1, 1, 1, 480, 513, 8, 8}, with_workers(9)).share_pairs);
}

TEST(BackwardPlan, RowsArePreparedInTasksOfTheirOwn) {
  BackwardPlanInputs inputs = kInputs;
  for (const int64_t rows : {0, 1, 512, 513, 5000}) {
    inputs.query_rows = rows;
    const BackwardPlan plan = make_backward_plan({1, 1, 1, 10, 10, 8, 8}, inputs);
    EXPECT_EQ(plan.prepare_tasks, (rows + kPreparedRows - 1) / kPreparedRows);
    EXPECT_EQ(plan.tasks, plan.prepare_tasks + 1);
    EXPECT_GE(plan.prepared, rows * 2 * 4);
  }
}

TEST(BackwardPlan, ABiasHasATaskForEachTileOfRowsAndChunkOfKeys) {
  const Extents e = {2, 4, 2, 100, 1100, 8, 8};  // 3 tiles of 48 rows, 3 chunks of 512 keys
  const auto tasks = [&e](std::array<int64_t, 4> shape, bool products) {
    BackwardPlanInputs inputs = kInputs;
    inputs.products = products;
    inputs.bias_shape = shape.data();
    const BackwardPlan plan = make_backward_plan(e, inputs);
    EXPECT_EQ(plan.tasks, plan.units + plan.bias.count());
    EXPECT_EQ(plan.units, products ? 4 : 0);
    EXPECT_GE(plan.bias_sums, kChunkKeys * 48 * 4 + 48 * 8);
    return plan.bias.count();
  };
  for (const bool products : {false, true}) {
    EXPECT_EQ(tasks({2, 4, 100, 1100}, products), 2 * 4 * 3 * 3);
    EXPECT_EQ(tasks({1, 4, 100, 1100}, products), 4 * 3 * 3);
    EXPECT_EQ(tasks({2, 1, 1, 1100}, products), 2 * 3);
    EXPECT_EQ(tasks({2, 1, 100, 1}, products), 2 * 3);
    EXPECT_EQ(tasks({1, 1, 1, 1}, products), 1);
    EXPECT_EQ(tasks({1, 1, 100, 0}, products), 0);
    EXPECT_EQ(tasks({0, 4, 100, 1100}, products), 0);
  }
}

TEST(BackwardPlan, SinksHaveATaskAHead) {
  BackwardPlanInputs inputs = kInputs;
  inputs.sinks = true;
  EXPECT_EQ(make_backward_plan({3, 8, 2, 10, 10, 8, 8}, inputs).tasks, 3 * 2 + 8);
  inputs.products = false;
  const BackwardPlan plan = make_backward_plan({3, 8, 2, 10, 10, 8, 8}, inputs);
  EXPECT_EQ(plan.tasks, 8);
  EXPECT_EQ(plan.dq + plan.dk + plan.dv, 0) << "no products, no sums";
}

TEST(BackwardPlan, NoKeys) {
  const BackwardPlan plan = make_backward_plan({1, 1, 1, 1000, 0, 8, 8}, with_workers(4));
  EXPECT_EQ(plan.chunks.keys, 0);
  EXPECT_EQ(plan.chunks.rows, 3);
  EXPECT_TRUE(plan.share_pairs);
  EXPECT_EQ(plan.tasks, 2 * 3) << "zeros are begun and put out all the same";
}

// --- Workspace ---

/// All gradients of a call of that shape but dbias.
AttentionGradients all_of(const AttentionShape& shape) {
  return {.dq = {nullptr, shape.dtype},
          .dk = {nullptr, shape.dtype},
          .dv = {nullptr, shape.dtype},
          .dsinks = {nullptr, shape.dtype, shape.h_q, 1}};
}

AttentionBackwardPlan planned(const AttentionShape& shape, int64_t workers = 1) {
  AttentionBackwardPlan plan;
  const Status status = attention_backward_plan(shape, all_of(shape), workers, &plan);
  EXPECT_TRUE(status.ok()) << status.message();
  return plan;
}

size_t workspace(const AttentionShape& shape, int64_t workers = 1) { return planned(shape, workers).workspace_bytes; }

TEST(AttentionBackwardPlan, GrowsWithWorkersAndHeadDims) {
  for (const int64_t n : {100, 1500}) {
    const AttentionShape shape = {.h_q = 4, .h_kv = 2, .n_q = n, .n_kv = n, .d_k = 64, .d_v = 64};
    for (const int64_t workers : {16, 17, 50, 200}) EXPECT_LE(workspace(shape, workers), workspace(shape, workers + 1));
  }
  for (int64_t d = 1; d < 300; d += 17) {
    EXPECT_LE(workspace({.n_q = 60, .d_k = d, .d_v = 1}), workspace({.n_q = 60, .d_k = d + 17, .d_v = 1}));
    EXPECT_LE(workspace({.n_q = 60, .d_k = 1, .d_v = d}), workspace({.n_q = 60, .d_k = 1, .d_v = d + 17}));
  }
}

/// A call of one head reads 3 n d elements of q, k and v, n d of o and of d_o, and n of lse, and writes 3 n d.
int64_t input_bytes(int64_t n, int64_t d) { return (5 * n * d + n) * static_cast<int64_t>(sizeof(float)); }

TEST(AttentionBackwardPlan, IsLinearInTheLength) {
  constexpr int64_t kLong = 65536, kD = 64;
  const auto bytes = [](int64_t n) {
    return static_cast<int64_t>(workspace({.n_q = n, .n_kv = n, .d_k = kD, .d_v = kD}));
  };
  // Sums of dq, dk and dv, 3 n d elements of the 5 n d of the inputs, and what a worker has for itself.
  EXPECT_LE(bytes(kLong), input_bytes(kLong, kD) * 62 / 100) << bytes(kLong) << " beside " << input_bytes(kLong, kD);
  EXPECT_GE(bytes(kLong), 3 * kLong * kD * 4);
  for (int64_t n = 1024; n <= kLong; n *= 2) {
    const int64_t step = bytes(2 * n) - bytes(n);
    EXPECT_EQ(bytes(4 * n) - bytes(2 * n), 2 * step) << n;
  }
}

TEST(AttentionBackwardPlan, NothingToComputeIsNoTask) {
  for (const AttentionShape& shape : {AttentionShape{.b = 0}, AttentionShape{.h_q = 0, .h_kv = 0}}) {
    AttentionGradients products = all_of(shape);
    products.dsinks = {};  // 0, where there are heads but no rows
    for (const int64_t workers : {1, 3}) {
      AttentionBackwardPlan plan;
      ASSERT_TRUE(attention_backward_plan(shape, products, workers, &plan).ok());
      EXPECT_EQ(plan.tasks, 0);
      EXPECT_LE(plan.workspace_bytes, static_cast<size_t>(workers) * 128 * 1024) << "scratch alone";
    }
  }
}

TEST(AttentionBackwardPlan, RefusesWhatACallWould) {
  const auto expect = [](const AttentionShape& shape, int64_t workers, const char* message) {
    AttentionBackwardPlan plan = {.tasks = 77};
    const Status status = attention_backward_plan(shape, all_of(shape), workers, &plan);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_STREQ(status.message(), message);
    EXPECT_EQ(plan.tasks, 77);
  };
  expect({.dtype = DType::i8}, 1,
         "dtype: dtype int8 is not a float type; expected float32, float64, float16 or bfloat16");
  expect({.n_kv = -1}, 1, "k: extent -1 of axis 2 is negative");
  expect({.n_q = int64_t{1} << 60, .d_v = 2}, 1, "o: more than 2^60 elements");
  expect({.d_k = 0}, 1, "d_k: 0; expected at least 1");
  expect({.h_q = 3, .h_kv = 2}, 1, "q: 3 heads are not a multiple of k's 2");
  expect({.kv_offset = (int64_t{1} << 60) + 1}, 1, "kv_offset: 1152921504606846977 is past 2^60");
  expect({}, 65537, "workers: 65537 workers; expected 1 to 65536");
  expect({}, 0, "workers: 0 workers; expected 1 to 65536");
  const Status status = attention_backward_plan({}, {}, 1, nullptr);
  EXPECT_STREQ(status.message(), "plan: the pointer is null");
}

TEST(AttentionBackwardPlan, HostileExtentsDoNotOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 60, kLongest = int64_t{1} << 32;
  for (const int64_t workers : {1, 1000, 65536}) {
    for (const AttentionShape& shape :
         {AttentionShape{.b = kHuge}, AttentionShape{.h_q = kHuge}, AttentionShape{.h_q = kHuge, .h_kv = kHuge},
          AttentionShape{.n_q = kHuge}, AttentionShape{.n_kv = kHuge}, AttentionShape{.n_kv = kHuge / 4},
          AttentionShape{.n_q = kHuge, .n_kv = kHuge}, AttentionShape{.n_q = 48, .d_k = kLongest},
          AttentionShape{.n_q = 48, .d_v = kLongest},
          AttentionShape{.n_q = 48, .n_kv = int64_t{1} << 28, .d_k = kLongest, .d_v = kLongest, .dtype = DType::f64}}) {
      SCOPED_TRACE(testing::Message() << "b " << shape.b << " h " << shape.h_q << '/' << shape.h_kv << " n "
                                      << shape.n_q << ' ' << shape.n_kv << " d " << shape.d_k << '/' << shape.d_v
                                      << ", " << workers << " workers");
      AttentionBackwardPlan plan;
      const Status status = attention_backward_plan(shape, all_of(shape), workers, &plan);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_GT(plan.tasks, 0);
      // Sums of one unit, and two numbers of each row.
      const auto elements = static_cast<long double>(shape.h_q / shape.h_kv * shape.n_q * shape.d_k) +
                            static_cast<long double>(shape.n_kv) * static_cast<long double>(shape.d_k + shape.d_v) +
                            2 * static_cast<long double>(shape.b * shape.h_q * shape.n_q);
      const auto most = static_cast<long double>(std::numeric_limits<size_t>::max());
      EXPECT_GE(static_cast<long double>(plan.workspace_bytes), std::min(most, elements * size_of(shape.dtype)));
    }
  }
}

/// Random calls in a workspace of just the bytes that were planned, with a mark behind it.
template <class F>
void expect_enough(std::mt19937& random, Executor* executor) {
  const auto up_to = [&random](int64_t n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n + 1)); };
  const bool either = up_to(1) == 1;
  const int64_t h_kv = 1 + up_to(2);
  const AttentionShape shape = {.b = 1 + up_to(1),
                                .h_q = h_kv * (1 + up_to(3)),
                                .h_kv = h_kv,
                                .n_q = 1 + up_to(either ? 40 : 300),
                                .n_kv = up_to(either ? 1300 : 100),
                                .d_k = 1 + up_to(20),
                                .d_v = up_to(20)};
  const Features features = {.name = "random",
                             .causal = up_to(1) == 1,
                             .window = up_to(1) == 1,
                             .softcap = up_to(1) == 1,
                             .bias = up_to(1) == 1,
                             .mask = up_to(1) == 1,
                             .alibi = up_to(1) == 1,
                             .sinks = up_to(1) == 1};
  BackwardProblem<F> problem(shape, features, up_to(1) == 1 ? 0.25 : 0);
  if (up_to(1) == 0) {
    problem.problem.call.options.kv_offset = up_to(5000) - 2500;
    problem.attend();
  }
  BackwardCall& call = problem.call;
  if (up_to(1) == 0) call.options.bias.shape[up_to(3)] = 1;
  GradientsOf<F> gradients(call);
  AttentionGradients wanted = gradients.views();
  for (Tensor* gradient : {&wanted.dq, &wanted.dk, &wanted.dv, &wanted.dbias}) {
    if (up_to(3) == 0) *gradient = {};
  }
  if (!wanted.dq.present() && !wanted.dk.present() && !wanted.dv.present()) wanted.dq = gradients.views().dq;

  constexpr char kMark = 0x5A;
  const size_t bytes = plan_of(call, wanted, executor != nullptr ? executor->concurrency() : 1).workspace_bytes;
  std::vector<char> memory(bytes + 4096, kMark);
  const Status status =
      differentiate(call, wanted, {.executor = executor, .workspace = memory.data() + 1, .workspace_bytes = bytes});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(memory[0], kMark);
  EXPECT_TRUE(
      std::all_of(memory.begin() + 1 + static_cast<int64_t>(bytes), memory.end(), [](char c) { return c == kMark; }));
}

TEST(AttentionBackwardPlan, WorkspaceIsEnoughWhateverTheOptions) {
  std::mt19937 random(7);
  ThreadExecutor three(3);
  for (int i = 0; i < 100; ++i) {
    expect_enough<Family<float, float>>(random, i % 2 == 0 ? nullptr : &three);
    expect_enough<Family<double, double>>(random, i % 2 == 0 ? nullptr : &three);
    expect_enough<Family<BFloat16, BFloat16>>(random, i % 2 == 0 ? nullptr : &three);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace foveate
