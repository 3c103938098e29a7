// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What is rejected of narrow types and their scales, of packed sequences, of pages and of trees.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "foveate/attention.h"
#include "tests/rejected_call.h"

namespace foveate {
namespace {

/// b 2, h_q 4, h_kv 2, n_q 3, n_kv 5, d_k 8, d_v 6, without options. The memory of q, k and v is large enough for any type
/// and for the packed and paged forms below.
class Storage : public trial::RejectedCall {
 protected:
  Storage() { options_ = {}; }

  void expect_right() {
    const Status status = attend();
    EXPECT_TRUE(status.ok()) << status.message();
    o_.fill(0xA5);
    lse_.fill(0xA5);
    weights_.fill(0xA5);
  }

  void narrow_keys() {
    k_.dtype = v_.dtype = DType::i8;
    options_.k_scales = view<const float>(scales_, 2, 2, 5, 1);
    options_.v_scales = view<const float>(scales_, 2, 2, 5, 1);
  }

  /// Two sequences of 2 and 1 queries, 4 and 1 keys.
  void pack() {
    q_ = view<const float>(static_cast<const float*>(q_.data), 1, 4, 3, 8);
    k_ = view<const float>(static_cast<const float*>(k_.data), 1, 2, 5, 8);
    v_ = view<const float>(static_cast<const float*>(v_.data), 1, 2, 5, 6);
    options_.q_starts = view<const int64_t>(q_starts_, 3);
    options_.kv_starts = view<const int32_t>(kv_starts_, 3);
    outputs_ = {.o = view(o_.floats(), 1, 4, 3, 6),
                .lse = view(lse_.floats(), 1, 4, 3, 1),
                .weights = view(weights_.floats(), 2, 4, 2, 4)};
  }

  /// Two pages of 5 keys; two to a sequence, of which the first has 7 keys and the second 2.
  void page() {
    options_.block_table = view<const int32_t>(table_, 2, 2);
    options_.kv_lengths = view<const int64_t>(page_lengths_, 2);
    outputs_.weights = {};
  }

  /// 3 tokens proposed to each sequence.
  void plant() {
    options_.tree_mask = view<const int64_t>(tree_, 2, 1, 3, 1);
    options_.tree_tokens = 3;
  }

  float scales_[2 * 2 * 5 * 8] = {};
  int64_t q_starts_[3] = {0, 2, 3};
  int32_t kv_starts_[3] = {0, 4, 5};
  int32_t table_[4] = {1, 0, 1, -1};
  int64_t page_lengths_[2] = {7, 2};
  int64_t lengths_[2] = {2, 1};
  int64_t tree_[6] = {};
};

// --- Types ---

TEST_F(Storage, NarrowTypesGoWithEachOther) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    q_.dtype = outputs_.o.dtype = outputs_.weights.dtype = dtype;
    for (const DType stored : {DType::f32, DType::f16, DType::bf16}) {
      k_.dtype = stored;
      expect_right();
      v_.dtype = stored;
      expect_right();
    }
    narrow_keys();
    expect_right();
    k_.dtype = v_.dtype = DType::f32;
    options_ = {};
  }
}

TEST_F(Storage, Float64GoesWithItselfAlone) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
    q_.dtype = v_.dtype = DType::f64;
    k_.dtype = dtype;
    expect(std::string("k: ") + name_of(dtype) + " does not equal q's float64");
    q_.dtype = dtype == DType::i8 ? DType::f16 : dtype;
    k_.dtype = DType::f32;
    expect(std::string("v: float64 does not equal q's ") + name_of(q_.dtype));
  }
}

TEST_F(Storage, QueriesAreNotInt8) {
  q_.dtype = DType::i8;
  expect("q: dtype int8 is not a float type; expected float32, float64, float16 or bfloat16");
}

TEST_F(Storage, OutputsHaveTheQueriesTypeAndLseTheComputingOne) {
  q_.dtype = DType::f16;
  expect("o: float32 does not equal q's float16");
  outputs_.o.dtype = DType::bf16;
  expect("o: bfloat16 does not equal q's float16");
  outputs_.o.dtype = outputs_.lse.dtype = DType::f16;
  expect("lse: float16 does not equal q's float32");
  outputs_.lse.dtype = DType::f32;
  expect("weights: float32 does not equal q's float16");
  outputs_.weights.dtype = DType::f16;
  expect_right();
}

// --- Scales of int8 ---

TEST_F(Storage, ScalesAreMissing) {
  narrow_keys();
  options_.k_scales = {};
  expect("k_scales: missing; int8 wants float32 scales, one a row or fewer");
  options_.k_scales = options_.v_scales;
  options_.v_scales = {};
  expect("v_scales: missing; int8 wants float32 scales, one a row or fewer");
  options_.v_scales = options_.k_scales;
  options_.k_scales.dtype = DType::f64;
  expect("k_scales: float64; int8 wants float32 scales, one a row or fewer");
}

