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
#include "tests/attention_case.h"
#include "tests/each_target.h"
#include "tests/error_bound.h"
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
    const Spec& s = case_.spec;
    const AttentionShape shape = {.b = s.b,
                                  .h_q = s.h_q,
                                  .h_kv = s.h_kv,
                                  .n_q = s.n_q,
                                  .n_kv = s.n_kv,
                                  .d_k = s.d_k,
                                  .d_v = s.d_v,
                                  .dtype = q_.dtype,
                                  .kv_offset = s.kv_offset.value_or(0)};
    AttentionPlan plan;
    if (Status status = attention_plan(shape, 1, &plan); !status.ok()) return status;
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

 private:
  ConstTensor guard(const ConstTensor& from) { return arrays_.emplace_back(from, edge_).view(); }

  Case<T>& case_;
  Edge edge_;
  std::deque<GuardedArray> arrays_;
  ConstTensor q_, k_, v_;
  AttentionOptions options_;
};

template <class T>
void check(const Spec& spec) {
  if (testing::Test::HasFailure()) return;  // one report is enough
  Case<T> call(spec);
  const Expected<T> expected(call);
  for (const Edge edge : {Edge::end, Edge::begin}) {
    GuardedCall<T> guarded(call, edge);
    on_each_target([&] {
      std::ostringstream words;
      words << name_of(dtype_of<T>()) << ' ' << active_target() << (edge == Edge::end ? " end " : " begin ") << spec;
      SCOPED_TRACE(words.str());
      std::strncpy(current_call, words.str().c_str(), sizeof current_call - 1);
      const Status status = guarded.attend();
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(judge(call, expected), "");
    });
  }
}

constexpr int64_t kDims[] = {1, 3, 17, 40, 64};
constexpr int64_t kKeys[] = {1, 15, 17, 65, 130};
constexpr int64_t kQueries[] = {1, 2, 5, 17, 50};

/// Sizes all against each other, each with another set of options and another way in which sequences lie.
template <class T>
void check_sizes(const Spec& types) {
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
          check<T>(s);
        }
      }
    }
  }
}

class GuardPages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which report such an access themselves
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

TEST_F(GuardPages, Float64) { check_sizes<double>({}); }
TEST_F(GuardPages, Float32) { check_sizes<float>({}); }
TEST_F(GuardPages, Float16) {
  check_sizes<float>({.q_type = DType::f16,
                      .k_type = DType::f16,
                      .v_type = DType::f16,
                      .bias_type = DType::f16,
                      .vector_type = DType::f16});
}
TEST_F(GuardPages, BFloat16) {
  check_sizes<float>({.q_type = DType::bf16, .k_type = DType::bf16, .v_type = DType::bf16, .bias_type = DType::bf16});
}
TEST_F(GuardPages, Float32BesideABFloat16Cache) { check_sizes<float>({.k_type = DType::bf16, .v_type = DType::bf16}); }
TEST_F(GuardPages, Float32BesideAFloat16Cache) { check_sizes<float>({.k_type = DType::f16, .v_type = DType::f16}); }
TEST_F(GuardPages, Float32BesideAnInt8Cache) { check_sizes<float>({.k_type = DType::i8, .v_type = DType::i8}); }
TEST_F(GuardPages, BFloat16BesideAnInt8CacheOfChannelScales) {
  check_sizes<float>(
      {.q_type = DType::bf16, .k_type = DType::i8, .v_type = DType::i8, .k_scales = {false, true, false, true}});
}
TEST_F(GuardPages, ValuesThatAreColumnsOfTheKeys) { check_sizes<float>({.k_type = DType::bf16, .v_of_k = true}); }

}  // namespace
}  // namespace foveate::trial
