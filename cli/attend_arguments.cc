// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "cli/errors.h"
#include "cli/flag.h"
#include "cli/option_value.h"

namespace foveate::cli {
namespace {

constexpr const char* kOutputs =
    "Outputs (at least one, or a gradient; - is standard output; one .safetensors file may take several)";
constexpr const char* kGradients = "Gradients of a loss (--grad, and at least one of the others)";

void add_outputs(CLI::App& command, AttendArguments& arguments) {
  add_file(command, kOutputs, "--out", "attention output, q's axes with d_v last, of q's type or --dtype's",
           arguments.out);
  add_file(command, kOutputs, "--lse", "natural log of each row's sum of exp(score) [b, h_q, n_q]", arguments.lse);
  add_file(command, kOutputs, "--weights", "attention weights [b, h_q, n_q, n_kv]; takes n_q x n_kv memory",
           arguments.weights);
  add_file(command, kOutputs, "--dropout-mask", "bool, true = --dropout keeps the weight [b, h_q, n_q, n_kv]",
           arguments.dropout_mask);
  add_file(command, kOutputs, "--stats", "the figures of foveate inspect, as JSON", arguments.stats);
  add_flag(command, "--json", arguments.json, "a machine-readable summary on standard output")->group(kOutputs);
}

void add_gradients(CLI::App& command, AttendArguments& arguments) {
  add_file(command, kGradients, "--grad", "input: the loss's gradient by out, float, shaped as out", arguments.grad);
  add_file(command, kGradients, "--dq", "gradient by q, shaped as q, of q's type or --dtype's", arguments.dq);
  add_file(command, kGradients, "--dk", "gradient by k, likewise", arguments.dk);
  add_file(command, kGradients, "--dv", "gradient by v, likewise", arguments.dv);
  add_file(command, kGradients, "--dbias", "gradient by --bias, likewise: summed where the bias is broadcast",
           arguments.dbias);
  add_file(command, kGradients, "--dsinks", "gradient by --sinks  [h_q], float32, or float64 for float64",
           arguments.dsinks);
  add_file(command, kGradients, "--dwq", "gradient by --wq, of q's type or --dtype's", arguments.dwq);
  add_file(command, kGradients, "--dwk", "gradient by --wk, likewise", arguments.dwk);
  add_file(command, kGradients, "--dw", "gradient by --w, likewise", arguments.dw);
  add_file(command, kGradients, "--db", "gradient by --b, likewise", arguments.db);
}

void add_kind(CLI::App& command, AttendArguments& arguments) {
  add_value(
      command, kScores, "--score", "dot|additive|linear",
      "q . k; w . tanh(wq q + wk k + b), --scale 1 by default; or no softmax, phi(q) . phi(k) with phi = elu + 1 and a "
      "--mask of [b, h_kv, 1, n_kv] (default dot)",
      [&](const std::string& value) {
        constexpr ScoreKind kKinds[] = {ScoreKind::product, ScoreKind::additive, ScoreKind::linear};
        arguments.score = kKinds[one_of("--score", value, {"dot", "additive", "linear"})];
      });
  add_file(command, kScores, "--wq", "of --score additive: float, projects queries [d_a, d_k]", arguments.wq);
  add_file(command, kScores, "--wk", "likewise keys [d_a, d_k]", arguments.wk);
  add_file(command, kScores, "--w", "likewise, the weight of each tanh [d_a]", arguments.w);
  add_file(command, kScores, "--b", "likewise, added before tanh [d_a] (default 0)", arguments.b);
}

void add_dropout(CLI::App& command, AttendArguments& arguments) {
  AttentionOptions& options = arguments.options;
  add_value(command, kScores, "--dropout", "P",
            "leaves out weights with probability P, divides the others by 1 - P (default 0)",
            [&](const std::string& value) { options.dropout = finite_number("--dropout", value); });
  add_value(command, kScores, "--seed", "S", "of --dropout: which weights it leaves out (default 0)",
            [&](const std::string& value) { options.seed = seed_number("--seed", value); });
}

/// Gradients come of --grad, which is of no use without them, and of an input that is there.
void check_gradients(const AttendArguments& arguments, const std::vector<NamedFile>& gradients) {
  if (arguments.grad.empty() && !gradients.empty()) {
    throw WrongUse(fmt::format("{}: no --grad; give the loss's gradient by out", gradients[0].option));
  }
  if (!arguments.grad.empty() && gradients.empty()) {
    throw WrongUse("--grad: no gradient to write; give --dq or another that --help lists");
  }
  if (!arguments.dbias.empty() && arguments.bias.empty()) {
    throw WrongUse("--dbias: no --bias; give the bias whose gradient it is");
  }
  if (!arguments.dsinks.empty() && arguments.sinks.empty()) {
    throw WrongUse("--dsinks: no --sinks; give the sinks whose gradient it is");
  }
}

/// Additive attention has parameters, and no other has.
void check_parameters(const AttendArguments& a) {
  const NamedFile needed[] = {{"--wq", a.wq}, {"--wk", a.wk}, {"--w", a.w}};
  const NamedFile others[] = {{"--b", a.b}, {"--dwq", a.dwq}, {"--dwk", a.dwk}, {"--dw", a.dw}, {"--db", a.db}};
  if (a.score == ScoreKind::additive) {
    for (const auto& [option, path] : needed) {
      if (path.empty()) throw WrongUse(fmt::format("{}: missing; --score additive wants --wq, --wk and --w", option));
    }
    if (!a.stats.empty()) throw WrongUse("--stats: does not go with --score additive; leave it out");
    if (!a.db.empty() && a.b.empty()) throw WrongUse("--db: no --b; give the b whose gradient it is");
    return;
  }
  for (const std::span<const NamedFile> files :
       {std::span<const NamedFile>(needed), std::span<const NamedFile>(others)}) {
    for (const auto& [option, path] : files) {
      if (!path.empty()) throw WrongUse(fmt::format("{}: goes with --score additive alone", option));
    }
  }
}

/// What has no meaning in linear attention, where there is no softmax and no pair has a score of its own, and what that operator
/// does not have.
void check_linear(const AttendArguments& a) {
  if (a.score != ScoreKind::linear) return;
  const AttentionOptions& o = a.options;
  const std::pair<const char*, bool> given[] = {
      {"--lse", !a.lse.empty()},
      {"--weights", !a.weights.empty()},
      {"--dropout-mask", !a.dropout_mask.empty()},
      {"--stats", !a.stats.empty()},
      {"--dropout", o.dropout != 0},
      {"--scale", o.scale.has_value()},
      {"--softcap", o.softcap != 0},
      {"--bias", !a.bias.empty()},
      {"--dbias", !a.dbias.empty()},
      {"--alibi", !a.alibi.empty()},
      {"--sinks", !a.sinks.empty()},
      {"--dsinks", !a.dsinks.empty()},
      {"--window", o.window_left != kUnlimited || o.window_right != kUnlimited},
      {"--blocks", !a.blocks.empty()},
  };
  for (const auto& [option, is_given] : given) {
    if (is_given) throw WrongUse(fmt::format("{}: does not go with --score linear; leave it out", option));
  }
}

}  // namespace

void declare_arguments(CLI::App& command, AttendArguments& arguments) {
  declare_inputs(command, arguments);
  add_outputs(command, arguments);
  add_gradients(command, arguments);
  add_kind(command, arguments);
  declare_scores(command, arguments);
  add_dropout(command, arguments);
  declare_masking(command, arguments);
  declare_running(command, arguments);
}

void check_arguments(const AttendArguments& arguments) {
  check_problem(arguments, true);
  std::vector<NamedFile> outputs = present({{"--out", arguments.out},
                                            {"--lse", arguments.lse},
                                            {"--weights", arguments.weights},
                                            {"--dropout-mask", arguments.dropout_mask},
                                            {"--stats", arguments.stats}});
  const std::vector<NamedFile> gradients = present({{"--dq", arguments.dq},
                                                    {"--dk", arguments.dk},
                                                    {"--dv", arguments.dv},
                                                    {"--dbias", arguments.dbias},
                                                    {"--dsinks", arguments.dsinks},
                                                    {"--dwq", arguments.dwq},
                                                    {"--dwk", arguments.dwk},
                                                    {"--dw", arguments.dw},
                                                    {"--db", arguments.db}});
  check_parameters(arguments);
  check_linear(arguments);
  if (names_safetensors(arguments.stats)) {
    throw WrongUse(fmt::format("--stats: {}: figures are written as JSON; name it so", arguments.stats));
  }
  check_gradients(arguments, gradients);
  outputs.insert(outputs.end(), gradients.begin(), gradients.end());
  if (outputs.empty()) {
    throw WrongUse(
        "nothing to write: give --out, --lse, --weights, --dropout-mask or --stats, or --grad and a gradient");
  }
  if (arguments.json) outputs.insert(outputs.begin(), {"--json", "-"});
  check_files(input_files(arguments, {{"--wq", arguments.wq},
                                      {"--wk", arguments.wk},
                                      {"--w", arguments.w},
                                      {"--b", arguments.b},
                                      {"--grad", arguments.grad}}),
              outputs, Sharing::safetensors);
}

}  // namespace foveate::cli
