// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A command with its manual: what --help, the man page and the completions of a shell are all made from.
#ifndef FOVEATE_CLI_COMMAND_H_
#define FOVEATE_CLI_COMMAND_H_

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace foveate::cli {

/// A call to show, and what it does.
struct Example {
  std::string purpose;  ///< "Causal attention, and the log of each row's sum"
  std::string call;     ///< without the program's name: "attend --q q.npy ..."
};

/// What something stands for: an exit status, a variable of the environment.
struct Meaning {
  std::string name;
  std::string text;
};

/// What a command's options do not say themselves.
struct Manual {
  std::string synopsis;                 ///< what follows the command's name in the usage line
  std::vector<std::string> paragraphs;  ///< after the options
  std::vector<Example> examples;
  std::vector<Meaning> exit_status;
  std::vector<Meaning> environment = {};
  std::vector<std::string> see_also = {};                      ///< commands
  std::map<std::string, std::vector<std::string>> words = {};  ///< "--claim": names to complete its value with
};

/// The call as it is typed, in lines of at most `width` columns, each but the last ending in a backslash.
std::vector<std::string> call_lines(const std::string& call, int width);

/// The exit status of a command that computes and says nothing of what came out.
std::vector<Meaning> usual_exit_status();

class Command final : public CLI::App {
 public:
  Command(std::string description, std::string name, Manual manual, CLI::App* parent = nullptr)
      : CLI::App(std::move(description), std::move(name), parent), manual_(std::move(manual)) {}

  const Manual& manual() const { return manual_; }

 private:
  Manual manual_;
};

/// Adds a command to the program; it inherits help flag and formatter.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description, Manual manual);

/// The commands of the program, which are all made by add_command, in order.
std::vector<const Command*> commands_of(const Command& program);

/// "foveate attend"; of the program itself "foveate".
std::string full_name(const CLI::App& command);

/// A heading and the options below it, in order.
struct OptionGroup {
  std::string title;
  std::string note;  ///< of a group named "title (note)"
  std::vector<const CLI::Option*> options;
};

/// The groups of a command that have options, --help last.
std::vector<OptionGroup> groups_of(const CLI::App& command);

/// "-h, --help" and "--q F".
std::string names_of(const CLI::Option& option);

/// The words that an option of a command takes: "en|zh", or those of the manual. None where it takes something else.
std::vector<std::string> choices_of(const Command& command, const CLI::Option& option);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_COMMAND_H_
