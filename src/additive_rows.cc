// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "additive_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "carve.h"
#include "fp_mode.h"
#include "kernels/backward.h"
#include "saturating.h"
#include "stored_rows.h"
#include "vector_at.h"

namespace foveate {
namespace {

using kernels::for_each_panel;
using kernels::kProjectedRows;
using kernels::padded;

constexpr int64_t kRowsPerTask = kAdditiveRowsPerTask;
constexpr int64_t kFeatures = kAdditiveFeaturesPerTask;

}  // namespace

AdditiveSizes sizes_of(const Inputs& inputs, const Extents& extents, int64_t d_a) {
  const int64_t(&q)[4] = inputs.q.shape, (&k)[4] = inputs.k.shape;
  return {extents, d_a, q[0] * q[1] * q[2], k[0] * k[1] * k[2]};
}

AdditiveLayout additive_layout(const AdditiveSizes& s, int64_t lanes, int64_t element_size, int64_t workers,
                               int64_t dw_parts) {
  const int64_t d_k = s.extents.d_k, wide_a = padded(s.d_a, lanes), wide_k = padded(d_k, lanes);
  AdditiveLayout layout{};
  const auto bytes = [element_size](int64_t elements) {
    return whole_lines(saturating_product(elements, element_size));
  };
  const auto take = [&](int64_t n, int64_t m) {
    const int64_t here = layout.bytes;
    layout.bytes = saturating_sum(layout.bytes, bytes(saturating_product(n, m)));
    return here;
  };
  layout.w_q = take(d_k, wide_a);
  layout.w_k = take(d_k, wide_a);
  layout.start = take(1, wide_a);
  layout.zeros = take(1, std::max(wide_a, wide_k));
  layout.w = take(1, s.d_a);
  layout.u = take(s.q_rows, s.d_a);
  layout.t = take(s.k_rows, s.d_a);
  // Rows converted, their product in panels and out of them.
  const int64_t panel = kernels::kPanelVectors * lanes;
  layout.of_worker = bytes(kProjectedRows * (2 * wide_k + panel));
  layout.scratch = layout.bytes;
  layout.bytes = saturating_sum(layout.bytes, saturating_product(workers, layout.of_worker));
  if (dw_parts < 0) return layout;
  layout.du = take(s.q_rows, s.d_a);
  layout.dt = take(s.k_rows, s.d_a);
  layout.dw = take(dw_parts, wide_a);
  layout.back_q = take(s.d_a, wide_k);
  layout.back_k = take(s.d_a, wide_k);
  layout.sums_q = take(padded(s.d_a, kFeatures), wide_k);
  layout.sums_k = take(padded(s.d_a, kFeatures), wide_k);
  return layout;
}

template <class T>
AdditiveRows<T>::AdditiveRows(const Inputs& inputs, const AdditiveParameters& parameters, const AdditiveSizes& sizes,
                              const AdditiveLayout& layout, char* block, const kernels::TargetKernels& kernels,
                              bool backward)
    : q_(inputs.q),
      k_(inputs.k),
      options_(inputs.options),
      p_(parameters),
      e_(sizes.extents),
      d_a_(sizes.d_a),
      lanes_(kernels::of_type<T>(kernels).lanes),
      layout_(layout),
      block_(block),
      kernel_(kernels::projection_of_type<T>(kernels)),
      sequences_(inputs.options, sizes.extents),
      scores_{&kernels::tanh_of_type<T>(kernels), at(layout.w), T{0}} {
  load_parameters(backward);
}

template <class T>
void AdditiveRows<T>::load_parameters(bool backward) {
  const FpMode mode;
  double largest = 0, sum = 0;
  for (int64_t a = 0; a < d_a_; ++a) largest = std::max(largest, std::abs(float_at(p_.w, a)));
  // A power of two, so that no product of four w and y overflows; exact, but for what is 2^-126 of the largest.
  factor_ = largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, std::ilogb(largest) + 1) : 1;
  T* const w = at(layout_.w);
  for (int64_t a = 0; a < d_a_; ++a) {
    w[a] = static_cast<T>(float_at(p_.w, a) / factor_);
    sum += static_cast<double>(w[a]);
  }
  scores_.sum = static_cast<T>(sum);
  std::fill_n(at(layout_.zeros), std::max(padded(d_a_, lanes_), padded(e_.d_k, lanes_)), T{0});
  T* const start = at(layout_.start);
  std::fill_n(start, padded(d_a_, lanes_), T{0});
  for (int64_t a = 0; a < d_a_ && p_.b.present(); ++a) start[a] = narrowed<T>(float_at(p_.b, a));
  fill_panels(p_.w_q, /*transposed=*/true, at(layout_.w_q));
  fill_panels(p_.w_k, /*transposed=*/true, at(layout_.w_k));
  if (!backward) return;
  fill_panels(p_.w_q, /*transposed=*/false, at(layout_.back_q));
  fill_panels(p_.w_k, /*transposed=*/false, at(layout_.back_k));
}

