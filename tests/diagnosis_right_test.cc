// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What diagnosis/ must not say: nothing wrong of right results, whoever computed them, and no mistake of what is only noise.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/planted.h"
#include "tests/stopping_executor.h"
#include "tests/thread_executor.h"

namespace foveate {
namespace {

using diagnosis::Diagnosis;
using diagnosis::Verdict;
using planted::Recipe;
using planted::Result;
using planted::Spec;
using planted::Typed;
using planted::World;

void expect_right(const World& world, const Result& result, DType stored) {
  const Diagnosis found = planted::diagnose(world, result, stored);
  EXPECT_EQ(found.verdict, Verdict::right) << planted::told(found) << " of " << planted::about(world.s) << ": "
                                           << found.differing_rows << " rows, " << found.largest_difference;
  EXPECT_TRUE(found.explanations.empty());
  EXPECT_EQ(found.differing_rows, 0);
}

/// The engine's own result.
Result by_engine(const World& world) {
  const Spec& s = world.s;
  const planted::Call call(world);
  const DType computing = s.dtype == DType::f64 ? DType::f64 : DType::f32;
  std::vector<double> zeros(static_cast<size_t>(s.b * s.h_q * s.n_q * s.d_v)),
      rows(static_cast<size_t>(s.b * s.h_q * s.n_q));
  const Typed out(zeros, s.dtype), lse(rows, computing);
  const auto writable = [](const ConstTensor& t) {
    Tensor to;
    to.data = const_cast<void*>(t.data);
    to.dtype = t.dtype;
    std::copy_n(t.shape, 4, to.shape);
    std::copy_n(t.stride, 4, to.stride);
    return to;
  };
  const Status status =
      attention(call.q_view, call.k_view, call.v_view,
                {.o = writable(planted::view_of(out, s.dtype, s.layout, s.b, s.h_q, s.n_q, s.d_v)),
                 .lse = writable(planted::view_of(lse, computing, Layout::bhnd, s.b, s.h_q, s.n_q, 1))},
                call.options);
  if (!status.ok()) throw std::runtime_error(status.message());
  const auto widened = [](const Typed& typed) {
    std::vector<double> all(typed.f64);
    for (float x : typed.f32) all.push_back(static_cast<double>(x));
    for (Float16 x : typed.f16) all.push_back(static_cast<double>(static_cast<float>(x)));
    for (BFloat16 x : typed.bf16) all.push_back(static_cast<double>(static_cast<float>(x)));
    return all;
  };
  return {widened(out), widened(lse)};
}

class Right : public ::testing::TestWithParam<DType> {};

TEST_P(Right, ByPlainLoops) {
  std::mt19937_64 random(11);
  for (int n = 0; n < 120; ++n) {
    const World world(planted::random_spec(random, GetParam()));
    Recipe recipe(world);
    if (size_of(GetParam()) == 2) recipe.stored = GetParam();
    expect_right(world, planted::cook(recipe), GetParam());
  }
}

TEST_P(Right, ByTheEngine) {
  std::mt19937_64 random(12);
  for (int n = 0; n < 120; ++n) {
    const World world(planted::random_spec(random, GetParam()));
    expect_right(world, by_engine(world), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Right, ::testing::Values(DType::f32, DType::f64, DType::f16, DType::bf16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(Right, InANarrowerTypeThanTheInputs) {
  std::mt19937_64 random(13);
  for (const DType stored : {DType::f16, DType::bf16}) {
    for (int n = 0; n < 20; ++n) {
      const World world(planted::random_spec(random, DType::f32));
      expect_right(world, planted::cook(Recipe(world)), stored);
    }
  }
}

TEST(Right, WhereThereIsLittleToBeWrong) {
  const auto is_right = [](Spec spec, bool zero_queries, bool one_value) {
    World world(spec);
    if (zero_queries) std::ranges::fill(world.q, 0);
    if (one_value) std::ranges::fill(world.v, 0.7f);
    expect_right(world, planted::cook(Recipe(world)), spec.dtype);
  };
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    is_right({.n_q = 1, .n_kv = 1, .dtype = dtype, .causal = true}, false, false);
    is_right({.n_q = 40, .n_kv = 1, .dtype = dtype}, false, false);
    is_right({.n_q = 40, .n_kv = 130, .dtype = dtype}, true, false);
    is_right({.n_q = 40, .n_kv = 130, .dtype = dtype}, false, true);
    is_right({.n_q = 40, .n_kv = 130, .dtype = dtype}, true, true);
    is_right({.n_q = 0, .n_kv = 5, .dtype = dtype}, false, false);
    is_right({.n_q = 5, .n_kv = 0, .dtype = dtype, .lse = true}, false, false);
    is_right({.b = 0, .dtype = dtype}, false, false);
    is_right({.dtype = dtype, .magnitude = 300}, false, false);
  }
}

TEST(Right, ANotFiniteInputReachesWhatItTouches) {
  for (const double special : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    World world({.n_q = 9, .n_kv = 9, .causal = true});
    world.v[3 * 8 + 2] = special;  // key 3 of head 0: seen by queries 3 to 8
    world.k[80] = std::numeric_limits<double>::quiet_NaN();
    expect_right(world, by_engine(world), DType::f32);
  }
}

World ordinary(uint64_t seed) {
  return World(
      {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 24, .n_kv = 24, .d_k = 16, .d_v = 16, .causal = true, .seed = seed});
}

void expect_unknown(const World& world, const Result& result, const std::string& what) {
  const Diagnosis found = planted::diagnose(world, result);
  EXPECT_EQ(found.verdict, Verdict::unknown) << planted::told(found) << ": " << what;
  EXPECT_GT(found.tried, 100);
}

/// Beside an infinity, and where a key's score is lost to -inf.
TEST(Right, WhereFloat32OverflowsToAnythingElse) {
  const auto is_right = [](const std::vector<double>& q, const std::vector<double>& k) {
    World world({.h_q = 1, .h_kv = 1, .n_q = 1, .n_kv = 2, .d_k = 2, .d_v = 1, .dtype = DType::f32});
    world.q = q;
    world.k = k;
    world.v = {1, 2};
    expect_right(world, by_engine(world), DType::f32);
  };
  is_right({5, 3}, {static_cast<double>(3e38F), -HUGE_VAL, 1, 1});
  is_right({static_cast<double>(1e30F), static_cast<double>(1e30F)}, {-1e7, -1e7, -4e8, 3.9e8});
}

/// Products past float32's range: the engine says NaN there, float64 does not.
TEST(Right, WhereFloat32Overflows) {
  World world({.h_q = 2, .h_kv = 2, .n_q = 40, .n_kv = 40, .d_k = 8, .d_v = 8, .dtype = DType::f32, .causal = true});
  world.q[30 * 8 + 2] = static_cast<double>(3e38F);
  world.k[17 * 8 + 2] = 2;
  expect_right(world, by_engine(world), DType::f32);
  // What is wrong elsewhere is found all the same.
  World unscaled = world;
  unscaled.s.scale = 1;
  const Diagnosis found = planted::diagnose(world, by_engine(unscaled), DType::f32);
  EXPECT_EQ(found.verdict, Verdict::mistake) << planted::told(found);
}

TEST(Unknown, NoiseIsNoMistake) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const double size : {1e-5, 1e-3, 1e-2, 0.3}) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const World world = ordinary(seed);
      Result result = planted::cook(Recipe(world));
      for (double& x : result.out) x *= 1 + size * normal(random);
      expect_unknown(world, result, "noise of " + std::to_string(size));
    }
  }
}

TEST(Unknown, AMistakeWithNoiseIsNot) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const World world = ordinary(seed);
    Recipe recipe(world);
    recipe.scale = 1;
    Result result = planted::cook(recipe);
    EXPECT_EQ(planted::told(planted::diagnose(world, result)), "mistake: scale-none");
    for (double& x : result.out) x *= 1 + 1e-3 * normal(random);
    expect_unknown(world, result, "a mistake with noise");
  }
}

