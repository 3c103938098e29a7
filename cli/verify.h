// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate verify`: what accounts of attention claim, each claim as an experiment with this engine (claims/), and
// whether its verdict is the one recorded in the source.
#ifndef FOVEATE_CLI_VERIFY_H_
#define FOVEATE_CLI_VERIFY_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

/// Adds `foveate verify`. Its callback runs it and sets exit_status, which must outlive the parse: 0 where all verdicts
/// are as recorded, 1 where some differ.
void add_verify(CLI::App& app, int& exit_status);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_VERIFY_H_
