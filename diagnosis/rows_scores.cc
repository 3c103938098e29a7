// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scores of a variant: which keys take part, and with what.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "diagnosis/rows.h"

namespace foveate::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Product {
  double sum = 0, squares = 0;  ///< of the terms, and of their squares
};

/// Four accumulators each, which compilers keep in registers and processors add to at once.
Product product(const double* x, const double* y, int64_t n) {
  double sum[4] = {}, squares[4] = {};
  int64_t d = 0;
  for (; d + 4 <= n; d += 4) {
    for (int lane = 0; lane < 4; ++lane) {
      const double term = x[d + lane] * y[d + lane];
      sum[lane] += term;
      squares[lane] += term * term;
    }
  }
  for (; d < n; ++d) {
    const double term = x[d] * y[d];
    sum[0] += term;
    squares[0] += term * term;
  }
  return {(sum[0] + sum[1]) + (sum[2] + sum[3]), (squares[0] + squares[1]) + (squares[2] + squares[3])};
}

/// Components that do not lie next to next.
Product product(const double* x, int64_t x_step, const double* y, int64_t y_step, int64_t n) {
  if (x_step == 1 && y_step == 1) return product(x, y, n);
  Product all;
  for (int64_t d = 0; d < n; ++d) {
    const double term = x[d * x_step] * y[d * y_step];
    all.sum += term;
    all.squares += term * term;
  }
  return all;
}

}  // namespace

const double* Rows::value(int64_t b, int64_t h, int64_t j) const {
  return v_ + variant_.v.row(b, key_head(h, variant_.v_head), j);
}

int64_t Rows::key_head(int64_t h, KeyHead which) const {
  const int64_t h_kv = variant_.k.shape[1];
  if (which == KeyHead::first) return 0;
  return which == KeyHead::tiled ? h % h_kv : h / (variant_.q.shape[1] / h_kv);
}

int64_t Rows::key_length(int64_t b) const {
  return std::clamp<int64_t>(problem_.kv_length(b) + variant_.kv_length_off, 0, keys_);
}

int64_t Rows::position(const Place& at) const {
  const AttentionOptions& options = problem_.options();
  if (options.q_offset) return *options.q_offset + at.i;
  if (variant_.align == Align::top_left) return at.i;
  const bool whole = variant_.exchanged || !variant_.positions_by_lengths;
  if (whole) return at.i + keys_ - variant_.q.shape[2];
  return at.i + (variant_.position_off ? key_length(at.b) : problem_.kv_length(at.b)) - problem_.q_length(at.b);
}

double Rows::sink(int64_t h) const {
  if (variant_.one_added) return 0;
  if (problem_.sinks().empty() || variant_.sink == SinkUse::forgotten) return -kInfinity;
  const double sink = problem_.sinks()[static_cast<size_t>(h)];
  return sink == kInfinity ? kNaN : variant_.exponent * sink;
}

double Rows::capped(double score) const {
  const double cap = problem_.options().softcap;
  return (variant_.softcap_multiplied ? cap : 1) * std::tanh(score / cap);
}

bool Rows::in_window(int64_t position, int64_t j) const {
  const int64_t ahead = problem_.options().kv_offset.value_or(0) + j - position;
  return (variant_.window_left < 0 || -ahead <= variant_.window_left) &&
         (variant_.window_right < 0 || ahead <= variant_.window_right);
}

bool Rows::allowed_by_causal(int64_t position, int64_t j) const {
  const int64_t ahead = problem_.options().kv_offset.value_or(0) + j - position;
  switch (variant_.causal_rule) {
    case CausalRule::before_own:
      return ahead < 0;
    case CausalRule::from_own:
      return ahead >= 0;
    default:
      return ahead <= 0;
  }
}

double Rows::bias(const Place& at, int64_t j) const {
  switch (variant_.bias_entry) {
    case Entry::transposed:
      return problem_.bias(at.b, at.h, j, at.i);
    case Entry::of_head_0:
      return problem_.bias(at.b, 0, at.i, j);
    default:
      return problem_.bias(at.b, at.h, at.i, j);
  }
}

