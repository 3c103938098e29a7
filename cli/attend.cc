// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/attend.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/attend_arguments.h"
#include "cli/attend_compute.h"
#include "cli/attend_inputs.h"
#include "cli/attend_outputs.h"
#include "cli/attend_summary.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/inspect_json.h"
#include "cli/inspect_look.h"
#include "cli/interrupt.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "foveate/tbb.h"

namespace foveate::cli {
namespace {

/// Computes the outputs and tells what it took.
Effort compute(const AttendArguments& arguments, const AttendInputs& inputs, const AttendOutputs& outputs) {
  TbbExecutor executor(arguments.threads > 0 ? arguments.threads : usable_cores());
  const auto require = [&](const Status& status) {
    throw_unless_ok(status, in_words_of_the_command_line(status.message(), inputs, arguments.layout));
  };
  Computation computation(arguments, inputs, outputs);
  require(computation.check());
  Progress progress(computation.tasks(executor.concurrency()));
  Cancellable cancellable;
  const auto start = std::chrono::steady_clock::now();
  const Status status =
      computation.run({.executor = &executor, .stop = cancellable.stop(), .progress = progress.counter()});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  cancellable.finish();
  require(status);
  return {.threads = executor.concurrency(), .pieces = computation.pieces(), .seconds = taken.count()};
}

std::string stats_of(const AttendArguments& arguments, const AttendInputs& inputs) {
  insight::View view;
  view.sinks = !arguments.sinks.empty();
  return json_of(look(arguments, inputs, {}), view);
}

void run(const AttendArguments& arguments) {
  check_arguments(arguments);
  const AttendInputs inputs = load_inputs(arguments);
  AttendOutputs outputs(arguments, inputs);
  const Effort effort = compute(arguments, inputs, outputs);
  std::vector<TextFile> more;
  if (!arguments.stats.empty()) more.push_back({arguments.stats, stats_of(arguments, inputs)});
  outputs.write(more);
  if (arguments.json) print_summary(arguments, inputs, outputs, effort);
}

Manual manual() {
  return {.synopsis = "--q F --k F --v F --out F [OPTION]...",
          .paragraphs =
              {"p_i is the position of query i among the keys; see --align. With lengths, n_q and n_kv there are the "
               "sequence's own. A row that no key takes part in gives 0, and lse -inf; its gradients are 0.",
               "Keys and values of more than 256 MiB are read and attended to in pieces of 64 MiB: they may be larger "
               "than memory. Not so with --weights, --grad, --stats, --blocks, --score additive or linear, nor where "
               "they are .safetensors or come from a pipe."},
          .examples = {{"Causal attention", "attend --q q.npy --k k.npy --v v.npy --causal --out o.npy"},
                       {"The last 128 keys alone, and the log of each row's sum",
                        "attend --q q.npy --k k.npy --v v.npy --window 128,0 --out o.npy --lse lse.npy"},
                       {"Gradients, given those of a loss by the output",
                        "attend --q q.npy --k k.npy --v v.npy --grad do.npy --dq dq.npy --dk dk.npy --dv dv.npy"},
                       {"As a filter", "attend --q - --k k.npy --v v.npy --out - < q.npy > o.npy"}},
          .exit_status = usual_exit_status(),
          .see_also = {"inspect", "diagnose", "blocks"}};
}

}  // namespace

void add_attend(CLI::App& app) {
  const auto arguments = std::make_shared<AttendArguments>();
  CLI::App* command = add_command(app, "attend", "Compute attention on arrays in .npy or .safetensors files", manual());
  declare_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace foveate::cli
