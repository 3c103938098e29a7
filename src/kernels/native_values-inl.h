// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The weighted sum by native products (native-inl.h says of what): values joined as pairs of places, weights rounded to pairs
// where softmax makes them, or behind it where somebody wants them first.
#if defined(FOVEATE_SRC_KERNELS_NATIVE_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_NATIVE_VALUES_INL_H_
#undef FOVEATE_SRC_KERNELS_NATIVE_VALUES_INL_H_
#else
#define FOVEATE_SRC_KERNELS_NATIVE_VALUES_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "foveate/float16.h"
#include "hwy/highway.h"
#include "kernels/native-inl.h"
#include "kernels/native.h"
#include "kernels/pages.h"
#include "kernels/rows-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// An element as bfloat16, in the low half.
HWY_INLINE uint32_t bf16_bits(BFloat16 x) { return x.bits; }
HWY_INLINE uint32_t bf16_bits(int8_t x) { return std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16; }

/// A vector of elements as bfloat16, in low and in high halves; what is left of a small integer's float32 is zeros.
template <class D>
HWY_INLINE hn::Vec<D> LowHalves(D du, const BFloat16* from) {
  const hn::Rebind<uint16_t, D> d16;
  return hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
}
template <class D>
HWY_INLINE hn::Vec<D> LowHalves(D du, const int8_t* from) {
  return hn::ShiftRight<16>(hn::BitCast(du, LoadElements(hn::RebindToFloat<D>(), from)));
}
template <class D, class E>
HWY_INLINE hn::Vec<D> HighHalves(D du, const E* from) {
  return hn::BitCast(du, LoadElements(hn::RebindToFloat<D>(), from));
}

/// to[c] = the bfloat16s of even[c] and odd[c], either of which may be a row that is not there.
template <class E>
HWY_INLINE void JoinRows(const E* even, const E* odd, int64_t stride_d, int64_t n, Dword* to) {
  int64_t c = 0;
  if (even != nullptr && odd != nullptr && stride_d == 1) {
    const hn::ScalableTag<uint32_t> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; c + lanes <= n; c += lanes) {
      hn::StoreU(hn::Or(LowHalves(d, even + c), HighHalves(d, odd + c)), d, reinterpret_cast<uint32_t*>(to + c));
    }
  }
  for (; c < n; ++c) {
    to[c] = (even != nullptr ? bf16_bits(even[c * stride_d]) : 0) |
            (odd != nullptr ? bf16_bits(odd[c * stride_d]) << 16 : 0);
  }
}

/// Places 2 first .. 2 last of a block by pairs; those outside the range count for nothing.
struct Pairs {
  int64_t first, last;
};

/// Rows of a range's places, of element type E, as pairs of bfloat16 to adjacent pairs of rows.
template <class E>
HWY_NOINLINE void JoinPlaces(const Pages& pages, const RowSource& source, int64_t depth, const BlockRange& range,
                             const Pairs& pairs, Dword* to) {
  const E* rows[kBlockKeys] = {};
  FindRows(pages, source, range.key, range.last - range.first, rows + range.first);
  for (int64_t pair = pairs.first; pair < pairs.last; ++pair, to += depth) {
    JoinRows(rows[2 * pair], rows[2 * pair + 1], source.stride_d, depth, to);
  }
}

/// Whether n dwords hold no NaN or Inf of bfloat16.
HWY_INLINE bool AllFinitePairs(const Dword* x, int64_t n) {
  uint32_t bad = 0;
  for (int64_t i = 0; i < n; ++i) bad |= (x[i] & 0x7f80) == 0x7f80 || (x[i] & 0x7f800000) == 0x7f800000;
  return bad == 0;
}

/// A bfloat16, as products have it: subnormals count as 0.
HWY_INLINE float Flushed(uint32_t bits) {
  const auto x = std::bit_cast<float>(bits << 16);
  return std::abs(x) < 0x1p-126f ? 0.0f : x;
}

/// The weighted sum of marked weights where the table has no guarded one: weights of -1 become 0, values that are not finite
/// are left out of the product, and added to the lanes that they are not forbidden to.
inline HWY_NOINLINE void GuardByParts(const Tile<float>& tile, float* p, const float* scales,
                                      const NativeProduct& product, const State<float>& state) {
  const TileTask<float>& task = tile.task;
  const int64_t d_v = task.d_v, pairs = product.steps, places = 2 * pairs;
  const Dword* const joined = product.a;
  bool forbidden[kBlockKeys][kTileVectors<float> * 16];
  for (int64_t place = 0; place < places; ++place) {
    for (int64_t r = 0; r < task.n_rows; ++r) {
      float& weight = p[place * tile.width + r];
      forbidden[place][r] = weight < 0;
      weight = weight < 0 ? 0 : scales == nullptr ? weight : weight * scales[place];
    }
  }
  Dword* const values = as_dwords(tile.packed_v);
  Dword* const kept = values + kBlockKeys / 2 * d_v;
  std::copy(joined, joined + pairs * d_v, kept);
  std::copy(kept, kept + pairs * d_v, values);
  for (int64_t i = 0; i < pairs * d_v; ++i) {
    if ((values[i] & 0x7f80) == 0x7f80) values[i] &= 0xffff0000;
    if ((values[i] & 0x7f800000) == 0x7f800000) values[i] &= 0xffff;
  }
  task.native->round_weights({.p = p, .pairs = pairs, .width = tile.width, .scales = nullptr}, as_dwords(p));
  NativeProduct of_finite = product;
  of_finite.a = values;
  task.native->weighted_sum(of_finite, tile.correction);
  for (int64_t place = 0; place < places; ++place) {
    for (int64_t c = 0; c < d_v; ++c) {
      const uint32_t value = kept[place / 2 * d_v + c] >> (16 * (place % 2)) & 0xffff;
      if ((value & 0x7f80) != 0x7f80) continue;
      for (int64_t r = 0; r < task.n_rows; ++r) {
        if (forbidden[place][r]) continue;
        const uint32_t weight = as_dwords(p)[place / 2 * tile.width + r] >> (16 * (place % 2)) & 0xffff;
        state.o[c * tile.width + r] += Flushed(weight) * Flushed(value);
      }
    }
  }
}

