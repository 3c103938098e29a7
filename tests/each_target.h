// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#ifndef FOVEATE_TESTS_EACH_TARGET_H_
#define FOVEATE_TESTS_EACH_TARGET_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "foveate/target.h"

namespace foveate::trial {

/// Restores the target in use.
class ActiveTarget {
 public:
  ActiveTarget() : name_(active_target()) {}
  ~ActiveTarget() { EXPECT_TRUE(pin_target(name_.c_str()).ok()); }
  ActiveTarget(const ActiveTarget&) = delete;
  ActiveTarget& operator=(const ActiveTarget&) = delete;

 private:
  std::string name_;
};

/// Whether FOVEATE_TEST_TARGETS, names separated by commas, has this one; all are wanted where it is not set. (Under
/// emulation, which is slow, each target's turn comes but once.)
inline bool is_wanted(const std::string& name) {
  const char* list = std::getenv("FOVEATE_TEST_TARGETS");
  return list == nullptr || (',' + std::string(list) + ',').find(',' + name + ',') != std::string::npos;
}

/// Calls body on each target of this machine, up to the first failure, which names its target.
template <class Body>
void on_each_target(const Body& body) {
  const ActiveTarget restore;
  int64_t wanted = 0;
  for (int64_t i = 0; i < target_count(); ++i) {
    if (!is_wanted(target_name(i))) continue;
    ++wanted;
    SCOPED_TRACE(target_name(i));
    ASSERT_TRUE(pin_target(target_name(i)).ok());
    body();
    if (testing::Test::HasFailure()) return;  // one report is enough
  }
  ASSERT_GT(wanted, 0) << "FOVEATE_TEST_TARGETS names no target of this machine";
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_EACH_TARGET_H_
