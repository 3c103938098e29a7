// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/attend_read.h"
#include "cli/command.h"
#include "cli/errors.h"
#include "cli/files.h"
#include "cli/flag.h"
#include "cli/machine.h"
#include "cli/option_value.h"
#include "foveate/attention.h"
#include "foveate/target.h"
#include "io/npy_elements.h"
#include "io/npy_header.h"
#include "io/safetensors.h"
#include "io/source.h"

namespace foveate::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlanForm = "b,h_q,h_kv,n_q,n_kv,d_k,d_v";

struct InfoArguments {
  std::optional<AttentionShape> shape;  ///< of --plan
  DType dtype = DType::f32;
  int64_t threads = 0;  ///< 0: all cores
  std::string in;       ///< a file to tell of instead
  bool json = false;
};

/// What a file holds.
struct Contents {
  struct Tensor {
    std::optional<std::string> name;  ///< none where the format has no names
    std::string dtype;
    std::vector<int64_t> shape;
    uint64_t bytes;
  };
  std::string format;
  std::vector<Tensor> tensors;
  io::SafetensorsMetadata metadata;
};

/// One figure of a plan, with its name in JSON and a word on what it is.
struct Figure {
  std::string_view name;
  int64_t value;
  std::string_view meaning;
};

std::vector<Figure> figures_of(const AttentionPlan& plan) {
  return {{"tile_rows", plan.tile_rows, "query rows of a full tile: lanes of a vector times vectors"},
          {"block_keys", plan.block_keys, "keys that meet a tile at a time"},
          {"split_keys", plan.split_keys, "keys of a split, each begun from a fresh maximum and merged in order"},
          {"tiles", plan.tiles, "query tiles in all"},
          {"splits", plan.splits, "key splits that a tile walks"},
          {"split_groups", plan.split_groups, "tasks that share a tile's splits; 1: one task walks them all"},
          {"tasks", plan.tasks, "tasks for the threads, merging included"},
          {"workspace_bytes", static_cast<int64_t>(plan.workspace_bytes), "scratch memory for all threads together"}};
}

AttentionPlan plan_of(const AttentionShape& shape, int64_t threads) {
  AttentionPlan plan;
  throw_unless_ok(attention_plan(shape, threads, &plan));
  return plan;
}

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (int64_t i = 0; i < target_count(); ++i) names.emplace_back(target_name(i));
  return names;
}

