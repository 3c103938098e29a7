// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace foveate::diagnosis {
namespace {

using claims::Language;

constexpr size_t kMostHeads = 8;  ///< that are named

/// 8,192.
std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

/// Paragraphs in one language.
class Page {
 public:
  explicit Page(Language language) : language_(language) {}

  const char* in(const Text& text) const { return in(text.en, text.zh); }

  template <class... Values>
  std::string format(const char* english, const char* chinese, const Values&... values) const {
    return fmt::format(fmt::runtime(in(english, chinese)), values...);
  }

  template <class... Values>
  void add(const char* english, const char* chinese, const Values&... values) {
    add_text("", format(english, chinese, values...));
  }

  /// After a mark, below which further lines begin.
  void add_text(const std::string& mark, const std::string& text) { paragraphs_.push_back({mark, text}); }

  /// "They were not scaled. Scale them."
  std::string sentence(const Mistake& mistake) const {
    std::string name = in(mistake.name);
    if (language_ == Language::en && name[0] >= 'a' && name[0] <= 'z' && name.rfind("lse", 0) != 0 && name[1] != ' ' &&
        name[1] != ',') {
      name[0] = static_cast<char>(name[0] - 'a' + 'A');
    }
    return format("{}. {}", "{}。{}", name, in(mistake.remedy));
  }

  const std::vector<Paragraph>& paragraphs() const { return paragraphs_; }

 private:
  const char* in(const char* english, const char* chinese) const {
    return language_ == Language::zh ? chinese : english;
  }

