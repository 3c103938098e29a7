// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One row, one result, wherever it lies: padded, packed, in pages, under a tree or the mask that it is, its values an array
// of their own or columns of the keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "tests/call.h"
#include "tests/each_target.h"
#include "tests/stored_problem.h"

namespace foveate {
namespace {

using trial::on_each_target;

template <class F>
class BitsOfSequences : public testing::Test {
 public:
  /// Calls body on each target with a problem of these sizes and each set of features.
  template <class Body>
  static void on_each_problem(const AttentionShape& sizes, const Body& body) {
    for (const Features& features : kFeatures) {
      SCOPED_TRACE(features.name);
      const StoredProblem<F> problem(sizes, features);
      on_each_target([&] { body(problem); });
      if (testing::Test::HasFailure()) return;
    }
  }
};
TYPED_TEST_SUITE(BitsOfSequences, AllFamilies);

// --- Pages ---

/// Rows of b sequences, [b, heads, n, depth], dealt out to shuffled pages, whose other rows hold `filler`. Three pages are
/// nobody's.
template <class E>
std::vector<E> in_pages(const std::vector<E>& rows, int64_t b, int64_t heads, int64_t n, int64_t page_size,
                        const std::vector<int32_t>& table, E filler) {
  const int64_t per_sequence = (n + page_size - 1) / page_size, pages = b * per_sequence + 3;
  const int64_t depth = static_cast<int64_t>(rows.size()) / (b * heads * n);
  std::vector<E> paged(static_cast<size_t>(pages * heads * page_size * depth), filler);
  for (int64_t s = 0; s < b; ++s)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t j = 0; j < n; ++j) {
        const int64_t page = table[s * per_sequence + j / page_size];
        std::copy_n(rows.begin() + ((s * heads + h) * n + j) * depth, depth,
                    paged.begin() + ((page * heads + h) * page_size + j % page_size) * depth);
      }
  return paged;
}

/// A problem's keys and values in pages, and the call that says so.
template <class F>
struct Paged {
  Paged(const StoredProblem<F>& problem, int64_t page_size) : call(problem.call) {
    const int64_t b = call.k.shape[0], heads = call.k.shape[1], n = call.k.shape[2];
    const int64_t per_sequence = (n + page_size - 1) / page_size;
    table.resize(static_cast<size_t>(b * per_sequence + 3));
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(9));
    lengths.assign(static_cast<size_t>(b), n);
    const auto deal = [&](const auto& rows, const ConstTensor& of, auto& to, ConstTensor& view_of_it) {
      using E = std::remove_cvref_t<decltype(rows[0])>;
      const double nan = std::numeric_limits<double>::quiet_NaN();
      to = in_pages(rows, b, heads, n, page_size, table, trial::element_of<E>(std::is_same_v<E, int8_t> ? 127 : nan));
      view_of_it = view<const E>(to.data(), b * per_sequence + 3, heads, page_size, of.shape[3]);
    };
    deal(problem.k, call.k, k, call.k);
    deal(problem.v, call.v, v, call.v);
    AttentionOptions& o = call.options;
    if (o.k_scales.present() && !F::kChannels) deal(problem.k_scales, o.k_scales, k_scales, o.k_scales);
    if (o.v_scales.present()) deal(problem.v_scales, o.v_scales, v_scales, o.v_scales);
    o.block_table = view<const int32_t>(table.data(), b, per_sequence);
    o.kv_lengths = view<const int64_t>(lengths.data(), b);
    // Pairs past the last key are not there, but their places are.
    if (o.mask.present()) widen(o.mask, mask, per_sequence * page_size);
    if (o.bias.present()) widen(o.bias, bias, per_sequence * page_size);
  }

  template <class E>
  static void widen(ConstTensor& pairs, std::vector<E>& to, int64_t n_kv) {
    const int64_t rows = pairs.shape[0] * pairs.shape[1] * pairs.shape[2], n = pairs.shape[3];
    to.resize(static_cast<size_t>(rows * n_kv));
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(static_cast<const E*>(pairs.data) + row * n, n, to.begin() + row * n_kv);
    }
    const DType dtype = pairs.dtype;
    pairs = view<const E>(to.data(), pairs.shape[0], pairs.shape[1], pairs.shape[2], n_kv);
    pairs.dtype = dtype;
  }

  Call call;
  std::vector<int32_t> table;
  std::vector<int64_t> lengths;
  std::vector<typename F::K> k;
  std::vector<typename F::V> v;
  std::vector<float> k_scales, v_scales;
  std::vector<int8_t> mask;
  std::vector<typename F::Q> bias;
};

