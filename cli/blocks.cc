// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/files.h"
#include "cli/flag.h"
#include "cli/option_value.h"
#include "foveate/patterns.h"
#include "io/array.h"
#include "io/npy.h"
#include "io/output_file.h"

namespace foveate::cli {
namespace {

struct BlocksArguments {
  BlockPattern pattern = {.n_q = -1, .n_kv = -1};
  int64_t heads = 1;
  std::string out;
};

/// A number of tokens or blocks.
int64_t length(std::string_view option, std::string_view text, int64_t least) {
  const int64_t n = whole_number(option, text, least);
  if (n > int64_t{1} << 60) throw WrongUse(fmt::format("{}: {} is past 2^60", option, text));
  return n;
}

void run(const BlocksArguments& arguments) {
  const BlockPattern& pattern = arguments.pattern;
  if (arguments.out.empty()) throw WrongUse("--out: missing; give the .npy file to write");
  for (const auto& [option, n] : {std::pair("--n-q", pattern.n_q), std::pair("--n-kv", pattern.n_kv)}) {
    if (n < 0) throw WrongUse(fmt::format("{}: missing; give --n, or --n-q and --n-kv", option));
  }
  check_files({}, {{"--out", arguments.out}});
  const auto blocks_of = [&](int64_t n) { return (n + pattern.block_size - 1) / pattern.block_size; };
  const std::vector<int64_t> shape = {arguments.heads, blocks_of(pattern.n_q), blocks_of(pattern.n_kv)};
  io::OutputFile file(arguments.out);
  io::Array array = io::make_array(DType::boolean, shape);
  bool* const kept = static_cast<bool*>(array.data());
  const Status status = make_blocks(pattern, view(kept, 1, shape[0], shape[1], shape[2]));
  if (!status.ok()) throw WrongUse(status.message());
  io::write_npy(file, array);
  file.commit();
  if (io::is_standard_output(arguments.out)) return;
  const auto n = std::count(kept, kept + array.size(), true);
  fmt::print("{} of {} blocks kept ({:.3g}%)\n", n, array.size(),
             array.size() == 0 ? 0 : 100.0 * static_cast<double>(n) / static_cast<double>(array.size()));
}

Manual manual() {
  return {
      .synopsis = "--n N --out F [OPTION]...",
      .paragraphs =
          {"Writes bool [heads, ceil(n_q/N), ceil(n_kv/N)], N = --block-size: true where some query and key of the "
           "blocks meet in the window, by a global token, or by chance; whole blocks are kept. For a causal mask "
           "to the key give --causal to attend as well; --window only where there are no global and no random "
           "blocks, for it would take them away."},
      .examples = {{"Longformer's pattern", "blocks --n 4096 --window 256,256 --global 1 --out longformer.npy"},
                   {"BigBird's", "blocks --n 4096 --window 64,64 --global 128 --random 3 --heads 12 --out bigbird.npy"},
                   {"Attention over those blocks alone",
                    "attend --q q.npy --k k.npy --v v.npy --blocks bigbird.npy --block-size 64 --out o.npy"}},
      .exit_status = usual_exit_status(),
      .see_also = {"attend"}};
}

}  // namespace

void add_blocks(CLI::App& app) {
  const auto arguments = std::make_shared<BlocksArguments>();
  CLI::App* command =
      add_command(app, "blocks", "Make a bitmap of blocks: window, global tokens, random blocks", manual());
  BlockPattern& pattern = arguments->pattern;
  const auto add = [&](const char* name, const char* form, const char* help, auto set) {
    command->add_option_function<std::string>(name, set, help)->option_text(form);
  };
  const auto add_number = [&](const char* name, const char* form, const char* help, int64_t& to, int64_t least) {
    add(name, form, help, [arguments, name, &to, least](const std::string& text) { to = length(name, text, least); });
  };
  add("--n", "N", "queries and keys",
      [&pattern](const std::string& text) { pattern.n_q = pattern.n_kv = length("--n", text, 0); });
  add_number("--n-q", "N", "queries, where there are fewer or more: the last sees the last key", pattern.n_q, 0);
  add_number("--n-kv", "N", "keys", pattern.n_kv, 0);
  add_number("--block-size", "N", "queries and keys to a block (default 64)", pattern.block_size, 1);
  add("--window", "L,R", "keys from p_i - L to p_i + R, both inclusive; -1: no bound (default 0,0)",
      [&pattern](const std::string& text) {
        const std::vector<int64_t> sides = whole_numbers("--window", text, "L,R", "128,0");
        pattern.window_left = sides[0];
        pattern.window_right = sides[1];
      });
  add_number("--global", "N", "the first N tokens see all and are seen by all (default 0)", pattern.global_tokens, 0);
  add_number("--random", "N", "so many blocks more in each row of blocks (default 0)", pattern.random_blocks, 0);
  add("--seed", "S", "seed of --random (default 0)",
      [&pattern](const std::string& text) { pattern.seed = seed_number("--seed", text); });
  add_flag(*command, "--causal", pattern.causal, "no blocks of which every key is in the future");
  add_number("--heads", "N", "bitmaps, each with random blocks of its own (default 1)", arguments->heads, 1);
  add("--out", "F", "the .npy file to write; - is standard output", [arguments](const std::string& text) {
    require_file_name("--out", text);
    if (text.ends_with(".safetensors"))
      throw WrongUse(fmt::format("--out: {}: a bitmap is written as .npy; name it so", text));
    arguments->out = text;
  });
  command->callback([arguments] { run(*arguments); });
}

}  // namespace foveate::cli
