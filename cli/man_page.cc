// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "text/wrapped.h"

namespace foveate::cli {
namespace {

/// Text as roff reads it: a hyphen that is to be copied is \-, and no line begins with a control character.
std::string escaped(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    switch (c) {
      case '\\':
        roff += "\\e";
        break;
      case '-':
        roff += "\\-";
        break;
      case '\'':
        roff += "\\(aq";
        break;
      case '^':
        roff += "\\(ha";
        break;
      case '~':
        roff += "\\(ti";
        break;
      case '`':
        roff += "\\(ga";
        break;
      default:
        roff += c;
    }
  }
  return roff.starts_with('.') ? "\\&" + roff : roff;
}

/// A paragraph, in lines as short as roff's readers like them.
std::string filled(const std::string& text) {
  std::string roff;
  for (const std::string& line : text::wrapped(text, 72)) roff += escaped(line) + "\n";
  return roff;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string section(std::string_view title, const std::string& body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", title, body);
}

std::string tagged(const std::string& term, const std::string& text) {
  return fmt::format(".TP\n{}\n{}", term, filled(text));
}

/// Names are bold, what they take is not.
std::string term_of(const CLI::Option& option) {
  std::string names = names_of(option);
  const std::string& form = option.get_option_text();
  if (!form.empty()) names.resize(names.size() - form.size() - 1);
  return fmt::format("\\fB{}\\fR{}", escaped(names), form.empty() ? "" : " \\fI" + escaped(form) + "\\fR");
}

std::string options(const Command& command) {
  std::string text;
  for (const OptionGroup& group : groups_of(command)) {
    text += fmt::format(".SS {}\n", escaped(group.title));
    if (!group.note.empty()) text += filled(group.note + ".");
    for (const CLI::Option* option : group.options) text += tagged(term_of(*option), option->get_description());
  }
  return text;
}

std::string description(const Command& command) {
  std::string text = filled(command.get_description() + ".");
  for (const std::string& paragraph : command.manual().paragraphs) text += ".PP\n" + filled(paragraph);
  return text;
}

std::string commands(const Command& program) {
  std::string text;
  for (const Command* command : commands_of(program)) {
    text += fmt::format(".TP\n.BR {} (1)\n{}", escaped(man_page_name(*command)), filled(command->get_description()));
  }
  return text;
}

std::string examples(const Manual& manual) {
  std::string text;
  for (const auto& [purpose, call] : manual.examples) {
    if (!text.empty()) text += ".PP\n";
    text += fmt::format("{}.PP\n.in +4n\n.nf\n", filled(purpose + ":"));
    for (const std::string& line : call_lines(call, 72)) text += escaped(line) + "\n";
    text += ".fi\n.in\n";
  }
  return text;
}

std::string meanings(const std::vector<Meaning>& all) {
  std::string text;
  for (const auto& [name, meaning] : all) text += tagged("\\fB" + escaped(name) + "\\fR", meaning);
  return text;
}

/// The program's page names all commands, a command's the program first.
std::string see_also(const Command& command) {
  std::vector<std::string> pages;
  if (command.get_parent() == nullptr) {
    for (const Command* each : commands_of(command)) pages.push_back(man_page_name(*each));
  } else {
    pages.emplace_back("foveate");
    for (const std::string& name : command.manual().see_also) pages.push_back("foveate-" + name);
  }
  std::string text;
  for (const std::string& page : pages) {
    text += fmt::format(".BR {} (1){}\n", escaped(page), page == pages.back() ? "" : ",");
  }
  return text;
}

}  // namespace

std::string man_page_name(const CLI::App& command) {
  std::string name = full_name(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const Command& command, const std::string& date) {
  const std::string name = man_page_name(command);
  std::string page =
      fmt::format(".TH {} 1 {} \"foveate {}\" \"User commands\"\n", escaped(upper(name)), date, FOVEATE_VERSION);
  page += section("NAME", fmt::format("{} \\-\n{}", escaped(name), filled(command.get_description())));
  page += section("SYNOPSIS",
                  fmt::format("\\fB{}\\fR {}\n", escaped(full_name(command)), escaped(command.manual().synopsis)));
  page += section("DESCRIPTION", description(command));
  page += section("COMMANDS", commands(command));
  page += section("OPTIONS", options(command));
  page += section("EXIT STATUS", meanings(command.manual().exit_status));
  page += section("ENVIRONMENT", meanings(command.manual().environment));
  page += section("EXAMPLES", examples(command.manual()));
  return page + section("SEE ALSO", see_also(command));
}

}  // namespace foveate::cli
