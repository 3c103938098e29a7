// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

namespace foveate::cli {
namespace {

/// Cores' worth of time that the control group allows (cgroup v2, "quota period" in microseconds), or `most`.
int allowed_by_group(int most) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota, period;
  if (!(file >> quota >> period) || period <= 0) return most;  // "max 100000": no limit
  return std::clamp(static_cast<int>(std::ceil(std::min(quota / period, 1e6))), 1, most);
}

int allowed_by_affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));  // more cores than the set has room for
}

}  // namespace

int usable_cores() { return allowed_by_group(allowed_by_affinity()); }

std::vector<Cache> data_caches() {
  std::vector<Cache> caches;
  for (const auto& [name, key] : {std::pair("L1d", _SC_LEVEL1_DCACHE_SIZE), std::pair("L2", _SC_LEVEL2_CACHE_SIZE),
                                  std::pair("L3", _SC_LEVEL3_CACHE_SIZE), std::pair("L4", _SC_LEVEL4_CACHE_SIZE)}) {
    if (const long bytes = sysconf(key); bytes > 0) caches.push_back({name, bytes});
  }
  return caches;
}

}  // namespace foveate::cli
