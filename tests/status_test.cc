// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What is rejected: the code, the message word for word, and that nothing was written.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "foveate/status.h"
#include "tests/rejected_call.h"

namespace foveate {
namespace {

constexpr StatusCode kInvalid = StatusCode::invalid_argument;
constexpr int64_t kHuge = int64_t{1} << 60;
constexpr double kInf = std::numeric_limits<double>::infinity();
const std::string kFloats = "expected float32, float64, float16 or bfloat16";
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Status, IsOkByDefault) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::ok);
  EXPECT_STREQ(status.message(), "");
}

TEST(Status, FormatsItsMessageAndCutsItShort) {
  const Status status = Status::error(kInvalid, "k: head dim %d does not equal q's %d", 4, 8);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), kInvalid);
  EXPECT_STREQ(status.message(), "k: head dim 4 does not equal q's 8");
  const std::string message = Status::error(kInvalid, "%s", std::string(1000, 'x').c_str()).message();
  EXPECT_EQ(message, std::string(Status::kMaxMessage - 1, 'x'));
}

TEST(Status, CodesHaveNames) {
  EXPECT_STREQ(name_of(StatusCode::ok), "ok");
  EXPECT_STREQ(name_of(StatusCode::invalid_argument), "invalid_argument");
  EXPECT_STREQ(name_of(StatusCode::not_supported), "not_supported");
  EXPECT_STREQ(name_of(StatusCode::workspace_too_small), "workspace_too_small");
  EXPECT_STREQ(name_of(StatusCode::out_of_memory), "out_of_memory");
  EXPECT_STREQ(name_of(StatusCode::cancelled), "cancelled");
}

using Call = trial::RejectedCall;

TEST_F(Call, IsRightUnspoilt) {
  const Status status = attend();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(untouched());
}

// --- q, k, v ---

TEST_F(Call, DTypes) {
  ConstTensor* const inputs[] = {&q_, &k_, &v_};
  const std::string names[] = {"q", "k", "v"};
  for (int i = 0; i < 3; ++i) {
    inputs[i]->dtype = DType::none;
    expect(names[i] + ": missing; expected an array of a float type");
    for (const DType dtype : {DType::i64, DType::i32, DType::boolean, static_cast<DType>(200)}) {
      inputs[i]->dtype = dtype;
      expect(names[i] + ": dtype " + name_of(dtype) +
             (i == 0 ? " is not a float type; " + kFloats : "; expected a float type, or int8 with scales"));
    }
    inputs[i]->dtype = DType::f32;
  }
  k_.dtype = DType::f64;
  expect("k: float64 does not equal q's float32");
  k_.dtype = DType::f32;
  v_.dtype = DType::f64;
  expect("v: float64 does not equal q's float32");
  q_.dtype = k_.dtype = DType::f64;
  v_.dtype = DType::f32;
  expect("v: float32 does not equal q's float64");
}

TEST_F(Call, Extents) {
  q_.shape[2] = -1;
  expect("q: extent -1 of axis 2 is negative");
  q_.shape[2] = 3;
  k_.shape[0] = std::numeric_limits<int64_t>::min();
  expect("k: extent -9223372036854775808 of axis 0 is negative");
  k_.shape[0] = 2;
  v_.shape[3] = kHuge;
  expect("v: more than 2^60 elements");
  v_.shape[3] = 6;
  q_.shape[0] = 0;
  q_.shape[1] = q_.shape[2] = int64_t{1} << 40;  // of an empty array all the same
  expect("q: more than 2^60 elements");
}

TEST_F(Call, Pointers) {
  for (ConstTensor* input : {&q_, &k_, &v_}) {
    const void* const data = input->data;
    input->data = nullptr;
    expect(std::string(input == &q_ ? "q" : input == &k_ ? "k" : "v") + ": the data pointer is null");
    input->data = data;
  }
  for (const int64_t stride : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), kHuge * 4}) {
    k_.stride[1] = stride;
    expect("k: strides reach past 64-bit addresses");
  }
}

