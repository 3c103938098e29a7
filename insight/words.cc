// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "insight/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace foveate::insight {
namespace {

using claims::Text;
using claims::text;

Text operator+(const Text& a, const Text& b) { return {a.en + b.en, a.zh + b.zh}; }

/// "85 to 91 %".
Text percents(double least, double most) {
  const auto percent = [](double share) { return fmt::format("{:.0f}", 100 * share); };
  const std::string from = percent(least), to = percent(most);
  if (from == to) return {to + " %", to + "%"};
  return {from + " to " + to + " %", from + "%–" + to + "%"};
}

/// "0-3", "5".
std::vector<std::string> runs(const std::vector<int64_t>& numbers) {
  std::vector<std::string> all;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i > 2) {
      all.push_back(fmt::format("{}-{}", numbers[i], numbers[end - 1]));
      i = end;
    } else {
      all.push_back(std::to_string(numbers[i++]));
    }
  }
  return all;
}

/// "batch 1, heads 0-3 and 5".
Text who(const Finding& finding, const Report& report) {
  const Text batch = report.shape.b > 1 ? text("batch {}, ", "第 {} 批的", finding.b) : Text{};
  return batch + names_of_heads(finding.heads);
}

/// The scale beside 1 / sqrt(d_k).
double relative_scale(const Report& report) {
  return std::abs(report.scale) * std::sqrt(static_cast<double>(report.shape.d_k));
}

Text on_saturation(const Finding& finding, const Report& report) {
  const Text share = percents(finding.least, finding.most);
  const Text filled = {
      fmt::format(": {} of rows are saturated, one weight above 0.99, and pass on hardly any gradient (mean "
                  "Jacobian norm {:.2g}); ",
                  share.en, finding.jacobian),
      fmt::format("：{} 的行已饱和（有一个权重超过 0.99），这些行几乎不传梯度（雅可比范数平均 {:.2g}）；", share.zh,
                  finding.jacobian)};
  if (!finding.wide) return filled + Text{"one key decides them.", "每行都由一个键决定。"};
  if (relative_scale(report) > 1.5) {
    return filled + text("the scale is {:.3g}, not 1/sqrt({}), and the scores' variance {:.3g}: scale them.",
                         "scale 是 {:.3g} 而非 1/√{}，分数方差 {:.3g}：应当缩放。", report.scale, report.shape.d_k,
                         finding.variance);
  }
  return filled +
         text("the scores' variance is {:.3g}: were they scaled?", "分数方差 {:.3g}：分数缩放过吗？", finding.variance);
}

Text on_evenness(const Finding& finding, const Report& report) {
  const bool one = finding.heads.size() == 1;
  const Text tail = relative_scale(report) < 0.5
                        ? text("; the scale is {:.3g}, less than 1/sqrt({}): was it applied twice?",
                               "；scale 是 {:.3g}，小于 1/√{}：是不是缩放了两次？", report.scale, report.shape.d_k)
                        : Text{};
  return text(one ? " spreads its weight evenly: the scores of a row hardly differ (variance {:.2g})"
                  : " spread their weight evenly: the scores of a row hardly differ (variance {:.2g})",
              " 的权重几乎平均：同一行的分数相差无几（方差 {:.2g}）", finding.variance) +
         tail + Text{".", "。"};
}

Text on_padding(const Finding& finding, const Report& report) {
  const int64_t last = report.zero_keys[static_cast<size_t>(finding.b)].second - 1;
  const Text share = percents(finding.least, finding.most);
  const std::string keys = finding.key == last ? std::to_string(last) : fmt::format("{}-{}", finding.key, last);
  return {fmt::format(": key{} {} {} 0 throughout and {} {} of the mass: padding that no mask hides?",
                      finding.key == last ? "" : "s", keys, finding.key == last ? "is" : "are",
                      finding.key == last ? "takes" : "take", share.en),
          fmt::format("：键 {} 全为 0，却分得 {} 的注意力：是不是没有遮住的填充？", keys, share.zh)};
}

Text place_of(int64_t offset) {
  if (offset == 0) return {"the query's own position", "查询自己的位置"};
  if (offset == -1) return {"the key before the query's position", "查询的前一个键"};
  if (offset == 1) return {"the key after the query's position", "查询的后一个键"};
  return offset < 0 ? text("the key {} places before the query", "查询往前第 {} 个键", -offset)
                    : text("the key {} places after the query", "查询往后第 {} 个键", offset);
}

Text on_rows_without_keys(const Finding& finding, const Report& report) {
  const auto n = static_cast<double>(report.q_lengths[static_cast<size_t>(finding.b)]);
  const Text rows = finding.least == finding.most
                        ? text("{0:.0f} of {1:.0f} rows", "{1:.0f} 行中有 {0:.0f} 行", finding.most * n, n)
                        : text("up to {0:.0f} of {1:.0f} rows", "{1:.0f} 行中至多有 {0:.0f} 行", finding.most * n, n);
  const bool one = std::round(finding.most * n) == 1;
  return Text{": ", "："} + rows +
         Text{std::string(one ? " sees no key, and gets" : " see no key, and get") +
                  " o = 0; is the mask inverted, or the alignment the other one?",
              "看不到任何键，o 为 0；掩码是不是反了，或者对齐方式选错了？"};
}

