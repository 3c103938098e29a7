// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Additive attention against the oracle, under the bounds of docs/numerics.md, on every target of this machine.
//
// FOVEATE_TEST_SEED and FOVEATE_TEST_CASES set the seed and the number of the random calls; a failure prints both.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "foveate/additive.h"
#include "tests/additive_case.h"
#include "tests/each_target.h"
#include "tests/edges.h"
#include "tests/error_bound.h"
#include "tests/random_spec.h"

namespace foveate::trial {
namespace {

/// On every target, judged.
template <class T>
void check(AdditiveCase<T>& call, const NetworkSpec& network) {
  if (testing::Test::HasFailure()) return;  // one report is enough
  const Expected<T> expected(call.forward);
  on_each_target([&] {
    SCOPED_TRACE(testing::Message() << name_of(dtype_of<T>()) << ' ' << call.forward.spec << ' ' << network);
    const Status status = call.attend();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(judge(call.forward, expected), "");
  });
}

template <class T>
void check(const Spec& spec, const NetworkSpec& network = {}) {
  AdditiveCase<T> call(spec, network);
  check(call, network);
}

constexpr int64_t kFeatures[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64};

template <class T>
class Additive : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Additive, Types);

TYPED_TEST(Additive, Features) {
  for (const int64_t d_a : kFeatures) {
    for (const int64_t d_k : kFeatures) {
      check<TypeParam>({.n_q = 3, .n_kv = 5, .d_k = d_k, .d_v = 3, .seed = 60}, {.d_a = d_a, .b = d_k % 2 == 0});
    }
  }
}

TYPED_TEST(Additive, TileEdges) {
  int64_t turn = 0;
  for (const int64_t n_kv : {1, 2, 63, 64, 65, 129, 1023, 1025}) {
    for (const int64_t n_q : edges<TypeParam>()) {
      ++turn;
      if (n_kv > 1000 && n_q > 3 && turn % 3 != 0) continue;  // so that the oracle keeps up
      check<TypeParam>({.n_q = n_q, .n_kv = n_kv, .d_k = 2, .d_v = 1 + turn % 5, .causal = turn % 4 == 3, .seed = 61},
                       {.d_a = 1 + turn % 6});
    }
  }
}

TYPED_TEST(Additive, ManyFeatures) {
  for (const int64_t d_a : {255, 256, 257, 1000}) {
    check<TypeParam>({.n_q = 3, .n_kv = 7, .d_k = 3, .d_v = 2, .seed = 62}, {.d_a = d_a});
    check<TypeParam>({.n_q = 1, .n_kv = 70, .d_k = 2, .d_v = 5, .seed = 62}, {.d_a = d_a, .sums = 0.05});
  }
}

/// Splits shared out among workers.
TYPED_TEST(Additive, LongRowsInAllWays) {
  for (const int64_t workers : {0, 1, 8}) {
    for (const int64_t kv_offset : {0, 1, 1023, -5}) {
      Spec spec = {.n_q = 3, .n_kv = 2049, .d_k = 3, .d_v = 4, .kv_offset = kv_offset, .workers = workers, .seed = 63};
      spec.want_weights = false;
      spec.own_workspace = true;
      check<TypeParam>(spec, {.d_a = 3});
      spec.n_q = 1;
      spec.h_q = 53;
      spec.n_kv = 1100;
      check<TypeParam>(spec, {.d_a = 2});
    }
  }
}

TYPED_TEST(Additive, HeadsShareKeys) {
  for (const int64_t group : {2, 3, 8, 17, 49}) {
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
                        .seed = 64},
                       {.d_a = 2});
    }
  }
}

