// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/plot_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace foveate::claims {
namespace {

// Pixels.
constexpr double kWidth = 760, kHeight = 470;
constexpr double kLeft = 92, kRight = kWidth - 28, kTop = 92, kBottom = kHeight - 92;
constexpr double kCap = 5;     // half an interval's cap
constexpr double kDot = 4;     // a point's radius
constexpr double kBar = 0.64;  // of a category's width, all bars together

// Okabe and Ito's colours, which the colour-blind tell apart; enough of each against white.
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#008060", "#9b4f80", "#7a6a00", "#444444"};
constexpr const char* kTheory = "#555555";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return result;
}

std::string text_at(double x, double y, const std::string& attributes, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(text));
}

std::string line_at(double x1, double y1, double x2, double y2, const std::string& attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

/// "0.5", "4096", and powers of ten where zeros would be counted: "10⁻⁶".
std::string number(double value) {
  if (value != 0 && (std::abs(value) < 1e-3 || std::abs(value) >= 1e5)) {
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
    const double front = value / std::pow(10, exponent);
    std::string power = "10";
    for (const char c : std::to_string(exponent)) {
      static constexpr const char* kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
      power += c == '-' ? "⁻" : kRaised[c - '0'];
    }
    return std::abs(front - 1) < 1e-6 ? power : fmt::format("{:.3g}·{}", front, power);
  }
  return fmt::format("{:g}", value);
}

/// From numbers to pixels.
class Scale {
 public:
  Scale(const Axis& axis, double from, double to, double low, double high)
      : logarithmic_(axis.logarithmic), from_(from), to_(to), low_(low), high_(high) {}

  double at(double value) const {
    const double share =
        logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return from_ + std::clamp(share, 0.0, 1.0) * (to_ - from_);
  }
  double at_or_end(double value) const { return below(value) ? from_ : above(value) ? to_ : at(value); }

  bool below(double value) const { return value < low_; }
  bool above(double value) const { return value > high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  bool logarithmic() const { return logarithmic_; }

 private:
  bool logarithmic_;
  double from_, to_, low_, high_;
};

/// What all points and intervals span.
struct Span {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value, bool logarithmic) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

double step_of(double range) {
  const double rough = range / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

Scale scale_of_y(const Plot& plot) {
  const Axis& axis = plot.y;
  Span span;
  bool bars = false;
  for (const Curve& curve : plot.curves) {
    bars = bars || curve.mark == Mark::bars;
    for (const Point& point : curve.points) {
      for (const double value : {point.estimate.value, point.estimate.low, point.estimate.high}) {
        span.add(value, axis.logarithmic);
      }
    }
  }
  double low = span.low, high = span.high;
  if (axis.logarithmic) {
    low = std::pow(10, std::floor(std::log10(low / 1.05)));
    high = std::pow(10, std::ceil(std::log10(high * 1.05)));
  } else {
    if (bars) low = std::min(low, 0.0);
    const double step = step_of(high > low ? high - low : std::max(std::abs(high), 1.0));
    low = std::floor(low / step + 1e-9) * step;
    high = std::ceil(high / step + (bars ? 0.2 : -1e-9)) * step;
    if (low == high) high = low + step;
  }
  return {axis, kBottom, kTop, axis.low.value_or(low), axis.high.value_or(high)};
}

Scale scale_of_x(const Plot& plot) {
  const Axis& axis = plot.x;
  if (!axis.categories.empty()) return {axis, kLeft, kRight, -0.5, static_cast<double>(axis.categories.size()) - 0.5};
  Span span;
  for (const Curve& curve : plot.curves) {
    for (const Point& point : curve.points) span.add(point.x, axis.logarithmic);
  }
  const double low = axis.low.value_or(span.low), high = axis.high.value_or(span.high);
  // Some room on both sides, so that intervals stand clear of the axis.
  if (axis.logarithmic)
    return {axis, kLeft, kRight, low / std::pow(high / low, 0.04), high * std::pow(high / low, 0.04)};
  const double room = 0.04 * (high - low);
  return {axis, kLeft, kRight, low - room, high + room};
}

std::vector<double> ticks(const Axis& axis, const Scale& scale) {
  if (!axis.ticks.empty()) return axis.ticks;
  std::vector<double> all;
  if (!axis.logarithmic) {
    const double step = step_of(scale.high() - scale.low());
    for (double at = std::ceil(scale.low() / step - 1e-9); at * step <= scale.high() * (1 + 1e-9); ++at) {
      all.push_back(at * step + 0.0);  // + 0: never -0
    }
    return all;
  }
  const double decades = std::log10(scale.high() / scale.low());
  const int every = static_cast<int>(std::ceil(decades / 8));
  for (int power = static_cast<int>(std::ceil(std::log10(scale.low()) - 1e-9));
       std::pow(10, power) <= scale.high() * (1 + 1e-9); power += every) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(10, power);
      if ((factor == 1 || decades < 2.5) && at <= scale.high() * (1 + 1e-9)) all.push_back(at);
    }
  }
  return all;
}

std::string axes(const Plot& plot, const Scale& x, const Scale& y, Language language) {
  std::string result;
  for (const double at : ticks(plot.y, y)) {
    result += line_at(kLeft, y.at(at), kRight, y.at(at), "stroke=\"#e3e3e3\"");
    result += text_at(kLeft - 10, y.at(at) + 4.5, "class=\"t\" text-anchor=\"end\"", number(at));
  }
  if (plot.x.categories.empty()) {
    for (const double at : ticks(plot.x, x)) {
      result += line_at(x.at(at), kBottom, x.at(at), kBottom + 5, "stroke=\"#222222\"");
      result += text_at(x.at(at), kBottom + 20, "class=\"t\" text-anchor=\"middle\"", number(at));
    }
  }
  for (size_t i = 0; i < plot.x.categories.size(); ++i) {
    result += text_at(x.at(static_cast<double>(i)), kBottom + 20, "class=\"t\" text-anchor=\"middle\"",
                      plot.x.categories[i].in(language));
  }
  result += line_at(kLeft, kBottom, kRight, kBottom, "stroke=\"#222222\"");
  result += line_at(kLeft, kTop, kLeft, kBottom, "stroke=\"#222222\"");
  result += text_at((kLeft + kRight) / 2, kBottom + 46, "text-anchor=\"middle\"", plot.x.title.in(language));
  const double middle = (kTop + kBottom) / 2;
  return result + text_at(26, middle, fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 26 {:.1f})\"", middle),
                          plot.y.title.in(language));
}

