// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Merging is bound by memory: plain loops over rows, in float64 for either dtype.
#include "foveate/state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tasks.h"
#include "validate.h"
#include "workspace.h"

namespace foveate {
namespace {

/// Rows of a task: some 100 KB at head dim 128, long beside the cost of handing it out.
constexpr int64_t kRowsPerTask = 256;

/// What each state's row counts for, and the lse of both.
struct Shares {
  double a, b, lse;
};

Shares shares_of(double lse_a, double lse_b) {
  if (std::isnan(lse_a) || std::isnan(lse_b)) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan};
  }
  const double m = std::max(lse_a, lse_b);
  const double a = std::exp(lse_a - m), b = std::exp(lse_b - m);
  return {a / (a + b), b / (a + b), m + std::log(a + b)};
}

/// States whose o is of type O and whose lse is of type T.
template <class O, class T>
class Merge {
 public:
  Merge(const State& a, const State& b, const Tensor& o, const Tensor& lse)
      : a_(a), b_(b), o_(o), lse_(lse), shape_(a.o.shape) {}

  Status run(const Execution& execution) {
    const int64_t rows = shape_[0] * shape_[1] * shape_[2];
    Tasks tasks(execution);
    tasks.run((rows + kRowsPerTask - 1) / kRowsPerTask, [&](int64_t task, int64_t) {
      const int64_t last = std::min(rows, (task + 1) * kRowsPerTask);
      for (int64_t row = task * kRowsPerTask; row < last; ++row) one(row);
    });
    return tasks.status();
  }

 private:
  void one(int64_t row) {
    constexpr double kEmpty = -std::numeric_limits<double>::infinity();
    const double lse_a = *at<const T>(a_.lse, row), lse_b = *at<const T>(b_.lse, row);
    const double other = lse_a == kEmpty ? lse_b : lse_a;
    if ((lse_a == kEmpty || lse_b == kEmpty) && other < -kEmpty) {  // neither NaN nor +inf
      return take(row, lse_a == kEmpty ? b_ : a_, other == kEmpty);
    }
    const Shares share = shares_of(lse_a, lse_b);
    if (lse_.present()) *at<T>(lse_, row) = static_cast<T>(share.lse);
    if (!o_.present()) return;
    const O *o_a = at<const O>(a_.o, row), *o_b = at<const O>(b_.o, row);
    O* const o = at<O>(o_, row);
    for (int64_t i = 0; i < shape_[3]; ++i) {
      const double sum =
          share.a * static_cast<T>(o_a[i * a_.o.stride[3]]) + share.b * static_cast<T>(o_b[i * b_.o.stride[3]]);
      o[i * o_.stride[3]] = stored(static_cast<T>(sum));
    }
  }

  /// One state's row alone: a weight of 0 must not meet what an empty row's o may hold.
  void take(int64_t row, const State& state, bool empty) {
    if (lse_.present()) *at<T>(lse_, row) = *at<const T>(state.lse, row);
    if (!o_.present()) return;
    const O* const from = at<const O>(state.o, row);
    O* const o = at<O>(o_, row);
    for (int64_t i = 0; i < shape_[3]; ++i) {
      o[i * o_.stride[3]] = empty ? O{} : stored(static_cast<T>(from[i * state.o.stride[3]]));
    }
  }

  /// -0, which narrowing may make too, becomes +0.
  static O stored(T x) {
    const O narrow = static_cast<O>(x);
    return static_cast<T>(narrow) == T{0} ? O{} : narrow;
  }

  /// The row's first element.
  template <class Element, class View>
  Element* at(const View& view, int64_t row) const {
    const int64_t n = row % shape_[2], h = row / shape_[2] % shape_[1], b = row / shape_[2] / shape_[1];
    return static_cast<Element*>(view.data) + b * view.stride[0] + h * view.stride[1] + n * view.stride[2];
  }

  const State &a_, &b_;
  const Tensor &o_, &lse_;
  const int64_t (&shape_)[4];
};

}  // namespace

Status merge(const State& a, const State& b, const Tensor& o, const Tensor& lse, const Execution& execution) {
  if (Status status = validate(a, b, o, lse); !status.ok()) return status;
  if (Status status = check_workers(execution); !status.ok()) return status;
  if (a.o.shape[0] == 0 || a.o.shape[1] == 0 || a.o.shape[2] == 0) return {};
  switch (a.o.dtype) {
    case DType::f64:
      return Merge<double, double>(a, b, o, lse).run(execution);
    case DType::f16:
      return Merge<Float16, float>(a, b, o, lse).run(execution);
    case DType::bf16:
      return Merge<BFloat16, float>(a, b, o, lse).run(execution);
    default:
      return Merge<float, float>(a, b, o, lse).run(execution);
  }
}

}  // namespace foveate
