// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What is rejected of a backward pass: the code, the message word for word, and that no gradient was written.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "foveate/attention_backward.h"
#include "foveate/status.h"
#include "tests/rejected_call.h"

namespace foveate {
namespace {

constexpr StatusCode kInvalid = StatusCode::invalid_argument;
const std::string kFloats = "expected float32, float64, float16 or bfloat16";

/// The call of rejected_call.h, whose outputs are inputs now: b 2, h_q 4, h_kv 2, n_q 3, n_kv 5, d_k 8, d_v 6, and
/// every gradient. Each test spoils it.
class Gradients : public trial::RejectedCall {
 protected:
  Gradients() {
    EXPECT_TRUE(attention(q_, k_, v_, {.o = outputs_.o, .lse = outputs_.lse}, options_).ok());
    for (auto* memory : all_memory()) memory->fill(0xA5);
  }

  Status differentiate() { return attention_backward(q_, k_, v_, saved_o_, saved_lse_, d_o_, gradients_, options_); }

  void expect(StatusCode code, const std::string& message) {
    expect_message(code, message);
    EXPECT_TRUE(untouched()) << message;
  }
  void expect(const std::string& message) { expect(kInvalid, message); }

  void expect_message(StatusCode code, const std::string& message) {
    const Status status = differentiate();
    EXPECT_EQ(status.code(), code) << name_of(status.code());
    EXPECT_EQ(status.message(), message);
    EXPECT_LT(message.size(), 255u);
  }
  void expect_overlap(const std::string& output, const std::string& of, const std::string& other) {
    expect_message(kInvalid, output + ": overlaps the " + of + " " + other + " in memory; give it memory of its own");
  }

  bool untouched() {
    for (const auto* memory : all_memory()) {
      if (!memory->holds(0xA5)) return false;
    }
    return true;
  }

  using Gradient = Memory<2 * 4 * 3 * 8 * 8>;  ///< enough for any of them, in any type
  std::vector<Gradient*> all_memory() { return {&dq_, &dk_, &dv_, &dbias_, &dsinks_}; }

