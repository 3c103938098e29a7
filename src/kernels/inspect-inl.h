// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// See inspect.h. Sums of a block are lane-wise in the computing type, and join the rows' in float64.
#if defined(FOVEATE_SRC_KERNELS_INSPECT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_INSPECT_INL_H_
#undef FOVEATE_SRC_KERNELS_INSPECT_INL_H_
#else
#define FOVEATE_SRC_KERNELS_INSPECT_INL_H_
#endif

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/exp-inl.h"
#include "kernels/inspect.h"
#include "kernels/scores-inl.h"
#include "kernels/tile-inl.h"
#include "kernels/tile.h"
#include "kernels/tile_state-inl.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Most lanes of a tile: three vectors of 2048 bits of float32.
inline constexpr int64_t kMostLanes = 3 * 64;

template <class T>
struct Inspection {
  const InspectTask<T>& task;
  const Tile<T> tile;
  HWY_ALIGN_MAX T lse[kMostLanes];
  // Of a block: its products, its weights, and the largest score with its place.
  HWY_ALIGN_MAX T count[kMostLanes], mean[kMostLanes], squares[kMostLanes], unit[kMostLanes];
  HWY_ALIGN_MAX T p[kMostLanes], p2[kMostLanes], p3[kMostLanes], most[kMostLanes], entropy[kMostLanes];
  HWY_ALIGN_MAX T best[kMostLanes], best_place[kMostLanes];
  HWY_ALIGN_MAX T cell_most[kMostLanes], cell_sum[kMostLanes];

  HWY_INLINE Inspection(const InspectTask<T>& t, int64_t width) : task(t), tile(MakeTile(t.tile, width)) {}
};

/// x where it takes part, else 0. Where all pairs of a range take part (kAll) nobody asks: inspect() takes 1.40
/// times as long as attention() then, 1.53 with masks throughout (AVX-512, N 2048, d 64).
template <bool kAll, class D, class T, class V>
HWY_INLINE V Only(D d, const Tile<T>& tile, const BlockRange& range, int64_t place, int64_t lane, V x) {
  if constexpr (kAll) {
    return x;
  } else {
    return hn::IfThenElseZero(TakesPart(d, tile, range, place, lane), x);
  }
}

/// Count, mean and squared deviations of the products of the pairs that take part, times `unit`.
template <bool kAll, class D, class T>
HWY_INLINE void SumProductsOf(D d, const BlockRange& range, int64_t lane, T unit, Inspection<T>& in) {
  const Tile<T>& tile = in.tile;
  const auto zero = hn::Zero(d), one = hn::Set(d, T{1}), units = hn::Set(d, unit);
  auto count = zero, sum = zero, squares = zero;
  for (int64_t place = range.first; place < range.last; ++place) {
    const auto product = hn::Mul(hn::Load(d, tile.s + place * tile.width + lane), units);
    count = hn::Add(count, Only<kAll>(d, tile, range, place, lane, one));
    sum = hn::Add(sum, Only<kAll>(d, tile, range, place, lane, product));
  }
  const auto mean = hn::Div(sum, hn::Max(count, one));
  for (int64_t place = range.first; place < range.last; ++place) {
    const auto product = hn::Mul(hn::Load(d, tile.s + place * tile.width + lane), units);
    const auto off = hn::Sub(product, mean);
    squares = hn::Add(squares, Only<kAll>(d, tile, range, place, lane, hn::Mul(off, off)));
  }
  hn::Store(count, d, in.count + lane);
  hn::Store(mean, d, in.mean + lane);
  hn::Store(squares, d, in.squares + lane);
}

