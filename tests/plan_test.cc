// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How a call is cut: each row in exactly one tile, and a workspace that holds what any call of its shape needs.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "foveate/attention.h"
#include "src/kernels/tile.h"
#include "src/plan.h"
#include "tests/call.h"

namespace foveate {
namespace {

constexpr PlanInputs kInputs = {.lanes = 16,
                                .tile_vectors = 3,
                                .element_size = 4,
                                .row_size = 96,
                                .phase = 0,
                                .workers = 1,
                                .may_share_splits = true};

PlanInputs with_workers(int64_t workers) {
  PlanInputs inputs = kInputs;
  inputs.workers = workers;
  return inputs;
}

// --- Tiles ---

/// Every (batch, head, query) is in one tile, whose key head is its own, and no tile exceeds its rows.
void expect_exact_cover(const Extents& e, int64_t lanes) {
  PlanInputs inputs = kInputs;
  inputs.lanes = lanes;
  const Plan plan = make_plan(e, inputs);
  std::vector<int> times(static_cast<size_t>(e.b * e.h_q * e.n_q));
  for (int64_t t = 0; t < plan.tiles; ++t) {
    const TileRange tile = tile_at(plan, e, t);
    ASSERT_GE(tile.heads, 1);
    ASSERT_GE(tile.queries, 1);
    ASSERT_LE(tile.heads, plan.heads_per_tile);
    ASSERT_LE(tile.queries, plan.queries_per_tile);
    ASSERT_LE(tile.heads * tile.queries, plan.tile_rows);
    ASSERT_LE(tile.first_query + tile.queries, e.n_q);
    for (int64_t h = tile.first_head; h < tile.first_head + tile.heads; ++h) {
      ASSERT_LT(h, e.h_q);
      ASSERT_EQ(h / (e.h_q / e.h_kv), tile.kv_head);
      for (int64_t i = 0; i < tile.queries; ++i) {
        ++times[static_cast<size_t>((tile.batch * e.h_q + h) * e.n_q + tile.first_query + i)];
      }
    }
  }
  for (const int n : times) ASSERT_EQ(n, 1);
}

TEST(Plan, EachRowIsInOneTile) {
  for (const int64_t lanes : {1, 2, 4, 8, 16}) {
    for (const int64_t n_q : {1, 2, 3, 7, 11, 12, 13, 24, 47, 48, 49, 96, 97, 150}) {
      for (const int64_t h_kv : {1, 2, 3}) {
        for (const int64_t group : {1, 2, 3, 5, 8, 16, 50}) {
          SCOPED_TRACE(testing::Message() << lanes << " lanes, " << n_q << " queries, " << h_kv << " x " << group);
          expect_exact_cover({2, h_kv * group, h_kv, n_q, 64, 8, 8}, lanes);
        }
      }
    }
  }
}

TEST(Plan, AFullTileIsThreeVectors) {
  const Plan plan = make_plan({1, 1, 1, 1000, 1000, 64, 64}, kInputs);
  EXPECT_EQ(plan.tile_rows, 48);
  EXPECT_EQ(plan.queries_per_tile, 48);
  EXPECT_EQ(plan.heads_per_tile, 1);
  EXPECT_EQ(plan.query_tiles, 21);
  EXPECT_EQ(plan.tiles, 21);
}

TEST(Plan, HeadsOfAGroupShareATileWhereQueriesAreFew) {
  const Plan decode = make_plan({1, 32, 4, 1, 1000, 64, 64}, kInputs);
  EXPECT_EQ(decode.heads_per_tile, 8);
  EXPECT_EQ(decode.tiles, 4);
  const Plan wide = make_plan({1, 100, 1, 1, 1000, 64, 64}, kInputs);
  EXPECT_EQ(wide.heads_per_tile, 48);
  EXPECT_EQ(wide.head_tiles, 3);
  const Plan several = make_plan({1, 8, 1, 10, 1000, 64, 64}, kInputs);
  EXPECT_EQ(several.heads_per_tile, 4);
  EXPECT_EQ(several.tiles, 2);
  EXPECT_EQ(make_plan({1, 8, 1, 25, 1000, 64, 64}, kInputs).heads_per_tile, 1);
}

TEST(Plan, TilesThatShareKeysAreNeighboursAndTheLastQueriesComeFirst) {
  const Extents e = {2, 2, 2, 100, 100, 8, 8};
  const Plan plan = make_plan(e, kInputs);
  ASSERT_EQ(plan.tiles, 2 * 2 * 3);
  for (int64_t t = 0; t < plan.tiles; ++t) {
    const TileRange tile = tile_at(plan, e, t);
    EXPECT_EQ(tile.batch * 2 + tile.kv_head, t / 3);
    EXPECT_EQ(tile.first_query, (2 - t % 3) * 48);
  }
}

// --- Splits ---

TEST(Plan, SplitsAreCutAtAbsolutePlaces) {
  const auto splits = [](int64_t phase, int64_t n_kv) {
    PlanInputs inputs = kInputs;
    inputs.phase = phase;
    return make_plan({1, 1, 1, 1, n_kv, 8, 8}, inputs).splits;
  };
  EXPECT_EQ(splits(0, 0), 0);
  EXPECT_EQ(splits(0, 1), 1);
  EXPECT_EQ(splits(0, 1024), 1);
  EXPECT_EQ(splits(0, 1025), 2);
  EXPECT_EQ(splits(1, 1024), 2);
  EXPECT_EQ(splits(1023, 1), 1);
  EXPECT_EQ(splits(1023, 2), 2);
}

TEST(Plan, SplitsAreSharedWhereTilesAreFew) {
  const Extents row = {1, 1, 1, 1, 5000, 64, 64};
  const Plan shared = make_plan(row, with_workers(2));
  EXPECT_TRUE(shared.share_splits);
  EXPECT_EQ(shared.splits, 5);
  EXPECT_EQ(shared.tasks, 1 * 5 + 1);

  EXPECT_FALSE(make_plan(row, with_workers(1)).share_splits) << "nobody to share with";
  EXPECT_FALSE(make_plan({1, 1, 1, 1, 1024, 64, 64}, with_workers(2)).share_splits) << "one split";
  EXPECT_TRUE(make_plan({7, 1, 1, 1, 5000, 64, 64}, with_workers(2)).share_splits);
  EXPECT_FALSE(make_plan({8, 1, 1, 1, 5000, 64, 64}, with_workers(2)).share_splits) << "tiles enough";
  PlanInputs alone = with_workers(2);
  alone.may_share_splits = false;
  const Plan whole = make_plan(row, alone);
  EXPECT_FALSE(whole.share_splits);
  EXPECT_EQ(whole.tasks, whole.tiles);
}

TEST(Plan, SharedSplitsHaveABoundOnTheirMemory) {
  const Plan longest = make_plan({1, 1, 1, 1, int64_t{1} << 40, 64, 64}, with_workers(64));
  EXPECT_FALSE(longest.share_splits);
  for (const int64_t n_kv : {int64_t{10'000}, int64_t{1} << 20, int64_t{1} << 24, int64_t{1} << 30}) {
    const Plan plan = make_plan({1, 1, 1, 48, n_kv, 64, 64}, with_workers(64));
    EXPECT_LE(plan.workspace_bytes(1), size_t{34} << 20) << n_kv;
  }
}

TEST(Plan, KeepsPairsOfValuesWhereTilesShareKeys) {
  PlanInputs inputs = kInputs;
  const Extents e = {1, 8, 8, 2048, 2048, 64, 64};
  EXPECT_EQ(make_plan(e, inputs).kept_bytes, 0);
  inputs.may_keep_pairs = true;
  EXPECT_EQ(make_plan({1, 8, 8, 48, 2048, 64, 64}, inputs).kept_bytes, 0) << "one tile";
  const Plan plan = make_plan(e, inputs);
  EXPECT_EQ(plan.kept_blocks, 33);
  EXPECT_GE(plan.kept_bytes, 33 * 32 * 64 * 4);
  for (const int64_t phase : {1, 63, 64, 1023}) {
    inputs.phase = phase;
    EXPECT_EQ(make_plan(e, inputs).kept_bytes, plan.kept_bytes) << phase;
  }
  EXPECT_LE(make_plan({1, 8, 8, 2048, 1 << 20, 128, 128}, inputs).kept_bytes, 513 << 10);
  inputs.workers = 9;
  const Plan shared = make_plan({1, 1, 1, 96, 5000, 64, 64}, inputs);
  EXPECT_TRUE(shared.share_splits);
  EXPECT_EQ(shared.kept_bytes, 0);
}

TEST(Plan, NoKeys) {
  const Plan plan = make_plan({2, 4, 2, 60, 0, 8, 8}, with_workers(4));
  EXPECT_EQ(plan.splits, 0);
  EXPECT_FALSE(plan.share_splits);
  EXPECT_EQ(plan.tasks, plan.tiles);
  expect_exact_cover({2, 4, 2, 60, 0, 8, 8}, 4);
}

// --- Workspace ---

size_t workspace(const AttentionShape& shape, int64_t workers = 1) {
  AttentionPlan plan;
  const Status status = attention_plan(shape, workers, &plan);
  EXPECT_TRUE(status.ok()) << status.message();
  return plan.workspace_bytes;
}

TEST(AttentionPlan, TellsTheConstants) {
  AttentionPlan plan;
  ASSERT_TRUE(attention_plan({.n_q = 1000, .n_kv = 3000, .d_k = 64, .d_v = 64}, 1, &plan).ok());
  EXPECT_EQ(plan.block_keys, 64);
  EXPECT_EQ(plan.split_keys, 1024);
  EXPECT_EQ(plan.splits, 3);
  EXPECT_EQ(plan.split_groups, 1);
  EXPECT_EQ(plan.tiles, (1000 + plan.tile_rows - 1) / plan.tile_rows);
  EXPECT_EQ(plan.tasks, plan.tiles);
}

TEST(AttentionPlan, NothingToComputeNeedsNothing) {
  for (const AttentionShape& shape : {AttentionShape{.b = 0}, AttentionShape{.h_q = 0}, AttentionShape{.n_q = 0}}) {
    AttentionPlan plan;
    ASSERT_TRUE(attention_plan(shape, 3, &plan).ok());
    EXPECT_EQ(plan.tiles, 0);
    EXPECT_EQ(plan.tasks, 0);
    EXPECT_EQ(plan.workspace_bytes, 0u);
  }
}

TEST(AttentionPlan, WorkspaceGrowsWithWorkersAndHeadDims) {
  const AttentionShape shape = {.h_q = 4, .h_kv = 2, .n_q = 100, .n_kv = 5000, .d_k = 64, .d_v = 64};
  for (const int64_t workers : {1, 2, 3, 16, 200}) EXPECT_LE(workspace(shape, workers), workspace(shape, workers + 1));
  for (int64_t d = 1; d < 300; d += 17) {
    EXPECT_LE(workspace({.n_q = 60, .d_k = d, .d_v = 1}), workspace({.n_q = 60, .d_k = d + 17, .d_v = 1}));
    EXPECT_LE(workspace({.n_q = 60, .d_k = 1, .d_v = d}), workspace({.n_q = 60, .d_k = 1, .d_v = d + 17}));
  }
}

TEST(AttentionPlan, WorkspaceDoesNotGrowWithTheSquareOfTheLength) {
  const AttentionShape shape = {.h_q = 8, .h_kv = 8, .n_q = 1 << 20, .n_kv = 1 << 20, .d_k = 128, .d_v = 128};
  EXPECT_LE(workspace(shape, 64), size_t{64} << 20);
}

TEST(AttentionPlan, RefusesWhatACallWould) {
  const auto expect = [](const AttentionShape& shape, int64_t workers, StatusCode code, const char* message) {
    AttentionPlan plan = {.tiles = 77};
    const Status status = attention_plan(shape, workers, &plan);
    EXPECT_EQ(status.code(), code);
    EXPECT_STREQ(status.message(), message);
    EXPECT_EQ(plan.tiles, 77);
  };
  expect({.dtype = DType::i8}, 1, StatusCode::invalid_argument,
         "dtype: dtype int8 is not a float type; expected float32, float64, float16 or bfloat16");
  expect({.dtype = DType::i32}, 1, StatusCode::invalid_argument,
         "dtype: dtype int32 is not a float type; expected float32, float64, float16 or bfloat16");
  expect({.n_q = -1}, 1, StatusCode::invalid_argument, "q: extent -1 of axis 2 is negative");
  expect({.n_kv = -1}, 1, StatusCode::invalid_argument, "k: extent -1 of axis 2 is negative");
  expect({.d_v = -1}, 1, StatusCode::invalid_argument, "v: extent -1 of axis 3 is negative");
  expect({.n_q = int64_t{1} << 60, .d_v = 2}, 1, StatusCode::invalid_argument, "o: more than 2^60 elements");
  expect({.d_k = 0}, 1, StatusCode::invalid_argument, "d_k: 0; expected at least 1");
  expect({.h_q = 3, .h_kv = 2}, 1, StatusCode::invalid_argument, "q: 3 heads are not a multiple of k's 2");
  expect({.h_q = 3, .h_kv = 0}, 1, StatusCode::invalid_argument, "k: 0 heads for q's 3; expected at least 1");
  expect({.d_k = (int64_t{1} << 32) + 1}, 1, StatusCode::invalid_argument, "d_k: head dim 4294967297 is past 2^32");
  expect({.d_v = (int64_t{1} << 32) + 1}, 1, StatusCode::invalid_argument, "d_v: head dim 4294967297 is past 2^32");
  expect({.kv_offset = (int64_t{1} << 60) + 1}, 1, StatusCode::invalid_argument,
         "kv_offset: 1152921504606846977 is past 2^60");
  expect({}, 65537, StatusCode::invalid_argument, "workers: 65537 workers; expected 1 to 65536");
  expect({}, 0, StatusCode::invalid_argument, "workers: 0 workers; expected 1 to 65536");
}

TEST(AttentionPlan, HostileExtentsDoNotOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 60, kLongest = int64_t{1} << 32;
  for (const int64_t workers : {1, 1000, 65536}) {
    for (const AttentionShape& shape :
         {AttentionShape{.b = kHuge}, AttentionShape{.h_q = kHuge}, AttentionShape{.h_q = kHuge, .h_kv = kHuge},
          AttentionShape{.n_q = kHuge}, AttentionShape{.n_kv = kHuge}, AttentionShape{.n_q = 48, .d_k = kLongest},
          AttentionShape{.n_q = 48, .d_v = kLongest},
          AttentionShape{.n_q = 48, .n_kv = int64_t{1} << 28, .d_k = kLongest, .d_v = kLongest, .dtype = DType::f64}}) {
      AttentionPlan plan;
      const Status status = attention_plan(shape, workers, &plan);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_GT(plan.tasks, 0);
      const auto scratch = static_cast<size_t>(workers) * static_cast<size_t>(shape.d_k + shape.d_v);
      EXPECT_GT(plan.workspace_bytes, scratch);
      EXPECT_LT(plan.workspace_bytes, std::numeric_limits<size_t>::max() / 2);
    }
  }
}

/// Random calls in a workspace of just the bytes that were planned, poisoned beyond by whoever checks addresses.
template <class T>
void expect_enough(std::mt19937& random, Executor* executor) {
  const auto up_to = [&random](int64_t n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n + 1)); };
  const int64_t h_kv = 1 + up_to(2);
  const AttentionShape shape = {.b = 1 + up_to(1),
                                .h_q = h_kv * (1 + up_to(5)),
                                .h_kv = h_kv,
                                .n_q = 1 + up_to(60),
                                .n_kv = up_to(2200),
                                .d_k = 1 + up_to(20),
                                .d_v = up_to(20),
                                .dtype = dtype_of<T>()};
  const Features features = {.name = "random",
                             .causal = up_to(1) == 1,
                             .window = up_to(1) == 1,
                             .softcap = up_to(1) == 1,
                             .bias = up_to(1) == 1,
                             .mask = up_to(1) == 1,
                             .alibi = up_to(1) == 1,
                             .sinks = up_to(1) == 1};
  Problem<T> problem(shape, features, static_cast<unsigned>(random()));
  if (up_to(2) == 0) problem.call.options.kv_offset = up_to(5000) - 2500;
  Result<T> result(problem.call);
  AttentionOutputs outputs = result.outputs();
  std::vector<T> weights;
  if (up_to(2) == 0) {
    weights.resize(static_cast<size_t>(shape.b * shape.h_q * shape.n_q * shape.n_kv));
    outputs.weights = view(weights.data(), shape.b, shape.h_q, shape.n_q, shape.n_kv);
  }
  std::vector<char> memory(workspace(shape, executor != nullptr ? executor->concurrency() : 1));
  attend(problem.call, outputs, {.executor = executor, .workspace = memory.data(), .workspace_bytes = memory.size()});
}

TEST(AttentionPlan, WorkspaceIsEnoughWhateverTheOptions) {
  std::mt19937 random(7);
  ThreadExecutor three(3);
  for (int i = 0; i < 100; ++i) {
    expect_enough<float>(random, i % 2 == 0 ? nullptr : &three);
    expect_enough<double>(random, i % 2 == 0 ? nullptr : &three);
    if (testing::Test::HasFatalFailure()) break;
  }
}

TEST(AttentionPlan, AWorkspaceOneByteShortIsRefused) {
  const AttentionShape shape = {.n_q = 20, .n_kv = 100, .d_k = 8, .d_v = 8};
  const Problem<float> problem(shape, kPlain);
  Result<float> result(problem.call);
  const size_t needed = workspace(shape);
  std::vector<char> memory(needed);
  const Status status = attention(problem.call.q, problem.call.k, problem.call.v, result.outputs(), {},
                                  {.workspace = memory.data(), .workspace_bytes = needed - 1});
  EXPECT_EQ(status.code(), StatusCode::workspace_too_small);
  EXPECT_EQ(status.message(), "workspace: " + std::to_string(needed - 1) + " bytes; this call needs " +
                                  std::to_string(needed) + " (attention_plan tells)");
  for (const float o : result.o) EXPECT_EQ(o, 12345);
  for (const float lse : result.lse) EXPECT_EQ(lse, 12345);
}

}  // namespace
}  // namespace foveate
