// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a shell offers at the tab key: commands, options, and the words, files or folders that an option takes.
#ifndef FOVEATE_CLI_COMPLETIONS_H_
#define FOVEATE_CLI_COMPLETIONS_H_

#include <string>

#include "cli/command.h"

namespace foveate::cli {

/// A script each, to be named as the shell looks for it: "foveate", "_foveate", "foveate.fish".
std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_COMPLETIONS_H_