/// W^T, or 4 w_a W: what u and t are multiples of, and what turns their gradients into those of q and k.
template <class T>
void AdditiveRows<T>::fill_panels(const ConstMatrix& from, bool transposed, T* to) const {
  const int64_t depth = transposed ? e_.d_k : d_a_, columns = transposed ? d_a_ : e_.d_k;
  for_each_panel(columns, lanes_, [&](int64_t first, int64_t components) {
    for (int64_t i = 0; i < depth; ++i) {
      T* const row = to + depth * first + i * components;
      for (int64_t c = 0; c < components; ++c) {
        const int64_t column = first + c;
        const double x = column >= columns ? 0 : transposed ? float_at(from, column, i) : float_at(from, i, column);
        row[c] = narrowed<T>(x) * (transposed ? T{1} : 4 * scores_.w[i]);
      }
    }
  });
}

template <class T>
AttentionOptions AdditiveRows<T>::options() const {
  constexpr double kMost = std::numeric_limits<double>::max();
  AttentionOptions options = options_;
  options.scale = std::clamp(options_.scale.value_or(1) * factor_, -kMost, kMost);
  options.k_scales = {};
  return options;
}

// Rows.

template <class T>
ConstTensor AdditiveRows<T>::rows(Side side, int64_t offset) const {
  const int64_t(&shape)[4] = source(side).shape;
  return view(static_cast<const T*>(at(offset)), shape[0], shape[1], shape[2], d_a_);
}

template <class T>
Tensor AdditiveRows<T>::writable(const ConstTensor& v) {
  return {const_cast<void*>(v.data),
          v.dtype,
          {v.shape[0], v.shape[1], v.shape[2], v.shape[3]},
          {v.stride[0], v.stride[1], v.stride[2], v.stride[3]}};
}

template <class T>
T* AdditiveRows<T>::rows_at(Side side, int64_t offset, const Run& run) const {
  return static_cast<T*>(row_at(writable(rows(side, offset)), run.place.batch, run.head, run.place.row));
}

template <class T>
int64_t AdditiveRows<T>::row_tasks(Side side) const {
  return additive_row_tasks(e_.b, heads(side), longest(side));
}

template <class T>
typename AdditiveRows<T>::Run AdditiveRows<T>::run_at(Side side, int64_t b, int64_t head, int64_t i,
                                                      int64_t end) const {
  const Sequences::Place first = side == Side::queries ? sequences_.query(b, 0) : sequences_.first_key(b);
  return {b, head, i, std::min(kProjectedRows, end - i), {first.batch, first.row + i}};
}

