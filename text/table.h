// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Tables of numbers as text.
#ifndef FOVEATE_TEXT_TABLE_H_
#define FOVEATE_TEXT_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace foveate::text {

/// Rows of cells under their headings, to the right in their columns, two spaces apart.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  /// As many cells as there are headings.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Each line ends in a newline. The last column is to the left where `last_left`: it holds words.
  std::string text(bool last_left = false) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace foveate::text

#endif  // FOVEATE_TEXT_TABLE_H_
