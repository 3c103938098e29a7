// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <system_error>
#include <utility>

#include "cli/attend_read.h"
#include "cli/errors.h"
#include "cli/flag.h"
#include "cli/option_value.h"
#include "io/source.h"

namespace foveate::cli {
namespace {

constexpr const char* kInputs =
    "Inputs (F is a .npy file, a .safetensors file of one tensor, - for standard input, or a tensor of --in)";
constexpr const char* kOutputs =
    "Outputs (at least one, or a gradient; - is standard output; one .safetensors file may take several)";
constexpr const char* kGradients = "Gradients of a loss (--grad, and at least one of the others)";
constexpr const char* kScores = "Scores";
constexpr const char* kMasking = "Which keys take part (all that is given must allow a key)";
constexpr const char* kRunning = "Running";

[[noreturn]] void refuse_not_yet(std::string_view option) {
  throw WrongUse(fmt::format("{}: not built yet in foveate " FOVEATE_VERSION, option));
}

/// An option whose value `use` takes.
void add(CLI::App& command, const char* group, const std::string& name, const char* value, const char* help,
         const std::function<void(const std::string&)>& use) {
  command.add_option_function<std::string>(name, use, help)->option_text(value)->group(group);
}

void add_file(CLI::App& command, const char* group, const std::string& name, const char* help, std::string& path) {
  add(command, group, name, "F", help, [name, &path](const std::string& value) {
    if (value.empty()) throw WrongUse(fmt::format("{}: empty; name a file", name));
    require_file_name(name, value);
    path = value;
  });
}

/// Opened at once, so that inputs can be told from paths. Before --q, --k and --v, which overrule what is set here.
void add_in(CLI::App& command, AttendArguments& arguments) {
  add(command, kInputs, "--in", "F", "a .safetensors file: inputs may be named by its tensors (default q, k and v)",
      [&](const std::string& value) {
        if (value.empty()) throw WrongUse("--in: empty; name a file");
        require_file_name("--in", value);
        arguments.tensors = read_named("--in", [&] { return std::make_shared<const io::Safetensors>(value); });
        arguments.in = value;
        const auto default_to = [&](std::string& input, const char* tensor) {
          if (arguments.names_tensor(tensor)) input = tensor;
        };
        default_to(arguments.q, "q");
        default_to(arguments.k, "k");
        default_to(arguments.v, "v");
      });
}

void add_inputs(CLI::App& command, AttendArguments& arguments) {
  add_in(command, arguments);
  add_file(command, kInputs, "--q", "queries  [b, h_q, n_q, d_k], float; also [h, n, d] or [n, d]", arguments.q);
  add_file(command, kInputs, "--k", "keys     [b, h_kv, n_kv, d_k], float; h_kv divides h_q (GQA, grouped queries)",
           arguments.k);
  add_file(command, kInputs, "--v", "values   [b, h_kv, n_kv, d_v], float", arguments.v);
  add(command, kInputs, "--layout", "bhnd|bnhd", "order of the axes of q, k, v, out and gradients (default bhnd)",
      [&](const std::string& value) {
        arguments.layout = one_of("--layout", value, {"bhnd", "bnhd"}) == 0 ? Layout::bhnd : Layout::bnhd;
      });
  add(command, kInputs, "--dtype", "f32|f16|bf16|f64",
      "q, k, v and grad are rounded to this type, and so are the results; bf16 is written as float32 in .npy "
      "(default: q's own)",
      [&](const std::string& value) {
        constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f64};
        arguments.dtype = kTypes[one_of("--dtype", value, {"f32", "f16", "bf16", "f64"})];
      });
}

void add_outputs(CLI::App& command, AttendArguments& arguments) {
  add_file(command, kOutputs, "--out", "attention output, q's axes with d_v last, of q's type or --dtype's",
           arguments.out);
  add_file(command, kOutputs, "--lse", "natural log of each row's sum of exp(score)  [b, h_q, n_q]", arguments.lse);
  add_file(command, kOutputs, "--weights", "attention weights  [b, h_q, n_q, n_kv]; takes n_q x n_kv memory",
           arguments.weights);
  add_file(command, kOutputs, "--dropout-mask", "bool, true = --dropout keeps the weight  [b, h_q, n_q, n_kv]",
           arguments.dropout_mask);
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
  add(command, kScores, "--score", "dot|additive|linear",
      "q . k; w . tanh(wq q + wk k + b); or no softmax, phi(q) . phi(k) with phi = elu + 1 (default dot)",
      [&](const std::string& value) {
        constexpr ScoreKind kKinds[] = {ScoreKind::product, ScoreKind::additive, ScoreKind::linear};
        arguments.score = kKinds[one_of("--score", value, {"dot", "additive", "linear"})];
      });
  add_file(command, kScores, "--wq", "of --score additive: float, projects queries  [d_a, d_k]", arguments.wq);
  add_file(command, kScores, "--wk", "likewise keys  [d_a, d_k]", arguments.wk);
  add_file(command, kScores, "--w", "likewise, the weight of each tanh  [d_a]", arguments.w);
  add_file(command, kScores, "--b", "likewise, added before tanh  [d_a] (default 0)", arguments.b);
}

void add_scores(CLI::App& command, AttendArguments& arguments) {
  AttentionOptions& options = arguments.options;
  add_kind(command, arguments);
  add(command, kScores, "--scale", "X", "multiplies scores (default 1/sqrt(d_k); 1 of --score additive)",
      [&](const std::string& value) { options.scale = finite_number("--scale", value); });
  add(command, kScores, "--softcap", "X", "scores pass through X * tanh(score / X) (default 0: off)",
      [&](const std::string& value) { options.softcap = finite_number("--softcap", value); });
  add_file(command, kScores, "--bias", "float, added to the scores; broadcast to [b, h_q, n_q, n_kv]", arguments.bias);
  add_file(command, kScores, "--alibi", "float, ALiBi slopes  [h_q]: score - slope * |p_i - j|", arguments.alibi);
  add_file(command, kScores, "--sinks", "float, one more score a head, which takes weight and adds no value  [h_q]",
           arguments.sinks);
  add(command, kScores, "--dropout", "P",
      "leaves out weights with probability P, divides the others by 1 - P (default 0)",
      [&](const std::string& value) { options.dropout = finite_number("--dropout", value); });
  add(command, kScores, "--seed", "S", "of --dropout: which weights it leaves out (default 0)",
      [&](const std::string& value) { options.seed = seed_number("--seed", value); });
}

void add_masking(CLI::App& command, AttendArguments& arguments) {
  AttentionOptions& options = arguments.options;
  add_flag(command, "--causal", options.causal, "keys up to the query's own position p_i only")->group(kMasking);
  add(command, kMasking, "--align", "bottom-right|top-left", "p_i = i + n_kv - n_q, or p_i = i (default bottom-right)",
      [&](const std::string& value) {
        options.align =
            one_of("--align", value, {"bottom-right", "top-left"}) == 0 ? Align::bottom_right : Align::top_left;
      });
  add(command, kMasking, "--window", "L,R", "keys from p_i - L to p_i + R only, both inclusive; -1: no bound",
      [&](const std::string& value) {
        const std::vector<int64_t> sides = whole_numbers("--window", value, "L,R", "128,0");
        options.window_left = sides[0];
        options.window_right = sides[1];
      });
  add_file(command, kMasking, "--mask",
           "bool, true = takes part; broadcast to [b, h_q, n_q, n_kv] (--score linear: [b, h_kv, 1, n_kv])",
           arguments.mask);
  add_file(command, kMasking, "--blocks",
           "bool, true = kept; broadcast to [b, h_q, ceil(n_q/N), ceil(n_kv/N)], N = --block-size (foveate blocks)",
           arguments.blocks);
  add(command, kMasking, "--block-size", "N", "queries and keys to a block of --blocks (fastest from 64 on)",
      [&](const std::string& value) { options.block_size = whole_number("--block-size", value, 1); });
  add_file(command, kMasking, "--q-lengths", "integers, how many queries of each sequence are there  [b]",
           arguments.q_lengths);
  add_file(command, kMasking, "--kv-lengths", "integers, how many keys of each sequence are there  [b]",
           arguments.kv_lengths);
}

/// Options that are known but not built yet: refused by name, and left out of the help.
void add_not_yet(CLI::App& command) {
  for (const char* name : {"--stats"}) {
    command.add_option_function<std::string>(name, [name](const std::string&) { refuse_not_yet(name); })
        ->expected(0, 1)
        ->take_last()
        ->group("");
  }
}

std::vector<NamedFile> present(const std::vector<NamedFile>& files) {
  std::vector<NamedFile> named;
  for (const NamedFile& file : files) {
    if (!file.path.empty()) named.push_back(file);
  }
  return named;
}

/// The inputs that are files: all but tensors of --in.
std::vector<NamedFile> input_files(const AttendArguments& arguments) {
  std::vector<NamedFile> files = present({{"--q", arguments.q},
                                          {"--k", arguments.k},
                                          {"--v", arguments.v},
                                          {"--mask", arguments.mask},
                                          {"--bias", arguments.bias},
                                          {"--blocks", arguments.blocks},
                                          {"--alibi", arguments.alibi},
                                          {"--sinks", arguments.sinks},
                                          {"--q-lengths", arguments.q_lengths},
                                          {"--kv-lengths", arguments.kv_lengths},
                                          {"--wq", arguments.wq},
                                          {"--wk", arguments.wk},
                                          {"--w", arguments.w},
                                          {"--b", arguments.b},
                                          {"--grad", arguments.grad}});
  if (arguments.tensors == nullptr) return files;
  std::erase_if(files, [&](const NamedFile& file) { return arguments.names_tensor(file.path); });
  for (const NamedFile& file : files) {
    std::error_code unknown;
    if (io::is_standard_input(file.path) || std::filesystem::exists(file.path, unknown)) continue;
    throw WrongUse(fmt::format("{}: {}: no tensor of {}, nor a file; name one of {}", file.option, file.path,
                               arguments.in, arguments.tensors->names()));
  }
  files.insert(files.begin(), {"--in", arguments.in});
  return files;
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

/// A bitmap and the size of its blocks go together.
void check_blocks(const AttendArguments& arguments) {
  const bool size = arguments.options.block_size > 0;
  if (size && arguments.blocks.empty()) throw WrongUse("--block-size: no --blocks; give the bitmap of the blocks kept");
  if (!size && !arguments.blocks.empty()) throw WrongUse("--blocks: no --block-size; give how many keys a block has");
}

}  // namespace

void declare_arguments(CLI::App& command, AttendArguments& arguments) {
  add_inputs(command, arguments);
  add_outputs(command, arguments);
  add_gradients(command, arguments);
  add_scores(command, arguments);
  add_masking(command, arguments);
  add(command, kRunning, "--threads", "N", "worker threads (default: all cores)", [&](const std::string& value) {
    arguments.threads = static_cast<int>(std::min<int64_t>(whole_number("--threads", value, 1), 4096));
  });
  add_not_yet(command);
}

void check_arguments(const AttendArguments& arguments) {
  for (const auto& [option, path] : {NamedFile{"--q", arguments.q}, {"--k", arguments.k}, {"--v", arguments.v}}) {
    if (!path.empty()) continue;
    if (arguments.tensors == nullptr) {
      throw WrongUse(fmt::format("{}: missing; give --q, --k and --v, each a .npy file", option));
    }
    throw WrongUse(fmt::format("{}: missing, and {} has no tensor {}; name one of {}", option, arguments.in,
                               option.substr(2), arguments.tensors->names()));
  }
  std::vector<NamedFile> outputs = present({{"--out", arguments.out},
                                            {"--lse", arguments.lse},
                                            {"--weights", arguments.weights},
                                            {"--dropout-mask", arguments.dropout_mask}});
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
  check_gradients(arguments, gradients);
  check_blocks(arguments);
  outputs.insert(outputs.end(), gradients.begin(), gradients.end());
  if (outputs.empty()) {
    throw WrongUse("nothing to write: give --out, --lse, --weights or --dropout-mask, or --grad and a gradient");
  }
  if (arguments.json) outputs.insert(outputs.begin(), {"--json", "-"});
  check_files(input_files(arguments), outputs, Sharing::safetensors);
}

}  // namespace foveate::cli