/// Every option alone, in a call with odd sizes and one with more rows than a tile of the widest target.
TYPED_TEST(Additive, EachOptionAlone) {
  std::vector<Spec> options = each_option<TypeParam>();
  options.insert(options.end(), {{.blocks = Whole{1, 1, 1, 1}, .block_size = 16},
                                 {.blocks = Whole{0, 1, 1, 1}, .block_size = 64, .blocks_kept = 3},
                                 {.causal = true, .blocks = Whole{1, 0, 1, 1}, .block_size = 5},
                                 {.dropout = 0.4},
                                 {.v_of_k = true}});
  for (Spec spec : options) {
    spec.b = 2, spec.h_q = 4, spec.h_kv = 2, spec.n_q = 13, spec.n_kv = 131, spec.d_k = 3, spec.d_v = 5, spec.seed = 65;
    check<TypeParam>(spec, {.d_a = 5});
    spec.b = 1, spec.h_q = 2, spec.h_kv = 1, spec.n_q = 101, spec.n_kv = 83, spec.d_k = 2, spec.d_v = 9;
    check<TypeParam>(spec, {.d_a = 4, .b = false});
  }
}

TYPED_TEST(Additive, MaskAndBiasBroadcastInAllWays) {
  for (int axes = 0; axes < 16; ++axes) {
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 7, .n_kv = 70, .d_k = 3, .d_v = 3, .seed = 66};
    spec.mask = Whole{(axes & 8) != 0, (axes & 4) != 0, (axes & 2) != 0, (axes & 1) != 0};
    spec.bias = Whole{(axes & 1) != 0, (axes & 2) != 0, (axes & 4) == 0, (axes & 8) != 0};
    spec.bias_forbids = axes % 2 == 0;
    spec.causal = axes % 3 == 0;
    check<TypeParam>(spec, {.d_a = 3});
  }
}

TYPED_TEST(Additive, StridedViews) {
  Spec spec = {.b = 2, .h_q = 2, .h_kv = 2, .n_q = 19, .n_kv = 67, .d_k = 5, .d_v = 7, .causal = true, .seed = 67};
  spec.mask = spec.bias = Whole{1, 1, 1, 1};
  for (const Placement& way : kWaysToLie) {
    spec.q_in = spec.k_in = spec.v_in = spec.mask_in = spec.bias_in = spec.o_in = spec.lse_in = spec.weights_in = way;
    const NetworkSpec network = {.d_a = 4, .w_in = way, .vector_stride = way.reversed[2] ? -2 : 3};
    check<TypeParam>(spec, network);
    spec.b = spec.h_q = spec.h_kv = 1;
    check<TypeParam>(spec, network);
    spec.b = spec.h_q = spec.h_kv = 2;
  }
}

TYPED_TEST(Additive, InputsRepeatedByStrideZero) {
  for (int axis = 0; axis < 4; ++axis) {
    Placement way;
    way.repeated[axis] = true;
    const Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 9, .n_kv = 66, .d_k = 5, .d_v = 6, .seed = 68};
    check<TypeParam>(spec, {.d_a = 3, .w_in = way, .vector_stride = 0});
    for (Placement Spec::*array : {&Spec::q_in, &Spec::k_in, &Spec::v_in}) {
      Spec one = spec;
      one.*array = way;
      check<TypeParam>(one, {.d_a = 3});
    }
  }
}

TYPED_TEST(Additive, PackedSequences) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (const int ways : {1, 2, 3}) {
      Spec spec = {.b = 5, .h_q = 4, .h_kv = 2, .n_q = 11, .n_kv = 90, .d_k = 3, .d_v = 5, .seed = seed};
      spec.packed_queries = (ways & 1) != 0;
      spec.packed_keys = (ways & 2) != 0;
      spec.causal = seed % 2 == 0;
      spec.sinks = seed % 3 == 0;
      spec.q_lengths = spec.kv_lengths = seed % 4 == 3;
      if (seed == 4) spec.window_left = 9;
      if (seed == 5) spec.tree_tokens = 7;
      spec.own_workspace = seed % 2 == 1;
      check<TypeParam>(spec, {.d_a = 3});
    }
  }
}

