// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The gradients of additive attention against the oracle's, under the bounds of docs/numerics.md, on every target of this
// machine.
//
// FOVEATE_TEST_SEED and FOVEATE_TEST_CASES set the seed and the number of the random calls; a failure prints both.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "foveate/additive.h"
#include "tests/additive_case.h"
#include "tests/each_target.h"
#include "tests/edges.h"
#include "tests/gradient_bound.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

/// One call on every target, judged.
template <class T>
void check(const Spec& spec, const NetworkSpec& network, const GradientSpec& gradients = {}) {
  if (testing::Test::HasFailure()) return;  // one report is enough
  AdditiveGradientCase<T> call(spec, gradients, network);
  const ExpectedGradients<T> expected(call.call);
  on_each_target([&] {
    SCOPED_TRACE(testing::Message() << name_of(dtype_of<T>()) << ' ' << spec << ' ' << gradients << ' ' << network);
    const Status status = call.differentiate();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(judge(call, expected), "");
  });
}

constexpr int64_t kFeatures[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64};

template <class T>
class AdditiveBackward : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AdditiveBackward, Types);

TYPED_TEST(AdditiveBackward, Features) {
  for (const int64_t d_a : kFeatures) {
    for (const int64_t d_k : kFeatures) {
      check<TypeParam>({.n_q = 3, .n_kv = 4, .d_k = d_k, .d_v = 3, .seed = 80}, {.d_a = d_a, .b = d_k % 2 == 0});
    }
  }
  for (const int64_t d_a : {255, 257, 1000}) {
    check<TypeParam>({.n_q = 3, .n_kv = 5, .d_k = 2, .d_v = 2, .seed = 80}, {.d_a = d_a, .sums = 0.1});
  }
}

/// Rows at the edges of vectors and tiles, in one head and over several; keys at those of blocks and of chunks of 512.
TYPED_TEST(AdditiveBackward, TileEdges) {
  int64_t turn = 0;
  for (const int64_t n_kv : {1, 3, 63, 64, 65, 129, 512, 513}) {
    for (const int64_t n_q : edges<TypeParam>()) {
      ++turn;
      if (n_kv > 100 && turn % 4 != 0) continue;  // so that the oracle keeps up
      check<TypeParam>({.h_q = 1 + turn % 2 * 2,
                        .n_q = n_q,
                        .n_kv = n_kv,
                        .d_k = 1 + turn % 3,
                        .d_v = 1 + turn % 5,
                        .causal = turn % 4 == 3,
                        .seed = 81},
                       {.d_a = 1 + turn % 5});
    }
  }
}

/// Pairs of chunks shared out among workers, and all of them in one task.
TYPED_TEST(AdditiveBackward, LongRowsInAllWays) {
  struct Way {
    int64_t workers, kv_offset;
  };
  for (const Way& way : {Way{0, 0}, {0, 1023}, {1, 0}, {8, 0}, {8, 1}, {8, -5}}) {
    Spec spec = {.n_q = 3, .n_kv = 1300, .d_k = 2, .d_v = 3, .kv_offset = way.kv_offset, .seed = 82};
    spec.workers = way.workers;
    spec.own_workspace = true;
    check<TypeParam>(spec, {.d_a = 3});
    spec.causal = true;
    spec.h_q = 5;
    spec.n_q = 210;  // 1050 rows are three chunks
    spec.n_kv = 40;
    check<TypeParam>(spec, {.d_a = 2});
  }
}

TYPED_TEST(AdditiveBackward, HeadsShareKeys) {
  for (const int64_t group : {2, 3, 8, 17}) {
    for (const int64_t n_q : {1, 2, 5}) {
      check<TypeParam>({.b = 2,
                        .h_q = 2 * group,
                        .h_kv = 2,
                        .n_q = n_q,
                        .n_kv = 70,
                        .d_k = 3,
                        .d_v = 4,
                        .causal = n_q > 1,
                        .alibi = true,
                        .sinks = true,
                        .kv_lengths = true,
                        .seed = 83},
                       {.d_a = 2});
    }
  }
}

