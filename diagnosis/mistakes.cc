// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/mistakes.h"

#include <algorithm>
#include <string_view>

namespace foveate::diagnosis {

Variant right_way(const Problem& problem) {
  const AttentionOptions& options = problem.options();
  Variant right;
  right.q = problem.view(Source::q);
  right.k = problem.view(Source::k);
  right.v = problem.view(Source::v);
  right.out = problem.view(Source::out);
  right.scale = problem.scale();
  right.causal_meant = options.causal;
  right.align = options.align;
  right.window_left = options.window_left;
  right.window_right = options.window_right;
  if (options.softcap == 0) right.softcap = SoftcapPlace::nowhere;
  right.precision = problem.precision();
  right.powers = right.precision == DType::f64 ? DType::f64 : DType::f32;
  return right;
}

const std::vector<Mistake>& all_mistakes() {
  static const std::vector<Mistake> all = [] {
    std::vector<Mistake> mistakes = score_mistakes();
    for (const std::vector<Mistake>& more : {masking_mistakes(), array_mistakes()}) {
      mistakes.insert(mistakes.end(), more.begin(), more.end());
    }
    return mistakes;
  }();
  return all;
}

const Mistake& mistake(const char* id) {
  return *std::ranges::find_if(all_mistakes(), [id](const Mistake& one) { return std::string_view(one.id) == id; });
}

}  // namespace foveate::diagnosis
