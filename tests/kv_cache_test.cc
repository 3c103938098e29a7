// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/each_target.h"
#include "tests/held_cache.h"
#include "tests/kv_trial.h"
#include "tests/thread_executor.h"

namespace foveate {
namespace {

using trial::Attended;
using trial::Drawn;
using trial::Held;
using trial::on_each_target;
using trial::said;
using trial::same_rows;

// --- Against the model ---

TEST(KvCacheModel, AnyCalls) {
  on_each_target([] {
    for (uint64_t seed = 1; seed <= 300; ++seed) {
      trial::Choices choices(seed);
      ASSERT_EQ(trial::KvTrial(choices).run(60), "") << "seed " << seed;
    }
  });
}

TEST(KvCacheModel, ManyAppends) {
  for (const int64_t page_size : {int64_t{16}, kContiguous}) {
    trial::Choices choices(7);
    EXPECT_EQ(trial::KvTrial(choices, {.h_kv = 2, .d_k = 8, .d_v = 4, .page_size = page_size}).run(2000), "");
  }
}

// --- One row, one result ---

struct Types {
  DType q, k, v;
};
constexpr Types kTypes[] = {{DType::f32, DType::f32, DType::f32},    {DType::f16, DType::f16, DType::f16},
                            {DType::bf16, DType::bf16, DType::bf16}, {DType::f32, DType::i8, DType::i8},
                            {DType::f16, DType::i8, DType::bf16},    {DType::f64, DType::f64, DType::f64}};
constexpr int64_t kPageSizes[] = {1, 16, 64, 100, kContiguous};

/// A causal prompt of 150 tokens, and its rows by attention() over plain arrays.
class Prompt {
 public:
  static constexpr int64_t kHeads = 4, kKvHeads = 2, kLength = 150, kDim = 24, kDimV = 17;

  Prompt(const KvCacheOptions& options, DType dtype, uint64_t seed)
      : q(dtype, kHeads, kLength, kDim, Drawn::Order::bhnd, seed),
        k(DType::f32, kKvHeads, kLength, kDim, Drawn::Order::bnhd, seed + 1),
        v(DType::f32, kKvHeads, kLength, kDimV, Drawn::Order::bhnd, seed + 2),
        rows(dtype, 1, kHeads, kLength, kDimV) {
    const trial::KvModel model(options);
    trial::ModelSequence s = model.empty();
    model.append(s, k.view(), v.view());
    const AttentionOptions o = {
        .causal = true, .k_scales = s.k.view_scales(kLength), .v_scales = s.v.view_scales(kLength)};
    EXPECT_EQ(said(attention(q.view(), s.k.view(kLength), s.v.view(kLength), rows.outputs, o)), "");
  }

  static ConstTensor part(ConstTensor view, int64_t first, int64_t n) {
    view.data = static_cast<const char*>(view.data) + first * view.stride[2] * size_of(view.dtype);
    view.shape[2] = n;
    return view;
  }

  /// Appends tokens [first, first + n).
  void feed(KvCache& cache, int64_t sequence, int64_t first, int64_t n) const {
    ASSERT_EQ(said(cache.append(sequence, part(k.view(), first, n), part(v.view(), first, n))), "");
  }

  /// Attends from tokens [first, first + n), the last that were fed, the sequence standing last in its batch.
  void expect_rows(const KvCache& cache, std::vector<int64_t> batch, int64_t first, int64_t n) const {
    const auto b = static_cast<int64_t>(batch.size());
    ConstTensor queries = part(q.view(), first, n);
    queries.shape[0] = b;
    queries.stride[0] = 0;
    Attended got(q.view().dtype, b, kHeads, n, kDimV);
    ASSERT_EQ(said(cache.attend(queries, batch, got.outputs, {.causal = true})), "");
    Tensor o = rows.outputs.o, lse = rows.outputs.lse;
    for (Tensor* view : {&o, &lse}) {
      view->data = static_cast<char*>(view->data) + first * view->stride[2] * size_of(view->dtype);
    }
    ASSERT_TRUE(same_rows(o, got.outputs.o, b - 1, 0, n)) << "o, rows from " << first;
    ASSERT_TRUE(same_rows(lse, got.outputs.lse, b - 1, 0, n)) << "lse, rows from " << first;
  }

