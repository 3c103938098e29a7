// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scores of additive attention at the kernel boundary: s = scale * sum_a w_a tanh(u_a + t_a) for rows u of queries and t of
// keys, and their gradients. Tiles (tile.h, backward.h) call it by a table of functions where they multiply otherwise, so
// that who computes no such scores need not link it.
//
// With r = 1 / (1 + exp(2u) exp(2t)), tanh(u + t) = 1 - 2r and 1 - tanh^2 = 4 (r - r^2). exp is taken once a row, so that a
// pair costs a multiply-add and its share of a division: fractions are joined by fours,
//
//   w_1 / y_1 + w_2 / y_2 = (w_1 y_2 + w_2 y_1) / (y_1 y_2)      y = 1 + exp(2u) exp(2t), at most kTanhCap
//
// some 18 vector instructions and one division for four features. (Of u + t itself a tanh takes about 30 and one.) Where
// some |u| or |t| of a pair is above kTanhReach, exp(2u) exp(2t) could overflow or lose what cancels: there tanh is computed of
// u + t. Which way a pair goes hangs on its own rows alone.
#ifndef FOVEATE_SRC_KERNELS_TANH_SCORES_H_
#define FOVEATE_SRC_KERNELS_TANH_SCORES_H_

#include <cstdint>

#include "kernels/tile.h"

namespace foveate::kernels {

/// exp(2 * 40) is a tenth of the square root of float32's reach, each way; of float64 exp(600) leaves as much.
template <class T>
inline constexpr T kTanhReach = sizeof(T) == 4 ? 40 : 300;

/// 1 - 2 / y is 1 beyond it, and four of them multiplied stay finite.
template <class T>
inline constexpr T kTanhCap = static_cast<T>(sizeof(T) == 4 ? 0x1p30 : 0x1p60);

/// Scores of one block of keys.
template <class T>
struct TanhBlock {
  const T* u;    ///< [d][width]: queries, transposed
  const T* e;    ///< [d][width]: exp(2u), and
  const T* far;  ///< [width]: nonzero where some |u| is above kTanhReach or NaN, both of TanhKernel::prepare
  const T* t;    ///< [keys][d]
  T* f;          ///< [keys][d], scratch
  const T* w;    ///< [d]
  T sum;         ///< of w
  T scale;       ///< s = scale * sum_a w_a tanh(...)
  int64_t keys, d, width;
  T* s;  ///< [keys][width]
};

/// Gradients of one block of keys: of scale * sum_a w_a tanh(...) but for the factor 4 scale w_a (scale alone in dw). Rows of
/// features lie in the panels of backward.h: [panel][rows][components of the panel].
template <class T>
struct TanhGradients {
  const Row<T>* rows;  ///< whose q are u
  int64_t n_rows, width;
  const T* far;  ///< [width], as above
  const T* e;    ///< panels of `width` rows: exp(2u), anything where far
  const T* t;    ///< [keys][d]
  T* f;          ///< panels of kBlockKeys rows, scratch
  const T* ds;   ///< [keys][width]: exactly 0 for a pair that takes no part
  int64_t keys, d;
  int64_t place;  ///< of the first key in its block
  T* du;          ///< panels of `width` rows, added to
  T* dt;          ///< panels of kBlockKeys rows, added to from `place` on
  T* dw;          ///< whole vectors of features, added to
};

template <class T>
struct TanhKernel {
  /// e = exp(2u), and which lanes are far, for u [d][width].
  void (*prepare)(const T* u, int64_t d, int64_t width, T* e, T* far);
  void (*scores)(const TanhBlock<T>& block);
  /// Turns panels of u, `rows` rows and d features, into exp(2u) where they stand.
  void (*exponentials)(T* panels, int64_t rows, int64_t d);
  void (*gradients)(const TanhGradients<T>& block);
};

/// What a task that wants such scores points to.
template <class T>
struct TanhScores {
  const TanhKernel<T>* kernel;
  const T* w;  ///< [d_k]
  T sum;       ///< of w
};

struct TanhKernels {
  TanhKernel<float> f32;
  TanhKernel<double> f64;
};

/// Those of a target.
const TanhKernels* tanh_kernels(int64_t target);

template <class T>
const TanhKernel<T>& tanh_of_type(const TargetKernels& kernels);
template <>
inline const TanhKernel<float>& tanh_of_type<float>(const TargetKernels& kernels) {
  return tanh_kernels(kernels.target)->f32;
}
template <>
inline const TanhKernel<double>& tanh_of_type<double>(const TargetKernels& kernels) {
  return tanh_kernels(kernels.target)->f64;
}

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_TANH_SCORES_H_
