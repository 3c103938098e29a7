// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Narrow types, scales, packed sequences, pages and trees against the oracle, under the bounds of docs/numerics.md, on every
// target of this machine. kernel_test draws them at random, with all else; here they are taken one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "foveate/attention.h"
#include "tests/attention_case.h"
#include "tests/each_target.h"
#include "tests/edges.h"
#include "tests/error_bound.h"
#include "tests/native_products.h"
#include "tests/spec.h"

namespace foveate::trial {
namespace {

/// One call on every target, judged.
void check(const Spec& spec) {
  if (testing::Test::HasFailure()) return;  // one report is enough
  Case<float> call(spec);
  const Expected<float> expected(call);
  on_each_target([&] {
    SCOPED_TRACE(testing::Message() << spec);
    const Status status = call.attend();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(judge(call, expected), "");
  });
}

TEST(Storage, EachTypeBesideEachOther) {
  for (const DType q : {DType::f32, DType::f16, DType::bf16}) {
    for (const DType k : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
      for (const DType v : {DType::f32, DType::f16, DType::bf16, DType::i8}) {
        check(Family{q, k, v}.of({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 5, .n_kv = 70, .d_k = 9, .d_v = 19, .seed = 20}));
        check(Family{q, k, v}.of({.h_q = 2, .n_q = 53, .n_kv = 131, .d_k = 32, .d_v = 64, .causal = true, .seed = 21}));
      }
    }
  }
}

TEST(Storage, HeadDims) {
  for (const Family& family : kFamilies) {
    for (const int64_t d_k : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 127, 128, 129, 256}) {
      for (const int64_t n_q : {1, 4, 5, 50}) {
        check(family.of({.n_q = n_q, .n_kv = 67, .d_k = d_k, .d_v = (d_k * 7) % 130, .seed = 22}));
      }
    }
  }
}

TEST(Storage, KeysAndQueriesAtTheEdges) {
  for (const Family& family : kFamilies) {
    int64_t turn = 0;
    for (const int64_t n_kv : {1, 2, 3, 4, 15, 16, 17, 63, 64, 65, 127, 129, 1023, 1025, 2049}) {
      for (const int64_t n_q : {1, 2, 3, 4, 5, 15, 16, 17, 47, 49}) {
        ++turn;
        if (n_kv > 1000 && turn % 4 != 0) continue;
        check(family.of({.h_q = 1 + turn % 3,
                         .n_q = n_q,
                         .n_kv = n_kv,
                         .d_k = 1 + turn % 40,
                         .d_v = turn * 3 % 40,
                         .causal = turn % 2 == 0,
                         .seed = 23}));
      }
    }
  }
}

/// Splits shared out among workers, in a workspace that was planned for the type of q.
TEST(Storage, LongRowsFromACache) {
  for (const Family& family : kFamilies) {
    for (const int64_t group : {1, 4, 8, 17}) {
      Spec spec = family.of({.h_q = group, .n_kv = 2200, .d_k = 40, .d_v = 33, .workers = 5, .seed = 24});
      spec.want_weights = group == 4;
      spec.own_workspace = true;
      check(spec);
      spec.page_size = 16;
      spec.b = 2;
      check(spec);
    }
  }
}

TEST(Storage, ScalesBroadcastInAllWays) {
  for (int axes = 0; axes < 16; ++axes) {
    Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 6, .n_kv = 70, .d_k = 17, .d_v = 6, .seed = 25};
    spec.k_type = spec.v_type = DType::i8;
    spec.k_scales = {(axes & 8) != 0, (axes & 4) != 0, (axes & 2) != 0, (axes & 1) != 0};
    spec.v_scales = {(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0, false};
    for (const DType q : {DType::f32, DType::bf16}) {
      spec.q_type = q;
      check(spec);
      Spec strided = spec;
      strided.scales_in = {.order = {3, 1, 0, 2}, .gap = {1, 2, 1, 3}, .reversed = {false, true, false, true}};
      strided.page_size = 7;
      check(strided);
      strided.page_size = 0;
      strided.packed_keys = true;
      check(strided);
    }
  }
}

TEST(Storage, EachOptionBesideEachFamily) {
  const Spec options[] = {
      {.scale = -2.0},
      {.causal = true, .align = Align::top_left},
      {.window_left = 9, .window_right = 4},
      {.mask = Whole{1, 1, 1, 1}},
      {.bias = Whole{1, 1, 1, 1}, .bias_forbids = true, .bias_type = DType::f16},
      {.bias = Whole{0, 1, 0, 1}, .bias_huge = true, .bias_type = DType::bf16},
      {.bias = Whole{1, 1, 1, 1}, .bias_huge = true, .bias_type = DType::f64},
      {.softcap = 2},
      {.alibi = true, .vector_type = DType::f16, .vector_stride = -1},
      {.sinks = true, .vector_type = DType::bf16, .vector_stride = 3},
      {.q_lengths = true, .kv_lengths = true, .int32 = true},
      {.dropout = 0.4},
      {.causal = true, .q_offset = 1040, .kv_offset = 1000},
      {.v_of_k = true},
      {.non_finite = 5},
      {.magnitude = 30},
  };
  for (const Family& family : kFamilies) {
    for (Spec spec : options) {
      spec.b = 2, spec.h_q = 4, spec.h_kv = 2, spec.n_q = 13, spec.n_kv = 131, spec.d_k = 9, spec.d_v = 5;
      spec.seed = 26;
      check(family.of(spec));
      spec.n_q = 1, spec.d_k = 64, spec.d_v = 40;
      check(family.of(spec));
    }
  }
}

TEST(Storage, StridedViews) {
  const Placement ways[] = {
      {.order = {0, 2, 1, 3}},                       // bnhd
      {.order = {0, 1, 3, 2}},                       // transposed: the last axis is not adjacent
      {.order = {3, 2, 1, 0}, .gap = {3, 1, 1, 1}},  // Fortran order, sliced
      {.gap = {1, 1, 1, 2}},                         // every other component
      {.reversed = {true, true, true, true}},
      {.guard = 1},  // misaligned by one element
  };
  for (const Family& family : kFamilies) {
    Spec spec = family.of({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 19, .n_kv = 67, .d_k = 9, .d_v = 17, .seed = 27});
    for (const Placement& way : ways) {
      spec.q_in = spec.k_in = spec.v_in = spec.o_in = spec.lse_in = spec.weights_in = spec.scales_in = way;
      for (const int64_t n_q : {1, 19}) {
        spec.n_q = n_q;
        check(spec);
      }
    }
  }
}

// --- How sequences lie ---

TEST(Storage, NativeProductsCanBeDoneWithout) {
  const ActiveTarget restore;
  for (const Family& family :
       {Family{DType::bf16, DType::bf16, DType::bf16}, Family{DType::f32, DType::i8, DType::i8}}) {
    for (const int64_t n_q : {1, 60}) {
      Case<float> call(
          family.of({.h_q = 2, .n_q = n_q, .n_kv = 150, .d_k = 24, .d_v = 17, .causal = true, .seed = 31}));
      call.options.native_products = false;
      std::vector<unsigned char> with_native;
      for (int64_t i = 0; i < target_count(); ++i) {
        ASSERT_TRUE(pin_target(target_name(i)).ok());
        const bool native = native_int8();
        ASSERT_TRUE(call.attend().ok());
        const Tensor o = call.outputs().o;
        const auto* const bytes = static_cast<const unsigned char*>(o.data);
        const std::vector<unsigned char> bits(bytes, bytes + 2 * n_q * 17 * size_of(o.dtype));
        // Targets with native products are listed before the one they extend.
        if (!with_native.empty()) {
          EXPECT_EQ(bits, with_native) << target_name(i);
        }
        with_native = native ? bits : std::vector<unsigned char>();
      }
    }
  }
}

/// Pairs of bfloat16 begin at any address that a BFloat16 may have.
TEST(Storage, HalvesOfADwordMayComeFirst) {
  for (const Family& family :
       {Family{DType::bf16, DType::bf16, DType::bf16}, Family{DType::f32, DType::bf16, DType::bf16}}) {
    for (const int64_t guard : {0, 1, 2, 3}) {
      for (const int64_t n_q : {1, 20}) {
        Spec spec = family.of({.n_q = n_q, .n_kv = 70, .d_k = n_q == 1 ? 2 : 24, .d_v = 5, .seed = 32});
        spec.k_in.guard = spec.v_in.guard = guard;
        check(spec);
      }
    }
  }
}

/// Integer sums times factors that meet at the ends of float32's range: as exact as in float32 throughout.
TEST(Storage, ScalesOfInt8FarFromOne) {
  struct Factors {
    float q, k_scale;
    double scale;
  };
  constexpr int64_t kDim = 64;
  for (const Factors& f : {Factors{1e30f, 1, 1e20},
                           {1e-3f, 1e-35f, 1e38},
                           {1e5f, 1e-40f, 1e35},
                           {1e-44f, 1e30f, 1e10},
                           {1e-42f, 1e20f, 1e18},
                           {1, 1e-30f, 1e25},
                           {0, 1e30f, 1e38},
                           {1, 0, 1e38}}) {
    for (const int64_t n_q : {1, 40}) {
      const std::vector<float> q(static_cast<size_t>(n_q * kDim), f.q), v = {1, 2};
      std::vector<int8_t> k(2 * kDim, 127);
      std::fill(k.begin() + kDim, k.end(), int8_t{126});
      if (f.q == 1e30f) std::fill(k.begin(), k.end(), int8_t{0});
      std::vector<float> o(static_cast<size_t>(n_q)), lse(o), exact(o), exact_lse(o);
      const auto attend = [&](bool native, std::vector<float>& to, std::vector<float>& to_lse) {
        AttentionOptions options{.scale = f.scale};
        options.k_scales = view(&f.k_scale, 1, 1, 1, 1);
        options.native_products = native;
        const Status status = attention(
            view(q.data(), 1, 1, n_q, kDim), view<const int8_t>(k.data(), 1, 1, 2, kDim), view(v.data(), 1, 1, 2, 1),
            {.o = view(to.data(), 1, 1, n_q, 1), .lse = view(to_lse.data(), 1, 1, n_q, 1)}, options);
        ASSERT_TRUE(status.ok()) << status.message();
      };
      on_each_target([&] {
        attend(true, o, lse);
        attend(false, exact, exact_lse);
        for (int64_t i = 0; i < n_q; ++i) {
          EXPECT_NEAR(o[i], exact[i], 1e-2) << f.q << ' ' << f.k_scale << ' ' << f.scale;
          EXPECT_NEAR(lse[i], exact_lse[i], 1e-2 * (1 + std::abs(exact_lse[i]))) << f.q << ' ' << f.k_scale;
        }
      });
    }
  }
}

TEST(Storage, PackedSequences) {
  for (const Family& family : {Family{DType::f32, DType::f32, DType::f32}, kFamilies[1], kFamilies[4]}) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      for (const int ways : {1, 2, 3}) {
        Spec spec = family.of({.b = 5, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 140, .d_k = 7, .d_v = 9, .seed = seed});
        spec.packed_queries = (ways & 1) != 0;
        spec.packed_keys = (ways & 2) != 0;
        spec.causal = seed % 2 == 0;
        spec.sinks = seed % 3 == 0;
        spec.alibi = seed % 3 == 1;
        spec.q_lengths = spec.kv_lengths = seed % 4 == 3;
        if (seed % 3 == 2) spec.mask = spec.bias = Whole{1, 1, 1, 1};
        if (seed == 4) spec.window_left = 9;
        check(spec);
        spec.q_in = spec.k_in = spec.v_in = spec.o_in = spec.lse_in = {.order = {0, 2, 1, 3}, .guard = 3};
        spec.vector_stride = 2;
        check(spec);
      }
    }
  }
}

