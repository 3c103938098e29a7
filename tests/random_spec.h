// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Specs at random: from a seed, or from the bytes of a fuzzer.
#ifndef FOVEATE_TESTS_RANDOM_SPEC_H_
#define FOVEATE_TESTS_RANDOM_SPEC_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>

#include "tests/spec.h"

namespace foveate::trial {

/// A sequence of small choices. Of bytes that are used up, every further one is 0, the plainest.
class Choices {
 public:
  explicit Choices(uint64_t seed) : random_(seed), is_random_(true) {}
  Choices(const uint8_t* bytes, size_t n) : bytes_(bytes), n_(n) {}

  /// In [0, n).
  int64_t below(int64_t n) {
    if (is_random_) return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
    uint64_t x = 0;
    for (uint64_t reach = 1; reach < static_cast<uint64_t>(n) && n_ > 0; reach <<= 8, --n_) x = x << 8 | *bytes_++;
    return static_cast<int64_t>(x % static_cast<uint64_t>(n));
  }

  bool one_in(int64_t n) { return below(n) == n - 1; }

  template <class X>
  X one_of(std::initializer_list<X> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }

 private:
  std::mt19937_64 random_;
  bool is_random_ = false;
  const uint8_t* bytes_ = nullptr;
  size_t n_ = 0;
};

/// How large a random call may become.
struct Limits {
  int64_t queries = 60, keys = 300, head_dim = 40;
  int64_t multiply_adds = 4'000'000;  ///< of the scores
};

inline Placement random_placement(Choices& c, bool input) {
  Placement p;
  if (!c.one_in(2)) return p;
  for (int axis = 0; axis < 4; ++axis) {
    if (c.one_in(3)) std::swap(p.order[axis], p.order[c.below(4)]);
    if (c.one_in(6)) p.gap[axis] = 2 + c.below(2);
    p.reversed[axis] = c.one_in(8);
    p.repeated[axis] = input && c.one_in(16);
  }
  p.guard = c.one_of<int64_t>({4, 0, 1, 7});
  p.stride_of_one = c.one_of<int64_t>({0, 1, -3, int64_t{1} << 62});
  return p;
}

inline Whole random_whole(Choices& c) { return {!c.one_in(3), !c.one_in(3), !c.one_in(3), !c.one_in(3)}; }

inline int64_t random_extent(Choices& c, int64_t most, std::initializer_list<int64_t> edges) {
  const int64_t n = c.one_in(2) ? c.one_of(edges) : c.below(most + 1);
  return std::min(n, most);
}

inline void choose_sizes(Choices& c, const Limits& limits, Spec& s) {
  s.b = c.one_of<int64_t>({1, 1, 1, 2, 3, 0});
  s.h_kv = 1 + c.below(3);
  s.h_q = s.h_kv * c.one_of<int64_t>({1, 1, 2, 3, 5, 8, 17, 0});
  s.n_q = random_extent(c, limits.queries, {1, 2, 3, 4, 7, 8, 9, 12, 13, 15, 16, 17, 23, 24, 25, 47, 48, 49});
  s.n_kv = random_extent(c, limits.keys, {1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2049});
  s.d_k = std::max<int64_t>(1, random_extent(c, limits.head_dim, {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64, 65, 80}));
  s.d_v = random_extent(c, limits.head_dim, {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64, 65, 80});
  const auto shrink = [&](int64_t& extent) {
    const int64_t rest =
        std::max<int64_t>(1, s.b * s.h_q * s.n_q * s.n_kv * (s.d_k + s.d_v) / std::max<int64_t>(1, extent));
    extent = std::min(extent, std::max<int64_t>(1, limits.multiply_adds / rest));
  };
  shrink(s.n_q);
  shrink(s.n_kv);
}

inline void choose_options(Choices& c, Spec& s) {
  if (c.one_in(3)) s.scale = c.one_of({1.0, 0.0, -0.5, 0.37, 3.0, 1e-20});
  s.causal = c.one_in(3);
  s.align = c.one_in(3) ? Align::top_left : Align::bottom_right;
  if (c.one_in(4)) s.window_left = c.one_of<int64_t>({0, 1, 5, 64, 1000, INT64_MAX});
  if (c.one_in(4)) s.window_right = c.one_of<int64_t>({0, 1, 5, 64, 1000, INT64_MAX});
  if (c.one_in(3)) s.mask = random_whole(c);
  if (c.one_in(3)) s.bias = random_whole(c);
  s.bias_forbids = c.one_in(3);
  s.bias_huge = c.one_in(6);
  if (c.one_in(4)) s.softcap = c.one_of({0.5, 2.0, 30.0, 1024.0});
  if (c.one_in(4)) s.dropout = c.one_of({0.1, 0.5, 0.9, 1e-9});
  s.alibi = c.one_in(4);
  s.sinks = c.one_in(4);
  s.q_lengths = c.one_in(4);
  s.kv_lengths = c.one_in(4);
  if (c.one_in(5)) s.q_offset = c.one_of<int64_t>({0, 1, 10, 64, 100, -7});
  if (c.one_in(5)) s.kv_offset = c.one_of<int64_t>({0, 1, 63, 64, 1000, 1023, -1, -100});
  if (s.q_offset && s.kv_offset && c.one_in(3)) {
    const int64_t far = c.one_of<int64_t>({5000, 123456789, -7777777});
    *s.q_offset += far;
    *s.kv_offset += far;
  }
}

inline DType random_float(Choices& c) { return c.one_of({DType::f32, DType::f16, DType::bf16, DType::f64}); }

/// Types, among those that go together, and scales.
inline void choose_storage(Choices& c, Spec& s) {
  if (c.one_in(3)) s.bias_type = random_float(c);
  if (c.one_in(3)) s.vector_type = random_float(c);
  s.int32 = c.one_in(3);
  s.vector_stride = c.one_of<int64_t>({1, 1, 2, 3, -1});
  s.v_of_k = c.one_in(10);
  if (c.one_in(3)) return;
  const auto narrow = [&c] { return c.one_of({DType::f16, DType::bf16, DType::f32}); };
  const DType one = narrow();
  s.q_type = c.one_in(4) ? narrow() : one;
  const auto cached = [&] { return c.one_in(3) ? DType::i8 : c.one_in(4) ? narrow() : one; };
  s.k_type = cached();
  s.v_type = cached();
  if (c.one_in(2)) s.k_scales = random_whole(c);
  if (c.one_in(2)) s.v_scales = random_whole(c);
}

/// How sequences lie: two calls in three are padded.
inline void choose_sequences(Choices& c, Spec& s) {
  if (c.one_in(3)) {
    s.packed_queries = c.one_in(2);
    s.packed_keys = c.one_in(2);
    if (c.one_in(2)) s.page_size = c.one_of<int64_t>({1, 2, 3, 16, 17, 64, 100});
  }
  if (c.one_in(5)) s.tree_tokens = c.one_of<int64_t>({1, 2, 5, 63, 64, 65, 100, 130});
  if (s.tree_tokens > 0) s.tree = random_whole(c);
}

inline void choose_blocks(Choices& c, Spec& s) {
  if (!c.one_in(4)) return;
  s.blocks = random_whole(c);
  s.block_size = c.one_of<int64_t>({1, 3, 16, 17, 32, 48, 64, 65, 100, 128, 1000, int64_t{1} << 60});
  s.blocks_kept = c.one_of<int64_t>({2, 1, 10});
  s.blocks_in = random_placement(c, true);
}

inline Spec random_spec(Choices& c, const Limits& limits) {
  Spec s;
  choose_sizes(c, limits, s);
  choose_options(c, s);
  choose_storage(c, s);
  choose_sequences(c, s);
  s.q_in = random_placement(c, true);
  s.k_in = random_placement(c, true);
  s.v_in = random_placement(c, true);
  s.mask_in = random_placement(c, true);
  s.bias_in = random_placement(c, true);
  s.o_in = random_placement(c, false);
  s.lse_in = random_placement(c, false);
  s.weights_in = random_placement(c, false);
  s.scales_in = random_placement(c, true);
  s.table_in = random_placement(c, false);
  s.tree_in = random_placement(c, true);
  s.magnitude = c.one_of({1.0, 1.0, 0.1, 5.0, 30.0});
  s.non_finite = c.one_in(4) ? 1 + c.below(4) : 0;
  s.poison = !c.one_in(4);
  s.want_o = !c.one_in(8);
  s.want_weights = c.one_in(2);
  s.want_lse = !c.one_in(8) || (!s.want_o && !s.want_weights);
  s.workers = c.one_of<int64_t>({0, 0, 1, 2, 7});
  s.own_workspace = c.one_in(3);
  s.seed = static_cast<uint64_t>(c.below(1 << 30));
  choose_blocks(c, s);
  return s;
}

inline GradientSpec random_gradients(Choices& c) {
  GradientSpec g;
  for (bool* wanted : {&g.want_dq, &g.want_dk, &g.want_dv, &g.want_dbias, &g.want_dsinks}) *wanted = !c.one_in(6);
  for (DType* dtype : {&g.dq_type, &g.dk_type, &g.dv_type, &g.dbias_type}) {
    if (c.one_in(3)) *dtype = c.one_of({DType::f32, DType::f16, DType::bf16});
  }
  g.d_o_in = random_placement(c, true);
  for (Placement* in : {&g.dq_in, &g.dk_in, &g.dv_in, &g.dbias_in}) *in = random_placement(c, false);
  g.magnitude = c.one_of({1.0, 1.0, 1.0, 30.0, 1e-3, 1e-30});
  g.non_finite = c.one_in(8) ? 1 + c.below(3) : 0;
  return g;
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_RANDOM_SPEC_H_