TEST_F(Call, Batches) {
  k_.shape[0] = 1;
  expect("k: batch 1 does not equal q's 2");
  k_.shape[0] = 2;
  v_.shape[0] = 0;
  expect("v: batch 0 does not equal k's 2");
}

TEST_F(Call, KeysAndValues) {
  v_.shape[1] = 1;
  expect("v: 1 heads do not equal k's 2");
  v_.shape[1] = 2;
  v_.shape[2] = 4;
  expect("v: 4 keys do not equal k's 5");
}

TEST_F(Call, HeadDims) {
  k_.shape[3] = 4;
  expect("k: head dim 4 does not equal q's 8");
  q_.shape[3] = k_.shape[3] = 0;
  expect("q: head dim is 0; expected at least 1");
  q_.shape[3] = k_.shape[3] = (int64_t{1} << 32) + 1;
  expect("q: head dim 4294967297 is past 2^32");
}

TEST_F(Call, Heads) {
  k_.shape[1] = v_.shape[1] = 0;
  expect("k: 0 heads for q's 4; expected at least 1");
  q_.shape[1] = 3;
  k_.shape[1] = v_.shape[1] = 2;
  expect("q: 3 heads are not a multiple of k's 2");
  q_.shape[1] = 1;
  expect("q: 1 heads are not a multiple of k's 2");
}

// --- Options ---

TEST_F(Call, Scale) {
  options_.scale = kInf;
  expect("scale: inf is not finite; leave it out for the default");
  options_.scale = kNaN;
  expect("scale: nan is not finite; leave it out for the default");
}

TEST_F(Call, Softcap) {
  options_.softcap = -1.5;
  expect("softcap: -1.5; expected a finite number above 0, or 0 for none");
  options_.softcap = kInf;
  expect("softcap: inf; expected a finite number above 0, or 0 for none");
  options_.softcap = kNaN;
  expect("softcap: nan; expected a finite number above 0, or 0 for none");
}

TEST_F(Call, Window) {
  options_.window_left = -2;
  expect("window_left: -2 is below -1; expected a width, or -1 for no bound");
  options_.window_left = kUnlimited;
  options_.window_right = std::numeric_limits<int64_t>::min();
  expect("window_right: -9223372036854775808 is below -1; expected a width, or -1 for no bound");
}

TEST_F(Call, Mask) {
  options_.mask.dtype = DType::f32;
  expect("mask: dtype float32 is not bool; convert it by astype(bool) (true = takes part), or pass it as bias");
  options_.mask = view<const bool>(mask_, 2, 3, 1, 5);
  expect(
      "mask: shape [2, 3, 1, 5] does not broadcast to [b, h_q, n_q, n_kv] = [2, 4, 3, 5]; each extent must equal it or "
      "be 1");
  options_.mask = view<const bool>(mask_, 1, 1, 0, 5);
  expect(
      "mask: shape [1, 1, 0, 5] does not broadcast to [b, h_q, n_q, n_kv] = [2, 4, 3, 5]; each extent must equal it or "
      "be 1");
  options_.mask = view<const bool>(nullptr, 1, 1, 1, 5);
  expect("mask: the data pointer is null");
}

TEST_F(Call, Bias) {
  options_.bias.dtype = DType::boolean;
  expect("bias: dtype bool is not a float type; pass it as mask");
  options_.bias.dtype = DType::i32;
  expect("bias: dtype int32 is not a float type; " + kFloats);
  options_.bias.dtype = DType::i8;
  expect("bias: dtype int8 is not a float type; " + kFloats);
  options_.bias = view<const float>(bias_, 1, 1, 1, 4);
  expect(
      "bias: shape [1, 1, 1, 4] does not broadcast to [b, h_q, n_q, n_kv] = [2, 4, 3, 5]; each extent must equal it or "
      "be 1");
  options_.bias = view<const float>(bias_, -1, 1, 1, 5);
  expect("bias: extent -1 of axis 0 is negative");
}

