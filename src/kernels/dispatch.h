// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A target's entry in a table of Highway's (HWY_DISPATCH_TABLE), by a choice of our own: the process-wide one, which other
// users of Highway see, is left alone.
#ifndef FOVEATE_SRC_KERNELS_DISPATCH_H_
#define FOVEATE_SRC_KERNELS_DISPATCH_H_

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

namespace foveate::kernels {

/// The function that was compiled for the target with that bit. A table of one is a build for one target.
template <class Function, size_t kEntries>
Function of_target(const Function (&table)[kEntries], int64_t target) {
  hwy::ChosenTarget choice;
  choice.Update(target);
  return table[kEntries == 1 ? 0 : choice.GetIndex()];
}

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_DISPATCH_H_
