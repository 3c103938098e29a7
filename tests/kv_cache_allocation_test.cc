// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a cache allocates and when, and that nothing has changed where an allocation failed.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "foveate/kv_cache.h"
#include "tests/kv_trial.h"

namespace {
/// Allocations so far, and the one of them that is to fail; -1: none.
int64_t allocations = 0, failing = -1;

void* allocated(size_t size, size_t alignment) {
  if (allocations++ == failing) return nullptr;
  return alignment == 0 ? std::malloc(size)
                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
}  // namespace

// Both forms that the library uses, and the plain one, which the standard library does.
void* operator new(size_t size) {
  if (void* const memory = allocated(size, 0)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocated(size, 0); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocated(size, 0); }
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocated(size, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }

namespace foveate {
namespace {

using trial::Attended;
using trial::Drawn;

std::string said(const Status& status) { return status.message(); }

template <class Body>
int64_t allocations_of(const Body& body) {
  const int64_t before = allocations;
  body();
  return allocations - before;
}

TEST(KvCacheAllocation, NoneWhileDecoding) {
  for (const DType dtype : {DType::f32, DType::i8}) {
    KvCache cache;
    ASSERT_EQ(said(KvCache::create({.h_kv = 2, .d_k = 8, .d_v = 8, .k_dtype = dtype, .page_size = 4, .max_pages = 99},
                                   &cache)),
              "");
    int64_t a = 0, b = 0;
    ASSERT_EQ(said(cache.add(&a)), "");
    ASSERT_EQ(said(cache.add(&b)), "");
    KvBatch batch;
    ASSERT_EQ(said(batch.reserve(2, 20)), "");
    const Drawn rows(DType::f32, 2, 1, 8, Drawn::Order::bhnd, 1);
    ConstTensor q = rows.view();
    q.shape[0] = 2;
    q.stride[0] = 0;
    Attended out(DType::f32, 2, 2, 1, 8);
    AttentionPlan plan;
    ASSERT_EQ(said(attention_plan({.b = 2, .h_q = 2, .h_kv = 2, .n_q = 1, .n_kv = 80, .d_k = 8, .d_v = 8}, 1, &plan)),
              "");
    std::vector<char> memory(plan.workspace_bytes);
    const Execution execution{.workspace = memory.data(), .workspace_bytes = memory.size()};
    const int64_t sequences[] = {b, a};
    bool ok = true;
    EXPECT_EQ(allocations_of([&] {
                for (int i = 0; i < 60; ++i) {
                  ok = ok && cache.append(a, rows.view(), rows.view()).ok();
                  if (i % 2 == 0) ok = ok && cache.append(b, rows.view(), rows.view()).ok();
                  ok = ok && cache.attend(q, sequences, out.outputs, {.causal = true}, execution, &batch).ok();
                }
                int64_t fork = 0;
                ok = ok && cache.fork(a, &fork).ok() && cache.append(fork, rows.view(), rows.view()).ok();
                ok = ok && cache.truncate(fork, 7).ok() && cache.remove(fork).ok();
              }),
              0);
    EXPECT_TRUE(ok);
  }
}

TEST(KvCacheAllocation, FailuresChangeNothing) {
  for (const int64_t page_size : {int64_t{4}, kContiguous}) {
    KvCache cache;
    const KvCacheOptions options{
        .h_kv = 2, .d_k = 3, .d_v = 2, .k_dtype = DType::i8, .v_dtype = DType::i8, .page_size = page_size};
    ASSERT_EQ(said(KvCache::create(options, &cache)), "");
    int64_t sequence = 0, copy = 0;
    ASSERT_EQ(said(cache.add(&sequence)), "");
    const Drawn k(DType::f32, 2, 70, 3, Drawn::Order::bhnd, 1), v(DType::f32, 2, 70, 2, Drawn::Order::bhnd, 2);
    trial::KvModel model(options);
    trial::ModelSequence s = model.empty();
    int failures = 0;
    for (int i = 0; i < 4; ++i) {  // rows and scales of k and of v, then the pages: each fails once
      for (int64_t nth = 0;; ++nth) {
        failing = allocations + nth;
        const Status status = cache.append(sequence, k.view(), v.view());
        failing = -1;
        if (status.ok()) break;
        ++failures;
        ASSERT_EQ(status.code(), StatusCode::out_of_memory);
        ASSERT_EQ(cache.length(sequence), s.length);
        ASSERT_NE(said(status).find("remove sequences, or store a narrower type"), std::string::npos);
      }
      model.append(s, k.view(), v.view());
    }
    EXPECT_GT(failures, 5);
    for (int i = 1; i < 8; ++i) ASSERT_EQ(said(cache.fork(sequence, &copy)), "");
    failing = allocations;
    EXPECT_EQ(said(cache.fork(sequence, &copy)), "sequence: no memory for one more beside 8");
    failing = -1;

    const Drawn q(DType::f32, 2, 3, 3, Drawn::Order::bhnd, 3);
    Attended got(DType::f32, 1, 2, 3, 2), want(DType::f32, 1, 2, 3, 2);
    KvBatch batch;
    for (const int64_t nth : {0, 1}) {
      failing = allocations + nth;
      const Status status = cache.attend(q.view(), {&sequence, 1}, got.outputs, {}, {}, &batch);
      failing = -1;
      EXPECT_EQ(status.code(), StatusCode::out_of_memory) << nth;
    }
    ASSERT_EQ(said(cache.attend(q.view(), {&sequence, 1}, got.outputs, {}, {}, &batch)), "");
    const AttentionOptions o{.k_scales = s.k.view_scales(s.length), .v_scales = s.v.view_scales(s.length)};
    ASSERT_EQ(said(attention(q.view(), s.k.view(s.length), s.v.view(s.length), want.outputs, o)), "");
    EXPECT_EQ(got.o, want.o);
  }
}

TEST(KvCacheAllocation, MoreThanAddressesReach) {
  KvCache cache;
  const Status status = KvCache::create({.d_k = 1024,
                                         .d_v = 1024,
                                         .k_dtype = DType::f64,
                                         .v_dtype = DType::f64,
                                         .page_size = 1 << 20,
                                         .max_pages = 1 << 30},
                                        &cache);
  EXPECT_EQ(status.code(), StatusCode::out_of_memory);
  EXPECT_EQ(
      said(status),
      "max_pages: no memory for 1073741824 of 1048576 keys, 16384 bytes a key; ask for fewer, or a narrower type");
  KvBatch batch;
  failing = allocations + 1;
  EXPECT_EQ(said(batch.reserve(10, 50)), "batch: no memory for a block table of 500 entries");
  failing = -1;
}

TEST(KvCacheAllocation, ACacheThatCannotBeMadeLeavesTheOldOne) {
  KvCache cache;
  ASSERT_EQ(said(KvCache::create({}, &cache)), "");
  int64_t sequence = 0;
  ASSERT_EQ(said(cache.add(&sequence)), "");
  int failures = 0;
  for (int64_t nth = 0;; ++nth) {
    KvCache other;
    failing = allocations + nth;
    const Status status = KvCache::create({.d_k = 4, .max_pages = 3}, nth < 9 ? &cache : &other);
    failing = -1;
    if (status.ok()) break;
    ++failures;
    EXPECT_EQ(status.code(), StatusCode::out_of_memory);
    EXPECT_EQ(cache.length(sequence), 0);
  }
  EXPECT_EQ(failures, 4);  // the cache, keys, values, pages
  EXPECT_EQ(cache.usage().pages_free, 3);
}

}  // namespace
}  // namespace foveate
