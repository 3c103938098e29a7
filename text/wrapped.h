// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Paragraphs on a terminal.
#ifndef FOVEATE_TEXT_WRAPPED_H_
#define FOVEATE_TEXT_WRAPPED_H_

#include <string>
#include <vector>

namespace foveate::text {

/// The text in lines of at most `width` columns: broken at spaces, or between Chinese characters as Chinese is set.
std::vector<std::string> wrapped(const std::string& text, int width);

/// The same as one text, each line ended: `head`, then the first line, the others `indent` columns in.
std::string hanging(const std::string& head, const std::string& text, int indent, int width = 80);

}  // namespace foveate::text

#endif  // FOVEATE_TEXT_WRAPPED_H_
