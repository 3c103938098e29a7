// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a quick run of a claim measures: once for all tests.
#ifndef FOVEATE_TESTS_QUICK_EVIDENCE_H_
#define FOVEATE_TESTS_QUICK_EVIDENCE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "claims/claim.h"
#include "tests/thread_executor.h"

namespace foveate::claims {

/// Its progress goes from 0 to 1 on the way.
inline const Evidence& quick_evidence(const Claim& claim) {
  static std::map<Evidence (*)(const Run&), Evidence> all;  // claims may share what they measure
  if (const auto found = all.find(claim.measure); found != all.end()) return found->second;
  ThreadExecutor executor(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  double last = 0;
  const auto progress = [&last](double share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1);
    last = share;
  };
  const Run run{.quick = true, .executor = &executor, .progress = progress};
  const Evidence& evidence = all.emplace(claim.measure, claim.measure(run)).first->second;
  EXPECT_EQ(last, 1) << claim.name << ": progress ends before the claim does";
  return evidence;
}

}  // namespace foveate::claims

#endif  // FOVEATE_TESTS_QUICK_EVIDENCE_H_