  Gradient dq_, dk_, dv_, dbias_, dsinks_;
  double d_o_memory_[2 * 4 * 3 * 6] = {};
  ConstTensor saved_o_ = outputs_.o, saved_lse_ = outputs_.lse;
  ConstTensor d_o_ = view<const float>(reinterpret_cast<const float*>(d_o_memory_), 2, 4, 3, 6);
  AttentionGradients gradients_ = {.dq = view(dq_.floats(), 2, 4, 3, 8),
                                   .dk = view(dk_.floats(), 2, 2, 5, 8),
                                   .dv = view(dv_.floats(), 2, 2, 5, 6),
                                   .dbias = view(dbias_.floats(), 1, 4, 1, 5),
                                   .dsinks = view(dsinks_.floats(), 4)};
};

TEST_F(Gradients, IsRightUnspoilt) {
  const Status status = differentiate();
  EXPECT_TRUE(status.ok()) << status.message();
  for (const auto* memory : all_memory()) EXPECT_FALSE(memory->holds(0xA5));
}

// --- What a forward call refuses too ---

TEST_F(Gradients, InputsAndOptionsAreThoseOfAForwardCall) {
  k_.shape[3] = 4;
  expect("k: head dim 4 does not equal q's 8");
  k_.shape[3] = 8;
  v_.dtype = DType::f64;
  expect("v: float64 does not equal q's float32");
  v_.dtype = DType::f32;
  options_.softcap = -1.5;
  expect("softcap: -1.5; expected a finite number above 0, or 0 for none");
  options_.softcap = 0;
  options_.dropout = 1;
  expect("dropout: 1; expected a probability, at least 0 and below 1");
  options_.dropout = 0;
  options_.bias.dtype = DType::i8;
  expect("bias: dtype int8 is not a float type; " + kFloats);
  options_.bias.dtype = DType::f32;
  kv_lengths_[0] = 6;
  expect("kv_lengths: entry 0 is 6; expected 0 to n_kv = 5");
}

TEST_F(Gradients, KeysInPages) {
  const int32_t table[2] = {0, 1};
  const int64_t lengths[2] = {5, 2};
  options_.block_table = view<const int32_t>(table, 2, 1);
  options_.kv_lengths = view<const int64_t>(lengths, 2);
  ASSERT_TRUE(attention(q_, k_, v_, {.o = outputs_.o}, options_).ok()) << "a right forward call";
  expect("block_table: keys in pages have no gradients; give k and v padded or packed");
}

TEST_F(Gradients, TooManyWorkers) {
  class Crowd final : public Executor {
   public:
    int64_t concurrency() const override { return 65537; }
    void run(int64_t, Task, void*) override { ADD_FAILURE() << "nothing to run"; }
  } crowd;
  const Status status =
      attention_backward(q_, k_, v_, saved_o_, saved_lse_, d_o_, gradients_, options_, {.executor = &crowd});
  EXPECT_EQ(status.code(), kInvalid);
  EXPECT_STREQ(status.message(), "executor: 65537 workers; expected 1 to 65536");
  EXPECT_TRUE(untouched());
}

// --- o, lse, d_o ---

TEST_F(Gradients, SavedOutputsAreThere) {
  const std::pair<std::string, ConstTensor*> saved[] = {{"o", &saved_o_}, {"lse", &saved_lse_}, {"d_o", &d_o_}};
  for (const auto& [name, view] : saved) {
    const ConstTensor right = *view;
    *view = {};
    expect(name + ": missing; expected float32 as q");
    *view = right;
    view->data = nullptr;
    expect(name + ": the data pointer is null");
    *view = right;
    view->stride[1] = std::numeric_limits<int64_t>::max();
    expect(name + ": strides reach past 64-bit addresses");
    *view = right;
    for (const DType dtype : {DType::f64, DType::f16, DType::bf16, DType::i32, DType::boolean}) {
      view->dtype = dtype;
      expect(name + ": " + name_of(dtype) + " does not equal q's float32");
    }
    *view = right;
  }
}

TEST_F(Gradients, SavedOutputsAreShapedAsTheyWere) {
  saved_o_.shape[3] = 8;
  expect("o: shape [2, 4, 3, 8]; expected [2, 4, 3, 6]");
  saved_o_.shape[3] = 6;
  saved_o_.shape[0] = 1;
  expect("o: shape [1, 4, 3, 6]; expected [2, 4, 3, 6]");
  saved_o_.shape[0] = 2;
  saved_lse_.shape[3] = 6;
  expect("lse: shape [2, 4, 3, 6]; expected [2, 4, 3, 1]");
  saved_lse_.shape[3] = 1;
  saved_lse_.shape[2] = 5;
  expect("lse: shape [2, 4, 5, 1]; expected [2, 4, 3, 1]");
  saved_lse_.shape[2] = 3;
  d_o_.shape[1] = 2;
  expect("d_o: shape [2, 2, 3, 6]; expected [2, 4, 3, 6]");
}

TEST_F(Gradients, PackedQueriesHaveOneBatchOfThem) {
  const int64_t q_starts[] = {0, 2, 3};
  q_ = view<const float>(static_cast<const float*>(q_.data), 1, 4, 3, 8);
  options_ = {.q_starts = view(q_starts, 3)};
  gradients_ = {.dk = gradients_.dk};
  expect("o: shape [2, 4, 3, 6]; expected [1, 4, 3, 6]");
  saved_o_ = view<const float>(static_cast<const float*>(saved_o_.data), 1, 4, 3, 6);
  expect("lse: shape [2, 4, 3, 1]; expected [1, 4, 3, 1]");
  saved_lse_ = view<const float>(static_cast<const float*>(saved_lse_.data), 1, 4, 3, 1);
  expect("d_o: shape [2, 4, 3, 6]; expected [1, 4, 3, 6]");
  d_o_ = view<const float>(static_cast<const float*>(d_o_.data), 1, 4, 3, 6);
  EXPECT_TRUE(differentiate().ok()) << differentiate().message();
  gradients_.dq = view(dq_.floats(), 2, 4, 3, 8);
  expect_message(kInvalid, "dq: shape [2, 4, 3, 8]; expected [1, 4, 3, 8]");
}

// --- Gradients ---

TEST_F(Gradients, NoGradient) {
  gradients_ = {};
  expect("gradients: none given; expected dq, dk, dv, dbias or dsinks");
}

TEST_F(Gradients, GradientsWithoutWhatTheyAreBy) {
  options_.bias = {};
  expect("dbias: given without bias");
  gradients_.dbias = {};
  options_.sinks = {};
  expect("dsinks: given without sinks");
}

TEST_F(Gradients, GradientDTypes) {
  const std::pair<std::string, Tensor*> gradients[] = {
      {"dq", &gradients_.dq}, {"dk", &gradients_.dk}, {"dv", &gradients_.dv}, {"dbias", &gradients_.dbias}};
  for (const auto& [name, gradient] : gradients) {
    for (const DType dtype : {DType::i64, DType::i8, DType::boolean, static_cast<DType>(200)}) {
      gradient->dtype = dtype;
      expect(name + ": dtype " + name_of(dtype) + " is not a float type; " + kFloats);
    }
    gradient->dtype = DType::f64;
    expect(name + ": float64; expected float32, float16 or bfloat16, as all is computed in float32");
    gradient->dtype = DType::f32;
  }
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16, DType::i32}) {
    gradients_.dsinks.dtype = dtype;
    expect(std::string("dsinks: ") + name_of(dtype) + " does not equal q's float32");
  }
}

