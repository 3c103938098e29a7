// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate demo`: an experiment on random Q, K and V that shows what dividing the scores by sqrt(d_k) is for, with the
// figures that NumPy gives for the same seed.
#ifndef FOVEATE_CLI_DEMO_H_
#define FOVEATE_CLI_DEMO_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

/// Adds `foveate demo`. Its callback runs it and sets exit_status, which must outlive the parse.
void add_demo(CLI::App& app, int& exit_status);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_DEMO_H_
