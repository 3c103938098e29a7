// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Few rows with native products (native-inl.h), and which of both ways a task's products go. A pair of keys is made of two
// rows in registers, for all query rows at once.
#if defined(FOVEATE_SRC_KERNELS_NATIVE_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_NATIVE_FEW_ROWS_INL_H_
#undef FOVEATE_SRC_KERNELS_NATIVE_FEW_ROWS_INL_H_
#else
#define FOVEATE_SRC_KERNELS_NATIVE_FEW_ROWS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/ahead.h"
#include "kernels/few_rows-inl.h"
#include "kernels/few_scores-inl.h"
#include "kernels/native-inl.h"
#include "kernels/native.h"
#include "kernels/rows-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The scores of a range from rows_at(first key, n), keys in the lanes: of keys where they lie, or by way of columns.
template <class RowsAt>
HWY_INLINE void NativeFewRowsProducts(const Tile<float>& tile, const BlockRange& range, const float* factors,
                                      Ahead& ahead, const RowsAt& rows_at, float* s) {
  const TileTask<float>& task = tile.task;
  const int64_t steps = dwords(task.scores, task.d_k);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  ForSquaresOfKeys<2 * kSquare>(tile, range, steps, rows_at,
                                [&](const Broadcasts<float, false>& keys, int64_t place, int64_t n) HWY_ATTR {
                                  const NativeFewKeys product = {.a = as_dwords(tile.q),
                                                                 .rows = task.n_rows,
                                                                 .steps = steps,
                                                                 .keys = as_dwords(keys.data),
                                                                 .stride = keys.stride,
                                                                 .n = n,
                                                                 .c = s + place,
                                                                 .c_stride = kBlockKeys,
                                                                 .ahead = &ahead};
                                  if (task.scores == Native::bf16)
                                    return task.native->few_keys_bf16(product, task.scale);
                                  task.native->few_keys_i8(product, tile.q_start, tile.q_factor, factors + place);
                                });
#else
  TransposeKeys<kBlockKeys>(tile, range, steps, ahead, rows_at);
  const NativeFewScores product = {.a = as_dwords(tile.q),
                                   .rows = task.n_rows,
                                   .steps = steps,
                                   .b = as_dwords(tile.columns),
                                   .b_stride = kBlockKeys,
                                   .first = range.first,
                                   .last = range.last,
                                   .c = s,
                                   .ahead = &ahead};
  task.native->few_scores_i8(product, tile.q_start, tile.q_factor, factors);
#endif
}

/// The scores of a range, times scale, into s[row][place].
HWY_INLINE void NativeFewRowsScores(const Tile<float>& tile, const BlockRange& range, Ahead& ahead, float* s) {
  const TileTask<float>& task = tile.task;
  float factors[kBlockKeys] = {};
  if (task.scores == Native::int8) KeyFactors(task, range.key, range.last - range.first, factors + range.first);
  const bool lie = LieInDwords(task.k, task.d_k);
  const int64_t steps = dwords(task.scores, task.d_k);
  const auto rows_at = [&](int64_t first, int64_t n) HWY_ATTR {
    return lie ? RowsAsTheyLie(task.pages, task.k, first, n, steps, tile.packed_k)
               : NativeKeys(task, first, n, tile.packed_k);
  };
  NativeFewRowsProducts(tile, range, factors, ahead, rows_at, s);
  if (task.scores == Native::int8) RescueScores(tile, range, factors + range.first, s + range.first, 1, kBlockKeys);
}

/// The scores of a range, times scale, into s[row][place].
template <class T>
HWY_INLINE void FewRowsScoresOf(const Tile<T>& tile, const BlockRange& range, Ahead& ahead, T* s) {
  if constexpr (kNativeProducts && std::is_same_v<T, float>) {
    if (tile.task.scores != Native::none) return NativeFewRowsScores(tile, range, ahead, s);
  }
  FewRowsScores(tile, range, ahead, s);
}

/// Puts a range's scores or weights of few rows into tile.s, and zeros into lanes without a row.
template <class T>
HWY_NOINLINE void ScatterFewRows(const Tile<T>& tile, const BlockRange& range, const T* s) {
  std::fill(tile.s + range.first * tile.width, tile.s + range.last * tile.width, T{0});
  for (int64_t r = 0; r < tile.task.n_rows; ++r) {
    for (int64_t place = range.first; place < range.last; ++place) {
      tile.s[place * tile.width + r] = s[r * kBlockKeys + place];
    }
  }
}

