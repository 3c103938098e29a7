// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine against the oracle, under the bounds of docs/numerics.md, on every target of this machine.
//
// FOVEATE_TEST_SEED and FOVEATE_TEST_CASES set the seed and the number of the random calls; a failure prints both.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "tests/attention_case.h"
#include "tests/each_target.h"
#include "tests/edges.h"
#include "tests/error_bound.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

/// One call on every target, judged.
template <class T>
void check(const Spec& spec) {
  Case<T> call(spec);
  const Expected<T> expected(call);
  on_each_target([&] {
    SCOPED_TRACE(testing::Message() << name_of(dtype_of<T>()) << ' ' << spec);
    const Status status = call.attend();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(judge(call, expected), "");
  });
}

constexpr int64_t kKeys[] = {1, 2, 3, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2049};

template <class T>
class Kernel : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernel, Types);

TYPED_TEST(Kernel, TileEdges) {
  int64_t turn = 0;
  for (int64_t n_kv : kKeys) {
    for (int64_t n_q : edges<TypeParam>()) {
      // Long keys take small head dims, so that the oracle keeps up.
      const int64_t dims = n_kv > 1000 ? 7 : 10;
      const int64_t d_k = kHeadDims[turn % dims], d_v = kHeadDims[(turn + 3) % dims];
      check<TypeParam>({.n_q = n_q, .n_kv = n_kv, .d_k = d_k, .d_v = d_v, .causal = turn % 4 == 3, .seed = 10});
      ++turn;
    }
  }
}

TYPED_TEST(Kernel, HeadDims) {
  for (int64_t d_k : kHeadDims) {
    for (int64_t d_v : kHeadDims) check<TypeParam>({.n_q = 5, .n_kv = 67, .d_k = d_k, .d_v = d_v, .seed = 11});
    check<TypeParam>({.n_q = 17, .n_kv = 67, .d_k = d_k, .d_v = 0, .seed = 11});
  }
}

/// Splits shared out among workers: in one tile, and in the smaller tile that is left of queries or heads.
TYPED_TEST(Kernel, LongRowsInAllWays) {
  for (int64_t workers : {0, 1, 8}) {
    for (int64_t kv_offset : {0, 1, 1023, -5}) {
      Spec spec = {
          .n_q = 3, .n_kv = 2049, .d_k = 40, .d_v = 17, .kv_offset = kv_offset, .workers = workers, .seed = 12};
      spec.want_weights = false;
      spec.own_workspace = true;
      check<TypeParam>(spec);
      spec.n_q = 53;
      check<TypeParam>(spec);
      spec.n_q = 1;
      spec.h_q = 53;
      check<TypeParam>(spec);
    }
  }
}

TYPED_TEST(Kernel, HeadsShareKeys) {
  for (int64_t group : {2, 3, 4, 8, 17, 49}) {
    for (int64_t n_q : {1, 2, 5, 16}) {
      check<TypeParam>({.b = 2,
                        .h_q = 2 * group,
                        .h_kv = 2,
                        .n_q = n_q,
                        .n_kv = 70,
                        .causal = n_q > 1,
                        .alibi = true,
                        .sinks = true,
                        .kv_lengths = true,
                        .seed = 13});
      check<TypeParam>(
          {.h_q = group, .n_q = n_q, .n_kv = 70, .mask = Whole{0, 1, 0, 1}, .bias = Whole{0, 0, 1, 1}, .seed = 14});
    }
  }
}

/// Every option alone, in a call with odd sizes and one with more rows than a tile of the widest target.
TYPED_TEST(Kernel, EachOptionAlone) {
  for (Spec spec : each_option<TypeParam>()) {
    spec.b = 2, spec.h_q = 4, spec.h_kv = 2, spec.n_q = 13, spec.n_kv = 131, spec.d_k = 9, spec.d_v = 5, spec.seed = 15;
    check<TypeParam>(spec);
    spec.b = 1, spec.h_q = 2, spec.h_kv = 1, spec.n_q = 101, spec.n_kv = 83, spec.d_k = 16, spec.d_v = 24;
    check<TypeParam>(spec);
  }
}