/// Calls body with the runs of a task: of the rows that are there, or of all that there is memory for.
template <class T>
template <class Body>
void AdditiveRows<T>::for_each_run(Side side, int64_t task, bool all, const Body& body) const {
  const int64_t of_head = ceil_div(longest(side), kRowsPerTask), head = task / of_head % heads(side);
  const int64_t b = task / of_head / heads(side), first = task % of_head * kRowsPerTask;
  const int64_t end = std::min(first + kRowsPerTask, all ? there(side, b) : length(side, b));
  for (int64_t i = first; i < end; i += kProjectedRows) body(run_at(side, b, head, i, end));
}

/// A run of q or k with adjacent numbers of T: where it lies, or converted.
template <class T>
typename AdditiveRows<T>::Adjacent AdditiveRows<T>::source_rows(Side side, const Run& run, T* scratch) const {
  const ConstTensor& x = source(side);
  const void* const first = row_at(x, run.place.batch, run.head, run.place.row);
  const int64_t stride = step(x, 2), stride_d = step(x, 3);
  if (x.dtype == dtype_of<T>() && (stride_d == 1 || e_.d_k == 1)) return {static_cast<const T*>(first), stride};
  with_element<T>(x.dtype, [&](auto* element) {
    const auto* const from = static_cast<const std::remove_pointer_t<decltype(element)>*>(first);
    for (int64_t i = 0; i < run.n; ++i) {
      for (int64_t e = 0; e < e_.d_k; ++e) scratch[i * e_.d_k + e] = static_cast<T>(from[i * stride + e * stride_d]);
    }
  });
  return {scratch, e_.d_k};
}

template <class T>
void AdditiveRows<T>::project(Side side, int64_t task, int64_t worker) const {
  const bool queries = side == Side::queries;
  T* const scratch = scratch_of(worker);
  for_each_run(side, task, /*all=*/false, [&](const Run& run) {
    const Adjacent from = source_rows(side, run, scratch);
    kernel_.project({.rows = from.rows,
                     .stride = from.stride,
                     .n = run.n,
                     .depth = e_.d_k,
                     .matrix = at(queries ? layout_.w_q : layout_.w_k),
                     .start = at(queries ? layout_.start : layout_.zeros),
                     .columns = d_a_,
                     .to = rows_at(side, queries ? layout_.u : layout_.t, run),
                     .scratch = scratch + kProjectedRows * 2 * padded(e_.d_k, lanes_)});
  });
}

// Gradients. A row whose gradient is 0 throughout gives 0, whatever stands in it: it takes no part.

template <class T>
void AdditiveRows<T>::write_rows(Side side, const Tensor& to, int64_t task, int64_t worker) const {
  const bool queries = side == Side::queries;
  T* const scratch = scratch_of(worker);
  for_each_run(side, task, /*all=*/true, [&](const Run& run) {
    const T* const from = rows_at(side, queries ? layout_.du : layout_.dt, run);
    kernel_.project({.rows = from,
                     .stride = d_a_,
                     .n = run.n,
                     .depth = d_a_,
                     .matrix = at(queries ? layout_.back_q : layout_.back_k),
                     .start = at(layout_.zeros),
                     .columns = e_.d_k,
                     .to = scratch,
                     .scratch = scratch + kProjectedRows * 2 * padded(e_.d_k, lanes_)});
    for (int64_t i = 0; i < run.n; ++i) {
      const T* const row = from + i * d_a_;
      const bool none = std::all_of(row, row + d_a_, [](T x) { return x == T{0}; });
      void* const out = row_at(to, run.place.batch, run.head, run.place.row + i);
      with_element<T>(to.dtype, [&](auto* element) {
        store(none ? nullptr : scratch + i * e_.d_k, T{1}, e_.d_k, static_cast<decltype(element)>(out), step(to, 3));
      });
    }
  });
}

template <class T>
int64_t AdditiveRows<T>::feature_tasks() const {
  return additive_feature_tasks(d_a_);
}

