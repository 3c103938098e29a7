// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The scores of tanh_scores.h: lane = query, as in every tile.
#if defined(FOVEATE_SRC_KERNELS_TANH_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_TANH_SCORES_INL_H_
#undef FOVEATE_SRC_KERNELS_TANH_SCORES_INL_H_
#else
#define FOVEATE_SRC_KERNELS_TANH_SCORES_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/exp-inl.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/tanh_scores.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// exp(2x), for |x| up to kTanhReach.
template <class D, class V>
HWY_INLINE V ExpOfTwice(D d, V x) {
  const V e = Exp(d, hn::Mul(hn::Abs(x), hn::Set(d, -2)));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Div(hn::Set(d, 1), e), e);
}

/// Lanes with a number beyond kTanhReach, or none.
template <class D, class V>
HWY_INLINE hn::Mask<D> IsFar(D d, V x) {
  return hn::Not(hn::Le(hn::Abs(x), hn::Set(d, kTanhReach<hn::TFromD<D>>)));
}

template <class T>
void PrepareTanh(const T* u, int64_t n, int64_t width, T* e, T* far) {
  const hn::ScalableTag<T> d;
  for (int64_t lane = 0; lane < width; lane += static_cast<int64_t>(hn::Lanes(d))) {
    auto any = hn::Zero(d);
    for (int64_t a = 0; a < n; ++a) {
      const auto x = hn::Load(d, u + a * width + lane);
      any = hn::IfThenElse(IsFar(d, x), hn::Set(d, 1), any);
      hn::Store(ExpOfTwice(d, x), d, e + a * width + lane);
    }
    hn::Store(any, d, far + lane);
  }
}

/// f = exp(2t) for n adjacent numbers. Returns whether one of them is far.
template <class T>
HWY_INLINE bool ExpOfKeys(const T* t, int64_t n, T* f) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto far = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto x = hn::LoadU(d, t + i);
    far = hn::IfThenElse(IsFar(d, x), hn::Set(d, 1), far);
    hn::StoreU(ExpOfTwice(d, x), d, f + i);
  }
  if (i < n) {
    HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(T)] = {};
    std::copy(t + i, t + n, rest);
    const auto x = hn::Load(d, rest);
    far = hn::IfThenElse(IsFar(d, x), hn::Set(d, 1), far);
    hn::Store(ExpOfTwice(d, x), d, rest);
    std::copy(rest, rest + (n - i), f + i);
  }
  return !hn::AllTrue(d, hn::Eq(far, hn::Zero(d)));
}

/// Whether one of the numbers is beyond kTanhReach, or none.
template <class T>
HWY_INLINE bool IsRowFar(const T* t, int64_t n) {
  return !std::all_of(t, t + n, [](T x) { return std::abs(x) <= kTanhReach<T>; });
}

/// y = 1 + e f, capped. Neither is NaN here.
template <class D, class V>
HWY_INLINE V OnePlus(D d, const hn::TFromD<D>* e, V f) {
  return hn::Min(hn::Set(d, kTanhCap<hn::TFromD<D>>), MultiplyAdd(hn::Load(d, e), f, hn::Set(d, 1)));
}

/// n1 / d1 + n2 / d2 = n / d.
template <class V>
HWY_INLINE void Join(V n1, V d1, V n2, V d2, V& n, V& d) {
  n = MultiplyAdd(n1, d2, hn::Mul(n2, d1));
  d = hn::Mul(d1, d2);
}

/// sum over a of w_a / y_a for one key and a vector of queries: features by fours, in sequence.
template <class D, class T>
HWY_INLINE hn::Vec<D> SumOfFractions(D d, const TanhBlock<T>& b, const T* f, int64_t lane) {
  using V = hn::Vec<D>;
  const T *e = b.e + lane, *w = b.w;
  V sum = hn::Zero(d);
  int64_t a = 0;
  for (; a + 4 <= b.d; a += 4, e += 4 * b.width) {
    const V y0 = OnePlus(d, e, hn::Set(d, f[a])), y1 = OnePlus(d, e + b.width, hn::Set(d, f[a + 1]));
    const V y2 = OnePlus(d, e + 2 * b.width, hn::Set(d, f[a + 2]));
    const V y3 = OnePlus(d, e + 3 * b.width, hn::Set(d, f[a + 3]));
    V n01, d01, n23, d23, n, denominator;
    Join(hn::Set(d, w[a]), y0, hn::Set(d, w[a + 1]), y1, n01, d01);
    Join(hn::Set(d, w[a + 2]), y2, hn::Set(d, w[a + 3]), y3, n23, d23);
    Join(n01, d01, n23, d23, n, denominator);
    sum = hn::Add(sum, hn::Div(n, denominator));
  }
  for (; a < b.d; ++a, e += b.width) sum = hn::Add(sum, hn::Div(hn::Set(d, w[a]), OnePlus(d, e, hn::Set(d, f[a]))));
  return sum;
}

/// The same of u + t itself: w_a r_a = w_a (1 - tanh) / 2.
template <class D, class T>
HWY_NOINLINE hn::Vec<D> SumOfTanh(D d, const TanhBlock<T>& b, const T* t, int64_t lane) {
  auto sum = hn::Zero(d);
  for (int64_t a = 0; a < b.d; ++a) {
    const auto x = hn::Add(hn::Load(d, b.u + a * b.width + lane), hn::Set(d, t[a]));
    sum = MultiplyAdd(hn::Set(d, b.w[a] / 2), hn::Sub(hn::Set(d, 1), Tanh(d, x)), sum);
  }
  return sum;
}

template <class T>
void TanhScoresOf(const TanhBlock<T>& b) {
  const hn::ScalableTag<T> d;
  const bool far_keys = ExpOfKeys(b.t, b.keys * b.d, b.f);
  const bool far_rows = std::any_of(b.far, b.far + b.width, [](T x) { return x != 0; });
  const auto scale = hn::Set(d, b.scale), whole = hn::Set(d, b.sum), two = hn::Set(d, 2);
  for (int64_t j = 0; j < b.keys; ++j) {
    const T *t = b.t + j * b.d, *f = b.f + j * b.d;
    const bool far_key = far_keys && IsRowFar(t, b.d);
    for (int64_t lane = 0; lane < b.width; lane += static_cast<int64_t>(hn::Lanes(d))) {
      auto sum = far_key ? SumOfTanh(d, b, t, lane) : SumOfFractions(d, b, f, lane);
      if (far_rows && !far_key) {
        const auto near = hn::Eq(hn::Load(d, b.far + lane), hn::Zero(d));
        sum = hn::IfThenElse(near, sum, SumOfTanh(d, b, t, lane));
      }
      hn::Store(hn::Mul(NegMultiplyAdd(two, sum, whole), scale), d, b.s + j * b.width + lane);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_TANH_SCORES_INL_H_
