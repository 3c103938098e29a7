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

bool is_narrow(DType dtype) { return size_of(dtype) == 2; }

/// Past these, exp overflows.
double exp_limit(DType dtype) { return dtype == DType::f64 ? 709.7827 : dtype == DType::f16 ? 11.08989 : 88.72284; }

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
  if (variant_.divided) {
    for (double& a : weights_) a /= z;
  }
  finish_lse(top, z, without_sink);
}

/// In the numbers of a type: what overflows, overflows. Near its ends, where the last bit decides, the row is left open.
void Rows::weigh_unshifted(double sink) {
  const double limit = exp_limit(variant_.powers), largest = largest_number(variant_.powers);
  const double margin = 0.01 + half_step(variant_.precision) * error_;
  bool overflows = false;
  const auto power = [&](double s) {
    if (std::abs(s - limit) < margin) row_.open = true;
    overflows = overflows || s >= limit + margin;
    return s > limit ? kInfinity : rounded(std::exp(s), variant_.powers);
  };
  double z = power(sink);
  for (size_t j = 0; j < scores_.size(); ++j) z += weights_[j] = scores_[j] == -kInfinity ? 0 : power(scores_[j]);
  if (variant_.divided && z > 0.9 * largest && z < 1.1 * largest) row_.open = true;
  constexpr double kTold = 1e-3;
  lost_ = std::min(1.0, static_cast<double>(keys_) * smallest_step(variant_.powers) / z);
  if (lost_ > kTold) row_.open = true;
  // Divided by an infinite sum, an infinite power is NaN whatever becomes of the others.
  if (overflows && variant_.divided) row_.open = false;
  if (row_.open) return;
  if (z > largest) z = kInfinity;
  if (variant_.divided) {
    for (double& a : weights_) a /= z;
  }
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
    if (!variant_.padded_lines && line.i >= problem_.q_length(line.b)) continue;
    make_scores(line);
    for (size_t j = 0; j < scores_.size(); ++j) add_to_line(j, scores_[j]);
  }
  line_error_ = error_;
}

void Rows::add_to_line(size_t j, double score) {
  if (score == -kInfinity) return;
  const double top = larger(tops_[j], score);
  sums_[j] = sums_[j] * (tops_[j] == -kInfinity ? 0 : std::exp(tops_[j] - top)) + std::exp(score - top);
  tops_[j] = top;
}

/// What each query's weights of a head are divided by; queries are as many as keys here.
void Rows::sum_rows_of_head(const Place& at) {
  Place line = at;
  line.i = 0;
  if (line == line_) return;
  line_ = line;
  const double sink = this->sink(at.h);
  tops_.assign(scores_.size(), -kInfinity);
  sums_.assign(scores_.size(), 0);
  error_ = 0;
  for (size_t i = 0; i < scores_.size(); ++i) {
    line.i = static_cast<int64_t>(i);
    make_scores(line);
    for (const double score : scores_) add_to_line(i, score);
    add_to_line(i, sink);
  }
  line_error_ = error_;
}

void Rows::weigh_transposed(const Place& at) {
  sum_rows_of_head(at);
  for (size_t j = 0; j < scores_.size(); ++j) {
    const Place from{at.b, at.h, static_cast<int64_t>(j)};
    const auto to = static_cast<size_t>(at.i);
    const double score = variant_.exponent * pair_score(from, position(from), at.i);
    const bool late = late_[to] != 0;
    late_[to] = 0;
    scores_[j] = late ? -kInfinity : score;
    weights_[j] = scores_[j] == -kInfinity ? 0 : std::exp(score - tops_[j]) / sums_[j];
  }
  std::fill(late_.begin(), late_.end(), 0);
  error_ = std::max(error_, line_error_);
  finish_lse(tops_[static_cast<size_t>(at.i)], sums_[static_cast<size_t>(at.i)], sums_[static_cast<size_t>(at.i)]);
}

/// A softmax of the weights.
void Rows::weigh_again() {
  double z = 0;
  for (size_t j = 0; j < weights_.size(); ++j) {
    if (variant_.afterwards == Afterwards::softmax_of_all) scores_[j] = std::max(scores_[j], 0.0);
    weights_[j] = scores_[j] == -kInfinity ? 0 : std::exp(weights_[j]);
    z += weights_[j];
  }
  for (double& a : weights_) a /= z;
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
  const bool sums_to_one = variant_.axis == SoftmaxAxis::keys && !any_late_ && variant_.divided &&
                           variant_.afterwards == Afterwards::nothing;
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
  const bool by_softmax = variant_.axis == SoftmaxAxis::keys && variant_.afterwards == Afterwards::nothing;
  if (by_softmax && !row_.empty) {
    double top = variant_.sink == SinkUse::counted ? sink(at.h) : -kInfinity;
    for (double& s : scores_) top = larger(top, s = rounded(s, dtype));
    if (!variant_.shifted) top = 0;
    double z = std::exp(variant_.sink == SinkUse::unshifted ? sink(at.h) : sink(at.h) - top);
    for (size_t j = 0; j < weights.size(); ++j)
      z += weights[j] = scores_[j] == -kInfinity ? 0 : std::exp(scores_[j] - top);
    for (size_t j = 0; j < weights.size(); ++j) weights[j] = late_[j] ? 0 : weights[j] / (variant_.divided ? z : 1);
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
  } else if (variant_.afterwards == Afterwards::transposed) {
    weigh_transposed(at);
  } else if (variant_.axis == SoftmaxAxis::keys) {
    make_scores(at);
    weigh_keys(at);
    if (variant_.afterwards != Afterwards::nothing && !row_.empty) weigh_again();
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
  row_.empty = row_.open = row_.coarse = row_.beyond = false;
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
