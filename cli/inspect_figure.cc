// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/errors.h"
#include "cli/maps_svg.h"
#include "io/png.h"

namespace foveate::cli {
namespace {

constexpr double kZoom = 2;  // pixels of PNG to one of SVG, for dense screens and print
constexpr int64_t kMostFootnotes = 2;

/// The mean over the rows of each cell of their effective number of keys.
std::vector<double> effective_keys(const insight::Report& report, int64_t head) {
  std::vector<double> sums(static_cast<size_t>(report.map_rows)), rows(sums);
  for (int64_t i = 0; i < report.shape.n_q; ++i) {
    const RowFigures& row = report.rows_of(head)[i];
    if (std::isnan(row.entropy)) continue;
    const auto cell = static_cast<size_t>(i * report.map_rows / report.shape.n_q);
    sums[cell] += std::exp(row.entropy);
    ++rows[cell];
  }
  for (size_t cell = 0; cell < sums.size(); ++cell) sums[cell] /= std::max(1.0, rows[cell]);
  return sums;
}

/// The most that a key of each cell receives.
std::vector<double> received(const insight::Report& report, int64_t head) {
  std::vector<double> most(static_cast<size_t>(report.map_columns));
  for (int64_t j = 0; j < report.shape.n_kv; ++j) {
    double& cell = most[static_cast<size_t>(j * report.map_columns / report.shape.n_kv)];
    cell = std::max(cell, report.received_of(head)[j]);
  }
  return most;
}

/// "1 query", "300 keys".
std::string counted(int64_t n, Language language, const char* one, const char* many, const char* zh) {
  return language == Language::zh ? fmt::format("{} 个{}", n, zh) : fmt::format("{} {}", n, n == 1 ? one : many);
}

/// Which rows of cells have a query that is not finite.
std::vector<bool> not_finite(const insight::Report& report, int64_t head) {
  std::vector<bool> rows(static_cast<size_t>(report.map_rows));
  for (int64_t i = 0; i < report.shape.n_q; ++i) {
    const RowFigures& row = report.rows_of(head)[i];
    if (row.keys > 0 && !std::isfinite(row.lse))
      rows[static_cast<size_t>(i * report.map_rows / report.shape.n_q)] = true;
  }
  return rows;
}

std::vector<std::string> footnotes(const insight::Report& report, Pooling pooling, Language language) {
  const AttentionShape& s = report.shape;
  std::vector<std::string> notes;
  if (report.map_rows < s.n_q || report.map_columns < s.n_kv) {
    const auto to_a_cell = [](int64_t n, int64_t cells) { return (n + cells - 1) / cells; };
    notes.push_back(fmt::format(
        fmt::runtime(pooling == Pooling::largest ? say(language, "Each cell: the largest of up to {} × {} weights.",
                                                       "每格取至多 {}×{} 个权重中的最大值。")
                                                 : say(language, "Each cell: the mean of up to {} × {} weights.",
                                                       "每格取至多 {}×{} 个权重的平均值。")),
        to_a_cell(s.n_q, report.map_rows), to_a_cell(s.n_kv, report.map_columns)));
  }
  notes.emplace_back(
      say(language,
          "Right: effective keys of a query, exp(entropy). Below: mass that a key receives. Numbers: the "
          "longest bar.",
          "右侧：查询的有效键数 exp(熵)；下方：键收到的权重之和；数字为最长一条的值。"));
  return notes;
}

}  // namespace

int64_t map_side(int64_t heads) { return heads <= 16 ? 256 : 128; }

void check_png_size(int64_t heads, int64_t n_q, int64_t n_kv) {
  const PictureSize size = size_of_maps(heads, n_q, n_kv, kMostFootnotes);
  if (std::max(size.width, size.height) * kZoom <= io::kMostPixels) return;
  throw WrongUse(
      fmt::format("--figure: {} heads make a picture of {:.0f} x {:.0f} pixels, more than {} along an axis; "
                  "name it .svg",
                  heads, size.width * kZoom, size.height * kZoom, io::kMostPixels));
}

std::string figure_of(const insight::Report& report, Pooling pooling, bool png, Language language) {
  const AttentionShape& s = report.shape;
  MapsPicture picture{.title = say(language, "Attention weights: ", "注意力权重：") +
                               counted(s.n_q, language, "query", "queries", "查询") + say(language, ", ", "，") +
                               counted(s.n_kv, language, "key", "keys", "键") +
                               fmt::format(fmt::runtime(say(language, ", d_k {}", "，d_k {}")), s.d_k),
                      .footnotes = footnotes(report, pooling, language),
                      .n_q = s.n_q,
                      .n_kv = s.n_kv,
                      .rows = report.map_rows,
                      .columns = report.map_columns};
  const std::vector<float>& maps = pooling == Pooling::largest ? report.map_largest : report.map_mean;
  for (int64_t head = 0; head < report.n_heads(); ++head) {
    const std::string batch = s.b > 1 ? fmt::format("batch {}, ", head / s.h_q) : "";
    picture.heads.push_back(
        {.title = batch + fmt::format(fmt::runtime(say(language, "head {}", "头 {}")), head % s.h_q),
         .cells = maps.data() + head * report.map_rows * report.map_columns,
         .row_profile = effective_keys(report, head),
         .column_profile = received(report, head),
         .not_finite = not_finite(report, head)});
  }
  const std::string svg = svg_maps(picture, language);
  return png ? io::png_of_svg(svg, kZoom) : svg;
}

}  // namespace foveate::cli