TEST_F(Call, Slopes) {
  options_.alibi_slopes.size = 2;
  expect("alibi_slopes: 2 entries; expected h_q = 4");
  options_.alibi_slopes.size = 4;
  options_.alibi_slopes.dtype = DType::i64;
  expect("alibi_slopes: dtype int64 is not a float type; " + kFloats);
  options_.alibi_slopes.dtype = DType::f32;
  slopes_[3] = static_cast<float>(-kInf);
  expect("alibi_slopes: the slope of head 3 is -inf; expected a finite number");
  slopes_[1] = static_cast<float>(kNaN);
  expect("alibi_slopes: the slope of head 1 is nan; expected a finite number");
  options_.alibi_slopes.data = nullptr;
  expect("alibi_slopes: the data pointer is null");
}

TEST_F(Call, Sinks) {
  options_.sinks.size = 5;
  expect("sinks: 5 entries; expected h_q = 4");
  options_.sinks.size = 4;
  options_.sinks.dtype = DType::boolean;
  expect("sinks: dtype bool is not a float type; " + kFloats);
  options_.sinks.dtype = DType::f32;
  options_.sinks.data = nullptr;
  expect("sinks: the data pointer is null");
}

TEST_F(Call, Lengths) {
  q_lengths_[1] = 4;
  expect("q_lengths: entry 1 is 4; expected 0 to n_q = 3");
  q_lengths_[0] = -1;
  expect("q_lengths: entry 0 is -1; expected 0 to n_q = 3");
  q_lengths_[0] = q_lengths_[1] = 3;
  kv_lengths_[0] = 6;
  expect("kv_lengths: entry 0 is 6; expected 0 to n_kv = 5");
  kv_lengths_[0] = std::numeric_limits<int32_t>::min();
  expect("kv_lengths: entry 0 is -2147483648; expected 0 to n_kv = 5");
  options_.kv_lengths.size = 3;
  expect("kv_lengths: 3 entries; expected b = 2");
  options_.kv_lengths.dtype = DType::f32;
  expect("kv_lengths: dtype float32 is not an integer type; expected int32 or int64");
  options_.q_lengths.data = nullptr;
  expect("q_lengths: the data pointer is null");
  options_.q_lengths.size = -1;
  expect("q_lengths: -1 entries; expected b = 2");
}

TEST_F(Call, Offsets) {
  options_.q_offset = kHuge + 1;
  expect("q_offset: 1152921504606846977 is past 2^60");
  options_.q_offset = -kHuge;
  options_.kv_offset = std::numeric_limits<int64_t>::min();
  expect("kv_offset: -9223372036854775808 is past 2^60");
}

// --- Outputs ---

TEST_F(Call, NoOutput) {
  outputs_ = {};
  expect("outputs: none given; expected o, lse or weights");
}

TEST_F(Call, OutputDTypesAndShapes) {
  outputs_.o.dtype = DType::f64;
  expect("o: float64 does not equal q's float32");
  outputs_.o.dtype = DType::f32;
  outputs_.o.shape[3] = 8;
  expect("o: shape [2, 4, 3, 8]; expected [2, 4, 3, 6]");
  outputs_.o.shape[3] = 6;
  outputs_.lse.shape[3] = 6;
  expect("lse: shape [2, 4, 3, 6]; expected [2, 4, 3, 1]");
  outputs_.lse.shape[3] = 1;
  outputs_.weights.shape[1] = 2;
  expect("weights: shape [2, 2, 3, 5]; expected [2, 4, 3, 5]");
  outputs_.weights.shape[1] = 4;
  outputs_.weights.data = nullptr;
  expect("weights: the data pointer is null");
}

