// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/maps_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/heatmap.h"
#include "cli/svg.h"
#include "io/png.h"

namespace foveate::cli {
namespace {

// Pixels.
constexpr double kMargin = 28;
constexpr double kAbove = 84;  // of the first panel: the picture's title
constexpr double kPlot = 224;  // a map's width, and most of its height
constexpr double kLeastPlot = 20;
constexpr double kProfile = 36, kGap = 6;
constexpr double kAxis = 58;          // left of a map
constexpr double kHeading = 26;       // above it
constexpr double kUnderProfile = 56;  // ticks and the axis's name
constexpr double kBetween = 26;
constexpr int64_t kMostAbreast = 4;
constexpr double kBar = 14;
constexpr double kTurned = 70;  // the least height that its axis's name goes along
constexpr double kLine = 17;

constexpr int64_t kRaster = 512;  // pixels that an enlarged raster has at least along an axis
constexpr double kDecades = 3;

constexpr const char* kInk = "#1f2933";
constexpr const char* kFaint = "#52606d";
constexpr const char* kPaper = "#fbfaf7";
constexpr const char* kFill = "#8c8878";
constexpr Rgb kNone = {0xe4, 0xe2, 0xdc}, kNotFinite = {0xd9, 0x8b, 0x82};

Rgb color_of(double weight, double top) {
  return weight <= 0 ? kNone : cividis(1 + std::log10(weight / top) / kDecades);
}

/// The cells as an image of whole pixels to a cell.
std::string raster(const HeadMap& head, const MapsPicture& picture, double top) {
  const auto zoom = [&](int64_t cells) { return picture.enlarged ? (kRaster + cells - 1) / cells : 1; };
  const int64_t tall = zoom(picture.rows), wide = zoom(picture.columns);
  io::Pixels pixels{picture.columns * wide, picture.rows * tall, {}};
  pixels.rgb.reserve(static_cast<size_t>(3 * pixels.width * pixels.height));
  for (int64_t y = 0; y < pixels.height; ++y) {
    for (int64_t x = 0; x < picture.columns; ++x) {
      const auto row = static_cast<size_t>(y / tall);
      const auto weight = static_cast<double>(head.cells[y / tall * picture.columns + x]);
      const Rgb c = weight <= 0 && head.not_finite[row] ? kNotFinite : color_of(weight, top);
      for (int64_t i = 0; i < wide; ++i) pixels.rgb.insert(pixels.rgb.end(), {c.red, c.green, c.blue});
    }
  }
  return io::data_uri(io::png_of(pixels));
}

/// A number short enough for the margin: "0.98", "12.3", "8,190".
std::string brief(double x) { return std::abs(x) >= 1000 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}", x); }

double most_of(const std::vector<double>& profile) {
  double most = 0;
  for (const double x : profile) most = std::max(most, std::isfinite(x) ? x : 0);
  return most;
}

/// Where panels stand.
struct Placing {
  double plot_width, plot_height, pitch_x, pitch_y;
  int64_t abreast, lines;

  Placing(int64_t heads, int64_t n_q, int64_t n_kv) {
    const double ratio = static_cast<double>(n_q) / static_cast<double>(std::max<int64_t>(1, n_kv));
    plot_height = std::clamp(kPlot * ratio, kLeastPlot, kPlot);
    plot_width = std::clamp(kPlot / ratio, kLeastPlot, kPlot);
    pitch_x = kAxis + plot_width + kGap + kProfile + kBetween;
    pitch_y = kHeading + plot_height + kGap + kProfile + kUnderProfile;
    abreast = std::clamp<int64_t>(heads, 1, kMostAbreast);
    lines = (heads + abreast - 1) / abreast;
  }