std::string targets_text() {
  std::vector<std::string> names = targets();
  for (std::string& name : names) {
    if (name == active_target()) name += " (in use)";
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string bytes_text(int64_t bytes) {
  constexpr int64_t kMiB = 1 << 20;
  return bytes % kMiB == 0 ? fmt::format("{} MiB", bytes / kMiB)
                           : fmt::format("{:g} KiB", static_cast<double>(bytes) / 1024);
}

/// Of a file's contents, which need not be round.
std::string size_text(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string caches_text() {
  std::vector<std::string> texts;
  for (const Cache& cache : data_caches()) texts.push_back(fmt::format("{} {}", cache.name, bytes_text(cache.bytes)));
  return texts.empty() ? "not told by the system" : fmt::format("{}", fmt::join(texts, ", "));
}

void print_text(const InfoArguments& arguments, int64_t threads, const std::optional<AttentionPlan>& plan) {
  fmt::print("foveate {}\n", FOVEATE_VERSION);
  fmt::print("  {:<16} {}\n", "targets", targets_text());
  fmt::print("  {:<16} FOVEATE_TARGET={} pins one\n", "", target_name(target_count() - 1));
  fmt::print("  {:<16} {} usable\n", "cores", usable_cores());
  fmt::print("  {:<16} {}\n", "caches", caches_text());
  if (!plan) return;
  const AttentionShape& s = *arguments.shape;
  fmt::print("\nplan for q [{}, {}, {}, {}], k [{}, {}, {}, {}], v [{}, {}, {}, {}], {}, {} thread{}\n", s.b, s.h_q,
             s.n_q, s.d_k, s.b, s.h_kv, s.n_kv, s.d_k, s.b, s.h_kv, s.n_kv, s.d_v, name_of(s.dtype), threads,
             threads == 1 ? "" : "s");
  for (const Figure& figure : figures_of(*plan)) {
    std::string name(figure.name);
    std::replace(name.begin(), name.end(), '_', ' ');
    fmt::print("  {:<16} {:>12}  {}\n", name, figure.value, figure.meaning);
  }
}

void print_json(const InfoArguments& arguments, int64_t threads, const std::optional<AttentionPlan>& plan) {
  Json caches = Json::object();
  for (const Cache& cache : data_caches()) caches[cache.name] = cache.bytes;
  Json info = {{"foveate", FOVEATE_VERSION},
               {"targets", targets()},
               {"target", active_target()},
               {"cores", usable_cores()},
               {"caches", caches}};
  if (plan) {
    const AttentionShape& s = *arguments.shape;
    Json& figures = info["plan"] = {{"b", s.b},          {"h_q", s.h_q}, {"h_kv", s.h_kv}, {"n_q", s.n_q},
                                    {"n_kv", s.n_kv},    {"d_k", s.d_k}, {"d_v", s.d_v},   {"dtype", name_of(s.dtype)},
                                    {"threads", threads}};
    for (const Figure& figure : figures_of(*plan)) figures[std::string(figure.name)] = figure.value;
  }
  fmt::print("{}\n", info.dump(2));
}

Contents contents_of_npy(const std::string& path) {
  io::FileSource source(path);
  const io::NpyHeader header = io::read_npy_header(source);
  const auto bytes = static_cast<uint64_t>(header.bytes());
  if (const auto left = source.remaining(); left && *left < bytes) io::refuse_size(source.name(), header, *left);
  return {
      .format = "npy", .tensors = {{std::nullopt, io::type_name(header.element), header.shape, bytes}}, .metadata = {}};
}

Contents contents_of_safetensors(const std::string& path) {
  const io::Safetensors file(path);
  Contents contents = {.format = "safetensors", .tensors = {}, .metadata = file.metadata()};
  for (const io::SafetensorsTensor& tensor : file.tensors()) {
    contents.tensors.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes()});
  }
  return contents;
}

std::string shown_name(const Contents::Tensor& tensor) { return tensor.name ? io::printable(*tensor.name) : "-"; }

/// Columns as wide as what they hold; what is wider than kWidest pushes the rest of its line aside.
void print_tensors(const std::vector<Contents::Tensor>& tensors) {
  constexpr size_t kWidest = 48;
  size_t name_width = 4, dtype_width = 5, shape_width = 5;
  std::vector<std::string> shapes;
  for (const Contents::Tensor& tensor : tensors) {
    shapes.push_back(fmt::format("{}", tensor.shape));
    name_width = std::min(kWidest, std::max(name_width, shown_name(tensor).size()));
    dtype_width = std::max(dtype_width, tensor.dtype.size());
    shape_width = std::min(kWidest, std::max(shape_width, shapes.back().size()));
  }
  const auto line = [&](std::string_view name, std::string_view dtype, std::string_view shape, std::string_view size) {
    fmt::print("  {:<{}}  {:<{}}  {:<{}}  {:>10}\n", name, name_width, dtype, dtype_width, shape, shape_width, size);
  };
  line("name", "dtype", "shape", "size");
  for (size_t i = 0; i < tensors.size(); ++i) {
    line(shown_name(tensors[i]), tensors[i].dtype, shapes[i], size_text(tensors[i].bytes));
  }
}

void print_contents(const std::string& path, const Contents& contents) {
  uint64_t bytes = 0;
  for (const Contents::Tensor& tensor : contents.tensors) bytes += tensor.bytes;
  const size_t n = contents.tensors.size();
  fmt::print("{}: {}, {} tensor{}, {}\n", io::printable(path, 4096), contents.format, n, n == 1 ? "" : "s",
             size_text(bytes));
  if (n > 0) print_tensors(contents.tensors);
  if (!contents.metadata.empty()) fmt::print("metadata\n");
  for (const auto& [name, text] : contents.metadata) {
    fmt::print("  {}: {}\n", io::printable(name), io::printable(text, 4096));
  }
}

void print_contents_as_json(const std::string& path, const Contents& contents) {
  Json tensors = Json::array(), metadata = Json::object();
  for (const auto& [name, dtype, shape, bytes] : contents.tensors) {
    tensors.push_back({{"name", name ? Json(*name) : Json()}, {"dtype", dtype}, {"shape", shape}, {"bytes", bytes}});
  }
  for (const auto& [name, text] : contents.metadata) metadata[name] = text;
  const Json all = {{"file", path}, {"format", contents.format}, {"tensors", tensors}, {"metadata", metadata}};
  // File names need not be UTF-8; JSON must be.
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
}

void tell_of_file(const InfoArguments& arguments) {
  if (arguments.shape) throw WrongUse("--in: does not go with --plan; ask for one of them");
  const Contents contents = read_named("--in", [&] {
    return names_safetensors(arguments.in) ? contents_of_safetensors(arguments.in) : contents_of_npy(arguments.in);
  });
  (arguments.json ? print_contents_as_json : print_contents)(arguments.in, contents);
}

void run(InfoArguments& arguments) {
  if (!arguments.in.empty()) return tell_of_file(arguments);
  const int64_t threads = arguments.threads > 0 ? arguments.threads : usable_cores();
  plan_of({}, 1);  // says so where FOVEATE_TARGET names no target, before active_target() is asked
  std::optional<AttentionPlan> plan;
  if (arguments.shape) {
    arguments.shape->dtype = arguments.dtype;
    plan = plan_of(*arguments.shape, threads);
  }
  (arguments.json ? print_json : print_text)(arguments, threads, plan);
}

AttentionShape parse_shape(const std::string& text) {
  const std::vector<int64_t> n = whole_numbers("--plan", text, kPlanForm, "1,8,8,2048,2048,64,64");
  return {.b = n[0], .h_q = n[1], .h_kv = n[2], .n_q = n[3], .n_kv = n[4], .d_k = n[5], .d_v = n[6]};
}

Manual manual() {
  return {.synopsis = "[--plan SHAPE | --in F] [OPTION]...",
          .paragraphs = {},
          .examples = {{"How a call of this shape would be cut", "info --plan 1,8,8,2048,2048,64,64"},
                       {"What a file holds", "info --in model.safetensors"}},
          .exit_status = usual_exit_status(),
          .see_also = {"attend"}};
}

}  // namespace

