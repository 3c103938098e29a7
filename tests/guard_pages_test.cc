// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// No byte is read or written in front of an array or past its end, whatever the vectors and blocks of a target: every array
// of a call lies at a page that may not be touched, once with its end, once with its beginning.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "tests/attention_case.h"
#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/error_bound.h"
#include "tests/gradient_case.h"
#include "tests/guard_pages.h"
#include "tests/spec.h"

namespace foveate::trial {
namespace {

/// What is being computed, for the handler of SIGSEGV, which may call next to nothing.
char current_call[4096];

[[maybe_unused]] void on_segmentation_fault(int signal) {
  const char words[] = "\nA byte outside of an array was touched: ";
  const char newline = '\n';
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
  written = write(STDERR_FILENO, current_call, std::strlen(current_call));
  written = write(STDERR_FILENO, &newline, 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// The arguments of a case, each copied to guarded memory of its own.
template <class T>
class GuardedCall {
 public:
  GuardedCall(Case<T>& call, Edge edge) : case_(call), edge_(edge), options_(call.options) {
    q_ = guard(call.q.view());
    k_ = guard(call.k.view());
    v_ = call.spec.v_of_k ? k_ : guard(call.v_view());
    v_.shape[3] = call.spec.d_v;
    AttentionOptions& o = options_;
    for (ConstTensor* tensor : {&o.mask, &o.bias, &o.k_scales, &o.v_scales, &o.tree_mask}) {
      if (tensor->present()) *tensor = guard(*tensor);
    }
    for (ConstVector* vector : {&o.alibi_slopes, &o.sinks, &o.q_lengths, &o.kv_lengths, &o.q_starts, &o.kv_starts}) {
      if (!vector->present()) continue;
      const ConstTensor copy = guard({vector->data, vector->dtype, {1, 1, 1, vector->size}, {0, 0, 0, vector->stride}});
      vector->data = copy.data;
    }
    if (ConstMatrix& m = o.block_table; m.present()) {
      m.data = guard({m.data, m.dtype, {1, 1, m.shape[0], m.shape[1]}, {0, 0, m.stride[0], m.stride[1]}}).data;
    }
  }

  /// Calls the engine and leaves what it wrote in the case.
  Status attend() {
    AttentionPlan plan;
    if (Status status = attention_plan(case_.shape(), 1, &plan); !status.ok()) return status;
    const GuardedMemory workspace(plan.workspace_bytes, edge_);
    const AttentionOutputs into = case_.outputs();
    const GuardedArray o(into.o, edge_), lse(into.lse, edge_), weights(into.weights, edge_);
    AttentionOutputs outputs = {.o = o.writable(), .lse = lse.writable()};
    if (into.weights.present()) outputs.weights = weights.writable();
    const Status status = attention(q_, k_, v_, outputs, options_,
                                    {.workspace = workspace.data(), .workspace_bytes = plan.workspace_bytes});
    for (const GuardedArray* output : {&o, &lse, &weights}) output->copy_back();
    return status;
  }

 protected:
  ConstTensor guard(const ConstTensor& from) { return arrays_.emplace_back(from, edge_).view(); }

  Case<T>& case_;
  Edge edge_;
  std::deque<GuardedArray> arrays_;
  ConstTensor q_, k_, v_;
  AttentionOptions options_;
};

/// The backward pass of a case, likewise.
template <class T>
class GuardedGradients : GuardedCall<T> {
 public:
  GuardedGradients(GradientCase<T>& call, Edge edge) : GuardedCall<T>(call.forward, edge), case_(call), edge_(edge) {}

  /// Calls the engine with what a forward call has left in the case, and leaves there what it wrote.
  Status differentiate() {
    AttentionGradients g = case_.gradients();
    AttentionBackwardPlan plan;
    if (Status status = attention_backward_plan(case_.forward.shape(), g, 1, &plan); !status.ok()) return status;
    const GuardedMemory workspace(plan.workspace_bytes, edge_);
    const GuardedArray o(case_.forward.o.view(), edge_), lse(case_.forward.lse.view(), edge_),
        d_o(case_.d_o.view(), edge_);
    std::deque<GuardedArray> outputs;
    for (Tensor* gradient : {&g.dq, &g.dk, &g.dv, &g.dbias}) {
      if (gradient->present()) *gradient = outputs.emplace_back(*gradient, edge_).writable();
    }
    if (g.dsinks.present()) g.dsinks.data = outputs.emplace_back(case_.dsinks.view(), edge_).writable().data;
    const Status status =
        attention_backward(this->q_, this->k_, this->v_, o.view(), lse.view(), d_o.view(), g, this->options_,
                           {.workspace = workspace.data(), .workspace_bytes = plan.workspace_bytes});
    for (const GuardedArray& output : outputs) output.copy_back();
    return status;
  }

 private:
  GradientCase<T>& case_;
  Edge edge_;
};

/// Calls body() on each target; what is being computed is told if it fails or is the end.
template <class T, class Body>
void on_each_target_and_edge(const Spec& spec, Edge edge, const Body& body) {
  on_each_target([&] {
    std::ostringstream words;
    words << name_of(dtype_of<T>()) << ' ' << active_target() << (edge == Edge::end ? " end " : " begin ") << spec;
    SCOPED_TRACE(words.str());
    std::strncpy(current_call, words.str().c_str(), sizeof current_call - 1);
    body();
  });
}

template <class T>
void check(const Spec& spec) {
  Case<T> call(spec);
  const Expected<T> expected(call);
  for (const Edge edge : {Edge::end, Edge::begin}) {
    GuardedCall<T> guarded(call, edge);
    on_each_target_and_edge<T>(spec, edge, [&] {
      const Status status = guarded.attend();
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(judge(call, expected), "");
    });
  }
}

/// Gradients of one type or another, and not all of them every time.
GradientSpec gradients_of(const Spec& s) {
  constexpr DType types[] = {DType::none, DType::f16, DType::none, DType::bf16, DType::f32};
  GradientSpec g = {.want_dq = s.seed % 4 != 1, .want_dk = s.seed % 7 != 2, .want_dv = s.seed % 8 != 3};
  g.dq_type = types[s.seed % 5];
  g.dk_type = types[(s.seed + 1) % 5];
  g.dv_type = types[(s.seed + 2) % 5];
  g.dbias_type = types[(s.seed + 3) % 5];
  g.d_o_in = s.o_in;
  g.dq_in = s.q_in;
  g.dk_in = g.dv_in = s.k_in;
  return g;
}

/// Gradients have the bits that they have elsewhere. (backward_test judges their numbers.) Three heads read each key head,
/// so that tiles hold rows of several, and some offsets put the first key at an odd place of its block.
template <class T>
void check_gradients(const Spec& spec) {
  if (spec.page_size > 0) return;  // keys in pages have none
  Spec s = spec;
  s.h_q = 6;
  s.dropout = s.seed % 6 == 3 ? 0.25 : 0;
  if (s.seed % 3 == 1) {
    s.kv_offset = 37 * static_cast<int64_t>(s.seed);
    s.q_offset = *s.kv_offset + s.n_kv - s.n_q;
  }
  GradientCase<T> call(s, gradients_of(s));
  Stored* const gradients[] = {&call.dq, &call.dk, &call.dv, &call.dbias, &call.dsinks};
  for (const Edge edge : {Edge::end, Edge::begin}) {
    GuardedGradients<T> guarded(call, edge);
    on_each_target_and_edge<T>(s, edge, [&] {
      Status status = call.differentiate();
      ASSERT_TRUE(status.ok()) << status.message();
      std::vector<std::vector<double>> expected;
      for (Stored* gradient : gradients) {
        expected.push_back(gradient->packed());
        gradient->clear();
      }
      status = guarded.differentiate();
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; i < expected.size(); ++i) expect_same_bits(expected[i], gradients[i]->packed(), "gradient");
      EXPECT_TRUE(call.padding_intact());
    });
  }
}

constexpr int64_t kDims[] = {1, 3, 17, 40, 64};
constexpr int64_t kKeys[] = {1, 15, 17, 65, 130};
constexpr int64_t kQueries[] = {1, 2, 5, 17, 50};

/// Checks sizes all against each other, each with another set of options and another way in which sequences lie.
template <class Check>
void check_sizes(const Spec& types, const Check& check_one) {
  uint64_t turn = 0;
  for (const int64_t d : kDims) {
    for (const int64_t n_kv : kKeys) {
      for (const int64_t n_q : kQueries) {
        for (const int way : {0, 1, 2}) {  // padded, packed, in pages
          Spec s = types;
          s.b = 2, s.h_q = n_q == 1 ? 6 : 2, s.h_kv = 2, s.n_q = n_q, s.n_kv = n_kv, s.d_k = d;
          s.d_v = kDims[(turn + 2) % 5];
          s.packed_queries = s.packed_keys = way == 1;
          s.page_size = way == 2 ? 1 + static_cast<int64_t>(turn % 17) : 0;
          s.causal = turn % 2 == 0;
          s.kv_lengths = s.q_lengths = turn % 4 == 1;
          if (turn % 3 == 0) s.mask = Whole{1, turn % 2 == 0, 1, 1};
          if (turn % 5 == 0) s.bias = Whole{0, 1, 1, turn % 2 == 0};
          if (turn % 7 == 0) s.tree_tokens = 1 + static_cast<int64_t>(turn % 70);
          s.alibi = turn % 5 == 1;
          s.sinks = turn % 5 == 2;
          s.softcap = turn % 11 == 0 ? 2 : 0;
          s.want_weights = turn % 4 == 0;
          if (turn % 6 == 5) s.k_in.order = s.v_in.order = s.q_in.order = s.o_in.order = {0, 2, 1, 3};
          if (turn % 13 == 5) s.k_in.gap = s.v_in.gap = {1, 1, 2, 1};
          if (turn % 13 == 6) s.k_in.gap = s.v_in.gap = s.q_in.gap = s.o_in.gap = {1, 1, 1, 2};
          s.int32 = turn % 2 == 0;
          s.seed = ++turn;
          if (!testing::Test::HasFailure()) check_one(s);  // one report is enough
        }
      }
    }
  }
}

class GuardPages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
#ifndef FOVEATE_SANITIZED_MEMORY  // which report such an access themselves
    std::signal(SIGSEGV, on_segmentation_fault);
    std::signal(SIGBUS, on_segmentation_fault);
#endif
  }
};

using GuardPagesDeathTest = GuardPages;

/// That the pages guard.
TEST_F(GuardPagesDeathTest, ATouchIsTheEnd) {
  const GuardedMemory at_end(100, Edge::end), at_begin(100, Edge::begin);
  at_end.data()[0] = at_end.data()[99] = at_begin.data()[0] = at_begin.data()[99] = 1;
  std::strcpy(current_call, "on purpose");
  EXPECT_DEATH(at_end.data()[100] = 1, "");
  EXPECT_DEATH(at_begin.data()[-1] = 1, "");
}

/// Types that arrays are stored as. float64 computes with itself alone.
constexpr Spec kFloat32 = {};
constexpr Spec kFloat16 = {.q_type = DType::f16,
                           .k_type = DType::f16,
                           .v_type = DType::f16,
                           .bias_type = DType::f16,
                           .vector_type = DType::f16};
constexpr Spec kBFloat16 = {
    .q_type = DType::bf16, .k_type = DType::bf16, .v_type = DType::bf16, .bias_type = DType::bf16};
constexpr Spec kBesideBFloat16 = {.k_type = DType::bf16, .v_type = DType::bf16};
constexpr Spec kBesideFloat16 = {.k_type = DType::f16, .v_type = DType::f16};
constexpr Spec kBesideInt8 = {.k_type = DType::i8, .v_type = DType::i8};
constexpr Spec kBesideInt8OfChannels = {
    .q_type = DType::bf16, .k_type = DType::i8, .v_type = DType::i8, .k_scales = {false, true, false, true}};
constexpr Spec kValuesOfKeys = {.k_type = DType::bf16, .v_of_k = true};

TEST_F(GuardPages, Float64) { check_sizes({}, check<double>); }
TEST_F(GuardPages, Float32) { check_sizes(kFloat32, check<float>); }
TEST_F(GuardPages, Float16) { check_sizes(kFloat16, check<float>); }
TEST_F(GuardPages, BFloat16) { check_sizes(kBFloat16, check<float>); }
TEST_F(GuardPages, Float32BesideABFloat16Cache) { check_sizes(kBesideBFloat16, check<float>); }
TEST_F(GuardPages, Float32BesideAFloat16Cache) { check_sizes(kBesideFloat16, check<float>); }
TEST_F(GuardPages, Float32BesideAnInt8Cache) { check_sizes(kBesideInt8, check<float>); }
TEST_F(GuardPages, BFloat16BesideAnInt8CacheOfChannelScales) { check_sizes(kBesideInt8OfChannels, check<float>); }
TEST_F(GuardPages, ValuesThatAreColumnsOfTheKeys) { check_sizes(kValuesOfKeys, check<float>); }

using GuardPagesOfGradients = GuardPages;

TEST_F(GuardPagesOfGradients, Float64) { check_sizes({}, check_gradients<double>); }
TEST_F(GuardPagesOfGradients, Float32) { check_sizes(kFloat32, check_gradients<float>); }
TEST_F(GuardPagesOfGradients, Float16) { check_sizes(kFloat16, check_gradients<float>); }
TEST_F(GuardPagesOfGradients, BFloat16) { check_sizes(kBFloat16, check_gradients<float>); }
TEST_F(GuardPagesOfGradients, Float32BesideBFloat16) { check_sizes(kBesideBFloat16, check_gradients<float>); }
TEST_F(GuardPagesOfGradients, Float32BesideFloat16) { check_sizes(kBesideFloat16, check_gradients<float>); }
TEST_F(GuardPagesOfGradients, Float32BesideInt8) { check_sizes(kBesideInt8, check_gradients<float>); }
TEST_F(GuardPagesOfGradients, BFloat16BesideInt8OfChannels) {
  check_sizes(kBesideInt8OfChannels, check_gradients<float>);
}
TEST_F(GuardPagesOfGradients, ValuesThatAreColumnsOfTheKeys) { check_sizes(kValuesOfKeys, check_gradients<float>); }

}  // namespace
}  // namespace foveate::trial
