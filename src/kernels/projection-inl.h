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

/// Gemm of as many vectors as a panel has.
template <class D, class T, bool kAdjacentRows, class Epilogue>
HWY_INLINE void GemmOfPanel(D d, int64_t components, Broadcasts<T, kAdjacentRows> a, int64_t rows, int64_t depth,
                            const T* b, const Epilogue& epilogue, T* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (components == lanes) return Gemm<1>(d, a, rows, depth, b, epilogue, c);
  if (components == 2 * lanes) return Gemm<2>(d, a, rows, depth, b, epilogue, c);
  if constexpr (kPanelVectors > 2) Gemm<3>(d, a, rows, depth, b, epilogue, c);
}

template <class T>
void Project(const Projection<T>& p) {
  const hn::ScalableTag<T> d;
  for_each_panel(p.columns, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t first, int64_t components) HWY_ATTR {
    GemmOfPanel(d, components, Broadcasts<T, false>{p.rows, p.stride}, p.n, p.depth, p.matrix + p.depth * first,
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
    GemmOfPanel(d, components, Broadcasts<T, true>{p.left, p.left_stride}, p.depth, p.n,
                p.right + kProjectedRows * first, Added<T>(), p.sums + p.depth * first);
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
