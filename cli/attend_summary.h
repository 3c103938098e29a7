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

/// What a computation took.
struct Effort {
  int64_t threads;
  int64_t pieces;  ///< that keys and values came in
  double seconds;
};

/// One JSON object on standard output: the shape, how it was computed, the options, the outputs.
void print_summary(const AttendArguments& arguments, const AttendInputs& inputs, const AttendOutputs& outputs,
                   const Effort& effort);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_SUMMARY_H_
