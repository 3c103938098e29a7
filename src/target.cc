// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/target.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "target.h"

namespace foveate {
namespace {

constexpr const char* kVariable = "FOVEATE_TARGET";

/// Index of the target of that name, -1 if there is none. "avx512" where there is none of the very name stands for its
/// extensions: the best of them.
int64_t index_of(const char* name) {
  int64_t extension = -1;
  for (int64_t i = 0; kernels::target_kernels(i) != nullptr; ++i) {
    const char* known = kernels::target_kernels(i)->name;
    if (std::strcmp(known, name) == 0) return i;
    if (extension < 0 && std::strcmp(name, "avx512") == 0 && std::strncmp(known, "avx512", 6) == 0) extension = i;
  }
  return extension;
}

bool means_best(const char* name) { return name == nullptr || *name == '\0' || std::strcmp(name, "auto") == 0; }

Status unknown(const char* argument, const char* name) {
  char known[128] = "auto";
  for (int64_t i = 0; kernels::target_kernels(i) != nullptr; ++i) {
    std::strncat(known, ", ", sizeof(known) - std::strlen(known) - 1);
    std::strncat(known, kernels::target_kernels(i)->name, sizeof(known) - std::strlen(known) - 1);
  }
  return Status::error(StatusCode::invalid_argument, "%s: this processor has no target '%.32s'; it has %s", argument,
                       name, known);
}

/// What FOVEATE_TARGET named when it was first read; the message needs it later.
char requested[33] = "";

/// The index that pin_target or else the environment fixed, read once; 0, the best, by default; -1 if the environment
/// names an unknown one.
std::atomic<int64_t>& pinned() {
  static std::atomic<int64_t> index = [] {
    const char* name = std::getenv(kVariable);
    if (means_best(name)) return int64_t{0};
    std::strncpy(requested, name, sizeof(requested) - 1);
    return index_of(name);
  }();
  return index;
}

}  // namespace

Status choose_kernels(const kernels::TargetKernels** kernels) {
  const int64_t index = pinned().load(std::memory_order_relaxed);
  if (index < 0) return unknown(kVariable, requested);
  *kernels = kernels::target_kernels(index);
  return {};
}

int64_t target_count() {
  int64_t n = 0;
  while (kernels::target_kernels(n) != nullptr) ++n;
  return n;
}

const char* target_name(int64_t index) {
  const kernels::TargetKernels* kernels = kernels::target_kernels(index);
  return kernels != nullptr ? kernels->name : nullptr;
}

const char* active_target() {
  const int64_t index = pinned().load(std::memory_order_relaxed);
  return target_name(index < 0 ? 0 : index);
}

Status pin_target(const char* name) {
  const int64_t index = means_best(name) ? 0 : index_of(name);
  if (index < 0) return unknown("target", name);
  pinned().store(index, std::memory_order_relaxed);
  return {};
}

}  // namespace foveate