  Drawn q, k, v;
  Attended rows;
};

TEST(KvCacheBits, WholeInChunksAndTokenByToken) {
  on_each_target([] {
    for (const Types& types : kTypes) {
      for (const int64_t page_size : kPageSizes) {
        SCOPED_TRACE(trial::list_of({.k_dtype = types.k, .v_dtype = types.v, .page_size = page_size}));
        const KvCacheOptions options{.h_kv = Prompt::kKvHeads,
                                     .d_k = Prompt::kDim,
                                     .d_v = Prompt::kDimV,
                                     .k_dtype = types.k,
                                     .v_dtype = types.v,
                                     .page_size = page_size};
        Held held(options);
        const int64_t other = held.add();
        ASSERT_EQ(said(held.append(other, 40)), "");
        const Prompt prompt(options, types.q, 5);
        for (const int64_t chunk : {Prompt::kLength, int64_t{7}, int64_t{1}}) {
          const int64_t sequence = held.add();
          for (int64_t first = 0; first < Prompt::kLength; first += chunk) {
            const int64_t n = std::min(chunk, Prompt::kLength - first);
            prompt.feed(held.cache, sequence, first, n);
            prompt.expect_rows(held.cache, {sequence}, first, n);
            // The other grows beside it, so that pages interleave.
            ASSERT_EQ(said(held.append(other, 1 + first % 3)), "");
            prompt.expect_rows(held.cache, {other, held.first, sequence}, first, n);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  });
}

TEST(KvCacheBits, WhateverHappenedToThePages) {
  on_each_target([] {
    for (const Types& types : kTypes) {
      for (const int64_t page_size : kPageSizes) {
        SCOPED_TRACE(trial::list_of({.k_dtype = types.k, .v_dtype = types.v, .page_size = page_size}));
        const KvCacheOptions options{.h_kv = Prompt::kKvHeads,
                                     .d_k = Prompt::kDim,
                                     .d_v = Prompt::kDimV,
                                     .k_dtype = types.k,
                                     .v_dtype = types.v,
                                     .page_size = page_size};
        Held held(options);
        const Prompt prompt(options, types.q, 9);
        const int64_t gone = held.add();
        ASSERT_EQ(said(held.append(gone, 77)), "");
        prompt.feed(held.cache, held.first, 0, 90);
        const int64_t fork = held.fork(held.first);
        ASSERT_EQ(said(held.append(held.first, 30)), "");  // the original goes its own way
        ASSERT_EQ(said(held.cache.remove(gone)), "");
        ASSERT_EQ(said(held.cache.truncate(fork, 50)), "");
        prompt.feed(held.cache, fork, 50, 40);
        const int64_t second = held.fork(fork);
        ASSERT_EQ(said(held.cache.remove(fork)), "");
        prompt.feed(held.cache, second, 90, 60);
        prompt.expect_rows(held.cache, {second}, 0, Prompt::kLength);
        prompt.expect_rows(held.cache, {held.first, second}, 0, Prompt::kLength);
        ASSERT_EQ(said(held.cache.truncate(held.first, 90)), "");
        prompt.expect_rows(held.cache, {second, held.first}, 0, 90);
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

TEST(KvCacheBits, ConcurrentBatches) {
  Held held({.h_kv = 2, .d_k = 16, .d_v = 16, .page_size = 16});
  std::vector<int64_t> sequences = {held.first, held.add(), held.add(), held.add()};
  for (size_t i = 0; i < 4; ++i) ASSERT_EQ(said(held.append(sequences[i], 20 + 30 * static_cast<int64_t>(i), i)), "");
  const Drawn q(DType::f32, 2, 4, 16, Drawn::Order::bhnd, 3);
  ConstTensor queries = q.view();
  queries.shape[0] = 4;
  queries.stride[0] = 0;
  Attended want(DType::f32, 4, 2, 4, 16);
  ASSERT_EQ(said(held.cache.attend(queries, sequences, want.outputs)), "");
  struct Shared {
    const KvCache* cache;
    ConstTensor q;
    const std::vector<int64_t>* sequences;
    const std::vector<unsigned char>* want;
    std::atomic<int> wrong = 0;
  } shared{&held.cache, queries, &sequences, &want.o};
  ThreadExecutor four(4);
  four.run(
      64,
      [](void* context, int64_t, int64_t) {
        Shared& s = *static_cast<Shared*>(context);
        KvBatch batch;
        Attended got(DType::f32, 4, 2, 4, 16);
        const Status status = s.cache->attend(s.q, *s.sequences, got.outputs, {}, {}, &batch);
        if (!status.ok() || got.o != *s.want) ++s.wrong;
      },
      &shared);
  EXPECT_EQ(shared.wrong, 0);
}

TEST(KvCacheBits, WeightsAreShapedByTheView) {
  for (const int64_t page_size : {int64_t{16}, kContiguous}) {
    Held held({.h_kv = 1, .d_k = 4, .d_v = 4, .page_size = page_size});
    ASSERT_EQ(said(held.append(held.first, 21)), "");
    KvBatch batch;
    ASSERT_EQ(said(held.cache.view({&held.first, 1}, &batch)), "");
    const int64_t n_kv = batch.options().block_table.shape[1] * batch.k().shape[2];
    ASSERT_EQ(n_kv, page_size == kContiguous ? 21 : 32);
    const Drawn q(DType::f32, 1, 1, 4, Drawn::Order::bhnd, 3);
    std::vector<float> weights(static_cast<size_t>(n_kv), 5);
    ASSERT_EQ(said(attention(q.view(), batch.k(), batch.v(), {.weights = view(weights.data(), 1, 1, 1, n_kv)},
                             batch.options({.causal = true}))),
              "");
    double sum = 0;
    for (int64_t j = 0; j < n_kv; ++j) {
      EXPECT_EQ(weights[static_cast<size_t>(j)] > 0, j < 21);
      sum += static_cast<double>(weights[static_cast<size_t>(j)]);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

// --- Pages ---

TEST(KvCachePages, AForkTakesNoneUntilItIsWrittenTo) {
  for (const DType dtype : {DType::f32, DType::i8}) {
    Held held({.h_kv = 2, .d_k = 8, .d_v = 4, .k_dtype = dtype, .v_dtype = dtype, .page_size = 16, .max_pages = 20});
    ASSERT_EQ(said(held.append(held.first, 40)), "");
    const size_t page = 16 * 2 * (dtype == DType::f32 ? 12 * 4 : 12 + 2 * 4);
    EXPECT_EQ(held.cache.usage().bytes_in_use, 3 * page);
    EXPECT_EQ(held.cache.usage().bytes_held, 20 * page);
    const int64_t a = held.fork(held.first), b = held.fork(a);
    EXPECT_EQ(held.cache.usage().bytes_in_use, 3 * page);
    EXPECT_EQ(held.cache.usage().sequences, 3);
    ASSERT_EQ(said(held.append(a, 1)), "");  // a copy of the last page
    EXPECT_EQ(held.cache.usage().bytes_in_use, 4 * page);
    ASSERT_EQ(said(held.append(b, 8)), "");  // another
    EXPECT_EQ(held.cache.usage().bytes_in_use, 5 * page);
    ASSERT_EQ(said(held.append(held.first, 8)), "");  // its own by now
    EXPECT_EQ(held.cache.usage().bytes_in_use, 5 * page);
    ASSERT_EQ(said(held.cache.truncate(b, 32)), "");  // a whole number of pages: nothing to copy
    ASSERT_EQ(said(held.append(b, 1)), "");
    EXPECT_EQ(held.cache.usage().bytes_in_use, 5 * page);
    for (const int64_t sequence : {held.first, a, b}) ASSERT_EQ(said(held.cache.remove(sequence)), "");
    EXPECT_EQ(held.cache.usage().bytes_in_use, 0u);
    EXPECT_EQ(held.cache.usage().pages_free, 20);
  }
}

TEST(KvCachePages, NoneLeft) {
  Held held({.h_kv = 1, .d_k = 4, .d_v = 4, .page_size = 8, .max_pages = 4});
  ASSERT_EQ(said(held.append(held.first, 20)), "");
  const int64_t fork = held.fork(held.first);
  const Status full = held.append(fork, 5);  // a copy and one more
  EXPECT_EQ(full.code(), StatusCode::out_of_memory);
  EXPECT_EQ(said(full),
            "pages: 2 wanted, 1 of max_pages = 4 free; remove or truncate sequences, or create the cache with more");
  EXPECT_EQ(held.cache.length(fork), 20);
  EXPECT_EQ(held.cache.usage().pages_in_use, 3);
  EXPECT_EQ(said(held.append(fork, 4)), "");
  EXPECT_EQ(held.append(held.first, 5).code(), StatusCode::out_of_memory);
  ASSERT_EQ(said(held.cache.remove(fork)), "");
  EXPECT_EQ(said(held.append(held.first, 12)), "");
  EXPECT_EQ(held.cache.usage().pages_free, 0);
}

TEST(KvCachePages, NumbersAreNotGivenTwice) {
  Held held({});
  const int64_t second = held.add();
  ASSERT_EQ(said(held.cache.remove(second)), "");
  EXPECT_NE(held.add(), second);
  EXPECT_EQ(held.cache.length(second), -1);
  KvCache moved = std::move(held.cache);
  EXPECT_EQ(moved.length(held.first), 0);
  EXPECT_EQ(moved.usage().sequences, 2);
}

// --- Errors ---

TEST(KvCacheErrors, Options) {
  const auto create = [](const KvCacheOptions& options) {
    KvCache cache;
    const Status status = KvCache::create(options, &cache);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return said(status);
  };
  const float scales[] = {1, -1};
  EXPECT_EQ(create({.h_kv = 0}), "h_kv: 0; expected at least 1");
  EXPECT_EQ(create({.d_k = 0}), "d_k: 0; expected at least 1");
  EXPECT_EQ(create({.d_v = -1}), "d_v: -1; expected at least 0");
  EXPECT_EQ(create({.k_dtype = DType::i32}),
            "k_dtype: dtype int32 is not a float type; expected float32, float64, float16 or bfloat16");
  EXPECT_EQ(create({.v_dtype = DType::f64}),
            "v_dtype: float64 beside k_dtype's float32; float64 goes with itself alone");
  EXPECT_EQ(create({.page_size = -2}), "page_size: -2; expected keys to a page, or 0 (kContiguous)");
  EXPECT_EQ(create({.max_pages = -2}), "max_pages: -2; expected 0 to 2147483647, or -1 for no bound");
  EXPECT_EQ(create({.page_size = kContiguous, .max_pages = 5}),
            "max_pages: given, but page_size is kContiguous; for fixed memory set page_size to the longest length a "
            "sequence may reach");
  EXPECT_EQ(create({.d_k = int64_t{1} << 32, .page_size = int64_t{1} << 32}), "page_size: more than 2^60 elements");
  EXPECT_EQ(create({.d_k = 2, .k_scales = view<const float>(scales, 1, 1, 1, 2)}),
            "k_scales: given, but k_dtype is float32; scales go with int8 alone");
  EXPECT_EQ(create({.d_k = 2, .k_dtype = DType::i8, .k_scales = view<const float>(scales, 1, 1, 1, 2)}),
            "k_scales: head 0, channel 1 is -1; expected a finite number, not negative");
  EXPECT_EQ(create({.d_k = 2, .k_dtype = DType::i8, .k_scales = view<const float>(scales, 1, 1, 1, 1)}),
            "k_scales: 1 channels; expected d_k = 2");
  EXPECT_EQ(said(KvCache::create({}, nullptr)), "cache: the pointer is null");
}

TEST(KvCacheErrors, Calls) {
  Held held({.h_kv = 2, .d_k = 4, .d_v = 3});
  KvCache& cache = held.cache;
  ASSERT_EQ(said(held.append(held.first, 5)), "");
  const std::vector<float> x(2 * 6 * 4, 1);
  const auto rows = [&x](int64_t h, int64_t n, int64_t d) { return view<const float>(x.data(), 1, h, n, d); };
  EXPECT_EQ(said(cache.append(7, rows(2, 1, 4), rows(2, 1, 3))),
            "sequence: 7 is not in the cache; it was removed, or add() never gave it");
  EXPECT_EQ(said(cache.append(held.first, rows(1, 1, 4), rows(2, 1, 3))),
            "k: shape [1, 1, 1, 4]; expected [1, 2, 1, 4]");
  EXPECT_EQ(said(cache.append(held.first, rows(2, 2, 4), rows(2, 1, 3))),
            "v: shape [1, 2, 1, 3]; expected [1, 2, 2, 3]");
  EXPECT_EQ(said(cache.append(held.first, {}, rows(2, 1, 3))), "k: missing; expected an array of a float type");
  EXPECT_EQ(said(cache.append(held.first, {nullptr, DType::f32, {1, 2, 1, 4}, {8, 4, 4, 1}}, rows(2, 1, 3))),
            "k: the data pointer is null");
  EXPECT_EQ(said(cache.truncate(held.first, 6)), "length: 6; expected 0 to the sequence's 5");
  EXPECT_EQ(said(cache.truncate(held.first, -1)), "length: -1; expected 0 to the sequence's 5");
  EXPECT_EQ(said(cache.remove(-1)), "sequence: -1 is not in the cache; it was removed, or add() never gave it");
  int64_t copy = 0;
  EXPECT_EQ(said(cache.fork(99, &copy)), "sequence: 99 is not in the cache; it was removed, or add() never gave it");
  EXPECT_EQ(said(cache.fork(held.first, nullptr)), "copy: the pointer is null");
  EXPECT_EQ(said(cache.add(nullptr)), "sequence: the pointer is null");
  EXPECT_EQ(said(cache.view({&held.first, 1}, nullptr)), "batch: the pointer is null");
  KvBatch batch;
  ASSERT_EQ(said(cache.view({&held.first, 1}, &batch)), "");
  ConstTensor own = batch.k();
  own.shape[0] = 1;
  own.shape[2] = 1;
  EXPECT_EQ(said(cache.append(held.first, own, rows(2, 1, 3))), "k: lies in the cache's own memory; append a copy");
  EXPECT_EQ(said(batch.reserve(-1, 2)), "sequences: -1; expected at least 0");
  EXPECT_EQ(cache.length(held.first), 5);
  EXPECT_EQ(cache.usage().pages_in_use, 1);
}

TEST(KvCacheErrors, Attention) {
  Held held({.h_kv = 2, .d_k = 4, .d_v = 3});
  ASSERT_EQ(said(held.append(held.first, 5)), "");
  const Drawn q(DType::f32, 2, 1, 4, Drawn::Order::bhnd, 1);
  Attended out(DType::f32, 1, 2, 1, 3);
  const auto attend = [&](std::vector<int64_t> sequences, const AttentionOptions& options = {}) {
    const Status status = held.cache.attend(q.view(), sequences, out.outputs, options);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return said(status);
  };
  const int64_t one = 1;
  const float number = 1;
  const ConstTensor scale = view<const float>(&number, 1, 1, 1, 1);
  EXPECT_EQ(attend({held.first, held.first}), "sequences: 2 entries; expected one for each of q's 1");
  EXPECT_EQ(attend({5}), "sequences: 5 is not in the cache; it was removed, or add() never gave it");
  EXPECT_EQ(attend({held.first}, {.kv_lengths = view<const int64_t>(&one, 1)}),
            "kv_lengths: given, but it comes from the cache; leave it out");
  EXPECT_EQ(attend({held.first}, {.kv_starts = view<const int64_t>(&one, 1)}),
            "kv_starts: given, but it comes from the cache; leave it out");
  EXPECT_EQ(attend({held.first}, {.block_table = view<const int64_t>(&one, 1, 1)}),
            "block_table: given, but it comes from the cache; leave it out");
  EXPECT_EQ(attend({held.first}, {.k_scales = scale}), "k_scales: given, but it comes from the cache; leave it out");
  EXPECT_EQ(attend({held.first}, {.v_scales = scale}), "v_scales: given, but it comes from the cache; leave it out");
  EXPECT_EQ(attend({held.first}, {.window_left = -2}),
            "window_left: -2 is below -1; expected a width, or -1 for no bound");
}

TEST(KvCacheErrors, BeforeCreate) {
  KvCache cache;
  KvBatch batch;
  int64_t number = 0;
  const std::string message = "cache: not created yet; call KvCache::create() first";
  EXPECT_EQ(said(cache.add(&number)), message);
  EXPECT_EQ(said(cache.fork(0, &number)), message);
  EXPECT_EQ(said(cache.append(0, {}, {})), message);
  EXPECT_EQ(said(cache.truncate(0, 0)), message);
  EXPECT_EQ(said(cache.remove(0)), message);
  EXPECT_EQ(said(cache.view({}, &batch)), message);
  EXPECT_EQ(cache.length(0), -1);
  EXPECT_EQ(cache.usage().bytes_held, 0u);
}

}  // namespace
}  // namespace foveate
