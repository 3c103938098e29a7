// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "insight/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "insight/findings.h"
#include "text/table.h"
#include "text/wrapped.h"

namespace foveate::insight {
namespace {

using claims::Language;

constexpr const char* kNothing = "-";

std::string number(double x, int digits = 3) { return std::isnan(x) ? kNothing : fmt::format("{:.{}g}", x, digits); }

/// A weight below 1 is not told as 1.
std::string weight(double x) {
  constexpr double kNearlyOne = 0.9995;
  return x >= kNearlyOne && x < 1 ? fmt::format("{:.4f}", std::floor(x * 1e4) / 1e4) : number(x);
}

std::string place(const Extreme& e) { return e.row < 0 ? kNothing : fmt::format("{}, {}", e.row, e.key); }

class Writer {
 public:
  Writer(const Report& report, const View& view, int width, Language language)
      : report_(report), view_(view), width_(width), language_(language) {}

  std::string text() const {
    std::string text = heading() + "\n" + what_stands_out() + "\n" + scores() + "\n" + weights() + "\n" + legend();
    if (view_.rows.last > view_.rows.first) text += "\n" + rows();
    if (view_.keys.last > view_.keys.first) text += "\n" + keys();
    return text;
  }

 private:
  std::string percent(double share) const {
    return std::isnan(share) ? kNothing : fmt::format(fmt::runtime(say("{:.1f} %", "{:.1f}%")), 100 * share);
  }

  const char* say(const char* english, const char* chinese) const {
    return language_ == Language::zh ? chinese : english;
  }

  std::string name(int64_t head) const {
    const int64_t h = head % report_.shape.h_q;
    return report_.shape.b > 1 ? fmt::format("{}, {}", head / report_.shape.h_q, h) : std::to_string(h);
  }

  const char* name_heading() const { return report_.shape.b > 1 ? say("b, head", "b, 头") : say("head", "头"); }

  std::string heading() const {
    const AttentionShape& s = report_.shape;
    return fmt::format(fmt::runtime(say("b {}, h_q {}, h_kv {}, n_q {}, n_kv {}, d_k {}, {}, scale {:.4g}\n",
                                        "b {}，h_q {}，h_kv {}，n_q {}，n_kv {}，d_k {}，{}，scale {:.4g}\n")),
                       s.b, s.h_q, s.h_kv, s.n_q, s.n_kv, s.d_k, name_of(s.dtype), report_.scale) +
           (view_.asks_layout ? say("More heads than positions: is this --layout bnhd?\n",
                                    "头比位置还多：是不是应该用 --layout bnhd？\n")
                              : "");
  }

  std::string what_stands_out() const {
    const std::vector<Finding> all = findings(report_);
    if (all.empty()) return say("Nothing stands out.\n", "没有什么特别之处。\n");
    std::string text = say("What stands out\n", "值得注意\n");
    for (const Finding& finding : all) {
      text += text::hanging("  * ", finding.text.in(language_), 4, width_);
    }
    return text;
  }

  std::string scores() const {
    text::Table table({name_heading(), say("var q.k", "q·k 方差"), say("scaled", "缩放后"),
                       say("max score", "最大分数"), say("at i, j", "位于 i, j"), say("mean lse", "lse 均值"),
                       say("no keys", "无键的行"), say("not finite", "非有限的行")});
    for (int64_t head = 0; head < report_.n_heads(); ++head) {
      const HeadFigures& f = report_.heads[static_cast<size_t>(head)];
      const double scale = report_.scale;
      table.add({name(head), number(f.product_variance / scale / scale), number(f.product_variance),
                 number(f.largest_score.value, 4), place(f.largest_score), number(f.lse_mean, 4),
                 std::to_string(f.empty), std::to_string(report_.traces[static_cast<size_t>(head)].rows)});
    }
    return std::string(say("Scores\n", "分数\n")) + table.text();
  }

