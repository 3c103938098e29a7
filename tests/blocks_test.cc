// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Blocks that are kept or not, as they relate to masks; their numbers are judged with all others (kernel_test,
// backward_test and the fuzzer draw them).
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "tests/packed_call.h"

namespace foveate::trial {
namespace {

constexpr int64_t kSizes[] = {1, 7, 16, 32, 48, 64, 100, 128, 4096};

/// A bitmap for a call, and the mask that says the same.
struct Bitmap {
  int64_t size, rows, columns;
  std::vector<unsigned char> blocks, mask;

  Bitmap(const AttentionShape& s, int64_t block_size, int64_t one_in)
      : size(block_size), rows((s.n_q + size - 1) / size), columns((s.n_kv + size - 1) / size) {
    std::mt19937_64 random(static_cast<uint64_t>(block_size * 100 + one_in));
    blocks.resize(static_cast<size_t>(s.b * s.h_q * rows * columns));
    for (unsigned char& kept : blocks) kept = random() % static_cast<uint64_t>(one_in) == 0;
    for (int64_t head = 0; head < s.b * s.h_q; ++head)
      for (int64_t i = 0; i < s.n_q; ++i)
        for (int64_t j = 0; j < s.n_kv; ++j)
          mask.push_back(blocks[static_cast<size_t>((head * rows + i / size) * columns + j / size)]);
  }

  void set(PackedCall<float>& call) const {
    const AttentionShape& s = call.shape;
    call.options.blocks = view<const bool>(reinterpret_cast<const bool*>(blocks.data()), s.b, s.h_q, rows, columns);
    call.options.block_size = size;
  }
};

const AttentionShape kShape = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 130, .n_kv = 1150, .d_k = 9, .d_v = 7};

TEST(Blocks, AreAMaskToTheBit) {
  for (const int64_t size : kSizes) {
    for (const int64_t one_in : {2, 10}) {
      SCOPED_TRACE(testing::Message() << "block_size " << size << ", one in " << one_in);
      const Bitmap bitmap(kShape, size, one_in);
      PackedCall<float> by_blocks(kShape), by_mask(kShape);
      bitmap.set(by_blocks);
      by_mask.mask = bitmap.mask;
      expect_same(by_blocks, by_mask);
    }
  }
}

TEST(Blocks, AllKeptAreNoBlocksToTheBit) {
  for (const int64_t size : kSizes) {
    SCOPED_TRACE(testing::Message() << "block_size " << size);
    const Bitmap bitmap(kShape, size, 1);
    PackedCall<float> with(kShape), without(kShape);
    bitmap.set(with);
    expect_same(with, without);
  }
}

TEST(Blocks, HoldBesideAMaskACausalOneAndAWindow) {
  const Bitmap bitmap(kShape, 48, 2);
  PackedCall<float> by_blocks(kShape), by_mask(kShape);
  std::mt19937_64 random(3);
  by_blocks.mask.resize(by_blocks.weights_size());
  for (unsigned char& x : by_blocks.mask) x = random() % 3 != 0;
  by_mask.mask = by_blocks.mask;
  for (size_t i = 0; i < by_mask.mask.size(); ++i) by_mask.mask[i] = by_mask.mask[i] && bitmap.mask[i];
  bitmap.set(by_blocks);
  for (PackedCall<float>* call : {&by_blocks, &by_mask}) {
    call->options.causal = true;
    call->options.window_left = 700;
  }
  expect_same(by_blocks, by_mask);
}

TEST(Blocks, NaNInBlocksThatAreNotKeptHasNoEffect) {
  const AttentionShape shape = {.n_q = 64, .n_kv = 256, .d_k = 5, .d_v = 3};
  Bitmap bitmap(shape, 64, 1);
  bitmap.blocks[1] = bitmap.blocks[3] = 0;
  PackedCall<float> clean(shape), poisoned(shape);
  bitmap.set(clean);
  bitmap.set(poisoned);
  for (int64_t j = 0; j < shape.n_kv; ++j) {
    if (bitmap.blocks[static_cast<size_t>(j / 64)]) continue;
    for (int64_t d = 0; d < shape.d_k; ++d) poisoned.k[static_cast<size_t>(j * shape.d_k + d)] = kNaN<float>;
    for (int64_t d = 0; d < shape.d_v; ++d) poisoned.value(j, d) = kNaN<float>;
  }
  expect_same(clean, poisoned);
}

TEST(Blocks, ARowWithoutAnyIsEmpty) {
  const AttentionShape shape = {.n_q = 96, .n_kv = 2100, .d_k = 5, .d_v = 3};
  Bitmap bitmap(shape, 32, 1);
  std::fill(bitmap.blocks.begin() + bitmap.columns, bitmap.blocks.begin() + 2 * bitmap.columns, 0);
  PackedCall<float> call(shape);
  bitmap.set(call);
  on_each_target(call, [&] {
    for (int64_t i = 0; i < shape.n_q; ++i) {
      const bool empty = i / 32 == 1;
      EXPECT_EQ(call.lse[static_cast<size_t>(i)] == -kInf<float>, empty) << i;
      EXPECT_EQ(call.out(i, 0) == 0, empty) << i;
    }
  });
}

/// Gradients of a call, as one array after the other.
std::vector<float> gradients_of(PackedCall<float>& call) {
  const AttentionShape& s = call.shape;
  EXPECT_TRUE(call.attend().ok());
  std::vector<float> dq(call.q.size()), dk(call.k.size()), dv(call.v.size());
  const PackedCall<float> draws({.b = s.b, .h_q = s.h_q, .h_kv = s.h_kv, .n_q = s.n_q, .n_kv = 1, .d_k = s.d_v});
  const auto rows = [](auto& x, int64_t b, int64_t h, int64_t n, int64_t d) { return view(x.data(), b, h, n, d); };
  const Status status =
      attention_backward(rows(call.q, s.b, s.h_q, s.n_q, s.d_k), rows(call.k, s.b, s.h_kv, s.n_kv, s.d_k),
                         rows(call.v, s.b, s.h_kv, s.n_kv, s.d_v), rows(call.o, s.b, s.h_q, s.n_q, s.d_v),
                         rows(call.lse, s.b, s.h_q, s.n_q, 1), rows(draws.q, s.b, s.h_q, s.n_q, s.d_v),
                         {.dq = rows(dq, s.b, s.h_q, s.n_q, s.d_k),
                          .dk = rows(dk, s.b, s.h_kv, s.n_kv, s.d_k),
                          .dv = rows(dv, s.b, s.h_kv, s.n_kv, s.d_v)},
                         call.options);
  EXPECT_TRUE(status.ok()) << status.message();
  dq.insert(dq.end(), dk.begin(), dk.end());
  dq.insert(dq.end(), dv.begin(), dv.end());
  return dq;
}

// Tiles are cut by the size of a block, and sums over rows go tile by tile: only where both cut alike are their bits equal.
TEST(Blocks, GradientsAreThoseOfTheMask) {
  for (const int64_t size : kSizes) {
    SCOPED_TRACE(testing::Message() << "block_size " << size);
    const Bitmap bitmap(kShape, size, 3);
    PackedCall<float> by_blocks(kShape), by_mask(kShape);
    bitmap.set(by_blocks);
    by_mask.mask = bitmap.mask;
    on_each_target([&] {
      const std::vector<float> got = gradients_of(by_blocks), want = gradients_of(by_mask);
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-5) << "element " << i;
    });
  }
}

