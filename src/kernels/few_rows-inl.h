// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The two products for tiles of few query rows over many keys, as decoding has them: bound by memory, so that what counts
// is that each key and value is read once, in order, for all rows of the tile, and asked for before it is needed.
//
//   scores        lanes = keys, transposed in registers: a row's scores are sums over d in sequence (few_scores-inl.h)
//   weighted sum  lanes = d_v, over keys in sequence
//
// Both are one micro-kernel of some rows and some vectors: what the rows need of a key or value is converted once for all
// of them. Each sum is the chain that Gemm makes of it, so the bits are the tile kernel's. Scores and weights lie row by
// row, s[row][kBlockKeys]; few_rows_walk-inl.h says what is done with them.
#if defined(FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#undef FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#else
#define FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "kernels/ahead.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// --- The micro-kernel ---

/// Accumulators at a time: of 32 registers half, of 16 half. Eight chains hide a multiply-add's latency.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || HWY_ARCH_ARM_A64
inline constexpr size_t kFewSums = 16;
#else
inline constexpr size_t kFewSums = 8;
#endif

template <class T>
HWY_INLINE Ahead AheadOf(const Tile<T>& tile) {
  const TileTask<T>& task = tile.task;
  const int64_t vectors = std::min<int64_t>(8, int64_t{kFewSums} / std::max<int64_t>(task.n_rows, 1));
  const bool one_pass = vectors * static_cast<int64_t>(hn::Lanes(hn::CappedTag<T, 16>())) >= task.d_v;
  const bool row_by_row = task.n_rows <= 2 && size_of(task.v.dtype) >= 4 && one_pass;
  return Ahead(task.pages, task.k, task.d_k, task.v, task.d_v, tile.end, row_by_row);
}

HWY_INLINE void BeginAhead(const BlockRange& range, Ahead& ahead) {
  ahead.begin(range.key, range.last - range.first, kBlockKeys);
}

/// Vectors that go with MR rows.
template <size_t MR>
inline constexpr size_t kFewVectors = kFewSums / MR < 8 ? kFewSums / MR : 8;

/// The I-th of some variables: vectors of SVE cannot be put in arrays.
template <size_t I, class V, class... Rest>
HWY_INLINE V& Pick(V& first, Rest&... rest) {
  if constexpr (I == 0) {
    return first;
  } else {
    return Pick<I - 1>(rest...);
  }
}

/// The accumulators of row M, NV of them, plus a times the vectors b0, b1, ...
template <size_t M, size_t... Vs, class V, class... Sums>
HWY_INLINE void MulAddFewRow(std::index_sequence<Vs...> /*vectors*/, V a, V b0, V b1, V b2, V b3, V b4, V b5, V b6,
                             V b7, Sums&... c) {
  ((Pick<M * sizeof...(Vs) + Vs>(c...) =
        MultiplyAdd(Pick<Vs>(b0, b1, b2, b3, b4, b5, b6, b7), a, Pick<M * sizeof...(Vs) + Vs>(c...))),
   ...);
}