  double bar_left() const { return kMargin + static_cast<double>(abreast) * pitch_x; }
  double bottom() const { return kAbove + static_cast<double>(lines) * pitch_y; }
};

class Painter {
 public:
  Painter(const MapsPicture& picture, Language language)
      : picture_(picture),
        language_(language),
        placing_(std::ssize(picture.heads), picture.n_q, picture.n_kv),
        plot_width_(placing_.plot_width),
        plot_height_(placing_.plot_height) {
    double largest = 0;
    for (const HeadMap& head : picture.heads) {
      for (int64_t i = 0; i < picture.rows * picture.columns; ++i) {
        largest = std::max(largest, static_cast<double>(head.cells[i]));
      }
    }
    top_ = scale_top(largest);
  }

  std::string svg() const {
    const auto n = std::ssize(picture_.heads);
    const PictureSize size = size_of_maps(n, picture_.n_q, picture_.n_kv, std::ssize(picture_.footnotes));
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\" lang=\"{3}\">\n",
        size.width, size.height, picture_.title, say(language_, "en", "zh-CN"));
    svg += style_sheet();
    svg += fmt::format("<rect width=\"100%\" height=\"100%\" rx=\"12\" fill=\"{}\"/>\n", kPaper);
    svg += text_at(kMargin, 44, "class=\"b\"", picture_.title);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t column = i % placing_.abreast, line = i / placing_.abreast;
      svg += panel(picture_.heads[static_cast<size_t>(i)],
                   kMargin + static_cast<double>(column) * placing_.pitch_x + kAxis,
                   kAbove + static_cast<double>(line) * placing_.pitch_y + kHeading);
    }
    svg += color_bar(placing_.bar_left());
    double line = placing_.bottom() + 14;
    for (const std::string& footnote : picture_.footnotes) {
      svg += text_at(kMargin, line, "class=\"t\"", footnote);
      line += kLine;
    }
    return svg + "</svg>\n";
  }

 private:
  static std::string style_sheet() {
    return fmt::format(
        "<style>\n"
        "text {{ font: 13px system-ui, -apple-system, \"Segoe UI\", \"PingFang SC\", \"Microsoft YaHei\", \"Noto "
        "Sans\", \"Noto Sans CJK SC\", sans-serif; fill: {}; font-variant-numeric: tabular-nums; }}\n"
        "text.b {{ font-size: 20px; font-weight: 600; }}\n"
        "text.h {{ font-size: 14px; font-weight: 600; }}\n"
        "text.t {{ font-size: 11.5px; fill: {}; }}\n"
        "image {{ image-rendering: pixelated; }}\n"
        "</style>\n",
        kInk, kFaint);
  }

  std::string panel(const HeadMap& head, double x, double y) const {
    std::string svg = "<g>\n" + text_at(x, y - 9, "class=\"h\"", head.title);
    const std::string image = raster(head, picture_, top_);
    svg += fmt::format(
        "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "preserveAspectRatio=\"none\" xlink:href=\"{}\"/>\n",
        x, y, plot_width_, plot_height_, image);
    svg += row_profile(head.row_profile, x + plot_width_ + kGap, y);
    svg += column_profile(head.column_profile, x, y + plot_height_ + kGap);
    return svg + ticks(x, y) + "</g>\n";
  }

  /// Bars to the right, one a row of cells; the number is where the longest ends.
  std::string row_profile(const std::vector<double>& profile, double x, double y) const {
    const double most = most_of(profile), step = plot_height_ / static_cast<double>(picture_.rows);
    std::string path = fmt::format("M{:.1f} {:.2f}", x, y);
    for (size_t i = 0; i < profile.size(); ++i) {
      const double end = x + bar_length(profile[i], most);
      path += fmt::format("H{:.2f}V{:.2f}", end, y + step * static_cast<double>(i + 1));
    }
    return outlined(path + fmt::format("H{:.1f}Z", x), x, y, kProfile, plot_height_) +
           text_at(x + kProfile, y - 4, "class=\"t\" text-anchor=\"end\"", brief(most));
  }

