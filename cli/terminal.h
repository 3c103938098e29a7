// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What standard output can show.
#ifndef FOVEATE_CLI_TERMINAL_H_
#define FOVEATE_CLI_TERMINAL_H_

namespace foveate::cli {

enum class ColorChoice {
  automatic,  ///< colour on a terminal, unless NO_COLOR is set or TERM is "dumb"
  always,
  never,
};

enum class ColorDepth { none, palette256, truecolor };

struct Terminal {
  int width = 80;
  ColorDepth colors = ColorDepth::none;
};

/// The columns of the terminal at a descriptor, 80 where it is none or does not tell.
int terminal_width(int fd);

/// Standard output's: its width if it is a terminal (80 columns elsewhere), and 24-bit colour where COLORTERM tells of
/// it.
Terminal standard_output(ColorChoice choice);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_TERMINAL_H_
