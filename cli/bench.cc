// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench_measure.h"
#include "cli/bench_report.h"
#include "cli/bench_work.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/files.h"
#include "cli/flag.h"
#include "cli/interrupt.h"
#include "cli/machine.h"
#include "cli/option_value.h"
#include "cli/progress.h"
#include "cli/target_option.h"
#include "foveate/target.h"
#include "foveate/tbb.h"

namespace foveate::cli {
namespace {

constexpr std::string_view kShapeForm = "b,h_q,h_kv,n_q,n_kv,d_k,d_v";
const std::vector<std::string_view> kTypes = {"f32", "f16", "bf16", "f64", "int8"};

struct BenchArguments {
  std::vector<std::string> filters;  ///< rows whose names hold one of them; none: all
  std::string target;                ///< "": the one in use
  int64_t threads = 0;               ///< 0: one, then all
  double seconds = 0.5;
  bool list = false;
  std::optional<std::string> json;  ///< a file, or "-"

  // One's own work.
  std::optional<AttentionShape> shape;
  std::optional<DType> stored;
  bool causal = false;
  std::optional<std::vector<int64_t>> window;
  bool gradients = false;
};

/// What cannot be measured is refused before anything is.
AttentionShape parse_shape(const std::string& text) {
  const std::vector<int64_t> n = whole_numbers("--shape", text, kShapeForm, "1,8,8,2048,2048,64,64");
  if (*std::min_element(n.begin(), n.end()) < 1) throw WrongUse("--shape: extents are at least 1, got " + text);
  const AttentionShape shape = {
      .b = n[0], .h_q = n[1], .h_kv = n[2], .n_q = n[3], .n_kv = n[4], .d_k = n[5], .d_v = n[6]};
  if (shape.h_q % shape.h_kv != 0) {
    throw WrongUse(fmt::format("--shape: {} query heads are no multiple of {} key heads", shape.h_q, shape.h_kv));
  }
  double elements = static_cast<double>(n[0]) * static_cast<double>(std::max(n[1], n[2]));
  elements *= static_cast<double>(std::max(n[3], n[4])) * static_cast<double>(std::max(n[5], n[6]));
  constexpr double kMost = 0x1p40;
  if (elements > kMost) throw WrongUse("--shape: more than 2^40 elements in an array");
  return shape;
}

BenchWork own_work(const BenchArguments& arguments) {
  BenchWork work{.name = "",
                 .shape = *arguments.shape,
                 .stored = arguments.stored.value_or(DType::f32),
                 .causal = arguments.causal,
                 .gradients = arguments.gradients};
  work.shape.dtype = work.stored == DType::i8 ? DType::f32 : work.stored;
  if (arguments.window) {
    work.window_left = (*arguments.window)[0];
    work.window_right = (*arguments.window)[1];
    if (std::min(work.window_left, work.window_right) < kUnlimited) {
      throw WrongUse("--window: sides are at least -1, which means unlimited");
    }
  }
  if (work.gradients && work.stored == DType::i8) throw WrongUse("--grad: int8 keys have no gradients; leave out one");
  work.name = own_name(work);
  return work;
}

std::vector<BenchWork> wanted_works(const BenchArguments& arguments) {
  if (arguments.shape) {
    if (!arguments.filters.empty()) throw WrongUse("--filter: does not go with --shape; ask for one of them");
    return {own_work(arguments)};
  }
  for (const auto& [option, given] : {std::pair("--dtype", arguments.stored.has_value()),
                                      {"--causal", arguments.causal},
                                      {"--window", arguments.window.has_value()},
                                      {"--grad", arguments.gradients}}) {
    if (given)
      throw WrongUse(fmt::format("{}: goes with --shape alone; --filter chooses among the usual works", option));
  }
  std::vector<BenchWork> works = usual_works();
  for (const std::string& filter : arguments.filters) {
    const auto holds = [&filter](const BenchWork& work) { return work.name.find(filter) != work.name.npos; };
    if (std::none_of(works.begin(), works.end(), holds)) {
      throw WrongUse(fmt::format("--filter: no work's name holds '{}' (see foveate bench --list)", filter));
    }
  }
  if (arguments.filters.empty()) return works;
  std::erase_if(works, [&arguments](const BenchWork& work) {
    return std::none_of(arguments.filters.begin(), arguments.filters.end(),
                        [&work](const std::string& filter) { return work.name.find(filter) != work.name.npos; });
  });
  return works;
}

/// Executors to measure with, nullptr being the calling thread alone.
std::vector<std::unique_ptr<TbbExecutor>> wanted_executors(int64_t threads) {
  constexpr int64_t kMostThreads = 4096;
  const int most = static_cast<int>(std::min(threads > 0 ? threads : usable_cores(), kMostThreads));
  std::vector<std::unique_ptr<TbbExecutor>> executors;
  if (threads <= 1) executors.push_back(nullptr);
  if (most > 1) executors.push_back(std::make_unique<TbbExecutor>(most));
  return executors;
}

/// What to say where a work's arrays are larger than memory.
std::runtime_error too_large(const BenchArguments& arguments, const BenchWork& work) {
  return std::runtime_error(arguments.shape ? "--shape: not enough memory for such arrays; make the extents smaller"
                                            : "not enough memory for '" + work.name + "'; --filter chooses others");
}

std::vector<BenchRow> measure_all(const BenchArguments& arguments, const std::vector<BenchWork>& works) {
  const std::vector<std::string> targets = wanted_targets(arguments.target);
  const auto executors = wanted_executors(arguments.threads);
  constexpr double kUnits = 1000;
  Progress progress(static_cast<int64_t>(kUnits) * std::ssize(works) * std::ssize(executors) * std::ssize(targets),
                    "bench");
  Cancellable cancellable;
  std::vector<BenchRow> rows;
  const auto tell = [&](double share) {
    *progress.counter() = static_cast<int64_t>(kUnits * (static_cast<double>(rows.size()) + share));
  };
  for (const std::string& target : targets) {
    throw_unless_ok(pin_target(target.c_str()));
    for (const auto& executor : executors) {
      for (const BenchWork& work : works) {
        try {
          std::optional<BenchRow> row = measure(work, executor.get(), {arguments.seconds, cancellable.stop(), tell});
          if (!row) cancellable.finish();  // throws Interrupted
          rows.push_back(std::move(*row));
        } catch (const std::bad_alloc&) {
          throw too_large(arguments, work);
        }
      }
    }
  }
  cancellable.finish();
  return rows;
}

void run(const BenchArguments& arguments) {
  const std::vector<BenchWork> works = wanted_works(arguments);
  if (arguments.list) {
    if (arguments.json) throw WrongUse("--list: measures nothing; leave out --json");
    for (const BenchWork& work : works) fmt::print("{}\n", work.name);
    return;
  }
  const bool to_file = arguments.json && *arguments.json != "-";
  if (to_file) {
    require_file_name("--json", *arguments.json);
    check_files({}, {{"the report", "-"}, {"--json", *arguments.json}});
  }
  const std::vector<BenchRow> rows = measure_all(arguments, works);
  const std::string json = arguments.json ? bench_json(rows).dump(2) + "\n" : "";
  if (to_file) write_whole(*arguments.json, json);  // first: where it cannot be written, nothing else is printed
  if (arguments.json && !to_file) {
    fmt::print("{}", json);
    return;
  }
  if (arguments.shape) fmt::print("{}\n", shape_text(*arguments.shape));
  fmt::print("{}", bench_text(rows));
}

Manual manual() {
  return {
      .synopsis = "[OPTION]...",
      .paragraphs =
          {"Each call and the limits of the machine are measured by turns; what is told is the best of the turns, and "
           "the median. Limits are multiply-adds on values in registers and plain reads of the same keys and values, "
           "by as many threads. Of one thread, processor time is told.",
           "Operations count two a multiply-add, of the pairs of a query and a key that take part; with gradients "
           "those of both passes. int8 means keys and values of int8 and queries of float32. Names: B batch, H heads, "
           "N "
           "queries and keys, d head dim; 32:8 are query and key heads; train is forward and backward."},
      .examples = {{"All works, in half a minute", "bench"},
                   {"Decoding alone, longer, on one thread", "bench --filter decode --threads 1 --seconds 3"},
                   {"One's own work", "bench --shape 1,32,8,4096,4096,128,128 --dtype bf16 --causal"}},
      .exit_status = {{"0", "success"},
                      {"1", "something failed, such as a full disk"},
                      {"2", "a wrong call: one line on standard error"},
                      {"130", "interrupted by Ctrl-C, with nothing written"}},
      .see_also = {"info"}};
}

void add_own_work(CLI::App& command, BenchArguments& arguments) {
  const std::string group = "One's own work, in place of the usual ones";
  command
      .add_option_function<std::string>(
          "--shape", [&arguments](const std::string& text) { arguments.shape = parse_shape(text); },
          "measure attention of this shape")
      ->option_text(std::string(kShapeForm))
      ->group(group);
  command
      .add_option_function<std::string>(
          "--dtype",
          [&arguments](const std::string& text) {
            constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8};
            arguments.stored = kDTypes[one_of("--dtype", text, kTypes)];
          },
          "type of the arrays; int8: of keys and values (default f32)")
      ->option_text("f32|f16|bf16|f64|int8")
      ->group(group);
  add_flag(command, "--causal", arguments.causal, "only keys at or before the query's position take part")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--window",
          [&arguments](const std::string& text) { arguments.window = whole_numbers("--window", text, "L,R", "128,0"); },
          "only keys from L before to R after the query take part; -1: no bound")
      ->option_text("L,R")
      ->group(group);
  add_flag(command, "--grad", arguments.gradients, "forward and backward together")->group(group);
}

}  // namespace

