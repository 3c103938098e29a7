// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The one micro-kernel: C[rows x lanes] = A[rows x depth] . B[depth x lanes], where A's elements are broadcast from where
// they lie and B's rows are vectors. Scores have A = keys and B = Q^T; the weighted sum has A = V^T and B = P^T.
//
// Registers: MR rows of NV accumulators, NV vectors of B and one broadcast. AVX-512 and NEON have 32: 8 x 3 + 3 + 1 = 28;
// AVX2 and SSE have 16: 4 x 3 + 3 + 1 = 16. A step of depth issues MR * NV multiply-adds for MR + NV loads, so two
// multiply-adds a cycle want 22 loads in 12 cycles on AVX-512 and 14 in 6 on AVX2: within two a cycle on the first, at
// the limit of 2.3 on the second. Each accumulator is summed in sequence over depth.
//
// WebAssembly: 4 x 2 (kTileVectors is 2 there) and no unrolling. Browsers spill with 4 x 3, and with steps unrolled, whose
// loads LLVM moves to the front of the loop and V8 keeps there: 31 GFLOP/s instead of 47 (relaxed; n 512, d 64).
//
// The accumulators have names because vectors of SVE cannot be put in arrays.
#if defined(FOVEATE_SRC_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_GEMM_INL_H_
#undef FOVEATE_SRC_KERNELS_GEMM_INL_H_
#else
#define FOVEATE_SRC_KERNELS_GEMM_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/multiply_add-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || HWY_ARCH_ARM_A64
inline constexpr int64_t kMicroRows = 8;
#else
inline constexpr int64_t kMicroRows = 4;
#endif

/// Steps of depth in one turn of the loop.
inline constexpr int kUnroll = HWY_ARCH_WASM ? 1 : 4;

/// Broadcast operand: element (row, step) lies at data[row * stride + step], or with kAdjacentRows at
/// data[row + step * stride].
template <class T, bool kAdjacentRows>
struct Broadcasts {
  const T* data;
  int64_t stride;

  HWY_INLINE const T* row(int64_t r) const { return data + (kAdjacentRows ? r : r * stride); }
  HWY_INLINE int64_t step() const { return kAdjacentRows ? stride : 1; }
};

/// C = factor * sum: the scores.
template <class T>
struct Scaled {
  T factor;

  template <class D, class V>
  HWY_INLINE void store(D d, V sum, T* c, size_t /*lane*/) const {
    hn::Store(hn::Mul(sum, hn::Set(d, factor)), d, c);
  }
};

/// C = C * correction[lane] + sum: the weighted sum, where a correction of 1 leaves C as it was.
template <class T>
struct Corrected {
  const T* correction;

  template <class D, class V>
  HWY_INLINE void store(D d, V sum, T* c, size_t lane) const {
    hn::Store(MultiplyAdd(hn::Load(d, c), hn::Load(d, correction + lane), sum), d, c);
  }
};

/// C = C + sum.
template <class T>
struct Added {
  template <class D, class V>
  HWY_INLINE void store(D d, V sum, T* c, size_t /*lane*/) const {
    hn::Store(hn::Add(hn::Load(d, c), sum), d, c);
  }
};

template <size_t kVector, size_t NV, class D>
HWY_INLINE hn::Vec<D> LoadVector(D d, const hn::TFromD<D>* b) {
  if constexpr (kVector < NV) {
    return hn::Load(d, b + kVector * hn::Lanes(d));
  } else {
    return hn::Zero(d);
  }
}

template <size_t NV, class V>
HWY_INLINE void MulAddRow(V a, V b0, V b1, V b2, V& c0, V& c1, V& c2) {
  c0 = MultiplyAdd(a, b0, c0);
  if constexpr (NV > 1) c1 = MultiplyAdd(a, b1, c1);
  if constexpr (NV > 2) c2 = MultiplyAdd(a, b2, c2);
}

#if HWY_TARGET == HWY_NEON
/// NEON multiplies by an element of a vector where it stands: rows of A that are adjacent come four to a load, steps that
/// are two. A broadcast load takes one of the units that multiply on many processors, and A is all of these.
template <int kElement, size_t NV, class A, class V>
HWY_INLINE void MulAddRowBy(A a, V b0, V b1, V b2, V& c0, V& c1, V& c2) {
  const auto join = [a](V b, V& c) HWY_ATTR {
    if constexpr (sizeof(a) == 16) {
      c.raw = vfmaq_laneq_f32(c.raw, b.raw, a.raw, kElement);
    } else {
      c.raw = vfmaq_lane_f32(c.raw, b.raw, a.raw, kElement);
    }
  };
  join(b0, c0);
  if constexpr (NV > 1) join(b1, c1);
  if constexpr (NV > 2) join(b2, c2);
}
#endif

