// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The gradients of tanh_scores.h: lane = feature, rows of queries and keys in the panels of backward.h, so that no sum runs
// across lanes. Four keys at a time share a division and hold their sums in registers while the rows pass:
//
//   1 / y_1 = y_2 y_3 y_4 / (y_1 y_2 y_3 y_4)      and the other three likewise, by nine multiplications
#if defined(FOVEATE_SRC_KERNELS_TANH_GRADIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_TANH_GRADIENTS_INL_H_
#undef FOVEATE_SRC_KERNELS_TANH_GRADIENTS_INL_H_
#else
#define FOVEATE_SRC_KERNELS_TANH_GRADIENTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/backward.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/tanh_scores-inl.h"
#include "kernels/tanh_scores.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void TanhExponentials(T* panels, int64_t rows, int64_t features) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < rows * padded(features, lanes); i += lanes) {
    hn::Store(ExpOfTwice(d, hn::Load(d, panels + i)), d, panels + i);
  }
}

/// exp(2t) of a block's keys into panels; 1 behind the last feature.
template <class T>
HWY_INLINE void ExpOfKeyPanels(const TanhGradients<T>& b) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for_each_panel(b.d, lanes, [&](int64_t first, int64_t components) {
    const int64_t there = std::min(components, b.d - first);
    T* to = b.f + kBlockKeys * first;
    for (int64_t j = 0; j < b.keys; ++j, to += components) {
      std::copy(b.t + j * b.d + first, b.t + j * b.d + first + there, to);
      std::fill(to + there, to + components, T{0});
    }
  });
  for_each_panel(b.d, lanes, [&](int64_t first, int64_t components) {
    const hn::ScalableTag<T> d;
    T* const panel = b.f + kBlockKeys * first;
    for (int64_t i = 0; i < b.keys * components; i += static_cast<int64_t>(hn::Lanes(d))) {
      hn::Store(ExpOfTwice(d, hn::Load(d, panel + i)), d, panel + i);
    }
  });
}

/// One vector of features: where row r of it lies.
template <class T>
struct FeatureVector {
  const T *e, *f;
  T *du, *dt, *dw;
  int64_t stride;  ///< from row to row
};

/// Adds what a key's g = ds and r = 1 / y give: g (r - r^2) to du and dt, g (1 - 2r) to dw.
template <class D, class V>
HWY_INLINE void AddPair(D d, V g, V r, V& du, V& dt, V& dw) {
  const V slope = hn::Mul(g, NegMultiplyAdd(r, r, r));
  du = hn::Add(du, slope);
  dt = hn::Add(dt, slope);
  dw = MultiplyAdd(g, NegMultiplyAdd(hn::Set(d, 2), r, hn::Set(d, 1)), dw);
}

/// Keys j .. j + 3, all of them near, with the rows that are.
template <class D, class T>
HWY_INLINE void AddFourKeys(D d, const TanhGradients<T>& b, const FeatureVector<T>& at, int64_t j, bool far_rows) {
  using V = hn::Vec<D>;
  const T* const f = at.f + j * at.stride;
  T* const dt = at.dt + (b.place + j) * at.stride;
  const V f0 = hn::Load(d, f), f1 = hn::Load(d, f + at.stride), f2 = hn::Load(d, f + 2 * at.stride);
  const V f3 = hn::Load(d, f + 3 * at.stride);
  V dt0 = hn::Load(d, dt), dt1 = hn::Load(d, dt + at.stride), dt2 = hn::Load(d, dt + 2 * at.stride);
  V dt3 = hn::Load(d, dt + 3 * at.stride), dw = hn::Load(d, at.dw);
  for (int64_t r = 0; r < b.n_rows; ++r) {
    if (far_rows && b.far[r] != 0) continue;
    const T *e = at.e + r * at.stride, *ds = b.ds + j * b.width + r;
    const V y0 = OnePlus(d, e, f0), y1 = OnePlus(d, e, f1), y2 = OnePlus(d, e, f2), y3 = OnePlus(d, e, f3);
    const V y01 = hn::Mul(y0, y1), y23 = hn::Mul(y2, y3), one = hn::Div(hn::Set(d, 1), hn::Mul(y01, y23));
    const V r01 = hn::Mul(one, y23), r23 = hn::Mul(one, y01);
    V du = hn::Load(d, at.du + r * at.stride);
    AddPair(d, hn::Set(d, ds[0]), hn::Mul(r01, y1), du, dt0, dw);
    AddPair(d, hn::Set(d, ds[b.width]), hn::Mul(r01, y0), du, dt1, dw);
    AddPair(d, hn::Set(d, ds[2 * b.width]), hn::Mul(r23, y3), du, dt2, dw);
    AddPair(d, hn::Set(d, ds[3 * b.width]), hn::Mul(r23, y2), du, dt3, dw);
    hn::Store(du, d, at.du + r * at.stride);
  }
  hn::Store(dt0, d, dt);
  hn::Store(dt1, d, dt + at.stride);
  hn::Store(dt2, d, dt + 2 * at.stride);
  hn::Store(dt3, d, dt + 3 * at.stride);
  hn::Store(dw, d, at.dw);
}