/// A run of q or k in panels; zeros for rows whose gradient is 0.
template <class T>
void AdditiveRows<T>::pack(Side side, const Run& run, const T* gradients, T* scratch, T* panels) const {
  const Adjacent from = source_rows(side, run, scratch);
  for (int64_t i = 0; i < run.n; ++i) {
    const T* const gradient = gradients + i * d_a_;
    const bool none = std::all_of(gradient, gradient + d_a_, [](T x) { return x == T{0}; });
    for_each_panel(e_.d_k, lanes_, [&](int64_t first, int64_t components) {
      T* const row = panels + kProjectedRows * first + i * components;
      const int64_t n = none ? 0 : std::min(components, e_.d_k - first);
      std::copy_n(from.rows + i * from.stride + first, n, row);
      std::fill(row + n, row + components, T{0});
    });
  }
}

template <class T>
void AdditiveRows<T>::write_projection(Side side, const Matrix& dw, const Vector& db, int64_t task,
                                       int64_t worker) const {
  const bool queries = side == Side::queries;
  const int64_t wide = padded(e_.d_k, lanes_), first = task * kFeatures, n = std::min(kFeatures, d_a_ - first);
  T* const sums = at(queries ? layout_.sums_q : layout_.sums_k) + first * wide;
  T *const scratch = scratch_of(worker), *const panels = scratch + kProjectedRows * wide;
  double of_b[kFeatures] = {};
  std::fill_n(sums, n * wide, T{0});
  for (int64_t part = 0; part < row_tasks(side); ++part) {
    for_each_run(side, part, /*all=*/false, [&](const Run& run) {
      const T* const gradients = rows_at(side, queries ? layout_.du : layout_.dt, run);
      for (int64_t i = 0; i < run.n && db.present(); ++i) {
        for (int64_t a = 0; a < n; ++a) of_b[a] += static_cast<double>(gradients[i * d_a_ + first + a]);
      }
      if (!dw.present()) return;
      pack(side, run, gradients, scratch, panels);
      kernel_.add_outer({.left = gradients + first,
                         .left_stride = d_a_,
                         .n = run.n,
                         .depth = n,
                         .right = panels,
                         .columns = e_.d_k,
                         .sums = sums});
    });
  }
  for (int64_t a = 0; a < n; ++a) {
    // Where nothing was added, a w that is not finite has no say.
    const T factor = 4 * scores_.w[first + a];
    const auto scaled = [factor](T sum) { return sum == T{0} ? T{0} : sum * factor; };
    if (dw.present()) {
      with_element<T>(dw.dtype, [&](auto* element) {
        auto* const to = static_cast<decltype(element)>(dw.data) + (first + a) * dw.stride[0];
        for_each_panel(e_.d_k, lanes_, [&](int64_t e, int64_t components) {
          T* const row = sums + n * e + a * components;
          std::transform(row, row + components, row, scaled);
          store(row, T{1}, std::min(components, e_.d_k - e), to + e * dw.stride[1], dw.stride[1]);
        });
      });
    }
    if (!db.present()) continue;
    const T sum = scaled(static_cast<T>(of_b[a]));
    with_element<T>(db.dtype, [&](auto* element) {
      store(&sum, T{1}, 1, static_cast<decltype(element)>(db.data) + (first + a) * db.stride, 1);
    });
  }
}

template <class T>
void AdditiveRows<T>::write_w(const Vector& to, int64_t dw_parts) const {
  const int64_t wide = padded(d_a_, lanes_);
  const double scale = options_.scale.value_or(1);
  for (int64_t a = 0; a < d_a_; ++a) {
    double sum = 0;
    for (int64_t part = 0; part < dw_parts; ++part) sum += static_cast<double>(dw()[part * wide + a]);
    const T scaled = static_cast<T>(scale * sum);  // past its range: Inf
    with_element<T>(to.dtype, [&](auto* element) {
      store(&scaled, T{1}, 1, static_cast<decltype(element)>(to.data) + a * to.stride, 1);
    });
  }
}

template class AdditiveRows<float>;
template class AdditiveRows<double>;

}  // namespace foveate
