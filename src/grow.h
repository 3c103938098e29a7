// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays of plain data that grow without exceptions.
#ifndef FOVEATE_SRC_GROW_H_
#define FOVEATE_SRC_GROW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace foveate {

/// Moves the first `used` elements of an array to one of `size`. False: no memory, nothing changed.
template <class T>
bool grow(std::unique_ptr<T[]>& array, int64_t used, int64_t size) {
  if (size > std::numeric_limits<ptrdiff_t>::max() / static_cast<int64_t>(sizeof(T))) return false;
  std::unique_ptr<T[]> grown(new (std::nothrow) T[static_cast<size_t>(size)]);
  if (grown == nullptr) return false;
  std::copy_n(array.get(), used, grown.get());
  array = std::move(grown);
  return true;
}

}  // namespace foveate

#endif  // FOVEATE_SRC_GROW_H_