/// NaN and Inf scattered over q, k and v, among masks, windows and lengths: each row gets just those it sees.
TYPED_TEST(Additive, NonFiniteInputsReachJustTheRowsThatSeeThem) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Spec spec = {
        .b = 2, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 90, .d_k = 3, .d_v = 4, .non_finite = 12, .seed = seed};
    spec.causal = seed % 2 == 0;
    spec.q_lengths = spec.kv_lengths = seed % 3 == 0;
    if (seed % 3 == 1) spec.mask = Whole{1, 1, 1, 1};
    if (seed % 4 == 1) spec.bias = Whole{1, 1, 1, 1}, spec.bias_forbids = true;
    if (seed % 4 == 3) spec.window_left = 8, spec.window_right = 8;
    if (seed % 5 == 4) spec.k_in.order = spec.v_in.order = {0, 1, 3, 2};
    check<TypeParam>(spec, {.d_a = 1 + static_cast<int64_t>(seed % 6), .non_finite = seed % 8 == 7 ? 1 : 0});
  }
}

/// Types of q, k and v, and of the parameters beside them.
TEST(AdditiveTypes, EachBesideEachOther) {
  const DType narrow[] = {DType::f32, DType::f16, DType::bf16};
  const DType parameters[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
  int64_t turn = 0;
  for (const DType q : narrow) {
    for (const DType k : narrow) {
      for (const DType v : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
        ++turn;
        const Family family = {q, k, v};
        check<float>(family.of({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 5, .n_kv = 70, .d_k = 5, .d_v = 19, .seed = 69}),
                     {.d_a = 1 + turn % 7, .type = parameters[turn % 4]});
        check<float>(family.of({.h_q = 2, .n_q = 53, .n_kv = 67, .d_k = 4, .d_v = 8, .causal = true, .seed = 70}),
                     {.d_a = 2, .type = parameters[turn / 4 % 4]});
        check<float>(family.of({.h_q = 2, .n_q = 1, .n_kv = 67, .d_k = 32, .d_v = 64, .causal = true, .seed = 71}),
                     {.d_a = 6, .type = parameters[turn / 4 % 4]});
      }
    }
  }
}

TEST(AdditiveTypes, ParametersOfEachTypeBesideFloat64) {
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    check<double>({.n_q = 5, .n_kv = 9, .d_k = 4, .d_v = 3, .seed = 72}, {.d_a = 5, .type = type});
  }
}

// --- Large arguments ---

/// d_k = d_a and identities for W_q and W_k, so that u is q and t is k.
template <class T>
AdditiveCase<T> with_arguments(const std::vector<double>& u, const std::vector<double>& t, int64_t d_a, double w) {
  const int64_t n_q = static_cast<int64_t>(u.size()) / d_a, n_kv = static_cast<int64_t>(t.size()) / d_a;
  AdditiveCase<T> c({.n_q = n_q, .n_kv = n_kv, .d_k = d_a, .d_v = 3, .seed = 73}, {.d_a = d_a, .b = false});
  auto& p = c.forward.problem;
  for (int64_t a = 0; a < d_a; ++a) {
    for (int64_t i = 0; i < n_q; ++i) {
      c.forward.q.set(0, 0, i, a, u[i * d_a + a]);
      p.q[i * d_a + a] = c.forward.q.at(0, 0, i, a);
    }
    for (int64_t j = 0; j < n_kv; ++j) {
      c.forward.k.set(0, 0, j, a, t[j * d_a + a]);
      p.k[j * d_a + a] = c.forward.k.at(0, 0, j, a);
    }
    for (int64_t d = 0; d < d_a; ++d) {
      c.arrays.w_q.set(0, 0, a, d, a == d);
      c.arrays.w_k.set(0, 0, a, d, a == d);
    }
    c.arrays.w.set(0, 0, 0, a, w * (a % 3 == 1 ? -0.7 : 1));
  }
  p.network = c.arrays.network();
  return c;
}

