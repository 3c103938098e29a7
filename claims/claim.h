// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A claim that accounts of attention make, as an experiment: what is expected and by which rule it is judged stands in
// the source, written before anything was measured; measuring gives evidence, judging a verdict on it.
#ifndef FOVEATE_CLAIMS_CLAIM_H_
#define FOVEATE_CLAIMS_CLAIM_H_

#include <span>
#include <string>
#include <vector>

#include "claims/evidence.h"
#include "claims/plot_svg.h"
#include "claims/run.h"
#include "claims/text.h"

namespace foveate::claims {

enum class Verdict { holds, holds_in_part, does_not_hold };

/// "holds", "holds in part", "does not hold".
const Text& text_of(Verdict verdict);

struct Judgement {
  Verdict verdict;
  Text figure;  ///< what decided it, in a few words
  Text why;     ///< one sentence
};

struct Claim {
  std::string name;
  std::string family;
  Text says;           ///< the claim, in our words
  Text expectation;    ///< what is expected of the measurement, and the rule of the verdict
  Verdict recorded;    ///< what is expected of the verdict
  bool timed = false;  ///< decided by times, which other work on the machine may spoil: no test insists on its verdict
  double seconds;      ///< of all samples, about, on one core: for progress; --quick takes about a fifth
  Evidence (*measure)(const Run& run);
  Judgement (*judge)(const Evidence& evidence);
  Plot (*plot)(const Evidence& evidence);
};

/// All claims, family by family.
const std::vector<Claim>& all_claims();

/// The families, each in its file.
std::vector<Claim> dot_product_claims();
std::vector<Claim> variance_claims();
std::vector<Claim> vector_claims();
std::vector<Claim> divisor_claims();
std::vector<Claim> softmax_claims();
std::vector<Claim> shift_claims();
std::vector<Claim> weight_claims();
std::vector<Claim> gradient_claims();
std::vector<Claim> expectation_claims();
std::vector<Claim> key_order_claims();
std::vector<Claim> cost_claims();
std::vector<Claim> matrix_product_claims();
std::vector<Claim> rival_claims();
std::vector<Claim> learning_claims();

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_CLAIM_H_
