// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/heatmap_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/width.h"

namespace foveate::cli {
namespace {

using Lines = std::vector<std::string>;

constexpr int kNumberCell = 4;  // columns: " 76 "
constexpr int kBareCell = 2;    // about square on most terminals
constexpr int kGap = 4;         // between panels
constexpr const char* kReset = "\x1b[0m";

struct Shade {
  double from;  // share of the scale's top
  const char* block;
};
constexpr std::array<Shade, 5> kShades = {{{0, " "}, {0.05, "░"}, {0.25, "▒"}, {0.5, "▓"}, {0.75, "█"}}};

// How the panels are cut to fit the width.
struct Fit {
  int cell;
  bool side_by_side;
  int64_t pool;
};

// What all cells share.
struct Style {
  Fit fit;
  double top;
  ColorDepth colors;
  Language language;
};

const char* axes(Language language) { return say(language, "query i ↓   key j →", "查询 query i ↓   键 key j →"); }

// A cell's colours: its background, and black or white text on it.
std::string escape(double share, ColorDepth depth) {
  // cividis in the 256 colours that terminals agree on. The nearest of them to each of its colours would do badly: they
  // hold no dark blues but pure ones, so that teal would come between two blues.
  static constexpr std::array kPalette = {17, 18, 60, 102, 144, 185, 227};
  constexpr int kBlack = 16, kWhite = 231, kFirstWithBlack = 3;
  if (depth == ColorDepth::truecolor) {
    const Rgb color = cividis(share);
    return fmt::format("\x1b[38;5;{};48;2;{};{};{}m", wants_white_text(color) ? kWhite : kBlack, color.red, color.green,
                       color.blue);
  }
  const int step = std::clamp(static_cast<int>(share * kPalette.size()), 0, static_cast<int>(kPalette.size()) - 1);
  return fmt::format("\x1b[38;5;{};48;5;{}m", step < kFirstWithBlack ? kWhite : kBlack, kPalette[step]);
}

const char* shade(double share) {
  constexpr double kSlack = 1e-9;  // 15 % of a top of 20 % is three quarters, but not to the last bit
  const char* block = kShades[0].block;
  for (const Shade& s : kShades) {
    if (share >= s.from - kSlack) block = s.block;
  }
  return block;
}

std::string draw_cell(double weight, const Style& style) {
  const double share = weight / style.top;
  const std::string number = style.fit.cell == kNumberCell ? fmt::format("{:.0f}", 100 * weight) : "";
  if (style.colors != ColorDepth::none) {
    const std::string text = number.empty() ? std::string(kBareCell, ' ') : fmt::format("{:>3} ", number);
    return escape(share, style.colors) + text;
  }
  if (number.empty()) return fmt::format("{0}{0}", shade(share));
  // By the number as it is printed, for the legend to be true of it.
  const char* block = shade(std::stod(number) / 100 / style.top);
  return number.size() == 3 ? number + block : fmt::format("{0}{1:>2}{0}", block, number);
}

// The index over every column where there is room; over every second, fifth, tenth, ... elsewhere.
std::string column_ticks(int64_t columns, const Fit& fit) {
  const auto digits = static_cast<int64_t>(std::to_string((columns - 1) * fit.pool).size());
  int64_t every = 1;
  for (int64_t decade = 1; every * fit.cell <= digits; decade *= 10) {
    for (const int64_t step : {decade, 2 * decade, 5 * decade, 10 * decade}) {
      every = step;
      if (every * fit.cell > digits) break;
    }
  }
  std::string line;
  for (int64_t column = 0; column < columns && column * fit.cell + digits <= columns * fit.cell; column += every) {
    line.resize(static_cast<size_t>(column * fit.cell), ' ');
    line += fmt::format("{:>{}}", column * fit.pool, fit.cell == kNumberCell ? 3 : 1);
  }
  return line;
}

int label_width(const Weights& weights) {
  return std::max(2, static_cast<int>(std::to_string(weights.rows - 1).size()));
}

Lines draw_panel(const Panel& panel, const Style& style) {
  const Weights weights = pool_max(panel.weights, style.fit.pool);
  const int label = label_width(panel.weights);
  Lines lines = {panel.title, axes(style.language),
                 text::pad_right("", label + 1) + column_ticks(weights.columns, style.fit)};
  for (int64_t i = 0; i < weights.rows; ++i) {
    std::string line = fmt::format("{:>{}} ", i * style.fit.pool, label);
    for (int64_t j = 0; j < weights.columns; ++j) line += draw_cell(weights.at(i, j), style);
    if (style.colors == ColorDepth::none) {
      line.erase(line.find_last_not_of(' ') + 1);
    } else {
      line += kReset;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

int panel_width(const Panel& panel, const Fit& fit, Language language) {
  const int64_t cells = (panel.weights.columns + fit.pool - 1) / fit.pool;
  return std::max({label_width(panel.weights) + 1 + static_cast<int>(cells) * fit.cell,
                   text::display_width(panel.title), text::display_width(axes(language))});
}

bool fits(std::span<const Panel> panels, const Fit& fit, int width, Language language) {
  int taken = 0;
  for (const Panel& panel : panels) {
    const int own = panel_width(panel, fit, language);
    taken = !fit.side_by_side ? std::max(taken, own) : taken == 0 ? own : taken + kGap + own;
  }
  return taken <= width;
}

// Side by side with numbers if that fits, then without, then below one another; pooled only where all that is too wide.
Fit choose_fit(std::span<const Panel> panels, int width, Language language) {
  for (const bool side_by_side : {true, false}) {
    for (const int cell : {kNumberCell, kBareCell}) {
      const Fit fit{cell, side_by_side, 1};
      if (fits(panels, fit, width, language)) return fit;
    }
  }
  int64_t longest = 1;
  for (const Panel& panel : panels) longest = std::max({longest, panel.weights.rows, panel.weights.columns});
  for (const bool side_by_side : {true, false}) {
    for (int64_t pool = 2; pool < longest; ++pool) {
      const Fit fit{kBareCell, side_by_side, pool};
      if (fits(panels, fit, width, language)) return fit;
    }
  }
  return {kBareCell, false, longest};
}

std::string legend(const Style& style) {
  std::string line = say(style.language, "weight  ", "权重  ");
  if (style.colors == ColorDepth::none) {
    line += fmt::format("' ' <{:.3g}%", 100 * style.top * kShades[1].from);
    for (size_t i = 1; i < kShades.size(); ++i) {
      line += fmt::format("  {} ≥{:.3g}%", kShades[i].block, 100 * style.top * kShades[i].from);
    }
    return line + "\n";
  }
  constexpr int kCells = 32;
  line += "0% ";
  for (int i = 0; i < kCells; ++i) line += escape(i / (kCells - 1.0), style.colors) + " ";
  return line + fmt::format("{} {:.3g}%\n", kReset, 100 * style.top);
}

std::string beside_one_another(const std::vector<Lines>& drawn) {
  std::string text;
  for (size_t line = 0; line < drawn[0].size(); ++line) {
    for (size_t panel = 0; panel < drawn.size(); ++panel) {
      const bool last = panel + 1 == drawn.size();
      int width = 0;
      for (const std::string& each : drawn[panel]) width = std::max(width, text::display_width(each));
      text += last ? drawn[panel][line] + "\n" : text::pad_right(drawn[panel][line], width + kGap);
    }
  }
  return text;
}

std::string below_one_another(const std::vector<Lines>& drawn) {
  std::string text;
  for (const Lines& lines : drawn) text += fmt::format("{}\n\n", fmt::join(lines, "\n"));
  return text;
}

}  // namespace

std::string terminal_heatmap(std::span<const Panel> panels, const Terminal& terminal, Language language) {
  const Style style{choose_fit(panels, terminal.width, language), scale_top(panels), terminal.colors, language};
  std::vector<Lines> drawn;
  for (const Panel& panel : panels) drawn.push_back(draw_panel(panel, style));
  std::string text = style.fit.side_by_side ? beside_one_another(drawn) + "\n" : below_one_another(drawn);
  text += legend(style);
  if (style.fit.pool > 1) {
    text += fmt::format(fmt::runtime(say(language, "each cell: the largest of {0} x {0} weights\n",
                                         "每格取 {0}×{0} 个权重中的最大值\n")),
                        style.fit.pool);
  }
  return text;
}

}  // namespace foveate::cli
