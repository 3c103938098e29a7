// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What linear attention rejects: the message word for word, and that nothing was written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "foveate/linear.h"
#include "foveate/status.h"

namespace foveate {
namespace {

/// A call that is right: b 2, h_q 4, h_kv 2, n_q 3, n_kv 5, d_k 8, d_v 6. Each test spoils it.
class LinearCall : public testing::Test {
 protected:
  Status attend() { return linear_attention(q_, k_, v_, o_, options_); }
  Status differentiate() { return linear_attention_backward(q_, k_, v_, d_o_, gradients_, options_); }

  void expect(const std::string& message) {
    expect(attend(), message);
    expect(differentiate(), message);
  }
  void expect(const Status& status, const std::string& message, StatusCode code = StatusCode::invalid_argument) {
    EXPECT_EQ(status.code(), code) << name_of(status.code());
    EXPECT_EQ(status.message(), message);
    EXPECT_TRUE(untouched()) << message;
  }

  bool untouched() const {
    for (const std::vector<float>* x : {&o_memory_, &dq_memory_, &dk_memory_, &dv_memory_}) {
      if (!std::all_of(x->begin(), x->end(), [](float y) { return y == 12345; })) return false;
    }
    return true;
  }

  std::vector<float> q_memory_ = std::vector<float>(2 * 4 * 3 * 8), k_memory_ = std::vector<float>(2 * 2 * 5 * 8);
  std::vector<float> v_memory_ = std::vector<float>(2 * 2 * 5 * 6), d_o_memory_ = std::vector<float>(2 * 4 * 3 * 6);
  std::vector<float> o_memory_ = std::vector<float>(2 * 4 * 3 * 6, 12345);
  std::vector<float> dq_memory_ = std::vector<float>(2 * 4 * 3 * 8, 12345);
  std::vector<float> dk_memory_ = std::vector<float>(2 * 2 * 5 * 8, 12345);
  std::vector<float> dv_memory_ = std::vector<float>(2 * 2 * 5 * 6, 12345);
  bool mask_memory_[2 * 2 * 5] = {};
  int64_t q_lengths_[2] = {3, 1};
  int32_t kv_lengths_[2] = {0, 5};