  std::string weights() const {
    std::vector<std::string> headings = {name_heading(), say("keys", "有效键数"), say("max weight", "最大权重"),
                                         say("at i, j", "位于 i, j"), say("on key 0", "键 0 所得")};
    if (view_.sinks) headings.emplace_back(say("on sink", "sink 所得"));
    if (!view_.sink_keys.empty()) headings.emplace_back(say("on given", "指定键所得"));
    headings.emplace_back(say("saturated", "饱和的行"));
    headings.emplace_back(say("Jacobian", "雅可比"));
    text::Table table(headings);
    for (int64_t head = 0; head < report_.n_heads(); ++head) {
      const HeadFigures& f = report_.heads[static_cast<size_t>(head)];
      std::vector<std::string> cells = {name(head), number(f.effective_keys_mean), weight(f.largest_weight.value),
                                        place(f.largest_weight), percent(f.first_key_mass)};
      if (view_.sinks) cells.push_back(percent(f.sink_mass));
      if (!view_.sink_keys.empty()) cells.push_back(percent(mass_on(report_, head, view_.sink_keys)));
      cells.push_back(percent(static_cast<double>(f.saturated) / static_cast<double>(report_.counted(head))));
      cells.push_back(number(f.jacobian_mean));
      table.add(std::move(cells));
    }
    return std::string(say("Weights\n", "权重\n")) + table.text();
  }

  std::string legend() const {
    return text::hanging(
        "  ",
        say("keys: effective number, exp(entropy), mean over rows. saturated: rows with one weight above 0.99 "
            "of more than one key. Jacobian: mean norm of d weights / d scores. i: query, j: key.",
            "有效键数：exp(熵) 按行平均。饱和的行：不止一个键，却有一个权重超过 "
            "0.99。雅可比：权重对分数的导数的范数，按行平均。i 为查询，j 为键。"),
        2, width_);
  }

  std::string rows() const {
    text::Table table({name_heading(), say("query", "查询"), say("keys", "键数"), say("effective", "有效键数"), "lse",
                       say("Jacobian", "雅可比"), say("largest weights, key (weight)", "最大的权重：键（权重）")});
    for (int64_t head = 0; head < report_.n_heads(); ++head) {
      for (int64_t i = view_.rows.first; i < view_.rows.last; ++i) {
        const RowFigures& row = report_.rows_of(head)[i];
        table.add({name(head), std::to_string(i), std::to_string(row.keys), number(std::exp(row.entropy)),
                   number(row.lse, 4), number(row.jacobian), top(head, i)});
      }
    }
    return std::string(say("Rows\n", "行\n")) + table.text(true);
  }

  std::string top(int64_t head, int64_t i) const {
    std::string text;
    for (int64_t t = 0; t < report_.top_keys; ++t) {
      const KeyWeight& one = report_.top[static_cast<size_t>((head * report_.shape.n_q + i) * report_.top_keys + t)];
      if (one.key < 0) break;
      text += fmt::format("{}{} ({:.3f})", t > 0 ? ", " : "", one.key, one.weight);
    }
    return text.empty() ? kNothing : text;
  }

  std::string keys() const {
    text::Table table({name_heading(), say("key", "键"), say("mass received", "收到的权重之和"), say("share", "占比")});
    for (int64_t head = 0; head < report_.n_heads(); ++head) {
      for (int64_t j = view_.keys.first; j < view_.keys.last; ++j) {
        table.add({name(head), std::to_string(j), number(report_.received_of(head)[j], 4),
                   percent(mass_on(report_, head, {j}))});
      }
    }
    return std::string(say("Keys\n", "键\n")) + table.text();
  }

  const Report& report_;
  const View& view_;
  const int width_;
  const Language language_;
};

}  // namespace

std::string tables(const Report& report, const View& view, int width, Language language) {
  return Writer(report, view, width, language).text();
}

}  // namespace foveate::insight