TEST_F(Gradients, GradientsOfFloat64AreFloat64) {
  q_.dtype = k_.dtype = v_.dtype = saved_o_.dtype = saved_lse_.dtype = d_o_.dtype = DType::f64;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    gradients_.dq.dtype = dtype;
    expect(std::string("dq: ") + name_of(dtype) + "; expected float64, as all is computed in float64");
  }
  gradients_.dq.dtype = gradients_.dk.dtype = gradients_.dv.dtype = gradients_.dbias.dtype = DType::f64;
  expect("dsinks: float32 does not equal q's float64");
  gradients_.dsinks.dtype = DType::f64;
  const Status status = differentiate();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Gradients, GradientsOfAnyFloatType) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    gradients_.dq.dtype = gradients_.dk.dtype = gradients_.dv.dtype = gradients_.dbias.dtype = dtype;
    const Status status = differentiate();
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST_F(Gradients, GradientShapes) {
  gradients_.dq.shape[3] = 6;
  expect("dq: shape [2, 4, 3, 6]; expected [2, 4, 3, 8]");
  gradients_.dq.shape[3] = 8;
  gradients_.dk.shape[1] = 4;
  expect("dk: shape [2, 4, 5, 8]; expected [2, 2, 5, 8]");
  gradients_.dk.shape[1] = 2;
  gradients_.dv.shape[3] = 8;
  expect("dv: shape [2, 2, 5, 8]; expected [2, 2, 5, 6]");
  gradients_.dv.shape[3] = 6;
  gradients_.dbias.shape[2] = 3;  // what the bias is broadcast to
  expect("dbias: shape [1, 4, 3, 5]; expected [1, 4, 1, 5]");
  gradients_.dbias.shape[2] = 1;
  gradients_.dsinks.size = 2;
  expect("dsinks: 2 entries; expected h_q = 4");
  gradients_.dsinks.size = -1;
  expect("dsinks: -1 entries; expected h_q = 4");
}

