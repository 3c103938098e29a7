// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which language to speak.
#ifndef FOVEATE_CLI_LOCALE_H_
#define FOVEATE_CLI_LOCALE_H_

#include <string_view>

#include "claims/text.h"

namespace foveate::cli {

using claims::Language;

/// The language of messages by POSIX rules: the first of LC_ALL, LC_MESSAGES and LANG that is set and not empty
/// decides; Chinese where it begins with "zh", else English.
Language language_of_locale();

/// The language that --lang asks for, or the locale's where it is empty. Throws WrongUse for any other than en and zh.
Language parse_language(std::string_view lang);

/// One text, in the language asked for.
constexpr const char* say(Language language, const char* english, const char* chinese) {
  return language == Language::zh ? chinese : english;
}

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_LOCALE_H_