  Language language_;
  std::vector<Paragraph> paragraphs_;
};

void add_right(Page& page, const Diagnosis& d, const FileAxes& axes, bool with_lse) {
  if (d.elements == 0) {
    page.add("The result is right: it has no elements.", "结果正确：其中没有元素。");
    return;
  }
  page.add("The result is right: {} elements within {}'s rounding (largest difference {:.2g}, at {}).",
           "结果正确：{} 个元素都在 {} 的舍入误差之内（最大差 {:.2g}，位于 {}）。", grouped(d.elements),
           name_of(d.precision), d.largest_difference, index_of(d.largest, axes));
  if (with_lse) page.add("So is lse: {} rows.", "lse 也正确：{} 行。", grouped(d.rows));
  if (d.unnoticed > 0) {
    page.add("In {} an element that is off by {:.2g} or less would go unnoticed.",
             "在 {} 的精度下，某个元素偏差不超过 {:.2g} 是看不出来的。", name_of(d.precision), d.unnoticed);
  }
}

std::string names_of(const std::vector<std::pair<int64_t, int64_t>>& heads) {
  std::string names;
  for (size_t n = 0; n < std::min(heads.size(), kMostHeads); ++n) {
    names += fmt::format("{}[{}, {}]", n == 0 ? "" : ", ", heads[n].first, heads[n].second);
  }
  return names + (heads.size() > kMostHeads ? ", ..." : "");
}

/// "heads [0, 1], [0, 2]; rows 3 to 7".
std::string where_wrong(const Page& page, const Diagnosis& d) {
  const auto& [first, last, heads] = d.wrong_rows;
  const std::string rows = first == last ? page.format("row {}", "第 {} 行", first)
                                         : page.format("rows {} to {}", "第 {} 到 {} 行", first, last);
  return page.format("heads [b, h] {}; {}", "头 [b, h]：{}；{}", names_of(heads), rows);
}

void add_heading(Page& page, const Diagnosis& d) {
  const bool alone = d.explanations.size() == 1;
  if (d.scope == Scope::wrong_rows) {
    page.add(alone ? "Not right. Where it is wrong ({} of {} rows: {}), one mistake explains it:"
                   : "Not right. Where it is wrong ({} of {} rows: {}), any one of these mistakes explains it; these "
                     "arrays cannot tell them apart:",
             alone ? "结果不正确。出错的地方（{} / {} 行：{}），一处错误即可解释："
                   : "结果不正确。出错的地方（{} / {} 行：{}），下列任何一处错误都可以解释，凭这些数组无法区分：",
             grouped(d.differing_rows), grouped(d.rows), where_wrong(page, d));
  } else if (d.verdict == Verdict::two_mistakes) {
    page.add("Not right. Two mistakes together explain it:", "结果不正确。两处错误合在一起可以解释：");
  } else if (alone) {
    page.add("Not right. One mistake explains it:", "结果不正确。一处错误即可解释：");
  } else {
    page.add("Not right. Any one of these mistakes explains it; these arrays cannot tell them apart:",
             "结果不正确。下列任何一处错误都可以解释，凭这些数组无法区分：");
  }
}

void add_mistakes(Page& page, const Diagnosis& d) {
  add_heading(page, d);
  const bool alone = d.explanations.size() == 1;
  for (size_t n = 0; n < d.explanations.size(); ++n) {
    if (n > 0 && d.verdict == Verdict::two_mistakes) {
      page.add("or, which these arrays cannot tell apart:", "或者（凭这些数组无法区分）：");
    }
    for (const Mistake* mistake : d.explanations[n].mistakes) {
      page.add_text(alone && d.verdict == Verdict::mistake ? "  " : "  - ", page.sentence(*mistake));
    }
  }
}

/// What is left, beside what there was: of lse, where out is right all the same. Where all that is wrong
/// is NaN, there is no such figure.
void add_residual(Page& page, const Diagnosis& d, const Explanation& best) {
  const bool of_lse = d.wrong_in_out == 0;
  const double residual = of_lse ? best.lse_residual : best.residual;
  const double without = of_lse ? d.largest_lse_difference : d.largest_difference;
  const int64_t all = d.scope == Scope::wrong_rows ? d.differing_rows : d.rows;
  if (of_lse) page.add("out is right; lse is not.", "out 正确，lse 不正确。");
  const std::string array = of_lse ? page.format(" of lse", "（lse）") : "";
  std::string beside;
  if (without > (d.not_finite.rows == 0 ? 2 : 100) * residual) {
    beside = d.verdict == Verdict::two_mistakes
                 ? page.format(" (without them {:.2g})", "（不做这两处解释时为 {:.2g}）", without)
                 : page.format(" (without it {:.2g})", "（不做此解释时为 {:.2g}）", without);
  }
  page.add("Residual{} {:.2g}{}. Compared: {} of {} rows.", "残差{} {:.2g}{}。比较了 {} / {} 行。", array, residual,
           beside, grouped(best.rows_compared), grouped(all));
}

void add_explained(Page& page, const Diagnosis& d) {
  add_mistakes(page, d);
  const Explanation& best = d.explanations.front();
  if (d.dropout > 0) {
    page.add("Weights were left out with probability {:.2f}: solved for in {} rows.",
             "权重被丢弃的概率约为 {:.2f}：由 {} 行解出。", d.dropout, grouped(best.rows_compared));
    return;
  }
  add_residual(page, d, best);
  if (d.all_zero) {
    page.add("out is 0 throughout: one that was never written looks the same.",
             "out 全为 0：从未写入的输出也是这个样子。");
  } else if (d.rows > 0 && d.not_finite.rows == d.rows) {
    page.add("No row of out is finite: whatever else makes NaN looks the same.",
             "out 的每一行都不是有限数：其他产生 NaN 的原因也是这个样子。");
  }
}

void add_right_rows(Page& page, const Diagnosis& d) {
  const auto& [first, last, heads] = d.right_rows;
  if (last > first) {
    page.add("Rows {} to {} of every head are right.", "每个头的第 {} 到 {} 行都正确。", first, last);
  } else if (last == first) {
    page.add("Row {} of every head is right.", "每个头的第 {} 行都正确。", first);
  }
  if (heads.empty()) return;
  page.add("Every row of these heads [b, h] is right: {}.", "这些头 [b, h] 的每一行都正确：{}。", names_of(heads));
}

void add_not_finite(Page& page, const Diagnosis& d) {
  const auto& [rows, position] = d.not_finite;
  if (rows == 0) return;
  if (position >= 0 && rows > 1) {
    page.add("Row {} of every head has NaN or infinities where numbers are expected.",
             "每个头的第 {} 行本应是有限的数，却出现了 NaN 或无穷大。", position);
  } else {
    page.add(rows == 1 ? "{} row has NaN or infinities where numbers are expected."
                       : "{} rows have NaN or infinities where numbers are expected.",
             "有 {} 行本应是有限的数，却出现了 NaN 或无穷大。", grouped(rows));
  }
}

void add_differences(Page& page, const Diagnosis& d) {
  if (d.wrong_in_out == 0) {
    page.add("out is right; lse is not. {} of {} rows differ. Largest difference of lse {:.2g}.",
             "out 正确，lse 不正确。{} / {} 行不同，lse 的最大差为 {:.2g}。", grouped(d.differing_rows),
             grouped(d.rows), d.largest_lse_difference);
  } else if (d.differing_rows == d.not_finite.rows) {
    page.add("{} of {} rows differ.", "{} / {} 行不同。", grouped(d.differing_rows), grouped(d.rows));
  } else {
    page.add("{} of {} rows differ. Largest difference of out {:.2g}, root mean square {:.2g}.",
             "{} / {} 行不同。out 的最大差为 {:.2g}，均方根为 {:.2g}。", grouped(d.differing_rows), grouped(d.rows),
             d.largest_difference, d.rms_difference);
  }
  add_not_finite(page, d);
}

/// What else is seen at a glance.
void add_hints(Page& page, const Diagnosis& d) {
  if (d.all_zero) page.add("out is 0 everywhere: was it never written?", "out 全是 0：是不是从未写入？");
  if (d.factor != 1) {
    page.add("out is the right result times {:.6g}.", "out 恰好是正确结果的 {:.6g} 倍。", d.factor);
  }
  if (d.hint == Hint::masking) {
    page.add("Rows that see all keys are right, and no others: look at the masking.",
             "只有看到全部键的行才正确：请检查掩码。");
  } else if (d.hint == Hint::scores) {
    page.add("Rows that see one key are right, and no others: look at the scores and the softmax.",
             "只有看到一个键的行才正确：请检查分数和 softmax。");
  }
}

void add_unknown(Page& page, const Diagnosis& d, const FileAxes& axes) {
  page.add("Not right, and no mistake known here explains it ({} tried, alone and in pairs).",
           "结果不正确，但已知的错误都不能解释（单独和成对共试了 {} 种）。", grouped(d.tried));
  const char* array = d.first.d < 0 ? "lse" : "out";
  page.add("First difference: {} at {} is {:.6g}, expected {:.6g}.", "第一处不同：{} 的 {} 处为 {:.6g}，应为 {:.6g}。",
           array, index_of(d.first, axes), d.first.got, d.first.expected);
  add_differences(page, d);
  add_right_rows(page, d);
  add_hints(page, d);
}

}  // namespace