TEST(Unknown, RandomNumbersAreNoMistake) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  const World world = ordinary(5);
  Result result = planted::cook(Recipe(world));
  for (double& x : result.out) x = normal(random);
  expect_unknown(world, result, "random numbers");
  std::ranges::fill(result.out, 0);
  expect_unknown(world, result, "zeros");
  std::ranges::fill(result.out, std::numeric_limits<double>::quiet_NaN());
  expect_unknown(world, result, "NaN");
}

TEST(Unknown, OneElementIsFound) {
  const World world = ordinary(6);
  Result result = planted::cook(Recipe(world));
  const double right = result.out[(3 * 24 + 7) * 16 + 5];  // [0, 3, 7, 5]
  result.out[(3 * 24 + 7) * 16 + 5] += 0.01;
  const Diagnosis found = planted::diagnose(world, result);
  EXPECT_EQ(found.verdict, Verdict::unknown) << planted::told(found);
  EXPECT_EQ(found.differing_rows, 1);
  EXPECT_EQ(found.first.b, 0);
  EXPECT_EQ(found.first.h, 3);
  EXPECT_EQ(found.first.i, 7);
  EXPECT_EQ(found.first.d, 5);
  EXPECT_NEAR(found.first.expected, right, 1e-6);
  EXPECT_NEAR(found.first.got, right + 0.01, 1e-6);
  EXPECT_NEAR(found.largest_difference, 0.01, 1e-6);
  EXPECT_EQ(found.right_rows.first, 8);
  EXPECT_EQ(found.right_rows.last, 23);
  EXPECT_EQ(found.right_rows.heads.size(), 7u);
}

