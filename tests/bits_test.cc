// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One row, one result: on one target the bits of a row of o and lse depend on its own query, the keys, values, mask and
// bias entries that take part, its position and the options, and on nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/scattered.h"

namespace foveate {
namespace {

using trial::on_each_target;

template <class T>
class Bits : public testing::Test {
 public:
  static constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kInf = std::numeric_limits<T>::infinity();

  static AttentionShape shape(AttentionShape s) {
    s.dtype = dtype_of<T>();
    return s;
  }

  /// Calls body on each target with a problem of these sizes and each set of features.
  template <class Body>
  static void on_each_problem(const AttentionShape& sizes, const Body& body) {
    for (const Features& features : kFeatures) {
      SCOPED_TRACE(features.name);
      const Problem<T> problem(shape(sizes), features);
      on_each_target([&] { body(problem.call); });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Bits, Types);

// --- Threads, runs, memory ---

TYPED_TEST(Bits, WorkersDoNotMatter) {
  std::vector<std::unique_ptr<Executor>> all;
  for (const int workers : {1, 2, 3, 7}) {
    for (auto& executor : executors(workers)) all.push_back(std::move(executor));
  }
  // Many tiles; a single row over many keys, whose splits are shared out; both in between.
  for (const AttentionShape& sizes :
       {AttentionShape{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 70, .n_kv = 150, .d_k = 7, .d_v = 5},
        AttentionShape{.h_q = 3, .h_kv = 3, .n_q = 1, .n_kv = 5000, .d_k = 9, .d_v = 17},
        AttentionShape{.n_q = 50, .n_kv = 2100, .d_k = 8, .d_v = 8}}) {
    this->on_each_problem(sizes, [&](const Call& call) {
      const Result<TypeParam> serial = attend<TypeParam>(call);
      for (const auto& executor : all) {
        expect_same_bits(serial, attend<TypeParam>(call, {.executor = executor.get()}));
      }
    });
  }
}

TYPED_TEST(Bits, LongRowsAreSharedOut) {
  // What the test above takes for granted.
  AttentionPlan plan;
  const AttentionShape sizes = this->shape({.h_q = 3, .h_kv = 3, .n_q = 1, .n_kv = 5000, .d_k = 9, .d_v = 17});
  ASSERT_TRUE(attention_plan(sizes, 2, &plan).ok());
  EXPECT_EQ(plan.split_groups, 5);
  EXPECT_EQ(plan.tasks, 3 * 5 + 3);
}

TYPED_TEST(Bits, RunsAndWorkspaceContentsDoNotMatter) {
  const AttentionShape sizes = this->shape({.b = 1, .h_q = 2, .h_kv = 1, .n_q = 60, .n_kv = 1300, .d_k = 8, .d_v = 5});
  this->on_each_problem(sizes, [&](const Call& call) {
    AttentionPlan plan;
    ASSERT_TRUE(attention_plan(sizes, 1, &plan).ok());
    const Result<TypeParam> own = attend<TypeParam>(call);
    for (const char garbage : {'\x00', '\x7F', '\xFF'}) {
      for (const size_t shift : {0, 1, 63}) {
        std::vector<char> memory(plan.workspace_bytes + shift, garbage);
        const Execution execution = {.workspace = memory.data() + shift, .workspace_bytes = plan.workspace_bytes};
        expect_same_bits(own, attend<TypeParam>(call, execution));
        expect_same_bits(own, attend<TypeParam>(call, execution));
      }
    }
  });
}

TYPED_TEST(Bits, TheHostsFloatingPointModeDoesNotMatter) {
  const Problem<TypeParam> problem(this->shape({.n_q = 20, .n_kv = 300, .d_k = 8, .d_v = 5}), kAllFeatures);
  on_each_target([&] {
    const Result<TypeParam> expected = attend<TypeParam>(problem.call);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      ASSERT_EQ(std::fesetround(mode), 0);
      Result<TypeParam> got(problem.call);
      const Status status =
          attention(problem.call.q, problem.call.k, problem.call.v, got.outputs(), problem.call.options);
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      ASSERT_TRUE(status.ok()) << status.message();
      expect_same_bits(expected, got);
    }
  });
}

TYPED_TEST(Bits, StridesDoNotMatter) {
  using Copy = Scattered<TypeParam>;
  const typename Copy::Form forms[] = {{{0, 1, 2, 3}, 1, false, 1},  // misaligned
                                       {{0, 2, 1, 3}, 1, false, 0},  // bnhd
                                       {{0, 1, 3, 2}, 1, false, 3},  // transposed
                                       {{3, 2, 1, 0}, 1, false, 0},  // Fortran order
                                       {{0, 2, 1, 3}, 3, false, 5},  // every third element
                                       {{1, 0, 2, 3}, 2, true, 1}};  // backwards
  this->on_each_problem({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 50, .n_kv = 70, .d_k = 11, .d_v = 6},
                        [&](const Call& call) {
                          const Result<TypeParam> packed = attend<TypeParam>(call);
                          for (const auto& form : forms) {
                            const Copy q(call.q, form), k(call.k, form), v(call.v, form);
                            Call moved = {q.view, k.view, v.view, call.options};
                            std::unique_ptr<Copy> bias;
                            if (call.options.bias.present()) {
                              bias = std::make_unique<Copy>(call.options.bias, form);
                              moved.options.bias = bias->view;
                            }
                            Result<TypeParam> got(call);
                            const Copy o(got.outputs().o, form), lse(got.outputs().lse, form);
                            attend(moved, {.o = o.view, .lse = lse.view});
                            Copy::copy(o.view, got.outputs().o);
                            Copy::copy(lse.view, got.outputs().lse);
                            expect_same_bits(packed, got);
                          }
                        });
}

TYPED_TEST(Bits, WhichOutputsAreAskedForDoesNotMatter) {
  this->on_each_problem({.h_q = 2, .h_kv = 1, .n_q = 30, .n_kv = 1100, .d_k = 8, .d_v = 5}, [&](const Call& call) {
    const Result<TypeParam> both = attend<TypeParam>(call);
    Result<TypeParam> alone(call), with(call);
    std::vector<TypeParam> weights(2 * 30 * 1100), again(weights);
    const Tensor weights_view = view(weights.data(), 1, 2, 30, 1100);
    attend(call, {.o = alone.outputs().o});
    attend(call, {.lse = alone.outputs().lse});
    expect_same_bits(both, alone);
    attend(call, {.o = with.outputs().o, .lse = with.outputs().lse, .weights = weights_view});
    expect_same_bits(both, with);
    attend(call, {.weights = view(again.data(), 1, 2, 30, 1100)});
    expect_same_bits(weights, again, "weights");
    for (const auto& executor : executors(3)) {
      attend(call, {.weights = view(again.data(), 1, 2, 30, 1100)}, {.executor = executor.get()});
      expect_same_bits(weights, again, "weights");
    }
  });
}

// --- The company a row keeps ---

TYPED_TEST(Bits, PlaceInTheBatchDoesNotMatter) {
  const std::vector<int64_t> q_lengths = {37, 0, 5, 36, 1}, kv_lengths = {90, 90, 64, 1, 0};
  this->on_each_problem(
      {.b = 5, .h_q = 4, .h_kv = 2, .n_q = 37, .n_kv = 90, .d_k = 6, .d_v = 7}, [&](const Call& call) {
        for (const bool with_lengths : {false, true}) {
          Call five = call;
          if (with_lengths) {
            five.options.q_lengths = view(q_lengths.data(), 5);
            five.options.kv_lengths = view(kv_lengths.data(), 5);
          }
          const Result<TypeParam> together = attend<TypeParam>(five);
          Result<TypeParam> alone(five);
          for (int64_t b = 0; b < 5; ++b) attend(five.batches(b, 1), slice(alone.outputs(), 0, b, 1));
          expect_same_bits(together, alone);
          // The third element in each place of a batch of its own copies.
          Call copies = five.batches(2, 1);
          for (ConstTensor* part : {&copies.q, &copies.k, &copies.v, &copies.options.mask, &copies.options.bias}) {
            if (!part->present()) continue;
            part->shape[0] = 5;
            part->stride[0] = 0;
          }
          copies.options.q_lengths.size *= 5;
          copies.options.kv_lengths.size *= 5;
          copies.options.q_lengths.stride = copies.options.kv_lengths.stride = 0;
          Result<TypeParam> third(five.batches(2, 1));
          attend(five.batches(2, 1), third.outputs());
          Result<TypeParam> five_times = attend<TypeParam>(copies), expected(copies);
          for (int64_t b = 0; b < 5; ++b) {
            const AttentionOutputs place = slice(expected.outputs(), 0, b, 1);
            Scattered<TypeParam>::copy(third.outputs().o, place.o);
            Scattered<TypeParam>::copy(third.outputs().lse, place.lse);
          }
          expect_same_bits(expected, five_times);
        }
      });
}

TYPED_TEST(Bits, HeadsThatShareATileDoNotMatter) {
  for (const int64_t n_q : {1, 2, 5, 9, 50}) {
    this->on_each_problem({.h_q = 10, .h_kv = 2, .n_q = n_q, .n_kv = 130, .d_k = 5, .d_v = 6}, [&](const Call& call) {
      const Result<TypeParam> together = attend<TypeParam>(call);
      Result<TypeParam> alone(call);
      for (int64_t h = 0; h < 10; ++h) attend(call.head(h), slice(alone.outputs(), 1, h, 1));
      expect_same_bits(together, alone);
    });
  }
}

TYPED_TEST(Bits, APromptInChunksIsThePromptWhole) {
  this->on_each_problem({.h_q = 3, .h_kv = 1, .n_q = 101, .n_kv = 1100, .d_k = 9, .d_v = 5}, [&](const Call& whole) {
    const Result<TypeParam> expected = attend<TypeParam>(whole);
    for (const int64_t size : {1, 2, 3, 7, 16, 48, 64, 100}) {
      SCOPED_TRACE(size);
      Result<TypeParam> chunks(whole);
      for (int64_t i = 0; i < 101; i += size) {
        const int64_t count = std::min<int64_t>(size, 101 - i);
        attend(chunk(whole, i, count), slice(chunks.outputs(), 2, i, count));
      }
      expect_same_bits(expected, chunks);
    }
  });
}

TYPED_TEST(Bits, TokenByTokenFromThreadsIsThePromptWhole) {
  const auto several = executors(3);
  this->on_each_problem({.h_q = 2, .h_kv = 2, .n_q = 5, .n_kv = 2500, .d_k = 4, .d_v = 19}, [&](const Call& whole) {
    const Result<TypeParam> expected = attend<TypeParam>(whole);
    for (const auto& executor : several) {
      Result<TypeParam> tokens(whole);
      for (int64_t i = 0; i < 5; ++i) {
        attend(chunk(whole, i, 1), slice(tokens.outputs(), 2, i, 1), {.executor = executor.get()});
      }
      expect_same_bits(expected, tokens);
    }
  });
}

// --- Keys that take no part ---

TYPED_TEST(Bits, ABiggerCacheIsAnExactOne) {
  constexpr int64_t kFilled = 1090, kCache = 2200, kRows = 20;
  for (const Features& features : kFeatures) {
    SCOPED_TRACE(features.name);
    Problem<TypeParam> problem(this->shape({.h_q = 2, .h_kv = 1, .n_q = kRows, .n_kv = kCache, .d_k = 4, .d_v = 5}),
                               features);
    const int64_t filled = kFilled;
    on_each_target([&] {
      const Result<TypeParam> exact = attend<TypeParam>(problem.call.keys(0, kFilled));
      Call cache = problem.call;
      cache.options.kv_lengths = view(&filled, 1);
      expect_same_bits(exact, attend<TypeParam>(cache));
      std::fill(problem.k.begin() + kFilled * 4, problem.k.end(), this->kNaN);
      std::fill(problem.v.begin() + kFilled * 5, problem.v.end(), this->kInf);
      expect_same_bits(exact, attend<TypeParam>(cache));
    });
  }
}

TYPED_TEST(Bits, KeysCutOffInFrontByAnOffset) {
  constexpr int64_t kKeys = 2600, kRows = 3;
  this->on_each_problem({.h_q = 2, .h_kv = 1, .n_q = kRows, .n_kv = kKeys, .d_k = 4, .d_v = 5}, [&](const Call& call) {
    if (call.options.window_left == kUnlimited) return;
    for (const int64_t base : {0, -700, 12345}) {
      Call whole = call;
      whole.options.kv_offset = base;
      whole.options.q_offset = base + kKeys - kRows;
      const Result<TypeParam> expected = attend<TypeParam>(whole);
      for (const int64_t cut : {1, 63, 64, 100, 700, 1000, 1024, 1500, 2048, 2290}) {
        SCOPED_TRACE(cut);
        Call later = whole.keys(cut, kKeys - cut);
        later.options.kv_offset = base + cut;
        expect_same_bits(expected, attend<TypeParam>(later));
        for (const auto& executor : executors(2)) {
          expect_same_bits(expected, attend<TypeParam>(later, {.executor = executor.get()}));
        }
      }
    }
  });
}

TYPED_TEST(Bits, GarbageInWhatTakesNoPart) {
  constexpr int64_t kRows = 70, kKeys = 300;
  for (const Features& features : {Features{.name = "plain", .mask = true}, kAllFeatures}) {
    SCOPED_TRACE(features.name);
    const AttentionShape sizes = this->shape({.h_q = 2, .h_kv = 2, .n_q = kRows, .n_kv = kKeys, .d_k = 4, .d_v = 5});
    Problem<TypeParam> clean(sizes, features), dirty(sizes, features);
    // Keys that no row of head 0 sees, nor of head 1, whose garbage differs.
    for (int64_t j = 0; j < kKeys; ++j) {
      if (j % 7 != 0 && j / 32 % 3 != 1) continue;
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t i = 0; i < kRows; ++i) {
          const size_t entry = static_cast<size_t>((h * kRows + i) * kKeys + j);
          clean.mask[entry] = dirty.mask[entry] = false;
          if (!dirty.bias.empty()) dirty.bias[entry] = i % 2 == 0 ? this->kNaN : this->kInf;
        }
        for (int64_t d = 0; d < 4; ++d) dirty.k[static_cast<size_t>((h * kKeys + j) * 4 + d)] = this->kNaN;
        for (int64_t d = 0; d < 5; ++d) {
          dirty.v[static_cast<size_t>((h * kKeys + j) * 5 + d)] = (j + h) % 2 == 0 ? this->kNaN : -this->kInf;
        }
      }
    }
    on_each_target([&] { expect_same_bits(attend<TypeParam>(clean.call), attend<TypeParam>(dirty.call)); });
  }
}

TYPED_TEST(Bits, NaNInTheFutureDoesNotReachThePast) {
  constexpr int64_t kRows = 100, kBad = 57;
  const AttentionShape sizes = this->shape({.n_q = kRows, .n_kv = kRows, .d_k = 4, .d_v = 5});
  Problem<TypeParam> clean(sizes, {.name = "causal", .causal = true}), dirty(sizes, {.name = "causal", .causal = true});
  dirty.v[kBad * 5 + 2] = this->kNaN;
  dirty.v[(kBad + 3) * 5 + 4] = this->kInf;
  on_each_target([&] {
    Result<TypeParam> expected = attend<TypeParam>(clean.call);
    const Result<TypeParam> got = attend<TypeParam>(dirty.call);
    for (size_t i = kBad; i < kRows; ++i) {
      EXPECT_TRUE(std::isnan(got.o[i * 5 + 2]));
      expected.o[i * 5 + 2] = this->kNaN;
      if (i < kBad + 3) continue;
      EXPECT_FALSE(std::isfinite(got.o[i * 5 + 4]));
      expected.o[i * 5 + 4] = got.o[i * 5 + 4];
    }
    expect_same_bits(expected, got);
  });
}

TYPED_TEST(Bits, AnAllTrueMaskIsNoMask) {
  const std::unique_ptr<bool[]> yes(new bool[20 * 1100]);
  std::fill_n(yes.get(), 20 * 1100, true);
  this->on_each_problem(
      {.b = 2, .h_q = 2, .h_kv = 1, .n_q = 20, .n_kv = 1100, .d_k = 4, .d_v = 5}, [&](const Call& call) {
        if (call.options.mask.present()) return;
        const Result<TypeParam> none = attend<TypeParam>(call);
        for (const auto& [n_q, n_kv] : {std::pair<int64_t, int64_t>{20, 1100}, {1, 1100}, {20, 1}, {1, 1}}) {
          Call masked = call;
          masked.options.mask = view<const bool>(yes.get(), 1, 1, n_q, n_kv);
          expect_same_bits(none, attend<TypeParam>(masked));
        }
      });
}

TYPED_TEST(Bits, AWindowAsWideAsTheKeysIsCausal) {
  const Problem<TypeParam> problem(this->shape({.n_q = 100, .n_kv = 100, .d_k = 4, .d_v = 5}), kPlain);
  on_each_target([&] {
    Call causal = problem.call, window = problem.call;
    causal.options.causal = true;
    window.options.window_left = 99;
    window.options.window_right = 0;
    expect_same_bits(attend<TypeParam>(causal), attend<TypeParam>(window));
  });
}

// --- Values that are hard on bits ---

TYPED_TEST(Bits, SumsThatOverflowDoNotDependOnCompany) {
  // Values near the largest number: sums of them overflow in some rows and columns, means do not.
  constexpr TypeParam kLargest = std::numeric_limits<TypeParam>::max();
  Problem<TypeParam> problem(this->shape({.h_q = 2, .h_kv = 1, .n_q = 60, .n_kv = 1200, .d_k = 4, .d_v = 3}),
                             kAllFeatures);
  for (size_t j = 100; j < 1200; j += 3) problem.v[j * 3 + j % 2] = kLargest * TypeParam(0.75);
  const auto several = executors(3);
  on_each_target([&] {
    const Result<TypeParam> whole = attend<TypeParam>(problem.call);
    for (const TypeParam o : whole.o) ASSERT_TRUE(std::isfinite(o));
    Result<TypeParam> rows(problem.call);
    for (int64_t i = 0; i < 60; ++i) attend(chunk(problem.call, i, 1), slice(rows.outputs(), 2, i, 1));
    expect_same_bits(whole, rows);
    for (const auto& executor : several) {
      expect_same_bits(whole, attend<TypeParam>(problem.call, {.executor = executor.get()}));
    }
  });
}

TYPED_TEST(Bits, ZerosAreStoredPositive) {
  constexpr TypeParam kTiny = std::numeric_limits<TypeParam>::denorm_min();
  constexpr int64_t kKeys = 5;
  Problem<TypeParam> problem(this->shape({.n_q = 2, .n_kv = kKeys, .d_k = 2, .d_v = 3}), kPlain);
  problem.call.options.scale = 0;  // equal weights
  for (size_t j = 0; j < kKeys; ++j) {
    problem.v[j * 3] = TypeParam(-0.0);
    problem.v[j * 3 + 1] = TypeParam(j == 0 ? 1 : j == 1 ? -1 : -0.0);
    problem.v[j * 3 + 2] = j == 0 ? -kTiny : TypeParam(0);  // a fifth of it rounds to zero
  }
  on_each_target([&] {
    for (const TypeParam o : attend<TypeParam>(problem.call).o) EXPECT_TRUE(same_bits(o, TypeParam(0))) << o;
  });
}

}  // namespace
}  // namespace foveate
