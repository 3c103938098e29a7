// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace foveate::cli {
namespace {

constexpr std::string_view kNote = "# Generated from the program's own help.\n";

/// Text between single quotes, as sh and zsh read it: 'it'\''s'.
std::string shell_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

/// The same for fish: 'it\'s'.
std::string fish_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool takes_file(const CLI::Option& option) { return option.get_option_text() == "F"; }
bool takes_folder(const CLI::Option& option) { return option.get_option_text() == "DIR"; }

/// Branches of bash's case on "command option".
std::string bash_values(const Command& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_option_text().empty()) continue;
    std::string answer = "COMPREPLY=()";  // a number, a name: nothing to offer
    if (takes_file(*option)) answer = "_foveate_files -f";
    if (takes_folder(*option)) answer = "_foveate_files -d";
    if (const auto words = choices_of(command, *option); !words.empty()) {
      answer = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", fmt::join(words, " "));
    }
    text += fmt::format("    '{} {}') {} ;;\n", command.get_name(), option->get_name(), answer);
  }
  return text;
}

/// Of zsh's _arguments: what a description may not hold as it stands.
std::string zsh_description(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_option(const Command& command, const CLI::Option& option) {
  const std::string description = zsh_description(option.get_description());
  const std::string& form = option.get_option_text();
  std::string value;
  if (!form.empty()) value = fmt::format(":{}: ", zsh_description(form));
  if (takes_file(option)) value = ":file:_files";
  if (takes_folder(option)) value = ":folder:_files -/";
  if (const auto words = choices_of(command, option); !words.empty()) {
    value = fmt::format(":{}:({})", zsh_description(form), fmt::join(words, " "));
  }
  if (option.get_snames().empty()) return shell_word(fmt::format("{}[{}]{}", option.get_name(), description, value));
  return fmt::format("'(-{0} --{1})'{{-{0},--{1}}}{2}", option.get_snames()[0], option.get_lnames()[0],
                     shell_word(fmt::format("[{}]{}", description, value)));
}

std::string zsh_options(const Command& command, std::string_view indent) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    text += fmt::format(" \\\n{}{}", indent, zsh_option(command, *option));
  }
  return text;
}

std::string fish_options(const Command& command, std::string_view condition) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    text += fmt::format("complete -c foveate -n '{}'", condition);
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    if (const auto words = choices_of(command, *option); !words.empty()) {
      text += fmt::format(" -x -a '{}'", fmt::join(words, " "));
    } else if (takes_file(*option)) {
      text += " -r -F";
    } else if (takes_folder(*option)) {
      text += " -x -a '(__fish_complete_directories)'";
    } else if (!option->get_option_text().empty()) {
      text += " -x";
    }
    text += fmt::format(" -d {}\n", fish_word(option->get_description()));
  }
  return text;
}

}  // namespace

std::string bash_completion(const Command& program) {
  std::string names, options, values;
  for (const Command* command : commands_of(program)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    options += fmt::format("    {}) words='{}' ;;\n", command->get_name(), fmt::join(long_names(*command), " "));
    values += bash_values(*command);
  }
  return fmt::format(R"(# bash completion of foveate
{0}
_foveate_files() {{
  local IFS=$'\n'
  COMPREPLY=($(compgen "$1" -- "$word"))
  type compopt > /dev/null 2>&1 && compopt -o filenames 2> /dev/null
}}

_foveate() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{1} {2}' -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}} $before" in
{3}    *)
      case "${{COMP_WORDS[1]}}" in
{4}      esac
      COMPREPLY=($(compgen -W "$words" -- "$word"))
      ;;
  esac
}}

complete -F _foveate foveate
)",
                     kNote, names, fmt::join(long_names(program), " "), values, options);
}

std::string zsh_completion(const Command& program) {
  std::string names, branches;
  for (const Command* command : commands_of(program)) {
    names +=
        fmt::format("        {}\n",
                    shell_word(fmt::format("{}:{}", command->get_name(), zsh_description(command->get_description()))));
    branches += fmt::format("        {}) _arguments{} ;;\n", command->get_name(), zsh_options(*command, "          "));
  }
  return fmt::format(R"(#compdef foveate
{0}
_foveate() {{
  local curcontext="$curcontext" state line
  _arguments -C{1} \
    '1:command:->command' '*::option:->option'
  case $state in
    command)
      local -a commands=(
{2}      )
      _describe command commands
      ;;
    option)
      case $line[1] in
{3}      esac
      ;;
  esac
}}

_foveate "$@"
)",
                     kNote, zsh_options(program, "    "), names, branches);
}

std::string fish_completion(const Command& program) {
  constexpr std::string_view kFirst = "__fish_use_subcommand";
  std::string text = fmt::format("# fish completion of foveate\n{}complete -c foveate -f\n", kNote);
  text += fish_options(program, kFirst);
  for (const Command* command : commands_of(program)) {
    text += fmt::format("complete -c foveate -n {} -a {} -d {}\n", kFirst, command->get_name(),
                        fish_word(command->get_description()));
    text += fish_options(*command, fmt::format("__fish_seen_subcommand_from {}", command->get_name()));
  }
  return text;
}

}  // namespace foveate::cli
