// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The command `foveate` with all its subcommands: what it takes, and what it says of itself.
#ifndef FOVEATE_CLI_PROGRAM_H_
#define FOVEATE_CLI_PROGRAM_H_

#include <memory>

#include "cli/command.h"

namespace foveate::cli {

/// Parsing runs the subcommand that is named; some set `exit_status`, which must outlive the program.
std::unique_ptr<Command> make_program(int& exit_status);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_PROGRAM_H_
