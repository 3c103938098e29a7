// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scaled dot-product attention, exact. For query row i of head h, over the keys j of key head h / (h_q / h_kv):
//
//   s_ij  = scale * (q_i . k_j)
//   s_ij  = softcap * tanh(s_ij / softcap)          where softcap > 0
//   s_ij += bias_ij
//   s_ij -= alibi_h * |p_i - j|
//   j takes part iff mask_ij, causal (j <= p_i), window (p_i - left <= j <= p_i + right), j < kv_length_b,
//   bias_ij != -inf and the block that i and j are in all allow it
//   z_i   = sum_j exp(s_ij)  (+ exp(sink_h))        lse_i = ln z_i
//   a_ij  = exp(s_ij) / z_i                         o_i   = sum_j a_ij v_j      (under dropout: a_ij keep_ij / (1 - P))
//
// Shapes: q [b, h_q, n_q, d_k], k [b, h_kv, n_kv, d_k], v [b, h_kv, n_kv, d_v], o [b, h_q, n_q, d_v], any strides.
// Types: q float64, then k and v too, and all is computed in float64; or q float32, float16 or bfloat16, and k and v each
// one of these or int8 with scales, and all is computed in float32 (where the processor multiplies bfloat16 or int8 itself,
// see `Native products` in docs/numerics.md). o and weights have q's type, lse the computing type.
//
// Guarantees
//   Memory     O(n) beyond the arguments: the n_q x n_kv matrix is never formed, unless `weights` is asked for.
//   Allocation with a workspace handed in: none. Otherwise one block, freed on return.
//   Bits       on one target, a row of o and lse depends only on its own q, the keys, values, mask and bias entries that
//              take part, its position and the options: not on threads, batch, strides, or how many rows come with it.
//   Errors     |o - exact| <= sum_j a_ij |v_j| (c eps + 2 max_j e_ij); derived, with c, in docs/numerics.md.
//   NaN, Inf   in what takes no part have no effect; in what takes part they reach just the rows and columns they touch.
//   Empty rows no key takes part: o = 0, lse = -inf (with a sink: lse = sink).
//   Threads    any number of calls may run at once, on disjoint outputs and workspaces.
//   Aliasing   outputs overlap neither inputs nor each other; inputs may overlap.
//
// Online softmax: Milakov and Gimelshein, arXiv:1805.02867; in tiles: Rabe and Staats, arXiv:2112.05682, Dao et al.,
// arXiv:2205.14135. Block-sparse: Child et al., arXiv:1904.10509. ALiBi: Press et al., arXiv:2108.12409. Softcap: Gemma 2, arXiv:2408.00118. Sinks: gpt-oss,
// arXiv:2508.10925.
#ifndef FOVEATE_ATTENTION_H_
#define FOVEATE_ATTENTION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "foveate/executor.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

/// Where the first query stands among the keys when n_q and n_kv differ. With per-sequence lengths, n_q and n_kv are the
/// lengths of that sequence.
enum class Align : uint8_t {
  bottom_right,  ///< p_i = i + (n_kv - n_q): the last query sees the last key, as a KV cache needs
  top_left,      ///< p_i = i: PyTorch's rule
};

/// Window sides and lengths without a bound.
inline constexpr int64_t kUnlimited = -1;

struct AttentionOptions {
  /// Multiplies the products of q and k. Any finite value, 0 and negative included. Left out: 1 / sqrt(d_k).
  std::optional<double> scale = {};

  /// Only keys at or before the query's position take part.
  bool causal = false;
  Align align = Align::bottom_right;

  /// Keys from p_i - window_left to p_i + window_right take part, both inclusive. kUnlimited: no bound on that side.
  int64_t window_left = kUnlimited;
  int64_t window_right = kUnlimited;

  /// Boolean, true = takes part. [b, h_q, n_q, n_kv], each extent that or 1 (broadcast); read in place.
  ConstTensor mask = {};

  /// Added to the scores: of any float type, shaped as mask. -inf: takes no part. Finite float64 too large for float32
  /// saturates.
  ConstTensor bias = {};

  /// Above 0: scores pass through softcap * tanh(score / softcap). 0: off.
  double softcap = 0;

  /// [h_q], of a float type, finite: the ALiBi slope of each query head.
  ConstVector alibi_slopes = {};

  /// [h_q], of a float type: one more score a head that takes weight and adds no value. -inf: no sink.
  ConstVector sinks = {};

  /// [b], int32 or int64, in [0, n_q] and [0, n_kv]: how much of each sequence is there. Query rows past the length get
  /// o = 0, lse = -inf; nothing past a length is read.
  ConstVector q_lengths = {};
  ConstVector kv_lengths = {};

  /// Positions outright, for keys that come in pieces: p_i = q_offset + i, and key j stands at kv_offset + j. They count
  /// for causal, window and ALiBi, and kv_offset decides where keys are cut into blocks. Left out: p_i from `align`, whatever
  /// kv_offset is (so a piece of the keys wants both); 0. At most 2^60 either way.
  std::optional<int64_t> q_offset = {};
  std::optional<int64_t> kv_offset = {};

  /// The probability P, in [0, 1), that a weight is left out of o; those kept are divided by 1 - P. lse and weights are
  /// without it. keep_ij iff word J mod 4 of Philox4x32-10 is at least P * 2^32, for the key `seed` (low word first) and
  /// the counter (J / 4, p_i, h, b), the low 32 bits of each, J = kv_offset + j: a property of the pair, the same on every
  /// target, in chunks and on any threads. A dropped weight still meets its value: 0 * NaN is NaN.
  double dropout = 0;
  uint64_t seed = 0;