TYPED_TEST(BitsOfSequences, PagedIsContiguous) {
  using Q = typename TypeParam::Q;
  const auto several = executors(3);
  for (const AttentionShape& sizes :
       {AttentionShape{.b = 2, .h_q = 4, .h_kv = 2, .n_q = 20, .n_kv = 150, .d_k = 17, .d_v = 6},
        AttentionShape{.b = 2, .h_q = 2, .h_kv = 2, .n_q = 1, .n_kv = 1100, .d_k = 16, .d_v = 9}}) {
    this->on_each_problem(sizes, [&](const StoredProblem<TypeParam>& problem) {
      const Result<Q> contiguous = attend<Q>(problem.call);
      for (const int64_t page_size : {1, 16, 64, 100}) {
        SCOPED_TRACE(page_size);
        const Paged<TypeParam> paged(problem, page_size);
        expect_same_bits(contiguous, attend<Q>(paged.call));
        for (const auto& executor : several) {
          expect_same_bits(contiguous, attend<Q>(paged.call, {.executor = executor.get()}));
        }
      }
    });
  }
}

// --- Packed sequences ---

/// The rows that are there of b sequences, [b, heads, n, depth], one sequence behind the other: [1, heads, total, depth].
template <class E>
std::vector<E> packed_rows(const std::vector<E>& rows, int64_t heads, int64_t n, const std::vector<int64_t>& lengths) {
  const auto b = static_cast<int64_t>(lengths.size());
  const int64_t depth = static_cast<int64_t>(rows.size()) / (b * heads * n);
  std::vector<E> packed;
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t s = 0; s < b; ++s) {
      const auto first = rows.begin() + (s * heads + h) * n * depth;
      packed.insert(packed.end(), first, first + lengths[s] * depth);
    }
  }
  return packed;
}

std::vector<int64_t> starts_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> starts = {0};
  for (const int64_t n : lengths) starts.push_back(starts.back() + n);
  return starts;
}

TYPED_TEST(BitsOfSequences, PackedIsPaddedIsAlone) {
  using Q = typename TypeParam::Q;
  using K = typename TypeParam::K;
  using V = typename TypeParam::V;
  // One has as many rows, and one as many keys, as the padded arrays, so that one mask and one bias do for both.
  const std::vector<int64_t> q_lengths = {7, 37, 0, 1, 20}, kv_lengths = {90, 64, 5, 31, 0};
  const auto q_starts = starts_of(q_lengths), kv_starts = starts_of(kv_lengths);
  const AttentionShape s = {.b = 5, .h_q = 4, .h_kv = 2, .n_q = 37, .n_kv = 90, .d_k = 18, .d_v = 7};
  this->on_each_problem(s, [&](const StoredProblem<TypeParam>& problem) {
    Call padded = problem.call;
    padded.options.q_lengths = view(q_lengths.data(), 5);
    padded.options.kv_lengths = view(kv_lengths.data(), 5);
    Result<Q> expected = attend<Q>(padded);

    Call packed = problem.call;
    const std::vector<Q> q = packed_rows(problem.q, 4, 37, q_lengths);
    const std::vector<K> k = packed_rows(problem.k, 2, 90, kv_lengths);
    const std::vector<V> v = packed_rows(problem.v, 2, 90, kv_lengths);
    packed.q = view<const Q>(q.data(), 1, 4, q_starts.back(), 18);
    packed.k = view<const K>(k.data(), 1, 2, kv_starts.back(), 18);
    packed.v = view<const V>(v.data(), 1, 2, kv_starts.back(), 7);
    std::vector<float> k_scales, v_scales;
    if (!problem.k_scales.empty() && !TypeParam::kChannels) {
      k_scales = packed_rows(problem.k_scales, 2, 90, kv_lengths);
      packed.options.k_scales = view<const float>(k_scales.data(), 1, 2, kv_starts.back(), 1);
    }
    if (!problem.v_scales.empty()) {
      v_scales = packed_rows(problem.v_scales, 2, 90, kv_lengths);
      packed.options.v_scales = view<const float>(v_scales.data(), 1, 2, kv_starts.back(), 1);
    }
    packed.options.q_starts = view(q_starts.data(), 6);
    packed.options.kv_starts = view(kv_starts.data(), 6);
    Result<Q> got = attend<Q>(packed);
    expect_same_bits(packed_rows(expected.o, 4, 37, q_lengths), got.o, "o");
    expect_same_bits(packed_rows(expected.lse, 4, 37, q_lengths), got.lse, "lse");
    for (const auto& executor : executors(3)) {
      expect_same_bits(got, attend<Q>(packed, {.executor = executor.get()}));
    }

    // Each alone: the rows and keys that it has, and no more.
    Result<Q> alone(packed);
    for (int64_t b = 0; b < 5; ++b) {
      const Call one = problem.call.batches(b, 1).queries(0, q_lengths[b]).keys(0, kv_lengths[b]);
      attend(one, slice(alone.outputs(), 2, q_starts[b], q_lengths[b]));
    }
    expect_same_bits(got, alone);
  });
}