TEST_F(Gradients, GradientPointersAndStrides) {
  const std::pair<std::string, Tensor*> gradients[] = {
      {"dq", &gradients_.dq}, {"dk", &gradients_.dk}, {"dv", &gradients_.dv}, {"dbias", &gradients_.dbias}};
  const std::string onto_itself =
      ": its axes overlap or interleave in memory; expected a packed, sliced or transposed array";
  for (const auto& [name, gradient] : gradients) {
    const Tensor right = *gradient;
    gradient->data = nullptr;
    expect(name + ": the data pointer is null");
    *gradient = right;
    gradient->stride[1] = std::numeric_limits<int64_t>::min();
    expect(name + ": strides reach past 64-bit addresses");
    *gradient = right;
    gradient->stride[3] = 0;
    expect(name + onto_itself);
    gradient->stride[3] = 1;
    gradient->stride[1] = 2;
    expect(name + onto_itself);
    *gradient = right;
  }
  gradients_.dsinks.stride = 0;
  expect("dsinks" + onto_itself);
  gradients_.dsinks.stride = 1;
  gradients_.dsinks.data = nullptr;
  expect("dsinks: the data pointer is null");
}

// --- Overlaps ---

TEST_F(Gradients, GradientsOnInputs) {
  const int64_t q_lengths[2] = {3, 0};
  options_.q_lengths = view(q_lengths, 2);
  const std::pair<std::string, const void*> inputs[] = {
      {"q", q_.data},       {"k", k_.data},           {"v", v_.data},
      {"mask", mask_},      {"bias", bias_},          {"alibi_slopes", slopes_},
      {"sinks", sinks_},    {"q_lengths", q_lengths}, {"kv_lengths", kv_lengths_},
      {"o", saved_o_.data}, {"lse", saved_lse_.data}, {"d_o", d_o_.data}};
  for (const auto& [name, input] : inputs) {
    // One number of a gradient, on the first of an input.
    const AttentionGradients right = gradients_;
    gradients_.dsinks.data = const_cast<void*>(input);
    expect_overlap("dsinks", "input", name);
    gradients_ = right;
    gradients_.dbias.data = const_cast<void*>(input);
    expect_overlap("dbias", "input", name);
    gradients_ = right;
  }
  for (const auto& [name, gradient] :
       {std::pair<std::string, Tensor*>{"dq", &gradients_.dq}, {"dk", &gradients_.dk}, {"dv", &gradients_.dv}}) {
    const Tensor right = *gradient;
    gradient->data = const_cast<void*>(d_o_.data);
    expect_overlap(name, "input", "d_o");
    gradient->data = const_cast<void*>(k_.data);
    expect_overlap(name, "input", "k");
    *gradient = right;
  }
  EXPECT_TRUE(untouched());
}

TEST_F(Gradients, GradientsOnEachOther) {
  const Gradient& shared = dq_;
  const std::pair<std::string, void**> later[] = {
      {"dk", &gradients_.dk.data}, {"dv", &gradients_.dv.data}, {"dbias", &gradients_.dbias.data}};
  for (const auto& [name, data] : later) {
    void* const right = *data;
    *data = const_cast<unsigned char*>(shared.bytes + 4 * (2 * 4 * 3 * 8 - 1));  // on the last number
    expect_overlap(name, "output", "dq");
    EXPECT_TRUE(untouched());
    *data = right;
  }
  gradients_.dsinks.data = dbias_.bytes + 8;
  expect_overlap("dsinks", "output", "dbias");
  EXPECT_TRUE(untouched());
  gradients_.dv.data = dk_.bytes + 64;
  expect_overlap("dv", "output", "dk");
  EXPECT_TRUE(untouched());
}

// --- Which of several faults is told ---