/// MR rows of NV vectors of C[m][v] = sum over steps of a[m * a_stride + step] * B.load(step, v), handed to
/// store(m, v, sum). A B of several parts has as many steps to a row of its own: B.load<part>(row, v).
template <size_t MR, size_t NV, class D, class T, class B, class Store, class Between>
HWY_INLINE void FewRowsKernel(D d, const T* a, int64_t a_stride, int64_t rows, const B& b, const Store& store,
                              const Between& between) {
  static_assert(MR * NV <= 16 && NV <= 8 && MR <= 8);
  using V = hn::Vec<D>;
  constexpr auto kParts = static_cast<int64_t>(B::kParts);
  V c0 = hn::Zero(d), c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0, c7 = c0;
  V c8 = c0, c9 = c0, c10 = c0, c11 = c0, c12 = c0, c13 = c0, c14 = c0, c15 = c0;
  for (int64_t row = 0; row < rows; ++row, a += kParts) {
    between(row);
    const auto part = [&](auto index) HWY_ATTR {
      constexpr size_t P = decltype(index)::value;
      const auto load = [&](auto vector) HWY_ATTR {
        constexpr size_t I = decltype(vector)::value;
        if constexpr (I < NV) {
          return b.template load<P>(d, row, I);
        } else {
          return hn::Zero(d);
        }
      };
      const V b0 = load(std::integral_constant<size_t, 0>()), b1 = load(std::integral_constant<size_t, 1>());
      const V b2 = load(std::integral_constant<size_t, 2>()), b3 = load(std::integral_constant<size_t, 3>());
      const V b4 = load(std::integral_constant<size_t, 4>()), b5 = load(std::integral_constant<size_t, 5>());
      const V b6 = load(std::integral_constant<size_t, 6>()), b7 = load(std::integral_constant<size_t, 7>());
      const auto row_of = [&](auto m) HWY_ATTR {
        constexpr size_t M = decltype(m)::value;
        if constexpr (M < MR) {
          MulAddFewRow<M>(std::make_index_sequence<NV>(),
                          hn::Set(d, a[static_cast<int64_t>(M) * a_stride + int64_t{P}]), b0, b1, b2, b3, b4, b5, b6,
                          b7, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15);
        }
      };
      row_of(std::integral_constant<size_t, 0>());
      row_of(std::integral_constant<size_t, 1>());
      row_of(std::integral_constant<size_t, 2>());
      row_of(std::integral_constant<size_t, 3>());
      row_of(std::integral_constant<size_t, 4>());
      row_of(std::integral_constant<size_t, 5>());
      row_of(std::integral_constant<size_t, 6>());
      row_of(std::integral_constant<size_t, 7>());
    };
    part(std::integral_constant<size_t, 0>());
    if constexpr (kParts > 1) part(std::integral_constant<size_t, 1>());
    if constexpr (kParts > 2) part(std::integral_constant<size_t, 2>());
    if constexpr (kParts > 3) part(std::integral_constant<size_t, 3>());
  }
  const auto put = [&](auto index, V c) HWY_ATTR {
    constexpr size_t I = decltype(index)::value;
    if constexpr (I < MR * NV) store(I / NV, I % NV, c);
  };
  put(std::integral_constant<size_t, 0>(), c0);
  put(std::integral_constant<size_t, 1>(), c1);
  put(std::integral_constant<size_t, 2>(), c2);
  put(std::integral_constant<size_t, 3>(), c3);
  put(std::integral_constant<size_t, 4>(), c4);
  put(std::integral_constant<size_t, 5>(), c5);
  put(std::integral_constant<size_t, 6>(), c6);
  put(std::integral_constant<size_t, 7>(), c7);
  put(std::integral_constant<size_t, 8>(), c8);
  put(std::integral_constant<size_t, 9>(), c9);
  put(std::integral_constant<size_t, 10>(), c10);
  put(std::integral_constant<size_t, 11>(), c11);
  put(std::integral_constant<size_t, 12>(), c12);
  put(std::integral_constant<size_t, 13>(), c13);
  put(std::integral_constant<size_t, 14>(), c14);
  put(std::integral_constant<size_t, 15>(), c15);
}

/// Calls body(row, MR) for n rows by eights, fours, twos and ones.
template <class Body>
HWY_INLINE void ForRowGroups(int64_t n, const Body& body) {
  int64_t r = 0;
  for (; r + 8 <= n; r += 8) body(r, std::integral_constant<size_t, 8>());
  if (r + 4 <= n) {
    body(r, std::integral_constant<size_t, 4>());
    r += 4;
  }
  if (r + 2 <= n) {
    body(r, std::integral_constant<size_t, 2>());
    r += 2;
  }
  if (r < n) body(r, std::integral_constant<size_t, 1>());
}

// --- The weighted sum ---

/// Values where they lie, read in the computing type: those of int8 times a scale each.
template <class E>
struct StoredRows {
  static constexpr size_t kParts = 1;
  const E* const* rows;
  const float* scales;
  int64_t column;

