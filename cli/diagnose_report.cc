// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/diagnose_report.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "text/wrapped.h"

namespace foveate::cli {
namespace {

using diagnosis::Diagnosis;
using diagnosis::Difference;
using diagnosis::Explanation;
using diagnosis::FileAxes;
using diagnosis::Mistake;
using diagnosis::Scope;
using Json = nlohmann::ordered_json;

constexpr int kWidth = 80;

/// JSON has no word for what is not finite.
Json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity";
}

Json json_of(const Explanation& explanation) {
  Json mistakes = Json::array();
  for (const Mistake* one : explanation.mistakes) {
    mistakes.push_back({{"id", one->id},
                        {"name", one->name.en},
                        {"name_zh", one->name.zh},
                        {"remedy", one->remedy.en},
                        {"remedy_zh", one->remedy.zh}});
  }
  return {{"mistakes", mistakes},
          {"residual", explanation.residual},
          {"lse_residual", explanation.lse_residual},
          {"rows_compared", explanation.rows_compared}};
}

Json json_of(const Difference& difference, const FileAxes& axes) {
  return {{"array", difference.d < 0 ? "lse" : "out"},
          {"index", index_of(difference, axes)},
          {"got", number(difference.got)},
          {"expected", number(difference.expected)}};
}

Json wrong_rows_of(const diagnosis::WrongRows& rows) {
  Json heads = Json::array();
  for (const auto& [b, h] : rows.heads) heads.push_back({b, h});
  return {{"first", rows.first}, {"last", rows.last}, {"heads", heads}};
}

Json right_rows_of(const diagnosis::RightRows& rows) {
  Json heads = Json::array();
  for (const auto& [b, h] : rows.heads) heads.push_back({b, h});
  Json stretch;
  if (rows.last >= rows.first) stretch = {rows.first, rows.last};
  return {{"of_every_head", stretch}, {"heads", heads}};
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis, const FileAxes& axes, bool with_lse, Language language) {
  std::string text;
  for (const auto& [mark, words] : foveate::diagnosis::words(diagnosis, axes, with_lse, language)) {
    text += text::hanging(mark, words, static_cast<int>(mark.size()), kWidth);
  }
  return text;
}

std::string diagnosis_json(const Diagnosis& d, const FileAxes& axes) {
  Json ids = Json::array(), explanations = Json::array();
  for (const Explanation& one : d.explanations) explanations.push_back(json_of(one));
  if (!d.explanations.empty()) {
    for (const Mistake* one : d.explanations.front().mistakes) ids.push_back(one->id);
  }
  constexpr const char* kHints[] = {nullptr, "masking", "scores"};
  const char* hint = kHints[static_cast<size_t>(d.hint)];
  const bool differs = d.differing_rows > 0, explained = !d.explanations.empty();
  const Json json = {{"foveate", FOVEATE_VERSION},
                     {"verdict", name_of(d.verdict)},
                     {"mistakes", ids},
                     {"scope", !explained                     ? Json()
                               : d.scope == Scope::wrong_rows ? Json("wrong_rows")
                                                              : Json("all_rows")},
                     {"explanations", explanations},
                     {"dropout", d.dropout > 0 ? Json(d.dropout) : Json()},
                     {"precision", name_of(d.precision)},
                     {"rows", d.rows},
                     {"elements", d.elements},
                     {"rows_beyond", d.rows_beyond},
                     {"differing_rows", d.differing_rows},
                     {"wrong_in_out", d.wrong_in_out},
                     {"wrong_in_lse", d.wrong_in_lse},
                     {"rows_not_finite", d.not_finite.rows},
                     {"largest_difference", d.largest_difference},
                     {"largest_lse_difference", d.largest_lse_difference},
                     {"unnoticed", d.unnoticed},
                     {"all_zero", d.all_zero},
                     {"factor", d.factor},
                     {"hint", hint != nullptr ? Json(hint) : Json()},
                     {"rms_difference", d.rms_difference},
                     {"first_difference", differs ? json_of(d.first, axes) : Json()},
                     {"wrong_rows", differs ? wrong_rows_of(d.wrong_rows) : Json()},
                     {"right_rows", differs ? right_rows_of(d.right_rows) : Json()},
                     {"tried", d.tried},
                     {"pairs_left_out", d.pairs_left_out}};
  return json.dump(2) + "\n";
}

}  // namespace foveate::cli
