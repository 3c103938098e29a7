// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/bench_measure.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "cli/errors.h"
#include "foveate/attention_backward.h"
#include "foveate/target.h"
#include "limits/clock.h"
#include "limits/huge_pages.h"
#include "limits/limits.h"

namespace foveate::cli {
namespace {

using limits::Array;
using limits::Product;

/// Normal numbers of a type, over and over: a prime number of them, so that no two rows are the same for long.
template <class T>
std::vector<T> pattern(unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<T> numbers(65521);
  for (T& x : numbers) {
    const float number = normal(generator);
    if constexpr (std::is_same_v<T, int8_t>) {
      x = static_cast<int8_t>(std::lround(std::clamp(32 * number, -127.0f, 127.0f)));
    } else {
      x = static_cast<T>(number);
    }
  }
  return numbers;
}

template <class T>
void fill_with(Array<char>& bytes, unsigned seed) {
  const std::vector<T> numbers = pattern<T>(seed);
  const size_t period = numbers.size() * sizeof(T);
  for (size_t at = 0; at < bytes.size(); at += period) {
    std::memcpy(bytes.data() + at, numbers.data(), std::min(period, bytes.size() - at));
  }
}

void fill(Array<char>& bytes, DType dtype, unsigned seed) {
  if (dtype == DType::f64) return fill_with<double>(bytes, seed);
  if (dtype == DType::f32) return fill_with<float>(bytes, seed);
  if (dtype == DType::f16) return fill_with<Float16>(bytes, seed);
  if (dtype == DType::bf16) return fill_with<BFloat16>(bytes, seed);
  fill_with<int8_t>(bytes, seed);
}

/// An array that owns its memory.
struct Owned {
  Array<char> bytes;
  Tensor view;

  Owned(DType dtype, int64_t b, int64_t h, int64_t n, int64_t d)
      : bytes(static_cast<size_t>(b * h * n * d * size_of(dtype))),
        view{bytes.data(), dtype, {b, h, n, d}, {h * n * d, n * d, d, 1}} {}
};

/// The arrays of a work, and the call.
class Call {
 public:
  explicit Call(const BenchWork& work)
      : work_(work),
        s_(work.shape),
        q_(s_.dtype, s_.b, s_.h_q, s_.n_q, s_.d_k),
        k_(work.stored, s_.b, s_.h_kv, s_.n_kv, s_.d_k),
        v_(work.stored, s_.b, s_.h_kv, s_.n_kv, s_.d_v),
        o_(s_.dtype, s_.b, s_.h_q, s_.n_q, s_.d_v),
        lse_(s_.dtype == DType::f64 ? DType::f64 : DType::f32, s_.b, s_.h_q, s_.n_q, 1),
        scales_(work.stored == DType::i8 ? static_cast<size_t>(s_.b * s_.h_kv * s_.n_kv) : 0, 1.0f / 32) {
    fill(q_.bytes, s_.dtype, 1);
    fill(k_.bytes, work.stored, 2);
    fill(v_.bytes, work.stored, 3);
    options_ = {.causal = work.causal, .window_left = work.window_left, .window_right = work.window_right};
    if (work.stored == DType::i8) {
      options_.k_scales = options_.v_scales = foveate::view(std::as_const(scales_).data(), s_.b, s_.h_kv, s_.n_kv, 1);
    }
    if (!work.gradients) return;
    for (const Owned* like : {&o_, &q_, &k_, &v_}) {
      const int64_t(&e)[4] = like->view.shape;
      backward_.emplace_back(s_.dtype, e[0], e[1], e[2], e[3]);
    }
    fill(backward_[0].bytes, s_.dtype, 4);
  }

  Status operator()(const Execution& execution) const {
    const AttentionOutputs outputs{.o = o_.view, .lse = work_.gradients ? lse_.view : Tensor{}};
    Status status = attention(q_.view, k_.view, v_.view, outputs, options_, execution);
    if (!work_.gradients || !status.ok()) return status;
    return attention_backward(q_.view, k_.view, v_.view, o_.view, lse_.view, backward_[0].view, gradients(), options_,
                              execution);
  }

  size_t workspace_bytes(int64_t workers) const {
    AttentionPlan forward;
    throw_unless_ok(attention_plan(s_, workers, &forward));
    if (!work_.gradients) return forward.workspace_bytes;
    AttentionBackwardPlan backward;
    throw_unless_ok(attention_backward_plan(s_, gradients(), workers, &backward));
    return std::max(forward.workspace_bytes, backward.workspace_bytes);
  }

