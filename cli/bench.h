// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate bench`: how fast attention is on this machine, and how near that comes to what the machine can do.
#ifndef FOVEATE_CLI_BENCH_H_
#define FOVEATE_CLI_BENCH_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

void add_bench(CLI::App& app);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_BENCH_H_
