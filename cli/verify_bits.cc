// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verify_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/flag.h"
#include "cli/interrupt.h"
#include "cli/machine.h"
#include "cli/option_value.h"
#include "cli/progress.h"
#include "cli/target_option.h"
#include "foveate/attention.h"
#include "foveate/target.h"
#include "foveate/tbb.h"

namespace foveate::cli {

using Json = nlohmann::ordered_json;

void TypeVerdict::add(const Way& way, const RowBits& rows) {
  ++ways_;
  const uint64_t hash = hash_of(rows);
  if (expected_.empty()) {
    expected_.push_back(rows);
    plainest_ = way;
    hash_ = hash;
  } else if (const auto first = first_difference(expected_.front(), rows)) {
    different_.push_back({way, hash, *first});
  }
}

std::string TypeVerdict::table_row() const {
  const std::string verdict =
      same() ? "same" : fmt::format("{} {}", different_.size(), different_.size() == 1 ? "way differs" : "ways differ");
  return fmt::format("  {:<30}  {:>4}  {:016x}   {}\n", type_->name, ways_, hash_, verdict);
}

std::string TypeVerdict::differences_text() const {
  if (same()) return {};
  constexpr size_t kShown = 5;
  std::string text = fmt::format("\n{} ({}): other bits than\n  {}\nhave\n", type_->name, target_, name_of(plainest_));
  for (size_t i = 0; i < std::min(different_.size(), kShown); ++i) {
    const Different& d = different_[i];
    text += fmt::format("  {}\n    {}\n", name_of(d.way), words_of(d.first));
  }
  if (different_.size() > kShown) text += fmt::format("  and {} more; --json lists all\n", different_.size() - kShown);
  return text;
}

Json TypeVerdict::json() const {
  Json different = Json::array();
  for (const Different& d : different_) {
    different.push_back({{"way", name_of(d.way)},
                         {"hash", fmt::format("{:016x}", d.hash)},
                         {"row", d.first.row},
                         {"head", d.first.head},
                         {"output", d.first.output},
                         {"element", d.first.element},
                         {"expected", d.first.expected},
                         {"got", d.first.got}});
  }
  return {{"target", target_}, {"type", type_->name},   {"ways", ways_}, {"hash", fmt::format("{:016x}", hash_)},
          {"same", same()},    {"different", different}};
}

namespace {

using Size = WaySizes;

struct VerifyArguments {
  uint64_t seed = 1;
  int64_t threads = 0;  ///< at most so many; 0: all cores
  std::string target;   ///< "": the active one
  bool json = false;
};

/// 1, 2, 3, then doubling, and the most there may be.
std::vector<int> thread_counts(int64_t most) {
  std::vector<int> counts;
  for (int64_t n = 1; n < most; n = n < 3 ? n + 1 : n == 3 ? 4 : 2 * n) counts.push_back(static_cast<int>(n));
  counts.push_back(static_cast<int>(most));
  return counts;
}

/// Executors of each number of threads, 1 first, which needs none.
class Executors {
 public:
  explicit Executors(int64_t most) {
    const int64_t possible = TbbExecutor(0).concurrency();
    counts_ = thread_counts(std::min<int64_t>(most > 0 ? most : usable_cores(), possible));
    for (const int n : counts_) executors_.push_back(n == 1 ? nullptr : std::make_unique<TbbExecutor>(n));
  }

  const std::vector<int>& counts() const { return counts_; }

  Executor* with(int threads) const {
    return executors_[std::find(counts_.begin(), counts_.end(), threads) - counts_.begin()].get();
  }

