// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/option_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/errors.h"

namespace foveate::cli {
namespace {

/// A number that is all of the text. Too large for T: nothing, and `beyond` says so.
template <class T>
std::optional<T> parse(std::string_view text, bool* beyond) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  *beyond = error == std::errc::result_out_of_range && rest == end;
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

[[noreturn]] void refuse_beyond(std::string_view option, std::string_view text) {
  throw WrongUse(fmt::format("{}: {} is too {}", option, text, text.starts_with('-') ? "small" : "large"));
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t comma; (comma = text.find(',')) != text.npos; text.remove_prefix(comma + 1)) {
    parts.push_back(text.substr(0, comma));
  }
  parts.push_back(text);
  return parts;
}

/// Letters to insert, delete or change to come from a to b (Levenshtein).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// An option's name without its dashes.
std::string_view bare(std::string_view word) { return word.substr(std::min(word.find_first_not_of('-'), word.size())); }

}  // namespace

double finite_number(std::string_view option, std::string_view text) {
  bool beyond = false;
  std::optional<double> value = parse<double>(text, &beyond);
  // from_chars does not tell numbers too near to 0, which round to it, from those too large.
  if (beyond) value = std::strtod(std::string(text).c_str(), nullptr);
  if (!value || !std::isfinite(*value)) {
    throw WrongUse(fmt::format("{}: '{}' is not a finite number, such as 0.125", option, text));
  }
  return *value;
}

int64_t whole_number(std::string_view option, std::string_view text, int64_t least) {
  bool beyond = false;
  const std::optional<int64_t> value = parse<int64_t>(text, &beyond);
  if (beyond && !text.starts_with('-')) refuse_beyond(option, text);
  if (!value || *value < least) {
    throw WrongUse(fmt::format("{}: '{}' is not a whole number of at least {}", option, text, least));
  }
  return *value;
}

uint64_t seed_number(std::string_view option, std::string_view text) {
  bool beyond = false;
  const std::optional<uint64_t> value = parse<uint64_t>(text, &beyond);
  if (!value) throw WrongUse(fmt::format("{}: '{}' is not a whole number from 0 to 2^64 - 1", option, text));
  return *value;
}

std::vector<int64_t> whole_numbers(std::string_view option, std::string_view text, std::string_view form,
                                   std::string_view example) {
  std::vector<int64_t> values;
  for (const std::string_view part : split(text)) {
    bool beyond = false;
    const std::optional<int64_t> value = parse<int64_t>(part, &beyond);
    if (beyond) refuse_beyond(option, part);
    if (value) values.push_back(*value);
  }
  const size_t expected = split(form).size();
  if (values.size() != expected || split(text).size() != expected) {
    const std::string numbers = expected == 2 ? "two whole numbers with a comma between them"
                                              : fmt::format("{} whole numbers with commas between them", expected);
    throw WrongUse(fmt::format("{}: '{}' is not {}: {}, such as {}", option, text, form, numbers, example));
  }
  return values;
}

size_t one_of(std::string_view option, std::string_view text, const std::vector<std::string_view>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) {
    throw WrongUse(fmt::format("{}: '{}' is none of {}", option, text, fmt::join(words, ", ")));
  }
  return static_cast<size_t>(found - words.begin());
}

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  std::string best;
  size_t best_distance = 1 + std::max<size_t>(1, word.size() / 3);
  for (const std::string& candidate : words) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty()) return best;
  constexpr size_t kTelling = 3;  // letters, below which a word is in another by chance
  for (const std::string& candidate : words) {
    const std::string_view part = bare(candidate);
    if (part.size() >= kTelling && candidate.size() > best.size() && word.find(part) != word.npos) best = candidate;
  }
  return best;
}

}  // namespace foveate::cli
