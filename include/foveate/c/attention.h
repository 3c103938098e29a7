/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Softmax attention and its gradients; and what belongs to it: merging states over pieces of keys, dropout's mask, block
 * patterns. For query row i of head h, over the keys j of key head h / (h_q / h_kv):
 *
 *   s_ij  = scale * (q_i . k_j)
 *   s_ij  = softcap * tanh(s_ij / softcap)          where softcap > 0
 *   s_ij += bias_ij
 *   s_ij -= alibi_h * |p_i - j|                     p_i: where query i stands among the keys
 *   j takes part iff mask_ij, causal (j <= p_i), window (p_i - left <= j <= p_i + right), j < kv_length_b, bias_ij != -inf and
 *   the block that i and j are in all allow it
 *   z_i   = sum_j exp(s_ij)  (+ exp(sink_h))        lse_i = ln z_i
 *   a_ij  = exp(s_ij) / z_i                         o_i   = sum_j a_ij v_j      (under dropout: a_ij keep_ij / (1 - P))
 *
 * Shapes: q [b, h_q, n_q, d_k], k [b, h_kv, n_kv, d_k], v [b, h_kv, n_kv, d_v], o [b, h_q, n_q, d_v]; h_q is a multiple of h_kv.
 * Any strides. Extents of 0 are taken.
 * Types: q float64, then k and v too, and all is computed in float64; or q float32, float16 or bfloat16, and k and v each one of
 * these or int8 with scales, and all is computed in float32. The computing type is the one of these two.
 *
 *   Errors     bounds are derived in docs/numerics.md.
 *   Bits       on one target they depend on neither threads, batch nor strides.
 *   NaN, Inf   have no effect in what takes no part, and reach just the rows and columns that they touch.
 *   Empty rows no key takes part: o = 0, lse = -inf (with a sink: lse = sink).
 *   Threads    any number of calls may run at once, on disjoint outputs and workspaces.
 *   Aliasing   outputs overlap neither inputs nor each other; inputs may overlap.
 *   NULL       a view, options or execution that is NULL is left out; message may be NULL.
 */
#ifndef FOVEATE_C_ATTENTION_H_
#define FOVEATE_C_ATTENTION_H_

#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the first query stands among the keys when n_q and n_kv differ: `align` of the options. With lengths, n_q and n_kv are
 * those of the sequence. */
enum {
  FOVEATE_BOTTOM_RIGHT = 0, /* p_i = i + (n_kv - n_q): the last query sees the last key, as a cache of keys needs */
  FOVEATE_TOP_LEFT = 1,     /* p_i = i: PyTorch's rule */
};

/* Window sides, and pages of a cache, without a bound. */
#define FOVEATE_UNLIMITED (-1)

/* What a call of attention does beside the plain product. Begin with FOVEATE_ATTENTION_OPTIONS_INIT, which sets the defaults:
 * everything off, and native_products on. */
