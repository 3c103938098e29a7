// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The small arithmetic of a page's figures.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "exports.h"
#include "foveate/attention.h"

namespace foveate::web {
namespace {

double length(const float* x, int32_t d) {
  double sum = 0;
  for (int32_t i = 0; i < d; ++i) sum += static_cast<double>(x[i]) * x[i];
  return std::sqrt(sum);
}

}  // namespace

void fv_product(int32_t m, int32_t k, int32_t n, const float* a, const float* b, float* c) {
  for (int32_t row = 0; row < m; ++row) {
    for (int32_t column = 0; column < n; ++column) {
      float sum = 0;
      for (int32_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      c[row * n + column] = sum;
    }
  }
}

void fv_terms(int32_t n, const float* a, int32_t a_stride, const float* b, int32_t b_stride, float* products) {
  for (int32_t i = 0; i < n; ++i) products[i] = a[i * a_stride] * b[i * b_stride];
}

int32_t fv_softmax(int32_t n, const float* scores, double temperature, float* weights, float* exps, float* summary) {
  if (!(temperature > 0)) return refuse("temperature: %g; expected a number above 0", temperature);
  // One query of head dim 1, which is 1, and keys that are the scores.
  const float one = 1;
  const ConstTensor keys = view(scores, 1, 1, n, 1);
  AttentionOptions options{.scale = 1 / temperature};
  // A key of -inf gives a score of -inf: its weight is 0 as it stands.
  const Status status = attention(view(&one, 1, 1, 1, 1), keys, keys, {.weights = view(weights, 1, 1, 1, n)}, options);
  if (!status.ok()) return report(status);

  const float largest = n > 0 ? *std::max_element(scores, scores + n) : -std::numeric_limits<float>::infinity();
  double sum = 0;
  for (int32_t j = 0; j < n; ++j) {
    const double distance = std::isinf(largest) ? scores[j] : (static_cast<double>(scores[j]) - largest) / temperature;
    const double e = std::exp(distance);
    exps[j] = static_cast<float>(e);
    sum += e;
  }
  summary[0] = largest;
  summary[1] = static_cast<float>(sum);
  return 0;
}

int32_t fv_compare(int32_t n, int32_t d, const float* q, const float* keys, float* dots, float* lengths, float* cosines,
                   float* degrees) {
  Call call{};
  call.scale = 1;
  call.window_left = call.window_right = -1;
  constexpr auto f32 = static_cast<int32_t>(DType::f32);
  call.q = {const_cast<float*>(q), f32, {1, 1, 1, d}, {d, d, d, 1}};
  call.k = {const_cast<float*>(keys), f32, {1, 1, n, d}, {n * d, n * d, d, 1}};
  call.v = call.k;
  if (const int32_t code = fv_scores(&call, dots); code != 0) return code;

  const double q_length = length(q, d);
  for (int32_t j = 0; j < n; ++j) {
    const double k_length = length(keys + j * d, d), product = q_length * k_length;
    const double cosine = product > 0 ? std::clamp(dots[j] / product, -1.0, 1.0) : std::nan("");
    lengths[j] = static_cast<float>(k_length);
    cosines[j] = static_cast<float>(cosine);
    degrees[j] = static_cast<float>(std::acos(cosine) * (180 / std::numbers::pi));
  }
  lengths[n] = static_cast<float>(q_length);
  return 0;
}

void fv_rank(int32_t n, const float* values, int32_t* order) {
  const auto before = [values](int32_t i, int32_t j) {
    return values[i] > values[j] || (std::isnan(values[j]) && !std::isnan(values[i]));
  };
  for (int32_t i = 0; i < n; ++i) {  // insertion: a ranking is short, and std::sort is 5 KB
    int32_t* const at = std::upper_bound(order, order + i, i, before);
    std::copy_backward(at, order + i, order + i + 1);
    *at = i;
  }
}

}  // namespace foveate::web
