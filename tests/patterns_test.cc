// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The bitmaps of patterns.h against their definition, pair by pair.
#include "foveate/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace foveate {
namespace {

struct Blocks {
  int64_t heads, rows, columns;
  std::unique_ptr<bool[]> kept;

  Blocks(const BlockPattern& p, int64_t h)
      : heads(h),
        rows((p.n_q + p.block_size - 1) / p.block_size),
        columns((p.n_kv + p.block_size - 1) / p.block_size),
        kept(new bool[static_cast<size_t>(heads * rows * columns)]) {
    const Status status = make_blocks(p, view(kept.get(), 1, heads, rows, columns));
    EXPECT_TRUE(status.ok()) << status.message();
  }
  bool at(int64_t h, int64_t i, int64_t j) const { return kept[static_cast<size_t>((h * rows + i) * columns + j)]; }
  int64_t in_row(int64_t h, int64_t i) const {
    return std::count(&kept[(h * rows + i) * columns], &kept[(h * rows + i + 1) * columns], true);
  }
};

/// Whether the pattern without its random blocks lets query i and key j meet.
bool meet(const BlockPattern& p, int64_t i, int64_t j) {
  const int64_t position = i + p.n_kv - p.n_q;
  if (p.causal && j > position) return false;
  const bool left = p.window_left == kUnlimited || j >= position - p.window_left;
  const bool right = p.window_right == kUnlimited || j <= position + p.window_right;
  return (left && right) || j < p.global_tokens || (position >= 0 && position < p.global_tokens);
}

TEST(Patterns, WindowAndGlobalTokensPairByPair) {
  for (const bool causal : {false, true})
    for (const int64_t size : {1, 5, 16, 64})
      for (const auto& [n_q, n_kv] : {std::pair<int64_t, int64_t>{90, 90}, {20, 90}, {90, 20}, {1, 70}})
        for (const int64_t left : {int64_t{0}, int64_t{10}, kUnlimited})
          for (const int64_t right : {int64_t{0}, int64_t{3}, kUnlimited})
            for (const int64_t global : {0, 1, 6}) {
              const BlockPattern p = {.n_q = n_q,
                                      .n_kv = n_kv,
                                      .block_size = size,
                                      .window_left = left,
                                      .window_right = right,
                                      .global_tokens = global,
                                      .causal = causal};
              const Blocks blocks(p, 1);
              std::vector<char> want(static_cast<size_t>(blocks.rows * blocks.columns), 0);
              for (int64_t i = 0; i < n_q; ++i)
                for (int64_t j = 0; j < n_kv; ++j)
                  if (meet(p, i, j)) want[static_cast<size_t>(i / size * blocks.columns + j / size)] = 1;
              for (int64_t i = 0; i < blocks.rows; ++i)
                for (int64_t j = 0; j < blocks.columns; ++j)
                  ASSERT_EQ(blocks.at(0, i, j), want[static_cast<size_t>(i * blocks.columns + j)] != 0)
                      << "block " << i << ", " << j << " of size " << size << ", n " << n_q << " x " << n_kv
                      << ", window " << left << "," << right << ", global " << global << (causal ? ", causal" : "");
            }
}

TEST(Patterns, RandomBlocksAreSoManyMoreInEachRow) {
  BlockPattern p = {
      .n_q = 1024, .n_kv = 1024, .block_size = 32, .window_left = 32, .window_right = 32, .global_tokens = 32};
  const Blocks without(p, 1);
  p.random_blocks = 3;
  p.seed = 5;
  const Blocks with(p, 2);
  bool differ = false;
  for (int64_t i = 0; i < with.rows; ++i) {
    const int64_t left = with.columns - without.in_row(0, i);
    for (int64_t h = 0; h < 2; ++h) {
      EXPECT_EQ(with.in_row(h, i), without.in_row(0, i) + std::min<int64_t>(left, 3)) << "head " << h << ", row " << i;
      for (int64_t j = 0; j < with.columns; ++j) EXPECT_TRUE(with.at(h, i, j) || !without.at(0, i, j));
    }
    for (int64_t j = 0; j < with.columns; ++j) differ |= with.at(0, i, j) != with.at(1, i, j);
  }
  EXPECT_TRUE(differ) << "both heads drew the same blocks";
}

TEST(Patterns, RandomBlocksOfACausalPatternLieInThePast) {
  const BlockPattern p = {.n_q = 640, .n_kv = 640, .block_size = 64, .random_blocks = 100, .causal = true};
  const Blocks blocks(p, 1);
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(blocks.in_row(0, i), i + 1);
}

// 4,000 rows draw one of 20 blocks each: 200 expected of each, 13.8 the standard deviation.
TEST(Patterns, RandomBlocksAreDrawnEvenly) {
  const BlockPattern p = {.n_q = 4000, .n_kv = 20, .block_size = 1, .window_left = 0, .random_blocks = 1, .seed = 1};
  BlockPattern none = p;
  none.random_blocks = 0;
  const Blocks blocks(p, 1), diagonal(none, 1);
  std::vector<int64_t> drawn(20, 0);
  for (int64_t i = 0; i < 3900; ++i)
    for (int64_t j = 0; j < 20; ++j) drawn[static_cast<size_t>(j)] += blocks.at(0, i, j) && !diagonal.at(0, i, j);
  for (int64_t n : drawn) EXPECT_NEAR(static_cast<double>(n), 195.0, 70.0);
}

std::string message_of(const BlockPattern& p, const Tensor& blocks) {
  const Status status = make_blocks(p, blocks);
  return status.ok() ? "made" : status.message();
}

TEST(Patterns, BlocksMayBeAsLargeAsAllThereIs) {
  constexpr int64_t kMost = int64_t{1} << 60;
  bool kept = false;
  EXPECT_EQ(message_of({.n_q = kMost, .n_kv = kMost, .block_size = kMost}, view(&kept, 1, 1, 1, 1)), "made");
  EXPECT_TRUE(kept);
}

TEST(Patterns, WrongArgumentsAreRefused) {
  bool kept[6] = {};
  const Tensor blocks = view(kept, 1, 1, 2, 3);
  EXPECT_EQ(message_of({.n_q = 65, .n_kv = 130}, blocks), "made");
  EXPECT_EQ(message_of({.n_q = 64, .n_kv = 130}, blocks), "blocks: shape [1, 1, 2, 3]; expected [1, 1, 1, 3]");
  EXPECT_EQ(message_of({.n_q = 65, .n_kv = 130, .block_size = 0}, blocks), "block_size: 0; expected 1 to 2^60");
  EXPECT_EQ(message_of({.n_q = 65, .n_kv = 130, .window_left = -2}, blocks), "window_left: -2; expected -1 to 2^60");
  EXPECT_EQ(message_of({.n_q = 65, .n_kv = 130, .random_blocks = -1}, blocks), "random_blocks: -1; expected 0 to 2^60");
  constexpr int64_t kMost = int64_t{1} << 60;
  EXPECT_EQ(message_of({.n_q = -1, .n_kv = 130}, blocks), "n_q: -1; expected 0 to 2^60");
  EXPECT_EQ(message_of({.n_q = 65, .n_kv = kMost + 1}, blocks), "n_kv: 1152921504606846977; expected 0 to 2^60");
  Tensor floats = blocks;
  floats.dtype = DType::f32;
  EXPECT_EQ(message_of({.n_q = 65, .n_kv = 130}, floats), "blocks: dtype float32; expected a bool array");
}

}  // namespace
}  // namespace foveate
