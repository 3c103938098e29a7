// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The mistakes that are looked for, each with what it is and what helps.
#ifndef FOVEATE_DIAGNOSIS_MISTAKES_H_
#define FOVEATE_DIAGNOSIS_MISTAKES_H_

#include <cstdint>
#include <vector>

#include "diagnosis/problem.h"
#include "diagnosis/text.h"
#include "diagnosis/variant.h"

namespace foveate::diagnosis {

/// Two of one kind exclude each other.
enum class Kind : uint8_t {
  scale,
  causal,
  alignment,
  window,
  mask,
  blocks,
  lengths,
  axis,
  shift,
  exponent,
  layout,
  heads,
  swap,
  bias,
  alibi,
  softcap,
  sink,
  lse,
  empty,
  rounding,
  dropout,
};

struct Mistake {
  const char* id;  ///< for programs; several entries may share one where a mistake can be made in several ways
  Kind kind;
  Text name;    ///< "the scores were not scaled"
  Text remedy;  ///< a sentence

  /// Makes it. false where it has no meaning for a problem, or cannot matter. nullptr of dropout, which is found otherwise.
  bool (*apply)(Variant& variant, const Problem& problem);
};

/// All of them, the more likely first.
const std::vector<Mistake>& all_mistakes();

/// By id, which must be one.
const Mistake& mistake(const char* id);

/// The parts of the above, each in its file.
std::vector<Mistake> score_mistakes();
std::vector<Mistake> masking_mistakes();
std::vector<Mistake> array_mistakes();

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_MISTAKES_H_