/// In a call with odd sizes and in one with more rows than a tile of the widest target.
TYPED_TEST(AdditiveBackward, EachOptionAlone) {
  std::vector<Spec> options = each_option<TypeParam>();
  options.insert(options.end(), {{.dropout = 0.4},
                                 {.softcap = 2, .dropout = 0.9},
                                 {.causal = true, .dropout = 1e-9},
                                 {.softcap = 0.5, .magnitude = 10},
                                 {.blocks = Whole{1, 1, 1, 1}, .block_size = 16},
                                 {.blocks = Whole{0, 1, 1, 1}, .block_size = 64, .blocks_kept = 3}});
  for (Spec spec : options) {
    spec.b = 2, spec.h_q = 4, spec.h_kv = 2, spec.n_q = 7, spec.n_kv = 71, spec.d_k = 3, spec.d_v = 5, spec.seed = 84;
    check<TypeParam>(spec, {.d_a = 5});
    if (spec.non_finite > 0) continue;  // NaN takes the oracle's long double a hundred times as long
    spec.b = 1, spec.h_q = 1, spec.h_kv = 1, spec.n_q = 101, spec.n_kv = 23, spec.d_k = 2, spec.d_v = 9;
    check<TypeParam>(spec, {.d_a = 4, .b = false});
  }
}

TYPED_TEST(AdditiveBackward, EachGradientAlone) {
  for (int one = 0; one < 9; ++one) {
    GradientSpec alone;
    alone.want_dq = one == 0, alone.want_dk = one == 1, alone.want_dv = one == 2;
    alone.want_dbias = one == 3, alone.want_dsinks = one == 4;
    NetworkSpec network = {.d_a = 3};
    network.want_dw_q = one == 5, network.want_dw_k = one == 6, network.want_dw = one == 7, network.want_db = one == 8;
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 11, .n_kv = 30, .d_k = 3, .d_v = 5, .causal = true, .seed = 85};
    spec.bias = Whole{1, 0, 1, 1};
    spec.softcap = 3;
    spec.sinks = true;
    spec.dropout = 0.25;
    spec.own_workspace = true;
    for (const int64_t workers : {0, 5}) {
      spec.workers = workers;
      check<TypeParam>(spec, network, alone);
    }
  }
}

TYPED_TEST(AdditiveBackward, StridedViews) {
  Spec spec = {.b = 2, .h_q = 2, .h_kv = 2, .n_q = 13, .n_kv = 37, .d_k = 5, .d_v = 7, .causal = true, .seed = 86};
  spec.mask = spec.bias = Whole{1, 1, 1, 1};
  spec.sinks = true;
  for (const Placement& way : kWaysToLie) {
    spec.q_in = spec.k_in = spec.v_in = spec.mask_in = spec.bias_in = spec.o_in = spec.lse_in = way;
    const GradientSpec gradients = {.d_o_in = way, .dq_in = way, .dk_in = way, .dv_in = way, .dbias_in = way};
    const NetworkSpec network = {.d_a = 4, .w_in = way, .vector_stride = way.reversed[2] ? -2 : 3};
    check<TypeParam>(spec, network, gradients);
    spec.b = spec.h_q = spec.h_kv = 1;
    check<TypeParam>(spec, network, gradients);
    spec.b = spec.h_q = spec.h_kv = 2;
  }
}

