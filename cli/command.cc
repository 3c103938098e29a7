// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace foveate::cli {
namespace {

/// Splits at single characters.
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_word(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

OptionGroup titled(const std::string& group) {
  const size_t open = group.find(" (");
  if (open == group.npos || group.back() != ')') return {group, "", {}};
  return {group.substr(0, open), group.substr(open + 2, group.size() - open - 3), {}};
}

}  // namespace

std::vector<Meaning> usual_exit_status() {
  return {{"0", "success"},
          {"1", "something failed, such as a full disk"},
          {"2", "a wrong call or wrong input: one line on standard error, and nothing is written"},
          {"130", "interrupted by Ctrl-C; half-written files are removed"}};
}

std::vector<std::string> call_lines(const std::string& call, int width) {
  // An option stays with its value: lines are broken before "--".
  std::vector<std::string> lines = {"foveate"};
  for (size_t begin = 0; begin < call.size();) {
    const size_t next = std::min(call.find(" --", begin), call.size());
    const std::string unit = call.substr(begin, next - begin);
    if (lines.back().size() + unit.size() + 3 > static_cast<size_t>(width)) {
      lines.back() += " \\";
      lines.push_back("   ");
    }
    lines.back() += " " + unit;
    begin = next + 1;
  }
  return lines;
}

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description, Manual manual) {
  return app.add_subcommand(std::make_shared<Command>(description, name, std::move(manual), &app));
}

std::vector<const Command*> commands_of(const Command& program) {
  std::vector<const Command*> commands;
  for (const CLI::App* command : program.get_subcommands({})) {
    commands.push_back(dynamic_cast<const Command*>(command));
  }
  return commands;
}

std::string full_name(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : fmt::format("{} {}", command.get_parent()->get_name(), command.get_name());
}

std::vector<OptionGroup> groups_of(const CLI::App& command) {
  std::vector<OptionGroup> groups;
  std::vector<std::string> names = command.get_groups();
  // --help stands in CLI11's first group, and is of the least interest in a long list.
  if (names.size() > 1) std::rotate(names.begin(), names.begin() + 1, names.end());
  for (const std::string& name : names) {
    OptionGroup group = titled(name);
    group.options = command.get_options([&](const CLI::Option* option) { return option->get_group() == name; });
    if (!group.options.empty() && group.options.front() == command.get_help_ptr()) {
      std::rotate(group.options.begin(), group.options.begin() + 1, group.options.end());
    }
    if (names.size() > 1 && name == names.back()) group.title = "Other options";
    if (!group.options.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::string names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  return option.get_option_text().empty() ? text : text + " " + option.get_option_text();
}

std::vector<std::string> choices_of(const Command& command, const CLI::Option& option) {
  const auto& known = command.manual().words;
  if (const auto words = known.find(option.get_name()); words != known.end()) return words->second;
  const std::string& form = option.get_option_text();
  if (form.find('|') == form.npos) return {};
  std::vector<std::string> words = split(form, '|');
  words.erase(std::remove_if(words.begin(), words.end(), [](const std::string& word) { return !is_word(word); }),
              words.end());
  return words;
}

}  // namespace foveate::cli