void add_bench(CLI::App& app) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = add_command(app, "bench", "Measure attention here, beside what the machine can do", manual());
  command
      ->add_option("--filter", arguments->filters,
                   "only works whose names hold this text; may be repeated (default: all)")
      ->option_text("TEXT")
      ->allow_extra_args(false);
  add_flag(*command, "--list", arguments->list, "only list the works");
  command
      ->add_option("--target", arguments->target, "a target that foveate info names, or all (default: the one in use)")
      ->option_text("NAME|all");
  command
      ->add_option_function<std::string>(
          "--threads",
          [arguments](const std::string& text) { arguments->threads = whole_number("--threads", text, 1); },
          "so many threads, as far as there are cores (default: one, then all cores)")
      ->option_text("N");
  command
      ->add_option_function<std::string>(
          "--seconds",
          [arguments](const std::string& text) {
            arguments->seconds = finite_number("--seconds", text);
            if (arguments->seconds < 0) throw WrongUse("--seconds: expected 0 or more, got " + text);
          },
          "how long to measure each work, but three turns at the least (default 0.5)")
      ->option_text("S");
  command
      ->add_option("--json", arguments->json,
                   "machine-readable output: into a file beside the table, or, without one or with -, in its place")
      ->option_text("F")
      ->expected(0, 1)
      ->default_str("-");
  add_own_work(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace foveate::cli