  ConstTensor q_ = view<const float>(q_memory_.data(), 2, 4, 3, 8);
  ConstTensor k_ = view<const float>(k_memory_.data(), 2, 2, 5, 8);
  ConstTensor v_ = view<const float>(v_memory_.data(), 2, 2, 5, 6);
  ConstTensor d_o_ = view<const float>(d_o_memory_.data(), 2, 4, 3, 6);
  Tensor o_ = view(o_memory_.data(), 2, 4, 3, 6);
  LinearGradients gradients_ = {.dq = view(dq_memory_.data(), 2, 4, 3, 8),
                                .dk = view(dk_memory_.data(), 2, 2, 5, 8),
                                .dv = view(dv_memory_.data(), 2, 2, 5, 6)};
  LinearOptions options_ = {.mask = view<const bool>(mask_memory_, 2, 2, 1, 5),
                            .q_lengths = view<const int64_t>(q_lengths_, 2),
                            .kv_lengths = view<const int32_t>(kv_lengths_, 2)};
};

TEST_F(LinearCall, IsRightUnspoilt) {
  EXPECT_TRUE(attend().ok()) << attend().message();
  EXPECT_TRUE(differentiate().ok()) << differentiate().message();
  EXPECT_FALSE(untouched());
}

TEST_F(LinearCall, Types) {
  q_.dtype = DType::i32;
  expect("q: dtype int32 is not a float type; expected float32, float64, float16 or bfloat16");
  q_.dtype = DType::none;
  expect("q: missing; expected an array of a float type");
  q_.dtype = DType::f32;
  k_.dtype = DType::i8;
  expect("k: dtype int8 is not a float type; expected float32, float64, float16 or bfloat16");
  k_.dtype = DType::f64;
  expect("k: float64; expected float32, float16 or bfloat16, as all is computed in float32");
  k_.dtype = DType::f32;
  q_.dtype = DType::f64;
  expect("k: float32; expected float64, as all is computed in float64");
}

TEST_F(LinearCall, Shapes) {
  const ConstTensor q = q_, k = k_, v = v_;
  k_.shape[3] = 4;
  expect("k: head dim 4 does not equal q's 8");
  k_ = k, k_.shape[0] = 3;
  expect("k: batch 3 does not equal q's 2");
  k_ = k, v_.shape[0] = 1;
  expect("v: batch 1 does not equal k's 2");
  v_ = v, v_.shape[1] = 1;
  expect("v: number of heads 1 does not equal k's 2");
  v_ = v, v_.shape[2] = 4;
  expect("v: number of keys 4 does not equal k's 5");
  v_ = v, q_.shape[1] = 3;
  expect("q: 3 heads are not a multiple of k's 2");
  q_ = q, k_.shape[1] = v_.shape[1] = 0;
  expect("k: 0 heads for q's 4; expected at least 1");
  k_ = k, v_ = v, q_.shape[3] = k_.shape[3] = 0;
  expect("q: head dim is 0; expected at least 1");
  q_ = q, k_ = k, v_.shape[3] = -1;
  expect("v: extent -1 of axis 3 is negative");
  v_ = v, q_.data = nullptr;
  expect("q: the data pointer is null");
}

TEST_F(LinearCall, Options) {
  const LinearOptions right = options_;
  options_.mask.dtype = DType::f32;
  expect("mask: dtype float32 is not bool; convert it by astype(bool) (true = takes part)");
  options_.mask = view<const bool>(mask_memory_, 1, 4, 1, 5);
  expect(
      "mask: shape [1, 4, 1, 5] does not broadcast to [b, h_kv, 1, n_kv] = [2, 2, 1, 5]; each extent must equal it or "
      "be "
      "1");
  options_.mask = view<const bool>(mask_memory_, 1, 1, 3, 5);
  expect(
      "mask: shape [1, 1, 3, 5] does not broadcast to [b, h_kv, 1, n_kv] = [2, 2, 1, 5]; each extent must equal it or "
      "be "
      "1");
  options_ = right;
  q_lengths_[1] = 4;
  expect("q_lengths: entry 1 is 4; expected 0 to n_q = 3");
  q_lengths_[1] = 3;
  kv_lengths_[0] = -1;
  expect("kv_lengths: entry 0 is -1; expected 0 to n_kv = 5");
  kv_lengths_[0] = 0;
  options_.kv_lengths.size = 1;
  expect("kv_lengths: 1 entries; expected b = 2");
  options_ = right;
  options_.q_lengths.dtype = DType::f32;
  expect("q_lengths: dtype float32 is not an integer type; expected int32 or int64");
  options_ = right;
  options_.q_offset = std::numeric_limits<int64_t>::min();
  expect("q_offset: -9223372036854775808 is past 2^60");
}

TEST_F(LinearCall, Outputs) {
  o_.dtype = DType::none;
  expect(attend(), "o: missing; expected an array of q's type, float32");
  o_.dtype = DType::f16;
  expect(attend(), "o: float16 does not equal q's float32");
  o_.dtype = DType::f32;
  o_.shape[3] = 5;
  expect(attend(), "o: shape [2, 4, 3, 5]; expected [2, 4, 3, 6]");
  o_.shape[3] = 6;
  o_.stride[2] = 1;
  expect(attend(), "o: its axes overlap or interleave in memory; expected a packed, sliced or transposed array");
  o_ = view(const_cast<float*>(d_o_memory_.data()), 2, 4, 3, 6);
  q_.data = d_o_memory_.data();
  expect(attend(), "o: overlaps the input q in memory; give it memory of its own");
}

TEST_F(LinearCall, Gradients) {
  const LinearGradients right = gradients_;
  gradients_ = {};
  expect(differentiate(), "gradients: none given; expected dq, dk or dv");
  gradients_ = right;
  d_o_.shape[1] = 2;
  expect(differentiate(), "d_o: shape [2, 2, 3, 6]; expected [2, 4, 3, 6]");
  d_o_.shape[1] = 4;
  d_o_.dtype = DType::none;
  expect(differentiate(), "d_o: missing; expected float32 as q");
  d_o_.dtype = DType::f32;
  gradients_.dq.dtype = DType::f64;
  expect(differentiate(), "dq: float64; expected float32, float16 or bfloat16, as all is computed in float32");
  gradients_ = right;
  gradients_.dk.shape[2] = 4;
  expect(differentiate(), "dk: shape [2, 2, 4, 8]; expected [2, 2, 5, 8]");
  gradients_ = right;
  gradients_.dv.data = dk_memory_.data();
  expect(differentiate(), "dv: overlaps the output dk in memory; give it memory of its own");
  gradients_ = right;
  d_o_.data = dq_memory_.data();
  expect(differentiate(), "dq: overlaps the input d_o in memory; give it memory of its own");
}

TEST_F(LinearCall, PlansAndWorkspaces) {
  LinearPlan plan;
  expect(linear_attention_plan({.d_k = 0}, 1, &plan), "q: head dim is 0; expected at least 1");
  expect(linear_attention_plan({.h_q = 3, .h_kv = 2}, 1, &plan), "q: 3 heads are not a multiple of k's 2");
  expect(linear_attention_plan({.n_q = -1}, 1, &plan), "q: extent -1 of axis 2 is negative");
  expect(linear_attention_plan({}, 0, &plan), "workers: 0 workers; expected 1 to 65536");
  expect(linear_attention_plan({}, 1, nullptr), "plan: the pointer is null");

  ASSERT_TRUE(linear_attention_plan({2, 4, 2, 3, 5, 8, 6}, 1, &plan).ok());
  std::vector<char> memory(plan.backward_workspace_bytes);
  const Execution small = {.workspace = memory.data(), .workspace_bytes = plan.workspace_bytes - 1};
  const std::string needs = std::to_string(plan.workspace_bytes);
  expect(linear_attention(q_, k_, v_, o_, options_, small),
         "workspace: " + std::to_string(plan.workspace_bytes - 1) + " bytes; this call needs " + needs +
             " (linear_attention_plan tells)",
         StatusCode::workspace_too_small);
}

}  // namespace
}  // namespace foveate
