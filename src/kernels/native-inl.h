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
/// s[key * key_step + row * row_step]. Whether there are any.
inline HWY_NOINLINE bool RescueScores(const Tile<float>& tile, const BlockRange& range, const float* factors, float* s,
                                      int64_t key_step, int64_t row_step) {
  const TileTask<float>& task = tile.task;
  uint32_t lost = 0;
  for (int64_t j = 0; j < range.last - range.first; ++j) lost |= !leaves_room(factors[j]);
  for (int64_t lane = 0; lane < task.n_rows; ++lane) lost |= std::isnan(tile.q_factor[lane]);
  if (lost == 0) return false;
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
  return true;
}

/// The scores of a range, times scale, into tile.s, and the largest of each lane into tile.correction, if the table can.
inline HWY_NOINLINE void NativeScores(const Tile<float>& tile, BlockRange& range) {
  const TileTask<float>& task = tile.task;
  const int64_t keys = range.last - range.first;
  float factors[kBlockKeys];
  if (task.scores == Native::int8) KeyFactors(task, range.key, keys, factors);
  const Broadcasts<float, false> rows = NativeKeys(task, range.key, keys, tile.packed_k);
  std::fill(tile.correction, tile.correction + tile.width, -std::numeric_limits<float>::infinity());
  range.most_found = task.native->finds_most;
  const auto scores = [&](int64_t lane, const Places& places, int64_t vectors) HWY_ATTR {
    const int64_t key = places.first - range.first;
    const NativeProduct product = {.a = as_dwords(rows.row(key)),
                                   .a_row_stride = rows.stride,
                                   .a_step_stride = 1,
                                   .rows = places.last - places.first,
                                   .steps = dwords(task.scores, task.d_k),
                                   .b = as_dwords(tile.q) + lane,
                                   .width = tile.width,
                                   .c = tile.s + places.first * tile.width + lane,
                                   .vectors = vectors,
                                   .most = tile.correction + lane};
    if (task.scores == Native::bf16) return task.native->scores_bf16(product, task.scale);
    task.native->scores_i8(product, tile.q_start + lane, tile.q_factor + lane, factors + key);
  };
  if (range.by_vectors) {
    ForEachVectorSeeing(tile, range, [&](int64_t lane, const Places& seen) HWY_ATTR { scores(lane, seen, 1); });
  } else {
    AskingForNext(tile, range, task.k, task.d_k, keys, [&](int64_t r, int64_t n) HWY_ATTR {
      scores(0, {range.first + r, range.first + r + n}, 0);
    });
  }
  if (task.scores == Native::int8 &&
      RescueScores(tile, range, factors, tile.s + range.first * tile.width, tile.width, 1)) {
    range.most_found = false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_NATIVE_INL_H_
