// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Prints the name of each target of this machine, one a line, for scripts/targets.
#include <cstdio>

#include "foveate/target.h"

int main() {
  for (int64_t i = 0; i < foveate::target_count(); ++i) std::puts(foveate::target_name(i));
}
