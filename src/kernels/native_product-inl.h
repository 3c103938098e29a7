// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The micro-kernel of native products, for whoever includes it between the attributes of its processor: a Kind says what a
// sum is, how it begins, how a dword of A joins a vector of B to it, what is stored and by which factor of a lane, and whether
// it is A's rows that are adjacent or its steps; kRows and kLanes are as in gemm-inl.h. Nothing of the standard library may be
// instantiated there: it would be compiled for a processor that few have.
#ifndef FOVEATE_SRC_KERNELS_NATIVE_PRODUCT_INL_H_
#define FOVEATE_SRC_KERNELS_NATIVE_PRODUCT_INL_H_

namespace foveate::kernels {
namespace {

/// Rows [row, row + MR) of C. Loops of 16 to 64 steps are short: what stands before and behind them counts. So a Kind is
/// copied, since stores could change one that lies in memory, and compilers are kept from making eight addresses, more than
/// there are registers for, of the three that steps need.
template <int MR, int NV, int kOf, class Kind>
inline __attribute__((always_inline)) void micro_kernel(const NativeProduct& x, const Kind& its, int64_t row) {
  constexpr bool kAdjacent = Kind::kAdjacentRows;
  constexpr int64_t kWidth = kOf * Kind::kLanes;
  const Kind kind = its;
  typename Kind::Sum sum[MR][NV];
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) sum[m][v] = kind.start(v * Kind::kLanes);
  }
  const int64_t stride = kAdjacent ? x.a_step_stride : x.a_row_stride;
  const Dword* low = x.a + row * (kAdjacent ? 1 : stride);
  const Dword* high = low + 4 * stride;
  int64_t three = 3 * stride;
  if (!kAdjacent) asm("" : "+r"(high), "+r"(three));
  const Dword* b = x.b;
  const Dword* const end = b + x.steps * kWidth;
#pragma GCC unroll 2
  for (; b != end; b += kWidth) {
#pragma GCC unroll 8
    for (int m = 0; m < MR; ++m) {
      const Dword* const four = m < 4 ? low : high;
      const Dword a = kAdjacent ? low[m] : four[m % 4 == 3 ? three : m % 4 * stride];
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) sum[m][v] = Kind::add(sum[m][v], a, b + v * Kind::kLanes);
    }
    low += kAdjacent ? stride : 1;
    ++high;
  }
  float* const c = x.c + row * kWidth;
  typename Kind::Factor factor[NV];
#pragma GCC unroll 3
  for (int v = 0; v < NV; ++v) factor[v] = kind.factor_of(v * Kind::kLanes);
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) kind.store(sum[m][v], c + m * kWidth + v * Kind::kLanes, factor[v], row + m);
  }
#pragma GCC unroll 3
  for (int v = 0; v < NV; ++v) kind.leave(factor[v], v * Kind::kLanes);
}

/// All rows of NV of the kOf vectors.
template <int NV, int kOf = NV, class Kind>
void all_rows(const NativeProduct& x, const Kind& kind) {
  int64_t row = 0;
  for (; row + Kind::kRows <= x.rows; row += Kind::kRows) micro_kernel<Kind::kRows, NV, kOf>(x, kind, row);
  if (Kind::kRows > 4 && row + 4 <= x.rows) {
    micro_kernel<4, NV, kOf>(x, kind, row);
    row += 4;
  }
  if (row + 2 <= x.rows) {
    micro_kernel<2, NV, kOf>(x, kind, row);
    row += 2;
  }
  if (row < x.rows) micro_kernel<1, NV, kOf>(x, kind, row);
}

template <class Kind>
void product(const NativeProduct& x, const Kind& kind) {
  switch (x.width / Kind::kLanes) {
    case 1:
      return all_rows<1>(x, kind);
    case 2:
      return all_rows<2>(x, kind);
    default:
      return all_rows<3>(x, kind);
  }
}

/// The same where x.vectors is 1: one vector of several.
template <class Kind>
void product_of_vectors(const NativeProduct& x, const Kind& kind) {
  if (x.vectors != 1 || x.width == Kind::kLanes) return product(x, kind);
  x.width == 2 * Kind::kLanes ? all_rows<1, 2>(x, kind) : all_rows<1, 3>(x, kind);
}

/// Lanes [lane, lane + NV vectors) of MR rows of few. A Kind of few rows has a vector of B as load(b), and takes it as
/// join(sum, a, b).
template <int MR, int NV, class Kind>
inline __attribute__((always_inline)) void few_kernel(const NativeFewScores& x, const Kind& kind, int64_t row,
                                                      int64_t lane) {
  // Two instructions a cycle, each some cycles behind the one whose sum it takes.
  constexpr int kCycles = MR * NV / 2 < 5 ? 5 : MR * NV / 2;
  typename Kind::Sum sum[MR][NV];
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) sum[m][v] = kind.begin(row + m);
  }
  const Dword* a = x.a + row * x.steps;
  const Dword* b = x.b + lane;
  for (int64_t step = 0; step < x.steps; ++step, ++a, b += x.b_stride) {
    if (step % 8 == 0) x.ahead->waits(8 * kCycles);
    decltype(Kind::load(b)) vector[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) vector[v] = Kind::load(b + v * Kind::kLanes);
#pragma GCC unroll 8
    for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sum[m][v] = Kind::join(sum[m][v], a[m * x.steps], vector[v]);
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const int64_t at = lane + v * Kind::kLanes;
      kind.put(sum[m][v], x.c + (row + m) * x.b_stride + at, row + m, at);
    }
  }
}

template <int MR, class Kind>
void few_rows(const NativeFewScores& x, const Kind& kind, int64_t row) {
  constexpr int kMost = Kind::kFewSums / MR, NV = kMost < 4 ? kMost : 4;
  constexpr int64_t kStep = NV * Kind::kLanes;
  for (int64_t lane = x.first / kStep * kStep; lane < x.last; lane += kStep) few_kernel<MR, NV>(x, kind, row, lane);
}

/// All rows by eights, fours, twos and ones: body.template rows<MR>(first row).
template <class Body>
inline __attribute__((always_inline)) void by_row_groups(int64_t n, const Body& body) {
  int64_t row = 0;
  for (; row + 8 <= n; row += 8) body.template rows<8>(row);
  if (row + 4 <= n) {
    body.template rows<4>(row);
    row += 4;
  }
  if (row + 2 <= n) {
    body.template rows<2>(row);
    row += 2;
  }
  if (row < n) body.template rows<1>(row);
}

template <class Kind>
struct FewScoresOf {
  const NativeFewScores& x;
  const Kind& kind;

  template <int MR>
  void rows(int64_t row) const {
    few_rows<MR>(x, kind, row);
  }
};

template <class Kind>
void few_product(const NativeFewScores& x, const Kind& kind) {
  by_row_groups(x.rows, FewScoresOf<Kind>{x, kind});
}

}  // namespace
}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_NATIVE_PRODUCT_INL_H_
