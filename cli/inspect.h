// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate inspect`: what attention looks at, in figures, words and pictures.
#ifndef FOVEATE_CLI_INSPECT_H_
#define FOVEATE_CLI_INSPECT_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

/// Adds the command. It runs while the app parses and throws on failure; see errors.h.
void add_inspect(CLI::App& app);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INSPECT_H_
