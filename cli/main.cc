// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The command `foveate`: the one place where errors become a line and an exit status.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/option_value.h"
#include "cli/program.h"

namespace foveate::cli {
namespace {

/// The subcommand in use, or the app itself.
const CLI::App& command_in_use(const CLI::App& app) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  return used.empty() ? app : *used.front();
}

/// One line on standard error, whatever a file name or an argument holds.
int report(const CLI::App& command, std::string message, int exit_status) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  // Where standard error is closed, the status alone has to tell.
  std::fputs(fmt::format("{}: {}\n", full_name(command), message).c_str(), stderr);
  return exit_status;
}

/// What could have been meant where `command` met an argument that it does not know.
std::vector<std::string> known_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) words.push_back(option->get_name());
  for (const CLI::App* subcommand : command.get_subcommands({})) words.push_back(subcommand->get_name());
  return words;
}

/// CLI11's words, where they are good; ours, where they are not.
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  if (const std::vector<std::string> extras = app.remaining(true); !extras.empty()) {
    const std::string meant = nearest(extras.front(), known_words(command_in_use(app)));
    if (meant == extras.front()) return fmt::format("unexpected '{}' after --", meant);
    return fmt::format("unexpected '{}'", extras.front()) +
           (meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    if (text.find("flag override") != text.npos) return "--" + text.substr(0, text.find(' ')) + ": takes no value";
    const bool repeated = text.find("At Most") != text.npos;
    return text.substr(0, text.find(':')) + (repeated ? ": given more than once" : ": no value given");
  }
  return text;
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = command_in_use(app);
  const std::string text = parse_error_text(app, error);
  return report(command, fmt::format("{} (see {} --help)", text, full_name(command)), kExitWrongUse);
}

int run(CLI::App& app, int argc, char** argv, const int& exit_status) {
  if (argc == 1) {
    std::cerr << app.help();
    return kExitWrongUse;
  }
  try {
    app.parse(argc, argv);
    return exit_status;
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error);
  } catch (const WrongUse& error) {
    return report(command_in_use(app), error.what(), kExitWrongUse);
  } catch (const Interrupted& interrupted) {
    return kExitSignal + interrupted.signal;
  } catch (const std::bad_alloc&) {
    return report(command_in_use(app), "not enough memory", kExitFailure);
  } catch (const std::exception& error) {
    return report(command_in_use(app), error.what(), kExitFailure);
  }
}

/// Keeps files that are opened later from taking the place of a standard stream that was closed: holds the place with one
/// that fails whoever uses it.
void hold_closed_streams() {
  for (const auto& [fd, mode] :
       {std::pair(STDIN_FILENO, O_WRONLY), {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}}) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", mode);  // takes the lowest number that is free: this one
  }
}

/// Standard output that could not be written is a failure too.
int flush_standard_output(const CLI::App& app, int exit_status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return exit_status;
  if (exit_status != 0) return exit_status;  // one line has been said already
  return report(command_in_use(app), fmt::format("standard output: {}", std::strerror(errno)), kExitFailure);
}

}  // namespace
}  // namespace foveate::cli

int main(int argc, char** argv) {
  using namespace foveate::cli;
  hold_closed_streams();
  handle_signals();
  int exit_status = 0;
  const std::unique_ptr<Command> app = make_program(exit_status);
  exit_status = run(*app, argc, argv, exit_status);
  return flush_standard_output(*app, exit_status);
}
