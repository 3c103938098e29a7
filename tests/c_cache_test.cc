// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The cache, the figures and the traces, through C as through C++.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "foveate/foveate_c.h"
#include "foveate/inspect.h"
#include "foveate/kv_cache.h"
#include "foveate/trace.h"
#include "tests/c_views.h"
#include "tests/call.h"

namespace foveate {
namespace {

using trial::in_c;
using trial::Message;

/// A cache through C++ and one through C, to which the same is done.
class CCache : public testing::Test {
 protected:
  static constexpr int64_t kHeads = 4, kKvHeads = 2, kDk = 9, kDv = 5;

  void create(DType stored, int64_t page_size) {
    ASSERT_TRUE(KvCache::create({.h_kv = kKvHeads,
                                 .d_k = kDk,
                                 .d_v = kDv,
                                 .k_dtype = stored,
                                 .v_dtype = stored,
                                 .page_size = page_size,
                                 .max_pages = page_size == kContiguous ? kUnlimited : 64},
                                &cpp_)
                    .ok());
    foveate_kv_cache_options options = FOVEATE_KV_CACHE_OPTIONS_INIT;
    options.h_kv = kKvHeads, options.d_k = kDk, options.d_v = kDv;
    options.k_dtype = options.v_dtype = in_c(stored);
    options.page_size = page_size;
    options.max_pages = page_size == kContiguous ? FOVEATE_UNLIMITED : 64;
    foveate_kv_cache_end(c_);
    ASSERT_C_OK(foveate_kv_cache_create(&options, &c_, message_.text, sizeof message_.text), message_);
  }
  void TearDown() override { foveate_kv_cache_end(c_); }

  void append(int64_t sequence, const Call& call) {
    ASSERT_TRUE(cpp_.append(sequence, call.k, call.v).ok());
    const foveate_const_tensor k = in_c(call.k), v = in_c(call.v);
    ASSERT_C_OK(foveate_kv_cache_append(c_, sequence, &k, &v, message_.text, sizeof message_.text), message_);
  }