  template <size_t, class D>
  HWY_INLINE hn::Vec<D> load(D d, int64_t row, size_t v) const {
    const auto elements = LoadElements(d, rows[row] + column + static_cast<int64_t>(v * hn::Lanes(d)));
    if constexpr (std::is_same_v<E, int8_t>) {
      return hn::Mul(elements, hn::Set(d, scales[row]));
    } else {
      return elements;
    }
  }
};

/// o = o * correction + sum over keys of p * value, for MR rows and NV vectors of columns. `reads` says whether the values
/// come from memory.
template <size_t MR, size_t NV, class D, class T, class E>
HWY_INLINE void FewRowsColumns(D d, const T* p, int64_t keys, const StoredRows<E>& values, const T* correction, T* o,
                               int64_t d_v, bool reads, Ahead& ahead) {
  const auto store = [&](size_t m, size_t v, auto sum) HWY_ATTR {
    T* const to = o + static_cast<int64_t>(m) * d_v + values.column + static_cast<int64_t>(v * hn::Lanes(d));
    hn::StoreU(MultiplyAdd(hn::LoadU(d, to), hn::Set(d, correction[m]), sum), d, to);
  };
  const int64_t bytes = reads ? static_cast<int64_t>(NV * hn::Lanes(d) * sizeof(E)) : 0;
  FewRowsKernel<MR, NV>(d, p, kBlockKeys, keys, values, store, [&](int64_t) HWY_ATTR { ahead.reads(bytes); });
}

/// o[row][d_v] = o * correction + P V for the range's weights p[row][place], of values of adjacent components wherever
/// they lie and whatever their type. Whole vectors, then four lanes at a time, then one, so that nothing beside the rows is
/// read.
template <class T>
HWY_NOINLINE void FewRowsWeightedSum(const Tile<T>& tile, const BlockRange& range, Ahead& ahead, const T* p, T* o) {
  const TileTask<T>& task = tile.task;
  const hn::CappedTag<T, 16> d;
  const hn::CappedTag<T, 4> d4;
  const hn::CappedTag<T, 1> d1;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), lanes4 = static_cast<int64_t>(hn::Lanes(d4));
  const int64_t keys = range.last - range.first, d_v = task.d_v;
  float scales[kBlockKeys];
  if (task.v.dtype == DType::i8) FindScales(task.pages, task.v, range.key, keys, scales);
  WithElement<T>(task.v.dtype, [&](auto* element) HWY_ATTR {
    using E = std::remove_pointer_t<decltype(element)>;
    const E* rows[kBlockKeys];
    FindRows(task.pages, task.v, range.key, keys, rows);
    ForRowGroups(task.n_rows, [&](int64_t r, auto group) HWY_ATTR {
      constexpr size_t MR = decltype(group)::value, NV = kFewVectors<MR>;
      const T* const weights = p + r * kBlockKeys + range.first;
      const T* const correction = tile.correction + r;
      T* const to = o + r * d_v;
      StoredRows<E> values = {rows, scales, 0};
      int64_t& i = values.column;
      const auto columns = [&](auto tag, auto vectors) HWY_ATTR {
        FewRowsColumns<MR, decltype(vectors)::value>(tag, weights, keys, values, correction, to, d_v, r == 0, ahead);
      };
      const std::integral_constant<size_t, 1> one;
      for (; i + static_cast<int64_t>(NV) * lanes <= d_v; i += static_cast<int64_t>(NV) * lanes) {
        columns(d, std::integral_constant<size_t, NV>());
      }
      if constexpr (NV > 4) {
        for (; i + 4 * lanes <= d_v; i += 4 * lanes) columns(d, std::integral_constant<size_t, 4>());
      }
      for (; i + lanes <= d_v; i += lanes) columns(d, one);
      for (; i + lanes4 <= d_v; i += lanes4) columns(d4, one);
      for (; i < d_v; ++i) columns(d1, one);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_FEW_ROWS_INL_H_
