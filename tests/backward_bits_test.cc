// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One sequence, one gradient: on one target the bits of dq, dk, dv and dbias depend on a sequence's own arrays, its
// lengths and the options, and on nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "foveate/attention_backward.h"
#include "tests/attention_case.h"
#include "tests/backward_call.h"
#include "tests/each_target.h"
#include "tests/scattered.h"

namespace foveate {
namespace {

using trial::on_each_target;

/// Of the problems of several chunks, which take their time.
constexpr Features kFewFeatures[] = {kPlain, kAllFeatures};

template <class F>
class BackwardBits : public testing::Test {
 public:
  /// Calls body on each target with a problem of these sizes and each set of features.
  template <size_t kN, class Body>
  static void on_each_problem(const AttentionShape& sizes, const Features (&all)[kN], double dropout,
                              const Body& body) {
    for (const Features& features : all) {
      SCOPED_TRACE(features.name);
      const BackwardProblem<F> problem(sizes, features, dropout);
      on_each_target([&] { body(problem.call); });
      if (testing::Test::HasFailure()) return;
    }
  }
};
using Types = testing::Types<Family<float, float>, Family<double, double>, Family<BFloat16, BFloat16>>;
TYPED_TEST_SUITE(BackwardBits, Types);

// --- Threads, runs, memory ---

template <class F>
void expect_that_workers_do_not_matter(const BackwardCall& call, std::initializer_list<int> workers) {
  std::vector<std::unique_ptr<Executor>> all;
  for (const int n : workers) {
    for (auto& executor : executors(n)) all.push_back(std::move(executor));
  }
  all.push_back(std::make_unique<trial::ShuffledExecutor>(3, 5));
  const GradientsOf<F> serial = gradients_of<F>(call);
  for (const auto& executor : all) {
    SCOPED_TRACE(executor->concurrency());
    expect_same_bits(serial, gradients_of<F>(call, {.executor = executor.get()}));
  }
}

TYPED_TEST(BackwardBits, WorkersDoNotMatter) {
  // A chunk of keys and one of rows; several rows' to one of keys; one of rows to several keys'.
  for (const AttentionShape& sizes :
       {AttentionShape{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 70, .n_kv = 150, .d_k = 7, .d_v = 5},
        AttentionShape{.h_q = 6, .h_kv = 1, .n_q = 400, .n_kv = 40, .d_k = 9, .d_v = 17},
        AttentionShape{.h_q = 3, .h_kv = 3, .n_q = 5, .n_kv = 3000, .d_k = 8, .d_v = 4}}) {
    this->on_each_problem(sizes, kFeatures, 0.25, [](const BackwardCall& call) {
      expect_that_workers_do_not_matter<TypeParam>(call, {1, 2, 3, 7});
    });
  }
}

TYPED_TEST(BackwardBits, WorkersDoNotMatterWherePairsOfChunksAreSharedOut) {
  const AttentionShape sizes = {.h_q = 2, .h_kv = 1, .n_q = 550, .n_kv = 1030, .d_k = 3, .d_v = 2};
  this->on_each_problem(sizes, kFewFeatures, 0.25, [](const BackwardCall& call) {
    // What this test is about: 3 chunks of keys and 3 of rows, so 3 rounds of 3 pairs, and 3 tasks to begin and to end.
    EXPECT_EQ(plan_of<TypeParam>(call, 2).tasks - plan_of<TypeParam>(call, 1).tasks, 3 * 3 + 2 * 3 - 1);
    expect_that_workers_do_not_matter<TypeParam>(call, {2, 7});
  });
}

TYPED_TEST(BackwardBits, WorkersDoNotMatterWhereThereIsATaskAUnit) {
  // 8 of 2 chunks of keys, which is enough for 2 workers; for more they are shared out.
  const AttentionShape sizes = {.b = 2, .h_q = 4, .h_kv = 4, .n_q = 100, .n_kv = 600, .d_k = 3, .d_v = 2};
  this->on_each_problem(sizes, kFewFeatures, 0.25, [](const BackwardCall& call) {
    EXPECT_EQ(plan_of<TypeParam>(call, 2).tasks, plan_of<TypeParam>(call, 1).tasks);
    EXPECT_GT(plan_of<TypeParam>(call, 3).tasks, plan_of<TypeParam>(call, 1).tasks);
    expect_that_workers_do_not_matter<TypeParam>(call, {2, 3});
  });
}

/// The call with a bias of extent 1 along the axes that `whole` does not have.
BackwardCall with_broadcast_bias(BackwardCall call, const trial::Whole& whole) {
  for (int axis = 0; axis < 4; ++axis) {
    if (!whole[axis]) call.options.bias.shape[axis] = 1;
  }
  return call;
}

TYPED_TEST(BackwardBits, WorkersDoNotMatterToTheSumsOfABroadcastBias) {
  const AttentionShape sizes = {.b = 2, .h_q = 2, .h_kv = 1, .n_q = 150, .n_kv = 600, .d_k = 3, .d_v = 2};
  const BackwardProblem<TypeParam> problem(sizes, {.name = "bias", .bias = true, .sinks = true});
  on_each_target([&] {
    for (int axes = 0; axes < 16; ++axes) {
      const trial::Whole whole = {(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0, (axes & 8) != 0};
      SCOPED_TRACE(axes);
      const BackwardCall call = with_broadcast_bias(problem.call, whole);
      const GradientsOf<TypeParam> serial = gradients_of<TypeParam>(call);
      for (const auto& executor : executors(3)) {
        expect_same_bits(serial, gradients_of<TypeParam>(call, {.executor = executor.get()}));
      }
    }
  });
}

TYPED_TEST(BackwardBits, RunsAndWorkspaceContentsDoNotMatter) {
  const auto several = executors(3);
  const AttentionShape sizes = {.h_q = 2, .h_kv = 1, .n_q = 100, .n_kv = 600, .d_k = 8, .d_v = 5};
  this->on_each_problem(sizes, kFewFeatures, 0.25, [&](const BackwardCall& call) {
    const GradientsOf<TypeParam> own = gradients_of<TypeParam>(call);
    for (const char garbage : {'\x00', '\x7F', '\xFF'}) {
      for (const size_t shift : {0, 1, 63}) {
        for (Executor* executor : {static_cast<Executor*>(nullptr), several[0].get()}) {
          const size_t bytes = plan_of<TypeParam>(call, executor == nullptr ? 1 : 3).workspace_bytes;
          std::vector<char> memory(bytes + shift, garbage);
          const Execution execution = {
              .executor = executor, .workspace = memory.data() + shift, .workspace_bytes = bytes};
          expect_same_bits(own, gradients_of<TypeParam>(call, execution));
          expect_same_bits(own, gradients_of<TypeParam>(call, execution));
        }
      }
    }
  });
}

TYPED_TEST(BackwardBits, TheHostsFloatingPointModeDoesNotMatter) {
  const BackwardProblem<TypeParam> problem({.h_q = 2, .h_kv = 1, .n_q = 20, .n_kv = 300, .d_k = 8, .d_v = 5},
                                           kAllFeatures, 0.3);
  on_each_target([&] {
    const GradientsOf<TypeParam> expected = gradients_of<TypeParam>(problem.call);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      GradientsOf<TypeParam> got(problem.call);
      ASSERT_EQ(std::fesetround(mode), 0);
      const Status status = differentiate(problem.call, got.views());
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      ASSERT_TRUE(status.ok()) << status.message();
      expect_same_bits(expected, got);
    }
  });
}

using Form = Scattered<float>::Form;

/// A copy elsewhere, of elements E.
template <class E>
Scattered<E> scattered(const ConstTensor& from, const Form& form) {
  return {from, {{form.order[0], form.order[1], form.order[2], form.order[3]}, form.apart, form.reversed, form.shift}};
}

/// A call of arrays that lie elsewhere, and its gradients, written elsewhere.
template <class F>
class MovedCall {
 public:
  using Q = typename F::Q;
  using T = typename F::Computing;

