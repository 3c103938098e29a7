// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where the rows of each sequence lie and how many there are, whether the batch is padded, packed or paged.
#ifndef FOVEATE_SRC_SEQUENCES_H_
#define FOVEATE_SRC_SEQUENCES_H_

#include <cstdint>

#include "foveate/attention.h"
#include "plan.h"
#include "vector_at.h"

namespace foveate {

class Sequences {
 public:
  /// Where a row lies in q, k, v, o or lse.
  struct Place {
    int64_t batch, row;
  };

  Sequences(const AttentionOptions& options, const Extents& extents) : options_(options), extents_(extents) {}

  /// Rows that queries have memory for: all are written.
  int64_t q_rows(int64_t b) const { return extent(options_.q_starts, b, extents_.n_q); }

  /// Keys that k and v have memory for.
  int64_t kv_rows(int64_t b) const { return extent(options_.kv_starts, b, extents_.n_kv); }

  /// Queries and keys that are there: what positions count by.
  int64_t q_length(int64_t b) const { return length(options_.q_lengths, b, q_rows(b)); }
  int64_t kv_length(int64_t b) const { return length(options_.kv_lengths, b, kv_rows(b)); }

  Place query(int64_t b, int64_t i) const { return place(options_.q_starts, b, i); }
  Place first_key(int64_t b) const { return place(options_.kv_starts, b, 0); }

 private:
  static int64_t extent(const ConstVector& starts, int64_t b, int64_t padded) {
    return starts.present() ? integer_at(starts, b + 1) - integer_at(starts, b) : padded;
  }
  static int64_t length(const ConstVector& lengths, int64_t b, int64_t all) {
    return lengths.present() ? integer_at(lengths, b) : all;
  }
  static Place place(const ConstVector& starts, int64_t b, int64_t i) {
    return starts.present() ? Place{0, integer_at(starts, b) + i} : Place{b, i};
  }

  const AttentionOptions& options_;
  const Extents& extents_;
};

}  // namespace foveate

#endif  // FOVEATE_SRC_SEQUENCES_H_
