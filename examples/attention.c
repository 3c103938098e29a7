/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Attention from C: causal, 4 query heads that share 2 key heads, in memory that is asked for first. Prints the outputs as they
 * lie in memory, so that they may be compared to the bit with those of other languages (examples/rust). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foveate/foveate_c.h"

enum { kHeads = 4, kKvHeads = 2, kLength = 6, kDim = 8 };

/* Numbers from -1 to 1, the same in every language. */
static void fill(float* x, size_t n, uint32_t seed) {
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
  }
}

static void print_rows(const float* o) {
  for (int row = 0; row < kHeads * kLength; ++row) {
    printf("%d %d:", row / kLength, row % kLength);
    for (int d = 0; d < kDim; ++d) {
      uint32_t bits;
      memcpy(&bits, &o[row * kDim + d], sizeof bits);
      printf(" %08x", (unsigned)bits);
    }
    printf("\n");
  }
}

int main(void) {
  static float q[kHeads * kLength * kDim], k[kKvHeads * kLength * kDim], v[kKvHeads * kLength * kDim],
      o[sizeof q / sizeof *q];
  fill(q, sizeof q / sizeof *q, 1);
  fill(k, sizeof k / sizeof *k, 2);
  fill(v, sizeof v / sizeof *v, 3);
  const foveate_const_tensor in_q = foveate_const_view(q, FOVEATE_F32, 1, kHeads, kLength, kDim);
  const foveate_const_tensor in_k = foveate_const_view(k, FOVEATE_F32, 1, kKvHeads, kLength, kDim);
  const foveate_const_tensor in_v = foveate_const_view(v, FOVEATE_F32, 1, kKvHeads, kLength, kDim);
  foveate_attention_outputs outputs = FOVEATE_ATTENTION_OUTPUTS_INIT;
  outputs.o = foveate_view(o, FOVEATE_F32, 1, kHeads, kLength, kDim);
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  options.causal = 1;
  char message[FOVEATE_MESSAGE_SIZE];

  /* Asked once for a shape; with it, calls allocate nothing. */
  foveate_attention_shape shape = FOVEATE_ATTENTION_SHAPE_INIT;
  shape.h_q = kHeads, shape.h_kv = kKvHeads;
  shape.n_q = shape.n_kv = kLength;
  shape.d_k = shape.d_v = kDim;
  foveate_plan plan = FOVEATE_PLAN_INIT;
  foveate_execution execution = FOVEATE_EXECUTION_INIT;
  foveate_status status = foveate_attention_plan(&shape, 1, &plan, message, sizeof message);
  if (status == FOVEATE_OK) {
    execution.workspace = malloc(plan.workspace_bytes);
    execution.workspace_bytes = plan.workspace_bytes;
    status = foveate_attention(&in_q, &in_k, &in_v, &outputs, &options, &execution, message, sizeof message);
    free(execution.workspace);
  }
  if (status != FOVEATE_OK) {
    fprintf(stderr, "attention: %s: %s\n", foveate_strerror(status), message);
    return 1;
  }
  print_rows(o);

  /* What is wrong is said in a line, and nothing is written. */
  options.softcap = -1;
  status = foveate_attention(&in_q, &in_k, &in_v, &outputs, &options, NULL, message, sizeof message);
  printf("%s: %s\n", foveate_strerror(status), message);
  return status == FOVEATE_INVALID_ARGUMENT ? 0 : 1;
}