TEST(Unknown, OneRowAndShuffledRowsAreNoMistake) {
  const World world = ordinary(7);
  Result result = planted::cook(Recipe(world));
  std::vector<double> shuffled = result.out;
  for (size_t d = 0; d < 16; ++d) result.out[100 * 16 + d] += 0.1;
  expect_unknown(world, result, "one row");
  std::rotate(shuffled.begin(), shuffled.begin() + 16 * 5, shuffled.end());
  expect_unknown(world, {shuffled, {}}, "rows rotated");
}

TEST(Unknown, AWrongLseAloneIsFound) {
  World world({.n_q = 12, .n_kv = 12, .lse = true});
  Result result = planted::cook(Recipe(world));
  result.lse[5] += 0.01;
  const Diagnosis found = planted::diagnose(world, result);
  EXPECT_EQ(found.verdict, Verdict::unknown) << planted::told(found);
  EXPECT_EQ(found.differing_rows, 1);
  EXPECT_EQ(found.first.d, -1);
  EXPECT_EQ(found.first.i, 5);
}

/// A window off by one moves 1 of 2048 weights: far more than sums of 2048 floats, one after the other, are off by.
/// What says nothing of lse does not explain it.
TEST(Unknown, AWrongLseIsNoMistakeThatLeavesOutAsItIs) {
  const auto expect_unknown = [](const Spec& spec, bool even) {
    World world(spec);
    if (even) std::ranges::fill(world.q, 0);
    if (spec.mask) std::ranges::fill(world.mask, 1);
    Result result = planted::cook(Recipe(world));
    for (double& lse : result.lse) lse += 0.37;
    const Diagnosis found = planted::diagnose(world, result);
    EXPECT_EQ(found.verdict, Verdict::unknown) << planted::told(found) << " of " << planted::about(spec);
    EXPECT_EQ(found.wrong_in_out, 0);
  };
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    expect_unknown({.n_q = 16, .n_kv = 16, .dtype = dtype, .lse = true}, true);
    expect_unknown({.n_q = 16, .n_kv = 16, .dtype = dtype, .mask = true, .lse = true}, true);
    expect_unknown({.b = 2, .n_q = 1, .n_kv = 1, .dtype = dtype, .lse = true}, false);
    expect_unknown({.b = 2, .n_q = 12, .n_kv = 12, .dtype = dtype, .left = 0, .right = 0, .lse = true}, false);
    expect_unknown({.n_q = 12, .n_kv = 12, .dtype = dtype, .causal = true, .lse = true}, false);
  }
}

TEST(Right, ManyKeysExcuseNoWindow) {
  World world({.h_q = 1, .h_kv = 1, .n_q = 2048, .n_kv = 2048, .causal = true, .left = 2000});
  const Recipe recipe(world);
  const Result result = planted::cook(recipe);
  expect_right(world, result, DType::f32);
  world.s.left = 2001;
  EXPECT_EQ(planted::told(planted::diagnose(world, result)), "mistake: window-left-short");
}

