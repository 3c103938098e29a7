// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Memory asked for before it is needed: the keys and values of few rows, in the order in which they are read, a little ahead
// of the reading and all the time. Few misses fit into the processor's queue, so that whatever is not under way is lost; and
// what is asked for too early has left L1 again.
#ifndef FOVEATE_SRC_KERNELS_AHEAD_H_
#define FOVEATE_SRC_KERNELS_AHEAD_H_

#include <algorithm>
#include <cstdint>

#include "hwy/base.h"
#include "kernels/pages.h"
#include "kernels/tile.h"

namespace foveate::kernels {

/// Walks keys and values block by block, the keys of a block first, and asks for them line by line. What reads() and waits()
/// do has no calls, so that they can stand in loops that have all registers in use.
class Ahead {
 public:
  /// Of keys up to `end`; row_by_row: values are read so, by one pass over a block.
  Ahead(const Pages& pages, const RowSource& k, int64_t d_k, const RowSource& v, int64_t d_v, int64_t end,
        bool row_by_row)
      : pages_(pages), k_(k), v_(v), d_k_(d_k), d_v_(d_v), end_(end) {
    if (row_by_row) distance_ = 10240;
  }

  /// n keys from `key` on are going to be read, and `next_n` behind them. They follow the last ones, but where some are left
  /// out. What was not asked for until now is not worth it any more.
  void begin(int64_t key, int64_t n, int64_t next_n) {
    const bool follows = key == expected_ && first_ > mark_;
    asked_ = follows ? asked_ - asked_before_ : 0;
    read_ = 0;
    if (follows || key == expected_) {
      first_ = std::max(first_, mark_);
      if (!follows) at_ = to_ = nullptr;
    } else {
      pieces_ = first_ = 0;
      at_ = to_ = nullptr;
      append(key, n);
    }
    expected_ = key + n;
    append(expected_, std::min(next_n, end_ - expected_));
  }

  /// So many bytes are about to be read.
  HWY_INLINE void reads(int64_t bytes) {
    read_ += bytes;
    ask(read_ + distance_ - asked_);
  }

  /// So many cycles are about to go by without reading.
  HWY_INLINE void waits(int64_t cycles) {
    waited_ += cycles;
    const int64_t lines = waited_ / kCyclesALine;
    waited_ -= lines * kCyclesALine;
    ask(std::min(lines * kLine, read_ + kMost - asked_));
  }

 private:
  static constexpr int64_t kLine = 64;
  /// Where columns are multiplied without reading, as far ahead as fits into L1 beside them.
  static constexpr int64_t kMost = 32768;
  /// Cycles in which memory brings a line: 34 GB/s at 4.2 GHz.
  static constexpr int64_t kCyclesALine = 8;

  /// Bytes without a gap.
  struct Piece {
    const char *begin, *end;
  };

  /// Asks for so many bytes, as far as there are any.
  HWY_INLINE void ask(int64_t bytes) {
    while (bytes > 0) {
      if (at_ >= to_) {
        if (first_ == pieces_) return;
        if (first_ == mark_) asked_before_ = asked_;
        at_ = piece_[first_].begin;
        to_ = piece_[first_].end;
        ++first_;
      }
      const char* const stop = at_ + std::min<int64_t>(bytes, to_ - at_);
      const char* at = at_;
      for (; at < stop; at += kLine) __builtin_prefetch(at, 0, 3);
      asked_ += at - at_;
      bytes -= at - at_;
      at_ = at;
    }
  }

  /// Adds a range behind what is left of the one before.
  void append(int64_t key, int64_t n) {
    std::copy(piece_ + first_, piece_ + pieces_, piece_);
    pieces_ -= first_;
    first_ = 0;
    mark_ = pieces_;
    append_rows(k_, d_k_, key, n);
    append_rows(v_, d_v_, key, n);
  }

  void append_rows(const RowSource& source, int64_t depth, int64_t key, int64_t n) {
    const int64_t size = size_of(source.dtype), bytes = (source.stride_d == 1 ? depth : 1) * size;
    for (int64_t done = 0; done < n;) {
      const Run run = RunAt(pages_, source, key + done, n - done);
      const char* row = static_cast<const char*>(source.data) + run.offset * size;
      if (source.stride * size == bytes) {
        piece_[pieces_++] = {row, row + run.n * bytes};
      } else {
        for (int64_t j = 0; j < run.n; ++j, row += source.stride * size) piece_[pieces_++] = {row, row + bytes};
      }
      done += run.n;
    }
  }

  static constexpr int64_t kMostPieces = 4 * kBlockKeys;

  const Pages& pages_;
  const RowSource &k_, &v_;
  const int64_t d_k_, d_v_, end_;
  /// How far ahead of the reading, in bytes: as much as a hundred misses bring, 8 KB, where 16 keys are read at a time and
  /// values row by row, and some more, since the last of 16 keys is wanted soon after the first. (Zen 5, whole calls of one
  /// row in float32 at head_dim 64, 96, 128 and 256, GB/s: 37, 33, 34 and 34 at 8 KB, 37, 36, 35 and 32 at 10 KB, 35, 38, 35
  /// and 32 at 12 KB.) Narrow keys are read 32 at a time, and of values that more rows meet some columns of a whole block,
  /// then the next ones, so that the last rows are wanted sooner. (The two products alone, one run each, at 8, 12 and 16 KB:
  /// float32 44, 43, 38 for one row, 30, 36, 39 for four, 23, 31, 35 for eight; bfloat16 38, 34, 38 for one, 30, 35, 36 for
  /// four, 21, 25, 26 for eight, and at 20 KB 31, 29, 23.)
  int64_t distance_ = 16384;
  int64_t expected_ = -1;                      ///< the key at which the next range begins
  int64_t asked_ = 0, read_ = 0, waited_ = 0;  ///< bytes, and cycles
  const char *at_ = nullptr, *to_ = nullptr;   ///< the piece at hand
  int64_t first_ = 0, pieces_ = 0;             ///< those behind it
  int64_t mark_ = 0, asked_before_ = 0;        ///< where the next range begins, and bytes asked for before that
  Piece piece_[kMostPieces];
};

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_AHEAD_H_
