// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// --target of commands that compute on several instruction sets.
#ifndef FOVEATE_CLI_TARGET_OPTION_H_
#define FOVEATE_CLI_TARGET_OPTION_H_

#include <string>
#include <vector>

namespace foveate::cli {

/// The targets that a value of --target names: "all", one, or, where it is empty, the one in use. Throws WrongUse where there
/// is none of that name, or FOVEATE_TARGET names none.
std::vector<std::string> wanted_targets(const std::string& name);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_TARGET_OPTION_H_
