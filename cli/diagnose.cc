// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/diagnose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "cli/axes.h"
#include "cli/command.h"
#include "cli/diagnose_report.h"
#include "cli/errors.h"
#include "cli/flag.h"
#include "cli/interrupt.h"
#include "cli/locale.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "diagnosis/diagnose.h"
#include "foveate/tbb.h"

namespace foveate::cli {
namespace {

constexpr const char* kJudged = "What is judged (files as above)";

struct DiagnoseArguments : AttendArguments {
  std::string lang;
};

/// The same extents with the axes h and n swapped.
std::vector<int64_t> in_other_layout(std::vector<int64_t> shape) {
  if (shape.size() > 2) std::swap(shape[shape.size() - 3], shape[shape.size() - 2]);
  return shape;
}

/// What makes of a shape that is often saved the one that is expected; empty of another.
std::string remedy_of(const std::string& name, const std::vector<int64_t>& shape, const std::vector<int64_t>& expected,
                      Layout layout) {
  std::vector<int64_t> with_one = expected;
  with_one.push_back(1);
  if (shape == with_one) return fmt::format("save {}[..., 0]", name);
  if (expected.size() < 3) return "";
  // Heads merged: [n, h * d] in place of [h, n, d].
  const bool bhnd = layout == Layout::bhnd;
  const size_t n_axis = expected.size() - (bhnd ? 2 : 3), h_axis = expected.size() - (bhnd ? 3 : 2);
  const int64_t h = expected[h_axis], n = expected[n_axis], d = expected.back();
  std::vector<int64_t> merged(expected.begin(), expected.end() - 3), split = merged;
  merged.insert(merged.end(), {n, h * d});
  split.insert(split.end(), {n, h, d});
  if (shape != merged) return "";
  std::string reshape = fmt::format("heads are merged: save {}.reshape({})", name, fmt::join(split, ", "));
  if (!bhnd) return reshape;
  return reshape + (expected.size() == 4 ? ".transpose(0, 2, 1, 3)" : ".transpose(1, 0, 2)");
}

void require_shape(const char* option, const io::Array& array, const std::vector<int64_t>& expected, Layout layout) {
  if (array.shape == expected) return;
  std::string message = fmt::format("{}: shape {}, expected {}", option, array.shape, expected);
  if (const std::string remedy = remedy_of(option + 2, array.shape, expected, layout); !remedy.empty()) {
    message += "; " + remedy;
  } else if (array.shape == in_other_layout(expected)) {
    message += fmt::format("; is this --layout {}?", layout == Layout::bhnd ? "bnhd" : "bhnd");
  }
  throw WrongUse(message);
}

/// What is judged, by the shapes of the inputs.
struct Judged {
  io::Array out, lse;

  Judged(const DiagnoseArguments& arguments, const AttendInputs& inputs)
      : out(load_floats(arguments, "--out", arguments.out)), lse(load_floats(arguments, "--lse", arguments.lse)) {
    std::vector<int64_t> shape = inputs.q.shape;
    shape.back() = inputs.v.shape.back();
    require_shape("--out", out, shape, arguments.layout);
    if (lse.dtype == DType::none) return;
    // lse is [b, h, n] in any layout.
    if (arguments.layout == Layout::bnhd) shape = in_other_layout(shape);
    shape.pop_back();
    require_shape("--lse", lse, shape, Layout::bhnd);
  }

  ConstTensor lse_view() const {
    if (lse.dtype == DType::none) return {};
    std::vector<size_t> places = {0, 1, 2};
    places.erase(places.begin(), places.end() - static_cast<std::ptrdiff_t>(lse.shape.size()));
    return view_at(lse, places);
  }
};

void check(const DiagnoseArguments& arguments) {
  check_problem(arguments, true);
  if (arguments.out.empty()) throw WrongUse("--out: missing; give the result that is to be judged, a .npy file");
  check_files(input_files(arguments, {{"--out", arguments.out}, {"--lse", arguments.lse}}), {{"the report", "-"}});
}

diagnosis::Diagnosis compute(const DiagnoseArguments& arguments, const AttendInputs& inputs, const Judged& judged) {
  TbbExecutor executor(arguments.threads > 0 ? arguments.threads : usable_cores());
  Progress progress(diagnosis::kProgressSteps, "diagnose");
  Cancellable cancellable;
  const auto view = [&](const io::Array& array) { return view_on_bhnd(array, arguments.layout); };
  diagnosis::Diagnosis found;
  const Status status =
      diagnosis::diagnose(view(inputs.q), view(inputs.k), view(inputs.v), view(judged.out), judged.lse_view(),
                          options_with_arrays(arguments.options, inputs), arguments.layout,
                          {.executor = &executor, .stop = cancellable.stop(), .progress = progress.counter()}, &found);
  cancellable.finish();
  throw_unless_ok(status, in_words_of_the_command_line(status.message(), inputs, arguments.layout));
  return found;
}

int run(const DiagnoseArguments& arguments) {
  check(arguments);
  const Language language = parse_language(arguments.lang);
  const AttendInputs inputs = load_inputs(arguments, {.whole = std::numeric_limits<int64_t>::max()});
  const Judged judged(arguments, inputs);
  const diagnosis::Diagnosis found = compute(arguments, inputs, judged);
  const diagnosis::FileAxes axes = {inputs.axes, arguments.layout};
  fmt::print("{}", arguments.json ? diagnosis_json(found, axes)
                                  : diagnosis_text(found, axes, !arguments.lse.empty(), language));
  return found.verdict == diagnosis::Verdict::right ? 0 : kExitFailure;
}

Manual manual() {
  return {
      .synopsis = "--q F --k F --v F --out F [OPTION]...",
      .paragraphs =
          {"The options say what was meant. Where --out is not that, some ninety known mistakes are tried, and all "
           "pairs of them of different kinds: one is reported only if it reproduces every row compared, to within "
           "rounding. With narrow types, what is right is what the plain formula would give in them. All arrays are "
           "held in memory, as float64."},
      .examples = {{"Is it causal attention?", "diagnose --q q.npy --k k.npy --v v.npy --causal --out mine.npy"},
                   {"With the lse that came with it",
                    "diagnose --q q.npy --k k.npy --v v.npy --layout bnhd --out mine.npy --lse lse.npy"},
                   {"All in one file, for a program", "diagnose --in all.safetensors --out mine --json"}},
      .exit_status = {{"0", "the result is right"},
                      {"1", "it is not; or something failed, such as a full disk"},
                      {"2", "a wrong call or wrong input: one line on standard error"},
                      {"130", "interrupted by Ctrl-C"}},
      .see_also = {"attend", "inspect"}};
}

}  // namespace

void add_diagnose(CLI::App& app, int& exit_status) {
  const auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* command =
      add_command(app, "diagnose", "Find the mistake that explains a wrong result of attention", manual());
  declare_inputs(*command, *arguments);
  add_file(*command, kJudged, "--out", "the result to judge, q's axes with d_v last, float", arguments->out);
  add_file(*command, kJudged, "--lse", "its lse, if there is one [b, h_q, n_q], float", arguments->lse);
  declare_scores(*command, *arguments);
  declare_masking(*command, *arguments);
  declare_running(*command, *arguments);
  add_flag(*command, "--json", arguments->json, "machine-readable output")->group(kRunning);
  add_value(*command, kRunning, "--lang", "en|zh", "language of the report (default: the locale's)",
            [arguments](const std::string& value) { arguments->lang = value; });
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace foveate::cli