TEST_F(Call, OutputsOnThemselves) {
  outputs_.o.stride[2] = 0;
  expect("o: its axes overlap or interleave in memory; expected a packed, sliced or transposed array");
  outputs_.o.stride[2] = 6;
  outputs_.lse.stride[1] = 1;
  expect("lse: its axes overlap or interleave in memory; expected a packed, sliced or transposed array");
}

TEST_F(Call, OutputsOnInputs) {
  outputs_.lse = outputs_.weights = {};
  const Tensor o = outputs_.o;
  const auto expect_overlap = [&](const char* name, const void* input) {
    outputs_.o.data = const_cast<void*>(input);
    expect_message(kInvalid, std::string("o: overlaps the input ") + name + " in memory; give it memory of its own");
    outputs_.o = o;
  };
  // Inputs within the output: the output is the larger.
  expect_overlap("q", q_memory_);
  expect_overlap("k", k_memory_);
  expect_overlap("v", v_memory_);
  const auto place = [&](auto& input) { input.data = o_.bytes + 8; };
  place(options_.mask);
  expect("o: overlaps the input mask in memory; give it memory of its own");
  options_.mask = {};
  place(options_.bias);
  expect("o: overlaps the input bias in memory; give it memory of its own");
  options_.bias = {};
  place(options_.alibi_slopes);
  expect("o: overlaps the input alibi_slopes in memory; give it memory of its own");
  options_.alibi_slopes = {};
  place(options_.sinks);
  expect("o: overlaps the input sinks in memory; give it memory of its own");
  options_.sinks = {};
  o_.fill(0);
  place(options_.q_lengths);
  expect_message(kInvalid, "o: overlaps the input q_lengths in memory; give it memory of its own");
  options_.q_lengths = {};
  place(options_.kv_lengths);
  expect_message(kInvalid, "o: overlaps the input kv_lengths in memory; give it memory of its own");
}

TEST_F(Call, OutputsOnOutputs) {
  outputs_.lse.data = o_.bytes + 64;
  expect("lse: overlaps the output o in memory; give it memory of its own");
  outputs_.lse.data = weights_.bytes;
  expect("weights: overlaps the output lse in memory; give it memory of its own");
  outputs_.lse = {};
  outputs_.weights.data = o_.bytes + 4 * 2 * 4 * 3 * 6 - 4;
  expect("weights: overlaps the output o in memory; give it memory of its own");
}

// --- Which of several faults is told ---

TEST_F(Call, TheFirstFaultIsTold) {
  // From the last checked to the first: of those there are, the newest is told.
  const std::vector<std::pair<std::string, std::function<void()>>> faults = {
      {"o: overlaps", [&] { outputs_.o.data = q_memory_; }},
      {"weights: shape", [&] { outputs_.weights.shape[0] = 7; }},
      {"lse: shape", [&] { outputs_.lse.shape[0] = 7; }},
      {"o: shape", [&] { outputs_.o.shape[0] = 7; }},
      {"kv_offset:", [&] { options_.kv_offset = 2 * kHuge; }},
      {"q_offset:", [&] { options_.q_offset = 2 * kHuge; }},
      {"kv_lengths:", [&] { options_.kv_lengths.size = 7; }},
      {"q_lengths:", [&] { options_.q_lengths.size = 7; }},
      {"sinks:", [&] { options_.sinks.size = 7; }},
      {"alibi_slopes:", [&] { options_.alibi_slopes.size = 7; }},
      {"bias: shape", [&] { options_.bias.shape[3] = 7; }},
      {"mask: shape", [&] { options_.mask.shape[3] = 7; }},
      {"window_right:", [&] { options_.window_right = -7; }},
      {"window_left:", [&] { options_.window_left = -7; }},
      {"softcap:", [&] { options_.softcap = -7; }},
      {"scale:", [&] { options_.scale = kInf; }},
      {"q: 5 heads", [&] { q_.shape[1] = 5; }},
      {"k: head dim", [&] { k_.shape[3] = 7; }},
      {"v: 7 keys", [&] { v_.shape[2] = 7; }},
      {"v: 7 heads", [&] { v_.shape[1] = 7; }},
      {"v: batch", [&] { v_.shape[0] = 7; }},
      {"k: batch", [&] { k_.shape[0] = 7; }},
      {"v: the data", [&] { v_.data = nullptr; }},
      {"v: float64", [&] { v_.dtype = DType::f64; }},
      {"v: dtype", [&] { v_.dtype = DType::i32; }},
      {"k: the data", [&] { k_.data = nullptr; }},
      {"k: float64", [&] { k_.dtype = DType::f64; }},
      {"k: dtype", [&] { k_.dtype = DType::i32; }},
      {"q: the data", [&] { q_.data = nullptr; }},
      {"q: dtype", [&] { q_.dtype = DType::i32; }},
  };
  for (const auto& [beginning, spoil] : faults) {
    spoil();
    const Status status = attend();
    EXPECT_EQ(status.code(), kInvalid) << beginning;
    EXPECT_EQ(std::string(status.message()).rfind(beginning, 0), 0u) << beginning << ": got " << status.message();
    EXPECT_TRUE(untouched());
  }
}

