// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/work.h"

namespace foveate::python {
namespace {

/// Exp, masks and loads: what a row or a pair takes where there is nothing to multiply.
constexpr double kBesides = 16;

/// No int64_t holds the work of an array that is broadcast by strides.
double product(auto... factors) { return (1.0 * ... * static_cast<double>(factors)); }

double rows_of(const ConstTensor& tensor) { return product(tensor.shape[0], tensor.shape[1], tensor.shape[2]); }

}  // namespace

double work_of_rows(const ConstTensor& tensor, int64_t matrix_rows, int64_t matrix_columns) {
  return rows_of(tensor) * (product(matrix_rows, matrix_columns) + kBesides);
}

double work_of_pairs(const ConstTensor& q, int64_t n_kv, int64_t d_k, int64_t d_v) {
  return product(rows_of(q), n_kv) * (product(d_k) + product(d_v) + kBesides);
}

double work_of_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                         const AttentionOptions& options) {
  const int64_t pages = options.block_table.present() ? options.block_table.shape[1] : 1;
  return product(work_of_pairs(q, k.shape[2], k.shape[3], v.shape[3]), pages);
}

}  // namespace foveate::python
