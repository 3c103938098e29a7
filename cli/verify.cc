// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "claims/claim.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/files.h"
#include "cli/flag.h"
#include "cli/interrupt.h"
#include "cli/locale.h"
#include "cli/machine.h"
#include "cli/option_value.h"
#include "cli/progress.h"
#include "cli/verify_report.h"
#include "foveate/attention.h"
#include "foveate/tbb.h"
#include "io/output_file.h"

namespace foveate::cli {
namespace {

namespace fs = std::filesystem;
using claims::Claim;

struct VerifyArguments {
  std::vector<std::string> names;  ///< of claims or families; none: all
  bool list = false;
  bool quick = false;
  bool json = false;
  std::string lang;
  std::optional<std::string> figures;   ///< a folder
  std::optional<std::string> markdown;  ///< a file
  int64_t threads = 0;                  ///< 0: all cores
  uint64_t seed = 1;
};

/// In the order of the registry, each once.
std::vector<const Claim*> wanted_claims(const std::vector<std::string>& names) {
  std::vector<std::string_view> known, families;
  for (const Claim& claim : claims::all_claims()) {
    known.push_back(claim.name);
    if (families.empty() || families.back() != claim.family) families.push_back(claim.family);
  }
  known.insert(known.end(), families.begin(), families.end());
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = nearest(name, {known.begin(), known.end()});
    throw WrongUse(meant.empty() ? fmt::format("--claim: no claim '{}'; the families are {} (see --list)", name,
                                               fmt::join(families, ", "))
                                 : fmt::format("--claim: no claim '{}'; did you mean {}? (see --list)", name, meant));
  }
  std::vector<const Claim*> wanted;
  for (const Claim& claim : claims::all_claims()) {
    const bool named = std::any_of(names.begin(), names.end(), [&claim](const std::string& name) {
      return name == claim.name || name == claim.family;
    });
    if (named || names.empty()) wanted.push_back(&claim);
  }
  return wanted;
}

std::string figure_file(const std::string& folder, const Claim& claim) {
  return fs::path(folder) / (claim.name + ".svg");
}

/// What cannot be written is said before the first experiment.
void check_outputs(const VerifyArguments& arguments, const std::vector<const Claim*>& wanted) {
  std::vector<NamedFile> outputs = {{"the report", "-"}};
  if (arguments.figures) {
    const std::string& folder = *arguments.figures;
    require_file_name("--figures", folder);
    if (fs::is_directory(folder)) {
      for (const Claim* claim : wanted) outputs.push_back({"--figures", figure_file(folder, *claim)});
    } else if (fs::exists(folder)) {
      throw WrongUse(fmt::format("--figures: {}: is no folder", folder));
    } else {
      outputs.push_back({"--figures", folder});  // will be made: in a folder that is there
    }
  }
  if (arguments.markdown) {
    require_file_name("--markdown", *arguments.markdown);
    outputs.push_back({"--markdown", *arguments.markdown});
  }
  check_files({}, outputs);
}

/// Tells a progress bar how far all claims are, by the seconds that each takes.
class Course {
 public:
  explicit Course(const std::vector<const Claim*>& wanted) : progress_(total_of(wanted), "verify") {}

  std::function<void(double)> of(const Claim& claim) {
    return [this, &claim](double share) { *progress_.counter() = done_ + static_cast<int64_t>(share * units(claim)); };
  }
  void finish(const Claim& claim) { *progress_.counter() = done_ += static_cast<int64_t>(units(claim)); }

 private:
  static double units(const Claim& claim) { return 1000 * claim.seconds; }
  static int64_t total_of(const std::vector<const Claim*>& wanted) {
    double total = 0;
    for (const Claim* claim : wanted) total += units(*claim);
    return static_cast<int64_t>(total);
  }

