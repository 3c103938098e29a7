// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// From inputs to outputs in memory: the calls of the library that `attend` makes.
#ifndef FOVEATE_CLI_ATTEND_COMPUTE_H_
#define FOVEATE_CLI_ATTEND_COMPUTE_H_

#include <cstdint>
#include <memory>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "cli/attend_outputs.h"
#include "cli/held_state.h"
#include "cli/operators.h"
#include "cli/piecewise_attention.h"
#include "foveate/additive.h"
#include "foveate/attention.h"
#include "foveate/status.h"

namespace foveate::cli {

class Computation {
 public:
  /// All must outlive it.
  Computation(const AttendArguments& arguments, const AttendInputs& inputs, const AttendOutputs& outputs);

  /// All that the library checks of the inputs, and nothing computed. What else is asked of a computation wants its ok.
  Status check();

  /// How many pieces keys and values come in.
  int64_t pieces() const { return piecewise_ != nullptr ? piecewise_->pieces() : 1; }

  /// Tasks that Execution::progress will count.
  int64_t tasks(int64_t workers) const;

  /// Computes what was asked for. Throws where a file that is read in pieces fails.
  Status run(const Execution& execution) const;

 private:
  Status attend(const Execution& execution) const;
  Status differentiate(const Execution& execution) const;

  const AttendArguments& arguments_;
  const AttendInputs& inputs_;
  const std::unique_ptr<Operator> operator_;
  const AttentionOptions options_;
  AttentionOutputs outputs_;  ///< o and lse among them wherever there are gradients, which are computed from both
  const Tensor dropout_mask_;
  const AdditiveGradients gradients_;
  ConstTensor d_o_;
  HeldState held_;  ///< o and lse that no file is asked for
  std::unique_ptr<PiecewiseAttention> piecewise_;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_COMPUTE_H_
