// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Structs that begin with their size: how those of an older or a newer caller are read and filled.
#ifndef FOVEATE_C_SIZED_H_
#define FOVEATE_C_SIZED_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "foveate/status.h"

namespace foveate::c {

/// No struct will ever be so large: a size above it is a mistake, and what it speaks of is not looked at.
inline constexpr size_t kMostBytes = 16384;

/// Reads a caller's struct over the defaults in `to`; nullptr leaves them all.
template <class Struct>
Status read(const char* name, const Struct* from, Struct* to) {
  if (from == nullptr) return {};
  size_t size = 0;
  std::memcpy(&size, from, sizeof(size));
  // Fields come in groups of 8 bytes, so that no size cuts one in two.
  if (size < sizeof(size) || size > kMostBytes || size % 8 != 0) {
    return Status::error(StatusCode::invalid_argument, "%s: size %zu; expected %zu, as FOVEATE_..._INIT sets it", name,
                         size, sizeof(Struct));
  }
  const char* const rest = reinterpret_cast<const char*>(from) + std::min(size, sizeof(Struct));
  const char* const end = reinterpret_cast<const char*>(from) + size;
  if (std::any_of(rest, end, [](char byte) { return byte != 0; })) {
    return Status::error(
        StatusCode::invalid_argument,
        "%s: size %zu, and something is set that this library, which has %zu, does not know; remedy: a "
        "newer libfoveate_c",
        name, size, sizeof(Struct));
  }
  std::memcpy(to, from, std::min(size, sizeof(Struct)));
  return {};
}

/// Fills a caller's struct as far as its size reaches, and what is past ours with 0; nullptr is left alone.
template <class Struct>
void fill(Struct value, Struct* to, size_t size) {
  if (to == nullptr) return;
  value.size = size;
  std::memset(to, 0, size);
  std::memcpy(to, &value, std::min(size, sizeof(Struct)));
}

/// The same of a struct that tells its size.
template <class Struct>
Status answer(const char* name, const Struct& value, Struct* to) {
  if (to == nullptr) return Status::error(StatusCode::invalid_argument, "%s: the pointer is null", name);
  Struct before = {};
  if (Status status = read(name, to, &before); !status.ok()) return status;
  fill(value, to, before.size);
  return {};
}

}  // namespace foveate::c

#endif  // FOVEATE_C_SIZED_H_
