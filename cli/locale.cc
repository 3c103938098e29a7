// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/locale.h"

#include <cstdlib>
#include <string_view>

namespace foveate::cli {

Language language_of_locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::string_view(value).starts_with("zh") ? Language::zh : Language::en;
  }
  return Language::en;
}

}  // namespace foveate::cli
