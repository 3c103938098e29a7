// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate attend --json` prints.
#ifndef FOVEATE_CLI_ATTEND_SUMMARY_H_
#define FOVEATE_CLI_ATTEND_SUMMARY_H_

#include <cstdint>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "cli/attend_outputs.h"

namespace foveate::cli {

/// One JSON object on standard output: the shape, how it was computed (by how many threads, in how many seconds), the options, the outputs.
void print_summary(const AttendArguments& arguments, const AttendInputs& inputs, const AttendOutputs& outputs,
                   int64_t threads, double seconds);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_SUMMARY_H_