  /// Bars downwards, one a column of cells.
  std::string column_profile(const std::vector<double>& profile, double x, double y) const {
    const double most = most_of(profile), step = plot_width_ / static_cast<double>(picture_.columns);
    std::string path = fmt::format("M{:.2f} {:.1f}", x, y);
    for (size_t i = 0; i < profile.size(); ++i) {
      path += fmt::format("V{:.2f}H{:.2f}", y + bar_length(profile[i], most), x + step * static_cast<double>(i + 1));
    }
    return outlined(path + fmt::format("V{:.1f}Z", y), x, y, plot_width_, kProfile) +
           text_at(x + plot_width_ + kGap, y + kProfile - 2, "class=\"t\"", brief(most));
  }

  static double bar_length(double value, double most) {
    return most > 0 && std::isfinite(value) ? kProfile * value / most : 0;
  }

  static std::string outlined(const std::string& path, double x, double y, double width, double height) {
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#d9d6cd\"/>"
        "<path d=\"{}\" fill=\"{}\"/>\n",
        x, y, width, height, path, kFill);
  }

  /// The first and last of what an axis counts, and its name between them.
  std::string ticks(double x, double y) const {
    const double below = y + plot_height_ + kGap + kProfile + 16, middle = y + plot_height_ / 2;
    std::string svg = text_at(x, below, "class=\"t\"", "0");
    if (picture_.n_kv > 1) {
      svg += text_at(x + plot_width_, below, "class=\"t\" text-anchor=\"end\"", std::to_string(picture_.n_kv - 1));
    }
    svg += text_at(x + plot_width_ / 2, below, "text-anchor=\"middle\"", say(language_, "key j", "键 j"));
    if (plot_height_ < kTurned) {  // a name along the axis would be longer than it
      const std::string ends = picture_.n_q > 1 ? fmt::format(" 0-{}", picture_.n_q - 1) : " 0";
      return svg + text_at(x - 6, y + plot_height_ / 2 + 4, "class=\"t\" text-anchor=\"end\"",
                           say(language_, "query", "查询") + ends);
    }
    svg += text_at(x - 6, y + 9, "class=\"t\" text-anchor=\"end\"", "0");
    svg += text_at(x - 6, y + plot_height_, "class=\"t\" text-anchor=\"end\"", std::to_string(picture_.n_q - 1));
    const std::string turned =
        fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 {:.1f} {:.1f})\"", x - 12, middle);
    return svg + text_at(x - 12, middle, turned.c_str(), say(language_, "query i", "查询 i"));
  }

  std::string color_bar(double left) const {
    const double y = kAbove + kHeading;
    std::string svg = cividis_gradient();
    const double height = std::max(plot_height_, 90.0);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" "
        "fill=\"url(#cividis)\"/>\n",
        left, y, kBar, height);
    for (int i = 0; i <= static_cast<int>(kDecades); ++i) {
      svg += text_at(left + kBar + 6, y + height * i / kDecades + 4, "class=\"t\"",
                     fmt::format("{:.3g} %", 100 * top_ / std::pow(10, i)));
    }
    double at = y + height + 10;
    const auto swatch = [&](Rgb color, const char* name) {
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", left, at, kBar,
                         kBar, hex(color));
      svg += text_at(left + kBar + 6, at + 11, "class=\"t\"", name);
      at += kBar + 6;
    };
    swatch(kNone, "0");
    const bool any = std::any_of(picture_.heads.begin(), picture_.heads.end(), [](const HeadMap& head) {
      return std::find(head.not_finite.begin(), head.not_finite.end(), true) != head.not_finite.end();
    });
    if (any) swatch(kNotFinite, "NaN, Inf");
    return svg + text_at(left, y - 13, "class=\"t\"", say(language_, "weight", "权重"));
  }

  const MapsPicture& picture_;
  const Language language_;
  const Placing placing_;
  const double plot_width_, plot_height_;
  double top_ = 1;
};

}  // namespace

PictureSize size_of_maps(int64_t heads, int64_t n_q, int64_t n_kv, int64_t footnotes) {
  const Placing placing(heads, n_q, n_kv);
  return {std::max(placing.bar_left() + kBar + 72, 640.0),
          placing.bottom() + kMargin + kLine * static_cast<double>(footnotes)};
}

std::string svg_maps(const MapsPicture& picture, Language language) { return Painter(picture, language).svg(); }

}  // namespace foveate::cli
