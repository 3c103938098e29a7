// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "insight/findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "insight/words.h"

namespace foveate::insight {
namespace {

constexpr double kMuchMass = 0.3, kAboveEven = 3;
constexpr int64_t kFirstKeys = 4;
constexpr double kManySaturated = 0.1;
constexpr double kWideScores = 4;  // scaled products of unit normal rows have 1
constexpr double kNearlyEven = 0.98;
constexpr double kMostRows = 0.7, kHalf = 0.5;

/// What is asked of the rows of one head, all at once. Long rows see enough keys to tell.
struct OfRows {
  double counted = 0, several = 0;  ///< rows with figures, and those of more than one key
  double even_mass = 0;             ///< what one key would have of the mass if weights were even, at most
  double jacobian = 0;              ///< mean over saturated rows
  double long_rows = 0;
  double evenness = 0;   ///< mean of entropy / ln(keys) over long rows
  double variance = 0;   ///< mean variance of a long row's scores
  int64_t offset = 0;    ///< the commonest place of a long row's largest weight,
  double at_offset = 0;  ///< in how many rows,
  double of_offset = 0;  ///< and their mean largest weight

  OfRows(const Report& report, int64_t head)
      : first_position_(report.first_positions[static_cast<size_t>(head / report.shape.h_q)]) {
    for (int64_t i = 0; i < report.shape.n_q; ++i) {
      const RowFigures& row = report.rows_of(head)[i];
      if (row.keys > 0 && std::isfinite(row.lse)) add(i, row);
    }
    even_mass /= std::max(1.0, counted);
    jacobian /= std::max(1.0, saturated_);
    evenness /= std::max(1.0, long_rows);
    variance /= std::max(1.0, long_rows);
    for (const auto& [place, seen] : offsets_) {
      if (seen.first <= at_offset) continue;
      offset = place;
      at_offset = seen.first;
      of_offset = seen.second / seen.first;
    }
  }

 private:
  void add(int64_t i, const RowFigures& row) {
    ++counted;
    even_mass += 1 / static_cast<double>(row.keys);
    several += row.keys > 1;
    if (row.keys > 1 && row.largest_weight > kSaturatedWeight) {
      ++saturated_;
      jacobian += row.jacobian;
    }
    if (row.keys < kLeastKeys) return;
    ++long_rows;
    evenness += row.entropy / std::log(static_cast<double>(row.keys));
    variance += row.product_variance;
    auto& [times, weights] = offsets_[row.largest_key - first_position_ - i];
    ++times;
    weights += row.largest_weight;
  }

  const int64_t first_position_;
  double saturated_ = 0;
  std::map<int64_t, std::pair<double, double>> offsets_;  // rows, and the sum of their largest weights
};

/// Findings of single heads, put together where the same can be said of several.
class Collected {
 public:
  void add(Finding finding) {
    for (Finding& other : all_) {
      if (other.kind != finding.kind || other.b != finding.b || other.key != finding.key ||
          other.offset != finding.offset || other.wide != finding.wide) {
        continue;
      }
      if (finding.kind == Kind::not_finite || finding.kind == Kind::alike) break;
      other.heads.push_back(finding.heads.front());
      const auto n = static_cast<double>(other.heads.size());
      other.variance += (finding.variance - other.variance) / n;
      other.jacobian += (finding.jacobian - other.jacobian) / n;
      other.least = std::min(other.least, finding.least);
      other.most = std::max(other.most, finding.most);
      return;
    }
    all_.push_back(std::move(finding));
  }

  std::vector<Finding> take() {
    std::stable_sort(all_.begin(), all_.end(), [](const Finding& x, const Finding& y) { return x.kind < y.kind; });
    return std::move(all_);
  }

 private:
  std::vector<Finding> all_;
};

class Finder {
 public:
  explicit Finder(const Report& report) : report_(report) {}

  std::vector<Finding> run() {
    for (int64_t head = 0; head < report_.n_heads(); ++head) look_at(head);
    for (const SimilarHeads& pair : report_.similar) {
      const int64_t base = pair.b * report_.shape.h_q;
      if (even_[static_cast<size_t>(base + pair.first)] && even_[static_cast<size_t>(base + pair.second)]) continue;
      found_.add({.kind = Kind::alike,
                  .b = pair.b,
                  .heads = {pair.first, pair.second},
                  .least = pair.distance,
                  .most = pair.distance});
    }
    std::vector<Finding> all = found_.take();
    for (Finding& finding : all) finding.text = words(finding, report_);
    return all;
  }

