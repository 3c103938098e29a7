// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/machine.h"
#include "text/table.h"
#include "text/wrapped.h"

namespace foveate::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNameWidth = 28;

/// Three figures: "0.00107", "0.0213", "4.71", "213", "1240".
std::string figures(double x) {
  const int decimals = x >= 100 ? 0 : x >= 10 ? 1 : x >= 1 ? 2 : x >= 0.1 ? 3 : x >= 0.01 ? 4 : 5;
  return fmt::format("{:.{}f}", x, decimals);
}

std::string memory(size_t bytes) { return figures(static_cast<double>(bytes) * 1e-6); }

/// Of rows of one unit. Where reading is not what limits a row of decoding, its limit is marked.
std::string table_of(const std::vector<const BenchRow*>& rows, bool reading, size_t width) {
  text::Table table(
      {fmt::format("{:<{}}", "", width), "best ms", "median", reading ? "GB/s" : "GFLOP/s", "limit", "share", "MB"});
  for (const BenchRow* row : rows) {
    const double unit = (reading ? key_bytes_of(row->work) : operations_of(row->work)) * 1e-9;
    const bool marked = reading && !row->limited_by_reading();
    table.add({fmt::format("{:<{}}", row->work.name, width), figures(1e3 * row->best), figures(1e3 * row->median),
               figures(unit / row->best), figures(unit / row->limit()) + (marked ? "*" : ""),
               fmt::format("{:.0f} %", 100 * row->share()), memory(row->workspace_bytes)});
  }
  return table.text();
}

/// Rows of one target and number of threads.
std::string part_of(const std::vector<const BenchRow*>& rows) {
  std::vector<const BenchRow*> multiplying, reading;
  size_t width = kNameWidth;
  for (const BenchRow* row : rows) {
    (row->work.decodes() ? reading : multiplying).push_back(row);
    width = std::max(width, row->work.name.size());
  }
  const int64_t threads = rows.front()->threads;
  std::string text = fmt::format("{}, {} thread{}\n", rows.front()->target, threads, threads == 1 ? "" : "s");
  if (!multiplying.empty()) text += table_of(multiplying, false, width);
  if (!reading.empty()) text += table_of(reading, true, width);
  return text;
}

}  // namespace

std::string bench_text(const std::vector<BenchRow>& rows) {
  std::string text;
  std::vector<const BenchRow*> part;
  bool marked = false, read = false;
  for (const BenchRow& row : rows) {
    if (!part.empty() && (part.front()->target != row.target || part.front()->threads != row.threads)) {
      text += part_of(part) + "\n";
      part.clear();
    }
    part.push_back(&row);
    read |= row.work.decodes();
    marked |= row.work.decodes() && !row.limited_by_reading();
  }
  text += part_of(part);
  std::string note =
      "limit: the multiply-adds of the types at hand that the machine does, measured by turns with the "
      "rows";
  if (read) note += "; of decoding, what it reads of the same keys and values";
  if (marked) note += " (* or multiplies, which takes longer there)";
  return text + "\n" + text::hanging("", note + ". MB: memory that a call takes beside its arrays.", 0);
}

Json bench_json(const std::vector<BenchRow>& rows) {
  Json all = Json::array();
  for (const BenchRow& row : rows) {
    const BenchWork& work = row.work;
    const AttentionShape& s = work.shape;
    all.push_back({{"name", work.name},
                   {"target", row.target},
                   {"threads", row.threads},
                   {"work",
                    {{"b", s.b},
                     {"h_q", s.h_q},
                     {"h_kv", s.h_kv},
                     {"n_q", s.n_q},
                     {"n_kv", s.n_kv},
                     {"d_k", s.d_k},
                     {"d_v", s.d_v},
                     {"dtype", name_of(s.dtype)},
                     {"stored", name_of(work.stored)},
                     {"causal", work.causal},
                     {"window", {work.window_left, work.window_right}},
                     {"gradients", work.gradients}}},
                   {"turns", row.turns},
                   {"calls_of_a_turn", row.calls},
                   {"best_seconds", row.best},
                   {"median_seconds", row.median},
                   {"operations", operations_of(work)},
                   {"kv_bytes", key_bytes_of(work)},
                   {"gflops", row.operations_rate() * 1e-9},
                   {"gbps", row.bytes_rate() * 1e-9},
                   {"limit",
                    {{"products", row.products},
                     {"gflops", row.peak * 1e-9},
                     {"read_gbps", row.read_rate ? Json(*row.read_rate * 1e-9) : Json()},
                     {"by", row.limited_by_reading() ? "reading" : "multiplying"},
                     {"seconds", row.limit()}}},
                   {"share", row.share()},
                   {"workspace_bytes", row.workspace_bytes}});
  }
  Json caches = Json::object();
  for (const Cache& cache : data_caches()) caches[cache.name] = cache.bytes;
  return {{"foveate", FOVEATE_VERSION}, {"cores", usable_cores()}, {"caches", caches}, {"rows", all}};
}

}  // namespace foveate::cli
