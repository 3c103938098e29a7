// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Any shapes, strides, options and types against the oracle: the bytes are the choices of a random call. Each target gives
// its own result, all within the bound of one exact one, and so within two of each other; of half of them the gradients, too;
// of some the same with additive scores, of the bytes that are left.
// One call in four is made wrong on purpose, and must be refused with nothing written.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>

#include "foveate/attention.h"
#include "foveate/target.h"
#include "tests/additive_case.h"
#include "tests/attention_case.h"
#include "tests/error_bound.h"
#include "tests/gradient_bound.h"
#include "tests/gradient_case.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

[[noreturn]] void fail(const Spec& spec, const char* type, const std::string& words) {
  std::cerr << type << ' ' << active_target() << ' ' << spec << '\n' << words << std::endl;
  std::abort();
}

/// Calls body on each target: it gives what is wrong in words, none if nothing is.
template <class Body>
void on_each_target(const Spec& spec, const char* type, const Body& body) {
  for (int64_t target = 0; target < target_count(); ++target) {
    if (!pin_target(target_name(target)).ok()) std::abort();
    const std::string words = body();
    if (!words.empty()) fail(spec, type, words);
  }
}

/// All arguments of a call, to be spoilt.
struct Arguments {
  ConstTensor q, k, v;
  AttentionOutputs outputs;
  AttentionOptions options;
};

constexpr double kNoScale = std::numeric_limits<double>::infinity();
constexpr float kNoSlope[] = {std::numeric_limits<float>::quiet_NaN(), 1, 1};
constexpr int64_t kBadLength[] = {-1, int64_t{1} << 40, -1};
constexpr int64_t kBadStarts[] = {1, 0, -5};

bool empty(const ConstTensor& view) {
  return view.shape[0] == 0 || view.shape[1] == 0 || view.shape[2] == 0 || view.shape[3] == 0;
}

/// Breaks the contract in one way. False where that way does not suit this call.
template <class T>
bool spoil(Choices& c, const Case<T>& call, Arguments& a) {
  const Spec& s = call.spec;
  AttentionOptions& o = a.options;
  Tensor* const outputs[] = {&a.outputs.o, &a.outputs.lse, &a.outputs.weights};
  Tensor& output = *outputs[c.below(3)];
  ConstTensor* const inputs[] = {&a.q, &a.k, &a.v};
  ConstTensor& input = *inputs[c.below(3)];
  const int64_t pairs[] = {s.b, s.h_q, s.n_q, s.n_kv};
  switch (c.below(32)) {
    case 0:
      a.k.shape[3] += 1;
      return true;
    case 1:
      a.k.shape[2] += 1;
      return true;
    case 2:
      a.v.shape[1] += 1;
      return true;
    case 3:
      input.shape[0] += 1;
      return true;
    case 4:
      a.q.shape[3] = a.k.shape[3] = 0;
      return true;
    case 5:
      input.shape[c.below(4)] = -1;
      return true;
    case 6:
      input.dtype = c.one_of({DType::i32, DType::boolean, DType::none});
      return true;
    case 7:
      input.dtype = input.dtype == DType::f64 ? DType::f32 : DType::f64;
      return true;
    case 8:
      input.data = nullptr;
      return !empty(input);
    case 9:
      o.scale = c.one_of({kNoScale, -kNoScale, std::nan("")});
      return true;
    case 10:
      o.softcap = c.one_of({-1.0, kNoScale, std::nan("")});
      return true;
    case 11:
      (c.one_in(2) ? o.window_left : o.window_right) = c.one_of<int64_t>({-2, INT64_MIN});
      return true;
    case 12:
      (c.one_in(2) ? o.q_offset : o.kv_offset) = c.one_of<int64_t>({(int64_t{1} << 60) + 1, INT64_MIN, INT64_MAX});
      return true;
    case 13:
      o.alibi_slopes = {kNoSlope, DType::f32, s.h_q, 0};
      return s.h_q > 0;
    case 14:
      o.sinks = {kNoSlope, DType::f32, s.h_q + 1, 0};
      return true;
    case 15:
      (c.one_in(2) ? o.q_lengths : o.kv_lengths) = ConstVector{kBadLength + c.below(2), DType::i64, s.b, 0};
      return s.b > 0;
    case 16:
      o.mask.dtype = DType::f32;
      return o.mask.data != nullptr;
    case 17:
      o.mask.shape[c.below(4)] += 1;  // 2 where it was broadcast: right where that axis has 2
      for (int axis = 0; axis < 4; ++axis) {
        if (o.mask.shape[axis] != 1 && o.mask.shape[axis] != pairs[axis]) return o.mask.data != nullptr;
      }
      return false;
    case 18:
      o.bias.dtype = c.one_of({DType::i64, DType::boolean});
      return o.bias.data != nullptr;
    case 19:
      output.shape[c.below(4)] += 1;
      return output.present();
    case 20:
      output.dtype = output.dtype == DType::f64 ? DType::f32 : DType::f64;
      return output.present();
    case 21:  // an input read from where an output goes
      if (!output.present() || empty(output) || empty(input)) return false;
      input.data = output.data;
      return true;
    case 22:
      a.outputs = {};
      return true;
    case 23:
      o.tree_tokens = s.n_kv + 1;
      return true;
    case 24:
      o.tree_mask.dtype = DType::i32;
      return o.tree_mask.data != nullptr;
    case 25:
      o.block_table = {kBadLength, DType::i64, {s.b, 1}, {0, 1}};  // page -1
      return s.page_size > 0 && s.b > 0 && call.sequences.kv_lengths[0] > 0;
    case 26:
      o.block_table.shape[0] += 1;
      return s.page_size > 0;
    case 27:
      (c.one_in(2) ? o.q_starts : o.kv_starts) = ConstVector{kBadStarts + c.below(2), DType::i64, 2, 1};
      return true;
    case 28:
      (c.one_in(2) ? o.q_starts : o.kv_starts).size -= 1;
      return s.packed_queries && s.packed_keys;
    case 29:
      o.k_scales.dtype = c.one_of({DType::f64, DType::none, DType::f16});
      return a.k.dtype == DType::i8;
    case 30:
      o.v_scales.shape[3] = 2;
      o.v_scales.dtype = DType::f32;  // beside another type, or of a wrong shape
      return true;
    default:  // several elements of an output in one place
      for (int axis = 0; axis < 4; ++axis) {
        if (!output.present() || empty(output) || output.shape[axis] <= 1) continue;
        output.stride[axis] = 0;
        return true;
      }
      return false;
  }
}