template <size_t NV, class D, class V, class Epilogue>
HWY_INLINE void StoreRow(D d, V c0, V c1, V c2, const Epilogue& epilogue, hn::TFromD<D>* c) {
  const size_t lanes = hn::Lanes(d);
  epilogue.store(d, c0, c, 0);
  if constexpr (NV > 1) epilogue.store(d, c1, c + lanes, lanes);
  if constexpr (NV > 2) epilogue.store(d, c2, c + 2 * lanes, 2 * lanes);
}

/// MR rows of C, NV vectors wide. B and C have rows of kOf vectors, aligned.
template <int64_t MR, size_t NV, size_t kOf, bool kAdjacentRows, class D, class T, class Epilogue>
HWY_INLINE void MicroKernel(D d, Broadcasts<T, kAdjacentRows> a, int64_t depth, const T* HWY_RESTRICT b,
                            const Epilogue& epilogue, T* HWY_RESTRICT c) {
  using V = hn::Vec<D>;
  const int64_t width = static_cast<int64_t>(kOf * hn::Lanes(d));
  V c00 = hn::Zero(d), c01 = c00, c02 = c00, c10 = c00, c11 = c00, c12 = c00, c20 = c00, c21 = c00, c22 = c00;
  V c30 = c00, c31 = c00, c32 = c00, c40 = c00, c41 = c00, c42 = c00, c50 = c00, c51 = c00, c52 = c00;
  V c60 = c00, c61 = c00, c62 = c00, c70 = c00, c71 = c00, c72 = c00;
  const T *a0 = a.row(0), *a1 = a.row(1), *a2 = a.row(2), *a3 = a.row(3);
  const T *a4 = a.row(4), *a5 = a.row(5), *a6 = a.row(6), *a7 = a.row(7);
  int64_t step = 0, at = 0;
#if HWY_TARGET == HWY_NEON
  if constexpr (std::is_same_v<T, float> && kAdjacentRows && MR % 4 == 0) {
    HWY_UNROLL(kUnroll)
    for (; step < depth; ++step, at += a.stride, b += width) {
      const V b0 = LoadVector<0, NV>(d, b), b1 = LoadVector<1, NV>(d, b), b2 = LoadVector<2, NV>(d, b);
      const V four = hn::LoadU(d, a0 + at);
      MulAddRowBy<0, NV>(four, b0, b1, b2, c00, c01, c02);
      MulAddRowBy<1, NV>(four, b0, b1, b2, c10, c11, c12);
      MulAddRowBy<2, NV>(four, b0, b1, b2, c20, c21, c22);
      MulAddRowBy<3, NV>(four, b0, b1, b2, c30, c31, c32);
      if constexpr (MR > 4) {
        const V next = hn::LoadU(d, a4 + at);
        MulAddRowBy<0, NV>(next, b0, b1, b2, c40, c41, c42);
        MulAddRowBy<1, NV>(next, b0, b1, b2, c50, c51, c52);
        MulAddRowBy<2, NV>(next, b0, b1, b2, c60, c61, c62);
        MulAddRowBy<3, NV>(next, b0, b1, b2, c70, c71, c72);
      }
    }
  }
  if constexpr (std::is_same_v<T, float> && !kAdjacentRows) {
    HWY_UNROLL(2)
    for (; step + 2 <= depth; step += 2, at += 2, b += 2 * width) {
      const V b0 = LoadVector<0, NV>(d, b), b1 = LoadVector<1, NV>(d, b), b2 = LoadVector<2, NV>(d, b);
      const T* const b_next = b + width;
      const V b3 = LoadVector<0, NV>(d, b_next), b4 = LoadVector<1, NV>(d, b_next), b5 = LoadVector<2, NV>(d, b_next);
      const auto row = [&](const T* a_row, V& c0, V& c1, V& c2) HWY_ATTR {
        auto two = hn::LoadU(hn::Half<D>(), a_row + at);
        asm("" : "+w"(two.raw));  // or g++ makes two loads of it
        MulAddRowBy<0, NV>(two, b0, b1, b2, c0, c1, c2);
        MulAddRowBy<1, NV>(two, b3, b4, b5, c0, c1, c2);
      };
      row(a0, c00, c01, c02);
      if constexpr (MR > 1) row(a1, c10, c11, c12);
      if constexpr (MR > 2) row(a2, c20, c21, c22);
      if constexpr (MR > 3) row(a3, c30, c31, c32);
      if constexpr (MR > 4) row(a4, c40, c41, c42);
      if constexpr (MR > 5) row(a5, c50, c51, c52);
      if constexpr (MR > 6) row(a6, c60, c61, c62);
      if constexpr (MR > 7) row(a7, c70, c71, c72);
    }
  }
#endif
  HWY_UNROLL(kUnroll)
  for (; step < depth; ++step, at += a.step()) {
    const V b0 = LoadVector<0, NV>(d, b), b1 = LoadVector<1, NV>(d, b), b2 = LoadVector<2, NV>(d, b);
    MulAddRow<NV>(hn::Set(d, a0[at]), b0, b1, b2, c00, c01, c02);
    if constexpr (MR > 1) MulAddRow<NV>(hn::Set(d, a1[at]), b0, b1, b2, c10, c11, c12);
    if constexpr (MR > 2) MulAddRow<NV>(hn::Set(d, a2[at]), b0, b1, b2, c20, c21, c22);
    if constexpr (MR > 3) MulAddRow<NV>(hn::Set(d, a3[at]), b0, b1, b2, c30, c31, c32);
    if constexpr (MR > 4) MulAddRow<NV>(hn::Set(d, a4[at]), b0, b1, b2, c40, c41, c42);
    if constexpr (MR > 5) MulAddRow<NV>(hn::Set(d, a5[at]), b0, b1, b2, c50, c51, c52);
    if constexpr (MR > 6) MulAddRow<NV>(hn::Set(d, a6[at]), b0, b1, b2, c60, c61, c62);
    if constexpr (MR > 7) MulAddRow<NV>(hn::Set(d, a7[at]), b0, b1, b2, c70, c71, c72);
    b += width;
  }
  StoreRow<NV>(d, c00, c01, c02, epilogue, c);
  if constexpr (MR > 1) StoreRow<NV>(d, c10, c11, c12, epilogue, c + width);
  if constexpr (MR > 2) StoreRow<NV>(d, c20, c21, c22, epilogue, c + 2 * width);
  if constexpr (MR > 3) StoreRow<NV>(d, c30, c31, c32, epilogue, c + 3 * width);
  if constexpr (MR > 4) StoreRow<NV>(d, c40, c41, c42, epilogue, c + 4 * width);
  if constexpr (MR > 5) StoreRow<NV>(d, c50, c51, c52, epilogue, c + 5 * width);
  if constexpr (MR > 6) StoreRow<NV>(d, c60, c61, c62, epilogue, c + 6 * width);
  if constexpr (MR > 7) StoreRow<NV>(d, c70, c71, c72, epilogue, c + 7 * width);
}

