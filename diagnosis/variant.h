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

enum class SoftcapPlace : uint8_t { first, after_addends, after_masks, nowhere };
enum class SinkUse : uint8_t { counted, forgotten, unshifted };
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
  Use mask = Use::hides, causal = Use::hides;
  CausalRule causal_rule = CausalRule::up_to_own;
  Align align = Align::bottom_right;
  int64_t window_left = kUnlimited, window_right = kUnlimited;
  bool blocks = true;
  bool q_lengths = true, kv_lengths = true;  ///< how far rows are computed, and keys attended to
  bool positions_by_lengths = true;          ///< whether p_i is counted by lengths of the sequence
  bool heads_tiled = false;                  ///< head h reads key head h mod h_kv
  SoftmaxAxis axis = SoftmaxAxis::keys;
  bool shifted = true;  ///< by the row's maximum, before exp
  Addend bias, alibi;
  SoftcapPlace softcap = SoftcapPlace::first;
  SinkUse sink = SinkUse::counted;
  LseKind lse = LseKind::natural;
  EmptyRow empty = EmptyRow::zeros;
  DType rounding = DType::none;  ///< what q, k and v are rounded to
  DType precision = DType::f32;  ///< what it is computed in
  DType powers = DType::f32;     ///< what exp is, where it is not shifted
};

/// The right way.
Variant right_way(const Problem& problem);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_VARIANT_H_
