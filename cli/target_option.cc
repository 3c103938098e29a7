// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/target_option.h"

#include <fmt/format.h>

#include "cli/errors.h"
#include "foveate/attention.h"
#include "foveate/target.h"

namespace foveate::cli {

std::vector<std::string> wanted_targets(const std::string& name) {
  std::vector<std::string> targets;
  if (name == "all") {
    for (int64_t i = 0; i < target_count(); ++i) targets.emplace_back(target_name(i));
    return targets;
  }
  if (name.empty()) {
    AttentionPlan plan;
    throw_unless_ok(attention_plan({}, 1, &plan));  // says so where FOVEATE_TARGET names no target
  } else {
    const Status status = pin_target(name.c_str());
    throw_unless_ok(status, fmt::format("--{}, and all", status.message()));
  }
  return {active_target()};
}

}  // namespace foveate::cli
