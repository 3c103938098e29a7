// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call that is right, for a test to spoil: its rejections word for word, with nothing written.
#ifndef FOVEATE_TESTS_REJECTED_CALL_H_
#define FOVEATE_TESTS_REJECTED_CALL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "foveate/attention.h"
#include "foveate/status.h"

namespace foveate::trial {

/// A call that is right: b 2, h_q 4, h_kv 2, n_q 3, n_kv 5, d_k 8, d_v 6. Each test spoils it.
class RejectedCall : public testing::Test {
 protected:
  RejectedCall() {
    o_.fill(0xA5);
    lse_.fill(0xA5);
    weights_.fill(0xA5);
    options_.mask = view<const bool>(mask_, 2, 1, 3, 5);
    options_.bias = view<const float>(bias_, 1, 4, 1, 5);
    options_.alibi_slopes = view<const float>(slopes_, 4);
    options_.sinks = view<const float>(sinks_, 4);
    options_.q_lengths = view<const int64_t>(q_lengths_, 2);
    options_.kv_lengths = view<const int32_t>(kv_lengths_, 2);
  }

  Status attend() { return attention(q_, k_, v_, outputs_, options_); }

  /// Expects a rejection, its message to the letter, and outputs as they were.
  void expect(StatusCode code, const std::string& message) {
    expect_message(code, message);
    EXPECT_TRUE(untouched()) << message;
  }
  void expect(const std::string& message) { expect(StatusCode::invalid_argument, message); }

  void expect_message(StatusCode code, const std::string& message) {
    const Status status = attend();
    EXPECT_EQ(status.code(), code) << name_of(status.code());
    EXPECT_EQ(status.message(), message);
    EXPECT_LT(message.size(), 255u);
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }

  bool untouched() const { return o_.holds(0xA5) && lse_.holds(0xA5) && weights_.holds(0xA5); }

  template <int N>
  struct Memory {
    alignas(8) unsigned char bytes[N];

    void fill(unsigned char byte) { std::memset(bytes, byte, N); }
    bool holds(unsigned char byte) const {
      return std::all_of(bytes, bytes + N, [byte](unsigned char b) { return b == byte; });
    }
    float* floats() { return reinterpret_cast<float*>(bytes); }
  };

  Memory<2 * 4 * 3 * 6 * 8> o_;
  Memory<2 * 4 * 3 * 8> lse_;
  Memory<2 * 4 * 3 * 5 * 8> weights_;
  double q_memory_[2 * 4 * 3 * 8] = {}, k_memory_[2 * 2 * 5 * 8] = {}, v_memory_[2 * 2 * 5 * 6] = {};
  bool mask_[2 * 3 * 5] = {};
  float bias_[4 * 5] = {}, slopes_[4] = {}, sinks_[4] = {};
  int64_t q_lengths_[2] = {3, 0};
  int32_t kv_lengths_[2] = {5, 0};

  ConstTensor q_ = view<const float>(reinterpret_cast<const float*>(q_memory_), 2, 4, 3, 8);
  ConstTensor k_ = view<const float>(reinterpret_cast<const float*>(k_memory_), 2, 2, 5, 8);
  ConstTensor v_ = view<const float>(reinterpret_cast<const float*>(v_memory_), 2, 2, 5, 6);
  AttentionOutputs outputs_ = {.o = view(o_.floats(), 2, 4, 3, 6),
                               .lse = view(lse_.floats(), 2, 4, 3, 1),
                               .weights = view(weights_.floats(), 2, 4, 3, 5)};
  AttentionOptions options_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_REJECTED_CALL_H_
