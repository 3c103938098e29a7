// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Causal attention from C++: q, k and v, float32 [h, n, d] one after the other, from standard input; o and lse to standard
// output. python/tests/test_faces.py compares the bytes with those of the other faces.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "foveate/attention.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int64_t h = std::atoll(argv[1]), n = std::atoll(argv[2]), d = std::atoll(argv[3]);
  std::vector<float> q(h * n * d), k(q.size()), v(q.size()), o(q.size()), lse(h * n);
  for (std::vector<float>* array : {&q, &k, &v}) {
    if (std::fread(array->data(), sizeof(float), array->size(), stdin) != array->size()) return 2;
  }
  const auto input = [&](const std::vector<float>& array) { return foveate::view(array.data(), 1, h, n, d); };
  foveate::AttentionOutputs outputs;
  outputs.o = foveate::view(o.data(), 1, h, n, d);
  outputs.lse = foveate::view(lse.data(), 1, h, n, 1);
  foveate::AttentionOptions options;
  options.causal = true;
  const foveate::Status status = foveate::attention(input(q), input(k), input(v), outputs, options);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message());
  std::fwrite(o.data(), sizeof(float), o.size(), stdout);
  std::fwrite(lse.data(), sizeof(float), lse.size(), stdout);
  return status.ok() ? 0 : 1;
}
