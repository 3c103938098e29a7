// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_look.h"

#include "cli/axes.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "foveate/tbb.h"

namespace foveate::cli {

insight::Report look(const AttendArguments& arguments, const AttendInputs& inputs, const insight::Wanted& wanted) {
  TbbExecutor executor(arguments.threads > 0 ? arguments.threads : usable_cores());
  const bool has_v = inputs.v.dtype != DType::none;
  const ConstTensor q = view_on_bhnd(inputs.q, arguments.layout), k = view_on_bhnd(inputs.k, arguments.layout);
  const ConstTensor v = has_v ? view_on_bhnd(inputs.v, arguments.layout) : ConstTensor{};
  const auto require = [&](const Status& status) {
    throw_unless_ok(status, in_words_of_the_command_line(status.message(), inputs, arguments.layout));
  };
  const AttentionOptions options = options_with_arrays(arguments.options, inputs);
  int64_t tasks = 0;
  // Of sizes that the library refuses there are none, and it says why below.
  if (!insight::report_tasks(inputs.shape, has_v, executor.concurrency(), &tasks).ok()) tasks = 1;
  Progress progress(tasks, "inspect");
  Cancellable cancellable;
  insight::Report report;
  const Status status = insight::make_report(
      q, k, v, options, wanted, {.executor = &executor, .stop = cancellable.stop(), .progress = progress.counter()},
      &report);
  cancellable.finish();
  require(status);
  return report;
}

}  // namespace foveate::cli
