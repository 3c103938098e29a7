// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The micro-kernel of native products, for whoever includes it between the attributes of its processor: a Kind says what a
// sum is, how it begins, how a dword of A joins a vector of B to it, and what is stored; kRows and kLanes are as in
// gemm-inl.h. Nothing of the standard library may be instantiated there: it would be compiled for a processor that few have.
#ifndef FOVEATE_SRC_KERNELS_NATIVE_PRODUCT_INL_H_
#define FOVEATE_SRC_KERNELS_NATIVE_PRODUCT_INL_H_

namespace foveate::kernels {
namespace {

/// Rows [row, row + MR) of C.
template <int MR, int NV, class Kind>
inline __attribute__((always_inline)) void micro_kernel(const NativeProduct& x, const Kind& kind, int64_t row,
                                                        int64_t lane) {
  typename Kind::Sum sum[MR][NV];
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) sum[m][v] = kind.start(lane + v * Kind::kLanes);
  }
  const Dword* a = x.a + row * x.a_row_stride;
  const Dword* b = x.b + lane;
  for (int64_t step = 0; step < x.steps; ++step, a += x.a_step_stride, b += x.width) {
#pragma GCC unroll 8
    for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
      for (int v = 0; v < NV; ++v) sum[m][v] = Kind::add(sum[m][v], a[m * x.a_row_stride], b + v * Kind::kLanes);
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < MR; ++m) {
#pragma GCC unroll 3
    for (int v = 0; v < NV; ++v) {
      kind.store(sum[m][v], x.c + (row + m) * x.width + lane + v * Kind::kLanes, lane + v * Kind::kLanes, row + m);
    }
  }
}

template <int NV, class Kind>
void all_rows(const NativeProduct& x, const Kind& kind) {
  int64_t row = 0;
  for (; row + Kind::kRows <= x.rows; row += Kind::kRows) micro_kernel<Kind::kRows, NV>(x, kind, row, 0);
  if (Kind::kRows > 4 && row + 4 <= x.rows) {
    micro_kernel<4, NV>(x, kind, row, 0);
    row += 4;
  }
  if (row + 2 <= x.rows) {
    micro_kernel<2, NV>(x, kind, row, 0);
    row += 2;
  }
  if (row < x.rows) micro_kernel<1, NV>(x, kind, row, 0);
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

/// c[lane] = the sums of NV vectors of lanes from `lane` on, for the one row A.
template <int NV, class Kind>
inline __attribute__((always_inline)) void row_kernel(const Dword* a, int64_t a_stride, int64_t steps, const Dword* b,
                                                      int64_t b_stride, typename Kind::Sum start, float* c) {
  typename Kind::Sum sum[NV];
  for (int v = 0; v < NV; ++v) sum[v] = start;
  for (int64_t step = 0; step < steps; ++step, b += b_stride) {
#pragma GCC unroll 4
    for (int v = 0; v < NV; ++v) sum[v] = Kind::add(sum[v], a[step * a_stride], b + v * Kind::kLanes);
  }
  for (int v = 0; v < NV; ++v) Kind::store_sum(sum[v], c + v * Kind::kLanes);
}

/// The same for n lanes rounded up to whole vectors, which b's rows and c have room for.
template <class Kind>
void row_product(const Dword* a, int64_t a_stride, int64_t steps, const Dword* b, int64_t b_stride, int64_t n,
                 typename Kind::Sum start, float* c) {
  int64_t i = 0;
  for (; i + 3 * Kind::kLanes < n; i += 4 * Kind::kLanes) {
    row_kernel<4, Kind>(a, a_stride, steps, b + i, b_stride, start, c + i);
  }
  for (; i < n; i += Kind::kLanes) row_kernel<1, Kind>(a, a_stride, steps, b + i, b_stride, start, c + i);
}

}  // namespace
}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_NATIVE_PRODUCT_INL_H_