  KvCache cpp_;
  foveate_kv_cache* c_ = nullptr;
  Message message_;
};

TEST_F(CCache, HoldsAndGivesWhatThatOfCppDoes) {
  const Problem<float> prompt({.h_q = kHeads, .h_kv = kKvHeads, .n_q = 130, .n_kv = 130, .d_k = kDk, .d_v = kDv},
                              kPlain);
  const Problem<float> token({.h_q = kHeads, .h_kv = kKvHeads, .n_q = 1, .n_kv = 1, .d_k = kDk, .d_v = kDv}, kPlain, 2);
  const Problem<float> rows({.b = 3, .h_q = kHeads, .h_kv = kKvHeads, .n_q = 3, .n_kv = 1, .d_k = kDk, .d_v = kDv},
                            kPlain, 3);
  foveate_kv_batch* batch = nullptr;
  ASSERT_C_OK(foveate_kv_batch_create(&batch, message_.text, sizeof message_.text), message_);
  ASSERT_C_OK(foveate_kv_batch_reserve(batch, 3, 9, message_.text, sizeof message_.text), message_);
  for (const DType stored : {DType::f32, DType::bf16, DType::i8}) {
    for (const int64_t page_size : {int64_t{64}, int64_t{16}, kContiguous}) {
      create(stored, page_size);
      int64_t expected[2], got[2];
      ASSERT_TRUE(cpp_.add(&expected[0]).ok());
      ASSERT_C_OK(foveate_kv_cache_add(c_, &got[0], message_.text, sizeof message_.text), message_);
      append(expected[0], prompt.call);
      ASSERT_TRUE(cpp_.fork(expected[0], &expected[1]).ok());
      ASSERT_C_OK(foveate_kv_cache_fork(c_, got[0], &got[1], message_.text, sizeof message_.text), message_);
      ASSERT_EQ(expected[0], got[0]);
      ASSERT_EQ(expected[1], got[1]);
      append(expected[1], token.call);
      ASSERT_TRUE(cpp_.truncate(expected[0], 77).ok());
      ASSERT_C_OK(foveate_kv_cache_truncate(c_, got[0], 77, message_.text, sizeof message_.text), message_);
      EXPECT_EQ(foveate_kv_cache_length(c_, got[0]), 77);
      EXPECT_EQ(foveate_kv_cache_length(c_, got[1]), 131);
      EXPECT_EQ(foveate_kv_cache_length(c_, 1000), -1);

      const KvCacheUsage usage = cpp_.usage();
      foveate_kv_cache_usage used = FOVEATE_KV_CACHE_USAGE_INIT;
      ASSERT_C_OK(foveate_kv_cache_get_usage(c_, &used, message_.text, sizeof message_.text), message_);
      EXPECT_EQ(used.sequences, usage.sequences);
      EXPECT_EQ(used.pages_in_use, usage.pages_in_use);
      EXPECT_EQ(used.pages_free, usage.pages_free);
      EXPECT_EQ(used.bytes_in_use, usage.bytes_in_use);
      EXPECT_EQ(used.bytes_held, usage.bytes_held);

      const int64_t named[] = {expected[1], expected[0], expected[1]};
      const AttentionOptions options = {.causal = true, .softcap = 2};
      const foveate_attention_options in = in_c(options);
      const foveate_const_tensor q = in_c(rows.call.q);
      const auto result = [] { return std::vector<float>(3 * kHeads * 3 * kDv, 7.0f); };
      std::vector<float> of_cpp = result(), of_c = result(), of_views = result();
      const auto out = [](std::vector<float>& o) { return view(o.data(), 3, kHeads, 3, kDv); };
      ASSERT_TRUE(cpp_.attend(rows.call.q, named, {.o = out(of_cpp)}, options).ok());
      for (foveate_kv_batch* memory : {static_cast<foveate_kv_batch*>(nullptr), batch}) {
        const foveate_attention_outputs outputs = in_c(AttentionOutputs{.o = out(of_c)});
        ASSERT_C_OK(foveate_kv_cache_attend(c_, &q, named, 3, &outputs, &in, nullptr, memory, message_.text,
                                            sizeof message_.text),
                    message_);
        expect_same_bits(of_cpp, of_c, "o");
      }

      // The same by views: the other options stay as they were.
      foveate_const_tensor k, v;
      foveate_attention_options viewed = in;
      ASSERT_C_OK(foveate_kv_cache_view(c_, named, 3, batch, &k, &v, &viewed, message_.text, sizeof message_.text),
                  message_);
      EXPECT_EQ(viewed.softcap, 2);
      const foveate_attention_outputs outputs = in_c(AttentionOutputs{.o = out(of_views)});
      ASSERT_C_OK(foveate_attention(&q, &k, &v, &outputs, &viewed, nullptr, message_.text, sizeof message_.text),
                  message_);
      expect_same_bits(of_cpp, of_views, "o");

      ASSERT_C_OK(foveate_kv_cache_remove(c_, got[0], message_.text, sizeof message_.text), message_);
      EXPECT_EQ(foveate_kv_cache_length(c_, got[0]), -1);
      EXPECT_EQ(foveate_kv_cache_truncate(c_, got[0], 1, message_.text, sizeof message_.text),
                FOVEATE_INVALID_ARGUMENT);
      EXPECT_TRUE(cpp_.remove(expected[0]).ok());
      EXPECT_STREQ(message_.text, cpp_.truncate(expected[0], 1).message());
    }
  }
  foveate_kv_batch_end(batch);
}

TEST_F(CCache, NullsAreRefused) {
  char* const text = message_.text;
  constexpr size_t kSize = sizeof message_.text;
  const auto refused = [&](foveate_status status, const char* expected) {
    EXPECT_EQ(status, FOVEATE_INVALID_ARGUMENT);
    EXPECT_STREQ(text, expected);
  };
  int64_t n = 0;
  foveate_const_tensor x = FOVEATE_NO_TENSOR;
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  const char* const no_cache = "cache: the pointer is null";
  refused(foveate_kv_cache_create(nullptr, nullptr, text, kSize), no_cache);
  refused(foveate_kv_cache_add(nullptr, &n, text, kSize), no_cache);
  refused(foveate_kv_cache_fork(nullptr, 0, &n, text, kSize), no_cache);
  refused(foveate_kv_cache_append(nullptr, 0, &x, &x, text, kSize), no_cache);
  refused(foveate_kv_cache_truncate(nullptr, 0, 0, text, kSize), no_cache);
  refused(foveate_kv_cache_remove(nullptr, 0, text, kSize), no_cache);
  refused(foveate_kv_cache_get_usage(nullptr, nullptr, text, kSize), no_cache);
  refused(foveate_kv_cache_attend(nullptr, &x, &n, 1, nullptr, nullptr, nullptr, nullptr, text, kSize), no_cache);
  refused(foveate_kv_cache_view(nullptr, &n, 1, nullptr, &x, &x, &options, text, kSize), no_cache);
  EXPECT_EQ(foveate_kv_cache_length(nullptr, 0), -1);
  foveate_kv_cache_end(nullptr);
  foveate_kv_batch_end(nullptr);
  foveate_kv_cache_options wrong = FOVEATE_KV_CACHE_OPTIONS_INIT;
  wrong.d_k = -1;
  auto* cache = reinterpret_cast<foveate_kv_cache*>(&n);
  EXPECT_EQ(foveate_kv_cache_create(&wrong, &cache, text, kSize), FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(cache, nullptr) << "something to end";
  refused(foveate_kv_batch_create(nullptr, text, kSize), "batch: the pointer is null");
  refused(foveate_kv_batch_reserve(nullptr, 1, 1, text, kSize), "batch: the pointer is null");

  create(DType::f32, 64);
  refused(foveate_kv_cache_add(c_, nullptr, text, kSize), "sequence: the pointer is null");
  refused(foveate_kv_cache_fork(c_, 0, nullptr, text, kSize), "copy: the pointer is null");
  refused(foveate_kv_cache_get_usage(c_, nullptr, text, kSize), "usage: the pointer is null");
  refused(foveate_kv_cache_attend(c_, &x, nullptr, 1, nullptr, nullptr, nullptr, nullptr, text, kSize),
          "sequences: the pointer is null");
  refused(foveate_kv_cache_attend(c_, &x, &n, -1, nullptr, nullptr, nullptr, nullptr, text, kSize),
          "n_sequences: -1; expected 0 or more");
  refused(foveate_kv_cache_view(c_, &n, 1, nullptr, &x, &x, &options, text, kSize), "batch: the pointer is null");
}

bool same_bytes(const void* a, const void* b, size_t n) { return std::memcmp(a, b, n) == 0; }

TEST(CInspect, FiguresAreThoseOfCpp) {
  const Problem<float> problem({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 37, .n_kv = 131, .d_k = 9, .d_v = 1}, kAllFeatures);
  struct Figures {
    std::vector<HeadFigures> heads = std::vector<HeadFigures>(8);
    std::vector<RowFigures> rows = std::vector<RowFigures>(8 * 37);
    std::vector<double> received = std::vector<double>(8 * 131);
    std::vector<KeyWeight> top = std::vector<KeyWeight>(8 * 37 * 3);
    std::vector<float> largest = std::vector<float>(8 * 4 * 5), mean = std::vector<float>(8 * 4 * 5);
  } expected, got;
  ASSERT_TRUE(inspect(problem.call.q, problem.call.k,
                      {.heads = expected.heads.data(),
                       .rows = expected.rows.data(),
                       .received = expected.received.data(),
                       .top = expected.top.data(),
                       .top_keys = 3,
                       .maps = {4, 5, expected.largest.data(), expected.mean.data()}},
                      problem.call.options)
                  .ok());
  foveate_inspect_outputs outputs = FOVEATE_INSPECT_OUTPUTS_INIT;
  outputs.heads = reinterpret_cast<foveate_head_figures*>(got.heads.data());
  outputs.rows = reinterpret_cast<foveate_row_figures*>(got.rows.data());
  outputs.received = got.received.data();
  outputs.top = reinterpret_cast<foveate_key_weight*>(got.top.data());
  outputs.top_keys = 3;
  outputs.map_rows = 4, outputs.map_columns = 5;
  outputs.map_largest = got.largest.data(), outputs.map_mean = got.mean.data();
  const foveate_const_tensor q = in_c(problem.call.q), k = in_c(problem.call.k);
  const foveate_attention_options options = in_c(problem.call.options);
  Message message;
  ASSERT_C_OK(foveate_inspect(&q, &k, &outputs, &options, nullptr, message.text, sizeof message.text), message);
  EXPECT_TRUE(same_bytes(expected.heads.data(), got.heads.data(), sizeof(HeadFigures) * got.heads.size()));
  EXPECT_TRUE(same_bytes(expected.rows.data(), got.rows.data(), sizeof(RowFigures) * got.rows.size()));
  EXPECT_TRUE(same_bytes(expected.top.data(), got.top.data(), sizeof(KeyWeight) * got.top.size()));
  EXPECT_EQ(expected.received, got.received);
  EXPECT_EQ(expected.largest, got.largest);
  EXPECT_EQ(expected.mean, got.mean);
  EXPECT_EQ(outputs.heads[3].largest_weight.key, expected.heads[3].largest_weight.key);
  EXPECT_EQ(outputs.rows[40].entropy, expected.rows[40].entropy);

  int64_t tasks = 0, of_cpp = 0;
  const AttentionShape shape = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 37, .n_kv = 131, .d_k = 9};
  ASSERT_TRUE(inspect_tasks(shape, 3, &of_cpp).ok());
  const foveate_attention_shape in = in_c(shape);
  ASSERT_C_OK(foveate_inspect_tasks(&in, 3, &tasks, message.text, sizeof message.text), message);
  EXPECT_EQ(tasks, of_cpp);
  EXPECT_EQ(foveate_inspect_tasks(&in, 3, nullptr, nullptr, 0), FOVEATE_INVALID_ARGUMENT);
}

TEST(CTrace, LeadsWhereCppDoes) {
  Problem<float> problem({.b = 1, .h_q = 4, .h_kv = 2, .n_q = 7, .n_kv = 13, .d_k = 3, .d_v = 2}, kPlain);
  problem.k[3 * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
  problem.v[13 * 2 + 5] = std::numeric_limits<float>::infinity();
  NotFinite expected[4];
  foveate_not_finite got[4];
  ASSERT_TRUE(trace(problem.call.q, problem.call.k, problem.call.v, expected).ok());
  const foveate_const_tensor q = in_c(problem.call.q), k = in_c(problem.call.k), v = in_c(problem.call.v);
  Message message;
  ASSERT_C_OK(foveate_trace(&q, &k, &v, got, 4, nullptr, nullptr, message.text, sizeof message.text), message);
  EXPECT_EQ(got[0].origin, FOVEATE_ORIGIN_K);
  EXPECT_EQ(got[2].origin, FOVEATE_ORIGIN_V);
  for (int h = 0; h < 4; ++h) {
    EXPECT_EQ(got[h].rows, expected[h].rows);
    EXPECT_EQ(got[h].row, expected[h].row);
    EXPECT_EQ(got[h].origin, static_cast<int32_t>(expected[h].origin));
    EXPECT_EQ(got[h].overflow, expected[h].overflow);
    EXPECT_EQ(got[h].key, expected[h].key);
    EXPECT_EQ(got[h].component, expected[h].component);
    EXPECT_EQ(std::isnan(got[h].value), std::isnan(expected[h].value));
    EXPECT_EQ(got[h].outcome, static_cast<int64_t>(expected[h].outcome));
  }
  EXPECT_EQ(foveate_trace(&q, &k, &v, got, 3, nullptr, nullptr, message.text, sizeof message.text),
            FOVEATE_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "heads: room for 3 records; expected 4, b * h_q");
  EXPECT_EQ(foveate_trace(&q, &k, &v, nullptr, 4, nullptr, nullptr, nullptr, 0), FOVEATE_INVALID_ARGUMENT);
  EXPECT_EQ(foveate_trace(nullptr, &k, &v, got, 4, nullptr, nullptr, message.text, sizeof message.text),
            FOVEATE_INVALID_ARGUMENT);
  foveate_const_tensor wild = q;
  for (const int64_t extent : {INT64_MAX, INT64_MIN, int64_t{-1}}) {
    wild.shape[0] = extent;
    EXPECT_EQ(foveate_trace(&wild, &k, &v, got, 4, nullptr, nullptr, nullptr, 0), FOVEATE_INVALID_ARGUMENT);
    EXPECT_EQ(foveate_trace(&q, &k, &v, got, extent, nullptr, nullptr, nullptr, 0), FOVEATE_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace foveate
