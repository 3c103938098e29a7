// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate attend` was asked to do: the command line, parsed.
#ifndef FOVEATE_CLI_ATTEND_ARGUMENTS_H_
#define FOVEATE_CLI_ATTEND_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/problem_arguments.h"

namespace foveate::cli {

/// What scores are: --score.
enum class ScoreKind : uint8_t { product, additive, linear };

struct AttendArguments : ProblemArguments {
  ScoreKind score = ScoreKind::product;
  std::string wq, wk, w, b;  ///< of --score additive
  std::string out, lse, weights, dropout_mask;
  std::string grad, dq, dk, dv, dbias, dsinks;
  std::string dwq, dwk, dw, db;
  std::string stats;
  bool json = false;
};

/// Adds the options of `attend` to its command. Parsing fills `arguments`, which must outlive it, or throws WrongUse.
void declare_arguments(CLI::App& command, AttendArguments& arguments);

/// The files it reads and writes. Throws WrongUse where q, k or v is missing, there is nothing to write, or a file is
/// unfit.
void check_arguments(const AttendArguments& arguments);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_ARGUMENTS_H_
