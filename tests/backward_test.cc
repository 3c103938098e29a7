// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine's gradients against the oracle's, under the bounds of docs/numerics.md, on every target of this machine.
//
// FOVEATE_TEST_SEED and FOVEATE_TEST_CASES set the seed and the number of the random calls; a failure prints both.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "foveate/attention_backward.h"
#include "tests/each_target.h"
#include "tests/edges.h"
#include "tests/gradient_bound.h"
#include "tests/gradient_case.h"
#include "tests/random_spec.h"
#include "tests/spec.h"

namespace foveate::trial {
namespace {

/// One call on every target, judged.
template <class T>
void check(const Spec& spec, const GradientSpec& gradients = {}) {
  if (testing::Test::HasFailure()) return;  // one report is enough
  GradientCase<T> call(spec, gradients);
  const ExpectedGradients<T> expected(call);
  on_each_target([&] {
    SCOPED_TRACE(testing::Message() << name_of(dtype_of<T>()) << ' ' << spec << ' ' << gradients);
    const Status status = call.differentiate();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(judge(call, expected), "");
  });
}

template <class T>
class Backward : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Backward, Types);

/// Rows at the edges of vectors and tiles, in one head and over several; keys at those of blocks and of chunks of 512.
TYPED_TEST(Backward, TileEdges) {
  int64_t turn = 0;
  for (const int64_t n_kv : {1, 3, 63, 64, 65, 129, 511, 512, 513, 1025}) {
    for (const int64_t n_q : edges<TypeParam>()) {
      ++turn;
      if (n_kv > 500 && turn % 4 != 0) continue;  // so that the oracle keeps up
      const int64_t d_k = kHeadDims[turn % 8], d_v = kHeadDims[(turn + 3) % 8];
      check<TypeParam>({.h_q = 1 + turn % 2 * 2,
                        .n_q = n_q,
                        .n_kv = n_kv,
                        .d_k = d_k,
                        .d_v = d_v,
                        .causal = turn % 4 == 3,
                        .seed = 40});
    }
  }
}

/// Components at the edges of vectors and of panels of three of them.
TYPED_TEST(Backward, HeadDims) {
  for (const int64_t d_k : kHeadDims) {
    for (const int64_t d_v : {0, 1, 3, 17, 65, 256}) {
      check<TypeParam>({.n_q = 5, .n_kv = 67, .d_k = d_k, .d_v = d_v, .seed = 41});
      check<TypeParam>({.n_q = 4, .n_kv = 5, .d_k = (d_v * 7) % 130 + 1, .d_v = d_k, .seed = 41});
    }
  }
  for (const int64_t d : {15, 16, 24, 32, 33, 47, 48, 49, 63, 96, 97, 112}) {
    check<TypeParam>({.n_q = 17, .n_kv = 20, .d_k = d, .d_v = 130 - d, .seed = 41});
  }
}

/// Pairs of chunks shared out among workers, and all of them in one task.
TYPED_TEST(Backward, LongRowsInAllWays) {
  struct Way {
    int64_t workers, kv_offset;
  };
  for (const Way& way : {Way{0, 0}, {0, 1023}, {1, 0}, {8, 0}, {8, 1}, {8, 1023}, {8, -5}}) {
    Spec spec = {.n_q = 3, .n_kv = 1300, .d_k = 9, .d_v = 7, .kv_offset = way.kv_offset, .seed = 42};
    spec.workers = way.workers;
    spec.own_workspace = true;
    check<TypeParam>(spec);
    spec.causal = true;
    spec.h_q = 5;
    spec.n_q = 210;  // 1050 rows are three chunks
    spec.n_kv = 550;
    spec.d_k = 3, spec.d_v = 2;
    check<TypeParam>(spec);
  }
}

TYPED_TEST(Backward, HeadsShareKeys) {
  for (const int64_t group : {2, 3, 4, 8, 17, 49}) {
    for (const int64_t n_q : {1, 2, 5, 16}) {
      check<TypeParam>({.b = 2,
                        .h_q = 2 * group,
                        .h_kv = 2,
                        .n_q = n_q,
                        .n_kv = 70,
                        .d_k = 5,
                        .d_v = 6,
                        .causal = n_q > 1,
                        .alibi = true,
                        .sinks = true,
                        .kv_lengths = true,
                        .seed = 43});
      check<TypeParam>({.h_q = group,
                        .n_q = n_q,
                        .n_kv = 70,
                        .d_k = 4,
                        .d_v = 3,
                        .mask = Whole{0, 1, 0, 1},
                        .bias = Whole{0, 0, 1, 1},
                        .seed = 44});
    }
  }
}

/// In a call with odd sizes and in one with more rows than a tile of the widest target.
TYPED_TEST(Backward, EachOptionAlone) {
  std::vector<Spec> options = each_option<TypeParam>();
  options.insert(options.end(), {{.dropout = 0.4},
                                 {.softcap = 2, .dropout = 0.9},
                                 {.causal = true, .dropout = 1e-9},
                                 {.softcap = 0.5, .magnitude = 10}});
  for (Spec spec : options) {
    spec.b = 2, spec.h_q = 4, spec.h_kv = 2, spec.n_q = 13, spec.n_kv = 131, spec.d_k = 9, spec.d_v = 5, spec.seed = 45;
    check<TypeParam>(spec);
    if (spec.non_finite > 0) continue;  // NaN takes the oracle's long double a hundred times as long
    spec.b = 1, spec.h_q = 2, spec.h_kv = 1, spec.n_q = 101, spec.n_kv = 83, spec.d_k = 16, spec.d_v = 24;
    check<TypeParam>(spec);
  }
}

TYPED_TEST(Backward, BiasBroadcastInAllWays) {
  for (int axes = 0; axes < 16; ++axes) {
    const Whole whole = {(axes & 8) != 0, (axes & 4) != 0, (axes & 2) != 0, (axes & 1) != 0};
    Spec spec = {.b = 2, .h_q = 6, .h_kv = 2, .n_q = 7, .n_kv = 70, .d_k = 5, .d_v = 3, .bias = whole, .seed = 46};
    check<TypeParam>(spec);
    spec.bias_forbids = true;
    spec.causal = true;
    check<TypeParam>(spec, {.want_dq = false, .want_dk = false, .want_dv = false});
    spec.mask = Whole{whole[3], whole[2], !whole[1], whole[0]};
    spec.q_lengths = spec.kv_lengths = true;
    spec.dropout = 0.3;
    spec.workers = 3;
    check<TypeParam>(spec);
    spec.n_q = 55, spec.n_kv = 600, spec.b = 1, spec.h_q = 2;  // several tiles, and chunks of keys
    check<TypeParam>(spec);
  }
}

TYPED_TEST(Backward, EachGradientAlone) {
  for (int one = 0; one < 5; ++one) {
    GradientSpec alone;
    alone.want_dq = one == 0, alone.want_dk = one == 1, alone.want_dv = one == 2;
    alone.want_dbias = one == 3, alone.want_dsinks = one == 4;
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 70, .d_k = 7, .d_v = 5, .causal = true, .seed = 47};
    spec.bias = Whole{1, 1, 1, 1};
    spec.softcap = 3;
    spec.sinks = true;
    spec.dropout = 0.25;
    spec.own_workspace = true;
    for (const int64_t workers : {0, 5}) {
      spec.workers = workers;
      check<TypeParam>(spec, alone);
    }
  }
}