template <class T>
void refuse(Choices& c, Case<T>& call, const char* type) {
  Arguments a = {call.q.view(), call.k.view(), call.v_view(), call.outputs(), call.options};
  if (!spoil(c, call, a)) return;
  const Status status = attention(a.q, a.k, a.v, a.outputs, a.options);
  const std::string words = status.message();
  if (status.code() != StatusCode::invalid_argument)
    fail(call.spec, type, "a wrong argument was not refused: " + words);
  if (words.empty() || words.find('\n') != std::string::npos) fail(call.spec, type, "not one line: '" + words + "'");
  if (!call.untouched()) fail(call.spec, type, "written to, though refused: " + words);
}

/// The gradients of a call of that kind.
template <class T>
void differentiate(Choices& c, const Spec& spec, const char* type) {
  const GradientSpec gradients = random_gradients(c);
  GradientCase<T> call(spec, gradients);
  const ExpectedGradients<T> expected(call);
  on_each_target(spec, type, [&] {
    const Status status = call.differentiate();
    const std::string words = status.ok() ? judge(call, expected) : status.message();
    if (!words.empty()) std::cerr << gradients << '\n';
    return words;
  });
}

/// A call of that kind with additive scores, and its gradients.
template <class T>
void attend_additively(Choices& c, const Spec& spec, const char* type) {
  const NetworkSpec network = random_network(c, spec, 100'000);
  const GradientSpec gradients = random_gradients(c);
  AdditiveCase<T> call(spec, network);
  const Expected<T> expected(call.forward);
  on_each_target(spec, type, [&] {
    const Status status = call.attend();
    const std::string words = status.ok() ? judge(call.forward, expected) : status.message();
    if (!words.empty()) std::cerr << network << '\n';
    return words;
  });
  AdditiveGradientCase<T> backward(spec, gradients, network);
  const ExpectedGradients<T> expected_gradients(backward.call);
  on_each_target(spec, type, [&] {
    const Status status = backward.differentiate();
    const std::string words = status.ok() ? judge(backward, expected_gradients) : status.message();
    if (!words.empty()) std::cerr << network << ' ' << gradients << '\n';
    return words;
  });
}

template <class T>
void run(Choices& c, const char* type) {
  const bool wrong = c.one_in(4);
  const int64_t keys = c.one_in(32) ? 1100 : 140;
  const Spec spec = random_spec(c, {.queries = 60, .keys = keys, .head_dim = 20, .multiply_adds = 60'000});
  Case<T> call(spec);
  if (wrong) {
    refuse(c, call, type);
    return;
  }
  const Expected<T> expected(call);
  on_each_target(spec, type, [&] {
    const Status status = call.attend();
    return status.ok() ? judge(call, expected) : status.message();
  });
  if (c.one_in(2)) differentiate<T>(c, spec, type);
  if (c.one_in(4)) attend_additively<T>(c, spec, type);
}

}  // namespace
}  // namespace foveate::trial

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  using namespace foveate;
  trial::Choices choices(bytes, n);
  if (choices.one_in(2)) {
    trial::run<double>(choices, "float64");
  } else {
    trial::run<float>(choices, "float32");
  }
  return 0;
}
