// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The products of projection.h: lane = column.
#if defined(FOVEATE_SRC_KERNELS_PROJECTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_PROJECTION_INL_H_
#undef FOVEATE_SRC_KERNELS_PROJECTION_INL_H_
#else
#define FOVEATE_SRC_KERNELS_PROJECTION_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/backward.h"
#include "kernels/gemm-inl.h"
#include "kernels/panels-inl.h"
#include "kernels/projection.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// C = start[lane] + sum.
template <class T>
struct StartedAt {
  const T* start;

  template <class D, class V>
  HWY_INLINE void store(D d, V sum, T* c, size_t lane) const {
    hn::Store(hn::Add(hn::Load(d, start + lane), sum), d, c);
  }
};

template <class T>
void Project(const Projection<T>& p) {
  const hn::ScalableTag<T> d;
  for_each_panel(p.columns, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) HWY_ATTR {
    GemmOfPanel(d, Broadcasts<T, false>{p.rows, p.stride}, p.n, p.depth, p.matrix + p.depth * first, components,
                StartedAt<T>{p.start + first}, p.scratch);
    for (int64_t i = 0; i < p.n; ++i) {
      std::copy_n(p.scratch + i * components, std::min(components, p.columns - first), p.to + i * p.columns + first);
    }
  });
}

template <class T>
void AddOuter(const OuterProducts<T>& p) {
  const hn::ScalableTag<T> d;
  for_each_panel(p.columns, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) HWY_ATTR {
    GemmOfPanel(d, Broadcasts<T, true>{p.left, p.left_stride}, p.depth, p.n, p.right + kProjectedRows * first,
                components, Added<T>(), p.sums + p.depth * first);
  });
}

template <class T>
ProjectionKernel<T> ProjectionKernelOf() {
  return {&Project<T>, &AddOuter<T>};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_PROJECTION_INL_H_
