// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of outputs as bits: their hash, and where two sets of them first differ.
#ifndef FOVEATE_CLI_ROW_BITS_H_
#define FOVEATE_CLI_ROW_BITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foveate/attention.h"
#include "foveate/tensor.h"

namespace foveate::cli {

/// o [1, h, n, d_v] and lse [1, h, n, 1] of one sequence, packed.
struct RowBits {
  RowBits(DType o_dtype, int64_t h, int64_t n, int64_t d_v);

  /// Writable views of both.
  AttentionOutputs outputs();

  DType o_dtype, lse_dtype;
  int64_t h, n, d_v;
  std::vector<std::byte> o, lse;
};

/// FNV-1a of 64 bits, over o and then lse, as they lie in memory.
uint64_t hash_of(const RowBits& rows);

/// One element that is not the same.
struct BitDifference {
  int64_t row = 0, head = 0;
  std::string_view output = {};  ///< "o" or "lse"
  int64_t element = 0;           ///< of the row of o; 0 for lse
  std::string expected, got;     ///< bits, "0x3f800000"
};

/// Where two results of one shape first differ: the first row, its first head, and there o before lse.
std::optional<BitDifference> first_difference(const RowBits& expected, const RowBits& got);

/// "row 17, head 3: o[5] is 0x3f800001, not 0x3f800000"
std::string words_of(const BitDifference& difference);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ROW_BITS_H_
