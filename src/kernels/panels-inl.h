// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The micro-kernel over one of the panels that backward.h cuts rows of components into.
#if defined(FOVEATE_SRC_KERNELS_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_PANELS_INL_H_
#undef FOVEATE_SRC_KERNELS_PANELS_INL_H_
#else
#define FOVEATE_SRC_KERNELS_PANELS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/backward.h"
#include "kernels/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Gemm with as many vectors as the panel of B and C has.
template <bool kAdjacentRows, class D, class T, class Epilogue>
HWY_INLINE void GemmOfPanel(D d, Broadcasts<T, kAdjacentRows> a, int64_t rows, int64_t depth, const T* b,
                            int64_t components, const Epilogue& epilogue, T* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (components == lanes) return Gemm<1>(d, a, rows, depth, b, epilogue, c);
  if (components == 2 * lanes) return Gemm<2>(d, a, rows, depth, b, epilogue, c);
  if constexpr (kPanelVectors > 2) Gemm<3>(d, a, rows, depth, b, epilogue, c);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_PANELS_INL_H_
