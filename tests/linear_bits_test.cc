// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One row, one result: the bits of a row of o depend on nothing but the row, what it sees and where it stands; those of
// a sequence's gradients on that sequence alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "foveate/linear.h"
#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/scattered.h"
#include "tests/stored.h"

namespace foveate {
namespace {

/// A call over random arrays, packed, with a mask that lets seven keys in eight take part.
template <class T>
class LinearBits : public testing::Test {
 protected:
  static constexpr int64_t kBatch = 2, kHeads = 4, kKeyHeads = 2, kRows = 1300, kKeys = 2200, kDk = 9, kDv = 5;

  LinearBits()
      : q_(draw(kBatch * kHeads * kRows * kDk)),
        k_(draw(kBatch * kKeyHeads * kKeys * kDk)),
        v_(draw(kBatch * kKeyHeads * kKeys * kDv)),
        d_o_(draw(kBatch * kHeads * kRows * kDv)),
        mask_(new bool[kBatch * kKeyHeads * kKeys]) {
    for (int64_t i = 0; i < kBatch * kKeyHeads * kKeys; ++i) mask_[i] = random_() % 8 != 0;
    q_view_ = view<const T>(q_.data(), kBatch, kHeads, kRows, kDk);
    k_view_ = view<const T>(k_.data(), kBatch, kKeyHeads, kKeys, kDk);
    v_view_ = view<const T>(v_.data(), kBatch, kKeyHeads, kKeys, kDv);
    d_o_view_ = view<const T>(d_o_.data(), kBatch, kHeads, kRows, kDv);
    options_.mask = view<const bool>(mask_.get(), kBatch, kKeyHeads, 1, kKeys);
  }

  struct Results {
    std::vector<T> o, dq, dk, dv;
  };

  static std::vector<T> room_for(const ConstTensor& x, int64_t d) {
    return std::vector<T>(static_cast<size_t>(x.shape[0] * x.shape[1] * x.shape[2] * d), T(7.0f));
  }
  static Tensor like(std::vector<T>& memory, const ConstTensor& x, int64_t d) {
    return view(memory.data(), x.shape[0], x.shape[1], x.shape[2], d);
  }

  static std::vector<T> attend(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                               const LinearOptions& options, const Execution& execution = {}) {
    std::vector<T> o = room_for(q, v.shape[3]);
    const Status status = linear_attention(q, k, v, like(o, q, v.shape[3]), options, execution);
    EXPECT_TRUE(status.ok()) << status.message();
    return o;
  }

  static Results all(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& d_o,
                     const LinearOptions& options, const Execution& execution = {}) {
    Results r = {attend(q, k, v, options, execution), room_for(q, q.shape[3]), room_for(k, k.shape[3]),
                 room_for(v, v.shape[3])};
    const Status status = linear_attention_backward(
        q, k, v, d_o,
        {.dq = like(r.dq, q, q.shape[3]), .dk = like(r.dk, k, k.shape[3]), .dv = like(r.dv, v, v.shape[3])}, options,
        execution);
    EXPECT_TRUE(status.ok()) << status.message();
    return r;
  }

  static void expect_same(const Results& expected, const Results& got) {
    expect_same_bits(expected.o, got.o, "o");
    expect_same_bits(expected.dq, got.dq, "dq");
    expect_same_bits(expected.dk, got.dk, "dk");
    expect_same_bits(expected.dv, got.dv, "dv");
  }

  /// The part of a packed array that batch b has.
  static std::vector<T> of_batch(const std::vector<T>& all, int64_t b) {
    const auto n = static_cast<std::ptrdiff_t>(all.size()) / kBatch;
    return {all.begin() + b * n, all.begin() + (b + 1) * n};
  }

  std::vector<T> draw(int64_t n) {
    std::normal_distribution<double> normal;
    std::vector<T> x(static_cast<size_t>(n));
    for (T& y : x) y = trial::element_of<T>(normal(random_));
    return x;
  }

