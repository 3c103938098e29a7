// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What attention is asked for on the command line: arrays in files, scores, masks. Every command that looks at attention has
// these options.
#ifndef FOVEATE_CLI_PROBLEM_ARGUMENTS_H_
#define FOVEATE_CLI_PROBLEM_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files.h"
#include "foveate/attention.h"
#include "io/safetensors.h"

namespace foveate::cli {

/// Paths are empty where an option was left out; "-" is standard input. An input may be a tensor of --in instead.
struct ProblemArguments {
  std::string in;
  std::shared_ptr<const io::Safetensors> tensors;  ///< of --in, open
  std::string q, k, v;
  std::string mask, blocks, bias, alibi, sinks, q_lengths, kv_lengths;

  Layout layout = Layout::bhnd;
  std::optional<DType> dtype;  ///< left out: q's own
  AttentionOptions options;    ///< the numbers and flags; the arrays come with the inputs
  int threads = 0;             ///< 0: all cores

  /// Whether an input's value is a tensor of --in; or else it is a path.
  bool names_tensor(const std::string& value) const { return tensors != nullptr && tensors->find(value) != nullptr; }
};

/// Groups that --help shows options in.
inline constexpr const char* kInputs =
    "Inputs (F is a .npy file, a .safetensors file of one tensor, - for standard input, or a tensor of --in)";
inline constexpr const char* kScores = "Scores";
inline constexpr const char* kMasking = "Which keys take part (all that is given must allow a key)";
inline constexpr const char* kRunning = "Running";

/// Adds an option whose value `use` takes.
void add_value(CLI::App& command, const char* group, const std::string& name, const char* value, const char* help,
               const std::function<void(const std::string&)>& use);

/// Adds an option that names a file.
void add_file(CLI::App& command, const char* group, const std::string& name, const char* help, std::string& path);

/// Add the options to a command. Parsing fills `arguments`, which must outlive it, or throws WrongUse.
void declare_inputs(CLI::App& command, ProblemArguments& arguments);
void declare_scores(CLI::App& command, ProblemArguments& arguments);
void declare_masking(CLI::App& command, ProblemArguments& arguments);
void declare_running(CLI::App& command, ProblemArguments& arguments);

/// Those that were given.
std::vector<NamedFile> present(const std::vector<NamedFile>& files);

/// The input files among what the options name, `more` of them included; --in first. Throws WrongUse for what is neither a
/// file nor a tensor.
std::vector<NamedFile> input_files(const ProblemArguments& arguments, const std::vector<NamedFile>& more = {});

/// Throws WrongUse where q, k or v is missing (v, where it is needed), or a bitmap of blocks and the size of blocks are not
/// given together.
void check_problem(const ProblemArguments& arguments, bool needs_v);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_PROBLEM_ARGUMENTS_H_