/// Constant values and equal scores: the same rounding error again and again.
TEST(Right, EqualTermsAddUp) {
  World world({.h_q = 1, .h_kv = 1, .n_q = 64, .n_kv = 1000, .causal = true});
  std::ranges::fill(world.q, 0);
  std::ranges::fill(world.v, static_cast<double>(0.3f));
  expect_right(world, planted::cook(Recipe(world)), DType::f32);
}

class Calls : public ::testing::Test {
 protected:
  Calls() : world_(ordinary(1)), call_(world_) {
    Recipe recipe(world_);
    recipe.scale = 1;
    result_ = planted::cook(recipe);
    out_.emplace(result_.out, DType::f32);
    out_view_ = planted::view_of(*out_, DType::f32, Layout::bhnd, 2, 4, 24, 16);
  }

  Status call(const AttentionOptions& options, const Execution& execution = {}, const ConstTensor& lse = {}) {
    return diagnosis::diagnose(call_.q_view, call_.k_view, call_.v_view, out_view_, lse, options, Layout::bhnd,
                               execution, &found_);
  }

  World world_;
  planted::Call call_;
  Result result_;
  std::optional<Typed> out_;
  ConstTensor out_view_;
  Diagnosis found_;
};

TEST_F(Calls, ThreadsChangeNothing) {
  ASSERT_TRUE(call(call_.options).ok());
  const Diagnosis serial = found_;
  ThreadExecutor executor(3);
  std::atomic<int64_t> progress = 0;
  ASSERT_TRUE(call(call_.options, {.executor = &executor, .progress = &progress}).ok());
  EXPECT_EQ(planted::told(found_), "mistake: scale-none");
  EXPECT_EQ(found_.explanations[0].residual, serial.explanations[0].residual);
  EXPECT_EQ(found_.rms_difference, serial.rms_difference);
  EXPECT_EQ(progress, diagnosis::kProgressSteps);
}

TEST_F(Calls, StopAsSoonAsTheyAreAsked) {
  std::fill(out_->f32.begin(), out_->f32.end(), 1.0f);  // nothing explains it, so all is tried
  ThreadExecutor inner(1);
  for (const int64_t at : {0, 20, 60, 200}) {
    StoppingExecutor executor(&inner, at);
    found_.tried = -1;
    const Status status = call(call_.options, {.executor = &executor, .stop = &executor.stop});
    EXPECT_EQ(status.code(), StatusCode::cancelled) << at;
    EXPECT_EQ(found_.tried, -1) << at;
  }
}

TEST_F(Calls, RefuseWhatTheyHaveNoNotionOf) {
  const auto expect_refused = [this](const AttentionOptions& options, const std::string& message) {
    const Status status = call(options);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_EQ(status.message(), message);
  };
  AttentionOptions options = call_.options;
  options.dropout = 0.1;
  expect_refused(options, "dropout: leave it out; it is looked for");
  const int64_t starts[] = {0, 24};
  options = call_.options;
  options.q_starts = view(starts, 2);
  expect_refused(options, "options: packed sequences, pages, scales and trees are not diagnosed; give padded floats");
  options = call_.options;
  options.softcap = -1;
  EXPECT_EQ(call(options).code(), StatusCode::invalid_argument);
  out_view_.shape[2] = 23;
  expect_refused(call_.options, "out: shape [2, 4, 23, 16], expected [2, 4, 24, 16]");
  out_view_.shape[2] = 24;
  EXPECT_STREQ(call(call_.options, {}, out_view_).message(), "lse: shape [2, 4, 24, 16], expected [2, 4, 24, 1]");
  out_view_.dtype = DType::i32;
  expect_refused(call_.options, "out: not of a float type; convert it");
}

TEST_F(Calls, PositionsMayBeSaidOutright) {
  AttentionOptions options = call_.options;
  options.q_offset = 3;
  ASSERT_TRUE(call(options).ok());
  EXPECT_EQ(found_.verdict, Verdict::unknown);
  std::vector<float> out(result_.out.size());
  ASSERT_TRUE(attention(call_.q_view, call_.k_view, call_.v_view, {.o = view(out.data(), 2, 4, 24, 16)}, options).ok());
  out_->f32 = out;
  out_view_.data = out_->f32.data();
  ASSERT_TRUE(call(options).ok());
  EXPECT_EQ(found_.verdict, Verdict::right);
}

}  // namespace
}  // namespace foveate
