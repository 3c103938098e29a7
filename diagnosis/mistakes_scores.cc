// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Mistakes in scores and in the softmax.
#include <cmath>

#include "diagnosis/mistakes.h"

namespace foveate::diagnosis {
namespace {

double d_k_of(const Problem& p) { return static_cast<double>(p.shape().d_k); }
double d_model_of(const Problem& p) { return static_cast<double>(p.shape().h_q) * d_k_of(p); }

bool set_scale(Variant& v, double scale) {
  if (scale == v.scale) return false;
  v.scale = scale;
  return true;
}

bool set_axis(Variant& v, SoftmaxAxis axis) {
  v.axis = axis;
  return true;
}

bool set_afterwards(Variant& v, Afterwards afterwards) {
  v.afterwards = afterwards;
  return v.shifted;
}

bool has_bias(const Problem& p) { return p.options().bias.present(); }
bool has_alibi(const Problem& p) { return !p.slopes().empty(); }
bool has_sinks(const Problem& p) { return !p.sinks().empty(); }
bool has_softcap(const Problem& p) { return p.options().softcap > 0; }

std::vector<Mistake> scale_mistakes() {
  return {
      {"scale-none",
       Kind::scale,
       {"the scores were not scaled", "分数没有缩放"},
       {"Multiply q k^T by 1/sqrt(d_k), or by the scale that was meant, before the softmax.",
        "在 softmax 之前，把 q k^T 乘以 1/sqrt(d_k)（或题目要求的缩放系数）。"},
       [](Variant& v, const Problem&) { return set_scale(v, 1); }},
      {"scale-d-k",
       Kind::scale,
       {"the scores were divided by d_k in place of its square root", "分数除以了 d_k，而不是它的平方根"},
       {"Divide by sqrt(d_k).", "应除以 sqrt(d_k)。"},
       [](Variant& v, const Problem& p) { return set_scale(v, 1 / d_k_of(p)); }},
      {"scale-twice",
       Kind::scale,
       {"the scale was applied twice", "缩放做了两次"},
       {"Scale either the queries or the scores; a library call often scales already.",
        "缩放查询或缩放分数，只做一处；调用的库函数往往已经缩放过。"},
       [](Variant& v, const Problem&) { return set_scale(v, v.scale * v.scale); }},
      {"scale-root-d-model",
       Kind::scale,
       {"the scores were divided by the root of d_model = h_q * d_k in place of the root of d_k",
        "分数除以了 sqrt(d_model)（d_model = h_q * d_k），而不是 sqrt(d_k)"},
       {"The dimension that counts is a head's own: d_k.", "起作用的是单个头的维度 d_k。"},
       [](Variant& v, const Problem& p) { return p.shape().h_q > 1 && set_scale(v, 1 / std::sqrt(d_model_of(p))); }},
      {"scale-d-model",
       Kind::scale,
       {"the scores were divided by d_model = h_q * d_k", "分数除以了 d_model = h_q * d_k"},
       {"Divide by the root of a head's dimension: sqrt(d_k).", "应除以单个头的维度的平方根 sqrt(d_k)。"},
       [](Variant& v, const Problem& p) { return p.shape().h_q > 1 && set_scale(v, 1 / d_model_of(p)); }},
      {"scale-multiplied",
       Kind::scale,
       {"the scores were multiplied by sqrt(d_k) in place of divided", "分数乘以了 sqrt(d_k)，本应相除"},
       {"Divide q k^T by sqrt(d_k).", "应将 q k^T 除以 sqrt(d_k)。"},
       [](Variant& v, const Problem& p) { return set_scale(v, std::sqrt(d_k_of(p))); }},
      {"scale-default",
       Kind::scale,
       {"the default scale 1/sqrt(d_k) was used in place of the one given",
        "用了默认的 1/sqrt(d_k)，没有用给定的缩放系数"},
       {"Hand the scale on to whatever computes the scores.", "把缩放系数传给计算分数的函数。"},
       [](Variant& v, const Problem& p) { return set_scale(v, 1 / std::sqrt(d_k_of(p))); }},
  };
}

std::vector<Mistake> softmax_mistakes() {
  constexpr Text kNoShift = {"the row's maximum was not subtracted before exp, which overflows",
                             "取 exp 之前没有减去每行的最大值，于是溢出"};
  constexpr Text kShift = {"Subtract each row's largest score first: exp(s - max s). It cancels in the weights.",
                           "先减去每行的最大分数：exp(s - max s)；它在权重里会约掉。"};
  constexpr Text kTwice = {"the softmax was taken twice", "softmax 做了两次"};
  constexpr Text kOnce = {"Once is enough: does the loss, or the call, take one too?",
                          "做一次即可：检查调用的函数内部是否已经做过。"};
  constexpr Text kDivide = {"Divide each row by its sum, so that its weights sum to 1.",
                            "每行除以该行的总和，使权重之和为 1。"};
  return {
      {"softmax-over-queries",
       Kind::axis,
       {"the softmax was taken over the queries in place of the keys", "softmax 沿查询轴做了，本应沿键轴"},
       {"Take it along the last axis of the scores: dim=-1.", "沿分数的最后一个轴做：dim=-1。"},
       [](Variant& v, const Problem&) { return set_axis(v, SoftmaxAxis::queries); }},
      {"softmax-over-queries",
       Kind::axis,
       {"the softmax was taken over the queries in place of the keys", "softmax 沿查询轴做了，本应沿键轴"},
       {"Take it along the last axis of the scores: dim=-1.", "沿分数的最后一个轴做：dim=-1。"},
       [](Variant& v, const Problem& p) {
         v.padded_lines = false;
         return p.options().q_lengths.present() && set_axis(v, SoftmaxAxis::queries);
       }},
      {"softmax-over-heads",
       Kind::axis,
       {"the softmax was taken over the heads in place of the keys", "softmax 沿头轴做了，本应沿键轴"},
       {"Take it along the last axis of the scores: dim=-1.", "沿分数的最后一个轴做：dim=-1。"},
       [](Variant& v, const Problem&) { return set_axis(v, SoftmaxAxis::heads); }},
      {"softmax-over-batch",
       Kind::axis,
       {"the softmax was taken over the batch in place of the keys", "softmax 沿批次轴做了，本应沿键轴"},
       {"Take it along the last axis of the scores: dim=-1.", "沿分数的最后一个轴做：dim=-1。"},
       [](Variant& v, const Problem&) { return set_axis(v, SoftmaxAxis::batch); }},
      {"softmax-over-batch",
       Kind::axis,
       {"the softmax was taken over the batch in place of the keys", "softmax 沿批次轴做了，本应沿键轴"},
       {"Take it along the last axis of the scores: dim=-1.", "沿分数的最后一个轴做：dim=-1。"},
       [](Variant& v, const Problem& p) {
         v.padded_lines = false;
         return p.options().q_lengths.present() && set_axis(v, SoftmaxAxis::batch);
       }},
      {"softmax-none",
       Kind::axis,
       {"the softmax was left out: scores were taken for weights", "漏掉了 softmax：直接把分数当作权重"},
       {"Put the scores through a softmax over the keys before they meet the values.",
        "分数先沿键轴做 softmax，再与值相乘。"},
       [](Variant& v, const Problem&) {
         v.axis = SoftmaxAxis::none;
         return true;
       }},
      {"weights-transposed",
       Kind::axis,
       {"the weights met the values transposed: P^T v in place of P v",
        "权重与值相乘时转置了：算成了 P^T v，本应是 P v"},
       {"Row i of the weights, one for each key, gives row i of the result: weights @ v.",
        "权重的第 i 行（每个键一个权重）对应结果的第 i 行：weights @ v。"},
       [](Variant& v, const Problem& p) {
         v.afterwards = Afterwards::transposed;
         return p.shape().n_q == p.shape().n_kv && p.shape().n_q > 1 && !p.options().q_lengths.present();
       }},
      {"softmax-twice", Kind::axis, kTwice, kOnce,
       [](Variant& v, const Problem&) { return set_afterwards(v, Afterwards::softmax_of_all); }},
      {"softmax-twice", Kind::axis, kTwice, kOnce,
       [](Variant& v, const Problem&) { return set_afterwards(v, Afterwards::softmax_of_shown); }},
      {"sum-not-divided",
       Kind::axis,
       {"the weights were not divided by their sum: exp(s - max s) alone", "权重没有除以总和：只算了 exp(s - max s)"},
       kDivide,
       [](Variant& v, const Problem&) {
         v.divided = false;
         return true;
       }},
      {"base-2",
       Kind::exponent,
       {"powers of 2 were taken in place of e: 2^s for e^s", "底数用成了 2：算的是 2^s，本应是 e^s"},
       {"Take exp, or multiply the scores by log2(e) before exp2.", "应取 exp；若用 exp2，先把分数乘以 log2(e)。"},
       [](Variant& v, const Problem&) {
         v.exponent = std::log(2.0);
         return true;
       }},
      {"no-maximum-shift", Kind::shift, kNoShift, kShift,
       [](Variant& v, const Problem&) {
         v.shifted = false;
         return v.axis == SoftmaxAxis::keys;
       }},
      {"no-maximum-shift", Kind::shift, kNoShift, kShift,
       [](Variant& v, const Problem& p) {
         v.shifted = false;
         v.powers = p.precision();
         return v.axis == SoftmaxAxis::keys && size_of(v.powers) == 2;
       }},
      {"sum-not-divided-unshifted",
       Kind::axis,
       {"exp(s) was taken for the weights: neither divided by the sum nor shifted by the maximum",
        "直接拿 exp(s) 当权重：既没有减去最大值，也没有除以总和"},
       kDivide,
       [](Variant& v, const Problem&) {
         v.divided = v.shifted = false;
         return true;
       }},
  };
}

std::vector<Mistake> addend_mistakes() {
  constexpr Text kOne = {"1 was added to the sum that weights are divided by, though no sink is meant",
                         "除以的总和里多加了 1，而题目并没有 sink"};
  constexpr Text kNoOne = {"Divide by the sum of exp alone, or give --sinks (zeros) if softmax1 is meant.",
                           "只除以 exp 的总和；若要的正是 softmax1，请给出 --sinks（全为 0）。"};
  return {
      {"bias-forgotten",
       Kind::bias,
       {"the bias was left out", "漏掉了偏置"},
       {"Add it to the scaled scores, before the softmax.", "在缩放之后、softmax 之前把它加到分数上。"},
       [](Variant& v, const Problem& p) {
         v.bias.sign = 0;
         v.empty = EmptyRow::any;
         return has_bias(p);
       }},
      {"bias-subtracted",
       Kind::bias,
       {"the bias was subtracted in place of added", "偏置被减去了，本应相加"},
       {"Add it.", "应相加。"},
       [](Variant& v, const Problem& p) {
         v.bias.sign = -1;
         return has_bias(p);
       }},
      {"bias-before-scale",
       Kind::bias,
       {"the bias was added before the scores were scaled", "偏置加在了缩放之前"},
       {"Scale q k^T first, then add the bias.", "先缩放 q k^T，再加偏置。"},
       [](Variant& v, const Problem& p) {
         v.bias.before_scale = true;
         return has_bias(p);
       }},
      {"bias-transposed",
       Kind::bias,
       {"the bias was read transposed: [j, i] for [i, j]", "偏置转置了：该取 [i, j] 的地方取了 [j, i]"},
       {"Its last two axes are queries and keys, in this order.", "偏置的最后两个轴依次是查询和键。"},
       [](Variant& v, const Problem& p) {
         v.bias_entry = Entry::transposed;
         v.empty = EmptyRow::any;
         return has_bias(p) && p.shape().n_q == p.shape().n_kv;
       }},
      {"bias-of-head-0",
       Kind::bias,
       {"every head got the bias of head 0", "所有头都用了第 0 个头的偏置"},
       {"Each query head has its own: look at how the bias is broadcast.",
        "每个查询头有自己的偏置：检查偏置如何广播。"},
       [](Variant& v, const Problem& p) {
         v.bias_entry = Entry::of_head_0;
         v.empty = EmptyRow::any;
         return has_bias(p) && p.shape().h_q > 1;
       }},
      {"alibi-forgotten",
       Kind::alibi,
       {"ALiBi was left out", "漏掉了 ALiBi"},
       {"Subtract slope * |p_i - j| from each score.", "每个分数都要减去 slope * |p_i - j|。"},
       [](Variant& v, const Problem& p) {
         v.alibi.sign = 0;
         return has_alibi(p);
       }},
      {"alibi-sign",
       Kind::alibi,
       {"ALiBi has the wrong sign: distant keys gain", "ALiBi 的符号反了：越远的键分数反而越高"},
       {"Subtract slope * |p_i - j|; slopes are positive.", "应减去 slope * |p_i - j|；斜率为正。"},
       [](Variant& v, const Problem& p) {
         v.alibi.sign = -1;
         return has_alibi(p);
       }},
      {"alibi-before-scale",
       Kind::alibi,
       {"ALiBi was added before the scores were scaled", "ALiBi 加在了缩放之前"},
       {"Scale q k^T first; ALiBi's slopes are meant for scaled scores.",
        "先缩放 q k^T；ALiBi 的斜率针对缩放后的分数。"},
       [](Variant& v, const Problem& p) {
         v.alibi.before_scale = true;
         return has_alibi(p);
       }},
      {"alibi-slopes-reversed",
       Kind::alibi,
       {"ALiBi's slopes were taken in reverse order of heads", "ALiBi 的斜率在各个头上的顺序反了"},
       {"Head 0 has the first slope, which is the steepest.", "第 0 个头用第一个斜率，也就是最陡的那个。"},
       [](Variant& v, const Problem& p) {
         v.slopes_reversed = true;
         return has_alibi(p) && p.shape().h_q > 1;
       }},
      {"softcap-forgotten",
       Kind::softcap,
       {"the softcap was left out", "漏掉了软上限（softcap）"},
       {"Pass the scaled scores through softcap * tanh(s / softcap).",
        "缩放后的分数要经过 softcap * tanh(s / softcap)。"},
       [](Variant& v, const Problem& p) {
         v.softcap = SoftcapPlace::nowhere;
         return has_softcap(p);
       }},
      {"softcap-after-bias",
       Kind::softcap,
       {"the softcap was applied after the bias or ALiBi was added", "软上限做在了加偏置或 ALiBi 之后"},
       {"Cap the scaled products first, then add.", "先对缩放后的点积做软上限，再相加。"},
       [](Variant& v, const Problem& p) {
         v.softcap = SoftcapPlace::after_addends;
         return has_softcap(p) && (has_bias(p) || has_alibi(p));
       }},
      {"softcap-after-mask",
       Kind::softcap,
       {"the softcap was applied after the mask: hidden keys got the score -softcap in place of -inf",
        "软上限做在了掩码之后：被遮住的键得到 -softcap，而不是 -inf"},
       {"Cap first, mask last.", "先做软上限，最后才加掩码。"},
       [](Variant& v, const Problem& p) {
         v.softcap = SoftcapPlace::after_masks;
         return has_softcap(p);
       }},
      {"softcap-not-multiplied",
       Kind::softcap,
       {"the softcap was tanh(s / softcap), not multiplied by softcap",
        "软上限只算了 tanh(s / softcap)，没有再乘以 softcap"},
       {"softcap * tanh(s / softcap): small scores stay what they are.",
        "应为 softcap * tanh(s / softcap)：小的分数几乎不变。"},
       [](Variant& v, const Problem& p) {
         v.softcap_multiplied = false;
         return has_softcap(p) && p.options().softcap != 1;
       }},
      {"softcap-before-scale",
       Kind::softcap,
       {"the softcap was applied before the scores were scaled", "软上限做在了缩放之前"},
       {"Scale q k^T first, then cap.", "先缩放 q k^T，再做软上限。"},
       [](Variant& v, const Problem& p) {
         v.softcap = SoftcapPlace::before_scale;
         return has_softcap(p);
       }},
      {"one-added", Kind::sink, kOne, kNoOne,
       [](Variant& v, const Problem& p) {
         v.one_added = true;
         return !has_sinks(p);
       }},
      {"one-added", Kind::sink, kOne, kNoOne,
       [](Variant& v, const Problem& p) {
         v.one_added = true;
         v.sink = SinkUse::unshifted;
         return !has_sinks(p);
       }},
      {"sink-forgotten",
       Kind::sink,
       {"the sink was left out", "漏掉了 sink"},
       {"Add exp(sink) to each row's sum of exp(score).", "每行 exp(分数) 之和还要加上 exp(sink)。"},
       [](Variant& v, const Problem& p) {
         v.sink = SinkUse::forgotten;
         return has_sinks(p);
       }},
      {"sink-not-shifted",
       Kind::sink,
       {"the sink was counted without subtracting the row's maximum", "计入 sink 时没有减去该行的最大值"},
       {"Where scores are shifted by their maximum, the sink is too: exp(sink - max).",
        "分数既然减去了最大值，sink 也要减：exp(sink - max)。"},
       [](Variant& v, const Problem& p) {
         v.sink = SinkUse::unshifted;
         return has_sinks(p);
       }},
  };
}

std::vector<Mistake> lse_mistakes() {
  return {
      {"lse-base-2",
       Kind::lse,
       {"lse is the logarithm to base 2", "lse 取的是以 2 为底的对数"},
       {"Multiply it by ln 2.", "应乘以 ln 2。"},
       [](Variant& v, const Problem& p) {
         v.lse = LseKind::base_2;
         return p.has_lse();
       }},
      {"lse-without-maximum",
       Kind::lse,
       {"the maximum was not added back to lse", "lse 没有加回最大值"},
       {"lse = max + ln(sum of exp(score - max)).", "lse = max + ln(Σ exp(分数 - max))。"},
       [](Variant& v, const Problem& p) {
         v.lse = LseKind::without_maximum;
         return p.has_lse();
       }},
      {"lse-without-sink",
       Kind::lse,
       {"the sink is not counted in lse", "lse 没有计入 sink"},
       {"The sum that lse is the logarithm of holds exp(sink) too.", "lse 是总和的对数，总和里也含 exp(sink)。"},
       [](Variant& v, const Problem& p) {
         v.lse = LseKind::without_sink;
         return p.has_lse() && has_sinks(p);
       }},
      {"lse-sum",
       Kind::lse,
       {"lse holds the sum itself, not its logarithm", "lse 里存的是总和本身，不是它的对数"},
       {"Take the natural logarithm.", "应取自然对数。"},
       [](Variant& v, const Problem& p) {
         v.lse = LseKind::sum;
         return p.has_lse();
       }},
  };
}

}  // namespace

std::vector<Mistake> score_mistakes() {
  std::vector<Mistake> all = scale_mistakes();
  for (const std::vector<Mistake>& more : {softmax_mistakes(), addend_mistakes(), lse_mistakes()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace foveate::diagnosis
