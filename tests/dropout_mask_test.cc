// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The mask that dropout_mask() writes: the oracle's, for every option that has a say, in any memory, and its refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "foveate/dropout.h"
#include "reference/attention.h"
#include "reference/philox.h"
#include "tests/thread_executor.h"

namespace foveate::trial {
namespace {

constexpr int64_t kBatch = 2, kHeads = 3, kQueries = 5, kKeys = 83;

/// A mask of those extents somewhere in memory that holds 2 where nothing is written.
class Mask {
 public:
  Mask(const std::vector<int64_t>& stride, int64_t origin, int64_t bytes)
      : memory_(static_cast<size_t>(bytes), 2), origin_(origin) {
    std::copy_n(stride.begin(), 4, view_.stride);
    view_.data = memory_.data() + origin;
  }

  Status fill(const AttentionOptions& options, const Execution& execution = {}) {
    std::fill(memory_.begin(), memory_.end(), 2);
    return dropout_mask(view_, options, execution);
  }

  void expect_what_the_oracle_keeps(const AttentionOptions& options) const {
    reference::Problem<double> p{.n_q = kQueries, .n_kv = kKeys};
    p.align = options.align == Align::top_left ? reference::Align::top_left : reference::Align::bottom_right;
    p.q_offset = options.q_offset;
    p.kv_offset = options.kv_offset;
    std::vector<unsigned char> expected(memory_.size(), 2);
    if (options.q_lengths.present()) p.q_lengths = {kQueryLengths[0], kQueryLengths[1]};
    if (options.kv_lengths.present()) p.kv_lengths = {kKeyLengths[0], kKeyLengths[2]};
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t h = 0; h < kHeads; ++h)
        for (int64_t i = 0; i < kQueries; ++i)
          for (int64_t j = 0; j < kKeys; ++j) {
            const int64_t at = b * view_.stride[0] + h * view_.stride[1] + i * view_.stride[2] + j * view_.stride[3];
            expected[static_cast<size_t>(origin_ + at)] = reference::keeps(
                options.dropout, options.seed, b, h, reference::query_position(p, b, i), reference::key_position(p, j));
          }
    EXPECT_EQ(memory_, expected);
  }

  static constexpr int64_t kQueryLengths[2] = {4, 0};
  static constexpr int32_t kKeyLengths[3] = {83, 0, 60};  ///< the middle one is stepped over

 private:
  std::vector<unsigned char> memory_;
  int64_t origin_;
  Tensor view_ = {.dtype = DType::boolean, .shape = {kBatch, kHeads, kQueries, kKeys}};
};

Mask packed() {
  return Mask({kHeads * kQueries * kKeys, kQueries * kKeys, kKeys, 1}, 0, kBatch * kHeads * kQueries * kKeys);
}

TEST(DropoutMask, KeepsWhatTheOracleKeeps) {
  Mask mask = packed();
  for (const double p : {0.0, 1e-12, 0.1, 0.5, 0.99}) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{42}, uint64_t{0xfedcba9876543210}}) {
      const AttentionOptions options{.dropout = p, .seed = seed};
      ASSERT_TRUE(mask.fill(options).ok());
      mask.expect_what_the_oracle_keeps(options);
    }
  }
}

TEST(DropoutMask, CountsPositionsAsAttentionDoes) {
  Mask mask = packed();
  std::vector<AttentionOptions> calls;
  for (const int64_t offset : {int64_t{1}, int64_t{1023}, int64_t{-5}, int64_t{-1024}, int64_t{1} << 33}) {
    calls.push_back({.kv_offset = offset});
    calls.push_back({.q_offset = -offset});
    calls.push_back({.q_offset = offset, .kv_offset = 3 - offset});
  }
  calls.push_back({.q_lengths = view(Mask::kQueryLengths, kBatch)});
  calls.push_back({.kv_lengths = {Mask::kKeyLengths, DType::i32, kBatch, 2}});
  calls.push_back({.q_lengths = calls[calls.size() - 2].q_lengths, .kv_lengths = calls.back().kv_lengths});
  for (AttentionOptions& options : calls) {
    options.dropout = 0.4;
    options.seed = 11;
    for (const Align align : {Align::bottom_right, Align::top_left}) {
      options.align = align;
      ASSERT_TRUE(mask.fill(options).ok());
      mask.expect_what_the_oracle_keeps(options);
    }
  }
}

TEST(DropoutMask, WritesAnyMemoryAndNothingBesideIt) {
  const AttentionOptions options{.dropout = 0.5, .seed = 3};
  constexpr int64_t all = kBatch * kHeads * kQueries * kKeys;
  Mask turned({1, kBatch, kBatch * kHeads, kBatch * kHeads * kQueries}, 0, all);
  Mask spread({3 * kHeads * kQueries * kKeys, 3 * kQueries * kKeys, 3 * kKeys, 3}, 1, 3 * all + 5);
  Mask reversed({-kHeads * kQueries * kKeys, kQueries * kKeys, -kKeys, -1}, all / kBatch + kQueries * kKeys - 1,
                all + 7);
  for (Mask* mask : {&turned, &spread, &reversed}) {
    ASSERT_TRUE(mask->fill(options).ok());
    mask->expect_what_the_oracle_keeps(options);
  }
}