  MovedCall(const BackwardCall& from, const Form& form) : call_(from), form_(form), lse_(scattered<T>(from.lse, form)) {
    copies_.reserve(6);
    for (ConstTensor* input : {&call_.q, &call_.k, &call_.v, &call_.o, &call_.d_o, &call_.options.bias}) {
      if (input->present()) *input = copies_.emplace_back(scattered<Q>(*input, form)).view;
    }
    call_.lse = lse_.view;
  }

  /// In a packed copy.
  GradientsOf<F> gradients() const {
    GradientsOf<F> packed(call_);
    const AttentionGradients to = packed.views();
    AttentionGradients spread;
    std::vector<Scattered<T>> moved;
    moved.reserve(4);
    const std::pair<Tensor, Tensor*> all[] = {
        {to.dq, &spread.dq}, {to.dk, &spread.dk}, {to.dv, &spread.dv}, {to.dbias, &spread.dbias}};
    for (const auto& [from, place] : all) {
      if (from.present()) *place = moved.emplace_back(scattered<T>(from, form_)).view;
    }
    std::vector<T> dsinks(3 * packed.dsinks.size(), T{12345});
    if (to.dsinks.present()) spread.dsinks = {dsinks.data(), to.dsinks.dtype, to.dsinks.size, 3};
    const Status status = differentiate(call_, spread);
    EXPECT_TRUE(status.ok()) << status.message();
    for (const auto& [back, place] : all) {
      if (back.present()) Scattered<T>::copy(*place, back);
    }
    for (size_t h = 0; h < packed.dsinks.size(); ++h) packed.dsinks[h] = dsinks[3 * h];
    return packed;
  }

