// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How strongly the weights of random rows answer to their query.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "draws.h"
#include "foveate/attention_backward.h"
#include "gradients.h"

namespace foveate::web {
namespace {

constexpr int32_t kCheckedDraws = 10;      // every tenth
constexpr int32_t kCheckedComponents = 4;  // of the query
constexpr double kStep = 1e-4;             // scores move by about as much: the differences' own error is some 1e-8
constexpr double kSmallest = 1e-30;        // entries below it are no float32 to compare

}  // namespace

/// With the identity for values, o is p; and row j of the identity as d_o asks for d p_j / d q. All rows have the one
/// query.
///
/// Two things keep float32 exact enough where one weight has nearly all:
///   Of the largest weight m the opposite is asked, all weights but it, with a minus. Weights sum to 1, so that is the
///   same derivative; but 1 - p_m, which rounds to nothing where p_m nears 1, need not be formed.
///   Each row of d_o is times a power of two near 1 / p_j, which is divided out again. Products p_j p_k of small
///   weights would be subnormal, and slow: a draw at d_k 512 took 13 ms, and takes 2.
class Sensitivity {
 public:
  Sensitivity(int32_t d_k, int32_t keys, int32_t draws, uint32_t seed, double divisor)
      : d_k_(d_k),
        keys_(keys),
        draws_(draws),
        divisor_(divisor),
        normal_(seed),
        places_(seed),
        q_(static_cast<size_t>(d_k)),
        k_(area(keys, d_k)),
        values_(area(keys, keys)),
        d_o_(values_.size()),
        factors_(static_cast<size_t>(keys)),
        weights_(static_cast<size_t>(keys)),
        dq_(k_.size()) {
    for (int32_t j = 0; j < keys; ++j) values_[area(j, keys + 1)] = 1;
  }

  int32_t step(int32_t count) {
    for (int32_t i = 0; i < count && done() < draws_; ++i) {
      if (!report_ok(draw())) return -1;
    }
    return done();
  }

  void percentiles(int32_t n, const double* at, double* norms) const {
    for (int32_t i = 0; i < n; ++i) norms[i] = percentile(norms_, at[i]);
  }

  void check(double* to) const {
    to[0] = difference_;
    to[1] = entries_;
  }

 private:
  static size_t area(int32_t rows, int32_t columns) { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }
  static bool report_ok(const Status& status) { return report(status) == 0; }

  int32_t done() const { return static_cast<int32_t>(norms_.size()); }

  Status draw() {
    fill(normal_, q_.data(), q_.size());
    fill(normal_, k_.data(), k_.size());
    if (Status status = differentiate(); !status.ok()) return status;
    double squares = 0;
    for (int32_t j = 0; j < keys_; ++j) {
      for (int32_t c = 0; c < d_k_; ++c) squares += slope(j, c) * slope(j, c);
    }
    const bool checked = done() % kCheckedDraws == 0;
    insert(std::sqrt(squares), norms_);
    return checked ? compare() : Status{};
  }

  Status differentiate() {
    // Rows that are all the same: stride 0.
    const ConstTensor q{q_.data(), DType::f32, {1, 1, keys_, d_k_}, {0, 0, 0, 1}};
    const ConstTensor k = view(std::as_const(k_).data(), 1, 1, keys_, d_k_);
    const ConstTensor v = view(std::as_const(values_).data(), 1, 1, keys_, keys_);
    const AttentionOptions options{.scale = 1 / divisor_};
    ConstTensor one = q;
    one.shape[2] = 1;
    float lse = 0;
    const AttentionOutputs outputs{.o = view(weights_.data(), 1, 1, 1, keys_), .lse = view(&lse, 1, 1, 1, 1)};
    if (Status status = attention(one, k, v, outputs, options); !status.ok()) return status;

    largest_ = static_cast<int32_t>(std::max_element(weights_.begin(), weights_.end()) - weights_.begin());
    ask();
    const ConstTensor o{weights_.data(), DType::f32, {1, 1, keys_, keys_}, {0, 0, 0, 1}};
    const ConstTensor lses{&lse, DType::f32, {1, 1, keys_, 1}, {0, 0, 0, 1}};
    const ConstTensor d_o = view(std::as_const(d_o_).data(), 1, 1, keys_, keys_);
    return attention_backward(q, k, v, o, lses, d_o, {.dq = view(dq_.data(), 1, 1, keys_, d_k_)}, options);
  }

