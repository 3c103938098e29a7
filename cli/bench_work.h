// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate bench` measures: calls, by their shapes, types and options.
#ifndef FOVEATE_CLI_BENCH_WORK_H_
#define FOVEATE_CLI_BENCH_WORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "foveate/attention.h"

namespace foveate::cli {

/// Attention over arrays of that shape, whose dtype is q's.
struct BenchWork {
  std::string name;
  AttentionShape shape;
  DType stored = DType::f32;  ///< of keys and values
  bool causal = false;
  int64_t window_left = kUnlimited;
  int64_t window_right = kUnlimited;
  bool gradients = false;  ///< forward and backward, as a step of training has them

  /// One query a head, over a cache of keys: told in bytes, not in operations.
  bool decodes() const { return shape.n_q == 1 && !gradients; }
};

/// One of each kind, of the sizes that models have.
std::vector<BenchWork> usual_works();

/// "train f32 causal window 128,0": what a work is but for its shape.
std::string own_name(const BenchWork& work);

/// "b 1, heads 32:8, n 1:4096, d 128:128".
std::string shape_text(const AttentionShape& shape);

/// Operations, a multiply-add being two, of the pairs of a query and a key that take part.
double operations_of(const BenchWork& work);

/// Bytes of keys and values.
double key_bytes_of(const BenchWork& work);

/// "f32", "int8", ...
const char* short_name(DType dtype);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_BENCH_WORK_H_
