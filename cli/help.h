// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The text of --help: 80 columns, a usage line, options in their groups, what there is to say besides, examples.
#ifndef FOVEATE_CLI_HELP_H_
#define FOVEATE_CLI_HELP_H_

#include <CLI/CLI.hpp>
#include <string>

#include "cli/command.h"

namespace foveate::cli {

std::string help_text(const Command& command);

/// Has CLI11 print help_text.
class HelpFormatter final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_HELP_H_