TYPED_TEST(AdditiveBackward, PackedSequences) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (const int ways : {1, 2, 3}) {
      Spec spec = {.b = 5, .h_q = 2, .h_kv = 1, .n_q = 11, .n_kv = 50, .d_k = 3, .d_v = 4, .seed = seed};
      spec.packed_queries = (ways & 1) != 0;
      spec.packed_keys = (ways & 2) != 0;
      spec.causal = seed % 2 == 0;
      spec.sinks = seed % 3 == 0;
      spec.q_lengths = spec.kv_lengths = seed % 4 == 3;
      if (seed % 3 == 2) spec.mask = spec.bias = Whole{1, 1, 1, 1};
      if (seed == 5) spec.tree_tokens = 7;
      check<TypeParam>(spec, {.d_a = 3});
      const Placement bnhd = {.order = {0, 2, 1, 3}, .guard = 3};
      spec.q_in = spec.k_in = spec.v_in = spec.o_in = spec.lse_in = bnhd;
      spec.vector_stride = 2;
      spec.workers = 2;
      spec.own_workspace = true;
      check<TypeParam>(spec, {.d_a = 5}, {.d_o_in = bnhd, .dq_in = bnhd, .dk_in = bnhd, .dv_in = bnhd});
    }
  }
}

/// NaN and Inf scattered over q, k and v, and over d_o: each gradient gets just those it depends on, and those of the
/// parameters none of what takes no part.
TYPED_TEST(AdditiveBackward, NonFiniteInputsReachJustWhatDependsOnThem) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Spec spec = {.b = 2, .h_q = 2, .h_kv = 1, .n_q = 13, .n_kv = 40, .d_k = 3, .d_v = 4, .seed = seed};
    spec.non_finite = seed % 4 == 0 ? 0 : 4;
    spec.causal = seed % 2 == 0;
    spec.q_lengths = spec.kv_lengths = seed % 3 == 0;
    if (seed % 3 == 1) spec.mask = Whole{1, 1, 1, 1};
    if (seed % 4 == 1) spec.bias = Whole{1, 1, 1, 1}, spec.bias_forbids = true;
    if (seed % 4 == 3) spec.window_left = 8, spec.window_right = 8;
    if (seed % 5 == 4) spec.k_in.order = spec.v_in.order = {0, 1, 3, 2};
    if (seed % 5 == 1) spec.softcap = 2;
    if (seed % 7 == 2) spec.dropout = 0.5;
    check<TypeParam>(spec, {.d_a = 1 + static_cast<int64_t>(seed % 6), .non_finite = seed % 8 == 7 ? 1 : 0},
                     {.non_finite = seed % 4 == 2 ? 0 : 3});
  }
}

/// NaN in whatever takes no part, every number that does take part finite: not one gradient has a NaN.
TYPED_TEST(AdditiveBackward, NaNThatTakesNoPartHasNoEffect) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Spec spec = {.b = 3, .h_q = 2, .h_kv = 1, .n_q = 9, .n_kv = 70, .d_k = 3, .d_v = 4, .seed = seed};
    spec.q_lengths = spec.kv_lengths = true;
    spec.mask = Whole{1, 1, 1, 1};
    spec.window_left = seed % 2 == 0 ? 5 : kUnlimited;
    spec.packed_queries = spec.packed_keys = seed % 4 == 3;
    AdditiveGradientCase<TypeParam> call(spec, {}, {.d_a = 3});
    const auto nans = [](const std::vector<double>& x) {
      int64_t n = 0;
      for (const double e : x) n += std::isnan(e);
      return n;
    };
    ASSERT_GT(nans(call.call.forward.q.packed()) + nans(call.call.forward.k.packed()), 0);
    on_each_target([&] {
      SCOPED_TRACE(testing::Message() << spec);
      const Status status = call.differentiate();
      ASSERT_TRUE(status.ok()) << status.message();
      for (const Stored* x :
           {&call.call.dq, &call.call.dk, &call.call.dv, &call.dw_q, &call.dw_k, &call.dw, &call.db}) {
        EXPECT_EQ(nans(x->packed()), 0);
      }
    });
  }
}

TYPED_TEST(AdditiveBackward, LargeArguments) {
  for (const double arguments : {10.0, 30.0, 60.0, 150.0, 400.0}) {
    for (const int64_t d_a : {1, 3, 4, 9}) {
      check<TypeParam>({.n_q = 9, .n_kv = 40, .d_k = 2, .d_v = 3, .seed = 87}, {.d_a = d_a, .arguments = arguments});
    }
  }
}

