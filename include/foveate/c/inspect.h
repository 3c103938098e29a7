/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * What attention looks at, in figures, and where NaN came from: inspect.h, trace.h. Records of figures do not grow.
 */
#ifndef FOVEATE_C_INSPECT_H_
#define FOVEATE_C_INSPECT_H_

#include "foveate/c/attention.h"
#include "foveate/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foveate_row_figures {
  int64_t keys;
  double product_mean, product_variance;
  double largest_score;
  int64_t largest_key;
  double largest_weight;
  double lse, entropy, jacobian;
} foveate_row_figures;

typedef struct foveate_extreme {
  double value;
  int64_t row, key;
} foveate_extreme;

typedef struct foveate_head_figures {
  int64_t rows, empty, not_finite, saturated;
  int64_t first_not_finite;
  int64_t pairs;
  double product_mean, product_variance;
  foveate_extreme largest_score, largest_weight;
  double lse_mean, entropy_mean, effective_keys_mean, jacobian_mean;
  double first_key_mass, sink_mass;
} foveate_head_figures;

typedef struct foveate_key_weight {
  int64_t key;
  double weight;
} foveate_key_weight;

typedef struct foveate_inspect_outputs {
  size_t size;
  foveate_head_figures* heads; /* [b][h_q] */
  foveate_row_figures* rows;   /* [b][h_q][n_q] */
  double* received;            /* [b][h_q][n_kv] */
  foveate_key_weight* top;     /* [b][h_q][n_q][top_keys] */
  int64_t top_keys;
  int64_t map_rows, map_columns;
  float* map_largest; /* [b][h_q][map_rows][map_columns] */
  float* map_mean;    /* likewise */
} foveate_inspect_outputs;
#define FOVEATE_INSPECT_OUTPUTS_INIT \
  { sizeof(foveate_inspect_outputs), NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL }

FOVEATE_C_API foveate_status foveate_inspect(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                             const foveate_inspect_outputs* outputs,
                                             const foveate_attention_options* options,
                                             const foveate_execution* execution, char* message, size_t message_size);

/* How far the progress of such a call counts. */
FOVEATE_C_API foveate_status foveate_inspect_tasks(const foveate_attention_shape* shape, int64_t workers,
                                                   int64_t* tasks, char* message, size_t message_size);

/* Origin and Outcome of trace.h. */
enum {
  FOVEATE_ORIGIN_NONE = 0,
  FOVEATE_ORIGIN_Q = 1,
  FOVEATE_ORIGIN_K = 2,
  FOVEATE_ORIGIN_V = 3,
  FOVEATE_ORIGIN_BIAS = 4,
  FOVEATE_ORIGIN_SINK = 5,
  FOVEATE_ORIGIN_PRODUCT = 6,
  FOVEATE_ORIGIN_SCALE = 7,
  FOVEATE_ORIGIN_SCORE = 8,
  FOVEATE_ORIGIN_OUTPUT = 9
};
enum {
  FOVEATE_OUTCOME_NAN = 0,
  FOVEATE_OUTCOME_OPPOSITE = 1,
  FOVEATE_OUTCOME_SOFTMAX = 2,
  FOVEATE_OUTCOME_ALL_LOWEST = 3,
  FOVEATE_OUTCOME_SUM = 4
};

typedef struct foveate_not_finite {
  int64_t rows, row;
  int32_t origin, overflow;
  int64_t key, component;
  double value;
  int64_t outcome;
} foveate_not_finite;

/* Writes heads [b][h_q], of as many records as it holds, which has to be as many as there are heads. v may be NULL. */
FOVEATE_C_API foveate_status foveate_trace(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                           const foveate_const_tensor* v, foveate_not_finite* heads, int64_t n_heads,
                                           const foveate_attention_options* options, const foveate_execution* execution,
                                           char* message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* FOVEATE_C_INSPECT_H_ */