/// All rows of C, kMicroRows at a time; or NV of the kOf vectors of these, from where b and c point. The rest, by halves, comes
/// first: too few chains to hide a multiply-add's latency, they leave room for what is behind them.
template <size_t NV, size_t kOf = NV, bool kAdjacentRows, class D, class T, class Epilogue>
HWY_NOINLINE void Gemm(D d, Broadcasts<T, kAdjacentRows> a, int64_t rows, int64_t depth, const T* HWY_RESTRICT b,
                       const Epilogue& epilogue, T* HWY_RESTRICT c) {
  const int64_t width = static_cast<int64_t>(kOf * hn::Lanes(d));
  int64_t r = 0;
  const auto some = [&](auto count) HWY_ATTR {
    constexpr int64_t MR = decltype(count)::value;
    const Broadcasts<T, kAdjacentRows> from = {a.row(r), a.stride};
    MicroKernel<MR, NV, kOf>(d, from, depth, b, epilogue, c + r * width);
    r += MR;
  };
  if (rows % 2 != 0) some(std::integral_constant<int64_t, 1>());
  if (rows % 4 >= 2) some(std::integral_constant<int64_t, 2>());
  if (kMicroRows > 4 && rows % 8 >= 4) some(std::integral_constant<int64_t, 4>());
  // NOLINTNEXTLINE(bugprone-infinite-loop): what it calls moves r on
  while (r < rows) some(std::integral_constant<int64_t, kMicroRows>());
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_GEMM_INL_H_