/// Squares of float32 overflow from products of 1e19 on: such lanes have theirs summed in another unit.
template <bool kAll, class D, class T>
HWY_NOINLINE void SumProducts(D d, const BlockRange& range, Inspection<T>& in) {
  constexpr T kSmall = static_cast<T>(0x1p-70);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t lane = 0; lane < in.tile.width; lane += lanes) {
    SumProductsOf<kAll>(d, range, lane, T{1}, in);
    std::fill_n(in.unit + lane, lanes, T{1});
    const auto squares = hn::Load(d, in.squares + lane);
    if (std::is_same_v<T, double> || hn::AllTrue(d, hn::IsFinite(squares))) continue;
    const auto mean = hn::Load(d, in.mean + lane);
    SumProductsOf<kAll>(d, range, lane, kSmall, in);
    const auto keeps = hn::IsFinite(squares);
    hn::Store(hn::IfThenElse(keeps, mean, hn::Load(d, in.mean + lane)), d, in.mean + lane);
    hn::Store(hn::IfThenElse(keeps, squares, hn::Load(d, in.squares + lane)), d, in.squares + lane);
    hn::Store(hn::IfThenElse(keeps, hn::Set(d, T{1}), hn::Set(d, kSmall)), d, in.unit + lane);
  }
}

/// Makes weights of the scores in tile.s, 0 where there is none, and sums them up.
template <bool kAll, class D, class T>
HWY_NOINLINE void SumWeights(D d, const BlockRange& range, Inspection<T>& in) {
  const Tile<T>& tile = in.tile;
  const auto zero = hn::Zero(d), most_of_all = hn::Set(d, T{0.75});
  const auto none = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (int64_t lane = 0; lane < tile.width; lane += static_cast<int64_t>(hn::Lanes(d))) {
    const auto lse = hn::Load(d, in.lse + lane);
    const auto shown = hn::Lt(lse, hn::Set(d, std::numeric_limits<T>::infinity()));
    auto p1 = zero, p2 = zero, p3 = zero, most = zero, entropy = zero, best = none;
    auto best_place = hn::Set(d, kAll ? static_cast<T>(range.first) : T{-1});
    for (int64_t place = range.first; place < range.last; ++place) {
      T* const at = tile.s + place * tile.width + lane;
      const auto s = hn::Load(d, at);
      auto better = hn::Gt(s, best), weighs = shown;
      if constexpr (!kAll) {
        const auto takes = TakesPart(d, tile, range, place, lane);
        better = hn::And(takes, hn::Or(better, hn::Lt(best_place, zero)));
        weighs = hn::And(takes, shown);
      }
      best = hn::IfThenElse(better, s, best);
      best_place = hn::IfThenElse(better, hn::Set(d, static_cast<T>(place)), best_place);
      // Rounding of lse may leave a score above it.
      const auto x = hn::Min(hn::Sub(s, lse), zero);
      const auto p = hn::IfThenElseZero(weighs, Exp(d, x));
      const auto small = hn::Le(p, most_of_all);
      const auto rest = hn::IfThenElseZero(small, p), square = hn::Mul(rest, rest);
      p1 = hn::Add(p1, rest);
      p2 = hn::Add(p2, square);
      p3 = hn::Add(p3, hn::Mul(square, rest));
      most = hn::Max(most, hn::IfThenZeroElse(small, p));
      entropy = hn::Sub(entropy, hn::IfThenElseZero(hn::Gt(p, zero), hn::Mul(p, x)));
      hn::Store(p, d, at);
    }
    hn::Store(p1, d, in.p + lane);
    hn::Store(p2, d, in.p2 + lane);
    hn::Store(p3, d, in.p3 + lane);
    hn::Store(most, d, in.most + lane);
    hn::Store(entropy, d, in.entropy + lane);
    hn::Store(best, d, in.best + lane);
    hn::Store(best_place, d, in.best_place + lane);
  }
}

