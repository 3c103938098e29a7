// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate attend`: attention on arrays in files. Arguments are checked, inputs read, the library called, and the
// outputs put in place together.
#ifndef FOVEATE_CLI_ATTEND_H_
#define FOVEATE_CLI_ATTEND_H_

#include <CLI/CLI.hpp>

namespace foveate::cli {

/// Adds `foveate attend`. Its callback runs it, and throws as errors.h says.
void add_attend(CLI::App& app);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_H_
