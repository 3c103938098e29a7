// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace foveate::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool wants_color(ColorChoice choice, bool is_terminal) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  const std::string_view term = environment("TERM");
  return is_terminal && environment("NO_COLOR").empty() && !term.empty() && term != "dumb";
}

}  // namespace

int terminal_width(int fd) {
  winsize size = {};
  return isatty(fd) != 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

Terminal standard_output(ColorChoice choice) {
  Terminal terminal;
  terminal.width = terminal_width(STDOUT_FILENO);
  if (wants_color(choice, isatty(STDOUT_FILENO) != 0)) {
    const std::string_view depth = environment("COLORTERM");
    const bool is_true = depth == "truecolor" || depth == "24bit";
    terminal.colors = is_true ? ColorDepth::truecolor : ColorDepth::palette256;
  }
  return terminal;
}

}  // namespace foveate::cli