/// Joins a block's sums to those of its rows. (Means and squares: Chan, Golub and LeVeque, 1979.)
template <class T>
HWY_INLINE void JoinRows(const BlockRange& range, Inspection<T>& in) {
  for (int64_t r = 0; r < in.task.tile.n_rows; ++r) {
    const Row<T>& structure = in.task.tile.rows[r];
    if (in.count[r] == 0 || structure.begin >= structure.end) continue;
    RowSums& row = in.task.rows[r];
    const auto before = static_cast<double>(row.keys), more = static_cast<double>(in.count[r]), all = before + more;
    const auto unit = static_cast<double>(in.unit[r]);
    const double off = static_cast<double>(in.mean[r]) / unit - row.product_mean;
    row.product_mean += off * more / all;
    row.product_squares += static_cast<double>(in.squares[r]) / unit / unit + off * off * before * more / all;
    row.keys += static_cast<int64_t>(in.count[r]);
    const auto best = static_cast<double>(in.best[r]);
    if (row.largest_key < 0 || best > row.largest_score) {
      row.largest_score = best;
      row.largest_key = range.origin + static_cast<int64_t>(in.best_place[r]);
    }
    row.p += static_cast<double>(in.p[r]);
    row.p2 += static_cast<double>(in.p2[r]);
    row.p3 += static_cast<double>(in.p3[r]);
    row.most = std::max(row.most, static_cast<double>(in.most[r]));
    row.entropy += static_cast<double>(in.entropy[r]);
  }
}

