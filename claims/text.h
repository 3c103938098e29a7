// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A text in each language that claims are told in. Each is written, not translated.
#ifndef FOVEATE_CLAIMS_TEXT_H_
#define FOVEATE_CLAIMS_TEXT_H_

#include <fmt/format.h>

#include <string>

namespace foveate::claims {

enum class Language { en, zh };

struct Text {
  std::string en, zh;

  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
};

/// One text of numbers: both formats are given all of them.
template <class... Values>
Text text(const char* en, const char* zh, const Values&... values) {
  return {fmt::format(fmt::runtime(en), values...), fmt::format(fmt::runtime(zh), values...)};
}

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_TEXT_H_