 private:
  BackwardCall call_;
  Form form_;
  Scattered<T> lse_;
  std::vector<Scattered<Q>> copies_;
};

TYPED_TEST(BackwardBits, StridesDoNotMatter) {
  const Form forms[] = {{{0, 1, 2, 3}, 1, false, 1},  // misaligned
                        {{0, 2, 1, 3}, 1, false, 0},  // bnhd
                        {{0, 1, 3, 2}, 1, false, 3},  // transposed
                        {{3, 2, 1, 0}, 1, false, 0},  // Fortran order
                        {{0, 2, 1, 3}, 3, false, 5},  // every third element
                        {{1, 0, 2, 3}, 2, true, 1}};  // backwards
  this->on_each_problem({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 50, .n_kv = 70, .d_k = 35, .d_v = 6}, kFeatures, 0.25,
                        [&](const BackwardCall& call) {
                          const GradientsOf<TypeParam> packed = gradients_of<TypeParam>(call);
                          for (const Form& form : forms) {
                            expect_same_bits(packed, MovedCall<TypeParam>(call, form).gradients());
                          }
                        });
}

TYPED_TEST(BackwardBits, WhichGradientsAreAskedForDoesNotMatter) {
  using T = typename TypeParam::Computing;
  const auto several = executors(3);
  this->on_each_problem({.h_q = 3, .h_kv = 1, .n_q = 30, .n_kv = 520, .d_k = 8, .d_v = 5}, kFewFeatures, 0.25,
                        [&](const BackwardCall& call) {
                          GradientsOf<TypeParam> all = gradients_of<TypeParam>(call);
                          const int n = call.options.bias.present() ? 5 : 3;
                          for (int wanted = 1; wanted < 1 << n; ++wanted) {
                            SCOPED_TRACE(wanted);
                            for (Executor* executor : {static_cast<Executor*>(nullptr), several[0].get()}) {
                              GradientsOf<TypeParam> got(call), expected = all;
                              const AttentionGradients views = got.views();
                              AttentionGradients some;
                              const auto want = [&](int bit, const auto& view, auto& to, std::vector<T>& otherwise) {
                                if ((wanted >> bit & 1) != 0) {
                                  to = view;
                                } else {
                                  std::fill(otherwise.begin(), otherwise.end(), T{12345});
                                }
                              };
                              want(0, views.dq, some.dq, expected.dq);
                              want(1, views.dk, some.dk, expected.dk);
                              want(2, views.dv, some.dv, expected.dv);
                              want(3, views.dbias, some.dbias, expected.dbias);
                              want(4, views.dsinks, some.dsinks, expected.dsinks);
                              const Status status = differentiate(call, some, {.executor = executor});
                              ASSERT_TRUE(status.ok()) << status.message();
                              expect_same_bits(expected, got);
                            }
                          }
                        });
}

// --- The company a sequence keeps ---

/// The gradients of sequences of a padded batch, each computed alone, of the rows and keys that it has; 0 in the
/// padding.
template <class F>
GradientsOf<F> one_by_one(const BackwardCall& padded, const std::vector<int64_t>& q_lengths,
                          const std::vector<int64_t>& kv_lengths) {
  GradientsOf<F> alone(padded, 0);
  BackwardCall whole = padded;
  whole.options.q_lengths = whole.options.kv_lengths = {};
  for (int64_t b = 0; b < padded.q.shape[0]; ++b) {
    AttentionGradients to = keys(queries(batches(alone.views(), b, 1), 0, q_lengths[b]), 0, kv_lengths[b]);
    to.dsinks = {};  // a sum over the batch
    const Status status = differentiate(whole.batches(b, 1).queries(0, q_lengths[b]).keys(0, kv_lengths[b]), to);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  return alone;
}

/// NaN in all rows past a length.
template <class F>
void poison_padding(BackwardProblem<F>& problem, const std::vector<int64_t>& q_lengths,
                    const std::vector<int64_t>& kv_lengths) {
  const auto spoil = [](const ConstTensor& array, const std::vector<int64_t>& lengths) {
    trial::with_element(array.dtype, [&]<class E>(E*) {
      const auto& n = array.shape;
      for (int64_t row = 0; row < n[0] * n[1] * n[2]; ++row) {
        if (row % n[2] < lengths[row / n[2] / n[1]]) continue;
        E* const first = static_cast<E*>(const_cast<void*>(array.data)) + row * n[3];
        std::fill_n(first, n[3], trial::element_of<E>(std::numeric_limits<double>::quiet_NaN()));
      }
    });
  };
  const BackwardCall& call = problem.call;
  for (const ConstTensor* array : {&call.q, &call.o, &call.lse, &call.d_o}) spoil(*array, q_lengths);
  for (const ConstTensor* array : {&call.k, &call.v}) spoil(*array, kv_lengths);
  if (call.options.bias.present()) spoil(call.options.bias, q_lengths);
}

template <class F>
void expect_padded_is_alone(const AttentionShape& sizes, const Features& features,
                            const std::vector<int64_t>& q_lengths, const std::vector<int64_t>& kv_lengths) {
  SCOPED_TRACE(features.name);
  BackwardProblem<F> problem(sizes, features);
  problem.problem.call.options.q_lengths = view(q_lengths.data(), sizes.b);
  problem.problem.call.options.kv_lengths = view(kv_lengths.data(), sizes.b);
  problem.attend();
  poison_padding(problem, q_lengths, kv_lengths);
  const auto several = executors(3);
  on_each_target([&] {
    GradientsOf<F> expected = one_by_one<F>(problem.call, q_lengths, kv_lengths);
    for (Executor* executor : {static_cast<Executor*>(nullptr), several[0].get()}) {
      const GradientsOf<F> together = gradients_of<F>(problem.call, {.executor = executor});
      expected.dsinks = together.dsinks;
      expect_same_bits(expected, together);
    }
  });
}

TYPED_TEST(BackwardBits, PlaceInAPaddedBatchDoesNotMatter) {
  const std::vector<int64_t> q_lengths = {37, 0, 5, 36, 1}, kv_lengths = {90, 90, 64, 1, 0};
  const AttentionShape sizes = {.b = 5, .h_q = 4, .h_kv = 2, .n_q = 37, .n_kv = 90, .d_k = 6, .d_v = 7};
  for (const Features& features : kFeatures) {
    expect_padded_is_alone<TypeParam>(sizes, features, q_lengths, kv_lengths);
  }
}

TYPED_TEST(BackwardBits, PlaceInAPaddedBatchOfSeveralChunksDoesNotMatter) {
  // Sequences of fewer rounds than the batch has, of more keys than rows and of more rows than keys.
  const std::vector<int64_t> q_lengths = {300, 130, 20, 290}, kv_lengths = {600, 520, 300, 0};
  const AttentionShape sizes = {.b = 4, .h_q = 2, .h_kv = 1, .n_q = 300, .n_kv = 600, .d_k = 4, .d_v = 3};
  for (const Features& features : kFewFeatures) {
    expect_padded_is_alone<TypeParam>(sizes, features, q_lengths, kv_lengths);
  }
}

TYPED_TEST(BackwardBits, OtherKeyHeadsDoNotMatter) {
  this->on_each_problem({.h_q = 6, .h_kv = 3, .n_q = 80, .n_kv = 130, .d_k = 5, .d_v = 6}, kFeatures, 0,
                        [](const BackwardCall& call) {
                          const GradientsOf<TypeParam> together = gradients_of<TypeParam>(call);
                          GradientsOf<TypeParam> alone(call);
                          for (int64_t h = 0; h < 3; ++h) {
                            BackwardCall one = call;
                            AttentionGradients to = alone.views();
                            AttentionOptions& o = one.options;
                            for (ConstTensor* rows : {&one.q, &one.o, &one.lse, &one.d_o, &o.mask, &o.bias}) {
                              *rows = slice(*rows, 1, 2 * h, 2);
                            }
                            for (ConstTensor* rows : {&one.k, &one.v}) *rows = slice(*rows, 1, h, 1);
                            o.alibi_slopes = slice(o.alibi_slopes, 2 * h, 2);
                            o.sinks = slice(o.sinks, 2 * h, 2);
                            for (Tensor* gradient : {&to.dq, &to.dbias}) *gradient = slice(*gradient, 1, 2 * h, 2);
                            for (Tensor* gradient : {&to.dk, &to.dv}) *gradient = slice(*gradient, 1, h, 1);
                            if (to.dsinks.present()) to.dsinks = view(alone.dsinks.data() + 2 * h, 2);
                            const Status status = differentiate(one, to);
                            ASSERT_TRUE(status.ok()) << status.message();
                          }
                          expect_same_bits(together, alone);
                        });
}

std::vector<int64_t> starts_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> starts = {0};
  for (const int64_t n : lengths) starts.push_back(starts.back() + n);
  return starts;
}

/// Packed sequences: one behind the other in arrays of one batch, of which each alone is a slice.
template <class F>
void expect_packed_is_alone(const Features& features, const std::vector<int64_t>& q_rows,
                            const std::vector<int64_t>& kv_rows) {
  SCOPED_TRACE(features.name);
  const auto b = static_cast<int64_t>(q_rows.size());
  const std::vector<int64_t> q_starts = starts_of(q_rows), kv_starts = starts_of(kv_rows);
  // Mask and bias are padded whatever the rest is: those of another problem, which is nothing but them.
  const StoredProblem<F> padded({.b = b,
                                 .h_q = 4,
                                 .h_kv = 2,
                                 .n_q = *std::max_element(q_rows.begin(), q_rows.end()),
                                 .n_kv = *std::max_element(kv_rows.begin(), kv_rows.end())},
                                features);
  BackwardProblem<F> problem(
      {.h_q = 4, .h_kv = 2, .n_q = q_starts.back(), .n_kv = kv_starts.back(), .d_k = 6, .d_v = 7}, kPlain);
  AttentionOptions& options = problem.problem.call.options;
  options = padded.call.options;
  options.q_starts = view(q_starts.data(), b + 1);
  options.kv_starts = view(kv_starts.data(), b + 1);
  problem.attend();
  const auto several = executors(3);
  on_each_target([&] {
    GradientsOf<F> together = gradients_of<F>(problem.call);
    for (const auto& executor : several) {
      expect_same_bits(together, gradients_of<F>(problem.call, {.executor = executor.get()}));
    }
    GradientsOf<F> alone(problem.call, 0);
    alone.dsinks = together.dsinks;
    for (int64_t s = 0; s < b; ++s) {
      BackwardCall one = problem.call;
      for (ConstTensor* rows : {&one.q, &one.o, &one.lse, &one.d_o}) *rows = slice(*rows, 2, q_starts[s], q_rows[s]);
      for (ConstTensor* rows : {&one.k, &one.v}) *rows = slice(*rows, 2, kv_starts[s], kv_rows[s]);
      one.options = padded.call.batches(s, 1).queries(0, q_rows[s]).keys(0, kv_rows[s]).options;
      const AttentionGradients to = alone.views();
      AttentionGradients part = {.dq = slice(to.dq, 2, q_starts[s], q_rows[s]),
                                 .dk = slice(to.dk, 2, kv_starts[s], kv_rows[s]),
                                 .dv = slice(to.dv, 2, kv_starts[s], kv_rows[s])};
      part.dbias = keys(queries(batches({.dbias = to.dbias}, s, 1), 0, q_rows[s]), 0, kv_rows[s]).dbias;
      const Status status = differentiate(one, part);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    expect_same_bits(alone, together);
  });
}

TYPED_TEST(BackwardBits, PackedIsAlone) {
  for (const Features& features : kFeatures) {
    expect_packed_is_alone<TypeParam>(features, {7, 37, 0, 1, 20}, {90, 64, 5, 31, 0});
  }
}

TYPED_TEST(BackwardBits, PackedInSeveralChunksIsAlone) {
  for (const Features& features : kFewFeatures) {
    expect_packed_is_alone<TypeParam>(features, {150, 3, 270}, {20, 600, 530});
  }
}

// --- Options that say the same ---

TYPED_TEST(BackwardBits, AnAllTrueMaskIsNoMask) {
  const std::unique_ptr<bool[]> yes(new bool[20 * 1100]);
  std::fill_n(yes.get(), 20 * 1100, true);
  this->on_each_problem(
      {.b = 2, .h_q = 2, .h_kv = 1, .n_q = 20, .n_kv = 1100, .d_k = 4, .d_v = 5}, kFeatures, 0.25,
      [&](const BackwardCall& call) {
        if (call.options.mask.present()) return;
        const GradientsOf<TypeParam> none = gradients_of<TypeParam>(call);
        for (const auto& [n_q, n_kv] : {std::pair<int64_t, int64_t>{20, 1100}, {1, 1100}, {20, 1}, {1, 1}}) {
          BackwardCall masked = call;
          masked.options.mask = view<const bool>(yes.get(), 1, 1, n_q, n_kv);
          expect_same_bits(none, gradients_of<TypeParam>(masked));
        }
      });
}

TYPED_TEST(BackwardBits, AWindowAsWideAsTheKeysIsCausal) {
  for (const int64_t n : {100, 1100}) {
    BackwardProblem<TypeParam> problem({.n_q = n, .n_kv = n, .d_k = 4, .d_v = 5}, {.name = "causal", .causal = true});
    BackwardCall window = problem.call;
    window.options.causal = false;
    window.options.window_left = n - 1;
    window.options.window_right = 0;
    on_each_target([&] { expect_same_bits(gradients_of<TypeParam>(problem.call), gradients_of<TypeParam>(window)); });
  }
}

// --- Values that are hard on bits ---

TYPED_TEST(BackwardBits, ZerosAreStoredPositive) {
  BackwardProblem<TypeParam> problem({.h_q = 2, .h_kv = 1, .n_q = 20, .n_kv = 70, .d_k = 3, .d_v = 5}, kAllFeatures);
  std::fill(problem.d_o.begin(), problem.d_o.end(), trial::element_of<typename TypeParam::Q>(-0.0));
  on_each_target([&] {
    const GradientsOf<TypeParam> zeros(problem.call, 0);
    for (const double scale : {0.5, -0.5}) {
      problem.call.options.scale = scale;
      expect_same_bits(zeros, gradients_of<TypeParam>(problem.call));
    }
  });
}

}  // namespace
}  // namespace foveate