template <class D, class T>
HWY_NOINLINE void AddReceived(D d, const BlockRange& range, const Inspection<T>& in) {
  const Tile<T>& tile = in.tile;
  for (int64_t place = range.first; place < range.last; ++place) {
    auto sum = hn::Zero(d);
    for (int64_t lane = 0; lane < tile.width; lane += static_cast<int64_t>(hn::Lanes(d))) {
      sum = hn::Add(sum, hn::Load(d, tile.s + place * tile.width + lane));
    }
    in.task.received[range.origin + place] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
}

/// The greatest weights of each lane so far, the greatest first, and their keys: [top_keys][width] each.
template <class T>
struct Tops {
  using Key = hwy::SignedFromSize<sizeof(T)>;
  T* weights;
  Key* keys;

  HWY_INLINE explicit Tops(const Inspection<T>& in)
      : weights(in.task.top_scratch),
        keys(reinterpret_cast<Key*>(in.task.top_scratch + in.task.top_keys * in.tile.width)) {}
};

template <class T>
HWY_INLINE void ClearTops(const Inspection<T>& in) {
  const Tops<T> tops(in);
  std::fill_n(tops.weights, in.task.top_keys * in.tile.width, T{0});
  std::fill_n(tops.keys, in.task.top_keys * in.tile.width, -1);
}

/// A key whose weight is greater than the least kept in some lane goes down the list in all lanes at once: where it is greater
/// it takes the place, and what stood there goes on. Behind equal ones, whose keys came before. Of n keys in any order a row
/// takes some top_keys ln(n / top_keys). (Lane by lane, five keys cost 0.3 of an attention call where this costs 0.1.)
template <class D, class T>
HWY_NOINLINE void KeepTops(D d, const BlockRange& range, Inspection<T>& in) {
  const hn::Rebind<typename Tops<T>::Key, D> dk;
  const Tile<T>& tile = in.tile;
  const Tops<T> tops(in);
  const int64_t last = (in.task.top_keys - 1) * tile.width;
  for (int64_t lane = 0; lane < tile.width; lane += static_cast<int64_t>(hn::Lanes(d))) {
    auto least = hn::Load(d, tops.weights + last + lane);
    for (int64_t place = range.first; place < range.last; ++place) {
      auto weight = hn::Load(d, tile.s + place * tile.width + lane);
      if (HWY_LIKELY(hn::AllFalse(d, hn::Gt(weight, least)))) continue;
      auto key = hn::Set(dk, static_cast<typename Tops<T>::Key>(range.origin + place));
      auto takes = hn::FirstN(d, 0);  // and once it has taken a place, all below move down by one
      for (int64_t at = lane; at <= last + lane; at += tile.width) {
        const auto kept = hn::Load(d, tops.weights + at);
        const auto kept_key = hn::Load(dk, tops.keys + at);
        takes = hn::Or(takes, hn::Gt(weight, kept));
        const auto takes_key = hn::RebindMask(dk, takes);
        hn::Store(hn::IfThenElse(takes, weight, kept), d, tops.weights + at);
        hn::Store(hn::IfThenElse(takes_key, key, kept_key), dk, tops.keys + at);
        weight = hn::IfThenElse(takes, kept, weight);
        key = hn::IfThenElse(takes_key, kept_key, key);
      }
      least = hn::Load(d, tops.weights + last + lane);
    }
  }
}

template <class T>
HWY_INLINE void WriteTops(const Inspection<T>& in) {
  const Tops<T> tops(in);
  const int64_t n = in.task.top_keys, width = in.tile.width;
  for (int64_t r = 0; r < in.task.tile.n_rows; ++r) {
    for (int64_t t = 0; t < n; ++t) {
      in.task.top[r * n + t] = {tops.keys[t * width + r], static_cast<double>(tops.weights[t * width + r])};
    }
  }
}

/// Raises and adds to the cells of the range's keys, a column of cells at a time.
template <class D, class T>
HWY_NOINLINE void PoolWeights(D d, const BlockRange& range, Inspection<T>& in) {
  const Tile<T>& tile = in.tile;
  const Pool& pool = in.task.pool;
  const int64_t n_kv = in.task.tile.n_kv;
  for (int64_t place = range.first; place < range.last;) {
    const int64_t column = (range.origin + place) * pool.columns / n_kv;
    const int64_t next_key = ((column + 1) * n_kv + pool.columns - 1) / pool.columns;
    const int64_t end = std::min(range.last, next_key - range.origin);
    for (int64_t lane = 0; lane < tile.width; lane += static_cast<int64_t>(hn::Lanes(d))) {
      auto most = hn::Zero(d), sum = hn::Zero(d);
      for (int64_t at = place; at < end; ++at) {
        const auto p = hn::Load(d, tile.s + at * tile.width + lane);
        most = hn::Max(most, p);
        sum = hn::Add(sum, p);
      }
      hn::Store(most, d, in.cell_most + lane);
      hn::Store(sum, d, in.cell_sum + lane);
    }
    for (int64_t r = 0; r < in.task.tile.n_rows;) {
      const int64_t row = pool.rows[r];
      T most = in.cell_most[r], sum = in.cell_sum[r];
      for (++r; r < in.task.tile.n_rows && pool.rows[r] == row; ++r) {
        most = std::max(most, in.cell_most[r]);
        sum += in.cell_sum[r];
      }
      const int64_t cell = row * pool.columns + column;
      pool.largest[cell] = std::max(pool.largest[cell], static_cast<float>(most));
      pool.sum[cell] += static_cast<double>(sum);
    }
    place = end;
  }
}

template <size_t NV, class T>
void InspectTile(const InspectTask<T>& task) {
  const hn::ScalableTag<T> d;
  Inspection<T> in(task, static_cast<int64_t>(NV * hn::Lanes(d)));
  const Tile<T>& tile = in.tile;
  assert(tile.width <= kMostLanes);
  LoadTile(tile);
  for (int64_t lane = 0; lane < tile.width; ++lane) {
    // What is not finite would be all the mass that keys receive. And blocks that all other rows see whole do not ask about
    // an empty row, whose lse may be its sink.
    const bool weighs = lane < task.tile.n_rows && task.tile.rows[lane].begin < task.tile.rows[lane].end &&
                        std::isfinite(task.lse[lane]);
    in.lse[lane] = weighs ? task.lse[lane] : std::numeric_limits<T>::infinity();
  }
  if (task.top_keys > 0) ClearTops(in);
  ForEachBlockSeen(tile, [&](BlockRange& range) HWY_ATTR {
    if (!Products<NV>(d, tile, range)) return;
    const bool all = !range.partial && !range.additive;
    if (!all) FillBounds(tile, range);
    all ? SumProducts<true>(d, range, in) : SumProducts<false>(d, range, in);
    FinishScores(d, tile, range);
    all ? SumWeights<true>(d, range, in) : SumWeights<false>(d, range, in);
    JoinRows(range, in);
    AddReceived(d, range, in);
    if (task.top_keys > 0) KeepTops(d, range, in);
    if (task.pool.columns > 0) PoolWeights(d, range, in);
  });
  if (task.top_keys > 0) WriteTops(in);
}

template <class T>
void Inspect(const InspectTask<T>& task) {
  WithVectors(task.tile, [&](auto vectors) { InspectTile<decltype(vectors)::value>(task); });
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_INSPECT_INL_H_
