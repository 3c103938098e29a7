/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * What attention looks at, in figures, of each head and each row, without the n_q x n_kv matrix; and where NaN and Inf came from.
 * With p_ij the weights of c/attention.h before dropout, s_ij its scores as softmax sees them, and t_ij = scale * q_i . k_j, for a
 * row i:
 *
 *   keys             how many take part
 *   product          t_ij over them, of which there are mean and variance
 *   largest score    max_j s_ij, and the first key that has it
 *   largest weight   max_j p_ij
 *   lse              ln sum_j exp s_ij, the sink included
 *   entropy          -sum_j p_ij ln p_ij, in nats; its exp is the effective number of keys
 *   Jacobian         the Frobenius norm of d p_i / d s_i = diag(p) - p p^T
 *
 * Rows count as
 *   empty            no key takes part
 *   not finite       lse is NaN or +-inf though keys take part: they have their keys and lse, and no other figure
 *   saturated        largest weight above 0.99, though more than one key takes part
 * Means and extremes of a head are over its other rows; where there is nothing to give, a figure is NaN and a row or key -1.
 *
 * Shapes, types and options as foveate_attention() takes them. Figures do not depend on threads, batch, or strides. Memory is
 * allocated, O(n), and freed on return; the workspace of `execution` is not used. Any number of calls may run at once, on disjoint
 * outputs, which overlap neither inputs nor each other. Records of figures do not grow.
 */
#ifndef FOVEATE_C_INSPECT_H_
#define FOVEATE_C_INSPECT_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Figures of one row. */
typedef struct foveate_row_figures {
  int64_t keys;            /* how many take part */
  double product_mean;     /* of t_ij over them */
  double product_variance; /* likewise */
  double largest_score;    /* max_j s_ij */
  int64_t largest_key;     /* the first key that has it; -1: none */
  double largest_weight;   /* max_j p_ij */
  double lse;              /* ln sum_j exp s_ij, the sink included */
  double entropy;          /* in nats */
  double jacobian;         /* Frobenius norm */
} foveate_row_figures;

/* A figure and where it was met first. */
typedef struct foveate_extreme {
  double value; /* NaN: there is none */
  int64_t row;  /* -1: nowhere */
  int64_t key;  /* likewise */
} foveate_extreme;

/* Figures of one head. */
typedef struct foveate_head_figures {
  int64_t rows;             /* in all */
  int64_t empty;            /* rows that no key takes part in */
  int64_t not_finite;       /* rows whose lse is not finite though keys take part */
  int64_t saturated;        /* rows whose largest weight is above 0.99, of more than one key */
  int64_t first_not_finite; /* the first such row; -1: none */
  int64_t pairs; /* that products are of: a row with figures, all its products finite, and a key that takes part */
  double product_mean;            /* of t_ij over the pairs */
  double product_variance;        /* likewise */
  foveate_extreme largest_score;  /* of all rows */
  foveate_extreme largest_weight; /* of rows that more than one key takes part in */
  double lse_mean;                /* over rows */
  double entropy_mean;            /* in nats */
  double effective_keys_mean;     /* of exp(entropy) */
  double jacobian_mean;           /* over rows */
  double first_key_mass;          /* mean weight of key 0 */
  double sink_mass;               /* mean share that the head's sink takes: 1 - sum_j p_ij */
} foveate_head_figures;

/* A key and its weight in a row. */
typedef struct foveate_key_weight {
  int64_t key;   /* -1: none */
  double weight; /* 0 where there is none */
} foveate_key_weight;

/* Where figures go: packed arrays of the caller's, of as many records as is said. NULL: not wanted. At least one is. */
typedef struct foveate_inspect_outputs {
  size_t size;                 /* of this struct, in bytes: FOVEATE_INSPECT_OUTPUTS_INIT sets it */
  foveate_head_figures* heads; /* [b][h_q] */
  foveate_row_figures* rows;   /* [b][h_q][n_q] */
  double* received;            /* [b][h_q][n_kv]: the mass that a key receives, sum_i p_ij */

  /* [b][h_q][n_q][top_keys]: keys of the greatest weights, the greatest first, of equal ones the first key; {-1, 0} where no more
   * have any. */
  foveate_key_weight* top;
  int64_t top_keys; /* 1 to 1024 where `top` is wanted */

  /* Weights pooled into cells: cell [y, x] has the queries i of floor(i * map_rows / n_q) = y and the keys j of
   * floor(j * map_columns / n_kv) = x; a pair that takes no part counts as 0. At most n_q and n_kv, and 65,536. */
  int64_t map_rows;
  int64_t map_columns; /* see map_rows */
  float* map_largest;  /* [b][h_q][map_rows][map_columns]: the largest weight of a cell */
  float* map_mean;     /* [b][h_q][map_rows][map_columns]: the mean */
} foveate_inspect_outputs;
#define FOVEATE_INSPECT_OUTPUTS_INIT \
  { sizeof(foveate_inspect_outputs), NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL }

