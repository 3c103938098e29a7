// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The online softmax of a tile, lane by lane (Milakov and Gimelshein, arXiv:1805.02867): one block of scores becomes
// weights and joins a state; states join each other; a state becomes rows of output.
//
// Corners. A maximum of -inf (no key yet, or all scores -inf) is replaced by 0 where it is subtracted, so that weights
// become exp(-inf) = 0 and not NaN; l stays 0 then and nowhere else, for the largest score has weight exactly 1. No finite
// number ever stands in for -inf. NaN reaches l and o through the weights, whatever the maximum made of it.
#if defined(FOVEATE_SRC_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_SOFTMAX_INL_H_
#undef FOVEATE_SRC_KERNELS_SOFTMAX_INL_H_
#else
#define FOVEATE_SRC_KERNELS_SOFTMAX_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/exp-inl.h"
#include "kernels/few_rows-inl.h"
#include "kernels/gemm-inl.h"
#include "kernels/multiply_add-inl.h"
#include "kernels/native_values-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V ZeroIfMinusInfinity(D d, V m) {
  return hn::IfThenZeroElse(hn::Eq(m, hn::Set(d, -std::numeric_limits<hn::TFromD<D>>::infinity())), m);
}

/// Calls body(tag, of, each) for each vector of lanes, or each row of few. of(x) is what an array of one number a row has for
/// their outputs; each(op) calls op(i) for each vector of these, i being its place in State::o.
template <class D, class T, class Body>
HWY_INLINE void ForEachOutput(D d, const Tile<T>& tile, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), width = tile.width, d_v = tile.task.d_v;
  if (!HWY_ARCH_WASM && tile.few) {
    const hn::CappedTag<T, 1> d1;
    const int64_t n_rows = tile.task.n_rows, whole = d_v / lanes * lanes;
    for (int64_t r = 0; r < n_rows; ++r) {
      const auto adjacent = [&](auto tag, int64_t first, int64_t last) HWY_ATTR {
        const auto of = [&](const T* x) HWY_ATTR { return hn::Set(tag, x[r]); };
        body(tag, of, [&](const auto& op) HWY_ATTR {
          for (int64_t i = first; i < last; i += static_cast<int64_t>(hn::Lanes(tag))) op(r * d_v + i);
        });
      };
      adjacent(d, 0, whole);
      if (whole < d_v) adjacent(d1, whole, d_v);
    }
    return;
  }
  for (int64_t lane = 0; lane < width; lane += lanes) {
    const auto of = [&](const T* x) HWY_ATTR { return hn::Load(d, x + lane); };
    body(d, of, [&](const auto& op) HWY_ATTR {
      for (int64_t i = lane; i < width * d_v; i += width) op(i);
    });
  }
}

template <class D, class T>
HWY_INLINE void Clear(D d, const Tile<T>& tile, const State<T>& state) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t lane = 0; lane < tile.width; lane += lanes) {
    hn::Store(hn::Set(d, -std::numeric_limits<T>::infinity()), d, state.m + lane);
    hn::Store(hn::Zero(d), d, state.l + lane);
  }
  const int64_t elements = (!HWY_ARCH_WASM && tile.few ? tile.task.n_rows : tile.width) * tile.task.d_v;
  T* const o = state.o;
  for (int64_t i = 0; i < elements; i += lanes) hn::Store(hn::Zero(d), d, o + i);
}

/// Weights where their scores were.
struct WeightsInPlace {
  template <class D, class T, class V>
  HWY_INLINE void four(D d, V p0, V p1, V p2, V p3, T* group, int64_t width, int64_t /*place*/) const {
    hn::Store(p0, d, group);
    hn::Store(p1, d, group + width);
    hn::Store(p2, d, group + 2 * width);
    hn::Store(p3, d, group + 3 * width);
  }
};

