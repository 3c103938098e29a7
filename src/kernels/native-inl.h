// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a tile brings to native products (native.h), and the products made with them.
//
//   bfloat16 queries and keys      pairs of components, multiplied exactly and summed in float32
//   int8 keys, any query           the query is rounded to 127 steps of its largest component, a row at a time; integer
//                                  sums are exact: s = (q8 . k8) * (scale * max|q| / 127) * k_scale
//   bfloat16 queries and values    pairs of keys at absolute places 2 i and 2 i + 1; weights rounded to bfloat16
//   int8 values, any query         the same: int8 is exact in bfloat16; the weight is multiplied by v_scale first
//
// Where the instruction wants one factor unsigned, it gets keys moved by 128; 128 sum(q8) is taken from the sum at its start.
#if defined(FOVEATE_SRC_KERNELS_NATIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_NATIVE_INL_H_
#undef FOVEATE_SRC_KERNELS_NATIVE_INL_H_
#else
#define FOVEATE_SRC_KERNELS_NATIVE_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "foveate/float16.h"
#include "hwy/highway.h"
#include "kernels/gemm-inl.h"
#include "kernels/native.h"
#include "kernels/pages.h"
#include "kernels/rows-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Components in a dword, and dwords that hold so many.
constexpr int64_t dword_of(Native native) { return native == Native::int8 ? 4 : 2; }
constexpr int64_t dwords(Native native, int64_t n) { return (n + dword_of(native) - 1) / dword_of(native); }

HWY_INLINE Dword* as_dwords(float* x) { return reinterpret_cast<Dword*>(x); }
HWY_INLINE const Dword* as_dwords(const float* x) { return reinterpret_cast<const Dword*>(x); }

// --- Queries ---

/// A row of n bfloat16 elements as pairs, `step` apart.
HWY_INLINE void LoadPairs(const void* row, int64_t stride, int64_t n, Dword* to, int64_t step) {
  const auto* from = static_cast<const BFloat16*>(row);
  for (int64_t i = 0; i < dwords(Native::bf16, n); ++i) {
    const uint32_t low = from[2 * i * stride].bits;
    const uint32_t high = 2 * i + 1 < n ? from[(2 * i + 1) * stride].bits : 0;
    to[i * step] = low | high << 16;
  }
}

/// Such pairs adjacent: where they lie so, or copied to `packed`.
HWY_INLINE const float* AdjacentPairs(const void* row, int64_t stride, int64_t n, float* packed) {
  if (stride == 1 && n % 2 == 0 && reinterpret_cast<uintptr_t>(row) % sizeof(float) == 0) {
    return static_cast<const float*>(row);
  }
  LoadPairs(row, stride, n, as_dwords(packed), 1);
  return packed;
}

/// Whether a factor of integer sums leaves room for these (31 bits) and for another such factor. 0 does.
HWY_INLINE bool leaves_room(float factor) {
  // Without branches: loops over it become vectors.
  const float magnitude = std::abs(factor);
  return ((magnitude > 0x1p-40f) & (magnitude < 0x1p40f)) | (magnitude == 0);
}

/// The largest magnitude of n components, and whether all are finite.
HWY_INLINE float LargestOf(const float* x, int64_t n, bool& finite) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto most = hn::Zero(d), check = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    most = hn::Max(most, hn::Abs(v));
    check = MultiplyAdd(v, hn::Zero(d), check);
  }
  float largest = hn::GetLane(hn::MaxOfLanes(d, most)), rest = 0;
  for (; i < n; ++i) {
    largest = std::max(largest, std::abs(x[i]));
    rest += x[i] * 0.0f;
  }
  finite = hn::AllTrue(d, hn::Eq(check, hn::Zero(d))) && rest == 0.0f;
  return largest;
}

