// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Linear attention over any shapes, strides, options and types, forward and backward, on every target, against the
// oracle: the bytes are the choices of a random call. One call in four is made wrong on purpose, and must be refused
// with nothing written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "foveate/linear.h"
#include "foveate/target.h"
#include "tests/linear_case.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

[[noreturn]] void fail(const LinearSpec& spec, const std::string& words) {
  std::cerr << active_target() << ' ' << spec << '\n' << words << std::endl;
  std::abort();
}

/// All arguments of a call, to be spoilt.
struct LinearArguments {
  ConstTensor q, k, v, d_o;
  Tensor o;
  LinearGradients gradients;
  LinearOptions options;
};

constexpr int64_t kBadLengths[] = {-1, int64_t{1} << 40};

bool empty(const ConstTensor& view) {
  return view.shape[0] == 0 || view.shape[1] == 0 || view.shape[2] == 0 || view.shape[3] == 0;
}

/// Breaks the contract in one way, for both passes. False where that way does not suit this call.
bool spoil(Choices& c, const LinearSpec& s, LinearArguments& a) {
  ConstTensor* const inputs[] = {&a.q, &a.k, &a.v};
  ConstTensor& input = *inputs[c.below(3)];
  LinearOptions& o = a.options;
  switch (c.below(14)) {
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
      input.dtype = c.one_of({DType::i32, DType::boolean, DType::none, DType::i8});
      return true;
    case 7:
      input.dtype = input.dtype == DType::f64 ? DType::f32 : DType::f64;
      return true;
    case 8:
      input.data = nullptr;
      return !empty(input);
    case 9:
      o.q_offset = c.one_of<int64_t>({(int64_t{1} << 60) + 1, INT64_MIN, INT64_MAX});
      return true;
    case 10:
      (c.one_in(2) ? o.q_lengths : o.kv_lengths) = ConstVector{kBadLengths + c.below(2), DType::i64, s.b, 0};
      return s.b > 0;
    case 11:
      o.mask.dtype = DType::f32;
      return o.mask.data != nullptr;
    case 12:
      o.mask.shape[2] = 2;
      return o.mask.data != nullptr;
    default:  // an input read from where outputs go
      if (empty(a.o) || empty(a.gradients.dq) || empty(input)) return false;
      input.data = a.o.data;
      a.gradients.dq.data = a.o.data;
      a.gradients.dk = a.gradients.dv = {};
      return a.gradients.dq.dtype == a.o.dtype;
  }
}

template <class T>
void refuse(Choices& c, LinearCase<T>& call) {
  call.spec.want_dq = true;
  LinearArguments a = {call.q.view(),     call.k.view(),    call.v.view(), call.d_o.view(),
                       call.o.writable(), call.gradients(), call.options};
  if (!spoil(c, call.spec, a)) return;
  const Status statuses[] = {linear_attention(a.q, a.k, a.v, a.o, a.options),
                             linear_attention_backward(a.q, a.k, a.v, a.d_o, a.gradients, a.options)};
  for (const Status& status : statuses) {
    const std::string words = status.message();
    if (status.code() != StatusCode::invalid_argument) fail(call.spec, "a wrong argument was not refused: " + words);
    if (words.empty() || words.find('\n') != std::string::npos) fail(call.spec, "not one line: '" + words + "'");
  }
  if (!call.untouched()) fail(call.spec, "written to, though refused");
}

template <class T>
void run(Choices& c) {
  const bool wrong = c.one_in(4);
  LinearCase<T> call(random_linear_spec(c, c.one_in(16) ? 200'000 : 10'000));
  if (wrong) return refuse(c, call);
  const auto output = call.expected_output();
  const auto gradients = call.expected_gradients();
  for (int64_t target = 0; target < target_count(); ++target) {
    if (!pin_target(target_name(target)).ok()) std::abort();
    for (const bool backward : {false, true}) {
      const Status status = backward ? call.differentiate() : call.attend();
      if (!status.ok()) fail(call.spec, status.message());
      const std::string words = backward ? judge_gradients(call, gradients) : judge_output(call, output);
      if (!words.empty()) fail(call.spec, words);
    }
    if (!call.inputs_intact()) fail(call.spec, "an input was written to");
  }
}

}  // namespace
}  // namespace foveate::trial

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  using namespace foveate;
  trial::Choices choices(bytes, n);
  if (choices.one_in(2)) {
    trial::run<double>(choices);
  } else {
    trial::run<float>(choices);
  }
  return 0;
}
