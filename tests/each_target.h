// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#ifndef FOVEATE_TESTS_EACH_TARGET_H_
#define FOVEATE_TESTS_EACH_TARGET_H_

#include <gtest/gtest.h>

#include <cstdint>
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

/// Calls body on each target of this machine, up to the first failure, which names its target.
template <class Body>
void on_each_target(const Body& body) {
  const ActiveTarget restore;
  for (int64_t i = 0; i < target_count(); ++i) {
    SCOPED_TRACE(target_name(i));
    ASSERT_TRUE(pin_target(target_name(i)).ok());
    body();
    if (testing::Test::HasFailure()) return;  // one report is enough
  }
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_EACH_TARGET_H_
