// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/heatmap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "cli/heatmap_svg.h"
#include "cli/heatmap_terminal.h"
#include "cli/terminal.h"
#include "text/width.h"

namespace foveate::cli {
namespace {

// All weight on the diagonal.
Panel diagonal(int64_t n) {
  Weights weights{n, n, std::vector<double>(static_cast<size_t>(n * n))};
  for (int64_t i = 0; i < n; ++i) weights.values[static_cast<size_t>(i * n + i)] = 1;
  return {"diagonal", "n rows", weights};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

int widest_line(const std::string& text) {
  int width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, text::display_width(line));
  return width;
}

size_t count(const std::string& text, const std::string& part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++times;
  return times;
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(text::display_width("key j"), 5);
  EXPECT_EQ(text::display_width("键 key"), 6);
  EXPECT_EQ(text::display_width("（√d_k，░）"), 11);  // full-width punctuation is wide, the rest is not
  EXPECT_EQ(text::display_width("\x1b[38;5;16;48;2;1;2;3m 76 \x1b[0m"), 4);
  EXPECT_EQ(text::pad_right("键", 4), "键  ");
  EXPECT_EQ(text::pad_left("键", 4), "  键");
  EXPECT_EQ(text::pad_left("too wide", 3), "too wide");
}

TEST(PoolMax, KeepsThePeakOfEachSquare) {
  const Weights weights{3, 3, {.1, .2, .3, .4, .5, .6, .7, .8, .9}};
  const Weights pooled = pool_max(weights, 2);
  EXPECT_EQ(pooled.rows, 2);
  EXPECT_EQ(pooled.columns, 2);
  EXPECT_EQ(pooled.values, (std::vector<double>{.5, .6, .8, .9}));
  EXPECT_EQ(pool_max(weights, 1).values, weights.values);
  EXPECT_EQ(pool_max(weights, 5).values, std::vector<double>{.9});
}

TEST(ScaleTop, IsARoundNumberThatNoWeightExceeds) {
  const auto top = [](std::vector<double> values) {
    const Panel panel{"", "", {1, static_cast<int64_t>(values.size()), values}};
    return scale_top({&panel, 1});
  };
  EXPECT_DOUBLE_EQ(top({.1, .99}), 1);
  EXPECT_DOUBLE_EQ(top({.5, .1}), .5);
  EXPECT_DOUBLE_EQ(top({.03}), .05);
  EXPECT_DOUBLE_EQ(top({.011}), .02);
  EXPECT_DOUBLE_EQ(top({0}), 1);
}

TEST(Cividis, RisesInLightnessFromBlueToYellow) {
  double last = -1;
  for (int i = 0; i <= 100; ++i) {
    const Rgb c = cividis(i / 100.0);
    const double luma = 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
    EXPECT_GT(luma, last) << i;
    last = luma;
  }
  EXPECT_GT(cividis(0).blue, cividis(0).red);
  EXPECT_GT(cividis(1).red, cividis(1).blue);
  EXPECT_TRUE(wants_white_text(cividis(0)));
  EXPECT_FALSE(wants_white_text(cividis(1)));
}

TEST(TerminalHeatmap, ShadesAndNumbersWithoutColour) {
  const Panel panel{"title", "", {2, 2, {1, 0, .3, .7}}};
  EXPECT_EQ(terminal_heatmap({&panel, 1}, {80, ColorDepth::none}, Language::en),
            "title\n"
            "query i ↓   key j →\n"
            "     0   1\n"
            " 0 100█  0\n"
            " 1 ▒30▒▓70▓\n"
            "\n"
            "weight  ' ' <5%  ░ ≥5%  ▒ ≥25%  ▓ ≥50%  █ ≥75%\n");
}

TEST(TerminalHeatmap, ShadesAsTheLegendSaysOfThePrintedNumber) {
  const auto row_of = [](std::vector<double> values) {
    const Panel panel{"", "", {1, static_cast<int64_t>(values.size()), values}};
    return lines_of(terminal_heatmap({&panel, 1}, {80, ColorDepth::none}, Language::en))[3];
  };
  EXPECT_EQ(row_of({.4987, .4949, .5049, .7451, .9}), " 0 ▓50▓▒49▒▓50▓█75██90█");
  EXPECT_EQ(row_of({.15, .2, .1451}), " 0 █15██20██15█");  // the scale ends at 20 %
}

TEST(TerminalHeatmap, ColoursInTheDepthAskedFor) {
  const Panel panel = diagonal(2);
  const std::string full = terminal_heatmap({&panel, 1}, {80, ColorDepth::truecolor}, Language::en);
  EXPECT_NE(full.find("\x1b[38;5;231;48;2;0;34;78m  0 "), full.npos);
  EXPECT_NE(full.find("\x1b[38;5;16;48;2;254;232;56m100 "), full.npos);
  const std::string palette = terminal_heatmap({&panel, 1}, {80, ColorDepth::palette256}, Language::en);
  EXPECT_NE(palette.find("\x1b[38;5;231;48;5;17m  0 "), palette.npos);
  EXPECT_NE(palette.find("\x1b[38;5;16;48;5;227m100 "), palette.npos);
  EXPECT_EQ(palette.find(";2;"), palette.npos);
  for (const std::string& line : lines_of(full)) {
    const bool colored = line.find("\x1b[") != line.npos;
    EXPECT_EQ(colored, line.find("\x1b[0m") != line.npos) << "colours run on after: " << line;
  }
}

TEST(TerminalHeatmap, KeepsToTheWidth) {
  for (const int64_t n : {1, 2, 7, 8, 9, 16, 17, 37, 38, 100, 333}) {
    for (const int width : {50, 60, 79, 80, 81, 120, 200}) {
      for (const Language language : {Language::en, Language::zh}) {
        const std::array<Panel, 2> panels = {diagonal(n), diagonal(n)};
        const std::string text = terminal_heatmap(panels, {width, ColorDepth::none}, language);
        EXPECT_LE(widest_line(text), width) << "n " << n << "\n" << text;
        const bool all_cells = (n > 100 ? 4 : 3) + 2 * n <= width;
        EXPECT_EQ(text.find(" x ") != text.npos || text.find("×") != text.npos, !all_cells) << "n " << n << "\n"
                                                                                            << text;
      }
    }
  }
}

TEST(TerminalHeatmap, StandsSideBySideWhereTheWidthAllows) {
  const std::array<Panel, 2> panels = {diagonal(8), diagonal(8)};
  EXPECT_NE(terminal_heatmap(panels, {80, ColorDepth::none}, Language::en)
                .find("diagonal                           "
                      "    diagonal\n"),
            std::string::npos);
  EXPECT_EQ(lines_of(terminal_heatmap(panels, {40, ColorDepth::none}, Language::en))[0], "diagonal");
}

TEST(TerminalHeatmap, AlignsTheSecondPanelBehindChineseText) {
  const std::array<Panel, 2> panels = {Panel{"未缩放", "", diagonal(8).weights},
                                       Panel{"缩放后", "", diagonal(8).weights}};
  const std::vector<std::string> lines = lines_of(terminal_heatmap(panels, {80, ColorDepth::none}, Language::zh));
  const auto column_of = [](const std::string& line, const std::string& part) {
    return text::display_width(line.substr(0, line.rfind(part)));
  };
  EXPECT_EQ(column_of(lines[0], "缩放后"), 39);
  EXPECT_EQ(column_of(lines[1], "查询"), 39);
  EXPECT_EQ(column_of(lines[4], " 1 "), 39);
}

TEST(SvgHeatmap, NamesAxesAndEveryCell) {
  const std::array<Panel, 2> panels = {Panel{"left", "first", {2, 2, {1, 0, .25, .75}}}, diagonal(2)};
  const std::string svg = svg_heatmap("The title", "The note", panels, Language::en);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  for (const char* part : {"The title", "The note", "left", "first", ">query i<", ">key j<", ">weight<", ">100%<",
                           "Noto Sans CJK SC", "<title>query 1, key 0: 0.250000</title>"}) {
    EXPECT_NE(svg.find(part), svg.npos) << part;
  }
  EXPECT_EQ(count(svg, "<title>"), 8u);
  EXPECT_EQ(svg.find("<script"), svg.npos);
  EXPECT_EQ(svg.find("href"), svg.npos);
  for (const char* element : {"g", "text", "title", "style", "linearGradient"}) {
    EXPECT_EQ(count(svg, std::string("<") + element + " ") + count(svg, std::string("<") + element + ">"),
              count(svg, std::string("</") + element + ">"))
        << element;
  }
  const std::string chinese = svg_heatmap("标题", "", panels, Language::zh);
  EXPECT_NE(chinese.find("<title>查询 1，键 0：0.250000</title>"), chinese.npos);
}

TEST(SvgHeatmap, PoolsWhatIsTooLarge) {
  const Panel panel = diagonal(130);
  const std::string svg = svg_heatmap("", "Note.", {&panel, 1}, Language::en);
  EXPECT_EQ(count(svg, "<title>"), 44u * 44u);
  EXPECT_NE(svg.find("Note. Each cell: the largest of 3 x 3 weights."), svg.npos);
  EXPECT_NE(svg.find("<title>queries 3-5, keys 3-5: largest 1.000000</title>"), svg.npos);
  EXPECT_NE(svg.find("queries 129, keys 126-128:"), svg.npos);
}

}  // namespace
}  // namespace foveate::cli
