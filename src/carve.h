// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A workspace cut into pieces.
#ifndef FOVEATE_SRC_CARVE_H_
#define FOVEATE_SRC_CARVE_H_

#include <cstdint>

namespace foveate {

/// Pieces begin on cache lines, and are planned in multiples of them.
inline constexpr int64_t kWorkspaceAlign = 64;

/// Bytes rounded up to whole cache lines; saturated sizes (saturating.h) stay such.
constexpr int64_t whole_lines(int64_t bytes) {
  return (bytes + kWorkspaceAlign - 1) / kWorkspaceAlign * kWorkspaceAlign;
}

/// Takes piece after piece from a workspace that may lie anywhere, and is kWorkspaceAlign larger than they are.
class Carve {
 public:
  explicit Carve(void* workspace) : at_(static_cast<char*>(workspace)) {
    const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlign);
    if (past > 0) at_ += kWorkspaceAlign - past;
  }

  char* take(int64_t bytes) {
    char* const here = at_;
    at_ += bytes;
    return here;
  }

 private:
  char* at_;
};

}  // namespace foveate

#endif  // FOVEATE_SRC_CARVE_H_