TYPED_TEST(Backward, StridedViews) {
  Spec spec = {.b = 2, .h_q = 2, .h_kv = 2, .n_q = 19, .n_kv = 67, .d_k = 9, .d_v = 17, .causal = true, .seed = 48};
  spec.mask = spec.bias = Whole{1, 1, 1, 1};
  spec.sinks = true;
  for (const Placement& way : kWaysToLie) {
    spec.q_in = spec.k_in = spec.v_in = spec.mask_in = spec.bias_in = spec.o_in = spec.lse_in = way;
    const GradientSpec gradients = {.d_o_in = way, .dq_in = way, .dk_in = way, .dv_in = way, .dbias_in = way};
    spec.vector_stride = way.reversed[0] ? -2 : 1;
    check<TypeParam>(spec, gradients);
    spec.b = spec.h_q = spec.h_kv = 1;
    check<TypeParam>(spec, gradients);
    spec.b = spec.h_q = spec.h_kv = 2;
  }
}

TYPED_TEST(Backward, InputsRepeatedByStrideZero) {
  for (int axis = 0; axis < 4; ++axis) {
    Placement way;
    way.repeated[axis] = true;
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 9, .n_kv = 66, .d_k = 5, .d_v = 6, .seed = 49};
    spec.mask = spec.bias = Whole{1, 1, 1, 1};
    check<TypeParam>(spec, {.d_o_in = way});
    for (Placement Spec::*array : {&Spec::q_in, &Spec::k_in, &Spec::v_in, &Spec::mask_in, &Spec::bias_in}) {
      Spec one = spec;
      one.*array = way;
      check<TypeParam>(one);
    }
  }
}