// --- What looks wrong, and is right ---

TEST_F(Call, EmptyCallsNeedNoMemory) {
  for (int axis = 0; axis < 3; ++axis) {
    ConstTensor q = q_, k = k_, v = v_;
    AttentionOutputs outputs = outputs_;
    for (ConstTensor* view : {&q, &k, &v}) {
      if (axis == 0 || view == &q) view->shape[axis] = 0;
    }
    for (Tensor* view : {&outputs.o, &outputs.lse, &outputs.weights}) {
      view->shape[axis] = 0;
      view->data = nullptr;
    }
    q.data = nullptr;
    const Status status = attention(q, k, v, outputs);
    EXPECT_TRUE(status.ok()) << axis << status.message();
  }
  EXPECT_TRUE(untouched());
}

TEST_F(Call, NoKeysAndNoValueDims) {
  k_.shape[2] = v_.shape[2] = 0;
  k_.data = v_.data = nullptr;
  outputs_.weights = {};
  EXPECT_TRUE(attention(q_, k_, v_, outputs_).ok());
  for (int i = 0; i < 2 * 4 * 3; ++i) EXPECT_EQ(lse_.floats()[i], static_cast<float>(-kInf));
  for (int i = 0; i < 2 * 4 * 3 * 6; ++i) EXPECT_EQ(o_.floats()[i], 0);
  v_.shape[3] = outputs_.o.shape[3] = 0;
  outputs_.o.data = nullptr;
  EXPECT_TRUE(attention(q_, k_, v_, outputs_).ok());
}

TEST_F(Call, NoHeadsAtAll) {
  q_.shape[1] = k_.shape[1] = v_.shape[1] = 0;
  outputs_.o.shape[1] = outputs_.lse.shape[1] = outputs_.weights.shape[1] = 0;
  const Status status = attention(q_, k_, v_, outputs_);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(untouched());
}

TEST_F(Call, InputsMayOverlapAndOutputsMayTouch) {
  k_.data = v_.data = q_.data;
  float side_by_side[2 * 4 * 3 * (6 + 1)] = {};
  outputs_.o = view(side_by_side, 2, 4, 3, 6);
  outputs_.lse = view(side_by_side + 2 * 4 * 3 * 6, 2, 4, 3, 1);
  EXPECT_TRUE(attend().ok());
}

TEST_F(Call, StridesOfExtentOneAreIgnored) {
  constexpr int64_t kWild = std::numeric_limits<int64_t>::min();
  outputs_.lse.stride[3] = kWild;
  options_.mask.stride[1] = kWild;
  options_.bias.stride[0] = options_.bias.stride[2] = kWild;
  EXPECT_TRUE(attend().ok());
}

}  // namespace
}  // namespace foveate