TEST_F(Gradients, TheFirstFaultIsTold) {
  // From the last checked to the first: of those there are, the newest is told.
  const int32_t table[2] = {0, 1};
  const std::vector<std::pair<std::string, std::function<void()>>> faults = {
      {"dq: overlaps the input o ", [&] { gradients_.dq.data = o_.bytes; }},
      {"dk: overlaps the input q ", [&] { gradients_.dk.data = q_memory_; }},
      {"dsinks: 7 entries", [&] { gradients_.dsinks.size = 7; }},
      {"dbias: shape", [&] { gradients_.dbias.shape[0] = 7; }},
      {"dv: shape", [&] { gradients_.dv.shape[0] = 7; }},
      {"dk: shape", [&] { gradients_.dk.shape[0] = 7; }},
      {"dq: shape", [&] { gradients_.dq.shape[0] = 7; }},
      {"d_o: shape", [&] { d_o_.shape[0] = 7; }},
      {"lse: shape", [&] { saved_lse_.shape[0] = 7; }},
      {"o: shape", [&] { saved_o_.shape[0] = 7; }},
      {"sinks:", [&] { options_.sinks.size = 7; }},
      {"k: head dim", [&] { k_.shape[3] = 7; }},
      {"q: dtype", [&] { q_.dtype = DType::i32; }},
      {"block_table:", [&] { options_.block_table = view<const int32_t>(table, 2, 1); }},
  };
  for (const auto& [beginning, spoil] : faults) {
    spoil();
    const Status status = differentiate();
    EXPECT_EQ(status.code(), kInvalid) << beginning;
    EXPECT_EQ(std::string(status.message()).rfind(beginning, 0), 0u) << beginning << ": got " << status.message();
    EXPECT_TRUE(untouched());
  }
}

// --- What looks wrong, and is right ---

TEST_F(Gradients, EmptyCallsNeedNoMemory) {
  options_ = {};
  for (int axis = 0; axis < 3; ++axis) {
    ConstTensor q = q_, k = k_, v = v_, o = saved_o_, lse = saved_lse_, d_o = d_o_;
    AttentionGradients gradients = {.dq = gradients_.dq};
    for (ConstTensor* view : {&q, &o, &lse, &d_o}) {
      view->shape[axis] = 0;
      view->data = nullptr;
    }
    gradients.dq.shape[axis] = 0;
    gradients.dq.data = nullptr;
    if (axis == 0) k.shape[0] = v.shape[0] = 0;
    const Status status = attention_backward(q, k, v, o, lse, d_o, gradients);
    EXPECT_TRUE(status.ok()) << axis << status.message();
  }
  EXPECT_TRUE(untouched());
}

TEST_F(Gradients, NoRowsLeaveZeros) {
  options_ = {.sinks = options_.sinks};
  q_.shape[2] = saved_o_.shape[2] = saved_lse_.shape[2] = d_o_.shape[2] = gradients_.dq.shape[2] = 0;
  gradients_.dbias = {};
  const Status status = differentiate();
  EXPECT_TRUE(status.ok()) << status.message();
  for (int i = 0; i < 2 * 2 * 5 * 8; ++i) EXPECT_EQ(dk_.floats()[i], 0);
  for (int i = 0; i < 2 * 2 * 5 * 6; ++i) EXPECT_EQ(dv_.floats()[i], 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(dsinks_.floats()[i], 0);
  EXPECT_TRUE(dq_.holds(0xA5));
}

TEST_F(Gradients, NoKeysAndNoValueDims) {
  options_ = {};
  k_.shape[2] = v_.shape[2] = 0;
  k_.data = v_.data = nullptr;
  gradients_ = {.dq = gradients_.dq};
  EXPECT_TRUE(differentiate().ok());
  for (int i = 0; i < 2 * 4 * 3 * 8; ++i) EXPECT_EQ(dq_.floats()[i], 0);
  v_.shape[3] = saved_o_.shape[3] = d_o_.shape[3] = 0;
  saved_o_.data = d_o_.data = nullptr;
  const Status status = differentiate();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Gradients, InputsMayOverlapAndGradientsMayTouch) {
  k_.data = v_.data = q_.data;
  d_o_ = saved_o_;
  gradients_.dv.data = dk_.bytes + 2 * 2 * 5 * 8 * 4;
  EXPECT_TRUE(differentiate().ok()) << differentiate().message();
}

TEST_F(Gradients, StridesOfExtentOneAreIgnored) {
  constexpr int64_t kWild = std::numeric_limits<int64_t>::min();
  saved_lse_.stride[3] = kWild;
  gradients_.dbias.stride[0] = gradients_.dbias.stride[2] = kWild;
  EXPECT_TRUE(differentiate().ok()) << differentiate().message();
}

}  // namespace
}  // namespace foveate