void add_info(CLI::App& app) {
  const auto arguments = std::make_shared<InfoArguments>();
  CLI::App* command = add_command(
      app, "info", "Show targets, cores and caches, how a call would be planned, or what a file holds", manual());
  command
      ->add_option_function<std::string>(
          "--plan", [arguments](const std::string& text) { arguments->shape = parse_shape(text); },
          "also plan a call of this shape: tiles, splits, tasks, workspace")
      ->option_text(std::string(kPlanForm));
  command
      ->add_option_function<std::string>(
          "--dtype",
          [arguments](const std::string& text) {
            arguments->dtype = one_of("--dtype", text, {"f32", "f64"}) == 0 ? DType::f32 : DType::f64;
          },
          "type of the planned call's arrays (default f32)")
      ->option_text("f32|f64");
  command
      ->add_option_function<std::string>(
          "--threads",
          [arguments](const std::string& text) { arguments->threads = whole_number("--threads", text, 1); },
          "threads of the planned call (default: all cores)")
      ->option_text("N");
  command
      ->add_option_function<std::string>(
          "--in",
          [arguments](const std::string& text) {
            if (text.empty()) throw WrongUse("--in: empty; name a file");
            require_file_name("--in", text);
            arguments->in = text;
          },
          "instead: names, dtypes, shapes and sizes of a .safetensors file's tensors, or of a .npy file's array")
      ->option_text("F");
  add_flag(*command, "--json", arguments->json, "machine-readable output");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace foveate::cli
