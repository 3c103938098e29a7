// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate attend` can compute, by --score: one face over the library's operators, each with the inputs it takes.
#ifndef FOVEATE_CLI_OPERATORS_H_
#define FOVEATE_CLI_OPERATORS_H_

#include <cstdint>
#include <memory>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "foveate/additive.h"
#include "foveate/attention.h"
#include "foveate/status.h"

namespace foveate::cli {

/// What a forward pass leaves for the backward one.
struct Saved {
  ConstTensor o, lse, d_o;
};

class Operator {
 public:
  virtual ~Operator() = default;

  virtual Status attend(const AttentionOutputs& outputs, const Execution& execution) const = 0;
  virtual Status differentiate(const Saved& saved, const AdditiveGradients& gradients,
                               const Execution& execution) const = 0;

  /// Tasks of both passes; no backward pass where no gradient is present.
  virtual int64_t tasks(const AdditiveGradients& gradients, int64_t workers) const = 0;

  /// Whether the backward pass is computed from o and lse.
  virtual bool wants_state() const = 0;
};

/// The operator that --score names. The inputs must outlive it.
std::unique_ptr<Operator> make_operator(const AttendArguments& arguments, const AttendInputs& inputs);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_OPERATORS_H_
