// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/files.h"
#include "cli/flag.h"
#include "cli/inspect_figure.h"
#include "cli/inspect_json.h"
#include "cli/inspect_look.h"
#include "cli/locale.h"
#include "cli/option_value.h"
#include "cli/terminal.h"
#include "insight/tables.h"
#include "insight/view.h"

namespace foveate::cli {
namespace {

constexpr const char* kShown = "What is shown";
constexpr int64_t kTop = 3;

struct InspectArguments {
  AttendArguments problem;                ///< its inputs, scores and masks
  std::optional<std::string> rows, keys;  ///< as typed
  std::optional<int64_t> top;             ///< left out: 3
  std::vector<int64_t> sink_keys;
  std::string figure;
  Pooling pooling = Pooling::largest;
  std::string lang;
  bool json = false;
};

/// "all", "7" or "0,15", both ends inclusive, of n queries or keys.
insight::Range range_of(std::string_view option, const std::optional<std::string>& text, int64_t n, const char* what) {
  if (!text) return {};
  if (*text == "all") return {0, n};
  std::vector<int64_t> ends;
  if (text->find(',') == std::string::npos) {
    ends.assign(2, whole_number(option, *text, 0));
  } else {
    ends = whole_numbers(option, *text, "FIRST,LAST", "0,15");
  }
  if (ends[0] < 0 || ends[1] < ends[0]) {
    throw WrongUse(fmt::format("{}: {}: expected all, N, or FIRST,LAST with 0 <= FIRST <= LAST", option, *text));
  }
  if (ends[1] >= n) throw WrongUse(fmt::format("{}: {}: there are {} {}, counted from 0", option, *text, n, what));
  return {ends[0], ends[1] + 1};
}

std::vector<int64_t> key_list(const std::string& text) {
  std::vector<int64_t> keys;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    keys.push_back(whole_number("--sink-keys", text.substr(begin, comma - begin), 0));
    begin = comma + 1;
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

bool is_png(const std::string& path) { return path.ends_with(".png"); }

void check(const InspectArguments& arguments) {
  check_problem(arguments.problem, false);
  if (arguments.top && !arguments.rows) {
    throw WrongUse("--top: no --rows; give the queries whose largest weights are wanted");
  }
  std::vector<NamedFile> outputs = {{arguments.json ? "--json" : "the report", "-"}};
  if (!arguments.figure.empty()) outputs.push_back({"--figure", arguments.figure});
  check_files(input_files(arguments.problem), outputs);
}

insight::View view_of(const InspectArguments& arguments, const AttentionShape& shape) {
  insight::View view{.rows = range_of("--rows", arguments.rows, shape.n_q, "queries"),
                     .keys = range_of("--keys", arguments.keys, shape.n_kv, "keys"),
                     .sink_keys = arguments.sink_keys,
                     .sinks = !arguments.problem.sinks.empty(),
                     .asks_layout = insight::looks_exchanged(shape, arguments.problem.layout)};
  for (const int64_t key : view.sink_keys) {
    if (key >= shape.n_kv) {
      throw WrongUse(fmt::format("--sink-keys: {}: there are {} keys, counted from 0", key, shape.n_kv));
    }
  }
  return view;
}

void run(const InspectArguments& arguments) {
  const Language language = parse_language(arguments.lang);
  check(arguments);
  PieceLimits limits;
  limits.whole = std::numeric_limits<int64_t>::max();  // figures want all keys at hand
  const AttendInputs inputs = load_inputs(arguments.problem, limits);
  const insight::View view = view_of(arguments, inputs.shape);
  const bool draws = !arguments.figure.empty();
  if (draws && (inputs.shape.n_q == 0 || inputs.shape.n_kv == 0 || inputs.shape.b * inputs.shape.h_q == 0)) {
    throw WrongUse("--figure: no heads, no queries or no keys to draw; leave it out");
  }
  if (is_png(arguments.figure)) {
    check_png_size(inputs.shape.b * inputs.shape.h_q, inputs.shape.n_q, inputs.shape.n_kv);
  }
  const insight::Wanted wanted{.top_keys = !arguments.rows ? 0 : arguments.top.value_or(kTop),
                               .map_side = draws ? map_side(inputs.shape.b * inputs.shape.h_q) : 0};
  const insight::Report report = look(arguments.problem, inputs, wanted);
  // First the file: where it cannot be written, one line says so and nothing else is printed.
  if (draws) {
    write_whole(arguments.figure, figure_of(report, arguments.pooling, is_png(arguments.figure), language));
  }
  write_whole("-", arguments.json ? json_of(report, view)
                                  : insight::tables(report, view, standard_output(ColorChoice::never).width, language));
}

Manual manual() {
  return {
      .synopsis = "--q F --k F [--v F] [OPTION]...",
      .paragraphs = {"The n_q x n_kv matrix is never formed, whatever is asked for. Give --v to have NaN and Inf of o "
                     "traced too. Colours of --figure are cividis over three decades; grey is a weight of exactly 0."},
      .examples = {{"What stands out in each head", "inspect --q q.npy --k k.npy --causal"},
                   {"With a picture of each", "inspect --in layer7.safetensors --causal --figure layer7.png"},
                   {"Where single queries look", "inspect --q q.npy --k k.npy --v v.npy --rows 0,15 --top 5"},
                   {"For a program", "inspect --q q.npy --k k.npy --json > figures.json"}},
      .exit_status = usual_exit_status(),
      .see_also = {"attend", "diagnose"}};
}

void declare_shown(CLI::App& command, InspectArguments& arguments) {
  add_value(command, kShown, "--rows", "all|N|A,B", "figures and largest weights of these queries, both ends inclusive",
            [&](const std::string& value) { arguments.rows = value; });
  add_value(command, kShown, "--top", "K", "so many largest weights of each of --rows (default 3)",
            [&](const std::string& value) {
              arguments.top = whole_number("--top", value, 1);
              if (*arguments.top > 1024) throw WrongUse(fmt::format("--top: {}; at most 1024", value));
            });
  add_value(command, kShown, "--keys", "all|N|A,B", "the mass that these keys receive",
            [&](const std::string& value) { arguments.keys = value; });
  add_value(command, kShown, "--sink-keys", "J,J,...", "tell the mass on these keys, together, in a column of its own",
            [&](const std::string& value) { arguments.sink_keys = key_list(value); });
  add_value(command, kShown, "--figure", "F", "heatmaps of all heads: .svg or .png", [&](const std::string& value) {
    require_file_name("--figure", value);
    if (!value.ends_with(".svg") && !is_png(value)) {
      throw WrongUse(fmt::format("--figure: {}: expected a name ending in .svg or .png", value));
    }
    arguments.figure = value;
  });
  add_value(command, kShown, "--pool", "max|mean", "what a cell of --figure shows of its weights (default max)",
            [&](const std::string& value) {
              arguments.pooling = one_of("--pool", value, {"max", "mean"}) == 0 ? Pooling::largest : Pooling::mean;
            });
  add_flag(command, "--json", arguments.json, "print the figures as JSON, and nothing else")->group(kShown);
  add_value(command, kShown, "--lang", "en|zh", "language of the report (default: the locale's)",
            [&](const std::string& value) { arguments.lang = value; });
}

}  // namespace

void add_inspect(CLI::App& app) {
  const auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      add_command(app, "inspect", "See what each head looks at: figures, words, pictures; traces NaN", manual());
  declare_inputs(*command, arguments->problem);
  declare_shown(*command, *arguments);
  declare_scores(*command, arguments->problem);
  declare_masking(*command, arguments->problem);
  declare_running(*command, arguments->problem);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace foveate::cli