std::string interval_at(double x, const Estimate& estimate, const Scale& y, const char* color) {
  if (estimate.low == estimate.high) return {};
  const double top = y.at_or_end(estimate.high), bottom = y.at_or_end(estimate.low);
  const std::string stroke = fmt::format("stroke=\"{}\" stroke-width=\"1.6\"", color);
  std::string result = line_at(x, top, x, bottom, stroke);
  if (!y.above(estimate.high)) result += line_at(x - kCap, top, x + kCap, top, stroke);
  if (!y.below(estimate.low)) result += line_at(x - kCap, bottom, x + kCap, bottom, stroke);
  return result;
}

std::string point_at(double x, const Estimate& estimate, const Scale& y, const char* color) {
  const double at = y.at_or_end(estimate.value);
  if (y.below(estimate.value) || y.above(estimate.value)) {
    const double tip = y.below(estimate.value) ? 7 : -7;
    return fmt::format("<path d=\"M{:.1f} {:.1f}h12l-6 {:.1f}z\" fill=\"{}\"/>\n", x - 6, at - tip, tip, color);
  }
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x, at, kDot, color);
}

std::string path_through(const Curve& curve, const Scale& x, const Scale& y, const char* color, const char* more) {
  std::string path;
  for (const Point& point : curve.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(point.x), y.at_or_end(point.estimate.value));
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" {}/>\n", path, color, more);
}

/// Dashed: through all points, or a stroke across each category.
std::string theory_at(const Curve& curve, const Scale& x, const Scale& y, bool categories) {
  constexpr const char* kDashes = "stroke-dasharray=\"6 5\"";
  if (!categories) return path_through(curve, x, y, kTheory, kDashes);
  std::string result;
  for (const Point& point : curve.points) {
    const double at = y.at_or_end(point.estimate.value);
    result += line_at(x.at(point.x - 0.46), at, x.at(point.x + 0.46), at,
                      fmt::format("stroke=\"{}\" stroke-width=\"2\" {}", kTheory, kDashes));
  }
  return result;
}

