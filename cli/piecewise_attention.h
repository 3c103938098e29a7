// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention over keys that come in pieces: each piece is attended to at the places its keys have in the whole, and what it
// gives is merged into what the pieces before gave (foveate/state.h). Pieces that no query sees are not read.
//
// Takes, beyond the outputs, a piece of keys and values, twice the memory of o and three times that of lse. The options
// may be any, but weights are never to be had this way.
#ifndef FOVEATE_CLI_PIECEWISE_ATTENTION_H_
#define FOVEATE_CLI_PIECEWISE_ATTENTION_H_

#include <cstdint>
#include <vector>

#include "cli/key_pieces.h"
#include "foveate/attention.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate::cli {

class PiecewiseAttention {
 public:
  /// A call that attention() would take, were its k and v there. They are in `pieces`, which must outlive it.
  PiecewiseAttention(const AttentionShape& shape, Layout layout, const ConstTensor& q, const AttentionOptions& options,
                     const KeyPieces& pieces);

  /// How many pieces are read, at least one.
  int64_t pieces() const;

  /// Tasks that Execution::progress will count.
  int64_t tasks(int64_t workers) const;

  /// Throws what KeyPieces::read does.
  Status run(const AttentionOutputs& outputs, const Execution& execution) const;

 private:
  /// Batch entries [first, last) whose first query stands at the same place among the keys.
  struct Sequences {
    int64_t first, last, position;
  };
  struct Keys {
    int64_t first, last;
  };

  void find_sequences();
  void find_visible_keys();
  Keys keys_of(int64_t piece) const;
  int64_t first_of_call(const Sequences& sequences) const;
  Status attend(const Sequences& sequences, const Keys& keys, const KeyPieces::Piece& piece,
                const AttentionOutputs& outputs, const Execution& execution) const;

  const AttentionShape shape_;
  const Layout layout_;
  const ConstTensor q_;
  const AttentionOptions options_;
  const KeyPieces& pieces_;
  std::vector<int64_t> q_lengths_, kv_lengths_;
  std::vector<Sequences> sequences_;
  Keys visible_ = {0, 0};
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_PIECEWISE_ATTENTION_H_