TEST(Storage, Pages) {
  for (const Family& family : {Family{DType::f32, DType::f32, DType::f32}, kFamilies[1], kFamilies[3], kFamilies[4]}) {
    for (const int64_t page_size : {1, 2, 3, 16, 17, 63, 64, 65, 100}) {
      for (const int64_t n_q : {1, 3, 20}) {
        Spec spec = family.of({.b = 3, .h_q = 4, .h_kv = 2, .n_q = n_q, .n_kv = 150, .d_k = 10, .d_v = 7, .seed = 29});
        spec.page_size = page_size;
        spec.causal = page_size % 2 == 0;
        spec.packed_queries = n_q == 3;
        spec.int32 = n_q == 1;
        check(spec);
        spec.k_in = spec.v_in = {.order = {0, 2, 1, 3}};  // [pages, page_size, h, d]
        spec.table_in = {.order = {0, 1, 3, 2}, .gap = {1, 1, 1, 2}};
        spec.v_of_k = true;
        check(spec);
      }
    }
  }
}

TEST(Storage, Trees) {
  for (const Family& family : {Family{DType::f32, DType::f32, DType::f32}, kFamilies[1], kFamilies[4]}) {
    for (const int64_t tokens : {1, 7, 63, 64, 65, 130}) {
      for (const Whole& whole : {Whole{1, 1, 1, 1}, Whole{0, 0, 1, 1}, Whole{1, 0, 0, 1}, Whole{0, 0, 0, 1}}) {
        Spec spec = family.of({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 7, .n_kv = 200, .d_k = 6, .d_v = 5, .seed = 30});
        spec.tree_tokens = tokens;
        spec.tree = whole;
        spec.kv_lengths = tokens % 2 == 0;
        spec.page_size = tokens == 7 ? 16 : 0;
        check(spec);
        spec.causal = true;
        spec.mask = Whole{1, 1, 1, 1};
        spec.packed_queries = spec.packed_keys = true;
        spec.tree_in = {.order = {0, 2, 3, 1}, .reversed = {false, false, true, true}};
        check(spec);
      }
    }
  }
}

TEST(Storage, NothingThere) {
  for (const Family& family : {Family{DType::f32, DType::f32, DType::f32}, kFamilies[1], kFamilies[4]}) {
    for (const int64_t page_size : {0, 16}) {
      for (const bool packed : {false, true}) {
        Spec spec = family.of({.b = 2, .h_q = 2, .n_q = 3, .n_kv = 0, .seed = 31});
        spec.page_size = page_size;
        spec.packed_queries = spec.packed_keys = packed;
        check(spec);
        spec.n_q = 0, spec.n_kv = 5;
        check(spec);
        spec.b = 0, spec.n_q = 4;
        check(spec);
      }
    }
  }
}

}  // namespace
}  // namespace foveate::trial
