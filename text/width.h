// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How wide text stands on a terminal.
#ifndef FOVEATE_TEXT_WIDTH_H_
#define FOVEATE_TEXT_WIDTH_H_

#include <string>
#include <string_view>

namespace foveate::text {

/// Columns that UTF-8 text takes on a terminal: two for Chinese characters and full-width forms, none for the escapes
/// that set colours, one for all others.
int display_width(std::string_view text);

/// The text with spaces after it, `width` columns in all; unchanged where it is wider.
std::string pad_right(std::string_view text, int width);

/// The same with the spaces before it.
std::string pad_left(std::string_view text, int width);

}  // namespace foveate::text

#endif  // FOVEATE_TEXT_WIDTH_H_
