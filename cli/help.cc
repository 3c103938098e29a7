// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "text/wrapped.h"

namespace foveate::cli {
namespace {

constexpr int kIndent = 2;
constexpr int kColumn = 26;  // where descriptions begin
constexpr char kTied = '\x01';

/// Lines are not broken within brackets, "[b, h_q, n_q]"; what is tied so is untied after.
std::string tied(std::string text) {
  int depth = 0;
  for (char& c : text) {
    depth += (c == '[') - (c == ']');
    if (c == ' ' && depth > 0) c = kTied;
  }
  return text;
}

std::string paragraph(const std::string& head, const std::string& text, int indent) {
  std::string set = text::hanging(head, tied(text), indent);
  std::replace(set.begin(), set.end(), kTied, ' ');
  return set;
}

/// A term, and what it means beside it; below it where it is long.
std::string entry(const std::string& term, const std::string& text, int column) {
  const std::string head = std::string(kIndent, ' ') + term;
  const std::string margin(static_cast<size_t>(column), ' ');
  if (static_cast<int>(head.size()) + 2 > column) return head + "\n" + paragraph(margin, text, column);
  return paragraph(head + margin.substr(head.size()), text, column);
}

std::string usage(const Command& command) {
  const std::string head = "Usage: " + full_name(command) + " ";
  return paragraph(head, command.manual().synopsis, static_cast<int>(head.size()));
}

std::string options(const Command& command) {
  std::string text;
  for (const OptionGroup& group : groups_of(command)) {
    text += "\n" + paragraph("", group.title + (group.note.empty() ? ":" : ": " + group.note), 0);
    for (const CLI::Option* option : group.options) {
      text += entry(names_of(*option), option->get_description(), kColumn);
    }
  }
  return text;
}

std::string commands(const Command& program) {
  std::string text;
  for (const Command* command : commands_of(program)) {
    text += entry(command->get_name(), command->get_description(), 15);
  }
  return text.empty() ? "" : "\nCommands:\n" + text;
}

std::string examples(const Manual& manual) {
  std::string text;
  for (const auto& [purpose, call] : manual.examples) {
    text += paragraph("  ", purpose + ":", kIndent);
    for (const std::string& line : call_lines(call, 80 - 2 * kIndent)) text += "    " + line + "\n";
  }
  return text.empty() ? "" : "\nExamples:\n" + text;
}

std::string meanings(std::string_view title, const std::vector<Meaning>& all) {
  size_t longest = 0;
  for (const auto& [name, text] : all) longest = std::max(longest, name.size());
  std::string text;
  for (const auto& [name, meaning] : all) text += entry(name, meaning, static_cast<int>(longest) + 2 * kIndent);
  return text.empty() ? "" : fmt::format("\n{}:\n{}", title, text);
}

std::string see_also(const Command& command) {
  std::string names;
  for (const std::string& name : command.manual().see_also) {
    names += fmt::format("{}foveate {} --help", names.empty() ? "" : ", ", name);
  }
  return names.empty() ? "" : "\n" + paragraph("See also: ", names, 10);
}

}  // namespace

std::string help_text(const Command& command) {
  const Manual& manual = command.manual();
  std::string text = usage(command) + "\n" + paragraph("", command.get_description() + ".", 0);
  text += commands(command) + options(command);
  for (const std::string& words : manual.paragraphs) text += "\n" + paragraph("", words, 0);
  text += examples(manual) + meanings("Exit status", manual.exit_status);
  return text + meanings("Environment", manual.environment) + see_also(command);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  return help_text(dynamic_cast<const Command&>(*app));
}

}  // namespace foveate::cli
