// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/patterns.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>

#include "check.h"
#include "philox.h"

namespace foveate {
namespace {

Status check(const BlockPattern& p, const Tensor& blocks) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) -> Status {
    if (value >= least && value <= kLargest) return {};
    return Status::error(kInvalid, "%s: %" PRId64 "; expected %" PRId64 " to 2^60", name, value, least);
  };
  FOVEATE_RETURN_IF_ERROR(at_least("n_q", p.n_q, 0));
  FOVEATE_RETURN_IF_ERROR(at_least("n_kv", p.n_kv, 0));
  FOVEATE_RETURN_IF_ERROR(at_least("block_size", p.block_size, 1));
  FOVEATE_RETURN_IF_ERROR(at_least("window_left", p.window_left, kUnlimited));
  FOVEATE_RETURN_IF_ERROR(at_least("window_right", p.window_right, kUnlimited));
  FOVEATE_RETURN_IF_ERROR(at_least("global_tokens", p.global_tokens, 0));
  FOVEATE_RETURN_IF_ERROR(at_least("random_blocks", p.random_blocks, 0));
  if (blocks.dtype != DType::boolean)
    return Status::error(kInvalid, "blocks: dtype %s; expected a bool array", name_of(blocks.dtype));
  const auto blocks_of = [&](int64_t n) { return (n + p.block_size - 1) / p.block_size; };
  const int64_t shape[] = {blocks.shape[0], blocks.shape[1], blocks_of(p.n_q), blocks_of(p.n_kv)};
  return check_output("blocks", blocks, shape, "the pattern", DType::boolean);
}

/// One row of blocks on its way.
class BlockRow {
 public:
  BlockRow(const BlockPattern& pattern, const Tensor& blocks, int64_t b, int64_t h, int64_t i)
      : p_(pattern),
        to_(static_cast<bool*>(blocks.data) + b * blocks.stride[0] + h * blocks.stride[1] + i * blocks.stride[2]),
        stride_(blocks.stride[3]),
        columns_(blocks.shape[3]),
        first_(i * pattern.block_size + pattern.n_kv - pattern.n_q),
        last_(std::min((i + 1) * pattern.block_size, pattern.n_q) - 1 + pattern.n_kv - pattern.n_q),
        seen_(pattern.causal ? std::min(pattern.n_kv, last_ + 1) : pattern.n_kv) {}

  void clear() {
    for (int64_t j = 0; j < columns_; ++j) kept(j) = false;
  }

  void keep_window_and_globals() {
    const int64_t left = p_.window_left == kUnlimited ? kLargest : p_.window_left;
    const int64_t right = p_.window_right == kUnlimited ? kLargest : p_.window_right;
    keep(first_ - left, last_ + right + 1);
    keep(0, p_.global_tokens);
    const bool has_global = last_ >= 0 && std::max<int64_t>(first_, 0) < p_.global_tokens;
    if (has_global && !p_.causal) keep(0, p_.n_kv);
  }

  /// Each draw is one of the blocks that are left.
  void keep_random(uint32_t b, uint32_t h, uint32_t i) {
    const int64_t seen = seen_ <= 0 ? 0 : (seen_ - 1) / p_.block_size + 1;
    int64_t left = 0;
    for (int64_t j = 0; j < seen; ++j) left += !kept(j);
    for (uint32_t draw = 0; draw < p_.random_blocks && left > 0; ++draw, --left) {
      const PhiloxWords words = philox({draw, i, h, b}, p_.seed);
      const uint64_t word = uint64_t{words[1]} << 32 | words[0];
      auto drawn = static_cast<int64_t>(word % static_cast<uint64_t>(left));  // uneven by no more than 2^-64 left
      int64_t j = 0;
      for (; kept(j) || drawn > 0; ++j) drawn -= !kept(j);
      kept(j) = true;
    }
  }

 private:
  bool& kept(int64_t j) { return to_[j * stride_]; }

  /// The blocks of keys [first, last), as far as there are such keys and some query may see them.
  void keep(int64_t first, int64_t last) {
    first = std::max<int64_t>(first, 0);
    last = std::min(last, seen_);
    if (first >= last) return;
    for (int64_t j = first / p_.block_size; j <= (last - 1) / p_.block_size; ++j) kept(j) = true;
  }

  const BlockPattern& p_;
  bool* const to_;
  const int64_t stride_, columns_;
  const int64_t first_, last_;  ///< positions of the row's queries
  const int64_t seen_;          ///< keys that any of them may see
};

}  // namespace

Status make_blocks(const BlockPattern& pattern, const Tensor& blocks) {
  FOVEATE_RETURN_IF_ERROR(check(pattern, blocks));
  for (int64_t b = 0; b < blocks.shape[0]; ++b) {
    for (int64_t h = 0; h < blocks.shape[1]; ++h) {
      for (int64_t i = 0; i < blocks.shape[2]; ++i) {
        BlockRow row(pattern, blocks, b, h, i);
        row.clear();
        row.keep_window_and_globals();
        row.keep_random(static_cast<uint32_t>(b), static_cast<uint32_t>(h), static_cast<uint32_t>(i));
      }
    }
  }
  return {};
}

}  // namespace foveate
