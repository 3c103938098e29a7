// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A command's manual as a man page: man(7) macros, of the same texts as --help.
#ifndef FOVEATE_CLI_MAN_PAGE_H_
#define FOVEATE_CLI_MAN_PAGE_H_

#include <string>

#include "cli/command.h"

namespace foveate::cli {

/// foveate.1 of the program, foveate-attend.1 of a command: "foveate-attend", without the section.
std::string man_page_name(const CLI::App& command);

/// `date` stands in the footer, as 2026-11-30.
std::string man_page(const Command& command, const std::string& date);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_MAN_PAGE_H_
