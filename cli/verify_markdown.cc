// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "cli/verify_report.h"
#include "foveate/target.h"

namespace foveate::cli {
namespace {

using claims::Language;
using claims::Point;
using claims::Series;

/// The processor as it names itself to Linux.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != line.npos) return line.substr(std::min(colon + 2, line.size()));
  }
  return "unknown processor";
}

std::string compiler_name() {
#if defined(__clang__)
  return fmt::format("clang {}.{}", __clang_major__, __clang_minor__);
#else
  return fmt::format("g++ {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
}

/// A bar would end the cell of a table.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

class Document {
 public:
  Document(const VerifyReport& report, const std::string& figures, Language language)
      : report_(report), figures_(figures), language_(language) {}

  std::string text() {
    introduction();
    summary();
    for (const Tried& one : report_.tried) claim(one);
    return std::move(text_);
  }

 private:
  const char* say(const char* english, const char* chinese) const {
    return language_ == Language::zh ? chinese : english;
  }

  template <class... Values>
  void add(const char* english, const char* chinese, const Values&... values) {
    text_ += fmt::format(fmt::runtime(say(english, chinese)), values...);
  }

  std::string command(const std::string& more) const {
    return fmt::format("foveate verify{}{} --seed {}", more, report_.quick ? " --quick" : "", report_.seed);
  }

  void introduction() {
    add("# What is said of attention, put to the test\n\n", "# 关于注意力的说法，逐条检验\n\n");
    add("Each claim is an experiment with this engine. What is expected of it, and the rule of its verdict, stands in "
        "the source (`claims/`) before a run measures anything. This document is written by\n\n    {} --markdown "
        "FILE{}\n\n",
        "每条说法都是用本引擎做的一个实验；在测量之前，预期与判定规则就写在源码里（`claims/"
        "`）。本文由以下命令写成：\n\n    {} --markdown FILE{}\n\n",
        command(chosen()), figures_.empty() ? "" : " --figures DIR");
    add("on {}, target {}, {}, {:%Y-%m-%d}. Everything but times repeats on any machine with that target. Intervals "
        "are of 95 %: Student's t for means and variances, Wilson's for shares, bootstrap (200 or 1000 resamples) for "
        "percentiles, t for slopes in logarithms; for times, from the fastest run to the slowest.\n\n",
        "机器：{}，指令集 {}，{}，{:%Y-%m-%d}。除时间外，一切结果在同一指令集的任何机器上都能重现。区间为 95 "
        "%：均值与方差用 t，比例用 Wilson，百分位数用自助法（重抽 200 或 1000 次），"
        "双对数斜率用 t；时间给出从最快到最慢的一次。\n\n",
        processor_name(), active_target(), compiler_name(), fmt::gmtime(std::time(nullptr)));
  }

  std::string chosen() const {
    std::string options;
    for (const Tried& one : report_.tried) {
      if (report_.chosen) options += " --claim " + one.claim->name;
    }
    return options;
  }

  void summary() {
    add("| claim | verdict | decided by |\n", "| 说法 | 结论 | 依据 |\n");
    text_ += "| --- | --- | --- |\n";
    for (const Tried& one : report_.tried) {
      text_ += fmt::format("| [{0}](#{0}) | {1} | {2} |\n", one.claim->name, verdict(one),
                           cell(one.judgement.figure.in(language_)));
    }
  }

  std::string verdict(const Tried& one) const {
    std::string text = text_of(one.judgement.verdict).in(language_);
    if (!one.as_recorded()) {
      text += fmt::format(fmt::runtime(say(" (not as recorded: {})", "（与记录不符：{}）")),
                          text_of(one.claim->recorded).in(language_));
    }
    return text;
  }

  void claim(const Tried& one) {
    const std::string& name = one.claim->name;
    text_ += fmt::format("\n## {}\n\n{}\n\n", name, one.claim->says.in(language_));
    add("**Command:** `{}`\n\n", "**命令：** `{}`\n\n", command(" --claim " + name));
    add("**Expected:** {}\n\n", "**预期：** {}\n\n", one.claim->expectation.in(language_));
    add("**Verdict: {}.** {}: {}\n\n", "**结论：{}。** {}。{}\n\n", verdict(one), one.judgement.figure.in(language_),
        one.judgement.why.in(language_));
    if (!figures_.empty()) {
      text_ += fmt::format("![{}]({}/{}.svg)\n\n", one.claim->plot(one.evidence).title.in(language_), figures_, name);
    }
    measured(one.evidence);
  }

  void measured(const claims::Evidence& evidence) {
    constexpr size_t kMostPoints = 16;
    add("| measured | at | value | interval | expected | samples |\n", "| 实测 | 条件 | 值 | 区间 | 预期 | 样本数 |\n");
    text_ += "| --- | --- | --- | --- | --- | --- |\n";
    for (const Series& series : evidence.all()) {
      if (series.points.size() > kMostPoints) {
        text_ += fmt::format("| {} | | {:.4g} – {:.4g} | | | {} |\n", cell(series.what.in(language_)), series.least(),
                             series.greatest(), series.points.size());
        continue;
      }
      for (const Point& point : series.points) row(series, point);
    }
  }

  void row(const Series& series, const Point& point) {
    std::string at = point.label.in(language_), interval, expected;
    if (at.empty() && !series.x_name.empty()) at = fmt::format("{} = {:g}", series.x_name, point.x);
    if (point.estimate.interval != claims::IntervalKind::none) {
      interval = fmt::format("{:.4g} – {:.4g}, {}", point.estimate.low, point.estimate.high,
                             claims::name_of(point.estimate.interval));
    }
    if (point.expected) expected = fmt::format("{}{:.4g}", series.bounded ? "≤ " : "", *point.expected);
    const bool first = &point == &series.points.front();
    text_ += fmt::format("| {} | {} | {:.4g} | {} | {} | {} |\n", first ? cell(series.what.in(language_)) : "", at,
                         point.estimate.value, interval, expected, point.estimate.samples);
  }

  const VerifyReport& report_;
  const std::string& figures_;
  const Language language_;
  std::string text_;
};

}  // namespace

std::string verify_markdown(const VerifyReport& report, const std::string& figures, Language language) {
  return Document(report, figures, language).text();
}

}  // namespace foveate::cli
