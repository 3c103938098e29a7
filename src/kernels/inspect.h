// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel of inspect(): a tile walked once more, its weights made of lse, and summed up lane by lane.
#ifndef FOVEATE_SRC_KERNELS_INSPECT_H_
#define FOVEATE_SRC_KERNELS_INSPECT_H_

#include <cstdint>

#include "kernels/tile.h"

namespace foveate::kernels {

/// What is known of a row after some keys. Weights p up to 3/4 are summed apart from the one that may be above, whose
/// distance from 1 is then the others' sum. (Above 1/2 two could be, by rounding.)
struct RowSums {
  int64_t keys = 0;
  double product_mean = 0, product_squares = 0;  ///< of deviations from the mean
  double largest_score = 0;
  int64_t largest_key = -1;
  double p = 0, p2 = 0, p3 = 0;  ///< sums of p, p^2, p^3 of weights up to 3/4
  double most = 0;               ///< the weight above 3/4; 0: none
  double entropy = 0;            ///< -sum p ln p
};

/// A key and its weight in a row.
struct TopKey {
  int64_t key;
  double weight;
};

/// Weights pooled into cells: of key j the column is floor(j * columns / n_kv).
struct Pool {
  const int64_t* rows;  ///< [n_rows]: the row of cells that a query belongs to
  int64_t columns;      ///< 0: nothing is pooled
  float* largest;       ///< [.][columns]; raised
  double* sum;          ///< likewise; added to
};

template <class T>
struct InspectTask {
  TileTask<T> tile;  ///< its rows' outputs are not used
  const T* lse;      ///< [n_rows]; not finite: the row's weights count as 0
  RowSums* rows;     ///< [n_rows]; empty
  double* received;  ///< [n_kv]; added to
  TopKey* top;       ///< [n_rows][top_keys]: written, the greatest weights, greatest first; {-1, 0} behind the last
  int64_t top_keys;  ///< 0: none are kept; else n_kv is below 2^31
  T* top_scratch;    ///< 2 * top_keys * width
  Pool pool;
};

/// The kernels of one target.
struct InspectKernels {
  void (*f32)(const InspectTask<float>& task);
  void (*f64)(const InspectTask<double>& task);
};

const InspectKernels* inspect_kernels(int64_t target);

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_INSPECT_H_
