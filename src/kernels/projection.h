// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Rows times a matrix, and its transpose for gradients, by the micro-kernel of gemm-inl.h. Matrices lie in panels as
// backward.h has them: [panel][rows][components of the panel], aligned, of whole vectors of columns.
#ifndef FOVEATE_SRC_KERNELS_PROJECTION_H_
#define FOVEATE_SRC_KERNELS_PROJECTION_H_

#include <cstdint>

#include "kernels/tile.h"

namespace foveate::kernels {

/// Rows of one call: a panel of them stays in L1.
inline constexpr int64_t kProjectedRows = 64;

/// n rows of `depth` adjacent numbers times a matrix [depth][columns]: to[i] = rows[i] . matrix + start.
template <class T>
struct Projection {
  const T* rows;
  int64_t stride;
  int64_t n;  ///< up to kProjectedRows
  int64_t depth;
  const T* matrix;  ///< panels of `depth` rows
  const T* start;   ///< whole vectors of columns
  int64_t columns;
  T* to;       ///< [n][columns]
  T* scratch;  ///< kProjectedRows rows of the widest panel, aligned
};

/// sums[a] += sum_i left[i][a] right[i], over n rows.
template <class T>
struct OuterProducts {
  const T* left;  ///< [n][depth], rows left_stride apart
  int64_t left_stride;
  int64_t n, depth;
  const T* right;  ///< panels of kProjectedRows rows
  int64_t columns;
  T* sums;  ///< panels of `depth` rows
};

template <class T>
struct ProjectionKernel {
  void (*project)(const Projection<T>& projection);
  void (*add_outer)(const OuterProducts<T>& products);
};

struct ProjectionKernels {
  ProjectionKernel<float> f32;
  ProjectionKernel<double> f64;
};

/// Those of a target.
const ProjectionKernels* projection_kernels(int64_t target);

template <class T>
const ProjectionKernel<T>& projection_of_type(const TargetKernels& kernels);
template <>
inline const ProjectionKernel<float>& projection_of_type<float>(const TargetKernels& kernels) {
  return projection_kernels(kernels.target)->f32;
}
template <>
inline const ProjectionKernel<double>& projection_of_type<double>(const TargetKernels& kernels) {
  return projection_kernels(kernels.target)->f64;
}

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_PROJECTION_H_
