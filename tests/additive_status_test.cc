// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What additive attention rejects beyond what attention does: the code, the message word for word, and that nothing was
// written.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "foveate/additive.h"
#include "foveate/status.h"
#include "tests/rejected_call.h"

namespace foveate {
namespace {

constexpr StatusCode kInvalid = StatusCode::invalid_argument;
const std::string kFloats = "expected float32, float64, float16 or bfloat16";
const std::string kOntoItself =
    ": its axes overlap or interleave in memory; expected a packed, sliced or transposed array";

/// The call of rejected_call.h with parameters of d_a = 7, and with every gradient. Each test spoils it.
class AdditiveRejections : public trial::RejectedCall {
 protected:
  AdditiveRejections() {
    EXPECT_TRUE(additive_attention(q_, k_, v_, parameters_, {.o = outputs_.o, .lse = outputs_.lse}, options_).ok());
    saved_o_ = outputs_.o, saved_lse_ = outputs_.lse;
    outputs_.o.data = forward_o_.bytes, outputs_.lse.data = forward_lse_.bytes;
    for (auto* memory : all_memory()) memory->fill(0xA5);
  }

  Status attend() { return additive_attention(q_, k_, v_, parameters_, outputs_, options_); }
  Status differentiate() {
    return additive_attention_backward(q_, k_, v_, parameters_, saved_o_, saved_lse_, d_o_, gradients_, options_);
  }

  static void expect_status(const Status& status, StatusCode code, const std::string& message) {
    EXPECT_EQ(status.code(), code) << name_of(status.code());
    EXPECT_EQ(status.message(), message);
    EXPECT_LT(message.size(), 255u);
  }
  /// Of a backward pass.
  void expect_backward(const std::string& message) {
    expect_status(differentiate(), kInvalid, message);
    EXPECT_TRUE(untouched()) << message;
  }
  /// Of both passes.
  void expect(const std::string& message) {
    expect_status(attend(), kInvalid, message);
    expect_backward(message);
  }

  bool untouched() {
    for (const auto* memory : all_memory()) {
      if (!memory->holds(0xA5)) return false;
    }
    return weights_.holds(0xA5);
  }

  using Any = Memory<2 * 4 * 3 * 8 * 8>;  ///< enough for any output, in any type
  std::vector<Any*> all_memory() {
    return {&dq_, &dk_, &dv_, &dbias_, &dsinks_, &dw_q_, &dw_k_, &dw_, &db_, &forward_o_, &forward_lse_};
  }

  Any dq_, dk_, dv_, dbias_, dsinks_, dw_q_, dw_k_, dw_, db_, forward_o_, forward_lse_;
  double d_o_memory_[2 * 4 * 3 * 6] = {};
  double w_q_memory_[8 * 9] = {}, w_k_memory_[8 * 9] = {}, w_memory_[8] = {}, b_memory_[8] = {};
  static const float* floats(const double* x) { return reinterpret_cast<const float*>(x); }