/// One key, with the rows that are near.
template <class D, class T>
HWY_INLINE void AddOneKey(D d, const TanhGradients<T>& b, const FeatureVector<T>& at, int64_t j, bool far_rows) {
  T* const to = at.dt + (b.place + j) * at.stride;
  const auto f = hn::Load(d, at.f + j * at.stride);
  auto dt = hn::Load(d, to), dw = hn::Load(d, at.dw);
  for (int64_t r = 0; r < b.n_rows; ++r) {
    if (far_rows && b.far[r] != 0) continue;
    auto du = hn::Load(d, at.du + r * at.stride);
    const auto y = OnePlus(d, at.e + r * at.stride, f);
    AddPair(d, hn::Set(d, b.ds[j * b.width + r]), hn::Div(hn::Set(d, 1), y), du, dt, dw);
    hn::Store(du, d, at.du + r * at.stride);
  }
  hn::Store(dt, d, to);
  hn::Store(dw, d, at.dw);
}

/// A pair of which a row is far, of u + t itself. Pairs without a gradient are left out: theirs may be 0 times NaN.
template <class T>
HWY_NOINLINE void AddFarPair(const TanhGradients<T>& b, int64_t r, int64_t j) {
  const T g = b.ds[j * b.width + r];
  if (g == T{0}) return;
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const T *u = static_cast<const T*>(b.rows[r].q), *t = b.t + j * b.d;
  for_each_panel(b.d, lanes, [&](int64_t first, int64_t components) {
    T* const du = b.du + b.width * first + r * components;
    T* const dt = b.dt + accumulator_at(first, components, b.place + j);
    for (int64_t i = 0; i < std::min(components, b.d - first); ++i) {
      const T x = u[first + i] + t[first + i], e = std::exp(-2 * std::abs(x)), slope = e / ((1 + e) * (1 + e));
      du[i] += g * slope;
      dt[i] += g * slope;
      b.dw[first + i] += g * std::copysign((1 - e) / (1 + e), x);
    }
  });
}

template <class T>
void TanhGradientsOf(const TanhGradients<T>& b) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  bool far_key[kBlockKeys];
  bool far_rows = false, far_keys = false;
  for (int64_t r = 0; r < b.n_rows; ++r) far_rows |= b.far[r] != 0;
  for (int64_t j = 0; j < b.keys; ++j) far_keys |= far_key[j] = IsRowFar(b.t + j * b.d, b.d);
  ExpOfKeyPanels(b);
  for_each_panel(b.d, lanes, [&](int64_t first, int64_t components) HWY_ATTR {
    for (int64_t i = 0; i < components; i += lanes) {
      const FeatureVector<T> at = {b.e + b.width * first + i,  b.f + kBlockKeys * first + i,
                                   b.du + b.width * first + i, b.dt + kBlockKeys * first + i,
                                   b.dw + first + i,           components};
      for (int64_t j = 0; j < b.keys;) {
        const int64_t n = std::min<int64_t>(4, b.keys - j);
        const bool near = !far_keys || std::none_of(far_key + j, far_key + j + n, [](bool far) { return far; });
        if (n == 4 && near) {
          AddFourKeys(d, b, at, j, far_rows);
        } else {
          for (int64_t k = j; k < j + n; ++k) {
            if (!far_key[k]) AddOneKey(d, b, at, k, far_rows);
          }
        }
        j += n;
      }
    }
  });
  if (!far_rows && !far_keys) return;
  for (int64_t j = 0; j < b.keys; ++j) {
    for (int64_t r = 0; r < b.n_rows; ++r) {
      if (far_key[j] || b.far[r] != 0) AddFarPair(b, r, j);
    }
  }
}

template <class T>
TanhKernel<T> TanhKernelOf() {
  return {&PrepareTanh<T>, &TanhScoresOf<T>, &TanhExponentials<T>, &TanhGradientsOf<T>};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_TANH_GRADIENTS_INL_H_