/// to[i] = x[i] / largest in steps of 1/127. Returns their sum.
HWY_INLINE int32_t RoundToInt8(const float* x, int64_t n, float largest, int8_t* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<int8_t, decltype(d)> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(di);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto fraction = hn::Div(hn::LoadU(d, x + i), hn::Set(d, largest));
    const auto q8 = hn::NearestInt(hn::Mul(fraction, hn::Set(d, 127.0f)));
    sums = hn::Add(sums, q8);
    hn::StoreU(hn::DemoteTo(d8, q8), d8, to + i);
  }
  int32_t sum = hn::GetLane(hn::SumOfLanes(di, sums));
  for (; i < n; ++i) {
    to[i] = static_cast<int8_t>(std::nearbyint(x[i] / largest * 127.0f));
    sum += to[i];
  }
  return sum;
}

/// One query of adjacent components, rounded to int8, as quadruples. A query that is not finite, or whose factor leaves no
/// room, gets the factor NaN, by which RescueScores knows it.
HWY_INLINE void LoadQuadruples(const Tile<float>& tile, const float* q, int64_t lane, float* to) {
  const TileTask<float>& task = tile.task;
  const int64_t n = dwords(Native::int8, task.d_k);
  bool finite;
  const float largest = LargestOf(q, task.d_k, finite);
  int32_t sum = 0;
  to[n - 1] = 0;
  if (finite && largest > 0) {
    sum = RoundToInt8(q, task.d_k, largest, reinterpret_cast<int8_t*>(to));
  } else {
    std::fill(to, to + n, 0.0f);
  }
  tile.q_start[lane] = task.native->signed_keys ? 0 : -128 * sum;
  const float factor = task.scale * (largest / 127.0f);
  const bool fits = finite && leaves_room(factor) && (factor != 0 || task.scale == 0 || largest == 0);
  tile.q_factor[lane] = fits ? factor : std::numeric_limits<float>::quiet_NaN();
}

/// A row's query as dwords: where they lie so, or in `packed`.
HWY_INLINE const float* NativeQuery(const Tile<float>& tile, int64_t lane, float* packed) {
  const TileTask<float>& task = tile.task;
  const Row<float>& row = task.rows[lane];
  if (task.scores == Native::bf16) return AdjacentPairs(row.q, task.q_stride, task.d_k, packed);
  const float* q = AdjacentQuery(tile, row, packed);
  if (task.k.scale_stride_d != 0 && task.d_k > 1) {
    // Scales of channels join the query.
    for (int64_t i = 0; i < task.d_k; ++i) tile.columns[i] = q[i] * task.k.scales[i * task.k.scale_stride_d];
    q = tile.columns;
  } else if (q == packed) {
    q = std::copy(q, q + task.d_k, tile.columns) - task.d_k;
  }
  LoadQuadruples(tile, q, lane, packed);
  return packed;
}

/// Brings the queries into tile.q as dwords: [dwords][width], of few rows [n_rows][dwords].
HWY_INLINE void LoadNativeQueries(const Tile<float>& tile) {
  const TileTask<float>& task = tile.task;
  const int64_t n = dwords(task.scores, task.d_k);
  std::fill(tile.q_start, tile.q_start + tile.width, 0);
  std::fill(tile.q_factor, tile.q_factor + tile.width, 0.0f);
  ForQueryRows(tile, n, [&](int64_t lane, float* packed) HWY_ATTR { return NativeQuery(tile, lane, packed); });
}

// --- Scores ---

/// n elements to adjacent ones.
template <class E>
HWY_INLINE void CopyRow(const E* from, int64_t stride, int64_t n, float* row) {
  E* const to = reinterpret_cast<E*>(row);
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(E));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

/// Rows of keys or values [first, first + n) as dwords: in place where they lie so, in one run, else copied to `packed`.
template <class E>
HWY_INLINE Broadcasts<float, false> DwordRows(const Pages& pages, const RowSource& source, int64_t depth, int64_t first,
                                              int64_t n, float* packed) {
  constexpr auto kElements = static_cast<int64_t>(sizeof(float) / sizeof(E));
  const auto row_at = [&](int64_t offset) { return static_cast<const E*>(source.data) + offset; };
  Run run = RunAt(pages, source, first, n);
  if (run.n == n && LieInDwords(source, depth)) {
    return {static_cast<const float*>(static_cast<const void*>(row_at(run.offset))), source.stride / kElements};
  }
  const int64_t width = (depth + kElements - 1) / kElements;
  for (int64_t done = 0; done < n; done += run.n) {
    run = RunAt(pages, source, first + done, n - done);
    for (int64_t j = 0; j < run.n; ++j) {
      float* const row = packed + (done + j) * width;
      row[width - 1] = 0;
      CopyRow(row_at(run.offset + j * source.stride), source.stride_d, depth, row);
    }
  }
  return {packed, width};
}

