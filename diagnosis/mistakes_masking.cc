// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Mistakes in which keys take part.
#include "diagnosis/mistakes.h"

namespace foveate::diagnosis {
namespace {

bool has_mask(const Problem& p) { return p.options().mask.present(); }
bool has_window(const Problem& p) {
  return p.options().window_left != kUnlimited || p.options().window_right != kUnlimited;
}

bool has_lengths(const Problem& p) { return p.options().q_lengths.present() || p.options().kv_lengths.present(); }

/// Whether anything depends on where a query stands among the keys, and no option says it outright.
bool counts_positions(const Problem& p) {
  return !p.options().q_offset && (p.options().causal || has_window(p) || !p.slopes().empty());
}

/// Rows may lose all their keys by a mistake, and then anything may stand there.
bool use_mask(Variant& v, const Problem& p, Use use) {
  v.mask = use;
  v.empty = EmptyRow::any;
  return has_mask(p);
}

bool use_causal(Variant& v, const Problem& p, Use use) {
  v.causal = use;
  v.empty = EmptyRow::any;
  return p.options().causal;
}

bool use_rule(Variant& v, const Problem& p, CausalRule rule) {
  v.causal_rule = rule;
  v.empty = EmptyRow::any;
  return p.options().causal;
}

/// -1 stays: there is nothing to be off by one.
bool move_left(Variant& v, int64_t by) {
  if (v.window_left == kUnlimited || v.window_left + by < 0) return false;
  v.window_left += by;
  v.empty = EmptyRow::any;
  return true;
}

bool move_right(Variant& v, int64_t by) {
  if (v.window_right == kUnlimited || v.window_right + by < 0) return false;
  v.window_right += by;
  v.empty = EmptyRow::any;
  return true;
}

std::vector<Mistake> causal_mistakes() {
  return {
      {"causal-forgotten",
       Kind::causal,
       {"the causal rule was left out: every query sees the keys after it",
        "漏掉了因果掩码：每个查询都看到了它之后的键"},
       {"Hide the keys past the query's own position before the softmax.", "在 softmax 之前遮住位置在查询之后的键。"},
       [](Variant& v, const Problem& p) { return use_causal(v, p, Use::ignored); }},
      {"causal-strict",
       Kind::causal,
       {"the causal rule is strict: a query does not see its own position", "因果掩码过严：查询看不到自己的位置"},
       {"Keep the diagonal: j <= i, not j < i (torch.triu wants diagonal=1).",
        "保留对角线：j <= i，而不是 j < i（torch.triu 应取 diagonal=1）。"},
       [](Variant& v, const Problem& p) { return use_rule(v, p, CausalRule::before_own); }},
      {"causal-reversed",
       Kind::causal,
       {"the causal rule is reversed: a query sees its own position and the keys after it",
        "因果掩码方向反了：查询只看到自己和之后的键"},
       {"Keep the lower triangle: torch.tril, not torch.triu.", "应保留下三角：用 torch.tril，而不是 torch.triu。"},
       [](Variant& v, const Problem& p) { return use_rule(v, p, CausalRule::from_own); }},
      {"causal-inverted",
       Kind::causal,
       {"the causal mask is inverted: it hides what it should keep", "因果掩码取反了：该保留的被遮住，该遮住的被保留"},
       {"Tell true = takes part from true = hidden: libraries differ.",
        "分清 true 表示参与还是表示遮住：各个库的约定不同。"},
       [](Variant& v, const Problem& p) { return use_causal(v, p, Use::inverted); }},
      {"causal-added",
       Kind::causal,
       {"the causal mask was added to the scores as 0 and 1", "因果掩码以 0 和 1 的形式加到了分数上"},
       {"Add 0 where a key takes part and -inf where it does not.", "参与的键加 0，不参与的键加 -inf。"},
       [](Variant& v, const Problem& p) { return use_causal(v, p, Use::added); }},
      {"causal-multiplied",
       Kind::causal,
       {"the scores were multiplied by the causal mask: hidden keys have score 0 and still take weight",
        "分数乘以了因果掩码：被遮住的键分数为 0，仍然占有权重"},
       {"Set hidden scores to -inf.", "把被遮住的分数设为 -inf。"},
       [](Variant& v, const Problem& p) { return use_causal(v, p, Use::multiplied); }},
      {"causal-after-softmax",
       Kind::causal,
       {"the causal mask was applied after the softmax, so weights no longer sum to 1",
        "因果掩码做在了 softmax 之后，权重之和不再为 1"},
       {"Mask before the softmax, or divide by the sum of what is left.",
        "在 softmax 之前做掩码，或除以剩余权重之和。"},
       [](Variant& v, const Problem& p) { return use_causal(v, p, Use::late); }},
  };
}

/// Where no rule of positions is meant, neither is an alignment.
bool add_causal(Variant& v, const Problem& p, bool other_alignment) {
  v.causal_meant = true;
  v.empty = EmptyRow::any;
  if (other_alignment) v.align = v.align == Align::top_left ? Align::bottom_right : Align::top_left;
  return !p.options().causal && (!other_alignment || (p.shape().n_q != p.shape().n_kv && !counts_positions(p)));
}

std::vector<Mistake> unmeant_mistakes() {
  constexpr Text kUnmeant = {"a causal mask was applied that is not meant: no query sees the keys after it",
                             "多做了因果掩码：查询看不到它之后的键，而题目并不要求"};
  constexpr Text kLeave = {"Leave it out, or give --causal if it is meant.", "去掉它；若确实需要，请给出 --causal。"};
  return {
      {"causal-unmeant", Kind::causal, kUnmeant, kLeave,
       [](Variant& v, const Problem& p) { return add_causal(v, p, false); }},
      {"causal-unmeant", Kind::causal, kUnmeant, kLeave,
       [](Variant& v, const Problem& p) { return add_causal(v, p, true); }},
  };
}

std::vector<Mistake> position_mistakes() {
  constexpr Text kOther = {
      "positions were counted from the other end: top-left in place of bottom-right, or the reverse",
      "位置对齐弄反了：左上角对齐与右下角对齐用混了"};
  constexpr Text kSay = {
      "With n_q and n_kv unequal, the last query sees the last key (bottom-right) or the first sees the first alone "
      "(top-left, as in PyTorch's is_causal): see --align.",
      "n_q 与 n_kv 不等时，要么最后一个查询看到最后一个键（右下角对齐），要么第一个查询只看到第一个键（左上角对齐，"
      "PyTorch 的 is_causal 如此）：见 --align。"};
  return {
      {"alignment-other", Kind::alignment, kOther, kSay,
       [](Variant& v, const Problem& p) {
         v.align = v.align == Align::top_left ? Align::bottom_right : Align::top_left;
         v.empty = EmptyRow::any;
         return counts_positions(p);
       }},
      {"alignment-other", Kind::alignment, kOther, kSay,
       [](Variant& v, const Problem& p) {
         if (v.align == Align::bottom_right) return false;
         v.align = Align::bottom_right;
         v.positions_by_lengths = false;
         v.empty = EmptyRow::any;
         return counts_positions(p) && has_lengths(p);
       }},
      {"positions-by-padding",
       Kind::alignment,
       {"positions were counted by the padded sizes, not by each sequence's lengths",
        "位置按填充后的大小计算了，没有按各序列自己的长度"},
       {"The last query of a sequence stands at its last key: p_i = i + kv_length - q_length.",
        "序列的最后一个查询对应它的最后一个键：p_i = i + kv_length - q_length。"},
       [](Variant& v, const Problem& p) {
         v.positions_by_lengths = false;
         v.empty = EmptyRow::any;
         return counts_positions(p) && has_lengths(p) && v.align == Align::bottom_right;
       }},
  };
}

std::vector<Mistake> window_mistakes() {
  return {
      {"window-forgotten",
       Kind::window,
       {"the window was left out", "漏掉了滑动窗口"},
       {"Only keys from p_i - L to p_i + R take part.", "只有 p_i - L 到 p_i + R 的键参与。"},
       [](Variant& v, const Problem& p) {
         v.window_left = v.window_right = kUnlimited;
         return has_window(p);
       }},
      {"window-left-forgotten",
       Kind::window,
       {"the left side of the window was left out", "漏掉了滑动窗口的左侧"},
       {"Keys before p_i - L take no part either.", "p_i - L 之前的键也不参与。"},
       [](Variant& v, const Problem& p) {
         const bool right_counts = p.options().window_right != kUnlimited && !p.options().causal;
         const bool given = v.window_left != kUnlimited;
         v.window_left = kUnlimited;
         return given && right_counts;
       }},
      {"window-right-forgotten",
       Kind::window,
       {"the right side of the window was left out", "漏掉了滑动窗口的右侧"},
       {"Keys after p_i + R take no part either.", "p_i + R 之后的键也不参与。"},
       [](Variant& v, const Problem& p) {
         const bool given = v.window_right != kUnlimited;
         v.window_right = kUnlimited;
         return given && p.options().window_left != kUnlimited;
       }},
      {"window-left-short",
       Kind::window,
       {"the window is one key short on the left", "窗口左侧少了一个键"},
       {"Both sides are inclusive: p_i - L takes part.", "两侧都含端点：p_i - L 也参与。"},
       [](Variant& v, const Problem&) { return move_left(v, -1); }},
      {"window-left-long",
       Kind::window,
       {"the window is one key too long on the left", "窗口左侧多了一个键"},
       {"p_i - L is the first key that takes part.", "第一个参与的键是 p_i - L。"},
       [](Variant& v, const Problem&) { return move_left(v, 1); }},
      {"window-right-short",
       Kind::window,
       {"the window is one key short on the right", "窗口右侧少了一个键"},
       {"Both sides are inclusive: p_i + R takes part.", "两侧都含端点：p_i + R 也参与。"},
       [](Variant& v, const Problem&) { return move_right(v, -1); }},
      {"window-right-long",
       Kind::window,
       {"the window is one key too long on the right", "窗口右侧多了一个键"},
       {"p_i + R is the last key that takes part.", "最后一个参与的键是 p_i + R。"},
       [](Variant& v, const Problem&) { return move_right(v, 1); }},
  };
}

std::vector<Mistake> mask_mistakes() {
  return {
      {"mask-forgotten",
       Kind::mask,
       {"the mask was left out", "漏掉了掩码"},
       {"Give hidden keys the score -inf before the softmax.", "在 softmax 之前把被遮住的键的分数设为 -inf。"},
       [](Variant& v, const Problem& p) { return use_mask(v, p, Use::ignored); }},
      {"mask-inverted",
       Kind::mask,
       {"the mask is inverted: it hides what it should keep", "掩码取反了：该保留的被遮住，该遮住的被保留"},
       {"Tell true = takes part (here, and scaled_dot_product_attention) from true = hidden (nn.MultiheadAttention).",
        "分清 true 表示参与（这里与 scaled_dot_product_attention）还是表示遮住（nn.MultiheadAttention）。"},
       [](Variant& v, const Problem& p) { return use_mask(v, p, Use::inverted); }},
      {"mask-added",
       Kind::mask,
       {"the mask was added to the scores as 0 and 1", "掩码以 0 和 1 的形式加到了分数上"},
       {"Add 0 where a key takes part and -inf where it does not.", "参与的键加 0，不参与的键加 -inf。"},
       [](Variant& v, const Problem& p) { return use_mask(v, p, Use::added); }},
      {"mask-multiplied",
       Kind::mask,
       {"the scores were multiplied by the mask: hidden keys have score 0 and still take weight",
        "分数乘以了掩码：被遮住的键分数为 0，仍然占有权重"},
       {"Set hidden scores to -inf.", "把被遮住的分数设为 -inf。"},
       [](Variant& v, const Problem& p) { return use_mask(v, p, Use::multiplied); }},
      {"mask-after-softmax",
       Kind::mask,
       {"the mask was applied after the softmax, so weights no longer sum to 1",
        "掩码做在了 softmax 之后，权重之和不再为 1"},
       {"Mask before the softmax, or divide by the sum of what is left.",
        "在 softmax 之前做掩码，或除以剩余权重之和。"},
       [](Variant& v, const Problem& p) { return use_mask(v, p, Use::late); }},
      {"mask-transposed",
       Kind::mask,
       {"the mask was read transposed: [j, i] for [i, j]", "掩码转置了：该取 [i, j] 的地方取了 [j, i]"},
       {"Its last two axes are queries and keys, in this order.", "掩码的最后两个轴依次是查询和键。"},
       [](Variant& v, const Problem& p) {
         v.mask_entry = Entry::transposed;
         v.empty = EmptyRow::any;
         return has_mask(p) && p.shape().n_q == p.shape().n_kv;
       }},
      {"mask-or-causal",
       Kind::mask,
       {"the mask and the causal rule were joined by or: a key takes part that either of them allows",
        "掩码与因果掩码用「或」合并了：只要其中之一允许，键就参与"},
       {"Join them by and: a key takes part that both allow.", "应当用「与」合并：两者都允许的键才参与。"},
       [](Variant& v, const Problem& p) {
         v.mask_or_causal = true;
         v.empty = EmptyRow::any;
         return has_mask(p) && v.causal_meant && v.causal == Use::hides;
       }},
      {"blocks-forgotten",
       Kind::blocks,
       {"the bitmap of blocks was left out", "漏掉了块位图"},
       {"Only pairs in blocks that are kept take part.", "只有保留的块里的查询和键才参与。"},
       [](Variant& v, const Problem& p) {
         v.blocks = false;
         v.empty = EmptyRow::any;
         return p.options().blocks.present();
       }},
  };
}

/// `positions_too`: those that are counted by the length of keys, where anything depends on them.
bool move_length(Variant& v, const Problem& p, int64_t by, bool positions_too) {
  v.kv_length_off = by;
  v.position_off = positions_too;
  v.empty = EmptyRow::any;
  if (positions_too && (!counts_positions(p) || v.align == Align::top_left)) return false;
  return p.options().kv_lengths.present();
}

std::vector<Mistake> length_mistakes() {
  constexpr Text kPadding = {"lengths of keys were ignored: padding was attended to",
                             "忽略了键的长度：填充位也参与了注意力"};
  constexpr Text kLong = {"lengths of keys are one too long", "键的长度多了一个"};
  constexpr Text kShort = {"lengths of keys are one too short", "键的长度少了一个"};
  constexpr Text kLength = {"Keys 0 to length - 1 take part: j < length.", "参与的键是 0 到 length - 1：j < length。"};
  constexpr Text kHide = {"Hide the keys at and past each sequence's length.", "遮住每个序列长度之外的键。"};
  return {
      {"kv-lengths-ignored", Kind::lengths, kPadding, kHide,
       [](Variant& v, const Problem& p) {
         v.kv_lengths = false;
         v.empty = EmptyRow::any;
         return p.options().kv_lengths.present();
       }},
      {"kv-lengths-ignored", Kind::lengths, kPadding, kHide,
       [](Variant& v, const Problem& p) {
         v.kv_lengths = v.positions_by_lengths = false;
         v.empty = EmptyRow::any;
         return p.options().kv_lengths.present() && counts_positions(p);
       }},
      {"kv-lengths-long", Kind::lengths, kLong, kLength,
       [](Variant& v, const Problem& p) { return move_length(v, p, 1, false); }},
      {"kv-lengths-long", Kind::lengths, kLong, kLength,
       [](Variant& v, const Problem& p) { return move_length(v, p, 1, true); }},
      {"kv-lengths-short", Kind::lengths, kShort, kLength,
       [](Variant& v, const Problem& p) { return move_length(v, p, -1, false); }},
      {"kv-lengths-short", Kind::lengths, kShort, kLength,
       [](Variant& v, const Problem& p) { return move_length(v, p, -1, true); }},
      {"q-lengths-ignored",
       Kind::lengths,
       {"lengths of queries were ignored: rows past them are not 0", "忽略了查询的长度：长度之外的行不是 0"},
       {"Set the rows at and past each sequence's length to 0.", "把每个序列长度之外的行设为 0。"},
       [](Variant& v, const Problem& p) {
         v.q_lengths = false;
         return p.options().q_lengths.present();
       }},
      {"empty-row-nan",
       Kind::empty,
       {"rows that no key takes part in are NaN in place of 0", "没有键参与的行是 NaN，应为 0"},
       {"Their sum is 0: divide only where it is not, and write 0.", "这些行的和为 0：不要相除，直接写 0。"},
       [](Variant& v, const Problem&) {
         v.empty = EmptyRow::nan;
         return true;
       }},
      {"empty-row-mean",
       Kind::empty,
       {"rows that no key takes part in are the mean of all values in place of 0: -1e9 or the like stood for -inf",
        "没有键参与的行成了所有值的平均，应为 0：用了 -1e9 之类的数代替 -inf"},
       {"Hide keys with -inf, and write 0 where nothing is left.", "用 -inf 遮住键；一个键也不剩的行写 0。"},
       [](Variant& v, const Problem&) {
         v.empty = EmptyRow::mean;
         return true;
       }},
  };
}

}  // namespace

std::vector<Mistake> masking_mistakes() {
  std::vector<Mistake> all = causal_mistakes();
  for (const std::vector<Mistake>& more :
       {unmeant_mistakes(), position_mistakes(), window_mistakes(), mask_mistakes(), length_mistakes()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace foveate::diagnosis
