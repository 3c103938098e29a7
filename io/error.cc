// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/error.h"

#include <algorithm>
#include <system_error>

namespace foveate::io {
namespace {

std::string one_line(std::string_view name, std::string_view problem) {
  std::string line = std::string(name) + ": " + std::string(problem);
  // Bytes from 128 up stay: file names are UTF-8.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return line;
}

}  // namespace

Error::Error(std::string_view name, std::string_view problem) : std::runtime_error(one_line(name, problem)) {}

std::string printable(std::string_view text, size_t most) {
  const bool cut = text.size() > most;
  if (cut) {
    const auto inside = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
    while (most > 0 && inside(most)) --most;
    text = text.substr(0, most);
  }
  std::string shown(text);
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto c = static_cast<unsigned char>(shown[i]);
    // U+0080 to U+009F are control characters, too, which some terminals obey.
    const bool wide = c == 0xc2 && i + 1 < shown.size() && static_cast<unsigned char>(shown[i + 1]) < 0xa0;
    if (c < ' ' || c == 127) shown[i] = '?';
    if (wide) shown.replace(i, 2, "?");
  }
  return cut ? shown + "..." : shown;
}

Error system_error(std::string_view name, int error_number) {
  return Error(name, std::generic_category().message(error_number));
}

}  // namespace foveate::io
