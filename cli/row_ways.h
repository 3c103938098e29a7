// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One sequence whose rows can be computed in every way that people do: the whole prompt, in chunks, token by token; over
// keys in plain arrays, in a KvCache, in pages of the caller's own; alone or in a batch.
#ifndef FOVEATE_CLI_ROW_WAYS_H_
#define FOVEATE_CLI_ROW_WAYS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/row_bits.h"
#include "foveate/attention.h"
#include "foveate/status.h"

namespace foveate::cli {

/// What queries and keys, with their values, are stored as.
struct StoredType {
  std::string_view name;
  DType q, kv;
};

inline constexpr StoredType kStoredTypes[] = {
    {"float64", DType::f64, DType::f64},
    {"float32", DType::f32, DType::f32},
    {"float16", DType::f16, DType::f16},
    {"bfloat16", DType::bf16, DType::bf16},
    {"float32 over a bfloat16 cache", DType::f32, DType::bf16},
    {"float32 over an int8 cache", DType::f32, DType::i8},
};

/// The sequence, and what its rows are computed with. No size is round: vectors, blocks, splits and pages end within it.
struct WaySizes {
  static constexpr int64_t h_q = 6, h_kv = 2, n = 1100, d_k = 27, d_v = 21;
  static constexpr int64_t chunk = 7, window_left = 200;
  static constexpr double softcap = 20;
};

struct Way {
  enum class Feed { prompt, chunks, tokens };  ///< how many rows a call has
  enum class Keys { bhnd, bnhd, bhdn, cache, table };
  enum class Company { alone, padded, packed };  ///< in a batch of three sequences of unequal lengths

  Feed feed = Feed::prompt;
  Keys keys = Keys::bhnd;
  int64_t page_size = 0;  ///< of a cache or a table; 0: contiguous
  Company company = Company::alone;
  int threads = 1;
};

/// "in chunks of 7, from a cache in pages of 16, in a padded batch, 2 threads"
std::string name_of(const Way& way);

/// The ways to try, the plainest first. `threads` ascends from 1.
std::vector<Way> ways_with(const std::vector<int>& threads);

/// The sequence in one type.
class RowWays {
 public:
  RowWays(const StoredType& type, uint64_t seed);
  ~RowWays();

  /// Computes all rows. `execution` has as many threads as the way says; fails only where memory ends or it is stopped.
  Status compute(const Way& way, const Execution& execution, RowBits& rows) const;

  /// Rows to write to.
  RowBits make_rows() const;

 private:
  struct Sequence;
  class KeyStore;
  class PlainKeys;
  class TableKeys;
  class CacheKeys;

  std::unique_ptr<KeyStore> make_keys(const Way& way) const;
  Status attend(const Way& way, KeyStore& keys, int64_t first, int64_t rows, const Execution& execution,
                RowBits& to) const;

  StoredType type_;
  std::array<std::unique_ptr<Sequence>, 3> sequences_;
  std::vector<double> sinks_;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ROW_WAYS_H_
