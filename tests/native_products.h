// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Whether the active target multiplies narrow types itself, which rounds what the portable kernels do not: "Native products"
// in docs/numerics.md.
#ifndef FOVEATE_TESTS_NATIVE_PRODUCTS_H_
#define FOVEATE_TESTS_NATIVE_PRODUCTS_H_

#include <string_view>

#include "foveate/target.h"

namespace foveate::trial {

/// Weights are rounded to bfloat16 just before they meet bfloat16 or int8 values; bfloat16 products and sums flush subnormals.
inline bool native_bf16() {
  const std::string_view target = active_target();
  return target == "avx512-bf16" || target == "avx512-amx";
}

/// Queries are rounded to 8 bits a row before they meet int8 keys.
inline bool native_int8() {
  const std::string_view target = active_target();
  return native_bf16() || target.ends_with("-vnni") || target.ends_with("-dotprod");
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_NATIVE_PRODUCTS_H_