TEST_F(Storage, ScalesBesideOtherTypes) {
  narrow_keys();
  k_.dtype = DType::f16;
  expect("k_scales: given, but k is float16; scales go with int8 alone");
  options_.k_scales = {};
  v_.dtype = DType::f32;
  expect("v_scales: given, but v is float32; scales go with int8 alone");
}

TEST_F(Storage, ScaleShapes) {
  narrow_keys();
  options_.k_scales = view<const float>(scales_, 2, 2, 4, 1);
  expect(
      "k_scales: shape [2, 2, 4, 1] does not broadcast to k's rows = [2, 2, 5, 1]; each extent must equal it "
      "or be 1");
  options_.k_scales = view<const float>(scales_, 2, 2, 5, 8);
  expect(
      "k_scales: shape [2, 2, 5, 8] does not broadcast to k's channels = [2, 2, 1, 8]; each extent must equal "
      "it or be 1");
  options_.k_scales = view<const float>(scales_, 1, 2, 1, 8);
  expect_right();
  options_.k_scales = view<const float>(nullptr, 1, 1, 1, 1);
  expect("k_scales: the data pointer is null");
  options_.k_scales = view<const float>(scales_, 1, 1, 1, 1);
  expect_right();
  options_.v_scales = view<const float>(scales_, 1, 1, 1, 6);
  expect(
      "v_scales: shape [1, 1, 1, 6] does not broadcast to v's rows = [2, 2, 5, 1]; each extent must equal it "
      "or be 1");
}

TEST_F(Storage, ChannelsHaveTheSameScalesInAllPages) {
  page();
  narrow_keys();
  options_.k_scales = view<const float>(scales_, 2, 2, 1, 8);
  expect("k_scales: scales of channels for each of 2 pages; expected the same for all");
  options_.k_scales.shape[0] = 1;
  expect_right();
}

// --- Packed sequences ---

TEST_F(Storage, PackedIsRight) {
  pack();
  expect_right();
  options_.q_lengths = view<const int64_t>(lengths_, 2);
  expect_right();
}

TEST_F(Storage, StartsThatAreNoStarts) {
  pack();
  for (int entry = 0; entry < 3; ++entry) {
    const int64_t right = q_starts_[entry];
    q_starts_[entry] = entry == 0 ? 1 : entry == 1 ? 4 : 2;
    const std::string expected[] = {"q_starts: entry 0 is 1; expected 0",
                                    "q_starts: entry 1 is 4; expected 0 to q's rows (axis 2) = 3",
                                    "q_starts: the last entry is 2; expected q's rows (axis 2) = 3"};
    expect(expected[entry]);
    q_starts_[entry] = right;
  }
  kv_starts_[1] = -1;
  expect("kv_starts: entry 1 is -1; expected 0 to k's rows (axis 2) = 5");
  kv_starts_[1] = 4;
  kv_starts_[2] = 3;
  expect("kv_starts: entry 2 is 3; expected 4 to k's rows (axis 2) = 5");
  kv_starts_[2] = 5;
  options_.q_starts.dtype = DType::f32;
  expect("q_starts: dtype float32 is not an integer type; expected int32 or int64");
  options_.q_starts.dtype = DType::i64;
  options_.q_starts.size = 0;
  expect("q_starts: empty; expected b + 1 entries");
  options_.q_starts.size = 3;
  options_.q_starts.data = nullptr;
  expect("q_starts: the data pointer is null");
}

TEST_F(Storage, StartsThatDisagree) {
  pack();
  const int32_t four[] = {0, 1, 4, 5};
  options_.kv_starts = view<const int32_t>(four, 4);
  expect("kv_starts: 4 entries; expected b + 1 = 3");
  options_.kv_starts = view<const int32_t>(kv_starts_, 3);
  q_.shape[0] = 2;
  expect("q: batch 2; expected 1, as q_starts packs its sequences behind each other");
  q_.shape[0] = 1;
  k_.shape[0] = 2;
  expect("k: batch 2; expected 1, as kv_starts packs its sequences behind each other");
  k_.shape[0] = 1;
  options_.kv_starts = {};
  expect("k: batch 1 does not equal q's 2");
  options_.kv_starts = view<const int32_t>(kv_starts_, 3);
  v_.shape[0] = 2;
  expect("v: batch 2 does not equal k's 1");
}

TEST_F(Storage, LengthsBesideStarts) {
  pack();
  options_.q_lengths = options_.kv_lengths = view<const int64_t>(lengths_, 2);
  expect_right();
  lengths_[1] = 2;
  expect("q_lengths: entry 1 is 2; expected 0 to the rows of its sequence = 1");
  options_.q_lengths = {};
  expect("kv_lengths: entry 1 is 2; expected 0 to the rows of its sequence = 1");
  lengths_[1] = -1;
  expect("kv_lengths: entry 1 is -1; expected 0 to the rows of its sequence = 1");
  options_.kv_lengths.size = 1;
  expect("kv_lengths: 1 entries; expected b = 2");
}

