// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two keys, equally like the query: the output is the mean of their values, and lse is ln 2 + the common score of 0.
#include <foveate/attention.h>

#include <cmath>
#include <cstdio>

#ifdef WITH_TBB
#include <foveate/tbb.h>
#endif

int main() {
  const float q[2] = {1, 0};
  const float k[4] = {0, 1, 0, -1};
  const float v[4] = {1, 2, 3, 6};
  float o[2] = {};
  float lse = 0;
  foveate::AttentionOutputs outputs;
  outputs.o = foveate::view(o, 1, 1, 1, 2);
  outputs.lse = foveate::view(&lse, 1, 1, 1, 1);
  foveate::Execution execution;
#ifdef WITH_TBB
  foveate::TbbExecutor executor;
  execution.executor = &executor;
#endif
  const foveate::Status status = foveate::attention(foveate::view(q, 1, 1, 1, 2), foveate::view(k, 1, 1, 2, 2),
                                                    foveate::view(v, 1, 1, 2, 2), outputs, {}, execution);
  std::printf("%s: o = %g %g, lse = %g\n", foveate::name_of(status.code()), o[0], o[1], lse);
  return status.ok() && o[0] == 2 && o[1] == 4 && std::abs(lse - std::log(2.0f)) < 1e-6f ? 0 : 1;
}