/// What was given or made: "component 5 of key 12 is NaN".
Text source_of(const NotFinite& t, const Report& report) {
  const std::string value = std::isnan(t.value) ? "NaN" : t.value > 0 ? "+inf" : "-inf";
  const char* const type = foveate::name_of(report.shape.dtype == DType::f64 ? DType::f64 : DType::f32);
  switch (t.origin) {
    case Origin::q:
      return text("component {} of its query is {}", "它的查询的第 {} 个分量是 {}", t.component, value);
    case Origin::k:
      return text("component {} of key {} is {}", "键 {1} 的第 {0} 个分量是 {2}", t.component, t.key, value);
    case Origin::v:
      return text("component {} of value {} is {}", "值 {1} 的第 {0} 个分量是 {2}", t.component, t.key, value);
    case Origin::bias:
      return text("the bias of key {} is {}", "键 {} 的 bias 是 {}", t.key, value);
    case Origin::sink:
      return text("the head's sink is {}", "这个头的 sink 是 {}", value);
    case Origin::product:
      if (t.key < 0) return text("q . k overflows {}", "q·k 超出 {} 的范围", type);
      return text("q . k with key {} overflows {} at component {}", "与键 {0} 的点积算到第 {2} 个分量时超出 {1} 的范围",
                  t.key, type, t.component);
    case Origin::scale:
      return text("scale * (q . k) with key {} overflows {}", "与键 {} 的 scale·(q·k) 超出 {} 的范围", t.key, type);
    case Origin::score:
      return text("the score of key {} overflows {} where bias and ALiBi join it",
                  "键 {} 的分数加上 bias 和 ALiBi 后超出 {} 的范围", t.key, type);
    case Origin::output:
      return text("the weighted sum of finite values overflows {} in component {}",
                  "有限值的加权和在第 {1} 个分量上超出 {0} 的范围", foveate::name_of(report.shape.dtype), t.component);
    case Origin::none:
      break;
  }
  return {};
}

Text outcome_of(const NotFinite& t) {
  switch (t.outcome) {
    case Outcome::opposite:
      return {"; on the way to the score that made inf - inf or 0 * inf", "；随后在分数里遇到 inf − inf 或 0·inf"};
    case Outcome::softmax:
      return {"; the score is +inf, and softmax takes inf - inf", "；分数成了 +inf，softmax 里出现 inf − inf"};
    case Outcome::all_lowest:
      return {"; every score of the row is -inf, and no weight is left", "；整行分数都是 -inf，没有权重可分"};
    case Outcome::nan:
    case Outcome::sum:
      break;
  }
  return {};
}

}  // namespace

Text names_of_heads(const std::vector<int64_t>& heads) {
  if (heads.size() == 1) return text("head {}", "头 {}", heads.front());
  const std::vector<std::string> names = runs(heads);
  if (names.size() == 1) return text("heads {}", "头 {}", names.front());
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return {fmt::format("heads {} and {}", fmt::join(first, ", "), names.back()),
          fmt::format("头 {}", fmt::join(names, "、"))};
}

Text words(const NotFinite& trace, const Report& report) {
  return text("row {}: ", "第 {} 行：", trace.row) + source_of(trace, report) + outcome_of(trace);
}

Text words(const Finding& finding, const Report& report) {
  const Text heads = who(finding, report);
  const bool one = finding.heads.size() == 1;
  const auto says = [&](const char* en_one, const char* en_many, const char* zh) {
    const Text share = percents(finding.least, finding.most);
    return Text{heads.en + fmt::format(fmt::runtime(one ? en_one : en_many), share.en, finding.key),
                heads.zh + fmt::format(fmt::runtime(zh), share.zh, finding.key)};
  };
  switch (finding.kind) {
    case Kind::not_finite: {
      const int64_t head = finding.b * report.shape.h_q + finding.heads.front();
      const NotFinite& trace = report.traces[static_cast<size_t>(head)];
      return heads +
             text(": {0} of {1} rows {2} not finite. The first, ", "：{1} 行中有 {0} 行不是有限数。最先是", trace.rows,
                  report.q_lengths[static_cast<size_t>(finding.b)], trace.rows == 1 ? "is" : "are") +
             words(trace, report) + Text{".", "。"};
    }
    case Kind::empty:
      return heads + on_rows_without_keys(finding, report);
    case Kind::one_visible:
      return heads + text(": every row sees one key alone, of {}; is the alignment the other one?",
                          "：每行都只看到一个键（共 {} 个）；对齐方式是不是选错了？", report.shape.n_kv);
    case Kind::padding:
      return heads + on_padding(finding, report);
    case Kind::sink:
      return says(" puts {} of its mass on key {}: an attention sink.",
                  " put {} of their mass on key {}: an attention sink.",
                  " 把 {} 的注意力放在键 {} 上：这是注意力汇（attention sink）。");
    case Kind::one_key:
      return says(" puts {} of its mass on key {} alone.", " put {} of their mass on key {} alone.",
                  " 把 {} 的注意力放在键 {} 这一个键上。");
    case Kind::learned_sink:
      return says(" gives {} of its weight to its sink, and takes little from the values.",
                  " give {} of their weight to their sinks, and take little from the values.",
                  " 把 {} 的权重交给自己的 sink，从值里取得很少。");
    case Kind::saturated:
      return heads + on_saturation(finding, report);
    case Kind::even:
      return heads + on_evenness(finding, report);
    case Kind::offset: {
      const Text place = place_of(finding.offset), share = percents(finding.least, finding.most);
      return heads + text(one ? " looks at {}" : " look at {}", " 看的是", place.en) + Text{"", place.zh} +
             Text{fmt::format(" in {} of rows.", share.en), fmt::format("（{} 的行）。", share.zh)};
    }
    case Kind::alike:
      if (finding.most == 0) return heads + Text{" attend exactly alike.", " 的注意力完全一样。"};
      return heads + text(" attend nearly alike: {:.2g} apart, where 0 is the same and 1 no key in common.",
                          " 的注意力几乎一样：相距 {:.2g}（0 为完全相同，1 为没有共同的键）。", finding.most);
  }
  return {};
}

}  // namespace foveate::insight
