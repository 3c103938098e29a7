// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/problem.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace foveate::diagnosis {
namespace {

constexpr DType kNarrower[] = {DType::f32, DType::f16, DType::bf16};

size_t place_of(DType dtype) { return static_cast<size_t>(std::ranges::find(kNarrower, dtype) - kNarrower); }

double element(const void* data, DType dtype, int64_t at) {
  switch (dtype) {
    case DType::f64:
      return static_cast<const double*>(data)[at];
    case DType::f32:
      return static_cast<const float*>(data)[at];
    case DType::f16:
      return static_cast<double>(static_cast<float>(static_cast<const Float16*>(data)[at]));
    case DType::bf16:
      return static_cast<double>(static_cast<float>(static_cast<const BFloat16*>(data)[at]));
    case DType::i64:
      return static_cast<double>(static_cast<const int64_t*>(data)[at]);
    case DType::i32:
      return static_cast<const int32_t*>(data)[at];
    default:
      return static_cast<const bool*>(data)[at] ? 1 : 0;
  }
}

std::vector<double> packed(const ConstTensor& t, Layout layout) {
  std::vector<double> all;
  all.reserve(static_cast<size_t>(t.shape[0] * t.shape[1] * t.shape[2] * t.shape[3]));
  const int outer = layout == Layout::bhnd ? 1 : 2, inner = 3 - outer;
  for (int64_t b = 0; b < t.shape[0]; ++b)
    for (int64_t x = 0; x < t.shape[outer]; ++x)
      for (int64_t y = 0; y < t.shape[inner]; ++y)
        for (int64_t d = 0; d < t.shape[3]; ++d)
          all.push_back(
              element(t.data, t.dtype, b * t.stride[0] + x * t.stride[outer] + y * t.stride[inner] + d * t.stride[3]));
  return all;
}

template <class T>
std::vector<T> packed(const ConstVector& v) {
  std::vector<T> all;
  for (int64_t i = 0; v.present() && i < v.size; ++i)
    all.push_back(static_cast<T>(element(v.data, v.dtype, i * v.stride)));
  return all;
}

/// Where entry [b, h, i, j] of what is broadcast to it lies.
int64_t broadcast_at(const ConstTensor& t, int64_t b, int64_t h, int64_t i, int64_t j) {
  const int64_t at[4] = {b, h, i, j};
  int64_t place = 0;
  for (int axis = 0; axis < 4; ++axis) place += t.shape[axis] == 1 ? 0 : at[axis] * t.stride[axis];
  return place;
}

bool same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

bool all_are(const std::vector<double>& numbers, DType dtype) {
  return std::ranges::all_of(numbers, [dtype](double x) { return same(x, rounded(x, dtype)); });
}

std::vector<double> all_rounded(std::vector<double> numbers, DType dtype) {
  for (double& x : numbers) x = rounded(x, dtype);
  return numbers;
}

}  // namespace

double half_step(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

double step_at(double x, DType dtype) {
  const double smallest = dtype == DType::f64 ? 0x1p-1022 : dtype == DType::f16 ? 0x1p-14 : 0x1p-126;
  return 2 * half_step(dtype) * std::exp2(std::floor(std::log2(std::max(std::abs(x), smallest))));
}

double largest_number(DType dtype) {
  return dtype == DType::f64   ? std::numeric_limits<double>::max()
         : dtype == DType::f16 ? 65504.0
                               : static_cast<double>(std::numeric_limits<float>::max());
}

double rounded(double x, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(x));
    case DType::f16:
      return static_cast<double>(static_cast<float>(Float16(x)));
    case DType::bf16:
      return static_cast<double>(static_cast<float>(BFloat16(x)));
    default:
      return x;
  }
}

Problem::Problem(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& out,
                 const ConstTensor& lse, const AttentionOptions& options, Layout layout)
    : shape_{.b = q.shape[0],
             .h_q = q.shape[1],
             .h_kv = k.shape[1],
             .n_q = q.shape[2],
             .n_kv = k.shape[2],
             .d_k = q.shape[3],
             .d_v = v.shape[3],
             .dtype = DType::f64},
      options_(options),
      layout_(layout),
      precision_(half_step(out.dtype) > half_step(q.dtype) ? out.dtype : q.dtype),
      exact_{packed(q, layout), packed(k, layout), packed(v, layout), packed(out, layout)},
      lse_(lse.present() ? packed(lse, Layout::bhnd) : std::vector<double>()),
      slopes_(packed<double>(options.alibi_slopes)),
      sinks_(packed<double>(options.sinks)),
      q_lengths_(packed<int64_t>(options.q_lengths)),
      kv_lengths_(packed<int64_t>(options.kv_lengths)) {
  for (const DType dtype : kNarrower) {
    if (half_step(dtype) <= half_step(precision_)) continue;
    const size_t place = place_of(dtype);
    could_be_[place] = all_are(exact_[3], dtype);
    if (all_are(exact_[0], dtype) && all_are(exact_[1], dtype) && all_are(exact_[2], dtype)) continue;
    for (size_t source = 0; source < 3; ++source) rounded_[place][source] = all_rounded(exact_[source], dtype);
  }
}

double Problem::scale() const {
  const double scale = options_.scale.value_or(1 / std::sqrt(static_cast<double>(shape_.d_k)));
  constexpr double kMost = std::numeric_limits<float>::max(), kLeast = std::numeric_limits<float>::min();
  if (precision_ == DType::f64 || scale == 0 || (std::abs(scale) <= kMost && std::abs(scale) >= kLeast)) return scale;
  return static_cast<double>(static_cast<float>(std::clamp(scale, -kMost, kMost)));  // as float32 has it
}

View Problem::view(Source source, Layout layout) const {
  const bool queries = source == Source::q || source == Source::out;
  const int64_t h = queries ? shape_.h_q : shape_.h_kv, n = queries ? shape_.n_q : shape_.n_kv;
  const int64_t d = source == Source::q || source == Source::k ? shape_.d_k : shape_.d_v;
  if (layout == Layout::bhnd) return {source, {shape_.b, h, n, d}, {h * n * d, n * d, d, 1}};
  return {source, {shape_.b, h, n, d}, {n * h * d, d, h * d, 1}};
}

const double* Problem::data(Source source, DType rounding) const {
  const auto at = static_cast<size_t>(source);
  return (rounding == DType::none ? exact_ : rounded_[place_of(rounding)])[at].data();
}

bool Problem::rounds_to(DType dtype) const {
  const Arrays& arrays = rounded_[place_of(dtype)];
  return !arrays[0].empty() || !arrays[1].empty();
}

bool Problem::out_could_be(DType dtype) const { return could_be_[place_of(dtype)]; }

bool Problem::masked(int64_t b, int64_t h, int64_t i, int64_t j) const {
  const ConstTensor& mask = options_.mask;
  return mask.present() && !static_cast<const bool*>(mask.data)[broadcast_at(mask, b, h, i, j)];
}

bool Problem::in_kept_block(int64_t b, int64_t h, int64_t i, int64_t j) const {
  const ConstTensor& blocks = options_.blocks;
  if (!blocks.present()) return true;
  const int64_t size = options_.block_size;
  return static_cast<const bool*>(blocks.data)[broadcast_at(blocks, b, h, i / size, j / size)];
}

double Problem::bias(int64_t b, int64_t h, int64_t i, int64_t j) const {
  const ConstTensor& bias = options_.bias;
  return bias.present() ? element(bias.data, bias.dtype, broadcast_at(bias, b, h, i, j)) : 0;
}

}  // namespace foveate::diagnosis
