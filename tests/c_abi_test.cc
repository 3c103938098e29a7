// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Calls through C have the bits of those through C++, for every operator, type, layout and option. The C library has an engine
// of its own inside, so that all of it is asked, from the arguments to the target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "foveate/dropout.h"
#include "foveate/foveate_c.h"
#include "foveate/patterns.h"
#include "foveate/state.h"
#include "foveate/target.h"
#include "tests/additive_call.h"
#include "tests/backward_call.h"
#include "tests/c_views.h"
#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/scattered.h"
#include "tests/stored_problem.h"

namespace foveate {
namespace {

using trial::in_c;
using trial::Message;

/// Runs body on each target, in the engine of C++ and in that of C.
void on_each_target(const std::function<void()>& body) {
  trial::on_each_target([&] {
    Message message;
    ASSERT_C_OK(foveate_pin_target(active_target(), message.text, sizeof message.text), message);
    ASSERT_STREQ(foveate_active_target(), active_target());
    body();
  });
  EXPECT_EQ(foveate_pin_target(nullptr, nullptr, 0), FOVEATE_OK);
}

foveate_status attend_in_c(const Call& call, const AttentionOutputs& outputs, const foveate_execution* execution,
                           Message* message) {
  const foveate_const_tensor q = in_c(call.q), k = in_c(call.k), v = in_c(call.v);
  const foveate_attention_outputs out = in_c(outputs);
  const foveate_attention_options options = in_c(call.options);
  return foveate_attention(&q, &k, &v, &out, &options, execution, message->text, sizeof message->text);
}

/// What a call gives through C++ and through C, weights included.
template <class Q>
void expect_same_attention(const Call& call, const foveate_execution* execution = nullptr) {
  const int64_t b = call.options.mask.present() ? call.options.mask.shape[0] : call.q.shape[0];
  Result<Q> expected(call), got(call);
  std::vector<Q> weights[2];
  AttentionOutputs outputs[2] = {expected.outputs(), got.outputs()};
  if (!call.options.q_starts.present() && !call.options.block_table.present()) {
    for (int i = 0; i < 2; ++i) {
      weights[i].assign(static_cast<size_t>(b * call.q.shape[1] * call.q.shape[2] * call.k.shape[2]), Q(7.0f));
      outputs[i].weights = view(weights[i].data(), b, call.q.shape[1], call.q.shape[2], call.k.shape[2]);
    }
  }
  attend(call, outputs[0]);
  Message message;
  ASSERT_C_OK(attend_in_c(call, outputs[1], execution, &message), message);
  EXPECT_STREQ(message.text, "");
  expect_same_bits(expected, got);
  expect_same_bits(weights[0], weights[1], "weights");
}

const AttentionShape kShape = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 37, .n_kv = 131, .d_k = 9, .d_v = 5};

template <class F>
class CAttention : public testing::Test {};
TYPED_TEST_SUITE(CAttention, AllFamilies);

TYPED_TEST(CAttention, HasTheBitsOfCpp) {
  using Q = typename TypeParam::Q;
  on_each_target([&] {
    for (const Features& features : kFeatures) {
      SCOPED_TRACE(features.name);
      const StoredProblem<TypeParam> problem(kShape, features);
      expect_same_attention<Q>(problem.call);
    }
  });
}

TYPED_TEST(CAttention, StridesAndLayoutsAreTaken) {
  using F = TypeParam;
  const StoredProblem<F> problem(kShape, kAllFeatures);
  // [batch, sequence, head, head_dim] in memory, and everything reversed and apart.
  for (const auto& [apart, reversed] : {std::pair{1, false}, std::pair{3, true}}) {
    const Scattered<typename F::Q> q(problem.call.q, {{0, 2, 1, 3}, apart, reversed, 1});
    const Scattered<typename F::K> k(problem.call.k, {{0, 2, 1, 3}, apart, reversed, 1});
    const Scattered<typename F::V> v(problem.call.v, {{0, 2, 1, 3}, apart, reversed, 1});
    Call call = problem.call;
    call.q = q.view, call.k = k.view, call.v = v.view;
    expect_same_attention<typename F::Q>(call);
  }
}

/// A problem, and the difference that an option makes: the bits of C++, and not those without it.
void expect_option(const AttentionShape& shape, const std::function<void(AttentionOptions&)>& set) {
  Problem<float> problem(shape, {.name = "causal", .causal = true});
  const Result<float> without = attend<float>(problem.call);
  set(problem.call.options);
  expect_same_attention<float>(problem.call);
  const Result<float> with = attend<float>(problem.call);
  EXPECT_NE(with.o, without.o) << "an option that makes no difference";
}

TEST(CAttentionOptions, EachIsTaken) {
  const int64_t q_lengths[] = {20, 37}, kv_lengths[] = {131, 64};
  std::vector<int64_t> tree(static_cast<size_t>(2 * 37), 5);
  auto blocks = std::make_unique<bool[]>(3 * 9);
  for (int i = 0; i < 27; ++i) blocks[static_cast<size_t>(i)] = i % 3 != 1;
  const auto on = [](auto set) { expect_option(kShape, set); };
  on([](AttentionOptions& o) { o.scale = -0.5; });
  on([](AttentionOptions& o) { o.scale = 0; });
  on([](AttentionOptions& o) { o.align = Align::top_left; });
  on([](AttentionOptions& o) { o.q_offset = 50; });
  on([](AttentionOptions& o) { o.q_offset = 150, o.kv_offset = 64, o.window_left = 70; });
  on([](AttentionOptions& o) { o.dropout = 0.5, o.seed = 0xFEDCBA9876543210; });
  on([&](AttentionOptions& o) { o.q_lengths = view(q_lengths, 2); });
  on([&](AttentionOptions& o) { o.kv_lengths = view(kv_lengths, 2); });
  on([&](AttentionOptions& o) {
    o.causal = false;
    o.tree_mask = view(static_cast<const int64_t*>(tree.data()), 2, 1, 37, 1);
    o.tree_tokens = 33;
  });
  on([&](AttentionOptions& o) {
    o.blocks = view(static_cast<const bool*>(blocks.get()), 1, 1, 3, 9);
    o.block_size = 16;
  });
}

TEST(CAttentionOptions, NativeProductsMayBeLeftOut) {
  using F = Family<BFloat16, BFloat16>;
  StoredProblem<F> problem(kShape, kPlain);
  on_each_target([&] {
    for (const bool native : {true, false}) {
      problem.call.options.native_products = native;
      expect_same_attention<BFloat16>(problem.call);
    }
  });
}

TEST(CAttentionOptions, PackedSequencesAreTaken) {
  const Problem<float> problem({.h_q = 4, .h_kv = 2, .n_q = 90, .n_kv = 140, .d_k = 8, .d_v = 6}, kPlain);
  const int32_t q_starts[] = {0, 31, 31, 90}, kv_starts[] = {0, 100, 120, 140};
  Call call = problem.call;
  call.options.q_starts = view(q_starts, 4);
  call.options.kv_starts = view(kv_starts, 4);
  expect_same_attention<float>(call);
  EXPECT_NE(attend<float>(call).o, attend<float>(problem.call).o);
}

TEST(CAttention, OnAParallelLoopOfTheHost) {
  trial::ParallelLoop loop(3);
  // Many tiles; few, whose splits are shared out.
  for (const AttentionShape& shape : {kShape, AttentionShape{.n_q = 50, .n_kv = 2100, .d_k = 8, .d_v = 5}}) {
    const Problem<float> problem(shape, kAllFeatures);
    const Result<float> expected = attend<float>(problem.call);
    AttentionPlan plan;
    ASSERT_TRUE(attention_plan(shape, 3, &plan).ok());
    std::vector<char> memory(plan.workspace_bytes);
    Result<float> got(problem.call);
    foveate_execution execution = loop.execution();
    int64_t progress = 0;
    execution.workspace = memory.data();
    execution.workspace_bytes = memory.size();
    execution.progress = &progress;
    Message message;
    ASSERT_C_OK(attend_in_c(problem.call, got.outputs(), &execution, &message), message);
    expect_same_bits(expected, got);
    EXPECT_EQ(progress, plan.tasks);
  }
  EXPECT_EQ(loop.loops(), 3);
}

template <class F>
class CGradients : public testing::Test {};
TYPED_TEST_SUITE(CGradients, AllFamilies);

TYPED_TEST(CGradients, HaveTheBitsOfCpp) {
  on_each_target([&] {
    for (const Features& features : {kPlain, kAllFeatures}) {
      const BackwardProblem<TypeParam> problem(kShape, features, 0.25);
      const BackwardCall& call = problem.call;
      const GradientsOf<TypeParam> expected = gradients_of<TypeParam>(call);
      GradientsOf<TypeParam> got(call);
      const foveate_const_tensor q = in_c(call.q), k = in_c(call.k), v = in_c(call.v), o = in_c(call.o),
                                 lse = in_c(call.lse), d_o = in_c(call.d_o);
      const foveate_attention_gradients gradients = in_c(got.views());
      const foveate_attention_options options = in_c(call.options);
      Message message;
      ASSERT_C_OK(foveate_attention_backward(&q, &k, &v, &o, &lse, &d_o, &gradients, &options, nullptr, message.text,
                                             sizeof message.text),
                  message);
      expect_same_bits(expected, got);
    }
  });
}

/// Does all of a planned call, the tasks of each round backwards, by two workers in turn.
void run_and_end(foveate_call* call) {
  Message message;
  for (int64_t round = 0; round < foveate_call_rounds(call); ++round) {
    for (int64_t task = foveate_call_tasks(call, round) - 1; task >= 0; --task) {
      EXPECT_C_OK(foveate_call_run(call, round, task, 1, task % 2, message.text, sizeof message.text), message);
    }
  }
  EXPECT_EQ(foveate_call_run(call, foveate_call_rounds(call), 0, 1, 0, message.text, sizeof message.text),
            FOVEATE_INVALID_ARGUMENT);
  EXPECT_STRNE(message.text, "");
  foveate_call_end(call);
}

TEST(CPlanned, GradientsHaveTheBitsOfCpp) {
  using F = Family<float, float>;
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  execution.workers = 2;
  for (const AttentionShape& shape : {kShape, AttentionShape{.n_q = 130, .n_kv = 700, .d_k = 8, .d_v = 5}}) {
    const BackwardProblem<F> problem(shape, kAllFeatures, 0.25);
    const BackwardCall& call = problem.call;
    const GradientsOf<F> expected = gradients_of<F>(call);
    const foveate_attention_options options = in_c(call.options);
    foveate_call planned;
    Message message;
    GradientsOf<F> got(call);
    {
      // Views and structs may be gone once the call has begun; arrays not.
      const foveate_const_tensor q = in_c(call.q), k = in_c(call.k), v = in_c(call.v), o = in_c(call.o),
                                 lse = in_c(call.lse), d_o = in_c(call.d_o);
      const foveate_attention_gradients gradients = in_c(got.views());
      ASSERT_C_OK(foveate_attention_backward_begin(&planned, &q, &k, &v, &o, &lse, &d_o, &gradients, &options,
                                                   &execution, message.text, sizeof message.text),
                  message);
    }
    run_and_end(&planned);
    expect_same_bits(expected, got);
  }
}

TEST(CPlanned, LinearAttentionHasTheBitsOfCpp) {
  using F = Family<float, float>;
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  execution.workers = 2;
  const Problem<float> problem({.n_q = 1100, .n_kv = 2100, .d_k = 8, .d_v = 5}, kPlain);
  const Call& c = problem.call;
  const Result<float> some = attend<float>(c);
  const ConstTensor gradient = view(some.o.data(), some.b, some.h, some.n, some.d);
  const foveate_const_tensor q = in_c(c.q), k = in_c(c.k), v = in_c(c.v), d_o = in_c(gradient);
  const auto views = [](GradientsOf<F>& g) {
    const AttentionGradients of = g.views();
    return LinearGradients{.dq = of.dq, .dk = of.dk, .dv = of.dv};
  };
  const LinearOptions options = {.causal = true};
  const foveate_linear_options in = in_c(options);
  Result<float> expected(c), got(c);
  GradientsOf<F> expected_gradients(c), got_gradients(c);
  ASSERT_TRUE(linear_attention(c.q, c.k, c.v, expected.outputs().o, options).ok());
  ASSERT_TRUE(linear_attention_backward(c.q, c.k, c.v, gradient, views(expected_gradients), options).ok());
  const foveate_tensor o = in_c(got.outputs().o);
  const foveate_linear_gradients gradients = in_c(views(got_gradients));
  foveate_call call;
  Message message;
  ASSERT_C_OK(foveate_linear_attention_begin(&call, &q, &k, &v, &o, &in, &execution, message.text, sizeof message.text),
              message);
  run_and_end(&call);
  expect_same_bits(expected.o, got.o, "o");
  ASSERT_C_OK(foveate_linear_attention_backward_begin(&call, &q, &k, &v, &d_o, &gradients, &in, &execution,
                                                      message.text, sizeof message.text),
              message);
  run_and_end(&call);
  expect_same_bits(expected_gradients, got_gradients);
}

template <class F>
class CAdditive : public testing::Test {};
using AdditiveFamilies =
    testing::Types<Family<double, double>, Family<float, float>, Family<Float16, Float16>, Family<BFloat16, BFloat16>>;
TYPED_TEST_SUITE(CAdditive, AdditiveFamilies);

TYPED_TEST(CAdditive, HasTheBitsOfCpp) {
  using Q = typename TypeParam::Q;
  trial::ParallelLoop loop(2);
  for (const Features& features : {kPlain, kAllFeatures}) {
    const AdditiveProblem<TypeParam> problem(kShape, features, 7, 1, 0.25);
    const BackwardCall& call = problem.call;
    const foveate_const_tensor q = in_c(call.q), k = in_c(call.k), v = in_c(call.v), o = in_c(call.o),
                               lse = in_c(call.lse), d_o = in_c(call.d_o);
    const foveate_attention_options options = in_c(call.options);
    const foveate_additive_parameters parameters = in_c(problem.parameters.views());
    Result<Q> expected(call), got(call);
    attend(call, problem.parameters, expected.outputs());
    const foveate_attention_outputs out = in_c(got.outputs());
    const foveate_execution execution = loop.execution();
    Message message;
    ASSERT_C_OK(foveate_additive_attention(&q, &k, &v, &parameters, &out, &options, &execution, message.text,
                                           sizeof message.text),
                message);
    expect_same_bits(expected, got);

    const AdditiveGradientsOf<TypeParam> expected_gradients = gradients_of<TypeParam>(call, problem.parameters);
    AdditiveGradientsOf<TypeParam> got_gradients(call, problem.parameters);
    const foveate_additive_gradients gradients = in_c(got_gradients.views());
    ASSERT_C_OK(foveate_additive_attention_backward(&q, &k, &v, &parameters, &o, &lse, &d_o, &gradients, &options,
                                                    &execution, message.text, sizeof message.text),
                message);
    expect_same_bits(expected_gradients, got_gradients);

    foveate_call planned;
    Result<Q> of_rounds(call);
    AdditiveGradientsOf<TypeParam> gradients_of_rounds(call, problem.parameters);
    const foveate_attention_outputs to = in_c(of_rounds.outputs());
    const foveate_additive_gradients gradients_to = in_c(gradients_of_rounds.views());
    ASSERT_C_OK(foveate_additive_attention_begin(&planned, &q, &k, &v, &parameters, &to, &options, &execution,
                                                 message.text, sizeof message.text),
                message);
    run_and_end(&planned);
    expect_same_bits(expected, of_rounds);
    ASSERT_C_OK(
        foveate_additive_attention_backward_begin(&planned, &q, &k, &v, &parameters, &o, &lse, &d_o, &gradients_to,
                                                  &options, &execution, message.text, sizeof message.text),
        message);
    run_and_end(&planned);
    expect_same_bits(expected_gradients, gradients_of_rounds);
  }
}

TEST(CLinear, HasTheBitsOfCpp) {
  using F = Family<float, float>;
  const Problem<float> problem(kShape, kPlain);
  const Call& c = problem.call;
  const Result<float> some = attend<float>(c);
  const ConstTensor gradient = view(some.o.data(), some.b, some.h, some.n, some.d);
  const int32_t q_lengths[] = {37, 11}, kv_lengths[] = {70, 131};
  std::unique_ptr<bool[]> kept(new bool[131]);
  for (size_t j = 0; j < 131; ++j) kept[j] = j % 5 != 2;
  const LinearOptions plain;
  const LinearOptions all = {.causal = true,
                             .align = Align::top_left,
                             .q_offset = 60,
                             .mask = view(static_cast<const bool*>(kept.get()), 1, 1, 1, 131),
                             .q_lengths = view(q_lengths, 2),
                             .kv_lengths = view(kv_lengths, 2)};
  const foveate_const_tensor q = in_c(c.q), k = in_c(c.k), v = in_c(c.v), d_o = in_c(gradient);
  const auto views = [](GradientsOf<F>& g) {
    const AttentionGradients of = g.views();
    return LinearGradients{.dq = of.dq, .dk = of.dk, .dv = of.dv};
  };
  trial::ParallelLoop loop(2);
  const foveate_execution execution = loop.execution();
  for (const LinearOptions& options : {plain, all}) {
    Result<float> expected(c), got(c);
    ASSERT_TRUE(linear_attention(c.q, c.k, c.v, expected.outputs().o, options).ok());
    const foveate_linear_options in = in_c(options);
    const foveate_tensor o = in_c(got.outputs().o);
    Message message;
    ASSERT_C_OK(foveate_linear_attention(&q, &k, &v, &o, &in, &execution, message.text, sizeof message.text), message);
    expect_same_bits(expected.o, got.o, "o");
    GradientsOf<F> expected_gradients(c), got_gradients(c);
    ASSERT_TRUE(linear_attention_backward(c.q, c.k, c.v, gradient, views(expected_gradients), options).ok());
    const foveate_linear_gradients gradients = in_c(views(got_gradients));
    ASSERT_C_OK(foveate_linear_attention_backward(&q, &k, &v, &d_o, &gradients, &in, nullptr, message.text,
                                                  sizeof message.text),
                message);
    expect_same_bits(expected_gradients, got_gradients);
  }
}

TEST(CPieces, MergeLikeCpp) {
  const Problem<float> problem(kShape, kPlain);
  const Call first = problem.call.keys(0, 64), second = problem.call.keys(64, 67);
  Result<float> a = attend<float>(first), b = attend<float>(second), expected(problem.call), got(problem.call);
  const AttentionOutputs of_a = a.outputs(), of_b = b.outputs();
  ASSERT_TRUE(merge({of_a.o, of_a.lse}, {of_b.o, of_b.lse}, expected.outputs().o, expected.outputs().lse).ok());
  const foveate_const_tensor o_a = in_c(ConstTensor(of_a.o)), lse_a = in_c(ConstTensor(of_a.lse)),
                             o_b = in_c(ConstTensor(of_b.o)), lse_b = in_c(ConstTensor(of_b.lse));
  const foveate_tensor o = in_c(got.outputs().o), lse = in_c(got.outputs().lse);
  Message message;
  ASSERT_C_OK(foveate_merge(&o_a, &lse_a, &o_b, &lse_b, &o, &lse, nullptr, message.text, sizeof message.text), message);
  expect_same_bits(expected, got);
}

TEST(CDropout, MaskIsThatOfCpp) {
  constexpr int64_t kSize = 2 * 3 * 5 * 67;
  const std::unique_ptr<bool[]> expected(new bool[kSize]), got(new bool[kSize]);
  const AttentionOptions options = {.q_offset = 9, .kv_offset = 3, .dropout = 0.3, .seed = 5};
  ASSERT_TRUE(dropout_mask(view(expected.get(), 2, 3, 5, 67), options).ok());
  const foveate_tensor keep = foveate_view(got.get(), FOVEATE_BOOL, 2, 3, 5, 67);
  const foveate_attention_options in = in_c(options);
  Message message;
  ASSERT_C_OK(foveate_dropout_mask(&keep, &in, nullptr, message.text, sizeof message.text), message);
  EXPECT_EQ(std::memcmp(expected.get(), got.get(), kSize), 0);
}

TEST(CPatterns, BlocksAreThoseOfCpp) {
  constexpr int64_t kSize = 2 * 13 * 20;
  const std::unique_ptr<bool[]> expected(new bool[kSize]()), got(new bool[kSize]());
  ASSERT_TRUE(make_blocks({.n_q = 200,
                           .n_kv = 310,
                           .block_size = 16,
                           .window_left = 40,
                           .window_right = 3,
                           .global_tokens = 17,
                           .random_blocks = 2,
                           .seed = 0xFEDCBA9876543210,
                           .causal = true},
                          view(expected.get(), 1, 2, 13, 20))
                  .ok());
  foveate_block_pattern pattern = FOVEATE_BLOCK_PATTERN_INIT;
  pattern.n_q = 200, pattern.n_kv = 310, pattern.block_size = 16;
  pattern.window_left = 40, pattern.window_right = 3, pattern.global_tokens = 17;
  pattern.random_blocks = 2, pattern.seed = 0xFEDCBA9876543210, pattern.causal = 1;
  const foveate_tensor blocks = foveate_view(got.get(), FOVEATE_BOOL, 1, 2, 13, 20);
  Message message;
  ASSERT_C_OK(foveate_make_blocks(&pattern, &blocks, message.text, sizeof message.text), message);
  EXPECT_EQ(std::memcmp(expected.get(), got.get(), kSize), 0);
}

TEST(CPlans, AreThoseOfCpp) {
  const AttentionShape shape = {.b = 2,
                                .h_q = 6,
                                .h_kv = 3,
                                .n_q = 50,
                                .n_kv = 5000,
                                .d_k = 33,
                                .d_v = 17,
                                .dtype = DType::f64,
                                .weights = true,
                                .kv_offset = 700,
                                .block_size = 48};
  const foveate_attention_shape in = in_c(shape);
  Message message;
  foveate_plan got = FOVEATE_PLAN_INIT;
  AttentionPlan plan;
  ASSERT_TRUE(attention_plan(shape, 3, &plan).ok());
  ASSERT_C_OK(foveate_attention_plan(&in, 3, &got, message.text, sizeof message.text), message);
  EXPECT_EQ(got.size, sizeof got);
  EXPECT_EQ(got.workspace_bytes, plan.workspace_bytes);
  EXPECT_GT(got.begin_bytes, plan.workspace_bytes);
  EXPECT_EQ(
      std::vector({got.tasks, got.tile_rows, got.block_keys, got.split_keys, got.tiles, got.splits, got.split_groups}),
      std::vector(
          {plan.tasks, plan.tile_rows, plan.block_keys, plan.split_keys, plan.tiles, plan.splits, plan.split_groups}));

  AdditiveGradients wanted;
  wanted.dq.dtype = wanted.dw.dtype = DType::f64;
  const foveate_additive_gradients additive = in_c(wanted);
  const foveate_attention_gradients gradients = in_c(static_cast<const AttentionGradients&>(wanted));
  AttentionBackwardPlan backward;
  ASSERT_TRUE(attention_backward_plan(shape, wanted, 3, &backward).ok());
  ASSERT_C_OK(foveate_attention_backward_plan(&in, &gradients, 3, &got, message.text, sizeof message.text), message);
  EXPECT_EQ(got.workspace_bytes, backward.workspace_bytes);
  EXPECT_EQ(got.tasks, backward.tasks);

  ASSERT_TRUE(additive_attention_plan(shape, 5, 3, &plan).ok());
  ASSERT_C_OK(foveate_additive_attention_plan(&in, 5, 3, &got, message.text, sizeof message.text), message);
  EXPECT_EQ(got.workspace_bytes, plan.workspace_bytes);
  EXPECT_EQ(got.tasks, plan.tasks);
  ASSERT_TRUE(additive_attention_backward_plan(shape, wanted, 5, 3, &backward).ok());
  ASSERT_C_OK(foveate_additive_attention_backward_plan(&in, &additive, 5, 3, &got, message.text, sizeof message.text),
              message);
  EXPECT_EQ(got.workspace_bytes, backward.workspace_bytes);
  EXPECT_EQ(got.tasks, backward.tasks);

  LinearPlan linear;
  ASSERT_TRUE(linear_attention_plan({2, 6, 3, 50, 5000, 33, 17, DType::f64}, 3, &linear).ok());
  ASSERT_C_OK(foveate_linear_attention_plan(&in, 3, &got, message.text, sizeof message.text), message);
  EXPECT_EQ(got.workspace_bytes, linear.workspace_bytes);
  EXPECT_EQ(got.tasks, linear.tasks);
  ASSERT_C_OK(foveate_linear_attention_backward_plan(&in, 3, &got, message.text, sizeof message.text), message);
  EXPECT_EQ(got.workspace_bytes, linear.backward_workspace_bytes);
  EXPECT_EQ(got.tasks, linear.backward_tasks);
}

TEST(CTargets, AreThoseOfCpp) {
  ASSERT_EQ(foveate_target_count(), target_count());
  for (int64_t i = -1; i <= target_count(); ++i) EXPECT_STREQ(foveate_target_name(i), target_name(i));
  Message message;
  EXPECT_EQ(foveate_pin_target("sse9", message.text, sizeof message.text), FOVEATE_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, pin_target("sse9").message());
}

}  // namespace
}  // namespace foveate