typedef struct foveate_attention_options {
  size_t size;       /* of this struct, in bytes: FOVEATE_ATTENTION_OPTIONS_INIT sets it */
  int32_t has_scale; /* not 0: `scale` is the scale; 0: 1 / sqrt(d_k), of additive attention 1 */
  int32_t causal;    /* not 0: only keys at or before the query's position take part */
  double scale;      /* multiplies the products of q and k, where has_scale is set: any finite value */
  int32_t align;     /* FOVEATE_BOTTOM_RIGHT or FOVEATE_TOP_LEFT */

  /* Whether the processor's own products of bfloat16 and int8 may be used, which round more (docs/numerics.md). Default 1; 0:
   * everything is multiplied in float32. */
  int32_t native_products;

  /* Keys from p_i - window_left to p_i + window_right take part, both inclusive; each 0 or more, or FOVEATE_UNLIMITED. */
  int64_t window_left;
  int64_t window_right; /* see window_left */

  /* FOVEATE_BOOL, 1 = takes part. [b, h_q, n_q, n_kv], each extent that or 1 (broadcast); read in place. */
  foveate_const_tensor mask;

  /* Added to the scores: of any float type, shaped as mask. -inf: takes no part. */
  foveate_const_tensor bias;

  double softcap;                    /* above 0: scores pass through softcap * tanh(score / softcap). 0: off */
  foveate_const_vector alibi_slopes; /* [h_q], of a float type, finite: the ALiBi slope of each query head */

  /* [h_q], of a float type: one more score a head that takes weight and adds no value. -inf: no sink. */
  foveate_const_vector sinks;

  /* [b], int32 or int64, in [0, n_q]: how many rows of each sequence are there. Those past it get o = 0, lse = -inf, and are not
   * read. */
  foveate_const_vector q_lengths;
  foveate_const_vector kv_lengths; /* [b], in [0, n_kv]: the same of keys; none past it is read */

  int32_t has_q_offset;  /* not 0: q_offset counts, in place of `align` */
  int32_t has_kv_offset; /* not 0: kv_offset counts; 0: it is 0 */

  /* Positions outright, for keys that come in pieces: p_i = q_offset + i, and key j stands at kv_offset + j, for causal, window
   * and ALiBi. A piece of the keys wants both. At most 2^60 either way. */
  int64_t q_offset;
  int64_t kv_offset; /* see q_offset */

  /* The probability, in [0, 1), that a weight is left out of o; those kept are divided by 1 - dropout. lse and weights are
   * without it. Which ones is a property of the pair and the seed, the same on every target and any threads. */
  double dropout;
  uint64_t seed; /* of dropout: any number */

  /* Scales of int8 keys: element times scale is the number meant. float32, shaped as k, each extent that or 1; of extent 1 along
   * d_k (a scale a row, a head, or one) or else along n_kv (scales of channels). */
  foveate_const_tensor k_scales;
  foveate_const_tensor v_scales; /* of int8 values: shaped as v, of extent 1 along d_v */

  /* Sequences packed one behind the other: q, o and lse are [1, h_q, total, ...], and sequence s has their rows q_starts[s] to
   * q_starts[s + 1] - 1. [b + 1], int32 or int64, from 0 to the total, never descending. b, n_q and n_kv are then the number of
   * sequences and their greatest lengths. */
  foveate_const_vector q_starts;
  foveate_const_vector kv_starts; /* the same of k and v */

  /* Keys and values in pages: k and v are [pages, h_kv, page_size, ...], and key j of sequence s lies in row j % page_size of
   * page block_table[s][j / page_size]. [b, most pages], int32 or int64; wants kv_lengths, and not kv_starts. n_kv is then most
   * pages * page_size. Entries past a length are not read. */
  foveate_const_matrix block_table;

  /* A bit for each pair of a query and one of the last tree_tokens keys of its sequence, for speculative decoding: FOVEATE_I64,
   * [b, h_q, n_q, ceil(tree_tokens / 64)], the first three that extent or 1. Key kv_length - tree_tokens + t takes part only if
   * bit t % 64 of word t / 64 is set. */
  foveate_const_tensor tree_mask;
  int64_t tree_tokens; /* how many keys tree_mask speaks of */

  /* Which blocks of queries and keys meet: query i and key j only if entry [i / block_size, j / block_size] is 1. FOVEATE_BOOL,
   * [b, h_q, ceil(n_q / block_size), ceil(n_kv / block_size)], each extent that or 1. foveate_make_blocks() writes common ones. */
  foveate_const_tensor blocks;
  int64_t block_size; /* rows and keys of a block; a multiple of 64 is fastest. 0 without blocks */
} foveate_attention_options;
#define FOVEATE_ATTENTION_OPTIONS_INIT                                                                         \
  {                                                                                                            \
    sizeof(foveate_attention_options), 0, 0, 0, FOVEATE_BOTTOM_RIGHT, 1, FOVEATE_UNLIMITED, FOVEATE_UNLIMITED, \
        FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, 0, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR, FOVEATE_NO_VECTOR,      \
        FOVEATE_NO_VECTOR, 0, 0, 0, 0, 0, 0, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_VECTOR,          \
        FOVEATE_NO_VECTOR, FOVEATE_NO_MATRIX, FOVEATE_NO_TENSOR, 0, FOVEATE_NO_TENSOR, 0                       \
  }

/* FOVEATE_ATTENTION_OPTIONS_INIT for callers that have no macros: writes the defaults to the `size` bytes of their struct, as
 * far as it reaches, and `size` itself. NULL is left alone. */
FOVEATE_C_API void foveate_attention_options_init(foveate_attention_options* options, size_t size);

