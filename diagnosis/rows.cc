// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace foveate::diagnosis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The larger of the two; NaN if either is, unlike std::max.
double larger(double x, double y) { return std::isnan(x) || x >= y ? x : y; }

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

bool is_narrow(DType dtype) { return size_of(dtype) == 2; }

/// Past these, exp overflows.
double exp_limit(DType dtype) { return dtype == DType::f64 ? 709.7827 : dtype == DType::f16 ? 11.08989 : 88.72284; }

double largest_number(DType dtype) {
  return dtype == DType::f64   ? std::numeric_limits<double>::max()
         : dtype == DType::f16 ? 65504.0
                               : static_cast<double>(std::numeric_limits<float>::max());
}

/// What the last bit of numbers near 0 stands for, or more where processors may flush them.
double smallest_number(DType dtype) {
  return dtype == DType::f64 ? std::numeric_limits<double>::min() : dtype == DType::f16 ? 0x1p-24 : 0x1p-126;
}

/// The smallest number above 0.
double smallest_step(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::numeric_limits<double>::denorm_min();
    case DType::f16:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-133;
    default:
      return 0x1p-149;
  }
}

double sum_error(DType precision, int64_t terms) {
  return 2 * half_step(precision) * (16 + 2 * std::sqrt(static_cast<double>(terms)));
}

}  // namespace

Rows::Rows(const Problem& problem, const Variant& variant, bool sure)
    : problem_(problem),
      variant_(variant),
      sure_(sure),
      q_(problem.data(variant.q.source, variant.rounding)),
      k_(problem.data(variant.k.source, variant.rounding)),
      v_(problem.data(variant.v.source, variant.rounding)),
      keys_(variant.k.shape[2]),
      any_late_(variant.mask == Use::late || variant.causal == Use::late) {
  const auto keys = static_cast<size_t>(keys_), depth = static_cast<size_t>(variant.v.shape[3]);
  for (std::vector<double>* row : {&scores_, &weights_}) row->resize(keys);
  late_.resize(keys);
  for (std::vector<double>* row : {&row_.o, &row_.tolerance, &row_.plain, &magnitude_, &spread_}) row->resize(depth);
}

const double* Rows::value(int64_t b, int64_t h, int64_t j) const { return v_ + variant_.v.row(b, key_head(h), j); }

int64_t Rows::key_head(int64_t h) const {
  const int64_t h_kv = variant_.k.shape[1];
  return variant_.heads_tiled ? h % h_kv : h / (variant_.q.shape[1] / h_kv);
}

int64_t Rows::position(const Place& at) const {
  const AttentionOptions& options = problem_.options();
  if (options.q_offset) return *options.q_offset + at.i;
  if (variant_.align == Align::top_left) return at.i;
  const bool whole = variant_.exchanged || !variant_.positions_by_lengths;
  return at.i + (whole ? keys_ - variant_.q.shape[2] : problem_.kv_length(at.b) - problem_.q_length(at.b));
}

double Rows::sink(int64_t h) const {
  if (problem_.sinks().empty() || variant_.sink == SinkUse::forgotten) return -kInfinity;
  const double sink = problem_.sinks()[static_cast<size_t>(h)];
  return sink == kInfinity ? kNaN : sink;
}

