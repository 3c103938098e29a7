// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "text/wrapped.h"

#include <algorithm>
#include <string_view>

#include "text/width.h"

namespace foveate::text {
namespace {

/// A character of UTF-8, whole.
std::string_view first_character(std::string_view text) {
  size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0u) == 0x80) ++bytes;
  return text.substr(0, bytes);
}

bool is_one_of(std::string_view character, std::string_view all) { return all.find(character) != all.npos; }

/// What stays together in a line: a word, or one Chinese character with the marks that may not stand apart from it.
std::string_view next_unit(std::string_view text) {
  constexpr std::string_view kClosing = "，。；：、）”》", kOpening = "（“《";
  size_t end = 0;
  bool more = true;  // a unit needs a character after an opening mark
  // "95 %" stays together.
  while (end < text.size() && (text[end] != ' ' || text.substr(end).starts_with(" %"))) {
    const std::string_view character = first_character(text.substr(end));
    const bool wide = display_width(character) == 2;
    const bool opening = is_one_of(character, kOpening), closing = is_one_of(character, kClosing);
    if (!more && !closing && (wide || opening)) break;
    end += character.size();
    const std::string_view after = end < text.size() ? first_character(text.substr(end)) : std::string_view(" ");
    more = opening || (!wide && display_width(after) != 2);
    if (!more && !is_one_of(after, kClosing)) break;
  }
  return text.substr(0, end);
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, int width) {
  std::vector<std::string> lines = {""};
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t spaces = std::min(rest.find_first_not_of(' '), rest.size());
    const std::string_view unit = next_unit(rest.substr(spaces));
    const std::string gap = spaces > 0 && !lines.back().empty() ? " " : "";
    if (!lines.back().empty() && display_width(lines.back() + gap) + display_width(unit) > width) {
      lines.emplace_back(unit);
    } else {
      lines.back() += gap + std::string(unit);
    }
    rest.remove_prefix(spaces + unit.size());
  }
  return lines;
}

std::string hanging(const std::string& head, const std::string& text, int indent, int width) {
  std::string result = head;
  bool first = true;
  for (const std::string& line : wrapped(text, width - indent)) {
    if (!first) result += std::string(static_cast<size_t>(indent), ' ');
    result += line + "\n";
    first = false;
  }
  return result;
}

}  // namespace foveate::text