/// Where the pairs of a block are kept; nullptr: nowhere.
HWY_INLINE Dword* KeptBlock(const Tile<float>& tile, int64_t block, int64_t*& tag) {
  const KeptPairs& kept = tile.task.kept;
  const bool fits = tile.end - tile.begin + 2 * kBlockKeys <= kept.blocks * kBlockKeys;
  if (!fits && block >= kept.blocks) return nullptr;
  const int64_t slot = block < kept.blocks ? block : block % kept.blocks;
  tag = kept.tags + slot;
  return as_dwords(kept.pairs + slot * kept_elements(tile.task.d_v));
}

/// The values of a range as pairs, and whether these are known to be finite: kept ones, or joined to where they are kept or
/// else to tile.packed_v. Kept ones know the block's values beside the range, where others are 0.
template <class E>
HWY_INLINE const Dword* ValuePairs(const Tile<float>& tile, const BlockRange& range, const Pairs& pairs, bool& finite) {
  const TileTask<float>& task = tile.task;
  const int64_t n = (pairs.last - pairs.first) * task.d_v;
  const int64_t block = (range.origin + task.phase % kBlockKeys) / kBlockKeys;
  const bool whole = range.first == 0 && range.last == kBlockKeys;
  int64_t* tag = nullptr;
  if (Dword* const kept = KeptBlock(tile, block, tag)) {
    finite = *tag == task.kept.tag(block, true);
    if (finite || (whole && *tag == task.kept.tag(block, false))) return kept + pairs.first * task.d_v;
    if (whole) {
      JoinPlaces<E>(task.pages, task.v, task.d_v, range, pairs, kept);
      finite = std::is_same_v<E, int8_t> || AllFinitePairs(kept, n);
      *tag = task.kept.tag(block, finite);
      return kept;
    }
  }
  Dword* const to = as_dwords(tile.packed_v);
  JoinPlaces<E>(task.pages, task.v, task.d_v, range, pairs, to);
  finite = std::is_same_v<E, int8_t> || (range.partial && AllFinitePairs(to, n));
  return to;
}

/// What a range's values bring to the weighted sum.
struct NativeValues {
  Pairs pairs;
  const Dword* joined;       ///< [pairs][d_v]
  float scales[kBlockKeys];  ///< of int8 values, by place; 0 beside the range
  const float* scaled;       ///< them, or nullptr where there are none
  bool finite;               ///< none is NaN or Inf, or every row may meet these
};

HWY_NOINLINE inline void FindNativeValues(const Tile<float>& tile, const BlockRange& range, NativeValues& values) {
  const TileTask<float>& task = tile.task;
  const int64_t group = task.native->step_group;
  const Pairs pairs = {range.first / 2 / group * group, ((range.last + 1) / 2 + group - 1) / group * group};
  values.pairs = pairs;
  values.scaled = nullptr;
  if (task.values == Native::int8) {
    values.joined = ValuePairs<int8_t>(tile, range, pairs, values.finite);
    std::fill(values.scales, values.scales + kBlockKeys, 0.0f);
    FindScales(task.pages, task.v, range.key, range.last - range.first, values.scales + range.first);
    for (int64_t place = range.first; place < range.last; ++place) {
      values.finite &= !range.partial || std::isfinite(values.scales[place]);
    }
    values.scaled = values.scales;
  } else {
    values.joined = ValuePairs<BFloat16>(tile, range, pairs, values.finite);
    values.finite |= !range.partial;
  }
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// Puts weights down as round_weights makes them: pair i of a block in row i of tile.s, where no score is left to be read.
struct StorePairs {
  const float* scales;  ///< by place; nullptr: none

  template <class D, class V>
  HWY_INLINE void four(D d, V p0, V p1, V p2, V p3, float* group, int64_t width, int64_t place) const {
    if (scales != nullptr) {
      p0 = hn::Mul(p0, hn::Set(d, scales[place]));
      p1 = hn::Mul(p1, hn::Set(d, scales[place + 1]));
      p2 = hn::Mul(p2, hn::Set(d, scales[place + 2]));
      p3 = hn::Mul(p3, hn::Set(d, scales[place + 3]));
    }
    float* const to = group - place / 2 * width;
    hn::Store(rounded(p0, p1), d, to);
    hn::Store(rounded(p2, p3), d, to + width);
  }

  /// Even ones come out in front of all odd ones: lane i takes i and 16 + i. An instruction that Highway does not know.
  template <class V>
  static HWY_INLINE V rounded(V even, V odd) {
    alignas(64) static constexpr uint32_t kPlaces[16] = {0x100000, 0x110001, 0x120002, 0x130003, 0x140004, 0x150005,
                                                         0x160006, 0x170007, 0x180008, 0x190009, 0x1a000a, 0x1b000b,
                                                         0x1c000c, 0x1d000d, 0x1e000e, 0x1f000f};
    __m512i both;
    asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(both) : "v"(odd.raw), "v"(even.raw));
    return V{_mm512_castsi512_ps(_mm512_permutexvar_epi16(_mm512_load_si512(kPlaces), both))};
  }
};
#endif

