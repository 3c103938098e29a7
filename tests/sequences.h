// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How many rows each sequence of a batch has and where they lie: padded, packed one behind the other, or in pages; and the
// lengths, starts and tables that say so.
#ifndef FOVEATE_TESTS_SEQUENCES_H_
#define FOVEATE_TESTS_SEQUENCES_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "foveate/attention.h"
#include "tests/spec.h"
#include "tests/stored.h"

namespace foveate::trial {

/// Where the rows of each sequence lie in an array of extents [batches, heads, rows, head_dim].
struct RowMap {
  struct Place {
    int64_t batch, row;
  };
  int64_t batches = 0, rows = 0;
  std::vector<std::vector<Place>> places;  ///< of each sequence, as many rows as there is memory for

  int64_t rows_of(int64_t b) const { return static_cast<int64_t>(places[b].size()); }
};

class Sequences {
 public:
  /// Changes s to what can be: whole pages, no more tree tokens than keys.
  Sequences(Spec& s, std::mt19937_64& random) : random_(random) {
    if (s.page_size > 0) s.packed_keys = false;
    if (s.b == 0 && s.packed_queries) s.n_q = 0;
    if (s.b == 0 && s.packed_keys) s.n_kv = 0;
    s.tree_tokens = std::min(s.tree_tokens, s.n_kv);
    if (s.page_size > 0) s.n_kv = (s.n_kv + s.page_size - 1) / s.page_size * s.page_size;

    const DType integers = s.int32 ? DType::i32 : DType::i64;
    queries = arrange(s.packed_queries, s.b, s.n_q, 0, integers, s.vector_stride, q_starts_);
    keys = arrange(s.packed_keys, s.b, s.n_kv, s.tree_tokens, integers, s.vector_stride, kv_starts_);
    if (s.q_lengths) q_lengths = draw_lengths(queries, 0, integers, s.vector_stride, q_lengths_);
    if (s.packed_queries && !s.q_lengths) q_lengths = rows_of_each(queries);
    if (s.kv_lengths || s.page_size > 0)
      kv_lengths = draw_lengths(keys, s.tree_tokens, integers, s.vector_stride, kv_lengths_);
    if (s.packed_keys && !s.kv_lengths) kv_lengths = rows_of_each(keys);
    if (s.page_size > 0) deal_pages(s, integers);
  }

  void set(AttentionOptions& o) const {
    if (q_lengths_.present()) o.q_lengths = q_lengths_.vector();
    if (kv_lengths_.present()) o.kv_lengths = kv_lengths_.vector();
    if (q_starts_.present()) o.q_starts = q_starts_.vector();
    if (kv_starts_.present()) o.kv_starts = kv_starts_.vector();
    if (table_.present()) o.block_table = table_.matrix();
  }

  RowMap queries, keys;
  std::vector<int64_t> q_lengths, kv_lengths;  ///< [b]; empty: all rows there are

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t least, int64_t most) {
    return below(4) == 0 ? (below(2) == 0 ? least : most) : least + below(most - least + 1);
  }

  static std::vector<int64_t> rows_of_each(const RowMap& map) {
    std::vector<int64_t> lengths;
    for (const auto& sequence : map.places) lengths.push_back(static_cast<int64_t>(sequence.size()));
    return lengths;
  }

  /// Padded: b times n rows. Packed: one sequence of n rows, the others of `least` to n.
  RowMap arrange(bool packed, int64_t b, int64_t n, int64_t least, DType integers, int64_t stride, Stored& starts) {
    RowMap map;
    map.batches = packed ? 1 : b;
    map.rows = packed ? 0 : n;
    map.places.resize(static_cast<size_t>(b));
    const int64_t longest = packed && b > 0 ? below(b) : 0;
    std::vector<int64_t> begins = {0};
    for (int64_t s = 0; s < b; ++s) {
      const int64_t rows = packed && s != longest ? between(least, n) : n;
      for (int64_t i = 0; i < rows; ++i) {
        map.places[s].push_back(packed ? RowMap::Place{0, map.rows + i} : RowMap::Place{s, i});
      }
      if (packed) begins.push_back(map.rows += rows);
    }
    if (packed) starts = integers_of(begins, integers, stride);
    return map;
  }

  std::vector<int64_t> draw_lengths(const RowMap& map, int64_t least, DType integers, int64_t stride, Stored& to) {
    std::vector<int64_t> lengths;
    for (const auto& sequence : map.places) lengths.push_back(between(least, static_cast<int64_t>(sequence.size())));
    to = integers_of(lengths, integers, stride);
    return lengths;
  }

  static Stored integers_of(const std::vector<int64_t>& values, DType integers, int64_t stride) {
    Stored stored(integers, static_cast<int64_t>(values.size()), stride);
    size_t next = 0;
    stored.fill([&] { return static_cast<double>(values[next++]); });
    return stored;
  }

  /// Gives each sequence the pages that its length reaches, of some more than that, shuffled. Now and then a sequence begins
  /// with the page that the first begins with. Table entries past the length name no page.
  void deal_pages(const Spec& s, DType integers) {
    const auto pages_for = [&](int64_t keys_there) { return (keys_there + s.page_size - 1) / s.page_size; };
    std::vector<int64_t> free(1 + static_cast<size_t>(below(3)));
    for (const int64_t length : kv_lengths) free.resize(free.size() + static_cast<size_t>(pages_for(length)));
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), random_);
    keys.batches = static_cast<int64_t>(free.size());
    keys.rows = s.page_size;

    constexpr double garbage[] = {-1, 1 << 30, INT32_MIN, INT32_MAX};
    table_ = Stored(integers, {1, 1, s.b, s.n_kv / s.page_size}, s.table_in);
    table_.fill([&] { return garbage[below(4)]; });
    for (int64_t b = 0; b < s.b; ++b) {
      keys.places[b].clear();
      for (int64_t i = 0; i < pages_for(kv_lengths[b]); ++i) {
        const bool shared = i == 0 && b > 0 && !keys.places[0].empty() && below(4) == 0;
        const int64_t page = shared ? keys.places[0][0].batch : free.back();
        if (!shared) free.pop_back();
        table_.set(0, 0, b, i, static_cast<double>(page));
        for (int64_t row = 0; row < s.page_size; ++row) keys.places[b].push_back({page, row});
      }
    }
  }

  std::mt19937_64& random_;
  Stored q_starts_, kv_starts_, q_lengths_, kv_lengths_, table_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_SEQUENCES_H_
