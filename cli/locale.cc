// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/locale.h"

#include <cstdlib>
#include <string_view>

#include "cli/option_value.h"

namespace foveate::cli {

Language language_of_locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::string_view(value).starts_with("zh") ? Language::zh : Language::en;
  }
  return Language::en;
}

Language parse_language(std::string_view lang) {
  if (lang.empty()) return language_of_locale();
  return one_of("--lang", lang, {"en", "zh"}) == 0 ? Language::en : Language::zh;
}

}  // namespace foveate::cli