/// C = state.o, A = the values' pairs; B, their weights, begins at `weights`.
HWY_INLINE NativeProduct ValuesProduct(const Tile<float>& tile, const NativeValues& values, const float* weights,
                                       const State<float>& state) {
  return {.a = values.joined,
          .a_row_stride = 1,
          .a_step_stride = tile.task.d_v,
          .rows = tile.task.d_v,
          .steps = values.pairs.last - values.pairs.first,
          .b = as_dwords(weights),
          .width = tile.width,
          .c = state.o};
}

HWY_INLINE void WeightedSumOf(const Tile<float>& tile, const BlockRange& range, NativeProduct product) {
  const TileTask<float>& task = tile.task;
  AskingForNext(tile, range, task.v, task.d_v, task.d_v, [&](int64_t r, int64_t n) HWY_ATTR {
    NativeProduct part = product;
    part.a += r;
    part.rows = n;
    part.c += r * tile.width;
    task.native->weighted_sum(part, tile.correction);
  });
}

/// state.o = state.o * correction + V^T P for a range whose weights StorePairs has put into tile.s.
HWY_NOINLINE inline void SumOfPairs(const Tile<float>& tile, const BlockRange& range, const NativeValues& values,
                                    const State<float>& state) {
  // Softmax has gone over whole groups of places; products may want more.
  const Pairs pairs = values.pairs;
  if (range.by_vectors) {
    return ForEachVectorSeeing(tile, range, [&](int64_t lane, const Places& seen) HWY_ATTR {
      const int64_t pair = seen.first / 2;
      NativeProduct product = ValuesProduct(tile, values, tile.s + pair * tile.width + lane, state);
      product.a += (pair - pairs.first) * tile.task.d_v;
      product.steps = (seen.last + 1) / 2 - pair;
      product.vectors = 1;
      product.c += lane;
      tile.task.native->weighted_sum(product, tile.correction + lane);
    });
  }
  const int64_t width = tile.width, first = range.first / kSumLanes * (kSumLanes / 2);
  const int64_t last = (range.last + kSumLanes - 1) / kSumLanes * (kSumLanes / 2);
  std::fill(tile.s + pairs.first * width, tile.s + std::max(pairs.first, first) * width, 0.0f);
  std::fill(tile.s + std::min(pairs.last, last) * width, tile.s + pairs.last * width, 0.0f);
  WeightedSumOf(tile, range, ValuesProduct(tile, values, tile.s + pairs.first * width, state));
}

/// state.o = state.o * correction + V^T P for a range whose weights stand in tile.s, which they leave as pairs.
HWY_NOINLINE void NativeWeightedSum(const Tile<float>& tile, const BlockRange& range, const NativeValues& values,
                                    const State<float>& state, const auto& mark_forbidden) {
  const TileTask<float>& task = tile.task;
  const Pairs pairs = values.pairs;
  const int64_t first = 2 * pairs.first, width = tile.width;
  // Softmax has left 0 beside the range as far as whole groups of its own go.
  std::fill(tile.s + first * width, tile.s + std::max(first, range.first / kSumLanes * kSumLanes) * width, 0.0f);
  const int64_t filled = (range.last + kSumLanes - 1) / kSumLanes * kSumLanes;
  std::fill(tile.s + std::min(2 * pairs.last, filled) * width, tile.s + 2 * pairs.last * width, 0.0f);
  float* const p = tile.s + first * width;
  const NativeWeights weights = {.p = p,
                                 .pairs = pairs.last - pairs.first,
                                 .width = width,
                                 .scales = values.scaled == nullptr ? nullptr : values.scaled + first};
  const NativeProduct product = ValuesProduct(tile, values, p, state);
  if (!values.finite) {
    mark_forbidden();
    if (task.native->guarded_weighted_sum == nullptr) {
      return GuardByParts(tile, p, weights.scales, product, state);
    }
    return task.native->guarded_weighted_sum(product, weights, tile.correction);
  }
  task.native->round_weights(weights, as_dwords(p));
  WeightedSumOf(tile, range, product);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_NATIVE_VALUES_INL_H_