TEST(DropoutMask, OptionsWithoutASayAreNotLookedAt) {
  Mask mask = packed();
  const bool no = false;
  const AttentionOptions options{
      .causal = true, .window_left = 2, .mask = view(&no, 1, 1, 1, 1), .softcap = 3, .dropout = 0.5};
  ASSERT_TRUE(mask.fill(options).ok());
  mask.expect_what_the_oracle_keeps(options);
}

TEST(DropoutMask, ThreadsAndLongRowsDoNotMatter) {
  constexpr int64_t queries = 300, keys = 70000;  // a task of many rows in one direction, of one row in the other
  const auto filled = [](int64_t n_q, int64_t n_kv, const Execution& execution) {
    std::unique_ptr<bool[]> keep(new bool[static_cast<size_t>(n_q * n_kv)]);
    const Status status =
        dropout_mask(view(keep.get(), 1, 1, n_q, n_kv), {.q_offset = 0, .dropout = 0.5, .seed = 8}, execution);
    EXPECT_TRUE(status.ok()) << status.message();
    return std::vector<bool>(keep.get(), keep.get() + n_q * n_kv);
  };
  ThreadExecutor executor(3);
  for (const auto& [n_q, n_kv] : {std::pair{queries * 9, int64_t{83}}, {int64_t{3}, keys}}) {
    const std::vector<bool> serial = filled(n_q, n_kv, {});
    EXPECT_EQ(filled(n_q, n_kv, {.executor = &executor}), serial);
    for (int64_t i = 0; i < n_q; i += std::max<int64_t>(1, n_q / 7))
      for (int64_t j = 0; j < n_kv; ++j)
        ASSERT_EQ(serial[static_cast<size_t>(i * n_kv + j)], reference::keeps(0.5, 8, 0, 0, i, j)) << i << ' ' << j;
  }
}

TEST(DropoutMask, EmptyOnesAreWritten) {
  for (const auto& shape : {std::vector<int64_t>{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}}) {
    Tensor keep{.dtype = DType::boolean};
    std::copy_n(shape.begin(), 4, keep.shape);
    EXPECT_TRUE(dropout_mask(keep, {.dropout = 0.5}).ok());
  }
}

TEST(DropoutMask, AStopFlagStops) {
  const std::atomic<bool> stop = true;
  EXPECT_EQ(packed().fill({}, {.stop = &stop}).code(), StatusCode::cancelled);
}

TEST(DropoutMask, ErrorsNameTheArgument) {
  bool memory[2 * 5] = {};
  float number = 0;
  const int64_t lengths[] = {2, 6};
  const Tensor keep = view(memory, 2, 1, 1, 5);
  const auto said = [](const Tensor& view, const AttentionOptions& options) {
    const Status status = dropout_mask(view, options);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return std::string(status.message());
  };
  EXPECT_EQ(said({}, {}), "keep: dtype none; expected a bool array [b, h_q, n_q, n_kv]");
  EXPECT_EQ(said(view(&number, 1, 1, 1, 1), {}), "keep: dtype float32; expected a bool array [b, h_q, n_q, n_kv]");
  EXPECT_EQ(said({nullptr, DType::boolean, {1, 1, 1, 1}, {0, 0, 0, 0}}, {}), "keep: the data pointer is null");
  EXPECT_EQ(said({memory, DType::boolean, {1, 1, -2, 1}, {0, 0, 0, 0}}, {}), "keep: extent -2 of axis 2 is negative");
  EXPECT_EQ(said({memory, DType::boolean, {1, 1, 2, 5}, {0, 0, 0, 1}}, {}),
            "keep: its axes overlap or interleave in memory; expected a packed, sliced or transposed array");
  EXPECT_EQ(said(keep, {.dropout = 1}), "dropout: 1; expected a probability, at least 0 and below 1");
  EXPECT_EQ(said(keep, {.dropout = std::nan("")}), "dropout: nan; expected a probability, at least 0 and below 1");
  EXPECT_EQ(said(keep, {.kv_lengths = view(lengths, 2)}), "kv_lengths: entry 1 is 6; expected 0 to n_kv = 5");
  EXPECT_EQ(said(keep, {.q_lengths = view(lengths, 1)}), "q_lengths: 1 entries; expected b = 2");
  EXPECT_EQ(said(keep, {.q_offset = int64_t{1} << 61}), "q_offset: 2305843009213693952 is past 2^60");
  EXPECT_EQ(said(keep, {.kv_offset = -(int64_t{1} << 61)}), "kv_offset: -2305843009213693952 is past 2^60");
  alignas(8) bool shared[16] = {};
  EXPECT_EQ(said(view(shared, 2, 1, 1, 5), {.q_lengths = {shared, DType::i64, 2, 1}}),
            "keep: overlaps the input q_lengths in memory; give it memory of its own");
}

}  // namespace
}  // namespace foveate::trial