/// Two keys with tanh of +-1/2 and d_o of 4e30: dw is some scale * 4e30, where all else is finite.
TEST(AdditiveBackwardRange, AGradientPastItsTypeIsInf) {
  const float q = 0.5F, k[] = {0.5F, -0.5F}, v[] = {1, -1}, one = 1, w = 1e-9F, d_o = 4e30F;
  const AdditiveParameters parameters{.w_q = view(&one, 1, 1), .w_k = view(&one, 1, 1), .w = view(&w, 1)};
  const auto const_view = [](const float& x) { return view(&x, 1, 1, 1, 1); };
  const ConstTensor queries = view(&q, 1, 1, 1, 1), keys = view(k, 1, 1, 2, 1), values = view(v, 1, 1, 2, 1);
  for (const auto& [scale, past] : {std::pair{1e6, false}, std::pair{1e9, true}}) {
    trial::on_each_target([&, scale = scale, past = past] {
      float o = 0, lse = 0, dw = 0;
      ASSERT_TRUE(additive_attention(queries, keys, values, parameters,
                                     {.o = view(&o, 1, 1, 1, 1), .lse = view(&lse, 1, 1, 1, 1)}, {.scale = scale})
                      .ok());
      AdditiveGradients gradients;
      gradients.dw = view(&dw, 1);
      ASSERT_TRUE(additive_attention_backward(queries, keys, values, parameters, const_view(o), const_view(lse),
                                              const_view(d_o), gradients, {.scale = scale})
                      .ok());
      EXPECT_EQ(std::isinf(dw), past) << dw;
    });
  }
}

/// Outputs of each type beside inputs of each.
TEST(AdditiveBackwardTypes, EachBesideEachOther) {
  const DType narrow[] = {DType::f32, DType::f16, DType::bf16};
  const DType parameters[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
  int64_t turn = 0;
  for (const DType q : narrow) {
    for (const DType k : narrow) {
      for (const DType v : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
        ++turn;
        const GradientSpec gradients = {.dq_type = narrow[turn % 3],
                                        .dk_type = narrow[turn / 3 % 3],
                                        .dv_type = narrow[(turn + turn / 3) % 3],
                                        .dbias_type = narrow[turn / 2 % 3]};
        NetworkSpec network = {.d_a = 1 + turn % 5, .type = parameters[turn % 4]};
        network.dw_q_type = narrow[turn / 2 % 3], network.dw_k_type = narrow[turn % 3];
        network.dw_type = narrow[(turn + 1) % 3], network.db_type = narrow[turn / 3 % 3];
        Spec spec = Family{q, k, v}.of({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 5, .n_kv = 40, .d_k = 5, .d_v = 9});
        spec.bias = Whole{1, 1, 0, 1};
        spec.sinks = true;
        spec.seed = 88;
        check<float>(spec, network, gradients);
        check<float>(Family{q, k, v}.of({.n_q = 53, .n_kv = 31, .d_k = 4, .d_v = 8, .causal = true, .seed = 89}),
                     network, gradients);
      }
    }
  }
}

TYPED_TEST(AdditiveBackward, RandomCalls) {
  const int64_t seed = from_environment("FOVEATE_TEST_SEED", 1), cases = from_environment("FOVEATE_TEST_CASES", 200);
  for (int64_t i = 0; i < cases && !this->HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "FOVEATE_TEST_SEED=" << seed + i << " FOVEATE_TEST_CASES=1");
    Choices choices(static_cast<uint64_t>(seed + i));
    const Spec spec = random_spec(
        choices, {.queries = 60, .keys = (seed + i) % 16 == 1 ? 1500 : 300, .head_dim = 30, .multiply_adds = 30'000});
    const NetworkSpec network = random_network(choices, spec, 200'000);
    check<TypeParam>(spec, network, random_gradients(choices));
  }
}

}  // namespace
}  // namespace foveate::trial