TEST_F(Storage, OutputsOfPackedSequences) {
  pack();
  outputs_.o.shape[0] = 2;
  expect("o: shape [2, 4, 3, 6]; expected [1, 4, 3, 6]");
  outputs_.o.shape[0] = 1;
  outputs_.weights = view(weights_.floats(), 1, 4, 3, 5);
  expect("weights: shape [1, 4, 3, 5]; expected [2, 4, 2, 4]");
}

// --- Pages ---

TEST_F(Storage, PagedIsRight) {
  page();
  expect_right();
}

TEST_F(Storage, BlockTableForm) {
  page();
  options_.block_table.dtype = DType::boolean;
  expect("block_table: dtype bool is not an integer type; expected int32 or int64");
  options_.block_table.dtype = DType::i32;
  options_.block_table.shape[0] = 1;
  expect("block_table: 1 rows; expected b = 2");
  options_.block_table.shape[0] = 2;
  options_.block_table.shape[1] = int64_t{1} << 58;
  options_.block_table.stride[0] = 0;
  expect("block_table: more than 2^60 keys to a sequence");
  options_.block_table.shape[1] = -1;
  expect("block_table: extent -1 of axis 3 is negative");
  options_.block_table = view<const int32_t>(nullptr, 2, 2);
  expect("block_table: the data pointer is null");
}

TEST_F(Storage, BlockTableCompany) {
  page();
  options_.kv_lengths = {};
  expect("kv_lengths: missing; block_table wants the length of each sequence");
  options_.kv_starts = view<const int32_t>(kv_starts_, 3);
  expect("kv_starts: given beside block_table; keys are packed or in pages, not both");
}

TEST_F(Storage, PagesThatAreNotThere) {
  page();
  table_[1] = 2;
  expect("block_table: entry [0, 1] is 2; expected a page, 0 to 1");
  page_lengths_[0] = 5;  // the second page is not reached
  expect_right();
  table_[2] = -1;
  expect("block_table: entry [1, 0] is -1; expected a page, 0 to 1");
  page_lengths_[1] = 11;
  expect("kv_lengths: entry 1 is 11; expected 0 to n_kv = 10");
}

// --- Trees ---

TEST_F(Storage, TreeIsRight) {
  plant();
  expect_right();
  options_.tree_mask = view<const int64_t>(tree_, 2, 1, 3, 0);
  options_.tree_tokens = 0;
  expect_right();
}

TEST_F(Storage, TreeForm) {
  plant();
  options_.tree_mask.dtype = DType::i32;
  expect("tree_mask: dtype int32; expected int64, 64 bits a word");
  options_.tree_mask.dtype = DType::i64;
  options_.tree_mask.shape[3] = 2;
  expect("tree_mask: 2 words a row; expected ceil(tree_tokens / 64) = 1");
  options_.tree_mask = view<const int64_t>(tree_, 1, 1, 2, 1);
  expect(
      "tree_mask: shape [1, 1, 2, 1] does not broadcast to [b, h_q, n_q, words] = [2, 4, 3, 1]; each extent must equal "
      "it or be 1");
  options_.tree_mask = view<const int64_t>(nullptr, 1, 1, 1, 1);
  expect("tree_mask: the data pointer is null");
  options_.tree_mask = {};
  expect("tree_mask: missing; tree_tokens is 3");
}

TEST_F(Storage, TreeTokens) {
  plant();
  options_.tree_tokens = 6;
  expect("tree_tokens: 6; expected 0 to n_kv = 5");
  options_.tree_tokens = -1;
  expect("tree_tokens: -1; expected 0 to n_kv = 5");
  options_.tree_tokens = 3;
  lengths_[0] = 3;
  options_.kv_lengths = view<const int64_t>(lengths_, 2);
  expect("tree_tokens: 3; sequence 1 has 1 keys");
}

// --- Aliasing ---

TEST_F(Storage, OutputsOnTablesAndScales) {
  outputs_.lse = {};
  const auto expect_overlap = [&](const char* name, auto& input, const auto& form) {
    input = form;
    input.data = o_.bytes + 8;
    expect_message(StatusCode::invalid_argument,
                   std::string("o: overlaps the input ") + name + " in memory; give it memory of its own");
    o_.fill(0xA5);
  };
  narrow_keys();
  expect_overlap("k_scales", options_.k_scales, options_.k_scales);
  options_.k_scales = options_.v_scales;
  expect_overlap("v_scales", options_.v_scales, options_.v_scales);
  options_ = {};
  k_.dtype = v_.dtype = DType::f32;
  plant();
  expect_overlap("tree_mask", options_.tree_mask, options_.tree_mask);
  options_ = {};
  pack();
  outputs_.lse = outputs_.weights = {};
  o_.fill(0);
  const auto starts = view<const int64_t>(q_starts_, 3);
  std::memcpy(o_.bytes + 8, q_starts_, sizeof q_starts_);
  expect_overlap("q_starts", options_.q_starts, starts);
  options_.q_starts = starts;
  std::memcpy(o_.bytes + 8, kv_starts_, sizeof kv_starts_);
  expect_overlap("kv_starts", options_.kv_starts, options_.kv_starts);
}

}  // namespace
}  // namespace foveate