std::vector<int64_t> index_of(const Difference& at, const FileAxes& axes) {
  std::vector<int64_t> index = {at.b, at.h, at.i};
  if (at.d >= 0 && axes.count > 2 && axes.layout == Layout::bnhd) index = {at.b, at.i, at.h};
  index.erase(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(4 - axes.count));
  if (at.d >= 0) index.push_back(at.d);
  return index;
}

std::vector<Paragraph> words(const Diagnosis& diagnosis, const FileAxes& axes, bool with_lse, Language language) {
  Page page(language);
  if (diagnosis.verdict == Verdict::right) {
    add_right(page, diagnosis, axes, with_lse);
  } else if (diagnosis.verdict == Verdict::unknown) {
    add_unknown(page, diagnosis, axes);
  } else {
    add_explained(page, diagnosis);
  }
  if (diagnosis.rows_beyond > 0) {
    page.add(diagnosis.rows_beyond == 1 ? "{} row was not judged: its products leave the type's range."
                                        : "{} rows were not judged: their products leave the type's range.",
             "有 {} 行没有判断：它们的点积超出了所用类型的范围。", grouped(diagnosis.rows_beyond));
  }
  if (diagnosis.pairs_left_out) {
    page.add(
        "Pairs with a softmax over the queries, or with weights transposed, were not all tried: they would take too "
        "long at this size.",
        "「softmax 沿查询轴」或「权重转置」与其他错误的组合没有全部试过：在这样的规模下太费时。");
  }
  return page.paragraphs();
}

}  // namespace foveate::diagnosis
