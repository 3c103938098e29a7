// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate attend` was asked to do: the command line, parsed.
#ifndef FOVEATE_CLI_ATTEND_ARGUMENTS_H_
#define FOVEATE_CLI_ATTEND_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files.h"
#include "foveate/attention.h"
#include "io/safetensors.h"

namespace foveate::cli {

/// What scores are: --score.
enum class ScoreKind : uint8_t { product, additive, linear };

/// Paths are empty where an option was left out; "-" is standard input or output. An input may be a tensor of --in
/// instead.
struct AttendArguments {
  std::string in;
  std::shared_ptr<const io::Safetensors> tensors;  ///< of --in, open
  std::string q, k, v;
  std::string wq, wk, w, b;  ///< of --score additive
  std::string mask, blocks, bias, alibi, sinks, q_lengths, kv_lengths;
  std::string out, lse, weights, dropout_mask;
  std::string grad, dq, dk, dv, dbias, dsinks;
  std::string dwq, dwk, dw, db;

  ScoreKind score = ScoreKind::product;
  Layout layout = Layout::bhnd;
  std::optional<DType> dtype;  ///< left out: q's own
  AttentionOptions options;    ///< the numbers and flags; the arrays come with the inputs
  int threads = 0;             ///< 0: all cores
  bool json = false;

  /// Whether an input's value is a tensor of --in; or else it is a path.
  bool names_tensor(const std::string& value) const { return tensors != nullptr && tensors->find(value) != nullptr; }
};

/// Adds the options of `attend` to its command. Parsing fills `arguments`, which must outlive it, or throws WrongUse.
void declare_arguments(CLI::App& command, AttendArguments& arguments);

/// The files it reads and writes. Throws WrongUse where q, k or v is missing, there is nothing to write, or a file is
/// unfit.
void check_arguments(const AttendArguments& arguments);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_ARGUMENTS_H_