/// Turns the scores of a range in tile.s into weights relative to the new maximum, and updates state.m, state.l and
/// tile.correction, by which what state.o holds must be multiplied. Weights are summed by place modulo kSumLanes, and put
/// where `weights` wants them.
template <class D, class T, class Weights>
HWY_NOINLINE void Softmax(D d, const Tile<T>& tile, const BlockRange& range, const State<T>& state,
                          const Weights& weights) {
  using V = hn::Vec<D>;
  const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
  const int64_t width = tile.width;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t lane = 0; lane < width; lane += lanes) {
    const Places places = PlacesOf(tile, range, lane / lanes);
    if (places.first >= places.last) {
      hn::Store(hn::Set(d, T{1}), d, tile.correction + lane);
      continue;
    }
    // Whole groups of kSumLanes places: what is left out counts as forbidden, and adds an exact 0.
    const int64_t first = places.first / kSumLanes * kSumLanes;
    const int64_t last = (places.last + kSumLanes - 1) / kSumLanes * kSumLanes;
    T* const s = tile.s + lane;
    for (int64_t place = first; place < places.first; ++place) hn::Store(none, d, s + place * width);
    for (int64_t place = places.last; place < last; ++place) hn::Store(none, d, s + place * width);

    V max0 = hn::Load(d, state.m + lane), max1 = none, max2 = none, max3 = none;
    const bool found = kNativeProducts && range.most_found;
    if (found) max1 = hn::Load(d, tile.correction + lane);
    for (int64_t place = first; !found && place < last; place += kSumLanes) {
      const T* const group = s + place * width;
      max0 = hn::Max(max0, hn::Load(d, group));
      max1 = hn::Max(max1, hn::Load(d, group + width));
      max2 = hn::Max(max2, hn::Load(d, group + 2 * width));
      max3 = hn::Max(max3, hn::Load(d, group + 3 * width));
    }
    const V m = hn::Max(hn::Max(max0, max1), hn::Max(max2, max3));
    const V subtract = ZeroIfMinusInfinity(d, m);
    const V correction = Exp(d, hn::Sub(hn::Load(d, state.m + lane), subtract));

    V sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (int64_t place = first; place < last; place += kSumLanes) {
      T* const group = s + place * width;
      V p0 = hn::Sub(hn::Load(d, group), subtract), p1 = hn::Sub(hn::Load(d, group + width), subtract);
      V p2 = hn::Sub(hn::Load(d, group + 2 * width), subtract), p3 = hn::Sub(hn::Load(d, group + 3 * width), subtract);
      ExpOfFour(d, p0, p1, p2, p3);
      weights.four(d, p0, p1, p2, p3, group, width, place);
      sum0 = hn::Add(sum0, p0);
      sum1 = hn::Add(sum1, p1);
      sum2 = hn::Add(sum2, p2);
      sum3 = hn::Add(sum3, p3);
    }
    const V sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
    hn::Store(m, d, state.m + lane);
    hn::Store(MultiplyAdd(hn::Load(d, state.l + lane), correction, sum), d, state.l + lane);
    hn::Store(correction, d, tile.correction + lane);
  }
}

/// Whether n rows of d elements hold neither NaN nor Inf: x * 0 is 0 for nothing else. Sums of rows by fours, since one
/// alone would wait for itself: 5 keys' worth of a block.
template <class D, class T>
HWY_NOINLINE bool AllFinite(D d, Broadcasts<T, false> rows, int64_t n, int64_t depth) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  auto sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero;
  T rest = 0;
  for (int64_t j = 0; j < n; j += 4) {
    // The last of fewer rows is looked at again.
    const T *r0 = rows.row(j), *r1 = rows.row(std::min(j + 1, n - 1));
    const T *r2 = rows.row(std::min(j + 2, n - 1)), *r3 = rows.row(std::min(j + 3, n - 1));
    int64_t i = 0;
    for (; i + lanes <= depth; i += lanes) {
      sum0 = MultiplyAdd(hn::LoadU(d, r0 + i), zero, sum0);
      sum1 = MultiplyAdd(hn::LoadU(d, r1 + i), zero, sum1);
      sum2 = MultiplyAdd(hn::LoadU(d, r2 + i), zero, sum2);
      sum3 = MultiplyAdd(hn::LoadU(d, r3 + i), zero, sum3);
    }
    for (; i < depth; ++i) rest += (r0[i] * T{0} + r1[i] * T{0}) + (r2[i] * T{0} + r3[i] * T{0});
  }
  const auto sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  return hn::AllTrue(d, hn::Eq(sum, zero)) && rest == T{0};
}

/// Marks the weights of keys that take no part by -1; those of others may be 0 or NaN, never negative.
template <class D, class T>
HWY_NOINLINE void MarkForbidden(D d, const Tile<T>& tile, const BlockRange& range) {
  const auto forbidden = hn::Set(d, T{-1});
  ForEachVector(d, tile, range, [&](int64_t place, int64_t lane) HWY_ATTR {
    T* p = tile.s + place * tile.width + lane;
    hn::Store(hn::IfThenElse(TakesPart(d, tile, range, place, lane), hn::Load(d, p), forbidden), d, p);
  });
}

