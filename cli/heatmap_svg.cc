// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/heatmap_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/svg.h"

namespace foveate::cli {
namespace {

// Pixels. A panel's plot is a square of kPlot; panels stand kPitch apart.
constexpr int kLeft = 76;
constexpr int kTop = 132;
constexpr int kPlot = 360;
constexpr int kPitch = kPlot + 88;
constexpr int kBar = 18;
constexpr int kHeight = kTop + kPlot + 100;

constexpr int64_t kMostCells = 64;  // a side; a viewer grows slow past some ten thousand of them
constexpr int64_t kMostNumbers = 12;
constexpr int64_t kMostTicks = 16;

constexpr const char* kInk = "#1f2933";
constexpr const char* kPaper = "#fbfaf7";

struct Plot {
  Weights weights;  // pooled
  int64_t pool;
  int64_t queries;
  int64_t keys;
  double top;
  double left;
  double cell;
  Language language;
};

// What a cell stands for: "3", or "8-11" where cells are pooled.
std::string indices(int64_t cell, int64_t pool, int64_t extent) {
  const int64_t first = cell * pool, last = std::min(first + pool, extent) - 1;
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string cell_at(const Plot& plot, int64_t i, int64_t j) {
  const double weight = plot.weights.at(i, j);
  const double x = plot.left + static_cast<double>(j) * plot.cell, y = kTop + static_cast<double>(i) * plot.cell;
  const Rgb color = cividis(weight / plot.top);
  const char* tooltip = plot.pool == 1
                            ? say(plot.language, "query {}, key {}: {:.6f}", "查询 {}，键 {}：{:.6f}")
                            : say(plot.language, "queries {}, keys {}: largest {:.6f}", "查询 {}，键 {}：最大 {:.6f}");
  std::string svg = "<g><title>";
  svg +=
      fmt::format(fmt::runtime(tooltip), indices(i, plot.pool, plot.queries), indices(j, plot.pool, plot.keys), weight);
  svg += fmt::format("</title><rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>", x, y,
                     plot.cell, plot.cell, hex(color));
  if (std::max(plot.weights.rows, plot.weights.columns) <= kMostNumbers) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{:.0f}</text>", x + plot.cell / 2,
                       y + plot.cell / 2 + 4.5, wants_white_text(color) ? "white" : "black", 100 * weight);
  }
  return svg + "</g>\n";
}

std::string ticks(const Plot& plot) {
  std::string svg;
  const auto every = [](int64_t cells) { return (cells + kMostTicks - 1) / kMostTicks; };
  const auto middle = [&plot](int64_t cell) { return (static_cast<double>(cell) + 0.5) * plot.cell; };
  for (int64_t j = 0; j < plot.weights.columns; j += every(plot.weights.columns)) {
    svg += text_at(plot.left + middle(j), kTop + kPlot + 18, "class=\"t\" text-anchor=\"middle\"",
                   std::to_string(j * plot.pool));
  }
  for (int64_t i = 0; i < plot.weights.rows; i += every(plot.weights.rows)) {
    svg += text_at(plot.left - 8, kTop + middle(i) + 4.5, "class=\"t\" text-anchor=\"end\"",
                   std::to_string(i * plot.pool));
  }
  return svg;
}

std::string axis_titles(const Plot& plot) {
  const double middle = kTop + kPlot / 2.0;
  const std::string turned =
      fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 {:.1f} {:.1f})\"", plot.left - 42, middle);
  return text_at(plot.left - 42, middle, turned.c_str(), say(plot.language, "query i", "查询 query i")) +
         text_at(plot.left + kPlot / 2.0, kTop + kPlot + 42, "text-anchor=\"middle\"",
                 say(plot.language, "key j", "键 key j"));
}

std::string panel_at(const Panel& panel, const Plot& plot) {
  std::string svg = text_at(plot.left, kTop - 36, "class=\"h\"", panel.title) +
                    text_at(plot.left, kTop - 14, "class=\"t\"", panel.subtitle) +
                    "<g shape-rendering=\"crispEdges\">\n";
  for (int64_t i = 0; i < plot.weights.rows; ++i) {
    for (int64_t j = 0; j < plot.weights.columns; ++j) svg += cell_at(plot, i, j);
  }
  return svg + "</g>\n" + ticks(plot) + axis_titles(plot);
}

std::string color_bar(double left, double top, Language language) {
  std::string svg = cividis_gradient();
  svg += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"url(#cividis)\"/>\n", left, kTop,
                     kBar, kPlot);
  constexpr int kTicks = 5;
  for (int i = 0; i <= kTicks; ++i) {
    svg += text_at(left + kBar + 8, kTop + kPlot * (1 - static_cast<double>(i) / kTicks) + 4.5, "class=\"t\"",
                   fmt::format("{:.3g}%", 100 * top * i / kTicks));
  }
  return svg + text_at(left, kTop - 14, "class=\"t\"", say(language, "weight", "权重"));
}

std::string style_sheet() {
  return fmt::format(
      "<style>\n"
      "text {{ font: 15px system-ui, -apple-system, \"Segoe UI\", \"PingFang SC\", \"Microsoft YaHei\", \"Noto Sans\", "
      "\"Noto Sans CJK SC\", sans-serif; fill: {}; font-variant-numeric: tabular-nums; }}\n"
      "text.b {{ font-size: 20px; font-weight: 600; }}\n"
      "text.h {{ font-size: 16px; font-weight: 600; }}\n"
      "text.t {{ font-size: 13px; }}\n"
      "text.black {{ font-size: 13px; text-anchor: middle; fill: #000000; }}\n"
      "text.white {{ font-size: 13px; text-anchor: middle; fill: #ffffff; }}\n"
      "</style>\n",
      kInk);
}

}  // namespace

std::string svg_heatmap(const std::string& title, const std::string& footnote, std::span<const Panel> panels,
                        Language language) {
  const double top = scale_top(panels);
  const double bar_left = kLeft + kPitch * static_cast<double>(panels.size()) - 52;
  const double width = bar_left + kBar + 72;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1}\" width=\"{0:.0f}\" height=\"{1}\" "
      "role=\"img\" aria-label=\"{2}\" lang=\"{3}\">\n",
      width, kHeight, title, say(language, "en", "zh-CN"));
  svg += style_sheet();
  svg += fmt::format("<rect width=\"100%\" height=\"100%\" rx=\"12\" fill=\"{}\"/>\n", kPaper);
  svg += text_at(kLeft, 44, "class=\"b\"", title);
  int64_t pool = 1;
  double left = kLeft;
  for (const Panel& panel : panels) {
    const int64_t longest = std::max(panel.weights.rows, panel.weights.columns);
    pool = (longest + kMostCells - 1) / kMostCells;
    Plot plot{pool_max(panel.weights, pool), pool, panel.weights.rows, panel.weights.columns, top, left, 0, language};
    plot.cell = static_cast<double>(kPlot) / static_cast<double>(std::max(plot.weights.rows, plot.weights.columns));
    svg += panel_at(panel, plot);
    left += kPitch;
  }
  svg += color_bar(bar_left, top, language);
  std::string note = footnote;
  if (pool > 1) {
    note += fmt::format(fmt::runtime(say(language, " Each cell: the largest of {0} x {0} weights.",
                                         "每格取 {0}×{0} 个权重中的最大值。")),
                        pool);
  }
  return svg + text_at(kLeft, kHeight - 26, "class=\"t\"", note) + "</svg>\n";
}

}  // namespace foveate::cli
