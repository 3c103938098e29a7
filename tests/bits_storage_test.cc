// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One row, one result, of narrow types: what bits_test asks of float32 and float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "foveate/attention.h"
#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/scattered.h"
#include "tests/stored_problem.h"

namespace foveate {
namespace {

using trial::on_each_target;

template <class F>
class BitsOfStorage : public testing::Test {
 public:
  template <class Body>
  static void on_each_problem(const AttentionShape& sizes, const Body& body) {
    for (const Features& features : kFeatures) {
      SCOPED_TRACE(features.name);
      const StoredProblem<F> problem(sizes, features);
      on_each_target([&] { body(problem.call); });
      if (testing::Test::HasFailure()) return;
    }
  }
};
TYPED_TEST_SUITE(BitsOfStorage, NarrowFamilies);

TYPED_TEST(BitsOfStorage, WorkersDoNotMatter) {
  using Q = typename TypeParam::Q;
  std::vector<std::unique_ptr<Executor>> all;
  for (const int workers : {1, 3}) {
    for (auto& executor : executors(workers)) all.push_back(std::move(executor));
  }
  for (const AttentionShape& sizes :
       {AttentionShape{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 70, .n_kv = 150, .d_k = 7, .d_v = 5},
        AttentionShape{.h_q = 3, .h_kv = 3, .n_q = 1, .n_kv = 5000, .d_k = 9, .d_v = 17},
        AttentionShape{.h_q = 8, .h_kv = 1, .n_q = 1, .n_kv = 2100, .d_k = 64, .d_v = 64}}) {
    this->on_each_problem(sizes, [&](const Call& call) {
      const Result<Q> serial = attend<Q>(call);
      for (const auto& executor : all) expect_same_bits(serial, attend<Q>(call, {.executor = executor.get()}));
    });
  }
}

TYPED_TEST(BitsOfStorage, WorkspaceContentsDoNotMatter) {
  using Q = typename TypeParam::Q;
  const AttentionShape sizes = {
      .h_q = 2, .h_kv = 1, .n_q = 60, .n_kv = 1300, .d_k = 8, .d_v = 5, .dtype = dtype_of<Q>()};
  this->on_each_problem(sizes, [&](const Call& call) {
    AttentionPlan plan;
    ASSERT_TRUE(attention_plan(sizes, 1, &plan).ok());
    const Result<Q> own = attend<Q>(call);
    for (const char garbage : {'\x00', '\x7F', '\xFF'}) {
      std::vector<char> memory(plan.workspace_bytes + 1, garbage);
      const Execution execution = {.workspace = memory.data() + 1, .workspace_bytes = plan.workspace_bytes};
      expect_same_bits(own, attend<Q>(call, execution));
    }
  });
}

TYPED_TEST(BitsOfStorage, TheHostsFloatingPointModeDoesNotMatter) {
  using Q = typename TypeParam::Q;
  const StoredProblem<TypeParam> problem({.h_q = 2, .h_kv = 1, .n_q = 20, .n_kv = 300, .d_k = 33, .d_v = 21},
                                         kAllFeatures);
  on_each_target([&] {
    const Result<Q> expected = attend<Q>(problem.call);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      ASSERT_EQ(std::fesetround(mode), 0);
      Result<Q> got(problem.call);
      const Status status =
          attention(problem.call.q, problem.call.k, problem.call.v, got.outputs(), problem.call.options);
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      ASSERT_TRUE(status.ok()) << status.message();
      expect_same_bits(expected, got);
    }
  });
}

TYPED_TEST(BitsOfStorage, WhichOutputsAreAskedForDoesNotMatter) {
  using Q = typename TypeParam::Q;
  for (const int64_t n_q : {1, 30}) {
    this->on_each_problem({.h_q = 2, .h_kv = 1, .n_q = n_q, .n_kv = 1100, .d_k = 17, .d_v = 5}, [&](const Call& call) {
      const Result<Q> both = attend<Q>(call);
      Result<Q> alone(call), with(call);
      std::vector<Q> weights(static_cast<size_t>(2 * n_q * 1100)), again(weights);
      attend(call, {.o = alone.outputs().o});
      attend(call, {.lse = alone.outputs().lse});
      expect_same_bits(both, alone);
      const Tensor view_of_weights = view(weights.data(), 1, 2, n_q, 1100);
      attend(call, {.o = with.outputs().o, .lse = with.outputs().lse, .weights = view_of_weights});
      expect_same_bits(both, with);
      attend(call, {.weights = view(again.data(), 1, 2, n_q, 1100)});
      expect_same_bits(weights, again, "weights");
    });
  }
}

TYPED_TEST(BitsOfStorage, StridesDoNotMatter) {
  using Q = typename TypeParam::Q;
  using K = typename TypeParam::K;
  using V = typename TypeParam::V;
  const typename Scattered<Q>::Form forms[] = {{{0, 1, 2, 3}, 1, false, 1},  // misaligned
                                               {{0, 2, 1, 3}, 1, false, 0},  // bnhd
                                               {{0, 1, 3, 2}, 1, false, 3},  // transposed
                                               {{3, 2, 1, 0}, 1, false, 0},  // Fortran order
                                               {{0, 2, 1, 3}, 3, false, 5},  // every third element
                                               {{1, 0, 2, 3}, 2, true, 1}};  // backwards
  const auto as = [](auto form, auto like) {
    return decltype(like){
        {form.order[0], form.order[1], form.order[2], form.order[3]}, form.apart, form.reversed, form.shift};
  };
  for (const int64_t n_q : {1, 50}) {
    this->on_each_problem({.b = 2, .h_q = 4, .h_kv = 2, .n_q = n_q, .n_kv = 70, .d_k = 35, .d_v = 21},
                          [&](const Call& call) {
                            const Result<Q> packed = attend<Q>(call);
                            for (const auto& form : forms) {
                              const Scattered<Q> q(call.q, form);
                              const Scattered<K> k(call.k, as(form, typename Scattered<K>::Form{}));
                              const Scattered<V> v(call.v, as(form, typename Scattered<V>::Form{}));
                              Call moved = {q.view, k.view, v.view, call.options};
                              std::vector<Scattered<float>> scales;
                              scales.reserve(2);
                              for (ConstTensor* part : {&moved.options.k_scales, &moved.options.v_scales}) {
                                if (part->present())
                                  *part = scales.emplace_back(*part, as(form, Scattered<float>::Form{})).view;
                              }
                              Result<Q> got(call);
                              const Scattered<Q> o(got.outputs().o, form);
                              attend(moved, {.o = o.view, .lse = got.outputs().lse});
                              Scattered<Q>::copy(o.view, got.outputs().o);
                              expect_same_bits(packed, got);
                            }
                          });
  }
}

TYPED_TEST(BitsOfStorage, PlaceInTheBatchDoesNotMatter) {
  using Q = typename TypeParam::Q;
  const std::vector<int64_t> q_lengths = {37, 0, 5, 36, 1}, kv_lengths = {90, 90, 64, 1, 0};
  this->on_each_problem({.b = 5, .h_q = 4, .h_kv = 2, .n_q = 37, .n_kv = 90, .d_k = 6, .d_v = 7},
                        [&](const Call& call) {
                          for (const bool with_lengths : {false, true}) {
                            Call five = call;
                            if (with_lengths) {
                              five.options.q_lengths = view(q_lengths.data(), 5);
                              five.options.kv_lengths = view(kv_lengths.data(), 5);
                            }
                            const Result<Q> together = attend<Q>(five);
                            Result<Q> alone(five);
                            for (int64_t b = 0; b < 5; ++b) attend(five.batches(b, 1), slice(alone.outputs(), 0, b, 1));
                            expect_same_bits(together, alone);
                          }
                        });
}

TYPED_TEST(BitsOfStorage, HeadsThatShareATileDoNotMatter) {
  using Q = typename TypeParam::Q;
  for (const int64_t n_q : {1, 2, 5, 50}) {
    this->on_each_problem({.h_q = 10, .h_kv = 2, .n_q = n_q, .n_kv = 130, .d_k = 33, .d_v = 20}, [&](const Call& call) {
      const Result<Q> together = attend<Q>(call);
      Result<Q> alone(call);
      for (int64_t h = 0; h < 10; ++h) attend(call.head(h), slice(alone.outputs(), 1, h, 1));
      expect_same_bits(together, alone);
    });
  }
}

TYPED_TEST(BitsOfStorage, APromptInChunksIsThePromptWhole) {
  using Q = typename TypeParam::Q;
  for (const int64_t d : {9, 64}) {
    this->on_each_problem({.h_q = 3, .h_kv = 1, .n_q = 101, .n_kv = d == 9 ? 1100 : 170, .d_k = d, .d_v = d - 4},
                          [&](const Call& whole) {
                            const Result<Q> expected = attend<Q>(whole);
                            for (const int64_t size : {1, 3, 7, 16, 48, 100}) {
                              SCOPED_TRACE(size);
                              Result<Q> chunks(whole);
                              for (int64_t i = 0; i < 101; i += size) {
                                const int64_t count = std::min<int64_t>(size, 101 - i);
                                attend(chunk(whole, i, count), slice(chunks.outputs(), 2, i, count));
                              }
                              expect_same_bits(expected, chunks);
                            }
                          });
  }
}

TYPED_TEST(BitsOfStorage, TokenByTokenFromThreadsIsThePromptWhole) {
  using Q = typename TypeParam::Q;
  const auto several = executors(3);
  this->on_each_problem({.h_q = 2, .h_kv = 2, .n_q = 5, .n_kv = 2500, .d_k = 16, .d_v = 19}, [&](const Call& whole) {
    const Result<Q> expected = attend<Q>(whole);
    for (const auto& executor : several) {
      Result<Q> tokens(whole);
      for (int64_t i = 0; i < 5; ++i) {
        attend(chunk(whole, i, 1), slice(tokens.outputs(), 2, i, 1), {.executor = executor.get()});
      }
      expect_same_bits(expected, tokens);
    }
  });
}

/// The worst that an element can hold: NaN, or of int8 the largest.
template <class E>
E worst() {
  return trial::element_of<E>(std::is_same_v<E, int8_t> ? 127 : std::numeric_limits<double>::quiet_NaN());
}

TYPED_TEST(BitsOfStorage, ABiggerCacheIsAnExactOne) {
  using Q = typename TypeParam::Q;
  constexpr int64_t kFilled = 1090, kCache = 2200;
  for (const int64_t n_q : {1, 20}) {
    for (const Features& features : kFeatures) {
      SCOPED_TRACE(features.name);
      StoredProblem<TypeParam> problem({.h_q = 2, .h_kv = 1, .n_q = n_q, .n_kv = kCache, .d_k = 4, .d_v = 5}, features);
      const int64_t filled = kFilled;
      on_each_target([&] {
        const Result<Q> exact = attend<Q>(problem.call.keys(0, kFilled));
        Call cache = problem.call;
        cache.options.kv_lengths = view(&filled, 1);
        expect_same_bits(exact, attend<Q>(cache));
        std::fill(problem.k.begin() + kFilled * 4, problem.k.end(), worst<typename TypeParam::K>());
        std::fill(problem.v.begin() + kFilled * 5, problem.v.end(), worst<typename TypeParam::V>());
        for (auto* scales : {&problem.k_scales, &problem.v_scales}) {
          if (scales->size() == kCache) std::fill(scales->begin() + kFilled, scales->end(), worst<float>());
        }
        expect_same_bits(exact, attend<Q>(cache));
      });
    }
  }
}

TYPED_TEST(BitsOfStorage, KeysCutOffInFrontByAnOffset) {
  using Q = typename TypeParam::Q;
  constexpr int64_t kKeys = 2600, kRows = 3;
  this->on_each_problem({.h_q = 2, .h_kv = 1, .n_q = kRows, .n_kv = kKeys, .d_k = 17, .d_v = 5}, [&](const Call& call) {
    if (call.options.window_left == kUnlimited) return;
    for (const int64_t base : {0, -700}) {
      Call whole = call;
      whole.options.kv_offset = base;
      whole.options.q_offset = base + kKeys - kRows;
      const Result<Q> expected = attend<Q>(whole);
      for (const int64_t cut : {1, 63, 64, 100, 1000, 1024, 1500, 2290}) {
        SCOPED_TRACE(cut);
        Call later = whole.keys(cut, kKeys - cut);
        later.options.kv_offset = base + cut;
        expect_same_bits(expected, attend<Q>(later));
      }
    }
  });
}

TYPED_TEST(BitsOfStorage, GarbageInWhatTakesNoPart) {
  using Q = typename TypeParam::Q;
  constexpr int64_t kKeys = 300;
  for (const int64_t n_q : {1, 70}) {
    for (const Features& features : {Features{.name = "plain", .mask = true}, kAllFeatures}) {
      SCOPED_TRACE(features.name);
      const AttentionShape sizes = {.n_q = n_q, .n_kv = kKeys, .d_k = 4, .d_v = 5};
      StoredProblem<TypeParam> clean(sizes, features), dirty(sizes, features);
      std::vector<unsigned char> allowed(static_cast<size_t>(n_q * kKeys));
      for (int64_t j = 0; j < kKeys; ++j) {
        const bool seen = j % 7 != 0 && j / 32 % 3 != 1;
        for (int64_t i = 0; i < n_q; ++i) allowed[i * kKeys + j] = seen;
        if (seen) continue;
        std::fill_n(dirty.k.begin() + j * 4, 4, worst<typename TypeParam::K>());
        std::fill_n(dirty.v.begin() + j * 5, 5, worst<typename TypeParam::V>());
        for (auto* scales : {&dirty.k_scales, &dirty.v_scales}) {
          if (scales->size() == kKeys)
            (*scales)[j] = j % 2 == 0 ? worst<float>() : std::numeric_limits<float>::infinity();
        }
      }
      for (auto* problem : {&clean, &dirty}) {
        problem->call.options.mask = view<const bool>(reinterpret_cast<const bool*>(allowed.data()), 1, 1, n_q, kKeys);
      }
      on_each_target([&] { expect_same_bits(attend<Q>(clean.call), attend<Q>(dirty.call)); });
    }
  }
}

TYPED_TEST(BitsOfStorage, NaNWhereWindowsEndIsSeenByWhoSeesIt) {
  using Q = typename TypeParam::Q;
  constexpr int64_t kRows = 330;
  for (const int64_t window : {int64_t{40}, int64_t{150}, kUnlimited}) {
    SCOPED_TRACE(window);
    StoredProblem<TypeParam> problem({.h_q = 2, .h_kv = 1, .n_q = kRows, .n_kv = kRows, .d_k = 24, .d_v = 20},
                                     Features{.name = "causal", .causal = true});
    problem.call.options.window_left = window;
    for (const int64_t j : {30, 100, 101, 200, 329}) {
      problem.v[j * 20 + j % 20] = worst<typename TypeParam::V>();
      if (!problem.v_scales.empty())
        problem.v_scales[j] = j % 2 == 0 ? worst<float>() : std::numeric_limits<float>::infinity();
    }
    on_each_target([&] {
      const Result<Q> expected = attend<Q>(problem.call);
      for (const int64_t size : {1, 7, 48}) {
        Result<Q> chunks(problem.call);
        for (int64_t i = 0; i < kRows; i += size) {
          const int64_t count = std::min(size, kRows - i);
          attend(chunk(problem.call, i, count), slice(chunks.outputs(), 2, i, count));
        }
        expect_same_bits(expected, chunks);
      }
    });
  }
}

TYPED_TEST(BitsOfStorage, ZerosAreStoredPositive) {
  using Q = typename TypeParam::Q;
  using V = typename TypeParam::V;
  StoredProblem<TypeParam> problem({.n_q = 2, .n_kv = 5, .d_k = 2, .d_v = 3}, kPlain);
  problem.call.options.scale = 0;                                           // equal weights
  constexpr double tiny = std::is_same_v<V, Float16> ? 0x1p-24 : 0x1p-133;  // a fifth of it rounds to zero
  for (size_t j = 0; j < 5; ++j) {
    for (size_t d = 0; d < 3; ++d) problem.v[j * 3 + d] = trial::element_of<V>(-0.0);
    if (!std::is_same_v<V, int8_t>) problem.v[j * 3 + 2] = trial::element_of<V>(j == 0 ? -tiny : 0);
  }
  if (!problem.v_scales.empty()) std::fill(problem.v_scales.begin(), problem.v_scales.end(), -1.0f);
  on_each_target([&] {
    const Result<Q> result = attend<Q>(problem.call);
    for (size_t i = 0; i < result.o.size(); ++i) {
      if (std::is_same_v<Q, float> && i % 3 == 2) continue;  // float32 holds the fifth
      EXPECT_TRUE(same_bits(result.o[i], Q())) << i << ": " << trial::number_of(result.o[i]);
    }
  });
}

}  // namespace
}  // namespace foveate
