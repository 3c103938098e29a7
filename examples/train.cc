// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Training without a framework: 32 queries and keys, random at first, learn to find each its own value among 32. The loss is half
// the squared distance between output and value; a step is forward, backward, and a move against the gradient.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "foveate/attention.h"
#include "foveate/attention_backward.h"

namespace {

constexpr int64_t kRows = 32, kDim = 32;
constexpr int kSteps = 400;
constexpr float kRate = 0.5f;

using Array = std::vector<float>;

auto view(Array& array) { return foveate::view(array.data(), 1, 1, kRows, kDim); }

void check(const foveate::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "train: %s\n", status.message());
  std::exit(1);
}

/// d_o = o - v, and half its square: the loss.
double loss_of(const Array& o, const Array& v, Array& d_o) {
  double loss = 0;
  for (size_t i = 0; i < o.size(); ++i) {
    d_o[i] = o[i] - v[i];
    loss += 0.5 * d_o[i] * d_o[i];
  }
  return loss;
}

void descend(Array& array, const Array& gradient) {
  for (size_t i = 0; i < array.size(); ++i) array[i] -= kRate * gradient[i];
}

}  // namespace

int main() {
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  Array q(kRows * kDim), k(q), v(q), o(q), d_o(q), dq(q), dk(q), lse(kRows);
  for (Array* array : {&q, &k, &v}) {
    for (float& x : *array) x = normal(bits);
  }
  const auto lse_view = foveate::view(lse.data(), 1, 1, kRows, 1);
  double first = 0, last = 0;
  for (int step = 0; step <= kSteps; ++step) {
    check(foveate::attention(view(q), view(k), view(v), {.o = view(o), .lse = lse_view}));
    last = loss_of(o, v, d_o);
    if (step == 0) first = last;
    if (step % 100 == 0) std::printf("step %3d: loss %8.3f\n", step, last);
    check(foveate::attention_backward(view(q), view(k), view(v), view(o), lse_view, view(d_o),
                                      {.dq = view(dq), .dk = view(dk)}));
    descend(q, dq);
    descend(k, dk);
  }
  std::printf("%s\n", last < 0.01 * first ? "learned" : "not learned");
  return 0;
}