/// The weighted sum where values hold NaN or Inf that some rows must not meet: the same sums in the same order as Gemm's,
/// leaving out what MarkForbidden marked.
template <class D, class T>
HWY_NOINLINE void GuardedWeightedSum(D d, const Tile<T>& tile, const BlockRange& range, Broadcasts<T, false> values,
                                     const State<T>& state) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Corrected<T> epilogue{tile.correction};
  for (int64_t i = 0; i < tile.task.d_v; ++i) {
    for (int64_t lane = 0; lane < tile.width; lane += lanes) {
      auto sum = hn::Zero(d);
      for (int64_t j = 0; j < range.last - range.first; ++j) {
        const auto p = hn::Load(d, tile.s + (range.first + j) * tile.width + lane);
        const auto with = MultiplyAdd(hn::Set(d, values.row(j)[i]), p, sum);
        sum = hn::IfThenElse(hn::Lt(p, hn::Zero(d)), sum, with);
      }
      epilogue.store(d, sum, state.o + i * tile.width + lane, static_cast<size_t>(lane));
    }
  }
}

/// The keys of a range once more, where KeyProducts found or packed them. Few rows do not pack them as a whole.
template <class T>
HWY_INLINE Broadcasts<T, false> KeysAgain(const Tile<T>& tile, const BlockRange& range) {
  const TileTask<T>& task = tile.task;
  Broadcasts<T, false> rows;
  const int64_t keys = range.last - range.first;
  if (FindInPlace(task.pages, task.k, range.key, keys, task.d_k, rows)) return rows;
  return {tile.packed_k, task.d_k};
}

/// The values of a range. Where they are the keys' own first components (latent attention), the keys once more. Values that
/// have to be converted take the place of the block's keys, which are done with and lie in L1: with a place of their own,
/// float16 at head_dim 64 takes 2 % longer.
template <class T>
HWY_INLINE Broadcasts<T, false> ValuesOf(const Tile<T>& tile, const BlockRange& range) {
  const TileTask<T>& task = tile.task;
  const RowSource &k = task.k, &v = task.v;
  const int64_t keys = range.last - range.first;
  const bool of_keys = v.data == k.data && v.dtype == k.dtype && v.stride == k.stride && v.stride_d == k.stride_d &&
                       v.page_stride == k.page_stride && v.scales == nullptr && task.d_v <= task.d_k;
  if (!of_keys || tile.few) {
    T* const packed = HWY_ARCH_WASM || tile.few || task.d_v > task.d_k ? tile.packed_v : tile.packed_k;
    return RowsOf(task.pages, v, range.key, keys, task.d_v, packed);
  }
  return KeysAgain(tile, range);
}

/// state.o = state.o * correction + V^T P for a range whose weights stand in tile.s.
template <size_t NV, class D, class T>
HWY_INLINE void WeightedSum(D d, const Tile<T>& tile, const BlockRange& range, const State<T>& state) {
  const TileTask<T>& task = tile.task;
  if constexpr (kNativeProducts && std::is_same_v<T, float>) {
    if (task.values != Native::none) {
      NativeValues values;
      FindNativeValues(tile, range, values);
      return NativeWeightedSum(tile, range, values, state, [&]() HWY_ATTR { MarkForbidden(d, tile, range); });
    }
  }
  const int64_t keys = range.last - range.first;
  const Broadcasts<T, false> values = ValuesOf(tile, range);
  if (range.partial && !AllFinite(d, values, keys, task.d_v)) {
    MarkForbidden(d, tile, range);
    GuardedWeightedSum(d, tile, range, values, state);
    return;
  }
  if (kDividesRanges && range.by_vectors) {
    return ForEachVectorSeeing(tile, range, [&](int64_t lane, const Places& places) HWY_ATTR {
      const Broadcasts<T, true> seen = {values.row(places.first - range.first), values.stride};
      Gemm<1, NV>(d, seen, task.d_v, places.last - places.first, tile.s + places.first * tile.width + lane,
                  Corrected<T>{tile.correction + lane}, state.o + lane);
    });
  }
  AskingForNext(tile, range, task.v, task.d_v, task.d_v, [&](int64_t r, int64_t n) HWY_ATTR {
    Gemm<NV>(d, Broadcasts<T, true>{values.data + r, values.stride}, n, keys, tile.s + range.first * tile.width,
             Corrected<T>{tile.correction}, state.o + r * tile.width);
  });
}

/// Both for a range whose weights nobody else wants, where values are native: weights are rounded as they are made. False,
/// and nothing done, where that is not so.
template <class D, class T>
HWY_INLINE bool NativeSoftmaxAndSum(D d, const Tile<T>& tile, const BlockRange& range, const State<T>& state,
                                    T lowered) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<T, float>) {
    const TileTask<T>& task = tile.task;
    if (task.values == Native::none || task.dropout.on || lowered != T{1}) return false;
    NativeValues values;
    FindNativeValues(tile, range, values);
    if (!values.finite) return false;
    Softmax(d, tile, range, state, StorePairs{values.scaled});
    SumOfPairs(tile, range, values, state);
    return true;
  }
