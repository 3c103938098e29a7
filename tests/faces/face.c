/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * face.cc in C. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "foveate/foveate_c.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int64_t h = atoll(argv[1]), n = atoll(argv[2]), d = atoll(argv[3]);
  const size_t size = (size_t)(h * n * d), rows = (size_t)(h * n);
  float* const in = malloc(3 * size * sizeof(float));
  float* const out = malloc((size + rows) * sizeof(float));
  if (in == NULL || out == NULL || fread(in, sizeof(float), 3 * size, stdin) != 3 * size) return 2;
  const foveate_const_tensor q = foveate_const_view(in, FOVEATE_F32, 1, h, n, d);
  const foveate_const_tensor k = foveate_const_view(in + size, FOVEATE_F32, 1, h, n, d);
  const foveate_const_tensor v = foveate_const_view(in + 2 * size, FOVEATE_F32, 1, h, n, d);
  foveate_attention_outputs outputs = FOVEATE_ATTENTION_OUTPUTS_INIT;
  outputs.o = foveate_view(out, FOVEATE_F32, 1, h, n, d);
  outputs.lse = foveate_view(out + size, FOVEATE_F32, 1, h, n, 1);
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  options.causal = 1;
  char message[FOVEATE_MESSAGE_SIZE];
  const foveate_status status = foveate_attention(&q, &k, &v, &outputs, &options, NULL, message, sizeof message);
  if (status != FOVEATE_OK) fprintf(stderr, "%s\n", message);
  fwrite(out, sizeof(float), size + rows, stdout);
  free(out);
  free(in);
  return status == FOVEATE_OK ? 0 : 1;
}