/// The score of key j, -inf where it takes no part.
double Rows::pair_score(const Place& at, int64_t position, int64_t j) {
  const int64_t length = variant_.kv_lengths && !variant_.exchanged ? key_length(at.b) : keys_;
  bool hidden =
      j >= length || !in_window(position, j) || (variant_.blocks && !problem_.in_kept_block(at.b, at.h, at.i, j));
  bool late = false;
  double factor = 1, addend = 0;
  const auto rule = [&](Use use, bool allowed) {
    hidden = hidden || (use == Use::hides && !allowed) || (use == Use::inverted && allowed);
    late = late || (use == Use::late && !allowed);
    if (use == Use::multiplied && !allowed) factor = 0;
    if (use == Use::added && allowed) addend += 1;
  };
  const bool in_causal = !variant_.causal_meant || allowed_by_causal(position, j);
  const bool in_mask = !(variant_.mask_entry == Entry::transposed ? problem_.masked(at.b, at.h, j, at.i)
                                                                  : problem_.masked(at.b, at.h, at.i, j));
  if (variant_.mask_or_causal) {
    rule(Use::hides, in_causal || in_mask);
  } else {
    if (variant_.causal_meant) rule(variant_.causal, in_causal);
    if (problem_.has_mask()) rule(variant_.mask, in_mask);
  }
  late_[static_cast<size_t>(j)] = late;
  if (variant_.bias.sign > 0 && bias(at, j) == -kInfinity) hidden = true;
  if (!hidden) return score_of_shown(at, position, j, factor, addend);
  return variant_.softcap == SoftcapPlace::after_masks ? -problem_.options().softcap : -kInfinity;
}

/// Whether finite numbers make infinities on the way to a score, in the type that it is computed in. `most` is the largest
/// number on that way in float64, where inputs may have been infinite.
bool Rows::leaves_range(const Place& at, int64_t j, double most) const {
  const DType computing = size_of(variant_.precision) == 2 ? DType::f32 : variant_.precision;
  const double limit = largest_number(computing) / 4;
  if (std::isfinite(most)) return most >= limit;
  const double* q = q_ + variant_.q.row(at.b, at.h, at.i);
  const double* k = k_ + variant_.k.row(at.b, key_head(at.h, variant_.k_head), j);
  for (int64_t d = 0; d < variant_.q.shape[3]; ++d) {
    const double x = q[d * variant_.q.stride[3]], y = k[d * variant_.k.stride[3]];
    if (std::isfinite(x) && std::isfinite(y) && std::abs(x * y) >= limit) return true;
  }
  return false;
}

double Rows::score_of_shown(const Place& at, int64_t position, int64_t j, double factor, double addend) {
  const int64_t depth = variant_.q.shape[3];
  const Product dot =
      product(q_ + variant_.q.row(at.b, at.h, at.i), variant_.q.stride[3],
              k_ + variant_.k.row(at.b, key_head(at.h, variant_.k_head), j), variant_.k.stride[3], depth);
  const double bias = variant_.bias.sign == 0 ? 0 : variant_.bias.sign * this->bias(at, j);
  double alibi = 0;
  if (!problem_.slopes().empty()) {
    const auto distance = static_cast<double>(std::abs(position - problem_.options().kv_offset.value_or(0) - j));
    const int64_t head = variant_.slopes_reversed ? variant_.q.shape[1] - 1 - at.h : at.h;
    alibi = -variant_.alibi.sign * problem_.slopes()[static_cast<size_t>(head)] * distance;
  }
  double score = dot.sum;
  if (variant_.bias.before_scale) score += bias;
  if (variant_.alibi.before_scale) score += alibi;
  if (variant_.softcap == SoftcapPlace::before_scale) score = capped(score);
  score *= variant_.scale;
  if (variant_.softcap == SoftcapPlace::first) score = capped(score);
  const double size = std::abs(score);
  if (!variant_.bias.before_scale) score += bias;
  if (!variant_.alibi.before_scale) score += alibi;
  if (variant_.softcap == SoftcapPlace::after_addends || variant_.softcap == SoftcapPlace::after_masks) {
    score = capped(score);
  }
  const double most = std::max(std::sqrt(dot.squares), std::max(std::abs(dot.sum), size));
  row_.beyond = row_.beyond || leaves_range(at, j, most);
  const double products = std::sqrt(static_cast<double>(depth)) * std::abs(variant_.scale) * std::sqrt(dot.squares);
  error_ = std::max(error_, 8 * (products + size + std::abs(bias) + std::abs(alibi)));
  score = factor * score + addend;
  if (std::isfinite(score)) largest_ = std::max(largest_, std::abs(score));
  return score;
}

void Rows::make_scores(const Place& at) {
  const int64_t position = this->position(at);
  for (int64_t j = 0; j < keys_; ++j) {
    scores_[static_cast<size_t>(j)] = variant_.exponent * pair_score(at, position, j);
  }
}

}  // namespace foveate::diagnosis
