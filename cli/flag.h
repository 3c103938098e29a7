// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Options without a value, of which CLI11 would also take "--causal=false" and repeats.
#ifndef FOVEATE_CLI_FLAG_H_
#define FOVEATE_CLI_FLAG_H_

#include <CLI/CLI.hpp>
#include <string>

namespace foveate::cli {

/// A flag that is given once, or not at all.
inline CLI::Option* add_flag(CLI::App& command, const std::string& name, bool& flag, const std::string& help) {
  return command.add_flag(name, flag, help)
      ->disable_flag_override()
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_FLAG_H_
