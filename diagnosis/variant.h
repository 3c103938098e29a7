// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A way to compute attention, right or wrong, as data: what a mistake changes is a field.
#ifndef FOVEATE_DIAGNOSIS_VARIANT_H_
#define FOVEATE_DIAGNOSIS_VARIANT_H_

#include <cstdint>

#include "diagnosis/problem.h"

namespace foveate::diagnosis {

/// What is done with a rule that allows or forbids pairs: a mask, or causal.
enum class Use : uint8_t {
  hides,  ///< right: what is forbidden takes no part
  ignored,
  inverted,    ///< hides what is allowed
  added,       ///< 1 is added to the scores allowed
  multiplied,  ///< scores forbidden become 0
  late,        ///< weights forbidden become 0, after the softmax
};

/// Which keys causal allows.
enum class CausalRule : uint8_t { up_to_own, before_own, from_own };

/// The axis of the scores [b, h, n_q, n_kv] along which weights sum to 1; none: scores are taken for weights.
enum class SoftmaxAxis : uint8_t { keys, queries, heads, batch, none };

enum class SoftcapPlace : uint8_t { first, after_addends, after_masks, before_scale, nowhere };
enum class SinkUse : uint8_t { counted, forgotten, unshifted };

/// What stands in the place of the softmax's weights: a second softmax of them, over all keys or over those that take part
/// alone; or P^T: the weight that key i has for query j.
enum class Afterwards : uint8_t { nothing, softmax_of_all, softmax_of_shown, transposed };

/// Which key head query head h reads: h / group, h mod h_kv, or 0.
enum class KeyHead : uint8_t { grouped, tiled, first };

/// Which entry of a mask or bias [b, h, n_q, n_kv] is read for [b, h, i, j].
enum class Entry : uint8_t { own, transposed, of_head_0 };

enum class LseKind : uint8_t { natural, base_2, without_maximum, without_sink, sum };

/// What a row that no key takes part in may be: `any` is what implementations make of it, zeros, NaN or the mean of all values.
enum class EmptyRow : uint8_t { zeros, nan, mean, any };

/// An addend of the scores: times `sign`, and scaled with them where it comes too early.
struct Addend {
  double sign = 1;
  bool before_scale = false;
};

struct Variant {
  View q, k, v, out;
  bool exchanged = false;  ///< heads stand where positions should, and the reverse
  double scale = 1;
  double exponent = 1;  ///< what scores, and the sink, are multiplied with last
  bool causal_meant = false;
  Use mask = Use::hides, causal = Use::hides;
  Entry mask_entry = Entry::own, bias_entry = Entry::own;
  bool mask_or_causal = false;  ///< a key takes part that either of them allows
  CausalRule causal_rule = CausalRule::up_to_own;
  Align align = Align::bottom_right;
  int64_t window_left = kUnlimited, window_right = kUnlimited;
  bool blocks = true;
  bool q_lengths = true, kv_lengths = true;  ///< how far rows are computed, and keys attended to
  int64_t kv_length_off = 0;                 ///< added to the length of keys
  bool positions_by_lengths = true;          ///< whether p_i is counted by lengths of the sequence
  bool position_off = false;                 ///< whether p_i is counted by the length that is off
  KeyHead k_head = KeyHead::grouped, v_head = KeyHead::grouped;
  SoftmaxAxis axis = SoftmaxAxis::keys;
  bool padded_lines = true;  ///< other axes' sums include queries past their sequence's length
  bool shifted = true;       ///< by the row's maximum, before exp
  bool divided = true;       ///< by the sum
  Afterwards afterwards = Afterwards::nothing;
  Addend bias, alibi;
  bool slopes_reversed = false;
  SoftcapPlace softcap = SoftcapPlace::first;
  bool softcap_multiplied = true;
  SinkUse sink = SinkUse::counted;
  bool one_added = false;  ///< a sink of score 0 where none is meant
  LseKind lse = LseKind::natural;
  EmptyRow empty = EmptyRow::zeros;
  DType rounding = DType::none;  ///< what q, k and v are rounded to
  DType precision = DType::f32;  ///< what it is computed in
  DType powers = DType::f32;     ///< what exp is, where it is not shifted
};

/// Whether a row needs sums over all rows of its head.
inline bool sums_over_head(const Variant& v) {
  return v.axis == SoftmaxAxis::queries || v.afterwards == Afterwards::transposed;
}

/// The right way.
Variant right_way(const Problem& problem);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_VARIANT_H_