/// NaN and Inf scattered over q, k and v, among masks, windows and lengths.
Spec not_finite(uint64_t seed) {
  Spec spec = {.b = 2, .h_q = 2, .h_kv = 1, .n_q = 21, .n_kv = 90, .d_k = 5, .d_v = 6, .seed = seed};
  spec.non_finite = seed % 4 == 0 ? 0 : 4;
  spec.causal = seed % 2 == 0;
  spec.q_lengths = spec.kv_lengths = seed % 3 == 0;
  if (seed % 3 == 1) spec.mask = Whole{1, 1, 1, 1};
  if (seed % 4 == 1) spec.bias = Whole{1, 1, 1, 1}, spec.bias_forbids = true;
  if (seed % 4 == 3) spec.window_left = 8, spec.window_right = 8;
  if (seed % 5 == 4) spec.k_in.order = spec.v_in.order = {0, 1, 3, 2};
  if (seed % 5 == 1) spec.softcap = 2;
  if (seed % 7 == 2) spec.dropout = 0.5;
  return spec;
}

/// And over d_o: each gradient gets just those it depends on.
TYPED_TEST(Backward, NonFiniteInputsReachJustWhatDependsOnThem) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    check<TypeParam>(not_finite(seed), {.non_finite = seed % 4 == 2 ? 0 : 3});
  }
}

TYPED_TEST(Backward, PackedSequences) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (const int ways : {1, 2, 3}) {
      Spec spec = {.b = 5, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 140, .d_k = 7, .d_v = 9, .seed = seed};
      spec.packed_queries = (ways & 1) != 0;
      spec.packed_keys = (ways & 2) != 0;
      spec.causal = seed % 2 == 0;
      spec.sinks = seed % 3 == 0;
      spec.alibi = seed % 3 == 1;
      spec.q_lengths = spec.kv_lengths = seed % 4 == 3;
      if (seed % 3 == 2) spec.mask = spec.bias = Whole{1, 1, 1, 1};
      if (seed == 4) spec.window_left = 9;
      check<TypeParam>(spec);
      const Placement bnhd = {.order = {0, 2, 1, 3}, .guard = 3};
      spec.q_in = spec.k_in = spec.v_in = spec.o_in = spec.lse_in = bnhd;
      spec.vector_stride = 2;
      spec.workers = 2;
      check<TypeParam>(spec, {.d_o_in = bnhd, .dq_in = bnhd, .dk_in = bnhd, .dv_in = bnhd});
    }
  }
}

TYPED_TEST(Backward, Trees) {
  for (const int64_t tokens : {1, 7, 64, 65, 130}) {
    for (const Whole& whole : {Whole{1, 1, 1, 1}, Whole{0, 0, 1, 1}, Whole{1, 0, 0, 1}}) {
      Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 7, .n_kv = 200, .d_k = 6, .d_v = 5, .seed = 50};
      spec.tree_tokens = tokens;
      spec.tree = whole;
      spec.kv_lengths = tokens % 2 == 0;
      check<TypeParam>(spec);
      spec.causal = true;
      spec.mask = Whole{1, 1, 1, 1};
      spec.bias = Whole{0, 1, 0, 1};
      spec.packed_queries = spec.packed_keys = true;
      check<TypeParam>(spec);
    }
  }
}

// --- Types ---

