// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/demo.h"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/experiment.h"
#include "cli/files.h"
#include "cli/flag.h"
#include "cli/heatmap_svg.h"
#include "cli/heatmap_terminal.h"
#include "cli/locale.h"
#include "cli/machine.h"
#include "cli/option_value.h"
#include "cli/terminal.h"
#include "foveate/target.h"
#include "foveate/tbb.h"
#include "foveate/tensor.h"
#include "io/error.h"
#include "text/width.h"

namespace foveate::cli {
namespace {

constexpr const char* kSvgRemedy = "; --no-svg leaves the picture out";

// The options as they are typed.
struct DemoArguments {
  std::string seed = "42", batch = "2", heads = "4", seq = "8", d_k = "16";
  std::string lang;
  std::string color = "auto";
  std::string svg = "attention.svg";
  bool no_svg = false;
  bool json = false;
};

/// Names the largest size where all of them together take more than half of this machine's memory.
void require_memory(const ExperimentSetup& setup) {
  const double needed = experiment_bytes(setup);
  const double present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed <= present / 2) return;
  const std::pair<int64_t, const char*> sizes[] = {
      {setup.batch, "--batch"}, {setup.heads, "--heads"}, {setup.seq, "--seq"}, {setup.d_k, "--dk"}};
  throw WrongUse(fmt::format(
      "{}: batch {} x heads {} x seq {} x dk {} takes {:.3g} GB, more than half of this machine's {:.3g} GB; "
      "choose smaller sizes",
      std::max_element(std::begin(sizes), std::end(sizes))->second, setup.batch, setup.heads, setup.seq, setup.d_k,
      needed / 1e9, present / 1e9));
}

ExperimentSetup parse_setup(const DemoArguments& arguments) {
  ExperimentSetup setup;
  const int64_t seed = whole_number("--seed", arguments.seed, 0);
  if (seed > std::numeric_limits<uint32_t>::max()) {
    throw WrongUse(fmt::format("--seed: {} is past 4294967295, the largest that NumPy's legacy generator takes", seed));
  }
  setup.seed = static_cast<uint32_t>(seed);
  setup.batch = whole_number("--batch", arguments.batch, 1);
  setup.heads = whole_number("--heads", arguments.heads, 1);
  setup.seq = whole_number("--seq", arguments.seq, 1);
  setup.d_k = whole_number("--dk", arguments.d_k, 1);

  require_memory(setup);
  return setup;
}

ColorChoice parse_color(const std::string& color) {
  constexpr std::array kChoices = {ColorChoice::automatic, ColorChoice::always, ColorChoice::never};
  return kChoices[one_of("--color", color, {"auto", "always", "never"})];
}

template <class... Values>
std::string format(Language language, const char* english, const char* chinese, const Values&... values) {
  return fmt::format(fmt::runtime(say(language, english, chinese)), values...);
}

// The name this program was called by, where the shell would find it by that too.
std::string program() {
#if defined(__GLIBC__)
  if (std::string_view(program_invocation_name).find('/') != std::string_view::npos) return program_invocation_name;
#endif
  return "foveate";
}

std::string introduction(const ExperimentSetup& s, Language language) {
  return format(language,
                "Why attention divides its scores by √d_k\n\n"
                "Q, K and V come from NumPy's randn in that order (seed {}): {} × {} × {} × {}\n"
                "(batch × heads × sequence × d_k), float64. Picture each query as a job brief,\n"
                "each key as the title of a CV: their dot product scores how well the two match.\n\n",
                "注意力的分数为什么要除以 √d_k\n\n"
                "Q、K、V 依次由 NumPy 的 randn 生成（种子 {}），形状 {} × {} × {} × {}\n"
                "（batch × heads × 序列长度 × d_k），float64。不妨把每个查询看成一份岗位需求，\n"
                "每个键看成一份简历的标题，两者的点积就是匹配分数。\n\n",
                s.seed, s.batch, s.heads, s.seq, s.d_k);
}

std::string figures(const ExperimentSetup& s, const ExperimentResult& r, Language l) {
  struct Figure {
    std::string name, value, meaning;
  };
  const std::array<Figure, 5> all = {{
      {say(l, "variance of the raw scores", "未缩放分数的方差"), fmt::format("{:.2f}", r.raw_variance),
       format(l, "theory: d_k = {0}, one for each term", "理论值 d_k = {0}：{0} 项相加，每项方差为 1", s.d_k)},
      {say(l, "variance after scaling", "缩放后分数的方差"), fmt::format("{:.2f}", r.scaled_variance),
       format(l, "theory: 1, whatever d_k is", "理论值 1：除以 √{0}，方差就除以 {0}", s.d_k)},
      {say(l, "mean largest weight, unscaled", "未缩放时最大权重的均值"), fmt::format("{:.3f}", r.raw_largest),
       format(l, "{:.1f}% of the attention goes to one CV", "一份需求把 {:.1f}% 的注意力押在一份简历上",
              100 * r.raw_largest)},
      {say(l, "mean largest weight, scaled", "缩放后最大权重的均值"), fmt::format("{:.3f}", r.scaled_largest),
       format(l, "it gets {:.1f}%, the others share {:.1f}%", "最匹配的占 {:.1f}%，其余简历分得 {:.1f}%",
              100 * r.scaled_largest, 100 * (1 - r.scaled_largest))},
      {say(l, "rows sum to one", "各行权重之和为一"), r.rows_sum_to_one ? "true" : "false",
       say(l, "a brief spends exactly 100% of it", "每份需求的注意力恰好分完，不多不少")},
  }};
  int names = 0, values = 0;
  for (const Figure& figure : all) {
    names = std::max(names, text::display_width(figure.name));
    values = std::max(values, text::display_width(figure.value));
  }
  std::string text;
  for (const Figure& figure : all) {
    text += fmt::format("  {}  {}  {}\n", text::pad_right(figure.name, names), text::pad_left(figure.value, values),
                        figure.meaning);
  }
  return text + "\n";
}

std::array<Panel, 2> panels(const ExperimentResult& r, Language l) {
  const auto subtitle = [l](double variance, double largest) {
    return format(l, "score variance {:.2f}, mean largest weight {:.3f}", "分数方差 {:.2f}，最大权重的均值 {:.3f}",
                  variance, largest);
  };
  return {Panel{say(l, "unscaled: softmax(Q Kᵀ)", "未缩放：softmax(Q Kᵀ)"), subtitle(r.raw_variance, r.raw_largest),
                r.raw_weights},
          Panel{say(l, "scaled: softmax(Q Kᵀ / √d_k)", "缩放后：softmax(Q Kᵀ / √d_k)"),
                subtitle(r.scaled_variance, r.scaled_largest), r.scaled_weights}};
}

std::string svg_picture(const ExperimentSetup& s, const std::array<Panel, 2>& pictures, Language language) {
  const std::string title =
      format(language, "Attention weights without and with scaling, d_k = {}", "缩放前后的注意力权重，d_k = {}", s.d_k);
  const std::string footnote =
      format(language, "Seed {}; the picture is batch 0, head 0, weights in %; the figures cover all {} × {} heads.",
             "种子 {}；图为 batch 0、head 0 的权重（%）；方差与均值统计全部 {} × {} 个头。", s.seed, s.batch, s.heads);
  return svg_heatmap(title, footnote, pictures, language);
}

std::string what_next(Language language) {
  return format(language,
                "Next, your own arrays:\n"
                "  in Python   np.save(\"q.npy\", q); np.save(\"k.npy\", k); np.save(\"v.npy\", v)\n"
                "  in a shell  {} attend --q q.npy --k k.npy --v v.npy --out o.npy\n"
                "  in Python   o = np.load(\"o.npy\")\n",
                "接下来，换成自己的数组：\n"
                "  Python 里  np.save(\"q.npy\", q); np.save(\"k.npy\", k); np.save(\"v.npy\", v)\n"
                "  终端里     {} attend --q q.npy --k k.npy --v v.npy --out o.npy\n"
                "  Python 里  o = np.load(\"o.npy\")\n",
                program());
}

std::string report(const ExperimentSetup& s, const ExperimentResult& r, const std::array<Panel, 2>& pictures,
                   const std::string& svg, const Terminal& terminal, Language language) {
  std::string text = introduction(s, language) + figures(s, r, language);
  text += format(language, "Weights of batch 0, head 0, in %: row i is how query i spreads over the keys.\n\n",
                 "batch 0、head 0 的权重（%）：第 i 行是查询 i 分给各个键的注意力。\n\n");
  text += terminal_heatmap(pictures, terminal, language) + "\n";
  if (!svg.empty()) {
    text += format(language, "Wrote {}: the same two pictures; point at a cell for its weight.\n\n",
                   "已写入 {}：同样的两幅图，鼠标停在格子上可看权重。\n\n", svg);
  }
  return text + what_next(language);
}

std::string json_report(const ExperimentSetup& s, const ExperimentResult& r, const std::string& svg) {
  nlohmann::ordered_json json;
  json["parameters"] = {{"seed", s.seed}, {"batch", s.batch}, {"heads", s.heads},
                        {"seq", s.seq},   {"dk", s.d_k},      {"dtype", name_of(DType::f64)}};
  json["raw_score_variance"] = r.raw_variance;
  json["scaled_score_variance"] = r.scaled_variance;
  json["mean_largest_weight_unscaled"] = r.raw_largest;
  json["mean_largest_weight_scaled"] = r.scaled_largest;
  json["rows_sum_to_one"] = r.rows_sum_to_one;
  json["target"] = active_target();
  json["svg"] = svg.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(svg);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_picture(const std::string& path, const std::string& picture) try {
  write_whole(path, picture);
} catch (const io::Error& error) {
  throw std::runtime_error(std::string(error.what()) + kSvgRemedy);
}

void check_outputs(const std::string& svg) {
  const NamedFile report = {"the report", "-"};
  check_files({}, {report});
  if (svg.empty()) return;
  require_file_name("--svg", svg);
  try {
    check_files({}, {report, {"--svg", svg}});
  } catch (const WrongUse& error) {
    throw WrongUse(std::string(error.what()) + kSvgRemedy);
  }
}

void run(const DemoArguments& arguments) {
  const ExperimentSetup setup = parse_setup(arguments);
  const Language language = parse_language(arguments.lang);
  const Terminal terminal = standard_output(parse_color(arguments.color));
  const std::string svg = arguments.no_svg ? "" : arguments.svg;
  check_outputs(svg);

  TbbExecutor executor(usable_cores());
  const ExperimentResult result = run_experiment(setup, &executor);
  const std::array<Panel, 2> pictures = panels(result, language);
  // First the file: where it cannot be written, one line says so and nothing else is printed.
  if (!svg.empty()) write_picture(svg, svg_picture(setup, pictures, language));
  write_whole(
      "-", arguments.json ? json_report(setup, result, svg) : report(setup, result, pictures, svg, terminal, language));
}

Manual manual() {
  return {.synopsis = "[OPTION]...",
          .paragraphs = {},
          .examples = {{"The article's experiment", "demo"},
                       {"Larger heads, and the picture where it is wanted", "demo --dk 256 --svg heads.svg"}},
          .exit_status = usual_exit_status(),
          .see_also = {"serve", "verify"}};
}

}  // namespace

void add_demo(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<DemoArguments>();
  CLI::App* demo =
      add_command(app, "demo", "See on random arrays what dividing the scores by sqrt(d_k) is for", manual());
  demo->add_option("--seed", arguments->seed, "seed of NumPy's legacy generator (default 42)")->option_text("N");
  demo->add_option("--batch", arguments->batch, "batch size (default 2)")->option_text("N");
  demo->add_option("--heads", arguments->heads, "heads (default 4)")->option_text("N");
  demo->add_option("--seq", arguments->seq, "queries, and keys (default 8)")->option_text("N");
  demo->add_option("--dk", arguments->d_k, "head dimension d_k (default 16)")->option_text("N");
  demo->add_option("--lang", arguments->lang, "language of the report (default: the locale's)")->option_text("en|zh");
  demo->add_option("--color", arguments->color, "colours; auto: on a terminal without NO_COLOR (default auto)")
      ->option_text("auto|always|never");
  demo->add_option("--svg", arguments->svg,
                   "the file F to write the picture to (default attention.svg); '' for nowhere")
      ->option_text("F");
  add_flag(*demo, "--no-svg", arguments->no_svg, "write no picture");
  add_flag(*demo, "--json", arguments->json, "print the figures as JSON, and nothing else");
  demo->callback([arguments, &exit_status] {
    run(*arguments);
    exit_status = 0;
  });
}

}  // namespace foveate::cli