// --- Trees ---

TYPED_TEST(BitsOfSequences, ATreeIsTheMaskThatItIs) {
  using Q = typename TypeParam::Q;
  for (const auto& [n_q, tokens] : {std::pair<int64_t, int64_t>{13, 13}, {1, 64}, {40, 130}}) {
    const int64_t rows = n_q, bits = tokens, words = (tokens + 63) / 64, n_kv = 1100, length = 1090;
    std::mt19937_64 random(3);
    std::vector<int64_t> tree(static_cast<size_t>(2 * rows * words));
    for (int64_t& word : tree) word = static_cast<int64_t>(random() | random());
    std::vector<unsigned char> allowed(static_cast<size_t>(2 * rows * n_kv), 1);
    for (int64_t row = 0; row < 2 * rows; ++row) {
      for (int64_t t = 0; t < bits; ++t) {
        const auto word = static_cast<uint64_t>(tree[row * words + t / 64]);
        allowed[row * n_kv + length - bits + t] = word >> (t % 64) & 1;
      }
    }
    this->on_each_problem({.h_q = 2, .h_kv = 1, .n_q = rows, .n_kv = n_kv, .d_k = 8, .d_v = 5},
                          [&](const StoredProblem<TypeParam>& problem) {
                            if (problem.call.options.mask.present()) return;
                            Call masked = problem.call;
                            masked.options.kv_lengths = view(&length, 1);
                            Call planted = masked;
                            masked.options.mask =
                                view<const bool>(reinterpret_cast<const bool*>(allowed.data()), 1, 2, rows, n_kv);
                            planted.options.tree_mask = view<const int64_t>(tree.data(), 1, 2, rows, words);
                            planted.options.tree_tokens = bits;
                            expect_same_bits(attend<Q>(masked), attend<Q>(planted));
                            for (const auto& executor : executors(3)) {
                              expect_same_bits(attend<Q>(masked), attend<Q>(planted, {.executor = executor.get()}));
                            }
                          });
  }
}

// --- Values that are columns of keys ---

TYPED_TEST(BitsOfSequences, ValuesThatAreAViewOfTheKeys) {
  using Q = typename TypeParam::Q;
  using K = typename TypeParam::K;
  constexpr int64_t kD = 40, kDv = 32;
  for (const int64_t n_q : {1, 20}) {
    const AttentionShape s = {.h_q = 2, .h_kv = 1, .n_q = n_q, .n_kv = 1100, .d_k = kD, .d_v = kDv};
    this->on_each_problem(s, [&](const StoredProblem<TypeParam>& problem) {
      std::vector<K> copy;
      for (const int64_t first : {0, 3}) {
        copy.clear();
        for (int64_t j = 0; j < s.n_kv; ++j) {
          copy.insert(copy.end(), problem.k.begin() + j * kD + first, problem.k.begin() + j * kD + first + kDv);
        }
        Call copied = problem.call;
        copied.v = view<const K>(copy.data(), 1, 1, s.n_kv, kDv);
        const Result<Q> expected = attend<Q>(copied);
        Call seen = problem.call;
        seen.v = slice(seen.k, 3, first, kDv);
        expect_same_bits(expected, attend<Q>(seen));
        for (const int64_t page_size : {2, 16, 64, 100}) {
          SCOPED_TRACE(page_size);
          const Paged<TypeParam> paged(problem, page_size);
          seen = paged.call;
          seen.v = slice(seen.k, 3, first, kDv);
          expect_same_bits(expected, attend<Q>(seen));
        }
      }
    });
  }
}

}  // namespace
}  // namespace foveate