  void ask() {
    std::fill(d_o_.begin(), d_o_.end(), 0.0F);
    double others = 0;
    for (int32_t j = 0; j < keys_; ++j) others += j == largest_ ? 0 : weights_[static_cast<size_t>(j)];
    for (int32_t j = 0; j < keys_; ++j) {
      const double change = j == largest_ ? others : weights_[static_cast<size_t>(j)];
      const int exponent = change > 0 ? std::min(-std::ilogb(change), 100) : 0;
      factors_[static_cast<size_t>(j)] = std::ldexp(1.0, exponent);
      const auto factor = static_cast<float>(factors_[static_cast<size_t>(j)]);
      float* const row = &d_o_[area(j, keys_)];
      if (j == largest_) std::fill_n(row, keys_, -factor);
      row[j] = j == largest_ ? 0 : factor;
    }
  }

  /// d p_j / d q_c
  double slope(int32_t j, int32_t c) const {
    return dq_[area(j, d_k_) + static_cast<size_t>(c)] / factors_[static_cast<size_t>(j)];
  }

  /// Some components of the query are moved, one at a time.
  Status compare() {
    const std::vector<double> k(k_.begin(), k_.end());
    std::vector<double> q(q_.begin(), q_.end()), before, after;
    double largest = kSmallest, difference = 0;
    for (int32_t i = 0; i < kCheckedComponents; ++i) {
      const int32_t c = places_.below(d_k_);
      double& moved = q[static_cast<size_t>(c)];
      const double from = moved, step = kStep * divisor_;
      moved = from - step;
      if (Status status = weigh(q, k, &before); !status.ok()) return status;
      moved = from + step;
      if (Status status = weigh(q, k, &after); !status.ok()) return status;
      moved = from;
      for (int32_t j = 0; j < keys_; ++j) {
        const double expected = (after[static_cast<size_t>(j)] - before[static_cast<size_t>(j)]) / (2 * step);
        largest = std::max(largest, std::abs(expected));
        difference = std::max(difference, std::abs(expected - slope(j, c)));
      }
      entries_ += keys_;
    }
    difference_ = std::max(difference_, difference / largest);
    return {};
  }

  /// The weights in float64, of the largest the others' sum with a minus.
  Status weigh(const std::vector<double>& q, const std::vector<double>& k, std::vector<double>* to) const {
    to->resize(static_cast<size_t>(keys_));
    const ConstTensor keys = view(k.data(), 1, 1, keys_, d_k_);
    ConstTensor v = keys;  // values do not matter
    v.shape[3] = 1;
    const AttentionOutputs outputs{.weights = view(to->data(), 1, 1, 1, keys_)};
    if (Status status = attention(view(q.data(), 1, 1, 1, d_k_), keys, v, outputs, {.scale = 1 / divisor_});
        !status.ok()) {
      return status;
    }
    double& most = (*to)[static_cast<size_t>(largest_)];
    most = 0;
    double others = 0;
    for (const double p : *to) others += p;
    most = -others;
    return {};
  }

  int32_t d_k_, keys_, draws_;
  double divisor_;
  Normal normal_;
  Random places_;
  std::vector<float> q_, k_, values_, d_o_;
  std::vector<double> factors_;  ///< of d_o's rows
  std::vector<float> weights_, dq_;
  int32_t largest_ = 0;        ///< the place of the largest weight
  std::vector<double> norms_;  ///< sorted
  double difference_ = 0, entries_ = 0;
};

Sensitivity* fv_sensitivity_begin(int32_t d_k, int32_t keys, int32_t draws, uint32_t seed, double divisor) {
  if (!in_range("d_k", d_k, kMaxHeadDim) || !in_range("keys", keys, kMaxKeys) || !in_range("draws", draws, kMaxCount) ||
      !positive("divisor", divisor)) {
    return nullptr;
  }
  return new Sensitivity(d_k, keys, draws, seed, divisor);
}

int32_t fv_sensitivity_step(Sensitivity* sensitivity, int32_t count) { return sensitivity->step(count); }
void fv_sensitivity_percentiles(const Sensitivity* sensitivity, int32_t n, const double* percentiles, double* norms) {
  sensitivity->percentiles(n, percentiles, norms);
}
void fv_sensitivity_check(const Sensitivity* sensitivity, double* check) { sensitivity->check(check); }
void fv_sensitivity_end(Sensitivity* sensitivity) { delete sensitivity; }

}  // namespace foveate::web
