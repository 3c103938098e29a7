// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/problem_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/attend_read.h"
#include "cli/errors.h"
#include "cli/flag.h"
#include "cli/option_value.h"
#include "io/source.h"

namespace foveate::cli {
namespace {

/// "; name one of q, k"; of an empty file there is none to name.
std::string or_name_one(const io::Safetensors& file) {
  return file.tensors().empty() ? ", which is empty" : "; name one of " + file.names();
}

/// Opened at once, so that inputs can be told from paths. Before --q, --k and --v, which overrule what is set here.
void add_in(CLI::App& command, ProblemArguments& arguments) {
  add_value(command, kInputs, "--in", "F",
            "a .safetensors file: inputs may be named by its tensors (default q, k and v)",
            [&](const std::string& value) {
              if (value.empty()) throw WrongUse("--in: empty; name a file");
              require_file_name("--in", value);
              check_files({{"--in", value}}, {});
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

}  // namespace

void add_value(CLI::App& command, const char* group, const std::string& name, const char* value, const char* help,
               const std::function<void(const std::string&)>& use) {
  command.add_option_function<std::string>(name, use, help)->option_text(value)->group(group);
}

void add_file(CLI::App& command, const char* group, const std::string& name, const char* help, std::string& path) {
  add_value(command, group, name, "F", help, [name, &path](const std::string& value) {
    if (value.empty()) throw WrongUse(fmt::format("{}: empty; name a file", name));
    require_file_name(name, value);
    path = value;
  });
}

void declare_inputs(CLI::App& command, ProblemArguments& arguments) {
  add_in(command, arguments);
  add_file(command, kInputs, "--q", "queries [b, h_q, n_q, d_k], float; also [h, n, d] or [n, d]", arguments.q);
  add_file(command, kInputs, "--k", "keys [b, h_kv, n_kv, d_k], float; h_kv divides h_q (GQA, grouped queries)",
           arguments.k);
  add_file(command, kInputs, "--v", "values [b, h_kv, n_kv, d_v], float", arguments.v);
  add_value(command, kInputs, "--layout", "bhnd|bnhd", "order of the axes of q, k, v, out and gradients (default bhnd)",
            [&](const std::string& value) {
              arguments.layout = one_of("--layout", value, {"bhnd", "bnhd"}) == 0 ? Layout::bhnd : Layout::bnhd;
            });
  add_value(command, kInputs, "--dtype", "f32|f16|bf16|f64",
            "q, k, v and grad are rounded to this type, and so are the results; bf16 is written as float32 in .npy "
            "(default: q's own)",
            [&](const std::string& value) {
              constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f64};
              arguments.dtype = kTypes[one_of("--dtype", value, {"f32", "f16", "bf16", "f64"})];
            });
}

void declare_scores(CLI::App& command, ProblemArguments& arguments) {
  AttentionOptions& options = arguments.options;
  add_value(command, kScores, "--scale", "X", "multiplies scores (default 1/sqrt(d_k))",
            [&](const std::string& value) { options.scale = finite_number("--scale", value); });
  add_value(command, kScores, "--softcap", "X", "scores pass through X * tanh(score / X) (default 0: off)",
            [&](const std::string& value) { options.softcap = finite_number("--softcap", value); });
  add_file(command, kScores, "--bias", "float, added to the scores; broadcast to [b, h_q, n_q, n_kv]", arguments.bias);
  add_file(command, kScores, "--alibi", "float, ALiBi slopes  [h_q]: score - slope * |p_i - j|", arguments.alibi);
  add_file(command, kScores, "--sinks", "float, one more score a head, which takes weight and adds no value  [h_q]",
           arguments.sinks);
}

void declare_masking(CLI::App& command, ProblemArguments& arguments) {
  AttentionOptions& options = arguments.options;
  add_flag(command, "--causal", options.causal, "keys up to the query's own position p_i only")->group(kMasking);
  add_value(command, kMasking, "--align", "bottom-right|top-left",
            "p_i = i + n_kv - n_q, or p_i = i (default bottom-right)", [&](const std::string& value) {
              options.align =
                  one_of("--align", value, {"bottom-right", "top-left"}) == 0 ? Align::bottom_right : Align::top_left;
            });
  add_value(command, kMasking, "--window", "L,R", "keys from p_i - L to p_i + R only, both inclusive; -1: no bound",
            [&](const std::string& value) {
              const std::vector<int64_t> sides = whole_numbers("--window", value, "L,R", "128,0");
              options.window_left = sides[0];
              options.window_right = sides[1];
            });
  add_file(command, kMasking, "--mask", "bool, true = takes part; broadcast to [b, h_q, n_q, n_kv]", arguments.mask);
  add_file(command, kMasking, "--blocks",
           "bool, true = kept; broadcast to [b, h_q, ceil(n_q/N), ceil(n_kv/N)], N = --block-size (foveate blocks)",
           arguments.blocks);
  add_value(command, kMasking, "--block-size", "N", "queries and keys to a block of --blocks (fastest from 64 on)",
            [&](const std::string& value) { options.block_size = whole_number("--block-size", value, 1); });
  add_file(command, kMasking, "--q-lengths", "integers, how many queries of each sequence are there [b]",
           arguments.q_lengths);
  add_file(command, kMasking, "--kv-lengths", "integers, how many keys of each sequence are there [b]",
           arguments.kv_lengths);
}

void declare_running(CLI::App& command, ProblemArguments& arguments) {
  add_value(command, kRunning, "--threads", "N", "worker threads (default: all cores)", [&](const std::string& value) {
    arguments.threads = static_cast<int>(std::min<int64_t>(whole_number("--threads", value, 1), 4096));
  });
}

std::vector<NamedFile> present(const std::vector<NamedFile>& files) {
  std::vector<NamedFile> named;
  for (const NamedFile& file : files) {
    if (!file.path.empty()) named.push_back(file);
  }
  return named;
}

std::vector<NamedFile> input_files(const ProblemArguments& arguments, const std::vector<NamedFile>& more) {
  std::vector<NamedFile> files = present({{"--q", arguments.q},
                                          {"--k", arguments.k},
                                          {"--v", arguments.v},
                                          {"--mask", arguments.mask},
                                          {"--bias", arguments.bias},
                                          {"--blocks", arguments.blocks},
                                          {"--alibi", arguments.alibi},
                                          {"--sinks", arguments.sinks},
                                          {"--q-lengths", arguments.q_lengths},
                                          {"--kv-lengths", arguments.kv_lengths}});
  for (const NamedFile& file : present(more)) files.push_back(file);
  if (arguments.tensors == nullptr) return files;
  std::erase_if(files, [&](const NamedFile& file) { return arguments.names_tensor(file.path); });
  for (const NamedFile& file : files) {
    std::error_code unknown;
    if (io::is_standard_input(file.path) || std::filesystem::exists(file.path, unknown)) continue;
    throw WrongUse(fmt::format("{}: {}: neither a file nor a tensor of {}{}", file.option, file.path, arguments.in,
                               or_name_one(*arguments.tensors)));
  }
  files.insert(files.begin(), {"--in", arguments.in});
  return files;
}

void check_problem(const ProblemArguments& arguments, bool needs_v) {
  for (const auto& [option, path] : {NamedFile{"--q", arguments.q}, {"--k", arguments.k}, {"--v", arguments.v}}) {
    if (!path.empty() || (option == "--v" && !needs_v)) continue;
    if (arguments.tensors == nullptr) {
      throw WrongUse(fmt::format("{}: missing; give {}, each a .npy or .safetensors file, or --in", option,
                                 needs_v ? "--q, --k and --v" : "--q and --k"));
    }
    throw WrongUse(fmt::format("{}: missing, and no tensor {} in {}{}", option, option.substr(2), arguments.in,
                               or_name_one(*arguments.tensors)));
  }
  const bool size = arguments.options.block_size > 0;
  if (size && arguments.blocks.empty()) throw WrongUse("--block-size: no --blocks; give the bitmap of the blocks kept");
  if (!size && !arguments.blocks.empty()) throw WrongUse("--blocks: no --block-size; give how many keys a block has");
}

}  // namespace foveate::cli