/// The keys [first, first + n) as dwords.
HWY_INLINE Broadcasts<float, false> NativeKeys(const TileTask<float>& task, int64_t first, int64_t n, float* packed) {
  if (task.scores == Native::bf16) return DwordRows<BFloat16>(task.pages, task.k, task.d_k, first, n, packed);
  return DwordRows<int8_t>(task.pages, task.k, task.d_k, first, n, packed);
}

/// What the scores of each key of a range are multiplied by: its scale, 1 where channels have them.
HWY_INLINE void KeyFactors(const TileTask<float>& task, int64_t first, int64_t n, float* factors) {
  const RowSource& k = task.k;
  const bool channels = k.scale_stride_d != 0 && task.d_k > 1;
  if (channels) {
    std::fill(factors, factors + n, 1.0f);
  } else {
    FindScales(task.pages, k, first, n, factors);
  }
}

/// Scores of queries that int8 cannot hold, and of keys whose scale leaves no room, from their own numbers, into
/// s[key * key_step + row * row_step].
inline HWY_NOINLINE void RescueScores(const Tile<float>& tile, const BlockRange& range, const float* factors, float* s,
                                      int64_t key_step, int64_t row_step) {
  const TileTask<float>& task = tile.task;
  uint32_t lost = 0;
  for (int64_t j = 0; j < range.last - range.first; ++j) lost |= !leaves_room(factors[j]);
  for (int64_t lane = 0; lane < task.n_rows; ++lane) lost |= std::isnan(tile.q_factor[lane]);
  if (lost == 0) return;
  for (int64_t lane = 0; lane < task.n_rows; ++lane) {
    const bool whole = std::isnan(tile.q_factor[lane]);
    for (int64_t place = range.first; place < range.last; ++place) {
      if (!whole && leaves_room(factors[place - range.first])) continue;
      if (task.rows[lane].q == nullptr) continue;
      const Run run = RunAt(task.pages, task.k, range.origin + place, 1);
      const auto* k = static_cast<const int8_t*>(task.k.data) + run.offset;
      const float* const scales = task.k.scales + run.scale_offset;
      const float* const q = QueryRow(tile, task.rows[lane], tile.packed_k);
      const int64_t stride = q == tile.packed_k ? 1 : task.q_stride;
      float sum = 0;
      for (int64_t i = 0; i < task.d_k; ++i) {
        sum += q[i * stride] * (static_cast<float>(k[i * task.k.stride_d]) * scales[i * task.k.scale_stride_d]);
      }
      s[(place - range.first) * key_step + lane * row_step] = sum * task.scale;
    }
  }
}

/// The scores of a range, times scale, into tile.s.
inline HWY_NOINLINE void NativeScores(const Tile<float>& tile, const BlockRange& range) {
  const TileTask<float>& task = tile.task;
  const int64_t keys = range.last - range.first;
  float factors[kBlockKeys];
  if (task.scores == Native::int8) KeyFactors(task, range.key, keys, factors);
  // Rows that are few, but without products of their own: bound by memory all the same.
  if (tile.width == task.native->lanes) {
    const int64_t next = range.key + kBlockKeys, n = std::min(keys, tile.end - next);
    PrefetchRows<2>(task.pages, task.k, task.d_k, next, n);
    PrefetchRows<2>(task.pages, task.v, task.d_v, next, n);
  }
  const Broadcasts<float, false> rows = NativeKeys(task, range.key, keys, tile.packed_k);
  const NativeProduct product = {.a = as_dwords(rows.data),
                                 .a_row_stride = rows.stride,
                                 .a_step_stride = 1,
                                 .rows = keys,
                                 .steps = dwords(task.scores, task.d_k),
                                 .b = as_dwords(tile.q),
                                 .width = tile.width,
                                 .c = tile.s + range.first * tile.width};
  if (task.scores == Native::bf16) {
    task.native->scores_bf16(product, task.scale);
  } else {
    task.native->scores_i8(product, tile.q_start, tile.q_factor, factors);
    RescueScores(tile, range, factors, tile.s + range.first * tile.width, tile.width, 1);
  }
}