/* Computes the figures that `outputs` has. Everything is checked before the first is written. b, n_q and n_kv are those of
 * foveate_attention(): of packed sequences as many as there are, and the longest one's. */
FOVEATE_C_API foveate_status foveate_inspect(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                             const foveate_inspect_outputs* outputs,
                                             const foveate_attention_options* options,
                                             const foveate_execution* execution, char* message, size_t message_size);

/* Writes to *tasks how far the progress of a foveate_inspect() of that shape counts, on so many workers, 1 (serial) to 65536.
 * Neither shape nor tasks may be NULL. */
FOVEATE_C_API foveate_status foveate_inspect_tasks(const foveate_attention_shape* shape, int64_t workers,
                                                   int64_t* tasks, char* message, size_t message_size);

/* The first thing in a row that made it not finite, step by step along the formula of c/attention.h, in the order of the keys. */
enum {
  FOVEATE_ORIGIN_NONE = 0,    /* the head is well */
  FOVEATE_ORIGIN_Q = 1,       /* the number was in q already */
  FOVEATE_ORIGIN_K = 2,       /* in k */
  FOVEATE_ORIGIN_V = 3,       /* in v */
  FOVEATE_ORIGIN_BIAS = 4,    /* in bias */
  FOVEATE_ORIGIN_SINK = 5,    /* in sinks */
  FOVEATE_ORIGIN_PRODUCT = 6, /* a product of q and k, finite themselves, overflowed */
  FOVEATE_ORIGIN_SCALE = 7,   /* such a product times scale overflowed */
  FOVEATE_ORIGIN_SCORE = 8,   /* softcap, bias and ALiBi put together overflowed */
  FOVEATE_ORIGIN_OUTPUT = 9,  /* sum_j a_ij v_j of finite values left the range of o's type */
};

/* What became of it. */
enum {
  FOVEATE_OUTCOME_NAN = 0,        /* it was NaN */
  FOVEATE_OUTCOME_OPPOSITE = 1,   /* on the way to the score: inf - inf, or 0 * inf */
  FOVEATE_OUTCOME_SOFTMAX = 2,    /* the score is +inf, and softmax takes inf - inf */
  FOVEATE_OUTCOME_ALL_LOWEST = 3, /* every score of the row is -inf, so that no weight is left */
  FOVEATE_OUTCOME_SUM = 4,        /* Inf in o */
};

/* The first row of a head that is not finite, and why. A row is, if its lse is NaN or +inf, or -inf though keys take part, or if
 * its o has NaN or Inf; rows that no key takes part in are well. */
typedef struct foveate_not_finite {
  int64_t rows;      /* how many of the head are not finite; 0: the rest says nothing */
  int64_t row;       /* the first of them */
  int32_t origin;    /* FOVEATE_ORIGIN_Q and its like */
  int32_t overflow;  /* 1: finite numbers made it; 0: it was given */
  int64_t key;       /* -1: no key has to do with it */
  int64_t component; /* of q, k, v or o, or where the sum of a product left the range; -1: none */
  double value;      /* what was given, or what the step made */
  int64_t outcome;   /* FOVEATE_OUTCOME_NAN and its like */
} foveate_not_finite;

/* Finds where NaN and Inf came from: writes one record a head to heads [b][h_q], of which there are n_heads = b * h_q. v may be
 * NULL: then o is not looked at. Dropout is not. Everything is checked before the first record is written. */
FOVEATE_C_API foveate_status foveate_trace(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                           const foveate_const_tensor* v, foveate_not_finite* heads, int64_t n_heads,
                                           const foveate_attention_options* options, const foveate_execution* execution,
                                           char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_INSPECT_H_ */