#endif
  (void)d, (void)tile, (void)range, (void)state, (void)lowered;
  return false;
}

/// into = into + from, each relative to its own maximum. Merging an empty state changes no bit.
template <class D, class T>
HWY_NOINLINE void Merge(D d, const Tile<T>& tile, const State<T>& into, const State<T>& from) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  T *const keep_of = tile.low, *const join_of = tile.high;
  for (int64_t lane = 0; lane < tile.width; lane += lanes) {
    const auto m_into = hn::Load(d, into.m + lane), m_from = hn::Load(d, from.m + lane);
    const auto m = hn::Max(m_into, m_from);
    const auto subtract = ZeroIfMinusInfinity(d, m);
    const auto keep = Exp(d, hn::Sub(m_into, subtract)), join = Exp(d, hn::Sub(m_from, subtract));
    hn::Store(m, d, into.m + lane);
    const auto l = hn::Mul(hn::Load(d, into.l + lane), keep);
    hn::Store(MultiplyAdd(hn::Load(d, from.l + lane), join, l), d, into.l + lane);
    hn::Store(keep, d, keep_of + lane);
    hn::Store(join, d, join_of + lane);
  }
  T *const to = into.o, *const o = from.o;
  ForEachOutput(d, tile, [&](auto tag, const auto& of, const auto& each) HWY_ATTR {
    const auto keep = of(keep_of), join = of(join_of);
    each([&](int64_t i) HWY_ATTR {
      hn::StoreU(MultiplyAdd(hn::LoadU(tag, o + i), join, hn::Mul(hn::LoadU(tag, to + i), keep)), tag, to + i);
    });
  });
}

/// Joins each head's sink to the state as a score without a value, and divides: state.l becomes z relative to state.m,
/// state.o the rows' output, each zero +0. Rows without weight give o = 0, whatever their values
/// (but NaN where the sink makes it so). Returns whether all outputs are finite: x - x is 0 for nothing else.
template <class D, class T>
HWY_NOINLINE bool Normalize(D d, const Tile<T>& tile, const State<T>& state) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  T *const l_keys_of = tile.low, *const factor_of = tile.high;
  for (int64_t lane = 0; lane < tile.width; lane += lanes) {
    const auto m_keys = hn::Load(d, state.m + lane), sink = hn::Load(d, tile.sink + lane);
    const auto m = hn::Max(m_keys, sink);
    const auto subtract = ZeroIfMinusInfinity(d, m);
    const auto keep = Exp(d, hn::Sub(m_keys, subtract));
    // Lanes without a row count as empty.
    const auto there = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(0, tile.task.n_rows - lane)));
    const auto l_keys = hn::IfThenElseZero(there, hn::Load(d, state.l + lane));
    const auto l = MultiplyAdd(l_keys, keep, Exp(d, hn::Sub(sink, subtract)));
    hn::Store(m, d, state.m + lane);
    hn::Store(l, d, state.l + lane);
    hn::Store(l_keys, d, l_keys_of + lane);
    hn::Store(hn::Div(keep, l), d, factor_of + lane);
  }
  bool finite = true;
  T* const o = state.o;
  ForEachOutput(d, tile, [&](auto tag, const auto& of, const auto& each) HWY_ATTR {
    const auto zero = hn::Zero(tag), factor = of(factor_of), nothing = hn::Mul(of(state.l), zero);
    const auto empty = hn::Eq(of(l_keys_of), zero);
    auto zeros = zero;
    each([&](int64_t i) HWY_ATTR {
      // The sum makes +0 of -0, which the product gives where it underflows.
      const auto mean = hn::Add(hn::Mul(hn::LoadU(tag, o + i), factor), zero);
      const auto row = hn::IfThenElse(empty, nothing, mean);
      hn::StoreU(row, tag, o + i);
      zeros = hn::Or(zeros, hn::Sub(row, row));
    });
    finite &= hn::AllTrue(tag, hn::Eq(zeros, zero));
  });
  return finite;
}

/// lse = m + ln l, in double for float32.
template <class T>
HWY_INLINE T LogSumExp(T m, T l) {
  if constexpr (sizeof(T) == 4) return static_cast<T>(static_cast<double>(m) + std::log(static_cast<double>(l)));
  return m + std::log(l);
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_SOFTMAX_INL_H_
