// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The values of command-line options, read strictly: the whole text counts, and whatever does not fit is a WrongUse that
// names the option.
#ifndef FOVEATE_CLI_OPTION_VALUE_H_
#define FOVEATE_CLI_OPTION_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foveate::cli {

/// A finite number: "0.125", "-3", "1e-3".
double finite_number(std::string_view option, std::string_view text);

/// A whole number of at least `least`.
int64_t whole_number(std::string_view option, std::string_view text, int64_t least);

/// A whole number from 0 to 2^64 - 1, as seeds are.
uint64_t seed_number(std::string_view option, std::string_view text);

/// Whole numbers with commas between them, as many as `form` ("L,R") names and `example` ("128,0") shows.
std::vector<int64_t> whole_numbers(std::string_view option, std::string_view text, std::string_view form,
                                   std::string_view example);

/// Which of `words` the text is, counted from 0.
size_t one_of(std::string_view option, std::string_view text, const std::vector<std::string_view>& words);

/// The word among `words` that `word` may be a slip of, or else the longest that it holds ("--is-causal"); "" where there
/// is none.
std::string nearest(std::string_view word, const std::vector<std::string>& words);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_OPTION_VALUE_H_
