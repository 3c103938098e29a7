// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate serve`: the interactive page, which this binary holds, for a browser on this machine.
#ifndef FOVEATE_CLI_SERVE_H_
#define FOVEATE_CLI_SERVE_H_

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/locale.h"
#include "cli/page.h"

namespace foveate::cli {

/// Serves the page on a port, or on the first free one from 7373 on, prints where, and goes on until a signal ends the
/// process: exit status 0. Throws where the page is empty or the port cannot be had.
[[noreturn]] void serve(Page page, std::optional<int> port, Language language);

/// Adds `foveate serve`. Its callback runs it, and throws as errors.h says.
void add_serve(CLI::App& app);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_SERVE_H_
