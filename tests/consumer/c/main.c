/* Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
 *
 * Two keys, equally like the query: the output is the mean of their values. */
#include <foveate/foveate_c.h>
#include <stdio.h>

int main(void) {
  const float q[2] = {1, 0}, k[4] = {0, 1, 0, -1}, v[4] = {1, 2, 3, 6};
  float o[2] = {0, 0};
  const foveate_const_tensor in_q = foveate_const_view(q, FOVEATE_F32, 1, 1, 1, 2);
  const foveate_const_tensor in_k = foveate_const_view(k, FOVEATE_F32, 1, 1, 2, 2);
  const foveate_const_tensor in_v = foveate_const_view(v, FOVEATE_F32, 1, 1, 2, 2);
  foveate_attention_outputs outputs = FOVEATE_ATTENTION_OUTPUTS_INIT;
  outputs.o = foveate_view(o, FOVEATE_F32, 1, 1, 1, 2);
  char message[FOVEATE_MESSAGE_SIZE];
  const foveate_status status = foveate_attention(&in_q, &in_k, &in_v, &outputs, NULL, NULL, message, sizeof message);
  printf("foveate %s: %s%s: o = %g %g\n", foveate_version(), foveate_strerror(status), message, o[0], o[1]);
  return status == FOVEATE_OK && o[0] == 2 && o[1] == 4 ? 0 : 1;
}