/// The message that a call is refused by.
std::string message_of(PackedCall<float>& call) {
  const Status status = call.attend();
  return status.ok() ? "accepted" : status.message();
}

TEST(Blocks, WrongOnesAreRefused) {
  const AttentionShape shape = {.n_q = 65, .n_kv = 130, .d_k = 2, .d_v = 2};
  const Bitmap bitmap(shape, 64, 1);
  PackedCall<float> call(shape);
  bitmap.set(call);
  EXPECT_EQ(message_of(call), "accepted");
  call.options.block_size = 32;
  EXPECT_EQ(
      message_of(call),
      "blocks: shape [1, 1, 2, 3] does not broadcast to [b, h_q, ceil(n_q / block_size), ceil(n_kv / block_size)] = "
      "[1, 1, 3, 5]; each extent must equal it or be 1");
  call.options.block_size = 0;
  EXPECT_EQ(message_of(call), "block_size: 0; expected how many rows and keys a block has, 1 to 2^60");
  call.options.block_size = 64;
  call.options.blocks.dtype = DType::f32;
  EXPECT_EQ(message_of(call),
            "blocks: dtype float32 is not bool; convert it by astype(bool) (true = the block is kept)");
  call.options.blocks = {};
  EXPECT_EQ(message_of(call), "blocks: missing; block_size is 64");
}

}  // namespace
}  // namespace foveate::trial
