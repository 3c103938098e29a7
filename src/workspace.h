// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What every call begins with: its arguments checked, and its memory, the caller's or a block of its own.
#ifndef FOVEATE_SRC_WORKSPACE_H_
#define FOVEATE_SRC_WORKSPACE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "foveate/attention.h"
#include "foveate/status.h"
#include "fp_mode.h"
#include "kernels/tile.h"
#include "validate.h"

namespace foveate {

inline int64_t workers_of(const Execution& execution) {
  return execution.executor != nullptr ? execution.executor->concurrency() : 1;
}

inline Status check_workers(const Execution& execution) {
  return execution.executor != nullptr ? validate_workers("executor", execution.executor->concurrency()) : Status();
}

/// Checks a call's arguments and its workers, and gives its sizes: numbers are compared in a mode without traps.
template <class CallArguments>
Status checked(const CallArguments& arguments, const Execution& execution, Extents* extents) {
  const FpMode mode;
  if (Status status = validate(arguments, extents); !status.ok()) return status;
  return check_workers(execution);
}

/// The largest workspace of plan_for(kv_offset, block_size): keys cut at the worst places touch one split more, and tiles of
/// fewer vectors may be filled worse.
template <class PlanFor>
size_t most_bytes(const PlanFor& plan_for, int64_t workers, DType dtype, const kernels::TargetKernels& kernels) {
  const bool f64 = dtype == DType::f64;
  const int64_t lanes = f64 ? kernels.f64.lanes : kernels.f32.lanes;
  const int64_t vectors = f64 ? kernels::kTileVectors<double> : kernels::kTileVectors<float>;
  size_t most = 0;
  for (const int64_t kv_offset : {int64_t{0}, kernels::kSplitKeys - 1}) {
    for (int64_t n = 1; n <= vectors; ++n) {
      const int64_t block_size = 7 * n * lanes;  // for which tile_vectors() says n, up to 6
      most = std::max(most, plan_for(kv_offset, block_size).workspace_bytes(workers));
    }
  }
  return most;
}

/// Calls body(memory) with that many bytes; `plan` names the call that tells how many.
template <class Body>
Status with_workspace(const Execution& execution, size_t bytes, const char* plan, const Body& body) {
  if (execution.workspace != nullptr) {
    if (execution.workspace_bytes < bytes) {
      return Status::error(StatusCode::workspace_too_small, "workspace: %zu bytes; this call needs %zu (%s tells)",
                           execution.workspace_bytes, bytes, plan);
    }
    return body(execution.workspace);
  }
  const std::unique_ptr<char[]> memory(new (std::nothrow) char[bytes]);
  if (memory == nullptr) {
    return Status::error(StatusCode::out_of_memory, "workspace: %zu bytes could not be allocated", bytes);
  }
  return body(memory.get());
}

}  // namespace foveate

#endif  // FOVEATE_SRC_WORKSPACE_H_