/* Which arrays attention writes. Each may be left out, not all of them. */
typedef struct foveate_attention_outputs {
  size_t size;            /* of this struct, in bytes: FOVEATE_ATTENTION_OUTPUTS_INIT sets it */
  foveate_tensor o;       /* [b, h_q, n_q, d_v], of q's dtype */
  foveate_tensor lse;     /* [b, h_q, n_q, 1], of the computing type: ln z_i */
  foveate_tensor weights; /* [b, h_q, n_q, n_kv], of q's dtype: a_ij, 0 where j takes no part */
} foveate_attention_outputs;
#define FOVEATE_ATTENTION_OUTPUTS_INIT \
  { sizeof(foveate_attention_outputs), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR }

/* Which gradients are written. Each may be left out, not all of them. Tensors may be of any float type, float64 beside a float64
 * q alone: what is computed is rounded to it once. */
typedef struct foveate_attention_gradients {
  size_t size;           /* of this struct, in bytes: FOVEATE_ATTENTION_GRADIENTS_INIT sets it */
  foveate_tensor dq;     /* [b, h_q, n_q, d_k] */
  foveate_tensor dk;     /* [b, h_kv, n_kv, d_k] */
  foveate_tensor dv;     /* [b, h_kv, n_kv, d_v] */
  foveate_tensor dbias;  /* the extents of `bias`: a sum over the axes along which that is broadcast */
  foveate_vector dsinks; /* [h_q], of the computing type */
} foveate_attention_gradients;
#define FOVEATE_ATTENTION_GRADIENTS_INIT                                                                             \
  {                                                                                                                  \
    sizeof(foveate_attention_gradients), FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, FOVEATE_NO_TENSOR, \
        FOVEATE_NO_VECTOR                                                                                            \
  }

/* Computes o, lse and weights, those that `outputs` has. Everything is checked before the first byte is written. Serial, and with
 * memory of its own, unless `execution` says otherwise; foveate_attention_plan tells how large a workspace has to be. */
FOVEATE_C_API foveate_status foveate_attention(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                               const foveate_const_tensor* v, const foveate_attention_outputs* outputs,
                                               const foveate_attention_options* options,
                                               const foveate_execution* execution, char* message, size_t message_size);

/* Computes gradients from what foveate_attention() was given and gave: the same q, k, v and options, its o and lse, and d_o, the
 * gradient of a loss by o, of o's shape and q's dtype. All of these six are needed. Everything is checked before the first byte
 * is written. Keys in pages (block_table) are refused. foveate_attention_backward_plan tells how large a workspace has to be. */
FOVEATE_C_API foveate_status foveate_attention_backward(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* o, const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
    const foveate_attention_gradients* gradients, const foveate_attention_options* options,
    const foveate_execution* execution, char* message, size_t message_size);

/* The shape of a call, for planning. Of packed sequences b is their number and n_q, n_kv their greatest lengths; of keys in pages
 * n_kv is the block table's columns times the page size. FOVEATE_ATTENTION_SHAPE_INIT sets every extent to 1. */
typedef struct foveate_attention_shape {
  size_t size;        /* of this struct, in bytes: FOVEATE_ATTENTION_SHAPE_INIT sets it */
  int64_t b;          /* batch */
  int64_t h_q;        /* query heads, a multiple of h_kv */
  int64_t h_kv;       /* key and value heads */
  int64_t n_q;        /* query rows */
  int64_t n_kv;       /* keys */
  int64_t d_k;        /* head dim of q and k */
  int64_t d_v;        /* head dim of v */
  int32_t dtype;      /* of q: FOVEATE_F32 by default; those of k and v do not matter */
  int32_t weights;    /* not 0: the weights are asked for */
  int64_t kv_offset;  /* as in the options */
  int64_t block_size; /* likewise */
} foveate_attention_shape;
#define FOVEATE_ATTENTION_SHAPE_INIT \
  { sizeof(foveate_attention_shape), 1, 1, 1, 1, 1, 1, 1, FOVEATE_F32, 0, 0, 0 }

/* FOVEATE_ATTENTION_SHAPE_INIT for callers that have no macros: as foveate_attention_options_init(). */
FOVEATE_C_API void foveate_attention_shape_init(foveate_attention_shape* shape, size_t size);

/* Tells what foveate_attention() takes for calls of that shape on so many workers, 1 (serial) to 65536: fills `plan` as far as
 * its size reaches. Its workspace_bytes suffice whatever the options and outputs. Neither shape nor plan may be NULL. Nothing is
 * allocated; any thread may ask. */
