// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include "cli/attend.h"
#include "cli/bench.h"
#include "cli/blocks.h"
#include "cli/demo.h"
#include "cli/diagnose.h"
#include "cli/help.h"
#include "cli/info.h"
#include "cli/inspect.h"
#include "cli/serve.h"
#include "cli/verify.h"
#include "cli/verify_bits.h"

namespace foveate::cli {
namespace {

Manual manual() {
  return {
      .synopsis = "COMMAND [OPTION]...",
      .paragraphs = {"foveate COMMAND --help tells more of a command."},
      .examples = {{"The place to start", "demo"},
                   {"Attention on arrays in files", "attend --q q.npy --k k.npy --v v.npy --causal --out o.npy"},
                   {"What each head looks at", "inspect --q q.npy --k k.npy --causal"},
                   {"What is wrong with a result", "diagnose --q q.npy --k k.npy --v v.npy --causal --out mine.npy"}},
      .exit_status = usual_exit_status(),
      .environment = {{"FOVEATE_TARGET",
                       "the instruction set to compute with, by a name that foveate info gives "
                       "(default: the best that the processor has)"},
                      {"LC_ALL, LC_MESSAGES, LANG",
                       "the language of reports: Chinese where the first that is set "
                       "begins with zh, else English; --lang overrules them"},
                      {"NO_COLOR", "set to anything: no colours on a terminal"}},
      .see_also = {}};
}

}  // namespace

std::unique_ptr<Command> make_program(int& exit_status) {
  auto program =
      std::make_unique<Command>("Scaled dot-product attention: exact, fast, and visible", "foveate", manual());
  program->set_help_flag("-h,--help", "print this help and exit");
  program->set_version_flag("--version", "foveate " FOVEATE_VERSION, "print the version and exit");
  program->require_subcommand(1);
  program->formatter(std::make_shared<HelpFormatter>());
  add_attend(*program);
  add_bench(*program);
  add_blocks(*program);
  add_demo(*program, exit_status);
  add_diagnose(*program, exit_status);
  add_info(*program);
  add_inspect(*program);
  add_serve(*program);
  add_verify(*program, exit_status);
  add_verify_bits(*program, exit_status);
  return program;
}

}  // namespace foveate::cli