/// Outputs of each type beside inputs of each.
TEST(BackwardTypes, EachBesideEachOther) {
  const DType narrow[] = {DType::f32, DType::f16, DType::bf16};
  int64_t turn = 0;
  for (const DType q : narrow) {
    for (const DType k : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
      for (const DType v : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
        ++turn;
        const GradientSpec gradients = {.dq_type = narrow[turn % 3],
                                        .dk_type = narrow[turn / 3 % 3],
                                        .dv_type = narrow[(turn + turn / 3) % 3],
                                        .dbias_type = narrow[turn / 2 % 3]};
        Spec spec = Family{q, k, v}.of({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 5, .n_kv = 70, .d_k = 9, .d_v = 19});
        spec.bias = Whole{1, 1, 0, 1};
        spec.bias_type = narrow[turn / 5 % 3];
        spec.sinks = true;
        spec.vector_type = narrow[turn / 7 % 3];
        spec.seed = 51;
        check<float>(spec, gradients);
        check<float>(
            Family{q, k, v}.of({.h_q = 2, .n_q = 53, .n_kv = 131, .d_k = 32, .d_v = 64, .causal = true, .seed = 52}),
            gradients);
      }
    }
  }
}

TEST(BackwardTypes, ScalesBroadcastInAllWays) {
  for (int axes = 0; axes < 16; ++axes) {
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 6, .n_kv = 70, .d_k = 17, .d_v = 6, .seed = 53};
    spec.k_type = spec.v_type = DType::i8;
    spec.k_scales = {(axes & 8) != 0, (axes & 4) != 0, (axes & 2) != 0, (axes & 1) != 0};
    spec.v_scales = {(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0, false};
    check<float>(spec);
    spec.scales_in = {.order = {3, 1, 0, 2}, .gap = {1, 2, 1, 3}, .reversed = {false, true, false, true}};
    spec.packed_keys = axes % 2 == 0;
    spec.non_finite = axes % 4 == 3 ? 3 : 0;
    check<float>(spec);
  }
}

TEST(BackwardTypes, EachOptionBesideEachFamily) {
  const Spec options[] = {
      {.scale = -2.0},
      {.window_left = 9, .window_right = 4},
      {.mask = Whole{1, 1, 1, 1}, .softcap = 2},
      {.bias = Whole{1, 1, 1, 1}, .bias_forbids = true, .bias_type = DType::f16},
      {.bias = Whole{0, 1, 0, 1}, .bias_huge = true, .bias_type = DType::bf16},
      {.sinks = true, .vector_type = DType::bf16, .vector_stride = 3},
      {.q_lengths = true, .kv_lengths = true, .int32 = true},
      {.dropout = 0.4},
      {.v_of_k = true},
      {.non_finite = 5},
      {.magnitude = 30},
  };
  const Placement transposed = {.order = {0, 1, 3, 2}};
  for (const Family& family : kFamilies) {
    for (Spec spec : options) {
      spec.b = 2, spec.h_q = 4, spec.h_kv = 2, spec.n_q = 13, spec.n_kv = 131, spec.d_k = 9, spec.d_v = 5;
      spec.seed = 54;
      const DType out = family.q;
      check<float>(family.of(spec), {.dq_type = out, .dk_type = out, .dv_type = out, .dbias_type = out});
      spec.b = 1, spec.h_q = 2, spec.h_kv = 1, spec.n_q = 50, spec.n_kv = 66, spec.d_k = 64, spec.d_v = 40;
      spec.q_in = spec.k_in = spec.v_in = transposed;
      check<float>(family.of(spec), {.d_o_in = transposed});
    }
  }
}

TEST(BackwardTypes, NonFiniteInputsReachJustWhatDependsOnThem) {
  for (const Family& family : kFamilies) {
    for (uint64_t seed = 0; seed < 16; ++seed) {
      check<float>(family.of(not_finite(seed)), {.non_finite = seed % 4 == 2 ? 0 : 3});
    }
  }
}

TYPED_TEST(Backward, RandomCalls) {
  const int64_t seed = from_environment("FOVEATE_TEST_SEED", 1), cases = from_environment("FOVEATE_TEST_CASES", 200);
  for (int64_t i = 0; i < cases && !this->HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "FOVEATE_TEST_SEED=" << seed + i << " FOVEATE_TEST_CASES=1");
    Choices choices(static_cast<uint64_t>(seed + i));
    const Spec spec = random_spec(
        choices, {.queries = 60, .keys = (seed + i) % 16 == 1 ? 1500 : 300, .head_dim = 80, .multiply_adds = 200'000});
    check<TypeParam>(spec, random_gradients(choices));
  }
}

}  // namespace
}  // namespace foveate::trial