 private:
  std::vector<int> counts_;
  std::vector<std::unique_ptr<TbbExecutor>> executors_;
};

std::vector<TypeVerdict> compare_ways(const std::vector<std::string>& targets, uint64_t seed,
                                      const Executors& executors) {
  const std::vector<Way> ways = ways_with(executors.counts());
  Progress progress(std::ssize(ways) * std::ssize(kStoredTypes) * std::ssize(targets), "verify-bits");
  Cancellable cancellable;
  std::vector<TypeVerdict> verdicts;
  for (const std::string& target : targets) {
    throw_unless_ok(pin_target(target.c_str()));
    for (const StoredType& type : kStoredTypes) {
      const RowWays sequence(type, seed);
      TypeVerdict& verdict = verdicts.emplace_back(target, type);
      for (const Way& way : ways) {
        RowBits rows = sequence.make_rows();
        const Status status =
            sequence.compute(way, {.executor = executors.with(way.threads), .stop = cancellable.stop()}, rows);
        if (status.code() == StatusCode::cancelled) cancellable.finish();
        throw_unless_ok(status);
        verdict.add(way, rows);
        ++*progress.counter();
      }
    }
  }
  cancellable.finish();
  return verdicts;
}

void print_text(const VerifyArguments& arguments, const Executors& executors, const std::vector<TypeVerdict>& verdicts,
                bool same) {
  fmt::print("One sequence, computed in every way, and the bits of its rows compared\n\n");
  fmt::print("  {:<10} {} tokens; {} query heads on {} key heads, head dims {} and {}\n", "sequence", Size::n,
             Size::h_q, Size::h_kv, Size::d_k, Size::d_v);
  fmt::print("  {:<10} causal, window {}, softcap {}, a sink a head; seed {}\n", "", Size::window_left, Size::softcap,
             arguments.seed);
  fmt::print("  {:<10} one prompt; chunks of {}; token by token\n", "fed as", Size::chunk);
  fmt::print("  {:<10} plain arrays in bhnd, bnhd and bhdn order; a KvCache, contiguous\n", "keys in");
  fmt::print("  {:<10} and in pages of 1, 16 and 64; pages of 16 by a block table\n", "");
  fmt::print("  {:<10} no other; two others of unequal lengths, padded and packed\n", "beside");
  fmt::print("  {:<10} {}\n", "threads", fmt::join(executors.counts(), ", "));
  std::string target;
  for (const TypeVerdict& verdict : verdicts) {
    if (verdict.target() != target) {
      target = verdict.target();
      fmt::print("\n{}\n  {:<30}  {:>4}  {:<16}   {}\n", target, "stored type", "ways", "hash of o, lse", "bits");
    }
    fmt::print("{}", verdict.table_row());
  }
  for (const TypeVerdict& verdict : verdicts) fmt::print("{}", verdict.differences_text());
  fmt::print("\n{}\n", same ? "Every row has one result, whatever way it is computed."
                            : "Some rows depend on the way they are computed: please report this.");
}

void print_json(const VerifyArguments& arguments, const Executors& executors, const std::vector<TypeVerdict>& verdicts,
                bool same) {
  Json results = Json::array();
  for (const TypeVerdict& verdict : verdicts) results.push_back(verdict.json());
  Json ways = Json::array();
  for (const Way& way : ways_with(executors.counts())) ways.push_back(name_of(way));
  const Json report = {{"foveate", FOVEATE_VERSION},
                       {"same", same},
                       {"seed", arguments.seed},
                       {"threads", executors.counts()},
                       {"sequence",
                        {{"h_q", Size::h_q},
                         {"h_kv", Size::h_kv},
                         {"n", Size::n},
                         {"d_k", Size::d_k},
                         {"d_v", Size::d_v},
                         {"causal", true},
                         {"window_left", Size::window_left},
                         {"softcap", Size::softcap},
                         {"sinks", true}}},
                       {"ways", ways},
                       {"results", results}};
  fmt::print("{}\n", report.dump(2));
}

int run(const VerifyArguments& arguments) {
  const std::vector<std::string> targets = wanted_targets(arguments.target);
  const Executors executors(arguments.threads);
  const std::vector<TypeVerdict> verdicts = compare_ways(targets, arguments.seed, executors);
  const bool same = std::all_of(verdicts.begin(), verdicts.end(), [](const TypeVerdict& v) { return v.same(); });
  (arguments.json ? print_json : print_text)(arguments, executors, verdicts, same);
  return same ? 0 : kExitFailure;
}

Manual manual() {
  return {
      .synopsis = "[OPTION]...",
      .paragraphs =
          {"A row of o and lse depends on its own query, the keys that take part and the options: not on threads, on "
           "how many rows come with it, or on where its keys lie. The hash is FNV-1a of 64 bits; it stands for one "
           "target and seed."},
      .examples = {{"On every instruction set of this machine", "verify-bits --target all"}},
      .exit_status = {{"0", "all ways agree"},
                      {"1", "some differ; or something failed"},
                      {"2", "a wrong call: one line on standard error"},
                      {"130", "interrupted by Ctrl-C"}},
      .see_also = {"info", "verify"}};
}

}  // namespace

void add_verify_bits(CLI::App& app, int& exit_status) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command =
      add_command(app, "verify-bits", "Compute rows in every way there is and compare their bits", manual());
  command
      ->add_option_function<std::string>(
          "--seed", [arguments](const std::string& text) { arguments->seed = seed_number("--seed", text); },
          "seed of the sequence's numbers (default 1)")
      ->option_text("S");
  command
      ->add_option_function<std::string>(
          "--threads",
          [arguments](const std::string& text) { arguments->threads = whole_number("--threads", text, 1); },
          "compares 1 to N threads, but no more than there are cores (default: all)")
      ->option_text("N");
  command
      ->add_option("--target", arguments->target, "a target that foveate info names, or all (default: the one in use)")
      ->option_text("NAME|all");
  add_flag(*command, "--json", arguments->json, "machine-readable output");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace foveate::cli
