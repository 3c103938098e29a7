// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verify_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "foveate/target.h"
#include "text/width.h"
#include "text/wrapped.h"

namespace foveate::cli {
namespace {

using claims::Claim;
using claims::Estimate;
using claims::IntervalKind;
using claims::Language;
using claims::Point;
using claims::Series;
using claims::Text;
using Json = nlohmann::ordered_json;

constexpr size_t kMostPoints = 16;  // of a series, told one by one

/// "  expected    ..." with the lines after the first below the text.
std::string entry(const Text& name, const std::string& text, Language language) {
  constexpr int kIndent = 14;
  return text::hanging("    " + text::pad_right(name.in(language), kIndent - 4), text, kIndent);
}

std::string x_text(const Series& series, const Point& point, Language language) {
  if (!point.label.en.empty()) return point.label.in(language);
  return series.x_name.empty() ? "" : fmt::format("{} {:g}", series.x_name, point.x);
}

constexpr int kNameAt = 16, kValueAt = 32, kExpectedAt = 61;

/// "7.96 (7.83 – 8.08)   expected 8", in columns; what was expected on a line of its own where the first is too long.
std::string value_text(const Series& series, const Point& point, Language language) {
  std::string value = estimate_text(point.estimate);
  if (!point.expected) return value;
  const Text expected = series.bounded ? claims::text("at most {:.4g}", "至多 {:.4g}", *point.expected)
                                       : claims::text("expected {:.4g}", "应为 {:.4g}", *point.expected);
  const bool fits = text::display_width(value) < kExpectedAt - kValueAt;
  return (fits ? text::pad_right(value, kExpectedAt - kValueAt) : value + "\n" + std::string(kExpectedAt, ' ')) +
         expected.in(language);
}

std::string measured_text(const claims::Evidence& evidence, Language language) {
  std::string result;
  for (const Series& series : evidence.all()) {
    result += entry(result.empty() ? Text{"measured", "实测"} : Text{}, series.what.in(language), language);
    if (series.points.size() > kMostPoints) {
      const Text range = claims::text("{} points from {:.4g} to {:.4g}", "{} 个点，从 {:.4g} 到 {:.4g}",
                                      series.points.size(), series.least(), series.greatest());
      result += std::string(kNameAt, ' ') + range.in(language) + "\n";
      continue;
    }
    for (const Point& point : series.points) {
      result += std::string(kNameAt, ' ') + text::pad_right(x_text(series, point, language), kValueAt - kNameAt) +
                value_text(series, point, language) + "\n";
    }
  }
  return result;
}

/// What was measured for an earlier claim too is told there.
std::string details(const Tried& tried, const VerifyReport& report, Language language) {
  const auto first =
      std::ranges::find(report.tried, tried.claim->measure, [](const Tried& one) { return one.claim->measure; });
  const Text as_above = claims::text("as for {}", "同 {}", first->claim->name);
  return entry({"claim", "说法"}, tried.claim->says.in(language), language) +
         entry({"expected", "预期"}, tried.claim->expectation.in(language), language) +
         (first->claim == tried.claim ? measured_text(tried.evidence, language)
                                      : entry({"measured", "实测"}, as_above.in(language), language)) +
         "\n";
}

Json json_of(const Estimate& estimate) {
  Json json = {{"value", estimate.value}};
  if (estimate.interval != IntervalKind::none) {
    json["low"] = estimate.low;
    json["high"] = estimate.high;
  }
  json["interval"] = claims::name_of(estimate.interval);
  json["samples"] = estimate.samples;
  return json;
}

Json json_of(const Series& series) {
  Json points = Json::array();
  for (const Point& point : series.points) {
    Json json = Json::object();
    if (!point.label.en.empty()) json["label"] = point.label.en;
    if (!series.x_name.empty()) json[series.x_name] = point.x;
    json.update(json_of(point.estimate));
    if (point.expected) json[series.bounded ? "at_most" : "expected"] = *point.expected;
    points.push_back(json);
  }
  return {{"name", series.name}, {"what", series.what.en}, {"points", points}};
}

Json json_of(const Claim& claim) {
  return {{"name", claim.name},
          {"family", claim.family},
          {"claim", claim.says.en},
          {"expectation", claim.expectation.en},
          {"recorded", claims::text_of(claim.recorded).en}};
}

}  // namespace

std::string estimate_text(const Estimate& estimate) {
  if (estimate.interval == IntervalKind::none) return fmt::format("{:.4g}", estimate.value);
  return fmt::format("{:.4g} ({:.4g} – {:.4g})", estimate.value, estimate.low, estimate.high);
}

std::vector<std::string> VerifyReport::differing() const {
  std::vector<std::string> names;
  for (const Tried& one : tried) {
    if (!one.as_recorded()) names.push_back(one.claim->name);
  }
  return names;
}

std::string verify_text(const VerifyReport& report, Language language) {
  const auto say = [language](const char* english, const char* chinese) {
    return language == Language::zh ? chinese : english;
  };
  std::string result = fmt::format(
      fmt::runtime(say("What is said of attention, put to the test (seed {}, {}, {})\n",
                       "关于注意力的说法，逐条检验（种子 {}，{}，{}）\n")),
      report.seed, report.quick ? say("quick samples", "快速抽样") : say("all samples", "全部样本"), active_target());
  int name_width = 0, verdict_width = 0;
  for (const Tried& one : report.tried) {
    name_width = std::max(name_width, text::display_width(one.claim->name));
    verdict_width = std::max(verdict_width, text::display_width(text_of(one.judgement.verdict).in(language)));
  }
  const std::string* family = nullptr;
  for (const Tried& one : report.tried) {
    if (family == nullptr || (*family != one.claim->family && !report.chosen)) result += "\n";
    family = &one.claim->family;
    const std::string head = fmt::format("  {}  {}  ", text::pad_right(one.claim->name, name_width),
                                         text::pad_right(text_of(one.judgement.verdict).in(language), verdict_width));
    result += text::hanging(head, one.judgement.figure.in(language), text::display_width(head));
    result += text::hanging("    ", one.judgement.why.in(language), 4);
    if (!one.as_recorded()) {
      result += fmt::format(fmt::runtime(say("    NOT AS RECORDED: {}\n", "    与记录不符，记录为：{}\n")),
                            text_of(one.claim->recorded).in(language));
    }
    if (report.chosen) result += details(one, report, language);
  }
  const std::vector<std::string> differing = report.differing();
  if (!report.chosen) result += "\n";
  result += text::hanging(
      "",
      std::string(
          say("Intervals are of 95 %: t for means and variances, Wilson's for shares, bootstrap for percentiles.",
              "区间为 95 %：均值与方差用 t，比例用 Wilson，百分位数用自助法。")) +
          (report.chosen ? ""
                         : say(" --claim, --markdown and --json tell what was expected and measured.",
                               "预期与全部实测值见 --claim、--markdown、--json。")),
      0);
  result += differing.empty()
                ? fmt::format(fmt::runtime(say("{} tried; each verdict is the one recorded.\n",
                                               "共检验 {} 条，结论都与记录一致。\n")),
                              report.tried.size())
                : text::hanging("",
                                fmt::format(fmt::runtime(say("{} of {} verdicts are not as recorded: {}",
                                                             "{} 条与记录不符（共 {} 条）：{}")),
                                            differing.size(), report.tried.size(), fmt::join(differing, ", ")),
                                0);
  return result;
}

std::string verify_json(const VerifyReport& report) {
  Json results = Json::array();
  for (const Tried& one : report.tried) {
    Json json = json_of(*one.claim);
    json["verdict"] = text_of(one.judgement.verdict).en;
    json["as_recorded"] = one.as_recorded();
    json["figure"] = one.judgement.figure.en;
    json["why"] = one.judgement.why.en;
    json["seconds"] = one.seconds;
    Json& measured = json["measured"] = Json::array();
    for (const Series& series : one.evidence.all()) measured.push_back(json_of(series));
    results.push_back(json);
  }
  const Json json = {{"foveate", FOVEATE_VERSION},      {"target", active_target()}, {"seed", report.seed},
                     {"quick", report.quick},           {"threads", report.threads}, {"confidence", 0.95},
                     {"differing", report.differing()}, {"claims", results}};
  return json.dump(2) + "\n";
}

std::string claims_text(std::span<const Claim> claims, Language language) {
  std::string result;
  for (const Claim& claim : claims) {
    if (!result.empty()) result += "\n";
    result += fmt::format("{}  ({})\n", claim.name, claim.family);
    result += entry({"claim", "说法"}, claim.says.in(language), language);
    result += entry({"expected", "预期"}, claim.expectation.in(language), language);
    result += entry({"recorded", "记录"}, text_of(claim.recorded).in(language), language);
  }
  return result;
}

std::string claims_json(std::span<const Claim> claims) {
  Json json = Json::array();
  for (const Claim& claim : claims) json.push_back(json_of(claim));
  return json.dump(2) + "\n";
}

}  // namespace foveate::cli