// --- The weighted sum ---

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

/// Scales of a range's int8 values by place from `first`, 0 beside the range. Returns whether all are finite.
HWY_INLINE bool LoadScales(const TileTask<float>& task, const BlockRange& range, int64_t first, float* scales) {
  bool finite = true;
  for (int64_t place = range.first; place < range.last; ++place) {
    scales[place - first] = task.v.scales[RunAt(task.pages, task.v, range.origin + place, 1).scale_offset];
    finite &= std::isfinite(scales[place - first]);
  }
  return finite;
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

/// The values of a range as pairs: kept ones, or joined to where they are kept or else to tile.packed_v.
template <class E>
HWY_INLINE const Dword* ValuePairs(const Tile<float>& tile, const BlockRange& range, const Pairs& pairs) {
  const TileTask<float>& task = tile.task;
  const KeptPairs& kept = task.kept;
  const int64_t block = (range.origin + task.phase % kBlockKeys) / kBlockKeys;
  const bool keep = range.first == 0 && range.last == kBlockKeys && block < kept.blocks;
  Dword* const to = as_dwords(keep ? kept.pairs + block * kept_elements(task.d_v) : tile.packed_v);
  if (keep && kept.owners[block] == kept.owner) return to;
  if (keep) kept.owners[block] = kept.owner;
  JoinPlaces<E>(task.pages, task.v, task.d_v, range, pairs, to);
  return to;
}

/// state.o = state.o * correction + V^T P for a range whose weights stand in tile.s, which they leave as pairs.
HWY_NOINLINE void NativeWeightedSum(const Tile<float>& tile, const BlockRange& range, const State<float>& state,
                                    const auto& mark_forbidden) {
  const TileTask<float>& task = tile.task;
  const int64_t group = task.native->step_group;
  const Pairs pairs = {range.first / 2 / group * group, ((range.last + 1) / 2 + group - 1) / group * group};
  const int64_t n = pairs.last - pairs.first, first = 2 * pairs.first, width = tile.width;
  float scales[kBlockKeys] = {};
  const Dword* values;
  bool finite = true;
  if (task.values == Native::int8) {
    values = ValuePairs<int8_t>(tile, range, pairs);
    finite = LoadScales(task, range, first, scales);
  } else {
    values = ValuePairs<BFloat16>(tile, range, pairs);
    finite = !range.partial || AllFinitePairs(values, n * task.d_v);
  }
  // Softmax has left 0 beside the range as far as whole groups of its own go.
  std::fill(tile.s + first * width, tile.s + std::max(first, range.first / kSumLanes * kSumLanes) * width, 0.0f);
  const int64_t filled = (range.last + kSumLanes - 1) / kSumLanes * kSumLanes;
  std::fill(tile.s + std::min(2 * pairs.last, filled) * width, tile.s + 2 * pairs.last * width, 0.0f);
  const NativeWeights weights = {.p = tile.s + first * width,
                                 .pairs = n,
                                 .width = width,
                                 .scales = task.values == Native::int8 ? scales : nullptr};
  const NativeProduct product = {.a = values,
                                 .a_row_stride = 1,
                                 .a_step_stride = task.d_v,
                                 .rows = task.d_v,
                                 .steps = n,
                                 .b = as_dwords(tile.s) + first * width,
                                 .width = width,
                                 .c = state.o};
  if (range.partial && !finite) {
    mark_forbidden();
    if (task.native->guarded_weighted_sum == nullptr) {
      return GuardByParts(tile, tile.s + first * width, weights.scales, product, state);
    }
    return task.native->guarded_weighted_sum(product, weights, tile.correction);
  }
  task.native->round_weights(weights, as_dwords(tile.s) + first * width);
  task.native->weighted_sum(product, tile.correction);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_NATIVE_INL_H_