TYPED_TEST(Kernel, MaskAndBiasBroadcastInAllWays) {
  for (int axes = 0; axes < 16; ++axes) {
    const Whole whole = {(axes & 8) != 0, (axes & 4) != 0, (axes & 2) != 0, (axes & 1) != 0};
    const Whole other = {whole[3], whole[2], !whole[1], whole[0]};
    const Spec sizes = {
        .b = 2, .h_q = 6, .h_kv = 2, .n_q = 7, .n_kv = 70, .d_k = 5, .d_v = 3, .bias_forbids = true, .seed = 16};
    for (const auto& [mask, bias] :
         std::vector<std::pair<std::optional<Whole>, std::optional<Whole>>>{{whole, {}}, {{}, whole}, {whole, other}}) {
      Spec spec = sizes;
      spec.mask = mask;
      spec.bias = bias;
      check<TypeParam>(spec);
      spec.causal = true;
      check<TypeParam>(spec);
    }
  }
}

TYPED_TEST(Kernel, StridedViews) {
  Spec spec = {.b = 2,
               .h_q = 2,
               .h_kv = 2,
               .n_q = 19,
               .n_kv = 67,
               .d_k = 9,
               .d_v = 17,
               .causal = true,
               .mask = Whole{1, 1, 1, 1},
               .bias = Whole{1, 1, 1, 1},
               .seed = 17};
  for (const Placement& way : kWaysToLie) {
    spec.q_in = spec.k_in = spec.v_in = spec.mask_in = spec.bias_in = spec.o_in = spec.lse_in = spec.weights_in = way;
    check<TypeParam>(spec);
    spec.b = spec.h_q = spec.h_kv = 1;
    check<TypeParam>(spec);
    spec.b = spec.h_q = spec.h_kv = 2;
  }
}

TYPED_TEST(Kernel, InputsRepeatedByStrideZero) {
  for (int axis = 0; axis < 4; ++axis) {
    Placement way;
    way.repeated[axis] = true;
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 9, .n_kv = 66, .d_k = 5, .d_v = 6, .seed = 18};
    for (Placement Spec::*array : {&Spec::q_in, &Spec::k_in, &Spec::v_in, &Spec::mask_in, &Spec::bias_in}) {
      Spec one = spec;
      one.mask = one.bias = Whole{1, 1, 1, 1};
      one.*array = way;
      check<TypeParam>(one);
    }
  }
}

/// NaN and Inf scattered over q, k and v, among masks, windows and lengths: each row gets just those it sees.
TYPED_TEST(Kernel, NonFiniteInputsReachJustTheRowsThatSeeThem) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Spec spec = {
        .b = 2, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 90, .d_k = 7, .d_v = 11, .non_finite = 12, .seed = seed};
    spec.causal = seed % 2 == 0;
    spec.q_lengths = spec.kv_lengths = seed % 3 == 0;
    if (seed % 3 == 1) spec.mask = Whole{1, 1, 1, 1};
    if (seed % 4 == 1) spec.bias = Whole{1, 1, 1, 1}, spec.bias_forbids = true;
    if (seed % 4 == 3) spec.window_left = 8, spec.window_right = 8;
    if (seed % 5 == 4) spec.k_in.order = spec.v_in.order = {0, 1, 3, 2};
    check<TypeParam>(spec);
  }
}

TYPED_TEST(Kernel, RandomCalls) {
  const int64_t seed = from_environment("FOVEATE_TEST_SEED", 1), cases = from_environment("FOVEATE_TEST_CASES", 600);
  for (int64_t i = 0; i < cases && !this->HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "FOVEATE_TEST_SEED=" << seed + i << " FOVEATE_TEST_CASES=1");
    Choices choices(static_cast<uint64_t>(seed + i));
    check<TypeParam>(random_spec(
        choices, {.queries = 60, .keys = (seed + i) % 16 == 1 ? 2100 : 300, .head_dim = 80, .multiply_adds = 400'000}));
  }
}

}  // namespace
}  // namespace foveate::trial
