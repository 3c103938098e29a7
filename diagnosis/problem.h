// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What attention was meant to be computed, and what somebody's result is: every array as float64, packed in the order that
// its file has, so that memory can also be read the way it should not be.
#ifndef FOVEATE_DIAGNOSIS_PROBLEM_H_
#define FOVEATE_DIAGNOSIS_PROBLEM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "foveate/attention.h"

namespace foveate::diagnosis {

enum class Source : uint8_t { q, k, v, out };

/// How one of the arrays is read: extents and strides on [b, h, n, d]. Components are next to next, but where a mistake in
/// how k is read puts them elsewhere.
struct View {
  Source source = Source::q;
  int64_t shape[4] = {};
  int64_t stride[4] = {};

  int64_t row(int64_t b, int64_t h, int64_t n) const { return b * stride[0] + h * stride[1] + n * stride[2]; }
};

/// Half a step of a float type, relative to the number: 2^-24 of float32.
double half_step(DType dtype);

/// The step of a float type at x.
double step_at(double x, DType dtype);

/// The largest finite number of a float type; of bfloat16 float32's, which is near enough.
double largest_number(DType dtype);

/// x rounded to a float type.
double rounded(double x, DType dtype);

/// Immutable once made; read by any number of threads. Memory: float64 copies of q, k, v and out, and of q, k and v rounded
/// to each narrower type that somebody may have rounded them to.
class Problem {
 public:
  /// The arguments are such that `attention` takes them; out is shaped as its output, lse too, or absent. What masks and
  /// biases are made of is read in place.
  Problem(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& out,
          const ConstTensor& lse, const AttentionOptions& options, Layout layout);

  const AttentionShape& shape() const { return shape_; }
  const AttentionOptions& options() const { return options_; }
  Layout layout() const { return layout_; }
  double scale() const;

  /// The type that the result is right or wrong in: the narrower of q's and out's.
  DType precision() const { return precision_; }

  /// As they should be read, or with the order of axes in memory that is not theirs.
  View view(Source source, Layout layout) const;
  View view(Source source) const { return view(source, layout_); }

  /// The elements of an array, rounded to a type that `rounds_to` tells of; DType::none: as they are.
  const double* data(Source source, DType rounding = DType::none) const;

  /// Whether q, k and v may have been rounded to a narrower type, which would have changed them.
  bool rounds_to(DType dtype) const;

  /// Whether the elements of out are all numbers of a type narrower than the one they are stored in.
  bool out_could_be(DType dtype) const;

  bool has_lse() const { return !lse_.empty(); }
  double lse(int64_t b, int64_t h, int64_t i) const { return lse_[((b * shape_.h_q) + h) * shape_.n_q + i]; }

  bool masked(int64_t b, int64_t h, int64_t i, int64_t j) const;
  bool in_kept_block(int64_t b, int64_t h, int64_t i, int64_t j) const;
  double bias(int64_t b, int64_t h, int64_t i, int64_t j) const;
  bool has_mask() const { return options_.mask.present(); }
  const std::vector<double>& slopes() const { return slopes_; }
  const std::vector<double>& sinks() const { return sinks_; }
  int64_t q_length(int64_t b) const { return q_lengths_.empty() ? shape_.n_q : q_lengths_[b]; }
  int64_t kv_length(int64_t b) const { return kv_lengths_.empty() ? shape_.n_kv : kv_lengths_[b]; }

 private:
  using Arrays = std::array<std::vector<double>, 4>;  ///< by Source

  AttentionShape shape_;
  AttentionOptions options_;
  Layout layout_;
  DType precision_;
  Arrays exact_;
  std::array<Arrays, 3> rounded_;  ///< to float32, float16 and bfloat16; empty where that changes nothing
  std::array<bool, 3> could_be_{};
  std::vector<double> lse_, slopes_, sinks_;
  std::vector<int64_t> q_lengths_, kv_lengths_;
};

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_PROBLEM_H_
