// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "text/width.h"

#include <algorithm>
#include <cstddef>

namespace foveate::text {
namespace {

// The wide blocks of Unicode's East Asian Width table. Ambiguous ones (arrows, shades) count as narrow, as terminals do
// by default.
bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x20000 && c <= 0x3FFFD);
}

std::string spaces_to_fill(std::string_view text, int width) {
  return std::string(static_cast<size_t>(std::max(0, width - display_width(text))), ' ');
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("\x1b[")) {
      i = std::min(text.find('m', i), text.size() - 1) + 1;
      continue;
    }
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t c = bytes == 1 ? lead : lead & (0xFFu >> (bytes + 1));
    for (size_t tail = 1; tail < bytes && i + tail < text.size(); ++tail) {
      c = c << 6 | (static_cast<unsigned char>(text[i + tail]) & 0x3Fu);
    }
    width += is_wide(c) ? 2 : 1;
    i += bytes;
  }
  return width;
}

std::string pad_right(std::string_view text, int width) { return std::string(text) + spaces_to_fill(text, width); }

std::string pad_left(std::string_view text, int width) { return spaces_to_fill(text, width) + std::string(text); }

}  // namespace foveate::text