  AdditiveParameters parameters_ = {.w_q = view(floats(w_q_memory_), 7, 8),
                                    .w_k = view(floats(w_k_memory_), 7, 8),
                                    .w = view(floats(w_memory_), 7),
                                    .b = view(floats(b_memory_), 7)};
  ConstTensor saved_o_, saved_lse_, d_o_ = view(floats(d_o_memory_), 2, 4, 3, 6);
  AdditiveGradients gradients_ = {{.dq = view(dq_.floats(), 2, 4, 3, 8),
                                   .dk = view(dk_.floats(), 2, 2, 5, 8),
                                   .dv = view(dv_.floats(), 2, 2, 5, 6),
                                   .dbias = view(dbias_.floats(), 1, 4, 1, 5),
                                   .dsinks = view(dsinks_.floats(), 4)},
                                  view(dw_q_.floats(), 7, 8),
                                  view(dw_k_.floats(), 7, 8),
                                  view(dw_.floats(), 7),
                                  view(db_.floats(), 7)};
};

TEST_F(AdditiveRejections, IsRightUnspoilt) {
  Status status = attend();
  EXPECT_TRUE(status.ok()) << status.message();
  status = differentiate();
  EXPECT_TRUE(status.ok()) << status.message();
  for (const auto* memory : all_memory()) EXPECT_FALSE(memory->holds(0xA5));
}

/// One of each kind: status_test.cc has them all.
TEST_F(AdditiveRejections, WhatAttentionRejects) {
  k_.shape[3] = 4;
  expect("k: head dim 4 does not equal q's 8");
  k_.shape[3] = 8;
  options_.window_left = -2;
  expect("window_left: -2 is below -1; expected a width, or -1 for no bound");
  options_.window_left = kUnlimited;
  gradients_.dq.shape[3] = 6;
  expect_backward("dq: shape [2, 4, 3, 6]; expected [2, 4, 3, 8]");
}

TEST_F(AdditiveRejections, MissingParameters) {
  const AdditiveParameters right = parameters_;
  parameters_.w_q = {};
  expect("w_q: missing; expected [d_a, d_k]");
  parameters_ = right;
  parameters_.w_k = {};
  expect("w_k: missing; expected [d_a, d_k]");
  parameters_ = right;
  parameters_.w = {};
  expect("w: missing; expected [d_a]");
  parameters_ = right;
  parameters_.b = {};
  expect_backward("db: given without b");
  gradients_.db = {};
  Status status = attend();
  EXPECT_TRUE(status.ok()) << status.message();
  status = differentiate();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(AdditiveRejections, ParameterShapes) {
  const AdditiveParameters right = parameters_;
  parameters_.w_q.shape[1] = 6;
  expect("w_q: shape [7, 6]; expected [d_a, d_k] = [7, 8]");
  parameters_ = right;
  parameters_.w_k.shape[0] = 5;
  expect("w_k: shape [5, 8]; expected [d_a, d_k] = [7, 8]");
  parameters_.w_k.shape[0] = 7;
  parameters_.w_k.shape[1] = 9;
  expect("w_k: shape [7, 9]; expected [d_a, d_k] = [7, 8]");
  parameters_ = right;
  for (const int64_t size : {-1, 0, 6, 8}) {
    parameters_.w.size = size;
    expect("w: " + std::to_string(size) + " entries; expected d_a = 7");
    parameters_ = right;
    parameters_.b.size = size;
    expect("b: " + std::to_string(size) + " entries; expected d_a = 7");
    parameters_ = right;
  }
  for (const int64_t d_a : {int64_t{0}, int64_t{-3}, (int64_t{1} << 32) + 1}) {
    parameters_.w_q.shape[0] = d_a;
    expect("w_q: d_a is " + std::to_string(d_a) + "; expected 1 to 2^32");
  }
}

TEST_F(AdditiveRejections, ParameterTypes) {
  const AdditiveParameters right = parameters_;
  for (const DType dtype : {DType::i64, DType::i8, DType::boolean}) {
    const std::string words = std::string(": dtype ") + name_of(dtype) + " is not a float type; " + kFloats;
    parameters_.w_q.dtype = dtype;
    expect("w_q" + words);
    parameters_ = right;
    parameters_.w_k.dtype = dtype;
    expect("w_k" + words);
    parameters_ = right;
    parameters_.w.dtype = dtype;
    expect("w" + words);
    parameters_ = right;
    parameters_.b.dtype = dtype;
    expect("b" + words);
    parameters_ = right;
  }
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16}) {
    parameters_.w_q.dtype = parameters_.b.dtype = dtype;
    EXPECT_TRUE(attend().ok());
    EXPECT_TRUE(differentiate().ok());
  }
}

TEST_F(AdditiveRejections, ParameterPointersAndStrides) {
  const AdditiveParameters right = parameters_;
  parameters_.w_q.data = nullptr;
  expect("w_q: the data pointer is null");
  parameters_ = right;
  parameters_.w_k.data = nullptr;
  expect("w_k: the data pointer is null");
  parameters_ = right;
  parameters_.w.data = nullptr;
  expect("w: the data pointer is null");
  parameters_ = right;
  parameters_.b.data = nullptr;
  expect("b: the data pointer is null");
  parameters_ = right;
  parameters_.w_q.stride[0] = std::numeric_limits<int64_t>::min();
  expect("w_q: strides reach past 64-bit addresses");
  parameters_ = right;
  parameters_.w.stride = std::numeric_limits<int64_t>::max();
  expect("w: strides reach past 64-bit addresses");
}

TEST_F(AdditiveRejections, Int8Keys) {
  float scale = 1;
  k_.dtype = DType::i8;
  options_.k_scales = view<const float>(&scale, 1, 1, 1, 1);
  expect("k: int8; additive attention projects its keys: give them as a float type");
}

TEST_F(AdditiveRejections, KeysInPages) {
  const int64_t table[2] = {0, 1};
  options_.block_table = view(table, 2, 1);
  options_.mask = options_.bias = {};
  gradients_.dbias = {};
  const std::string message = "block_table: additive attention takes no keys in pages; give k and v padded or packed";
  expect_status(attend(), kInvalid, message);
  expect_backward(message);
  options_.kv_lengths = {};
  expect_status(attend(), kInvalid, message);
}

TEST_F(AdditiveRejections, NoGradients) {
  gradients_ = {};
  const Status status = differentiate();
  EXPECT_EQ(status.code(), kInvalid);
  EXPECT_STREQ(status.message(), "gradients: none given; expected dq, dk, dv, dbias, dsinks, dw_q, dw_k, dw or db");
  gradients_.dw = view(dw_.floats(), 7);
  EXPECT_TRUE(differentiate().ok());
}

TEST_F(AdditiveRejections, GradientShapes) {
  const AdditiveGradients right = gradients_;
  gradients_.dw_q.shape[0] = 6;
  expect_backward("dw_q: shape [6, 8]; expected [d_a, d_k] = [7, 8]");
  gradients_ = right;
  gradients_.dw_k.shape[1] = 7;
  expect_backward("dw_k: shape [7, 7]; expected [d_a, d_k] = [7, 8]");
  gradients_ = right;
  gradients_.dw.size = 6;
  expect_backward("dw: 6 entries; expected d_a = 7");
  gradients_ = right;
  gradients_.db.size = -1;
  expect_backward("db: -1 entries; expected d_a = 7");
}

TEST_F(AdditiveRejections, GradientTypes) {
  const AdditiveGradients right = gradients_;
  DType* const dtypes[] = {&gradients_.dw_q.dtype, &gradients_.dw_k.dtype, &gradients_.dw.dtype, &gradients_.db.dtype};
  const char* const names[] = {"dw_q", "dw_k", "dw", "db"};
  for (int i = 0; i < 4; ++i) {
    for (const DType dtype : {DType::i64, DType::i8, DType::boolean}) {
      *dtypes[i] = dtype;
      expect_backward(std::string(names[i]) + ": dtype " + name_of(dtype) + " is not a float type; " + kFloats);
    }
    *dtypes[i] = DType::f64;
    expect_backward(std::string(names[i]) +
                    ": float64; expected float32, float16 or bfloat16, as all is computed in float32");
    gradients_ = right;
  }
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (DType* of : dtypes) *of = dtype;
    EXPECT_TRUE(differentiate().ok());
  }
}