  int64_t done_ = 0;
  Progress progress_;
};

std::vector<Tried> try_all(const std::vector<const Claim*>& wanted, claims::Run run) {
  using Clock = std::chrono::steady_clock;
  std::vector<Tried> tried;
  Course course(wanted);
  Cancellable cancellable;
  run.stop = cancellable.stop();
  try {
    for (const Claim* claim : wanted) {
      const Clock::time_point start = Clock::now();
      run.progress = course.of(*claim);
      // Claims about the same draws share them.
      const auto same = std::ranges::find(tried, claim->measure, [](const Tried& one) { return one.claim->measure; });
      claims::Evidence evidence = same != tried.end() ? same->evidence : claim->measure(run);
      const claims::Judgement judgement = claim->judge(evidence);
      const std::chrono::duration<double> took = Clock::now() - start;
      tried.push_back({claim, std::move(evidence), judgement, took.count()});
      course.finish(*claim);
      run.step(1, 1);
    }
  } catch (const claims::Stopped&) {
    cancellable.finish();  // throws Interrupted
  }
  cancellable.finish();
  return tried;
}

/// All of them or none.
void write_files(const VerifyArguments& arguments, const VerifyReport& report, Language language) {
  std::vector<io::OutputFile> files;
  const auto write = [&files](const std::string& path, const std::string& text) {
    files.emplace_back(path).write(text.data(), text.size());
  };
  if (arguments.figures) {
    fs::create_directory(*arguments.figures);
    for (const Tried& one : report.tried) {
      write(figure_file(*arguments.figures, *one.claim), svg(one.claim->plot(one.evidence), language));
    }
  }
  if (arguments.markdown) {
    const fs::path folder = fs::absolute(*arguments.markdown).parent_path();
    const fs::path link = arguments.figures ? fs::relative(*arguments.figures, folder) : fs::path();
    write(*arguments.markdown, verify_markdown(report, link.generic_string(), language));
  }
  io::commit_together(files);
}

int run(const VerifyArguments& arguments) {
  const std::vector<const Claim*> wanted = wanted_claims(arguments.names);
  const Language language = parse_language(arguments.lang);
  if (arguments.list) {
    if (arguments.figures || arguments.markdown)
      throw WrongUse("--list: measures nothing; leave out --figures and --markdown");
    std::vector<Claim> listed;
    for (const Claim* claim : wanted) listed.push_back(*claim);
    fmt::print("{}", arguments.json ? claims_json(listed) : claims_text(listed, language));
    return 0;
  }
  AttentionPlan plan;
  throw_unless_ok(attention_plan({}, 1, &plan));  // says so where FOVEATE_TARGET names no target
  check_outputs(arguments, wanted);

  constexpr int64_t kMostThreads = 4096;
  TbbExecutor executor(
      static_cast<int>(std::min(arguments.threads > 0 ? arguments.threads : usable_cores(), kMostThreads)));
  VerifyReport report{.seed = arguments.seed,
                      .quick = arguments.quick,
                      .chosen = !arguments.names.empty(),
                      .threads = executor.concurrency()};
  report.tried = try_all(wanted, {.seed = arguments.seed, .quick = arguments.quick, .executor = &executor});
  // First the files: where one cannot be written, one line says so and nothing else is printed.
  write_files(arguments, report, language);
  fmt::print("{}", arguments.json ? verify_json(report) : verify_text(report, language));
  return report.differing().empty() ? 0 : kExitFailure;
}

/// Families and claims.
std::vector<std::string> claim_names() {
  std::vector<std::string> names;
  for (const Claim& claim : claims::all_claims()) {
    if (std::find(names.begin(), names.end(), claim.family) == names.end()) names.push_back(claim.family);
    if (claim.name != claim.family) names.push_back(claim.name);
  }
  return names;
}

Manual manual() {
  return {.synopsis = "[OPTION]...",
          .paragraphs =
              {"Verdicts: holds, holds in part, does not hold. Each claim's expectation and the rule of its verdict "
               "stand in the source beside the verdict recorded; --list shows them."},
          .examples = {{"All claims, in seconds", "verify --quick"},
                       {"One family, with its figures and a document",
                        "verify --claim gradients --figures figures --markdown claims.md"}},
          .exit_status = {{"0", "every verdict is the one recorded"},
                          {"1", "some are not; or something failed, such as a full disk"},
                          {"2", "a wrong call: one line on standard error"},
                          {"130", "interrupted by Ctrl-C, with nothing written"}},
          .see_also = {"verify-bits"},
          .words = {{"--claim", claim_names()}}};
}

}  // namespace

void add_verify(CLI::App& app, int& exit_status) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = add_command(app, "verify", "Put what is said of attention to the test, claim by claim", manual());
  command->add_option("--claim", arguments->names, "a claim, or a family of claims; may be repeated (default: all)")
      ->option_text("NAME")
      ->allow_extra_args(false);
  add_flag(*command, "--list", arguments->list, "only list the claims, what is expected and the verdicts recorded");
  add_flag(*command, "--quick", arguments->quick, "fewer samples: seconds instead of minutes");
  add_flag(*command, "--json", arguments->json, "machine-readable output, with everything measured");
  command->add_option("--lang", arguments->lang, "language of the report (default: the locale's)")
      ->option_text("en|zh");
  command->add_option("--figures", arguments->figures, "the folder to write a figure a claim to, as NAME.svg")
      ->option_text("DIR");
  command
      ->add_option("--markdown", arguments->markdown,
                   "the file to write a document to: claims, expectations, measurements")
      ->option_text("F");
  command
      ->add_option_function<std::string>(
          "--threads",
          [arguments](const std::string& text) { arguments->threads = whole_number("--threads", text, 1); },
          "threads; they change no result, and what is timed uses one (default: all cores)")
      ->option_text("N");
  command
      ->add_option_function<std::string>(
          "--seed", [arguments](const std::string& text) { arguments->seed = seed_number("--seed", text); },
          "seed of the random numbers (default 1)")
      ->option_text("N");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace foveate::cli