 private:
  void look_at(int64_t head) {
    const HeadFigures& f = report_.heads[static_cast<size_t>(head)];
    const NotFinite& trace = report_.traces[static_cast<size_t>(head)];
    if (trace.rows > 0) add(head, {.kind = Kind::not_finite}, static_cast<double>(trace.rows) / rows_there(head));
    if (const double empty = empty_rows(head); empty > 0) add(head, {.kind = Kind::empty}, empty / rows_there(head));
    const OfRows rows(report_, head);
    const bool even = rows.long_rows > 0 && rows.evenness >= kNearlyEven;
    even_.push_back(even);
    if (rows.counted == 0) return;
    if (rows.several == 0 && report_.shape.n_kv >= kLeastKeys) return add(head, {.kind = Kind::one_visible}, 1);
    look_at_padding(head);
    const bool leans = look_at_keys(head, rows) || f.sink_mass >= kMuchMass;
    if (f.sink_mass >= kMuchMass) add(head, {.kind = Kind::learned_sink}, f.sink_mass);
    const double saturated = static_cast<double>(f.saturated) / rows.counted;
    if (saturated >= kManySaturated) {
      add(head,
          {.kind = Kind::saturated,
           .wide = f.product_variance >= kWideScores && !leans,
           .variance = f.product_variance,
           .jacobian = rows.jacobian},
          saturated);
    }
    if (even) add(head, {.kind = Kind::even, .variance = rows.variance}, rows.evenness);
    const double at_offset = rows.at_offset / std::max(1.0, rows.long_rows);
    if (rows.long_rows > 1 && at_offset >= kMostRows && rows.of_offset >= kHalf) {
      add(head, {.kind = Kind::offset, .offset = rows.offset}, at_offset);
    }
  }

  /// Whether some key has much of the mass.
  bool look_at_keys(int64_t head, const OfRows& rows) {
    const double* const received = report_.received_of(head);
    if (rows.long_rows < 2) return false;  // of one row the largest weight says as much
    bool any = false;
    for (int64_t j = 0; j < report_.shape.n_kv; ++j) {
      const double share = received[j] / rows.counted;
      if (share < kMuchMass || share < kAboveEven * rows.even_mass) continue;
      add(head, {.kind = j < kFirstKeys ? Kind::sink : Kind::one_key, .key = j}, share);
      any = true;
    }
    return any;
  }

  void look_at_padding(int64_t head) {
    const auto& [first, last] = report_.zero_keys[static_cast<size_t>(head / report_.shape.h_q)];
    double mass = 0;
    for (int64_t j = first; j < last; ++j) mass += report_.received_of(head)[j];
    if (mass > 0) add(head, {.kind = Kind::padding, .key = first}, mass / static_cast<double>(report_.counted(head)));
  }

  void add(int64_t head, Finding finding, double share) {
    finding.b = head / report_.shape.h_q;
    finding.heads = {head % report_.shape.h_q};
    finding.least = finding.most = share;
    found_.add(std::move(finding));
  }

  double rows_there(int64_t head) const {
    return static_cast<double>(report_.q_lengths[static_cast<size_t>(head / report_.shape.h_q)]);
  }

  double empty_rows(int64_t head) const {
    double empty = 0;
    for (int64_t i = 0; i < report_.q_lengths[static_cast<size_t>(head / report_.shape.h_q)]; ++i) {
      empty += report_.rows_of(head)[i].keys == 0;
    }
    return empty;
  }

  const Report& report_;
  Collected found_;
  std::vector<bool> even_;  ///< by head
};

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::not_finite:
      return "not_finite";
    case Kind::empty:
      return "empty";
    case Kind::one_visible:
      return "one_visible";
    case Kind::padding:
      return "padding";
    case Kind::sink:
      return "sink";
    case Kind::one_key:
      return "one_key";
    case Kind::learned_sink:
      return "learned_sink";
    case Kind::saturated:
      return "saturated";
    case Kind::even:
      return "even";
    case Kind::offset:
      return "offset";
    case Kind::alike:
      return "alike";
  }
  return "unknown";
}

std::vector<Finding> findings(const Report& report) { return Finder(report).run(); }

}  // namespace foveate::insight
