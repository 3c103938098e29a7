// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "text/table.h"

#include <algorithm>

#include "text/width.h"

namespace foveate::text {

std::string Table::text(bool last_left) const {
  const size_t columns = rows_.front().size();
  std::vector<int> widths(columns, 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string text;
  for (const auto& row : rows_) {
    for (size_t c = 0; c < columns; ++c) {
      text += "  ";
      text += last_left && c + 1 == columns ? row[c] : pad_left(row[c], widths[c]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace foveate::text
