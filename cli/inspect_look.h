// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A report on the inputs of a command, computed with a progress bar, to be stopped by Ctrl-C.
#ifndef FOVEATE_CLI_INSPECT_LOOK_H_
#define FOVEATE_CLI_INSPECT_LOOK_H_

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "insight/report.h"

namespace foveate::cli {

/// Throws WrongUse where the library refuses the inputs, Interrupted after a signal.
insight::Report look(const AttendArguments& arguments, const AttendInputs& inputs, const insight::Wanted& wanted);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INSPECT_LOOK_H_
