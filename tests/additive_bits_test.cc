// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One row, one result, of additive attention: as bits_test.cc and backward_bits_test.cc have it. Rows with arguments of tanh
// on either side of where it is computed otherwise stand beside each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "foveate/additive.h"
#include "tests/additive_call.h"
#include "tests/attention_case.h"
#include "tests/each_target.h"
#include "tests/scattered.h"

namespace foveate {
namespace {

using trial::on_each_target;

template <class T>
Result<T> attend(const Call& call, const Parameters<T>& parameters, const Execution& execution = {}) {
  Result<T> result(call);
  attend(call, parameters, result.outputs(), execution);
  return result;
}

std::vector<std::unique_ptr<Executor>> several_executors() {
  std::vector<std::unique_ptr<Executor>> all = executors(3);
  all.push_back(std::make_unique<trial::ShuffledExecutor>(3, 5));
  return all;
}

template <class T>
class AdditiveBits : public testing::Test {
 public:
  /// Calls body on each target with a problem of these sizes and each set of features, with arguments of tanh that are all
  /// small, and of all sizes.
  template <class Body>
  static void on_each_problem(AttentionShape sizes, int64_t d_a, const Body& body) {
    sizes.dtype = dtype_of<T>();
    for (const Features& features : kFeatures) {
      for (const double arguments : {1.0, sizeof(T) == 4 ? 20.0 : 150.0}) {
        SCOPED_TRACE(testing::Message() << features.name << " arguments " << arguments);
        const Problem<T> problem(sizes, features);
        const Parameters<T> parameters(d_a, sizes.d_k, arguments);
        on_each_target([&] { body(problem.call, parameters); });
        if (testing::Test::HasFailure()) return;
      }
    }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AdditiveBits, Types);

TYPED_TEST(AdditiveBits, WorkersDoNotMatter) {
  const auto all = several_executors();
  for (const AttentionShape& sizes :
       {AttentionShape{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 70, .n_kv = 150, .d_k = 7, .d_v = 5},
        AttentionShape{.h_q = 3, .h_kv = 3, .n_q = 1, .n_kv = 3000, .d_k = 9, .d_v = 17},
        AttentionShape{.n_q = 50, .n_kv = 2100, .d_k = 8, .d_v = 8}}) {
    this->on_each_problem(sizes, 5, [&](const Call& call, const Parameters<TypeParam>& parameters) {
      const Result<TypeParam> serial = attend(call, parameters);
      for (const auto& executor : all) {
        expect_same_bits(serial, attend(call, parameters, {.executor = executor.get()}));
      }
    });
  }
}

/// A prompt whole, in chunks, and a row at a time.
TYPED_TEST(AdditiveBits, ChunksOfRowsDoNotMatter) {
  for (const auto& [n_q, n_kv, d_a] : {std::array<int64_t, 3>{60, 60, 6}, {53, 300, 3}, {20, 1500, 2}}) {
    const AttentionShape sizes = {.h_q = 4, .h_kv = 2, .n_q = n_q, .n_kv = n_kv, .d_k = 5, .d_v = 3};
    this->on_each_problem(sizes, d_a, [&](const Call& call, const Parameters<TypeParam>& parameters) {
      const Result<TypeParam> whole = attend(call, parameters);
      for (const int64_t rows : {1, 7, 16, 49}) {
        SCOPED_TRACE(rows);
        Result<TypeParam> in_chunks(call);
        for (int64_t first = 0; first < n_q; first += rows) {
          const int64_t count = std::min(rows, n_q - first);
          attend(chunk(call, first, count), parameters, slice(in_chunks.outputs(), 2, first, count));
        }
        expect_same_bits(whole, in_chunks);
      }
    });
  }
}

TYPED_TEST(AdditiveBits, BatchesAndHeadsDoNotMatter) {
  const AttentionShape sizes = {.b = 3, .h_q = 4, .h_kv = 2, .n_q = 19, .n_kv = 90, .d_k = 5, .d_v = 3};
  this->on_each_problem(sizes, 7, [&](const Call& call, const Parameters<TypeParam>& parameters) {
    const Result<TypeParam> whole = attend(call, parameters);
    Result<TypeParam> alone(call), by_heads(call);
    for (int64_t b = 0; b < call.q.shape[0]; ++b) {
      attend(call.batches(b, 1), parameters, slice(alone.outputs(), 0, b, 1));
    }
    for (int64_t h = 0; h < call.q.shape[1]; ++h) {
      attend(call.head(h), parameters, slice(by_heads.outputs(), 1, h, 1));
    }
    expect_same_bits(whole, alone);
    expect_same_bits(whole, by_heads);
  });
}

TYPED_TEST(AdditiveBits, StridesDoNotMatter) {
  using Copy = Scattered<TypeParam>;
  const typename Copy::Form forms[] = {{{0, 1, 2, 3}, 1, false, 1},  // misaligned
                                       {{0, 2, 1, 3}, 1, false, 0},  // bnhd
                                       {{0, 1, 3, 2}, 1, false, 3},  // transposed
                                       {{1, 0, 2, 3}, 2, true, 1}};  // backwards
  const AttentionShape sizes = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 50, .n_kv = 70, .d_k = 11, .d_v = 6};
  this->on_each_problem(sizes, 9, [&](const Call& call, const Parameters<TypeParam>& parameters) {
    const Result<TypeParam> packed = attend(call, parameters);
    for (const auto& form : forms) {
      const Copy q(call.q, form), k(call.k, form), v(call.v, form);
      expect_same_bits(packed, attend({q.view, k.view, v.view, call.options}, parameters));
    }
  });
}

TYPED_TEST(AdditiveBits, RunsAndWorkspaceContentsDoNotMatter) {
  const AttentionShape sizes = {.h_q = 2, .h_kv = 1, .n_q = 60, .n_kv = 1300, .d_k = 8, .d_v = 5};
  this->on_each_problem(sizes, 6, [&](const Call& call, const Parameters<TypeParam>& parameters) {
    AttentionPlan plan;
    ASSERT_TRUE(additive_attention_plan(shape_of(call), 6, 1, &plan).ok());
    const Result<TypeParam> own = attend(call, parameters);
    for (const auto& [garbage, shift] : {std::pair<char, size_t>{'\x00', 0}, {'\x7F', 1}, {'\xFF', 63}}) {
      std::vector<char> memory(plan.workspace_bytes + shift, garbage);
      const Execution execution = {.workspace = memory.data() + shift, .workspace_bytes = plan.workspace_bytes};
      expect_same_bits(own, attend(call, parameters, execution));
      expect_same_bits(own, attend(call, parameters, execution));
    }
  });
}

TYPED_TEST(AdditiveBits, TheHostsFloatingPointModeDoesNotMatter) {
  using F = Family<TypeParam, TypeParam>;
  const AdditiveProblem<F> problem({.n_q = 20, .n_kv = 90, .d_k = 8, .d_v = 5}, kAllFeatures, 5);
  on_each_target([&] {
    const Result<TypeParam> expected = attend(problem.problem.call, problem.parameters);
    const AdditiveGradientsOf<F> gradients = gradients_of<F>(problem.call, problem.parameters);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      ASSERT_EQ(std::fesetround(mode), 0);
      const Result<TypeParam> got = attend(problem.problem.call, problem.parameters);
      const AdditiveGradientsOf<F> again = gradients_of<F>(problem.call, problem.parameters);
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      expect_same_bits(expected, got);
      expect_same_bits(gradients, again);
    }
  });
}

// --- Gradients ---

template <class F>
class AdditiveBackwardBits : public testing::Test {
 public:
  template <class Body>
  static void on_each_problem(const AttentionShape& sizes, int64_t d_a, double dropout, const Body& body) {
    for (const Features& features : {kPlain, kAllFeatures}) {
      for (const double arguments : {1.0, 20.0}) {
        SCOPED_TRACE(testing::Message() << features.name << " arguments " << arguments);
        const AdditiveProblem<F> problem(sizes, features, d_a, arguments, dropout);
        on_each_target([&] { body(problem.call, problem.parameters); });
        if (testing::Test::HasFailure()) return;
      }
    }
  }
};
using Families = testing::Types<Family<float, float>, Family<double, double>, Family<BFloat16, BFloat16>>;
TYPED_TEST_SUITE(AdditiveBackwardBits, Families);

template <class F>
using ParametersOf = Parameters<typename F::Computing>;

TYPED_TEST(AdditiveBackwardBits, WorkersDoNotMatter) {
  const auto all = several_executors();
  // A chunk of keys and one of rows; several rows' to one of keys; one of rows to several keys'; several of both.
  for (const AttentionShape& sizes :
       {AttentionShape{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 70, .n_kv = 150, .d_k = 7, .d_v = 5},
        AttentionShape{.h_q = 6, .h_kv = 1, .n_q = 400, .n_kv = 40, .d_k = 9, .d_v = 17},
        AttentionShape{.h_q = 3, .h_kv = 3, .n_q = 5, .n_kv = 3000, .d_k = 8, .d_v = 4},
        AttentionShape{.h_q = 2, .h_kv = 1, .n_q = 300, .n_kv = 600, .d_k = 3, .d_v = 2}}) {
    this->on_each_problem(sizes, 19, 0.25, [&](const BackwardCall& call, const ParametersOf<TypeParam>& parameters) {
      const AdditiveGradientsOf<TypeParam> serial = gradients_of<TypeParam>(call, parameters);
      for (const auto& executor : all) {
        SCOPED_TRACE(executor->concurrency());
        expect_same_bits(serial, gradients_of<TypeParam>(call, parameters, {.executor = executor.get()}));
      }
    });
  }
}

/// dq, dk and dv of a sequence in a batch are those of the sequence alone. (Not under dropout, which goes by the batch.)
TYPED_TEST(AdditiveBackwardBits, TheBatchDoesNotMatter) {
  const AttentionShape sizes = {.b = 3, .h_q = 4, .h_kv = 2, .n_q = 60, .n_kv = 90, .d_k = 7, .d_v = 5};
  this->on_each_problem(sizes, 6, 0, [&](const BackwardCall& call, const ParametersOf<TypeParam>& parameters) {
    const AdditiveGradientsOf<TypeParam> whole = gradients_of<TypeParam>(call, parameters);
    AdditiveGradientsOf<TypeParam> alone(call, parameters);
    for (int64_t b = 0; b < call.q.shape[0]; ++b) {
      AdditiveGradients part = alone.views();
      static_cast<AttentionGradients&>(part) = batches(part, b, 1);
      part.dsinks = {};
      const Status status = differentiate(call.batches(b, 1), parameters, part);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    expect_same_bits(whole.dq, alone.dq, "dq");
    expect_same_bits(whole.dk, alone.dk, "dk");
    expect_same_bits(whole.dv, alone.dv, "dv");
    expect_same_bits(whole.dbias, alone.dbias, "dbias");
  });
}

TYPED_TEST(AdditiveBackwardBits, RunsAndWorkspaceContentsDoNotMatter) {
  const AttentionShape sizes = {.h_q = 2, .h_kv = 1, .n_q = 100, .n_kv = 600, .d_k = 8, .d_v = 5};
  const auto three = executors(3);
  this->on_each_problem(sizes, 5, 0.25, [&](const BackwardCall& call, const ParametersOf<TypeParam>& parameters) {
    const AdditiveGradientsOf<TypeParam> own = gradients_of<TypeParam>(call, parameters);
    AdditiveGradientsOf<TypeParam> gradients(call, parameters);
    for (const char garbage : {'\x00', '\x7F', '\xFF'}) {
      for (Executor* executor : {static_cast<Executor*>(nullptr), three[0].get()}) {
        AttentionBackwardPlan plan;
        ASSERT_TRUE(
            additive_attention_backward_plan(shape_of(call), gradients.views(), 5, executor == nullptr ? 1 : 3, &plan)
                .ok());
        std::vector<char> memory(plan.workspace_bytes + 1, garbage);
        const Execution execution = {
            .executor = executor, .workspace = memory.data() + 1, .workspace_bytes = plan.workspace_bytes};
        expect_same_bits(own, gradients_of<TypeParam>(call, parameters, execution));
        expect_same_bits(own, gradients_of<TypeParam>(call, parameters, execution));
      }
    }
  });
}

/// Which gradients are asked for does not change the others.
TYPED_TEST(AdditiveBackwardBits, OtherGradientsDoNotMatter) {
  const AttentionShape sizes = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 30, .n_kv = 80, .d_k = 7, .d_v = 5};
  this->on_each_problem(sizes, 6, 0.25, [&](const BackwardCall& call, const ParametersOf<TypeParam>& parameters) {
    const AdditiveGradientsOf<TypeParam> all = gradients_of<TypeParam>(call, parameters);
    AdditiveGradientsOf<TypeParam> one_by_one(call, parameters);
    const AdditiveGradients views = one_by_one.views();
    for (int one = 0; one < 9; ++one) {
      AdditiveGradients wanted;
      if (one == 0) wanted.dq = views.dq;
      if (one == 1) wanted.dk = views.dk;
      if (one == 2) wanted.dv = views.dv;
      if (one == 3) wanted.dbias = views.dbias;
      if (one == 4) wanted.dsinks = views.dsinks;
      if (one == 5) wanted.dw_q = views.dw_q;
      if (one == 6) wanted.dw_k = views.dw_k;
      if (one == 7) wanted.dw = views.dw;
      if (one == 8) wanted.db = views.db;
      if ((one == 3 && !views.dbias.present()) || (one == 4 && !views.dsinks.present())) continue;
      const Status status = differentiate(call, parameters, wanted);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    expect_same_bits(all, one_by_one);
  });
}

}  // namespace
}  // namespace foveate
