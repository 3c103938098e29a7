// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate info`: what this build and this machine can do, how a call of some shape would be cut into tasks, and
// what a file of arrays holds.
#ifndef FOVEATE_CLI_INFO_H_
#define FOVEATE_CLI_INFO_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

/// Adds `foveate info`. Its callback runs it, and throws as errors.h says.
void add_info(CLI::App& app);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INFO_H_