  /// Keys and values.
  std::vector<limits::Bytes> cache() const {
    return {{k_.bytes.data(), k_.bytes.size()}, {v_.bytes.data(), v_.bytes.size()}};
  }

 private:
  AttentionGradients gradients() const {
    return {.dq = backward_[1].view, .dk = backward_[2].view, .dv = backward_[3].view};
  }

  const BenchWork& work_;
  const AttentionShape& s_;
  Owned q_, k_, v_, o_, lse_;
  std::vector<float> scales_;
  std::vector<Owned> backward_;  // d_o, dq, dk, dv
  AttentionOptions options_;
};

/// What the work's two products multiply, the scores' and the weighted sum's, as the active target can.
std::vector<Product> products_of(const BenchWork& work) {
  if (work.stored == DType::f64) return {Product::f64};
  const Product narrow = limits::has(Product::bf16) ? Product::bf16 : Product::f32;
  if (work.stored == DType::bf16) return {narrow};
  if (work.stored == DType::i8 && limits::has(Product::i8)) return {Product::i8, narrow};
  return {Product::f32};
}

/// The best that was seen of each limit.
class Limits {
 public:
  Limits(const BenchWork& work, const Call& call, Executor* executor)
      : executor_(executor), products_(products_of(work)), peaks_(products_.size(), 0) {
    if (work.decodes()) cache_ = call.cache();
  }

  /// One turn, of some `seconds`.
  void measure(double seconds) {
    const double each = seconds / static_cast<double>(products_.size());
    for (size_t i = 0; i < products_.size(); ++i) {
      peaks_[i] = std::max(peaks_[i], limits::peak(products_[i], each, executor_));
    }
    if (!cache_.empty()) read_ = std::min(read_, limits::read_seconds(cache_, executor_));
  }

  void tell(BenchRow& row) const {
    double seconds = 0;  // for one operation: each product does its share of them
    for (size_t i = 0; i < products_.size(); ++i) {
      seconds += 1 / peaks_[i] / static_cast<double>(products_.size());
      row.products += (i > 0 ? " and " : "") + std::string(name_of(products_[i]));
    }
    row.peak = 1 / seconds;
    if (!cache_.empty()) row.read_rate = key_bytes_of(row.work) / read_;
  }

 private:
  Executor* executor_;
  std::vector<Product> products_;
  std::vector<double> peaks_;
  std::vector<limits::Bytes> cache_;
  double read_ = 1e9;
};

}  // namespace

bool BenchRow::limited_by_reading() const {
  return read_rate && key_bytes_of(work) / *read_rate > operations_of(work) / peak;
}

double BenchRow::limit() const {
  return limited_by_reading() ? key_bytes_of(work) / *read_rate : operations_of(work) / peak;
}

std::optional<BenchRow> measure(const BenchWork& work, Executor* executor, const BenchTime& time) {
  const Call call(work);
  Limits limits(work, call, executor);
  const auto now = executor == nullptr ? limits::thread_seconds : limits::wall_seconds;
  const Execution execution{.executor = executor, .stop = time.stop};
  const double begin = limits::wall_seconds();
  std::vector<double> times;
  // The first calls touch memory that no others have, and tell how many a turn takes for the clock to be no part of it.
  constexpr double kShortestTurn = 1e-4;
  int64_t calls = 1;
  for (int64_t turn = 0; turn <= 3 || limits::wall_seconds() - begin < time.seconds; ++turn) {
    const double start = now();
    Status status;
    for (int64_t i = 0; i < calls && status.ok(); ++i) status = call(execution);
    const double seconds = now() - start;
    if (status.code() == StatusCode::cancelled || time.stop->load()) return std::nullopt;
    throw_unless_ok(status);
    if (seconds < kShortestTurn) {
      calls *= 2;
      turn = 0;
      times.clear();
      continue;
    }
    if (turn > 0) times.push_back(seconds / static_cast<double>(calls));
    limits.measure(seconds);
    time.progress(std::min(1.0, (limits::wall_seconds() - begin) / time.seconds));
  }
  const int64_t workers = executor == nullptr ? 1 : executor->concurrency();
  BenchRow row{.work = work, .target = active_target(), .threads = workers, .turns = std::ssize(times), .calls = calls};
  std::sort(times.begin(), times.end());
  row.best = times.front();
  row.median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
  row.workspace_bytes = call.workspace_bytes(workers);
  limits.tell(row);
  return row;
}

}  // namespace foveate::cli
