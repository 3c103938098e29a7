// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Bitmaps for AttentionOptions::blocks. Entry [I, J] is true where some query i of block I and some key j of block J meet
// in one of these, p_i = i + (n_kv - n_q) being the query's position among the keys:
//
//   sliding window   p_i - window_left <= j <= p_i + window_right
//   global tokens    j < global_tokens, which every query sees, or 0 <= p_i < global_tokens, a query that sees every key
//   random blocks    random_blocks more blocks in each row of blocks, drawn evenly from those not kept yet
//
// and, where causal is set, j <= p_i in all of them. Window and global tokens are Longformer's pattern (Beltagy et al.,
// arXiv:2004.05150), with random blocks it is BigBird's (Zaheer et al., arXiv:2007.14062). Whole blocks are kept: for a
// causal mask to the key set that option beside. (A window beside it would take global and random blocks away.)
#ifndef FOVEATE_PATTERNS_H_
#define FOVEATE_PATTERNS_H_

#include <cstdint>

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

struct BlockPattern {
  int64_t n_q = 0, n_kv = 0;
  int64_t block_size = 64;

  /// Both sides inclusive; kUnlimited: no bound on that side. 0, 0 is the diagonal.
  int64_t window_left = 0;
  int64_t window_right = 0;

  int64_t global_tokens = 0;

  /// As many as there are, where fewer are left. Drawn by Philox4x32-10 from the seed, the batch, the head and the row of
  /// blocks: the same on every machine, other in every head.
  int64_t random_blocks = 0;
  uint64_t seed = 0;

  bool causal = false;
};

/// Writes the pattern to blocks, bool, [b, h, ceil(n_q / block_size), ceil(n_kv / block_size)], any strides: b and h as many
/// as wanted, 1 for all to share one. Allocates nothing. Any number of calls may run at once, on disjoint arrays.
FOVEATE_API Status make_blocks(const BlockPattern& pattern, const Tensor& blocks);

}  // namespace foveate

#endif  // FOVEATE_PATTERNS_H_
