// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "insight/similar_heads.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "foveate/float16.h"

namespace foveate::insight {
namespace {

/// o of a call whose values are signs: [b][h][n][kSigns].
using Sketch = std::vector<float>;

/// E: q's type, which o is rounded to: by 2^-9 at most, where heads a tenth apart count as alike.
template <class E>
Status sketch(const ConstTensor& q, const ConstTensor& k, const AttentionOptions& options, const Execution& execution,
              Sketch* to) {
  using Sign = std::conditional_t<std::is_same_v<E, double>, double, float>;
  const int64_t b = q.shape[0], h = q.shape[1], n = q.shape[2], n_kv = k.shape[2];
  std::vector<Sign> signs(static_cast<size_t>(n_kv * kSigns) + 1);
  std::mt19937_64 random(1);
  for (Sign& sign : signs) sign = (random() & 1) != 0 ? Sign{1} : Sign{-1};
  const ConstTensor v = {signs.data(), dtype_of<Sign>(), {k.shape[0], k.shape[1], n_kv, kSigns}, {0, 0, kSigns, 1}};
  AttentionOptions of_weights = options;
  of_weights.dropout = 0;
  of_weights.v_scales = {};
  std::vector<E> o(static_cast<size_t>(b * h * n * kSigns));
  if (Status status = attention(q, k, v, {.o = view(o.data(), b, h, n, kSigns)}, of_weights, execution); !status.ok())
    return status;
  to->resize(o.size());
  std::transform(o.begin(), o.end(), to->begin(), [](E x) { return static_cast<float>(x); });
  return {};
}

Status sketch_of(const ConstTensor& q, const ConstTensor& k, const AttentionOptions& options,
                 const Execution& execution, Sketch* to) {
  switch (q.dtype) {
    case DType::f64:
      return sketch<double>(q, k, options, execution, to);
    case DType::f16:
      return sketch<Float16>(q, k, options, execution, to);
    case DType::bf16:
      return sketch<BFloat16>(q, k, options, execution, to);
    default:
      return sketch<float>(q, k, options, execution, to);
  }
}

bool counts(const RowFigures& row) { return row.keys >= kLeastKeys && std::isfinite(row.lse); }

/// |x - y|^2 / (|x|^2 + |y|^2).
double distance(const float* x, const float* y) {
  double apart = 0, lengths = 0;
  for (int64_t c = 0; c < kSigns; ++c) {
    const double a = x[c], b = y[c];
    apart += (a - b) * (a - b);
    lengths += a * a + b * b;
  }
  return lengths > 0 ? apart / lengths : 0;
}

}  // namespace

Status similar_heads(const ConstTensor& q, const ConstTensor& k, const AttentionOptions& options,
                     const RowFigures* rows, double most, const Execution& execution,
                     std::vector<SimilarHeads>* pairs) {
  pairs->clear();
  const int64_t b_all = q.shape[0], h = q.shape[1], n = q.shape[2];
  if (h < 2) return {};
  Sketch o;
  if (Status status = sketch_of(q, k, options, execution, &o); !status.ok()) return status;
  for (int64_t b = 0; b < b_all; ++b) {
    for (int64_t first = 0; first < h; ++first) {
      for (int64_t second = first + 1; second < h; ++second) {
        const int64_t x = (b * h + first) * n, y = (b * h + second) * n;
        double sum = 0;
        int64_t counted = 0;
        for (int64_t i = 0; i < n; ++i) {
          if (!counts(rows[x + i]) || !counts(rows[y + i])) continue;
          sum += distance(o.data() + (x + i) * kSigns, o.data() + (y + i) * kSigns);
          ++counted;
        }
        const double mean = sum / static_cast<double>(std::max<int64_t>(1, counted));
        if (counted > 0 && mean <= most) pairs->push_back({b, first, second, mean});
      }
    }
  }
  std::sort(pairs->begin(), pairs->end(),
            [](const SimilarHeads& one, const SimilarHeads& other) { return one.distance < other.distance; });
  return {};
}

}  // namespace foveate::insight