  /// Scales of int8 keys and values: element times scale is the number meant. float32, finite or NaN, shaped as k and v are,
  /// each extent that or 1. v_scales has extent 1 along d_v: a scale a row (or a head, or one). k_scales has extent 1 along
  /// d_k, or else along n_kv: scales of channels, fixed before the first key came, and the same in all pages.
  ConstTensor k_scales = {};
  ConstTensor v_scales = {};

  /// Sequences packed one behind the other, as a batch of unequal lengths is held without padding: q, o and lse are
  /// [1, h_q, total, ...], and sequence s has the rows q_starts[s] to q_starts[s + 1] - 1 of them; likewise kv_starts for k
  /// and v. FlashAttention's [total, h, d] in memory is view(q, 1, h, total, d, Layout::bnhd). [b + 1], int32 or int64, from 0 to the total, never descending. b, n_q and n_kv are then the number of
  /// sequences and their greatest lengths: what mask, bias, weights and lengths are shaped by.
  ConstVector q_starts = {};
  ConstVector kv_starts = {};

  /// Keys and values in pages: k and v are [pages, h_kv, page_size, ...], and key j of sequence s lies in row
  /// j % page_size of page block_table[s][j / page_size]; vLLM's [pages, page_size, h_kv, d] in memory is view(k, pages, h_kv,
  /// page_size, d, Layout::bnhd). q may be packed beside it, or not. [b, most pages], int32 or int64; wants kv_lengths, and not
  /// kv_starts. n_kv is then most pages x page_size. Entries past a length are never read.
  ConstMatrix block_table = {};

  /// A bit for each pair of a query and one of the last tree_tokens keys of its sequence: which proposed tokens stand on its
  /// branch, for speculative decoding. [b, h_q, n_q, ceil(tree_tokens / 64)], the first three that extent or 1, int64: key
  /// kv_length - tree_tokens + t takes part only if bit t % 64 of word t / 64 is set.
  ConstTensor tree_mask = {};
  int64_t tree_tokens = 0;

  /// Which blocks of queries and keys meet: query i and key j only if entry [i / block_size, j / block_size] is true. Boolean,
  /// [b, h_q, ceil(n_q / block_size), ceil(n_kv / block_size)], each extent that or 1 (broadcast); read in place. Time goes
  /// into the blocks that are kept alone, so a block_size of 64 or a multiple is fastest; patterns.h makes the common ones.
  ConstTensor blocks = {};
  int64_t block_size = 0;

  /// Whether the processor's own products of bfloat16 and int8 may be used (`Native products` in docs/numerics.md). They
  /// round more: scores of int8 keys are off by up to |scale| max|q| / 254 sum|k|, about what storing the keys as int8 has
  /// cost already, and weights meet bfloat16 and int8 values with 8 bits. false: everything is multiplied in float32.
  bool native_products = true;
};

/// What to write. Each may be left out, not all of them.
struct AttentionOutputs {
  Tensor o = {};        ///< [b, h_q, n_q, d_v], the dtype of q
  Tensor lse = {};      ///< [b, h_q, n_q, 1], float32, or float64 for a float64 q: ln z_i
  Tensor weights = {};  ///< [b, h_q, n_q, n_kv], the dtype of q: a_ij, 0 where j takes no part
};

/// How to run. The default is serial, with memory of its own.
struct Execution {
  Executor* executor = nullptr;  ///< not owned; nullptr: the calling thread

  /// As many bytes as attention_plan() tells, or more, at any alignment; nullptr: the call allocates. Contents do not
  /// matter.
  void* workspace = nullptr;
  size_t workspace_bytes = 0;

  /// Polled once a task, more often in long ones; when true the call returns `cancelled` with outputs partly written.
  const std::atomic<bool>* stop = nullptr;

  /// Counts finished tasks up to attention_plan().tasks, if given: for a progress display. Not reset here.
  std::atomic<int64_t>* progress = nullptr;
};

/// Computes the outputs. Everything is checked before the first byte is written.
FOVEATE_API Status attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                             const AttentionOutputs& outputs, const AttentionOptions& options = {},
                             const Execution& execution = {});

/// The shape of a call, for planning. Of packed sequences b is their number and n_q, n_kv their greatest lengths; of keys in
/// pages n_kv is the block table's columns times the page size. dtype is q's; those of k and v do not matter.
struct AttentionShape {
  int64_t b = 1, h_q = 1, h_kv = 1, n_q = 1, n_kv = 1, d_k = 1, d_v = 1;
  DType dtype = DType::f32;
  bool weights = false;    ///< the weights are asked for
  int64_t kv_offset = 0;   ///< as in the options
  int64_t block_size = 0;  ///< likewise
};

/// How the engine cuts a call of that shape on the active target. None of it changes a bit of the result.
struct AttentionPlan {
  int64_t tile_rows = 0;       ///< query rows of a full tile: lanes of a vector x vectors
  int64_t block_keys = 0;      ///< keys of a block
  int64_t split_keys = 0;      ///< keys of a split, each begun from a fresh maximum
  int64_t tiles = 0;           ///< query tiles in all
  int64_t splits = 0;          ///< key splits a tile walks
  int64_t split_groups = 0;    ///< tasks a tile's splits are divided among; 1: one task walks them all
  int64_t tasks = 0;           ///< tasks handed to the executor, merging included
  size_t workspace_bytes = 0;  ///< for that many workers
};

/// Plans a call for `workers` workers, 1 to 65536. `workspace_bytes` suffices for every call of these extents, whatever its
/// options and outputs.
FOVEATE_API Status attention_plan(const AttentionShape& shape, int64_t workers, AttentionPlan* plan);

}  // namespace foveate

#endif  // FOVEATE_ATTENTION_H_
