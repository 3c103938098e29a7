// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate diagnose`: which mistake makes somebody's result of the inputs (diagnosis/).
#ifndef FOVEATE_CLI_DIAGNOSE_H_
#define FOVEATE_CLI_DIAGNOSE_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

/// Adds `foveate diagnose`. Its callback runs it and sets exit_status, which must outlive the parse: 0 where the result is
/// right, 1 where it is not.
void add_diagnose(CLI::App& app, int& exit_status);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_DIAGNOSE_H_