  std::mt19937 random_{1};
  std::vector<T> q_, k_, v_, d_o_;
  std::unique_ptr<bool[]> mask_;
  ConstTensor q_view_, k_view_, v_view_, d_o_view_;
  LinearOptions options_;
};

using Types = testing::Types<float, double, BFloat16>;
TYPED_TEST_SUITE(LinearBits, Types);

TYPED_TEST(LinearBits, WorkersDoNotMatter) {
  trial::on_each_target([&] {
    for (const bool causal : {false, true}) {
      this->options_.causal = causal;
      const auto serial = this->all(this->q_view_, this->k_view_, this->v_view_, this->d_o_view_, this->options_);
      for (const int workers : {2, 3, 7}) {
        for (const auto& executor : executors(workers)) {
          this->expect_same(serial, this->all(this->q_view_, this->k_view_, this->v_view_, this->d_o_view_,
                                              this->options_, {.executor = executor.get()}));
        }
      }
    }
  });
}

TYPED_TEST(LinearBits, TheBatchDoesNotMatter) {
  trial::on_each_target([&] {
    for (const bool causal : {false, true}) {
      this->options_.causal = causal;
      const auto whole = this->all(this->q_view_, this->k_view_, this->v_view_, this->d_o_view_, this->options_);
      for (int64_t b = 0; b < this->kBatch; ++b) {
        LinearOptions one = this->options_;
        one.mask = slice(one.mask, 0, b, 1);
        const auto part = this->all(slice(this->q_view_, 0, b, 1), slice(this->k_view_, 0, b, 1),
                                    slice(this->v_view_, 0, b, 1), slice(this->d_o_view_, 0, b, 1), one);
        this->expect_same({this->of_batch(whole.o, b), this->of_batch(whole.dq, b), this->of_batch(whole.dk, b),
                           this->of_batch(whole.dv, b)},
                          part);
      }
    }
  });
}

TYPED_TEST(LinearBits, StridesDoNotMatter) {
  using Copy = Scattered<TypeParam>;
  const Copy q(this->q_view_, {{0, 2, 1, 3}, 1, false, 1}), k(this->k_view_, {{3, 1, 0, 2}, 2, true, 3});
  const Copy v(this->v_view_, {{1, 0, 2, 3}, 3, false, 0}), d_o(this->d_o_view_, {{2, 3, 1, 0}, 1, true, 2});
  trial::on_each_target([&] {
    this->options_.causal = true;
    this->expect_same(this->all(this->q_view_, this->k_view_, this->v_view_, this->d_o_view_, this->options_),
                      this->all(q.view, k.view, v.view, d_o.view, this->options_));
  });
}

/// Rows [first, first + count), with the keys that there are by then.
TYPED_TEST(LinearBits, APromptInChunksIsThePromptWhole) {
  trial::on_each_target([&] {
    this->options_.causal = true;
    const ConstTensor q = this->q_view_;
    const std::vector<TypeParam> whole = this->attend(q, this->k_view_, this->v_view_, this->options_);
    const int64_t past = this->kKeys - this->kRows;
    for (const int64_t chunk : {1, 63, 500}) {
      // Token by token some of the rows will do.
      for (int64_t first = 0; first < this->kRows; first += chunk == 1 ? 97 : chunk) {
        const int64_t count = std::min(chunk, this->kRows - first), keys = past + first + count;
        LinearOptions options = this->options_;
        options.mask = slice(options.mask, 3, 0, keys);
        const auto check = [&](const std::vector<TypeParam>& part) {
          for (int64_t h = 0; h < this->kBatch * this->kHeads; ++h) {
            for (int64_t i = 0; i < count * this->kDv; ++i) {
              ASSERT_TRUE(same_bits(whole[(h * this->kRows + first) * this->kDv + i], part[h * count * this->kDv + i]))
                  << "row " << first << " of chunks of " << chunk;
            }
          }
        };
        check(this->attend(slice(q, 2, first, count), slice(this->k_view_, 2, 0, keys),
                           slice(this->v_view_, 2, 0, keys), options));
        options = this->options_;  // and the same beside all keys
        options.q_offset = past + first;
        check(this->attend(slice(q, 2, first, count), this->k_view_, this->v_view_, options));
        if (this->HasFatalFailure()) return;
      }
    }
  });
}

TYPED_TEST(LinearBits, WhatTakesNoPartDoesNotMatter) {
  trial::on_each_target([&] {
    for (const bool causal : {false, true}) {
      this->options_.causal = causal;
      LinearOptions shorter = this->options_;
      const std::vector<int64_t> lengths(this->kBatch, 1500);
      shorter.kv_lengths = view<const int64_t>(lengths.data(), this->kBatch);
      shorter.align = Align::top_left;
      LinearOptions cut = this->options_;
      cut.align = Align::top_left;
      cut.mask = slice(cut.mask, 3, 0, 1500);
      expect_same_bits(
          this->attend(this->q_view_, this->k_view_, this->v_view_, shorter),
          this->attend(this->q_view_, slice(this->k_view_, 2, 0, 1500), slice(this->v_view_, 2, 0, 1500), cut), "o");
    }
  });
}

TYPED_TEST(LinearBits, AMaskThatIsTrueThroughoutIsNone) {
  const std::unique_ptr<bool[]> yes(new bool[1]{true});
  trial::on_each_target([&] {
    for (const bool causal : {false, true}) {
      const LinearOptions none = {.causal = causal};
      LinearOptions all = none;
      all.mask = view<const bool>(yes.get(), 1, 1, 1, 1);
      this->expect_same(this->all(this->q_view_, this->k_view_, this->v_view_, this->d_o_view_, none),
                        this->all(this->q_view_, this->k_view_, this->v_view_, this->d_o_view_, all));
    }
  });
}

/// Rows at which a NaN in what they do not see makes the kernel take its other way have the bits that they have
/// without.
TYPED_TEST(LinearBits, ANaNInTheFutureDoesNotMatter) {
  using T = TypeParam;
  trial::on_each_target([&] {
    LinearOptions options = {.causal = true, .align = Align::top_left};
    const std::vector<T> without = this->attend(this->q_view_, this->k_view_, this->v_view_, options);
    std::vector<T> k(this->k_), v(this->v_);
    constexpr int64_t kFirst = 1100;
    for (int64_t h = 0; h < this->kBatch * this->kKeyHeads; ++h) {
      k[(h * this->kKeys + kFirst) * this->kDk] = trial::element_of<T>(std::numeric_limits<double>::quiet_NaN());
      v[(h * this->kKeys + kFirst) * this->kDv + 1] = trial::element_of<T>(std::numeric_limits<double>::infinity());
    }
    ConstTensor spoilt_k = this->k_view_, spoilt_v = this->v_view_;
    spoilt_k.data = k.data();
    spoilt_v.data = v.data();
    const std::vector<T> with = this->attend(this->q_view_, spoilt_k, spoilt_v, options);
    for (size_t i = 0; i < with.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / this->kDv % this->kRows;
      if (row < kFirst) {
        ASSERT_TRUE(same_bits(without[i], with[i])) << row;
      } else {
        ASSERT_TRUE(std::isnan(trial::number_of(with[i]))) << row;
      }
    }
  });
}

}  // namespace
}  // namespace foveate
