// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "validate.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdint>

#include "check.h"
#include "kernels/tile.h"
#include "sequences.h"
#include "vector_at.h"

namespace foveate {
namespace {

constexpr int64_t kMostWorkers = int64_t{1} << 16;

/// Keys or values beside the queries: float64 goes with itself alone, all others and int8 with each other.
Status check_stored(const char* name, const ConstTensor& stored, const ConstTensor& q) {
  const bool is_float = stored.dtype == DType::f32 || stored.dtype == DType::f64 || stored.dtype == DType::f16 ||
                        stored.dtype == DType::bf16;
  if (is_float || !kernels::kNarrowTypes || stored.dtype == DType::none) {
    FOVEATE_RETURN_IF_ERROR(check_float(name, stored.dtype));
  } else if (stored.dtype != DType::i8) {
    return Status::error(kInvalid, "%s: dtype %s; expected a float type, or int8 with scales", name,
                         name_of(stored.dtype));
  }
  if (stored.dtype != q.dtype && (stored.dtype == DType::f64 || q.dtype == DType::f64))
    return Status::error(kInvalid, "%s: %s does not equal q's %s", name, name_of(stored.dtype), name_of(q.dtype));
  return check_view(name, stored);
}

/// Starts of packed sequences: n + 1 of them, from 0 to `total`, never descending. Gives the greatest length.
Status check_starts(const char* name, const ConstVector& starts, int64_t total, const char* whose, int64_t* longest) {
  FOVEATE_RETURN_IF_ERROR(check_integer(name, starts.dtype));
  if (starts.size < 1) return Status::error(kInvalid, "%s: empty; expected b + 1 entries", name);
  FOVEATE_RETURN_IF_ERROR(check_vector(name, starts, "b + 1", starts.size));
  if (integer_at(starts, 0) != 0)
    return Status::error(kInvalid, "%s: entry 0 is %" PRId64 "; expected 0", name, integer_at(starts, 0));
  for (int64_t i = 1; i < starts.size; ++i) {
    const int64_t before = integer_at(starts, i - 1), start = integer_at(starts, i);
    if (start < before || start > total) {
      return Status::error(kInvalid, "%s: entry %" PRId64 " is %" PRId64 "; expected %" PRId64 " to %s = %" PRId64,
                           name, i, start, before, whose, total);
    }
    *longest = std::max(*longest, start - before);
  }
  if (integer_at(starts, starts.size - 1) != total) {
    return Status::error(kInvalid, "%s: the last entry is %" PRId64 "; expected %s = %" PRId64, name,
                         integer_at(starts, starts.size - 1), whose, total);
  }
  return {};
}

/// The batch axis of packed arrays holds one.
Status check_packed(const char* name, const ConstTensor& view, const char* starts) {
  if (view.shape[0] == 1) return {};
  return Status::error(kInvalid, "%s: batch %" PRId64 "; expected 1, as %s packs its sequences behind each other", name,
                       view.shape[0], starts);
}

/// How many sequences there are and how many rows the longest has, where the axes do not say it themselves.
Status check_batch(const Inputs& a, Extents* e) {
  const AttentionOptions& o = a.options;
  const ConstTensor &q = a.q, &k = a.k;
  if (o.q_starts.present()) {
    FOVEATE_RETURN_IF_ERROR(check_packed("q", q, "q_starts"));
    e->n_q = 0;
    FOVEATE_RETURN_IF_ERROR(check_starts("q_starts", o.q_starts, q.shape[2], "q's rows (axis 2)", &e->n_q));
    e->b = o.q_starts.size - 1;
    FOVEATE_RETURN_IF_ERROR(check_extents("q_starts", {e->b, q.shape[1], e->n_q, std::max(e->d_k, e->d_v)}));
  }
  if (o.block_table.present()) return {};
  if (o.kv_starts.present()) {
    FOVEATE_RETURN_IF_ERROR(check_packed("k", k, "kv_starts"));
    e->n_kv = 0;
    FOVEATE_RETURN_IF_ERROR(check_starts("kv_starts", o.kv_starts, k.shape[2], "k's rows (axis 2)", &e->n_kv));
    if (o.kv_starts.size - 1 != e->b) {
      return Status::error(kInvalid, "kv_starts: %" PRId64 " entries; expected b + 1 = %" PRId64, o.kv_starts.size,
                           e->b + 1);
    }
  } else if (k.shape[0] != e->b) {
    return Status::error(kInvalid, "k: batch %" PRId64 " does not equal q's %" PRId64, k.shape[0], e->b);
  }
  return {};
}

/// q, k and v against each other.
Status check_tensors(const Inputs& a, Extents* e) {
  const ConstTensor &q = a.q, &k = a.k, &v = a.v;
  FOVEATE_RETURN_IF_ERROR(check_float("q", q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("q", q));
  FOVEATE_RETURN_IF_ERROR(check_stored("k", k, q));
  FOVEATE_RETURN_IF_ERROR(check_stored("v", v, q));

  *e = {q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3]};
  FOVEATE_RETURN_IF_ERROR(check_batch(a, e));
  if (v.shape[0] != k.shape[0])
    return Status::error(kInvalid, "v: batch %" PRId64 " does not equal k's %" PRId64, v.shape[0], k.shape[0]);
  if (v.shape[1] != e->h_kv)
    return Status::error(kInvalid, "v: %" PRId64 " heads do not equal k's %" PRId64, v.shape[1], e->h_kv);
  if (v.shape[2] != k.shape[2])
    return Status::error(kInvalid, "v: %" PRId64 " keys do not equal k's %" PRId64, v.shape[2], k.shape[2]);
  if (e->d_k == 0) return Status::error(kInvalid, "q: head dim is 0; expected at least 1");
  if (k.shape[3] != e->d_k)
    return Status::error(kInvalid, "k: head dim %" PRId64 " does not equal q's %" PRId64, k.shape[3], e->d_k);
  FOVEATE_RETURN_IF_ERROR(check_head_dim("q", e->d_k));
  FOVEATE_RETURN_IF_ERROR(check_head_dim("v", e->d_v));
  return {};
}

/// Scales of int8 keys or values, and of no others.
Status check_scales(const char* name, const ConstTensor& scales, const char* whose, const ConstTensor& stored,
                    bool channels, bool paged) {
  if (stored.dtype != DType::i8) {
    if (!scales.present()) return {};
    return Status::error(kInvalid, "%s: given, but %s is %s; scales go with int8 alone", name, whose,
                         name_of(stored.dtype));
  }
  if (scales.dtype != DType::f32) {
    return Status::error(kInvalid, "%s: %s; int8 wants float32 scales, one a row or fewer", name,
                         scales.present() ? name_of(scales.dtype) : "missing");
  }
  const int64_t(&n)[4] = stored.shape;
  if (channels && scales.shape[3] != 1) {
    if (paged && scales.shape[0] != 1) {
      return Status::error(kInvalid, "%s: scales of channels for each of %" PRId64 " pages; expected the same for all",
                           name, scales.shape[0]);
    }
    return check_broadcast(name, scales, "k's channels", {n[0], n[1], 1, n[3]});
  }
  return check_broadcast(name, scales, channels ? "k's rows" : "v's rows", {n[0], n[1], n[2], 1});
}

/// The pages that each sequence's keys lie in.
Status check_block_table(const Inputs& a, Extents* e) {
  const AttentionOptions& o = a.options;
  const ConstMatrix& table = o.block_table;
  if (!table.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_integer("block_table", table.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("block_table", as_tensor(table)));
  if (o.kv_starts.present())
    return Status::error(kInvalid, "kv_starts: given beside block_table; keys are packed or in pages, not both");
  if (!o.kv_lengths.present())
    return Status::error(kInvalid, "kv_lengths: missing; block_table wants the length of each sequence");
  if (table.shape[0] != e->b) {
    return Status::error(kInvalid, "block_table: %" PRId64 " rows; expected b = %" PRId64, table.shape[0], e->b);
  }
  const int64_t page_size = a.k.shape[2];
  if (page_size > 0 && table.shape[1] > kLargest / page_size)
    return Status::error(kInvalid, "block_table: more than 2^60 keys to a sequence");
  e->n_kv = table.shape[1] * page_size;
  return {};
}

/// Every entry that a length reaches names a page that is there.
Status check_pages(const Inputs& a, const Extents& e) {
  const ConstMatrix& table = a.options.block_table;
  if (!table.present() || table.shape[1] == 0 || a.k.shape[2] == 0) return {};
  for (int64_t b = 0; b < e.b; ++b) {
    const ConstVector row = {static_cast<const char*>(table.data) + b * table.stride[0] * size_of(table.dtype),
                             table.dtype, table.shape[1], table.stride[1]};
    const int64_t pages = (integer_at(a.options.kv_lengths, b) + a.k.shape[2] - 1) / a.k.shape[2];
    for (int64_t i = 0; i < pages; ++i) {
      const int64_t page = integer_at(row, i);
      if (page >= 0 && page < a.k.shape[0]) continue;
      return Status::error(
          kInvalid, "block_table: entry [%" PRId64 ", %" PRId64 "] is %" PRId64 "; expected a page, 0 to %" PRId64, b,
          i, page, a.k.shape[0] - 1);
    }
  }
  return {};
}

constexpr const char* kScores = "[b, h_q, n_q, n_kv]";

Status check_mask(const ConstTensor& mask, const Extents& e) {
  if (!mask.present()) return {};
  if (mask.dtype != DType::boolean) {
    return Status::error(
        kInvalid, "mask: dtype %s is not bool; convert it by astype(bool) (true = takes part), or pass it as bias",
        name_of(mask.dtype));
  }
  return check_broadcast("mask", mask, kScores, {e.b, e.h_q, e.n_q, e.n_kv});
}

/// A bitmap over blocks of all rows and keys there are.
Status check_blocks(const AttentionOptions& o, const Extents& e) {
  if (!o.blocks.present()) {
    if (o.block_size == 0) return {};
    return Status::error(kInvalid, "blocks: missing; block_size is %" PRId64, o.block_size);
  }
  if (!kernels::kRivals) return Status::error(kInvalid, "blocks: not in this build");
  if (o.blocks.dtype != DType::boolean) {
    return Status::error(kInvalid,
                         "blocks: dtype %s is not bool; convert it by astype(bool) (true = the block is kept)",
                         name_of(o.blocks.dtype));
  }
  if (o.block_size < 1 || o.block_size > kLargest) {
    return Status::error(kInvalid, "block_size: %" PRId64 "; expected how many rows and keys a block has, 1 to 2^60",
                         o.block_size);
  }
  const auto blocks_of = [&](int64_t n) { return (n + o.block_size - 1) / o.block_size; };
  return check_broadcast("blocks", o.blocks, "[b, h_q, ceil(n_q / block_size), ceil(n_kv / block_size)]",
                         {e.b, e.h_q, blocks_of(e.n_q), blocks_of(e.n_kv)});
}

Status check_bias(const ConstTensor& bias, const Extents& e) {
  if (!bias.present()) return {};
  if (bias.dtype == DType::boolean)
    return Status::error(kInvalid, "bias: dtype bool is not a float type; pass it as mask");
  FOVEATE_RETURN_IF_ERROR(check_float("bias", bias.dtype));
  return check_broadcast("bias", bias, kScores, {e.b, e.h_q, e.n_q, e.n_kv});
}

Status check_slopes(const ConstVector& slopes, const Extents& e) {
  if (!slopes.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_float("alibi_slopes", slopes.dtype));
  FOVEATE_RETURN_IF_ERROR(check_vector("alibi_slopes", slopes, "h_q", e.h_q));
  for (int64_t h = 0; h < slopes.size; ++h) {
    if (!std::isfinite(float_at(slopes, h))) {
      return Status::error(kInvalid, "alibi_slopes: the slope of head %" PRId64 " is %g; expected a finite number", h,
                           float_at(slopes, h));
    }
  }
  return {};
}

Status check_sinks(const ConstVector& sinks, const Extents& e) {
  if (!sinks.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_float("sinks", sinks.dtype));
  return check_vector("sinks", sinks, "h_q", e.h_q);
}

/// Each length against what there is room for.
Status check_length_values(const AttentionOptions& o, const Extents& e) {
  const auto check = [](const char* name, const ConstVector& lengths, const ConstVector& starts, const char* axis,
                        int64_t extent) -> Status {
    for (int64_t i = 0; lengths.present() && i < lengths.size; ++i) {
      const int64_t room = starts.present() ? integer_at(starts, i + 1) - integer_at(starts, i) : extent;
      const int64_t length = integer_at(lengths, i);
      if (length >= 0 && length <= room) continue;
      return Status::error(kInvalid, "%s: entry %" PRId64 " is %" PRId64 "; expected 0 to %s = %" PRId64, name, i,
                           length, starts.present() ? "the rows of its sequence" : axis, room);
    }
    return {};
  };
  FOVEATE_RETURN_IF_ERROR(check("q_lengths", o.q_lengths, o.q_starts, "n_q", e.n_q));
  return check("kv_lengths", o.kv_lengths, o.kv_starts, "n_kv", e.n_kv);
}

/// A tree over tokens that every sequence has.
Status check_tree(const AttentionOptions& o, const Extents& e) {
  if (!o.tree_mask.present()) {
    if (o.tree_tokens == 0) return {};
    return Status::error(kInvalid, "tree_mask: missing; tree_tokens is %" PRId64, o.tree_tokens);
  }
  if (o.tree_mask.dtype != DType::i64)
    return Status::error(kInvalid, "tree_mask: dtype %s; expected int64, 64 bits a word", name_of(o.tree_mask.dtype));
  if (o.tree_tokens < 0 || o.tree_tokens > e.n_kv) {
    return Status::error(kInvalid, "tree_tokens: %" PRId64 "; expected 0 to n_kv = %" PRId64, o.tree_tokens, e.n_kv);
  }
  const Sequences sequences(o, e);
  for (int64_t b = 0; b < e.b; ++b) {
    if (sequences.kv_length(b) >= o.tree_tokens) continue;
    return Status::error(kInvalid, "tree_tokens: %" PRId64 "; sequence %" PRId64 " has %" PRId64 " keys", o.tree_tokens,
                         b, sequences.kv_length(b));
  }
  const int64_t words = (o.tree_tokens + 63) / 64;
  if (o.tree_mask.shape[3] != words) {
    return Status::error(kInvalid, "tree_mask: %" PRId64 " words a row; expected ceil(tree_tokens / 64) = %" PRId64,
                         o.tree_mask.shape[3], words);
  }
  return check_broadcast("tree_mask", o.tree_mask, "[b, h_q, n_q, words]", {e.b, e.h_q, e.n_q, words});
}

Status check_window(const char* name, int64_t side) {
  if (side < kUnlimited)
    return Status::error(kInvalid, "%s: %" PRId64 " is below -1; expected a width, or -1 for no bound", name, side);
  return {};
}

Status check_dropout(double p) {
  if (p >= 0 && p < 1) return {};
  return Status::error(kInvalid, "dropout: %g; expected a probability, at least 0 and below 1", p);
}

Status check_options(const AttentionOptions& o, const Extents& e) {
  if (o.scale && !std::isfinite(*o.scale)) {
    return Status::error(kInvalid, "scale: %g is not finite; leave it out for the default", *o.scale);
  }
  if (!(o.softcap >= 0) || !std::isfinite(o.softcap)) {
    return Status::error(kInvalid, "softcap: %g; expected a finite number above 0, or 0 for none", o.softcap);
  }
  FOVEATE_RETURN_IF_ERROR(check_dropout(o.dropout));
  FOVEATE_RETURN_IF_ERROR(check_window("window_left", o.window_left));
  FOVEATE_RETURN_IF_ERROR(check_window("window_right", o.window_right));
  FOVEATE_RETURN_IF_ERROR(check_mask(o.mask, e));
  FOVEATE_RETURN_IF_ERROR(check_bias(o.bias, e));
  FOVEATE_RETURN_IF_ERROR(check_blocks(o, e));
  FOVEATE_RETURN_IF_ERROR(check_slopes(o.alibi_slopes, e));
  FOVEATE_RETURN_IF_ERROR(check_sinks(o.sinks, e));
  FOVEATE_RETURN_IF_ERROR(check_lengths("q_lengths", o.q_lengths, e.b));
  FOVEATE_RETURN_IF_ERROR(check_lengths("kv_lengths", o.kv_lengths, e.b));
  FOVEATE_RETURN_IF_ERROR(check_length_values(o, e));
  FOVEATE_RETURN_IF_ERROR(check_tree(o, e));
  FOVEATE_RETURN_IF_ERROR(check_offset("q_offset", o.q_offset));
  return check_offset("kv_offset", o.kv_offset);
}

}  // namespace

Status check_heads(const Extents& e) {
  if (e.h_kv == 0 && e.h_q > 0)
    return Status::error(kInvalid, "k: 0 heads for q's %" PRId64 "; expected at least 1", e.h_q);
  if (e.h_kv > 0 && e.h_q % e.h_kv != 0) {
    return Status::error(kInvalid, "q: %" PRId64 " heads are not a multiple of k's %" PRId64, e.h_q, e.h_kv);
  }
  return {};
}

Status check_lengths(const char* name, const ConstVector& lengths, int64_t b) {
  if (!lengths.present()) return {};
  FOVEATE_RETURN_IF_ERROR(check_integer(name, lengths.dtype));
  return check_vector(name, lengths, "b", b);
}

Status check_offset(const char* name, const std::optional<int64_t>& offset) {
  if (offset && (*offset > kLargest || *offset < -kLargest))
    return Status::error(kInvalid, "%s: %" PRId64 " is past 2^60", name, *offset);
  return {};
}

Status check_inputs(const Inputs& a, Extents* extents) {
  FOVEATE_RETURN_IF_ERROR(check_tensors(a, extents));
  FOVEATE_RETURN_IF_ERROR(check_block_table(a, extents));
  FOVEATE_RETURN_IF_ERROR(check_heads(*extents));
  const bool paged = a.options.block_table.present();
  FOVEATE_RETURN_IF_ERROR(check_scales("k_scales", a.options.k_scales, "k", a.k, true, paged));
  FOVEATE_RETURN_IF_ERROR(check_scales("v_scales", a.options.v_scales, "v", a.v, false, paged));
  FOVEATE_RETURN_IF_ERROR(check_options(a.options, *extents));
  return check_pages(a, *extents);
}

Status check_aliasing(const Named* outputs, size_t n_outputs, const Inputs& a) {
  const AttentionOptions& o = a.options;
  const Named inputs[] = {{"q", a.q},
                          {"k", a.k},
                          {"v", a.v},
                          {"mask", o.mask},
                          {"bias", o.bias},
                          {"blocks", o.blocks},
                          {"k_scales", o.k_scales},
                          {"v_scales", o.v_scales},
                          {"tree_mask", o.tree_mask},
                          {"block_table", as_tensor(o.block_table)},
                          {"q_starts", as_tensor(o.q_starts)},
                          {"kv_starts", as_tensor(o.kv_starts)},
                          {"alibi_slopes", as_tensor(o.alibi_slopes)},
                          {"sinks", as_tensor(o.sinks)},
                          {"q_lengths", as_tensor(o.q_lengths)},
                          {"kv_lengths", as_tensor(o.kv_lengths)}};
  return check_aliasing(outputs, n_outputs, inputs, sizeof(inputs) / sizeof(inputs[0]));
}

Status validate(const Arguments& a, Extents* extents) {
  FOVEATE_RETURN_IF_ERROR(check_inputs(a, extents));
  const Extents& e = *extents;
  const AttentionOutputs& out = a.outputs;
  if (!out.o.present() && !out.lse.present() && !out.weights.present()) {
    return Status::error(kInvalid, "outputs: none given; expected o, lse or weights");
  }
  const int64_t b = a.q.shape[0], rows = a.q.shape[2];  // one batch of all rows, where they are packed
  FOVEATE_RETURN_IF_ERROR(check_output("o", out.o, {b, e.h_q, rows, e.d_v}, "q", a.q.dtype));
  FOVEATE_RETURN_IF_ERROR(check_output("lse", out.lse, {b, e.h_q, rows, 1}, "q", computing(a.q.dtype)));
  FOVEATE_RETURN_IF_ERROR(check_output("weights", out.weights, {e.b, e.h_q, e.n_q, e.n_kv}, "q", a.q.dtype));
  const Named outputs[] = {{"o", out.o}, {"lse", out.lse}, {"weights", out.weights}};
  return check_aliasing(outputs, a);
}

Status validate(const State& a, const State& b, const Tensor& o, const Tensor& lse) {
  FOVEATE_RETURN_IF_ERROR(check_float("a.o", a.o.dtype));
  FOVEATE_RETURN_IF_ERROR(check_view("a.o", a.o));
  const int64_t *n = a.o.shape, rows[4] = {n[0], n[1], n[2], 1}, whole[4] = {n[0], n[1], n[2], n[3]};
  const Named inputs[] = {{"a.o", a.o}, {"a.lse", a.lse}, {"b.o", b.o}, {"b.lse", b.lse}};
  for (const Named& input : inputs) {
    const bool is_lse = input.name[2] == 'l';
    FOVEATE_RETURN_IF_ERROR(
        check_like(input.name, input.view, is_lse ? rows : whole, "a.o", is_lse ? computing(a.o.dtype) : a.o.dtype));
  }
  if (!o.present() && !lse.present()) return Status::error(kInvalid, "outputs: none given; expected o or lse");
  const Named outputs[] = {{"o", o}, {"lse", lse}};
  FOVEATE_RETURN_IF_ERROR(check_output("o", o, whole, "a.o", a.o.dtype));
  FOVEATE_RETURN_IF_ERROR(check_output("lse", lse, rows, "a.o", computing(a.o.dtype)));
  return check_aliasing(outputs, inputs);
}

Status validate(const Tensor& keep, const AttentionOptions& o) {
  if (keep.dtype != DType::boolean) {
    return Status::error(kInvalid, "keep: dtype %s; expected a bool array [b, h_q, n_q, n_kv]", name_of(keep.dtype));
  }
  FOVEATE_RETURN_IF_ERROR(check_output("keep", keep, keep.shape, "keep", DType::boolean));
  FOVEATE_RETURN_IF_ERROR(check_dropout(o.dropout));
  FOVEATE_RETURN_IF_ERROR(check_lengths("q_lengths", o.q_lengths, keep.shape[0]));
  FOVEATE_RETURN_IF_ERROR(check_lengths("kv_lengths", o.kv_lengths, keep.shape[0]));
  const AttentionOptions padded{.q_lengths = o.q_lengths, .kv_lengths = o.kv_lengths};  // starts have no say here
  const Extents extents{keep.shape[0], keep.shape[1], keep.shape[1], keep.shape[2], keep.shape[3], 0, 0};
  FOVEATE_RETURN_IF_ERROR(check_length_values(padded, extents));
  FOVEATE_RETURN_IF_ERROR(check_offset("q_offset", o.q_offset));
  FOVEATE_RETURN_IF_ERROR(check_offset("kv_offset", o.kv_offset));
  const Named outputs[] = {{"keep", keep}};
  const Named inputs[] = {{"q_lengths", as_tensor(o.q_lengths)}, {"kv_lengths", as_tensor(o.kv_lengths)}};
  return check_aliasing(outputs, inputs);
}

Status validate_workers(const char* name, int64_t workers) {
  if (workers < 1 || workers > kMostWorkers) {
    return Status::error(kInvalid, "%s: %" PRId64 " workers; expected 1 to %" PRId64, name, workers, kMostWorkers);
  }
  return {};
}

Status validate(const AttentionShape& s, Extents* extents) {
  FOVEATE_RETURN_IF_ERROR(check_float("dtype", s.dtype));
  FOVEATE_RETURN_IF_ERROR(check_extents("q", {s.b, s.h_q, s.n_q, s.d_k}));
  FOVEATE_RETURN_IF_ERROR(check_extents("k", {s.b, s.h_kv, s.n_kv, s.d_k}));
  FOVEATE_RETURN_IF_ERROR(check_extents("v", {s.b, s.h_kv, s.n_kv, s.d_v}));
  FOVEATE_RETURN_IF_ERROR(check_extents("o", {s.b, s.h_q, s.n_q, s.d_v}));
  *extents = {s.b, s.h_q, s.h_kv, s.n_q, s.n_kv, s.d_k, s.d_v};
  if (s.d_k == 0) return Status::error(kInvalid, "d_k: 0; expected at least 1");
  FOVEATE_RETURN_IF_ERROR(check_head_dim("d_k", s.d_k));
  FOVEATE_RETURN_IF_ERROR(check_head_dim("d_v", s.d_v));
  FOVEATE_RETURN_IF_ERROR(check_offset("kv_offset", s.kv_offset));
  if (s.block_size < 0) return Status::error(kInvalid, "block_size: %" PRId64 " is below 0", s.block_size);
  return check_heads(*extents);
}

}  // namespace foveate
