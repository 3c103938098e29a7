// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of a variant, one at a time, by plain loops in float64; with what rounding may make of each element.
#ifndef FOVEATE_DIAGNOSIS_ROWS_H_
#define FOVEATE_DIAGNOSIS_ROWS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "diagnosis/problem.h"
#include "diagnosis/variant.h"

namespace foveate::diagnosis {

struct Row {
  std::vector<double> o;
  std::vector<double> tolerance;  ///< of each element of o, in the variant's precision
  std::vector<double> plain;      ///< in 16 bits: o by the plain formula with scores and weights stored in them
  double lse = 0;
  double lse_tolerance = 0;
  bool coarse = false;  ///< in 16 bits: scores so large that the last bit of one is a large part of a weight
  bool beyond =
      false;  ///< products leave the range of the type they are summed in: what comes of that is anybody's guess
  bool empty = false;  ///< no key takes part
  bool open = false;   ///< so near to an overflow that rounding decides: NaN, zeros or what is here may come of it
};

/// One thread's. The problem and the variant must outlive it. Memory: O(n_kv), and a column of sums more for other axes.
class Rows {
 public:
  /// `sure`: the tolerance is held down where rounding could explain nearly anything, as an accusation wants it.
  Rows(const Problem& problem, const Variant& variant, bool sure);

  /// Row i of head h, whose q, keys and options the variant says. Overwritten by the next call.
  const Row& row(int64_t b, int64_t h, int64_t i);

  const Row& last() const { return row_; }

  /// The weights of the last row, 0 where a key takes no part.
  const std::vector<double>& weights() const { return weights_; }

  /// Where key j's value for head h of sequence b begins.
  const double* value(int64_t b, int64_t h, int64_t j) const;

 private:
  struct Place {
    int64_t b = -1, h = -1, i = -1;
    bool operator==(const Place&) const = default;
  };

  void make_scores(const Place& at);
  double pair_score(const Place& at, int64_t position, int64_t j);
  double score_of_shown(const Place& at, int64_t position, int64_t j, double factor, double addend);
  bool leaves_range(const Place& at, int64_t j, double most) const;
  double capped(double score) const;
  bool in_window(int64_t position, int64_t j) const;
  bool allowed_by_causal(int64_t position, int64_t j) const;
  int64_t position(const Place& at) const;
  int64_t key_head(int64_t h, KeyHead which) const;
  int64_t key_length(int64_t b) const;
  double bias(const Place& at, int64_t j) const;
  double sink(int64_t h) const;

  void weigh_keys(const Place& at);
  void weigh_unshifted(double sink);
  void weigh_along_axis(const Place& at);
  void sum_along_axis(const Place& at);
  void add_to_line(size_t j, double score);
  void weigh_transposed(const Place& at);
  void sum_rows_of_head(const Place& at);
  void weigh_again();
  void finish_lse(double top, double z, double z_without_sink);
  void sum_values(const Place& at);
  void make_plain(const Place& at);
  void set_empty(const Place& at);
  void set_past_length();
  void weigh(const Place& at);
  void set_tolerances();

  const Problem& problem_;
  const Variant& variant_;
  const bool sure_;
  const double *q_, *k_, *v_;
  int64_t keys_ = 0;
  bool any_late_ = false;

  std::vector<double> scores_, weights_;
  std::vector<char> late_;  ///< weights that a late rule takes away
  double error_ = 0;        ///< E: how many half steps a score may be off by
  double largest_ = 0;      ///< of the scores that take part
  double lost_ = 0;         ///< the share of weights that powers near 0 are too coarse for
  Place line_;              ///< which line of the axis is summed below
  std::vector<double> tops_, sums_;
  double line_error_ = 0;
  std::vector<double> magnitude_, spread_;
  Row row_;
};

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_ROWS_H_
