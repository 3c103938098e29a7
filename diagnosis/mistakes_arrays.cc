// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Mistakes in how arrays are read, rounded and handed over; and dropout.
#include <algorithm>
#include <utility>

#include "diagnosis/mistakes.h"

namespace foveate::diagnosis {
namespace {

Layout other(Layout layout) { return layout == Layout::bhnd ? Layout::bnhd : Layout::bhnd; }

/// Reading with the other order of axes makes a difference where both h and n are more than 1.
bool misread_inputs(Variant& v, const Problem& p) {
  const Layout layout = other(p.layout());
  v.q = p.view(Source::q, layout);
  v.k = p.view(Source::k, layout);
  v.v = p.view(Source::v, layout);
  return true;
}

bool misread_out(Variant& v, const Problem& p) {
  v.out = p.view(Source::out, other(p.layout()));
  return true;
}

void exchange_axes(View& view) {
  std::swap(view.shape[1], view.shape[2]);
  std::swap(view.stride[1], view.stride[2]);
}

/// Each position attends over its heads. Arrays by head and position would not fit then.
bool exchange(Variant& v, const Problem& p) {
  const AttentionShape& s = p.shape();
  const AttentionOptions& o = p.options();
  if (s.n_kv == 0 || s.n_q % s.n_kv != 0 || o.mask.present() || o.bias.present() || o.blocks.present() ||
      o.q_lengths.present() || o.kv_lengths.present() || !p.slopes().empty() || !p.sinks().empty() ||
      v.afterwards == Afterwards::transposed) {
    return false;
  }
  for (View* view : {&v.q, &v.k, &v.v, &v.out}) exchange_axes(*view);
  v.exchanged = true;
  v.empty = EmptyRow::any;
  return true;
}

/// Not where a mistake has moved the components of one.
bool same_shape(const View& x, const View& y) {
  return std::equal(x.shape, x.shape + 4, y.shape) && x.stride[3] == y.stride[3];
}

bool set_heads(Variant& v, const Problem& p, KeyHead of_k, KeyHead of_v) {
  v.k_head = of_k;
  v.v_head = of_v;
  return p.shape().h_kv > 1 && p.shape().h_q > p.shape().h_kv;
}

bool round_inputs(Variant& v, const Problem& p, DType dtype) {
  v.rounding = dtype;
  return p.rounds_to(dtype);
}

/// Where everything is computed in a type, the inputs are rounded to it first.
bool compute_in(Variant& v, const Problem& p, DType dtype) {
  if (p.rounds_to(dtype)) v.rounding = dtype;
  v.precision = dtype;
  return p.out_could_be(dtype);
}

/// The result alone, or all but the inputs.
bool store_in(Variant& v, const Problem& p, DType dtype) {
  v.precision = dtype;
  return p.out_could_be(dtype) && p.rounds_to(dtype);
}

std::vector<Mistake> layout_mistakes() {
  constexpr Text kInterleave = {"Query head h reads key head h / (h_q / h_kv): repeat_interleave, not repeat or tile.",
                                "查询头 h 应读键头 h / (h_q / h_kv)：用 repeat_interleave，而不是 repeat 或 tile。"};
  return {
      {"layout-all",
       Kind::layout,
       {"q, k, v and out were taken for the other layout: the memory of [b, h, n, d] read as [b, n, h, d], or the "
        "reverse",
        "q、k、v 和 out 的布局弄反了：把 [b, h, n, d] 的内存当作 [b, n, h, d]，或反之"},
       {"A reshape does not move axes: transpose(1, 2). Or give --layout.",
        "reshape 不会交换轴：应使用 transpose(1, 2)；或者给出 --layout。"},
       [](Variant& v, const Problem& p) { return misread_inputs(v, p) && misread_out(v, p); }},
      {"layout-inputs",
       Kind::layout,
       {"q, k and v were taken for the other layout: a reshape in place of a transpose",
        "q、k、v 的布局弄反了：该用转置的地方用了 reshape"},
       {"To split heads, reshape to [b, n, h, d] and then transpose(1, 2).",
        "拆分多头时，先 reshape 成 [b, n, h, d]，再 transpose(1, 2)。"},
       [](Variant& v, const Problem& p) { return misread_inputs(v, p); }},
      {"layout-out",
       Kind::layout,
       {"out has the other layout: it was reshaped in place of transposed back",
        "out 的布局弄反了：没有转置回来就 reshape 了"},
       {"transpose(1, 2) before the heads are joined by a reshape.", "合并多头之前先 transpose(1, 2)，再 reshape。"},
       [](Variant& v, const Problem& p) { return misread_out(v, p); }},
      {"k-reshaped",
       Kind::layout,
       {"k was reshaped to [d, n] in place of transposed", "k 应转置成 [d, n]，却只做了 reshape"},
       {"A reshape does not move axes: transpose(-2, -1).", "reshape 不会交换轴：应使用 transpose(-2, -1)。"},
       [](Variant& v, const Problem& p) {
         // Strides tell it only where the rows of a head follow each other.
         const int64_t n = v.k.shape[2], d = v.k.shape[3];
         if (v.k.stride[2] != d && n > 1) return false;
         v.k.stride[2] = 1;
         v.k.stride[3] = n;
         return n > 1 && d > 1 && p.shape().h_q > 0;
       }},
      {"k-not-transposed",
       Kind::layout,
       {"k was not transposed: q @ k in place of q @ k^T", "k 没有转置：算成了 q @ k，本应是 q @ k^T"},
       {"Transpose the last two axes of k: q @ k.transpose(-2, -1).",
        "先转置 k 的最后两个轴：q @ k.transpose(-2, -1)。"},
       [](Variant& v, const Problem& p) {
         std::swap(v.k.stride[2], v.k.stride[3]);
         return p.shape().n_kv == p.shape().d_k && p.shape().n_kv > 1;
       }},
      {"heads-for-positions",
       Kind::layout,
       {"the axes of heads and positions were exchanged: each position attends over its heads",
        "头轴与位置轴互换了：每个位置在自己的各个头之间做注意力"},
       {"Give the function the order of axes that it expects: most want [b, h, n, d].",
        "按函数要求的轴顺序传入：多数函数要求 [b, h, n, d]。"},
       [](Variant& v, const Problem& p) { return exchange(v, p); }},
      {"heads-tiled",
       Kind::heads,
       {"key heads were repeated in the wrong order: query head h read key head h mod h_kv",
        "键的头重复的顺序错了：查询头 h 读了键头 h mod h_kv"},
       kInterleave,
       [](Variant& v, const Problem& p) { return set_heads(v, p, KeyHead::tiled, KeyHead::tiled); }},
      {"k-heads-tiled",
       Kind::heads,
       {"the heads of k alone were repeated in the wrong order: query head h read head h mod h_kv of k, and the right "
        "one "
        "of v",
        "只有 k 的头重复的顺序错了：查询头 h 读了 k 的头 h mod h_kv，而 v 的头没有错"},
       kInterleave,
       [](Variant& v, const Problem& p) { return set_heads(v, p, KeyHead::tiled, KeyHead::grouped); }},
      {"v-heads-tiled",
       Kind::heads,
       {"the heads of v alone were repeated in the wrong order: query head h read head h mod h_kv of v, and the right "
        "one "
        "of k",
        "只有 v 的头重复的顺序错了：查询头 h 读了 v 的头 h mod h_kv，而 k 的头没有错"},
       kInterleave,
       [](Variant& v, const Problem& p) { return set_heads(v, p, KeyHead::grouped, KeyHead::tiled); }},
      {"heads-first",
       Kind::heads,
       {"every query head read key head 0", "所有查询头都读了键的第 0 个头"},
       kInterleave,
       [](Variant& v, const Problem& p) {
         v.k_head = v.v_head = KeyHead::first;
         return p.shape().h_kv > 1;
       }},
      {"k-v-swapped",
       Kind::swap,
       {"k and v were swapped", "k 和 v 互换了"},
       {"Check the order of the arguments: q, k, v.", "检查参数的顺序：q、k、v。"},
       [](Variant& v, const Problem&) {
         if (!same_shape(v.k, v.v)) return false;
         std::swap(v.k, v.v);
         return true;
       }},
      {"q-k-swapped",
       Kind::swap,
       {"q and k were swapped", "q 和 k 互换了"},
       {"Check the order of the arguments: q, k, v.", "检查参数的顺序：q、k、v。"},
       [](Variant& v, const Problem&) {
         if (!same_shape(v.q, v.k)) return false;
         std::swap(v.q, v.k);
         return true;
       }},
  };
}

std::vector<Mistake> dropout_mistakes() {
  return {
      {"dropout-on",
       Kind::dropout,
       {"dropout was left on", "没有关闭 dropout"},
       {"Turn it off outside training: model.eval(), or dropout_p=0.",
        "不在训练时应关闭：model.eval()，或 dropout_p=0。"},
       nullptr},
      {"dropout-not-rescaled",
       Kind::dropout,
       {"dropout was left on, and the weights kept were not divided by 1 - P",
        "没有关闭 dropout，而且保留的权重没有除以 1 - P"},
       {"Turn it off outside training; in training divide by 1 - P.", "不在训练时应关闭；训练时要除以 1 - P。"},
       nullptr},
  };
}

std::vector<Mistake> rounding_mistakes() {
  constexpr Text kFloat16 = {"q, k and v were rounded to float16", "q、k、v 被舍入成了 float16"};
  constexpr Text kBFloat16 = {"q, k and v were rounded to bfloat16", "q、k、v 被舍入成了 bfloat16"};
  constexpr Text kFloat32 = {"q, k and v were rounded to float32", "q、k、v 被舍入成了 float32"};
  constexpr Text kInFloat32 = {"it was computed in, or rounded to, float32", "是用 float32 计算的，或舍入成了 float32"};
  constexpr Text kInFloat16 = {"it was computed in, or rounded to, float16", "是用 float16 计算的，或舍入成了 float16"};
  constexpr Text kInBFloat16 = {"it was computed in, or rounded to, bfloat16",
                                "是用 bfloat16 计算的，或舍入成了 bfloat16"};
  constexpr Text kKeep = {"Keep the type of the inputs: look for half(), autocast or astype.",
                          "保持输入的类型：检查 half()、autocast 或 astype。"};
  constexpr Text kWider = {"Compute in the type of the inputs, or compare with --dtype.",
                           "用输入的类型计算；或者用 --dtype 说明类型再比较。"};
  return {
      {"rounded-inputs-f32", Kind::rounding, kFloat32, kKeep,
       [](Variant& v, const Problem& p) { return round_inputs(v, p, DType::f32); }},
      {"rounded-inputs-f16", Kind::rounding, kFloat16, kKeep,
       [](Variant& v, const Problem& p) { return round_inputs(v, p, DType::f16); }},
      {"rounded-inputs-bf16", Kind::rounding, kBFloat16, kKeep,
       [](Variant& v, const Problem& p) { return round_inputs(v, p, DType::bf16); }},
      {"computed-in-f32", Kind::rounding, kInFloat32, kWider,
       [](Variant& v, const Problem& p) { return compute_in(v, p, DType::f32); }},
      {"computed-in-f32", Kind::rounding, kInFloat32, kWider,
       [](Variant& v, const Problem& p) { return store_in(v, p, DType::f32); }},
      {"computed-in-f16", Kind::rounding, kInFloat16, kWider,
       [](Variant& v, const Problem& p) { return compute_in(v, p, DType::f16); }},
      {"computed-in-f16", Kind::rounding, kInFloat16, kWider,
       [](Variant& v, const Problem& p) { return store_in(v, p, DType::f16); }},
      {"computed-in-bf16", Kind::rounding, kInBFloat16, kWider,
       [](Variant& v, const Problem& p) { return compute_in(v, p, DType::bf16); }},
      {"computed-in-bf16", Kind::rounding, kInBFloat16, kWider,
       [](Variant& v, const Problem& p) { return store_in(v, p, DType::bf16); }},
  };
}

}  // namespace

std::vector<Mistake> array_mistakes() {
  std::vector<Mistake> all = layout_mistakes();
  for (const std::vector<Mistake>& more : {dropout_mistakes(), rounding_mistakes()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace foveate::diagnosis