/// The scores of a range into tile.s, for whoever has lanes of queries.
template <class T>
HWY_NOINLINE void FewRowsScoresInLanes(const Tile<T>& tile, const BlockRange& range) {
  alignas(64) T s[kMostFewRows * kBlockKeys];
  Ahead ahead = AheadOf(tile);
  BeginAhead(range, ahead);
  FewRowsScoresOf(tile, range, ahead, s);
  ScatterFewRows(tile, range, s);
}

/// rows[i] = the row of the value at place `first + i`, for n places; zeros beside the range.
template <class E>
HWY_INLINE void FindPlaces(const Tile<float>& tile, const BlockRange& range, int64_t first, int64_t n,
                           const void** rows) {
  const TileTask<float>& task = tile.task;
  const E* found[kBlockKeys];
  const int64_t keys = range.last - range.first;
  FindRows(task.pages, task.v, range.key, keys, found);
  if (n > keys) {
    std::fill(tile.packed_v, tile.packed_v + task.d_v, 0.0f);
    std::fill(rows, rows + n, tile.packed_v);
  }
  std::copy(found, found + keys, rows + (range.first - first));
}

/// Whether a range's values of adjacent components hold neither NaN nor Inf.
inline HWY_NOINLINE bool AreFiniteNative(const TileTask<float>& task, const BlockRange& range) {
  const int64_t keys = range.last - range.first;
  uint32_t bad = 0;
  if (task.values == Native::int8) {
    float scales[kBlockKeys];
    FindScales(task.pages, task.v, range.key, keys, scales);
    for (int64_t j = 0; j < keys; ++j) bad |= !std::isfinite(scales[j]);
    return bad == 0;
  }
  const BFloat16* rows[kBlockKeys];
  FindRows(task.pages, task.v, range.key, keys, rows);
  for (int64_t j = 0; j < keys; ++j) {
    for (int64_t i = 0; i < task.d_v; ++i) bad |= (rows[j][i].bits & 0x7f80) == 0x7f80;
  }
  return bad == 0;
}

/// o[row][d_v] = o * correction + P V for the range's weights p[row][place], rounded to bfloat16.
HWY_NOINLINE inline void NativeFewRowsWeightedSum(const Tile<float>& tile, const BlockRange& range, Ahead& ahead,
                                                  const float* p, float* o) {
  const TileTask<float>& task = tile.task;
  const hn::CappedTag<float, 16> d;
  const int64_t first = range.first / 2 * 2, n = (range.last + 1) / 2 * 2 - first;
  alignas(64) float weights[kMostFewRows * kBlockKeys];
  const void* rows[kBlockKeys];
  if (task.values == Native::int8) {
    alignas(64) float scales[kBlockKeys] = {};
    FindScales(task.pages, task.v, range.key, range.last - range.first, scales + range.first);
    for (int64_t r = 0; r < task.n_rows; ++r) {
      for (int64_t place = 0; place < kBlockKeys; place += static_cast<int64_t>(hn::Lanes(d))) {
        const auto weight = hn::LoadU(d, p + r * kBlockKeys + place);
        hn::StoreU(hn::Mul(weight, hn::LoadU(d, scales + place)), d, weights + r * kBlockKeys + place);
      }
    }
    p = weights;
    FindPlaces<int8_t>(tile, range, first, n, rows);
  } else {
    FindPlaces<BFloat16>(tile, range, first, n, rows);
  }
  task.native->round_rows(p, task.n_rows, kBlockKeys, kBlockKeys, as_dwords(weights));
  const NativeFewValues product = {.a = as_dwords(weights) + first / 2,
                                   .a_stride = kBlockKeys / 2,
                                   .rows = task.n_rows,
                                   .values = rows,
                                   .pairs = n / 2,
                                   .d = task.d_v,
                                   .correction = tile.correction,
                                   .o = o,
                                   .ahead = &ahead};
  task.values == Native::int8 ? task.native->few_values_i8(product) : task.native->few_values_bf16(product);
}

/// o[row][d_v] = o * correction + P V for the range's weights p[row][place].
template <class T>
HWY_INLINE void FewRowsWeightedSumOf(const Tile<T>& tile, const BlockRange& range, Ahead& ahead, const T* p, T* o) {
  if constexpr (kNativeProducts && std::is_same_v<T, float>) {
    if (tile.task.values != Native::none) return NativeFewRowsWeightedSum(tile, range, ahead, p, o);
  }
  FewRowsWeightedSum(tile, range, ahead, p, o);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_NATIVE_FEW_ROWS_INL_H_