std::string curve_at(const Curve& curve, const Scale& x, const Scale& y, const char* color, double shift,
                     double width) {
  std::string result;
  if (curve.mark == Mark::line) result += path_through(curve, x, y, color, "");
  for (const Point& point : curve.points) {
    const double at = x.at(point.x) + shift;
    if (curve.mark == Mark::bars) {
      const double top = y.at_or_end(point.estimate.value);
      result += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" fill-opacity=\"0.55\"/>\n",
          at - width / 2, top, width, kBottom - top, color);
      result += interval_at(at, point.estimate, y, "#222222");
    } else {
      result += interval_at(at, point.estimate, y, color) + point_at(at, point.estimate, y, color);
    }
  }
  return result;
}

/// Columns of Latin letters that a text takes, about: Chinese characters are two wide.
double columns(const std::string& text) {
  double count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    count += byte < 0x80 ? 1 : byte >= 0xE3 && byte < 0xF0 ? 2 : byte >= 0xC0 ? 1 : 0;
  }
  return count;
}

std::string legend(const Plot& plot, Language language) {
  std::string result;
  double x = kLeft;
  size_t color = 0;
  for (const Curve& curve : plot.curves) {
    const bool theory = curve.mark == Mark::theory;
    const char* const of = theory ? kTheory : kColors[color++ % std::size(kColors)];
    result += line_at(x, 66, x + 24, 66,
                      fmt::format("stroke=\"{}\" stroke-width=\"{}\" {}", of, curve.mark == Mark::bars ? 10 : 2,
                                  theory ? "stroke-dasharray=\"6 5\"" : ""));
    if (curve.mark == Mark::line || curve.mark == Mark::points) {
      result += fmt::format("<circle cx=\"{:.1f}\" cy=\"66\" r=\"{}\" fill=\"{}\"/>\n", x + 12, kDot, of);
    }
    result += text_at(x + 31, 70.5, "class=\"t\"", curve.name.in(language));
    x += 31 + 7.2 * columns(curve.name.in(language)) + 20;
  }
  return result;
}

std::string style_sheet() {
  return "<style>\n"
         "text { font: 15px system-ui, -apple-system, \"Segoe UI\", \"PingFang SC\", \"Microsoft YaHei\", \"Noto "
         "Sans\", "
         "\"Noto Sans CJK SC\", sans-serif; fill: #1a1a1a; font-variant-numeric: tabular-nums; }\n"
         "text.b { font-size: 18px; font-weight: 600; }\n"
         "text.t { font-size: 13px; }\n"
         "</style>\n";
}

}  // namespace

std::string svg(const Plot& plot, Language language) {
  const Scale x = scale_of_x(plot), y = scale_of_y(plot);
  std::string result = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"{2}\" lang=\"{3}\">\n",
      kWidth, kHeight, escaped(plot.title.in(language)), language == Language::zh ? "zh-CN" : "en");
  result += style_sheet() + "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  result += text_at(kLeft, 38, "class=\"b\"", plot.title.in(language));
  result += axes(plot, x, y, language) + legend(plot, language);
  const auto bar_sets = static_cast<double>(
      std::count_if(plot.curves.begin(), plot.curves.end(), [](const Curve& c) { return c.mark == Mark::bars; }));
  const double width = bar_sets > 0 ? kBar * (x.at(1) - x.at(0)) / bar_sets : 0;
  double set = 0;
  size_t color = 0;
  for (const Curve& curve : plot.curves) {
    if (curve.mark == Mark::theory) {
      result += theory_at(curve, x, y, !plot.x.categories.empty());
      continue;
    }
    const double shift = curve.mark == Mark::bars ? (set++ - (bar_sets - 1) / 2) * width : 0;
    result += curve_at(curve, x, y, kColors[color++ % std::size(kColors)], shift, width * 0.94);
  }
  return result + text_at(kLeft, kHeight - 18, "class=\"t\"", plot.note.in(language)) + "</svg>\n";
}

Curve measured(const Series& series, const Text& name, Mark mark) { return {name, mark, series.points}; }

Curve expected(const Series& series, const Text& name) {
  Curve curve{name, Mark::theory, series.points};
  for (Point& point : curve.points) point.estimate = plain(*point.expected);
  return curve;
}

std::vector<double> ticks_of(const Series& series) {
  std::vector<double> all;
  for (const Point& point : series.points) all.push_back(point.x);
  return all;
}

std::vector<Text> labels_of(const Series& series) {
  std::vector<Text> all;
  for (const Point& point : series.points) all.push_back(point.label);
  return all;
}

}  // namespace foveate::claims
