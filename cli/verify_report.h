// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate verify` says: as a table for the terminal, as JSON, as a document.
#ifndef FOVEATE_CLI_VERIFY_REPORT_H_
#define FOVEATE_CLI_VERIFY_REPORT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "claims/claim.h"

namespace foveate::cli {

/// A claim that was put to the test.
struct Tried {
  const claims::Claim* claim;
  claims::Evidence evidence;
  claims::Judgement judgement;
  double seconds = 0;

  bool as_recorded() const { return judgement.verdict == claim->recorded; }
};

struct VerifyReport {
  uint64_t seed = 1;
  bool quick = false;
  bool chosen = false;  ///< claims were asked for by name
  int64_t threads = 1;
  std::vector<Tried> tried = {};

  /// The names of those whose verdict is not the one recorded.
  std::vector<std::string> differing() const;
};

/// 80 columns. With what was expected and measured, where claims were chosen.
std::string verify_text(const VerifyReport& report, claims::Language language);

std::string verify_json(const VerifyReport& report);

/// `figures`: the folder of the figures as the document links it; "": none.
std::string verify_markdown(const VerifyReport& report, const std::string& figures, claims::Language language);

/// All there are: names, what they say, what is expected.
std::string claims_text(std::span<const claims::Claim> claims, claims::Language language);
std::string claims_json(std::span<const claims::Claim> claims);

/// "7.98 (7.96 to 8.01)", or the value alone where there is no interval.
std::string estimate_text(const claims::Estimate& estimate);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_VERIFY_REPORT_H_