TEST_F(AdditiveRejections, GradientPointersAndStrides) {
  const AdditiveGradients right = gradients_;
  gradients_.dw_q.data = nullptr;
  expect_backward("dw_q: the data pointer is null");
  gradients_ = right;
  gradients_.dw_k.stride[0] = 7;
  expect_backward("dw_k" + kOntoItself);
  gradients_ = right;
  gradients_.dw.stride = 0;
  expect_backward("dw" + kOntoItself);
  gradients_ = right;
  gradients_.db.data = nullptr;
  expect_backward("db: the data pointer is null");
}

TEST_F(AdditiveRejections, OutputsOnParametersAndOnEachOther) {
  const std::pair<std::string, const void*> parameters[] = {
      {"w_q", w_q_memory_}, {"w_k", w_k_memory_}, {"w", w_memory_}, {"b", b_memory_}};
  const auto overlap = [](const std::string& output, const std::string& of, const std::string& other) {
    return output + ": overlaps the " + of + " " + other + " in memory; give it memory of its own";
  };
  const AttentionOutputs outputs = outputs_;
  const AdditiveGradients right = gradients_;
  for (const auto& [name, data] : parameters) {
    outputs_.lse.data = const_cast<void*>(data);
    expect_status(attend(), kInvalid, overlap("lse", "input", name));
    outputs_ = outputs;
    gradients_.dw.data = const_cast<void*>(data);
    expect_backward(overlap("dw", "input", name));
    gradients_ = right;
    gradients_.dsinks.data = const_cast<void*>(data);
    expect_backward(overlap("dsinks", "input", name));
    gradients_ = right;
  }
  for (const auto& [name, input] : {std::pair<std::string, const void*>{"q", q_.data},
                                    {"k", k_.data},
                                    {"v", v_.data},
                                    {"bias", bias_},
                                    {"o", saved_o_.data},
                                    {"lse", saved_lse_.data},
                                    {"d_o", d_o_.data}}) {
    gradients_.db.data = const_cast<void*>(input);
    expect_backward(overlap("db", "input", name));
    gradients_ = right;
  }
  gradients_.dw_k.data = gradients_.dw_q.data;
  expect_backward(overlap("dw_k", "output", "dw_q"));
  gradients_ = right;
  gradients_.dw.data = gradients_.dq.data;
  expect_backward(overlap("dw", "output", "dq"));
  EXPECT_TRUE(untouched());
}

TEST(AdditivePlans, Rejections) {
  const auto expect = [](const std::string& message, const AttentionShape& shape, int64_t d_a, int64_t workers) {
    AttentionPlan plan;
    EXPECT_EQ(additive_attention_plan(shape, d_a, workers, &plan).message(), message);
    AttentionBackwardPlan backward;
    EXPECT_EQ(
        additive_attention_backward_plan(shape, {{.dq = {nullptr, DType::f32}}}, d_a, workers, &backward).message(),
        message);
  };
  expect("d_a: d_a is 0; expected 1 to 2^32", {}, 0, 1);
  expect("d_a: d_a is -1; expected 1 to 2^32", {}, -1, 1);
  expect("workers: 0 workers; expected 1 to 65536", {}, 1, 0);
  EXPECT_EQ(std::string(additive_attention_plan({}, 1, 1, nullptr).message()), "plan: the pointer is null");
  EXPECT_EQ(std::string(additive_attention_backward_plan({}, {}, 1, 1, nullptr).message()),
            "plan: the pointer is null");
}

}  // namespace
}  // namespace foveate
