// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What this machine offers: cores and caches.
#ifndef FOVEATE_CLI_MACHINE_H_
#define FOVEATE_CLI_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace foveate::cli {

/// Cores this process may use: its affinity, and the processor time its control group allows. At least 1.
int usable_cores();

struct Cache {
  std::string name;  ///< "L1d", "L2", ...
  int64_t bytes;
};

/// Data caches as the first core sees them, nearest first; empty where the system does not tell.
std::vector<Cache> data_caches();

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_MACHINE_H_