/// Sums of u and t near 0 though both are large, around where the way that they are taken to tanh changes.
TYPED_TEST(Additive, LargeArgumentsOfOppositeSigns) {
  for (const int64_t d_a : {1, 3, 4, 5, 8, 17}) {
    for (const double size :
         {10.0, 39.0, 40.0, 40.5, 43.0, 44.0, 45.0, 87.0, 88.0, 100.0, 200.0, 299.5, 301.0, 353.0, 356.0, 720.0}) {
      std::vector<double> u, t;
      for (int64_t i = 0; i < 5 * d_a; ++i) u.push_back((i % 2 == 0 ? size : -size) + 0.3 * static_cast<double>(i % 7));
      for (int64_t j = 0; j < 9 * d_a; ++j) t.push_back((j % 3 == 0 ? size : -size) - 0.2 * static_cast<double>(j % 5));
      AdditiveCase<TypeParam> call = with_arguments<TypeParam>(u, t, d_a, 2);
      check(call, {.d_a = d_a, .arguments = size});
      // One feature alone is large.
      for (size_t x = 0; x < u.size(); ++x) u[x] /= static_cast<int64_t>(x) % d_a == d_a / 2 ? 1 : size;
      for (size_t x = 0; x < t.size(); ++x) t[x] /= static_cast<int64_t>(x) % d_a == d_a / 2 ? 1 : size;
      AdditiveCase<TypeParam> one = with_arguments<TypeParam>(u, t, d_a, 2);
      check(one, {.d_a = d_a, .arguments = -size});
    }
  }
}

/// Infinite arguments: tanh is 1 or -1, of a sum of both signs NaN.
TYPED_TEST(Additive, InfiniteArguments) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const int64_t d_a : {1, 4, 5}) {
    std::vector<double> u(static_cast<size_t>(3 * d_a), 0.5), t(static_cast<size_t>(4 * d_a), -0.25);
    AdditiveCase<TypeParam> call = with_arguments<TypeParam>(u, t, d_a, 1);
    Stored& b = call.arrays.b;
    b = Stored(dtype_of<TypeParam>(), d_a, 1);
    b.fill([] { return 0.0; });
    for (const double x : {inf, -inf, static_cast<double>(std::numeric_limits<TypeParam>::max())}) {
      b.set(0, 0, 0, d_a - 1, x);
      call.forward.problem.network = call.arrays.network();
      const Expected<TypeParam> expected(call.forward);
      EXPECT_TRUE(std::isfinite(expected.exact.lse[0]));
      check(call, {.d_a = d_a, .arguments = x});
    }
  }
}

/// w near the largest and the smallest numbers.
TYPED_TEST(Additive, ExtremeParameters) {
  const double largest = std::numeric_limits<TypeParam>::max(), least = std::numeric_limits<TypeParam>::min();
  const std::vector<double> u = {0.5, -0.3, 1, 2, -1, 0, 0.1, 0.2, -0.4, 3, 1, -2, 0.7, 0.6, -0.1};
  for (const double w : {least, 1000 * least, 1e-10, 1e10, largest / 64}) {
    AdditiveCase<TypeParam> call = with_arguments<TypeParam>(u, u, 5, w);
    call.forward.options.scale = w < 1 ? 1.0 : 1 / w;
    call.forward.problem.scale = static_cast<Judge<TypeParam>>(*call.forward.options.scale);
    check(call, {.d_a = 5, .sums = w});
  }
}

TYPED_TEST(Additive, RandomCalls) {
  const int64_t seed = from_environment("FOVEATE_TEST_SEED", 1), cases = from_environment("FOVEATE_TEST_CASES", 300);
  for (int64_t i = 0; i < cases && !this->HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "FOVEATE_TEST_SEED=" << seed + i << " FOVEATE_TEST_CASES=1");
    Choices choices(static_cast<uint64_t>(seed + i));
    const Spec spec = random_spec(
        choices, {.queries = 60, .keys = (seed + i) % 16 == 1 ? 2100 : 300, .head_dim = 40, .multiply_adds = 60'000});
    check<TypeParam>(spec, random_network(choices, spec, 600'000));
  }
}

}  // namespace
}  // namespace foveate::trial