double Rows::capped(double score) const {
  const double cap = problem_.options().softcap;
  return cap * std::tanh(score / cap);
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

/// The score of key j, -inf where it takes no part.
double Rows::pair_score(const Place& at, int64_t position, int64_t j) {
  const int64_t length = variant_.kv_lengths && !variant_.exchanged ? problem_.kv_length(at.b) : keys_;
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
  if (problem_.options().causal) rule(variant_.causal, allowed_by_causal(position, j));
  if (problem_.options().mask.present()) rule(variant_.mask, !problem_.masked(at.b, at.h, at.i, j));
  late_[static_cast<size_t>(j)] = late;
  if (variant_.bias.sign > 0 && problem_.bias(at.b, at.h, at.i, j) == -kInfinity) hidden = true;
  if (!hidden) return score_of_shown(at, position, j, factor, addend);
  return variant_.softcap == SoftcapPlace::after_masks ? -problem_.options().softcap : -kInfinity;
}

double Rows::score_of_shown(const Place& at, int64_t position, int64_t j, double factor, double addend) {
  const int64_t depth = variant_.q.shape[3];
  const Product dot =
      product(q_ + variant_.q.row(at.b, at.h, at.i), k_ + variant_.k.row(at.b, key_head(at.h), j), depth);
  const double bias = variant_.bias.sign == 0 ? 0 : variant_.bias.sign * problem_.bias(at.b, at.h, at.i, j);
  double alibi = 0;
  if (!problem_.slopes().empty()) {
    const auto distance = static_cast<double>(std::abs(position - problem_.options().kv_offset.value_or(0) - j));
    alibi = -variant_.alibi.sign * problem_.slopes()[static_cast<size_t>(at.h)] * distance;
  }
  double score = dot.sum;
  if (variant_.bias.before_scale) score += bias;
  if (variant_.alibi.before_scale) score += alibi;
  score *= variant_.scale;
  if (variant_.softcap == SoftcapPlace::first) score = capped(score);
  const double size = std::abs(score);
  if (!variant_.bias.before_scale) score += bias;
  if (!variant_.alibi.before_scale) score += alibi;
  if (variant_.softcap == SoftcapPlace::after_addends || variant_.softcap == SoftcapPlace::after_masks) {
    score = capped(score);
  }
  // Where products leave the range of the type they are summed in, an infinity or NaN is what that type has to give.
  const DType computing = is_narrow(variant_.precision) ? DType::f32 : variant_.precision;
  const double most = std::max(std::sqrt(dot.squares), std::max(std::abs(dot.sum), size));
  if (most >= largest_number(computing) / 4 && (std::isfinite(most) || computing == DType::f64)) row_.open = true;
  const double products = std::sqrt(static_cast<double>(depth)) * std::abs(variant_.scale) * std::sqrt(dot.squares);
  error_ = std::max(error_, 8 * (products + size + std::abs(bias) + std::abs(alibi)));
  score = factor * score + addend;
  if (std::isfinite(score)) largest_ = std::max(largest_, std::abs(score));
  return score;
}

void Rows::make_scores(const Place& at) {
  const int64_t position = this->position(at);
  for (int64_t j = 0; j < keys_; ++j) scores_[static_cast<size_t>(j)] = pair_score(at, position, j);
}

void Rows::finish_lse(double top, double z, double z_without_sink) {
  const DType computing = is_narrow(variant_.precision) ? DType::f32 : variant_.precision;
  row_.lse = top + std::log(z);
  row_.lse_tolerance = sum_error(variant_.precision, keys_) + 2 * half_step(variant_.precision) * error_;
  if (is_narrow(variant_.precision)) row_.lse_tolerance = 4 * half_step(variant_.precision) * (largest_ + 1);
  switch (variant_.lse) {
    case LseKind::base_2:
      row_.lse /= std::log(2.0);
      break;
    case LseKind::without_maximum:
      row_.lse = std::log(z);
      break;
    case LseKind::without_sink:
      row_.lse = top + std::log(z_without_sink);
      break;
    case LseKind::sum:
      row_.lse_tolerance *= std::exp(row_.lse);
      row_.lse = rounded(std::exp(row_.lse), computing);
      break;
    default:
      break;
  }
  row_.lse_tolerance += 4 * half_step(computing) * (std::isfinite(row_.lse) ? std::abs(row_.lse) : 0);
}

void Rows::weigh_keys(const Place& at) {
  const double sink = this->sink(at.h);
  double top = -kInfinity;
  for (const double s : scores_) top = larger(top, s);
  if (top == -kInfinity) return set_empty(at);
  if (!variant_.shifted) weigh_unshifted(sink);
  if (!variant_.shifted && !row_.open) return;
  if (variant_.sink == SinkUse::counted) top = larger(top, sink);
  double z = 0;
  for (size_t j = 0; j < scores_.size(); ++j)
    z += weights_[j] = scores_[j] == -kInfinity ? 0 : std::exp(scores_[j] - top);
  const double without_sink = z;
  z += std::exp(variant_.sink == SinkUse::unshifted ? sink : sink - top);
  for (double& a : weights_) a /= z;
  finish_lse(top, z, without_sink);
}

/// In the numbers of a type: what overflows, overflows. Near its ends, where the last bit decides, the row is left open.
void Rows::weigh_unshifted(double sink) {
  const double limit = exp_limit(variant_.powers), largest = largest_number(variant_.powers);
  const auto power = [&](double s) {
    if (std::abs(s - limit) < 0.01 + half_step(variant_.precision) * error_) row_.open = true;
    return s > limit ? kInfinity : rounded(std::exp(s), variant_.powers);
  };
  double z = power(sink);
  for (size_t j = 0; j < scores_.size(); ++j) z += weights_[j] = scores_[j] == -kInfinity ? 0 : power(scores_[j]);
  if (z > 0.9 * largest && z < 1.1 * largest) row_.open = true;
  constexpr double kTold = 1e-3;
  lost_ = std::min(1.0, static_cast<double>(keys_) * smallest_step(variant_.powers) / z);
  if (lost_ > kTold) row_.open = true;
  if (row_.open) return;
  if (z > largest) z = kInfinity;
  for (double& a : weights_) a /= z;
  finish_lse(0, z, z);
}

/// Maximum and sum over the line of the axis that each key's score is on, and the error of scores along it.
void Rows::sum_along_axis(const Place& at) {
  Place line = at;
  int64_t& moving = variant_.axis == SoftmaxAxis::queries ? line.i
                    : variant_.axis == SoftmaxAxis::heads ? line.h
                                                          : line.b;
  moving = 0;
  if (line == line_) return;
  line_ = line;
  const int64_t extent = variant_.axis == SoftmaxAxis::queries ? variant_.q.shape[2]
                         : variant_.axis == SoftmaxAxis::heads ? variant_.q.shape[1]
                                                               : variant_.q.shape[0];
  tops_.assign(scores_.size(), -kInfinity);
  sums_.assign(scores_.size(), 0);
  error_ = 0;
  for (; moving < extent; ++moving) {
    make_scores(line);
    for (size_t j = 0; j < scores_.size(); ++j) {
      if (scores_[j] == -kInfinity) continue;
      const double top = larger(tops_[j], scores_[j]);
      sums_[j] = sums_[j] * (tops_[j] == -kInfinity ? 0 : std::exp(tops_[j] - top)) + std::exp(scores_[j] - top);
      tops_[j] = top;
    }
  }
  line_error_ = error_;
}

void Rows::weigh_along_axis(const Place& at) {
  sum_along_axis(at);
  make_scores(at);
  error_ = std::max(error_, line_error_);
  for (size_t j = 0; j < scores_.size(); ++j) {
    weights_[j] = scores_[j] == -kInfinity ? 0 : std::exp(scores_[j] - tops_[j]) / sums_[j];
  }
}

/// o, and what its tolerance is made of: sum of |a v|, and how far values that have weight are apart, so that a row with one
/// key's weight alone is not excused by the size of its score.
void Rows::sum_values(const Place& at) {
  const size_t depth = row_.o.size();
  const bool sums_to_one = variant_.axis == SoftmaxAxis::keys && !any_late_;
  const auto heaviest = std::max_element(weights_.begin(), weights_.end()) - weights_.begin();
  const double* centre = value(at.b, at.h, heaviest);
  double rest = 1;
  for (std::vector<double>* sum : {&row_.o, &row_.tolerance, &magnitude_, &spread_})
    std::fill(sum->begin(), sum->end(), 0);
  for (size_t j = 0; j < weights_.size(); ++j) {
    if (scores_[j] == -kInfinity) continue;
    const double a = weights_[j], size = std::abs(a);
    const double* v = value(at.b, at.h, static_cast<int64_t>(j));
    rest -= a;
    for (size_t d = 0; d < depth; ++d) {
      const double apart = v[d] - centre[d];
      row_.o[d] += a * v[d];
      magnitude_[d] += size * std::abs(v[d]);
      spread_[d] += size * apart * apart;
    }
    if (variant_.axis != SoftmaxAxis::none) continue;
    for (size_t d = 0; d < depth; ++d) row_.tolerance[d] += std::abs(v[d]);
  }
  for (size_t d = 0; d < depth; ++d) {
    if (variant_.axis == SoftmaxAxis::none) {
      spread_[d] = row_.tolerance[d];
    } else {
      spread_[d] = sums_to_one ? std::sqrt(spread_[d] + std::max(0.0, rest) * centre[d] * centre[d]) : magnitude_[d];
    }
  }
}

/// Scores and weights rounded, sums not.
void Rows::make_plain(const Place& at) {
  const DType dtype = variant_.precision;
  std::vector<double> weights = weights_;
  if (variant_.axis == SoftmaxAxis::keys && variant_.shifted && !row_.empty) {
    double top = variant_.sink == SinkUse::counted ? sink(at.h) : -kInfinity;
    for (double& s : scores_) top = larger(top, s = rounded(s, dtype));
    double z = std::exp(variant_.sink == SinkUse::unshifted ? sink(at.h) : sink(at.h) - top);
    for (size_t j = 0; j < weights.size(); ++j)
      z += weights[j] = scores_[j] == -kInfinity ? 0 : std::exp(scores_[j] - top);
    for (size_t j = 0; j < weights.size(); ++j) weights[j] = late_[j] ? 0 : weights[j] / z;
  }
  std::fill(row_.plain.begin(), row_.plain.end(), 0);
  for (size_t j = 0; j < weights.size(); ++j) {
    if (scores_[j] == -kInfinity) continue;
    const double a = rounded(weights[j], dtype);
    const double* v = value(at.b, at.h, static_cast<int64_t>(j));
    for (size_t d = 0; d < row_.plain.size(); ++d) row_.plain[d] += a * v[d];
  }
  for (double& x : row_.plain) x = rounded(x, dtype);
}

void Rows::set_empty(const Place& at) {
  row_.empty = true;
  row_.lse = sink(at.h);
  row_.lse_tolerance = 4 * half_step(variant_.precision) * (std::isfinite(row_.lse) ? std::abs(row_.lse) : 0);
  std::fill(weights_.begin(), weights_.end(), 0);
  const double o = std::isnan(row_.lse) || variant_.empty == EmptyRow::nan ? kNaN : 0;
  std::fill(row_.o.begin(), row_.o.end(), o);
  std::fill(row_.tolerance.begin(), row_.tolerance.end(), 0);
  if (keys_ == 0 || (variant_.empty != EmptyRow::mean && variant_.empty != EmptyRow::any)) return;
  // `plain` holds the mean here, which `any` takes as well.
  const double share = 1 / static_cast<double>(keys_);
  std::fill(row_.plain.begin(), row_.plain.end(), 0);
  for (int64_t j = 0; j < keys_; ++j) {
    const double* v = value(at.b, at.h, j);
    for (size_t d = 0; d < row_.plain.size(); ++d) {
      row_.plain[d] += share * v[d];
      row_.tolerance[d] += 2 * sum_error(variant_.precision, keys_) * share * std::abs(v[d]);
    }
  }
  if (variant_.empty == EmptyRow::mean) row_.o = row_.plain;
}

/// There is no such row, and nothing of it is read.
void Rows::set_past_length() {
  for (std::vector<double>* all : {&row_.o, &row_.plain, &row_.tolerance, &weights_})
    std::fill(all->begin(), all->end(), 0);
  row_.lse = -kInfinity;
  row_.lse_tolerance = 0;
}

/// Fills the weights, or says that the row is empty.
void Rows::weigh(const Place& at) {
  if (keys_ == 0) {
    set_empty(at);
  } else if (variant_.axis == SoftmaxAxis::keys) {
    make_scores(at);
    weigh_keys(at);
  } else if (variant_.axis == SoftmaxAxis::none) {
    make_scores(at);
    for (size_t j = 0; j < scores_.size(); ++j) weights_[j] = scores_[j] == -kInfinity ? 0 : scores_[j];
  } else {
    weigh_along_axis(at);
  }
  for (size_t j = 0; any_late_ && j < weights_.size(); ++j) {
    if (late_[j]) weights_[j] = 0;
  }
}

void Rows::set_tolerances() {
  const DType precision = variant_.precision;
  const double u = half_step(precision), usual = sum_error(precision, keys_);
  const bool narrow = is_narrow(precision);
  // In 16 bits scores round to them, and that is what counts.
  const double drift = std::expm1(std::min(2 * u * (narrow ? largest_ : error_), sure_ && !narrow ? 0.05 : 50.0));
  row_.coarse = narrow && drift > 0.2;
  // Weights below the smallest normal number have few bits, or none.
  const double underflow = static_cast<double>(keys_) * 0x1p4 * smallest_number(precision);
  // Equal terms round alike, time after time, where others' errors partly cancel.
  const double worst = u * static_cast<double>(keys_ + 16);
  for (size_t d = 0; d < row_.o.size(); ++d) {
    const bool equal_terms = spread_[d] < 0.01 * magnitude_[d];
    const double sums = equal_terms ? std::max(usual, worst) : usual;
    row_.tolerance[d] = underflow + 2 * lost_ * (magnitude_[d] + spread_[d]) +
                        (narrow ? 8 * u * magnitude_[d] + 2 * drift * spread_[d] + step_at(row_.o[d], precision)
                                : sums * magnitude_[d] + drift * spread_[d]);
  }
}

const Row& Rows::row(int64_t b, int64_t h, int64_t i) {
  const Place at{b, h, i};
  row_.empty = row_.open = row_.coarse = false;
  error_ = largest_ = lost_ = 0;
  if (variant_.q_lengths && !variant_.exchanged && i >= problem_.q_length(b)) {
    set_past_length();
    return row_;
  }
  weigh(at);
  if (row_.empty) return row_;
  sum_values(at);
  set_tolerances();
  if (is_narrow(variant_.precision)) make_plain(at);
  return row_;
}

}  // namespace foveate::diagnosis
