// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate blocks`: bitmaps for --blocks of `foveate attend`.
#ifndef FOVEATE_CLI_BLOCKS_H_
#define FOVEATE_CLI_BLOCKS_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

void add_blocks(CLI::App& app);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_BLOCKS_H_
