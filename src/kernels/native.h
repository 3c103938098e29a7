// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Products by instructions that multiply pairs of bfloat16 or quadruples of int8, which Highway 1.0.3 does not reach: tables
// of functions, chosen at run time beside the kernels that Highway compiles. Operands are dwords: a pair of adjacent
// components or keys (vdpbf16ps), or four components (vpdpbusd); zeros stand behind the last.
#ifndef FOVEATE_SRC_KERNELS_NATIVE_H_
#define FOVEATE_SRC_KERNELS_NATIVE_H_

#include <cstdint>

namespace foveate::kernels {

class Ahead;

/// A dword, which may lie over components of any narrow type.
using Dword = uint32_t __attribute__((may_alias));

/// C[rows x width] = A[rows x steps] . B[steps x width], A broadcast as in gemm-inl.h; width is whole vectors.
struct NativeProduct {
  const Dword* a;
  int64_t a_row_stride, a_step_stride;  ///< one of them is 1
  int64_t rows, steps;
  const Dword* b;
  int64_t width;
  float* c;
  int64_t vectors = 0;    ///< so many of the width's are worked on, from b and c on; 0: all
  float* most = nullptr;  ///< [width], of scores: the largest of C and of what stands here; nullptr: not wanted
};

/// C[rows x lanes] = A[rows x steps] . B[steps x lanes] for few rows, with lanes [first, last) and what else fills vectors.
struct NativeFewScores {
  const Dword* a;
  int64_t rows, steps;  ///< A's rows are adjacent
  const Dword* b;
  int64_t b_stride;  ///< whole vectors
  int64_t first, last;
  float* c;  ///< rows b_stride apart, aligned
  Ahead* ahead;
};

/// The same from keys where they lie, n of them: lane i of C is the key at keys + i * stride.
struct NativeFewKeys {
  const Dword* a;
  int64_t rows, steps;  ///< A's rows are adjacent
  const Dword* keys;
  int64_t stride, n;  ///< n fills vectors
  float* c;
  int64_t c_stride;
  Ahead* ahead;
};

/// O[rows x d] = O * correction[row] + A[rows x pairs] . V[pairs x d] for few rows.
struct NativeFewValues {
  const Dword* a;
  int64_t a_stride, rows;
  const void* const* values;  ///< rows of 2 x pairs places, of d adjacent components
  int64_t pairs, d;
  const float* correction;
  float* o;  ///< rows d apart
  Ahead* ahead;
};

/// Weights of some places of a block as float32 [2 x pairs][width], and what the value rows must still be multiplied by.
struct NativeWeights {
  const float* p;
  int64_t pairs, width;
  const float* scales;  ///< 2 x pairs of them; nullptr: none
};

/// What a processor has of them. A table without the bfloat16 ones has nullptr there.
struct NativeProducts {
  int64_t lanes;  ///< of a vector of 32 bits: for kernels of this width alone
  bool signed_keys = false;
  bool finds_most = false;  ///< whether scores heed NativeProduct::most
  bool divides = false;     ///< whether scores and weighted sums heed NativeProduct::vectors

  /// c = (start[lane] + sum of products of A, keys, and B) * lane_factor[lane] * row_factor[row]. Keys count for 128 more
  /// than they are, unless signed_keys.
  void (*scores_i8)(const NativeProduct& product, const int32_t* start, const float* lane_factor,
                    const float* row_factor);

  /// c[row][lane] = (start[row] + sum of products of A, queries, and B, keys) * row_factor[row] * lane_factor[lane], keys as
  /// above.
  void (*few_scores_i8)(const NativeFewScores& x, const int32_t* start, const float* row_factor,
                        const float* lane_factor) = nullptr;

  /// The same from keys where they lie: of a table that has it, the only one.
  void (*few_keys_i8)(const NativeFewKeys& x, const int32_t* start, const float* row_factor,
                      const float* lane_factor) = nullptr;

  /// Products of bfloat16 that want the same bits from other steps begin at multiples of so many.
  int64_t step_group = 1;

  /// c = factor * sum of bfloat16 products.
  void (*scores_bf16)(const NativeProduct& product, float factor) = nullptr;

  /// Rounds weights to bfloat16 and joins them by pairs of places: out[pairs][width], which may be p itself.
  void (*round_weights)(const NativeWeights& weights, Dword* out) = nullptr;

  /// c = c * correction[lane] + sum of bfloat16 products.
  void (*weighted_sum)(const NativeProduct& product, const float* correction) = nullptr;

  /// The same sums of unrounded weights, of which a negative one means that the lane must not meet that place's value.
  /// nullptr: only with 0 for values that are not finite.
  void (*guarded_weighted_sum)(const NativeProduct& product, const NativeWeights& weights,
                               const float* correction) = nullptr;

  /// c = c + sum of bfloat16 products.
  void (*add_bf16)(const NativeProduct& product) = nullptr;

  /// Rounds rows of weights or gradients to bfloat16, joined by pairs of lanes: out[rows][width / 2], which may be x itself.
  /// Lanes from n on become 0.
  void (*round_rows)(const float* x, int64_t rows, int64_t width, int64_t n, Dword* out) = nullptr;

  /// c = factor * sum of bfloat16 products. nullptr: few rows have no products of their own.
  void (*few_keys_bf16)(const NativeFewKeys& x, float factor) = nullptr;

  /// o = o * correction[row] + sum of bfloat16 products of A, weights, and values of bfloat16 or of int8.
  void (*few_values_bf16)(const NativeFewValues& x) = nullptr;
  void (*few_values_i8)(const NativeFewValues& x) = nullptr;
};

extern const NativeProducts kAvx512Amx, kAvx512Vnni, kAvx512Bf16, kAvx2Vnni, kNeonDotprod;

/// A table and the name of the target that uses it.
struct NativeTarget {
  const char* name;
  const NativeProducts* products;
};

/// The i-th table that this processor has beside the target `base`, fastest first; no name past the end.
NativeTarget native_target(const char* base, int i);

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_NATIVE_H_