FOVEATE_C_API foveate_status foveate_attention_plan(const foveate_attention_shape* shape, int64_t workers,
                                                    foveate_plan* plan, char* message, size_t message_size);

/* The same of foveate_attention_backward(). Of `gradients` it matters which are there, and the extents of dbias; nothing is
 * written to them. */
FOVEATE_C_API foveate_status foveate_attention_backward_plan(const foveate_attention_shape* shape,
                                                             const foveate_attention_gradients* gradients,
                                                             int64_t workers, foveate_plan* plan, char* message,
                                                             size_t message_size);

/* Merges what foveate_attention() gave over two disjoint sets of keys into what it gives over all of them:
 *
 * lse = ln(exp(lse_a) + exp(lse_b)) and o = exp(lse_a - lse) o_a + exp(lse_b - lse) o_b.
 *
 * o_a and o_b [b, h, n, d_v] are of one float type, lse_a and lse_b [b, h, n, 1] of the computing type; all four are needed. o
 * and lse are of their shapes and dtypes, and one of them may be NULL. Pieces are computed with q_offset and kv_offset in the
 * options, so that masks know where each key stands; a sink belongs to exactly one. The workspace is not used, and nothing is
 * allocated. */
FOVEATE_C_API foveate_status foveate_merge(const foveate_const_tensor* o_a, const foveate_const_tensor* lse_a,
                                           const foveate_const_tensor* o_b, const foveate_const_tensor* lse_b,
                                           const foveate_tensor* o, const foveate_tensor* lse,
                                           const foveate_execution* execution, char* message, size_t message_size);

/* Writes which weights dropout keeps: keep, FOVEATE_BOOL [b, h_q, n_q, n_kv], 1 = kept, for every pair, whether it takes part or
 * not. Of the options it reads dropout, seed, align, lengths and offsets. Not of packed sequences: it takes their lengths as
 * q_lengths and kv_lengths. The workspace is not used, and nothing is allocated. */
FOVEATE_C_API foveate_status foveate_dropout_mask(const foveate_tensor* keep, const foveate_attention_options* options,
                                                  const foveate_execution* execution, char* message,
                                                  size_t message_size);

/* Which blocks are kept: those in which some query i, at position p_i = i + (n_kv - n_q), and some key j meet in the window,
 * among the global tokens, or at random. Begin with FOVEATE_BLOCK_PATTERN_INIT, and set n_q and n_kv. */
typedef struct foveate_block_pattern {
  size_t size;          /* of this struct, in bytes: FOVEATE_BLOCK_PATTERN_INIT sets it */
  int64_t n_q;          /* query rows, 0 or more */
  int64_t n_kv;         /* keys, 0 or more */
  int64_t block_size;   /* rows and keys of a block, 1 or more; default 64 */
  int64_t window_left;  /* keys left of p_i that are kept, p_i too; FOVEATE_UNLIMITED: all. Default 0 */
  int64_t window_right; /* the same to the right; 0 and 0: the diagonal */

  /* The first so many tokens are seen by every query, and see every key. 0: none. */
  int64_t global_tokens;

  /* So many more blocks in each row of blocks, drawn evenly from those not kept yet, others in every head; or all that are left
   * where these are fewer. 0: none. */
  int64_t random_blocks;
  uint64_t seed;  /* of random_blocks: any number; the same blocks on every machine */
  int64_t causal; /* not 0: j <= p_i in all of these. Blocks are kept whole: set `causal` of the options too */
} foveate_block_pattern;
#define FOVEATE_BLOCK_PATTERN_INIT \
  { sizeof(foveate_block_pattern), 0, 0, 64, 0, 0, 0, 0, 0, 0 }

/* FOVEATE_BLOCK_PATTERN_INIT for callers that have no macros: as foveate_attention_options_init(). */
FOVEATE_C_API void foveate_block_pattern_init(foveate_block_pattern* pattern, size_t size);

/* Writes a pattern to blocks, FOVEATE_BOOL [b, h, ceil(n_q / block_size), ceil(n_kv / block_size)], any strides: `blocks` of the
 * options. b and h as many as wanted, 1 for all to share one. pattern NULL: the defaults, which have no rows. Nothing is
 * allocated; any number of calls may run at once, on disjoint arrays. */
FOVEATE_C_API foveate_status foveate_make_blocks(const foveate_block_pattern* pattern, const foveate_tensor* blocks,
                                                 char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_ATTENTION_H_ */
