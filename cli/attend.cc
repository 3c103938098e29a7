// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend.h"

#include <chrono>
#include <memory>
#include <utility>

#include "cli/attend_arguments.h"
#include "cli/attend_inputs.h"
#include "cli/attend_outputs.h"
#include "cli/attend_summary.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "foveate/attention.h"
#include "foveate/tbb.h"

namespace foveate::cli {
namespace {

/// Tasks to expect; 0 for a shape that attention() will refuse.
int64_t planned_tasks(const AttentionShape& shape, int64_t workers) {
  AttentionPlan plan;
  return attention_plan(shape, workers, &plan).ok() ? plan.tasks : 0;
}

struct Effort {
  double seconds;
  int64_t threads;
};

/// Computes the outputs and tells what it took.
Effort compute(const AttendArguments& arguments, const AttendInputs& inputs, const AttentionOutputs& outputs,
               int threads) {
  TbbExecutor executor(threads);
  Progress progress(planned_tasks(inputs.shape, executor.concurrency()));
  Cancellable cancellable;
  const auto start = std::chrono::steady_clock::now();
  const Status status =
      attention(view_on_bhnd(inputs.q, arguments.layout), view_on_bhnd(inputs.k, arguments.layout),
                view_on_bhnd(inputs.v, arguments.layout), outputs, options_with_arrays(arguments.options, inputs),
                {.executor = &executor, .stop = cancellable.stop(), .progress = progress.counter()});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  cancellable.finish();
  throw_unless_ok(status, in_words_of_the_command_line(status.message(), inputs, arguments.layout));
  return {taken.count(), executor.concurrency()};
}

void run(const AttendArguments& arguments) {
  check_arguments(arguments);
  const AttendInputs inputs = load_inputs(arguments);
  AttendOutputs outputs(arguments, inputs);
  const int threads = arguments.threads > 0 ? arguments.threads : usable_cores();
  const Effort effort = compute(arguments, inputs, outputs.views(), threads);
  outputs.write();
  if (arguments.json) print_summary(arguments, inputs, outputs, effort.threads, effort.seconds);
}

constexpr const char* kFooter = R"(Examples:
  foveate attend --q q.npy --k k.npy --v v.npy --causal --out o.npy
  foveate attend --q q.npy --k k.npy --v v.npy --window 128,0 --out o.npy --lse lse.npy
  foveate attend --q - --k k.npy --v v.npy --out - < q.npy > o.npy

p_i is the position of query i among the keys; see --align. With lengths, n_q and n_kv there are the sequence's own.
A row that no key takes part in gives 0, and lse -inf.
Exit status: 0; 2 for a wrong call or wrong input, nothing written; 130 after Ctrl-C; 1 for anything else.)";

}  // namespace

void add_attend(CLI::App& app) {
  const auto arguments = std::make_shared<AttendArguments>();
  CLI::App* command = app.add_subcommand("attend", "Compute attention on arrays in .npy files");
  command->footer(kFooter);
  declare_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace foveate::cli
