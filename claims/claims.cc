// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "claims/claim.h"

namespace foveate::claims {

const Text& text_of(Verdict verdict) {
  static const Text kTexts[] = {{"holds", "成立"}, {"holds in part", "部分成立"}, {"does not hold", "不成立"}};
  return kTexts[static_cast<int>(verdict)];
}

// A new family is a file with a function like these, and its name here.
const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> kAll = [] {
    std::vector<Claim> all;
    for (auto* family : {dot_product_claims, variance_claims, vector_claims, divisor_claims, softmax_claims,
                         shift_claims, weight_claims, gradient_claims, expectation_claims, key_order_claims,
                         cost_claims, matrix_product_claims, rival_claims, learning_claims}) {
      std::vector<Claim> claims = family();
      std::move(claims.begin(), claims.end(), std::back_inserter(all));
    }
    return all;
  }();
  return kAll;
}

}  // namespace foveate::claims
