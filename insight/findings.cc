// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "insight/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
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

/// What is asked of the rows of one head that have enough keys to tell, all at once.
struct LongRows {
  double n = 0;          ///< rows
  double even_mass = 0;  ///< what one key would have of them if weights were even, at most
  double evenness = 0;   ///< mean of entropy / ln(keys)
  double several = 0;    ///< rows of more than one key
  int64_t offset = 0;    ///< the commonest place of the largest weight, and
  double at_offset = 0;  ///< in how many rows, and
  double of_offset = 0;  ///< their mean largest weight

  LongRows(const Report& report, int64_t head) {
    const RowFigures* const rows = report.rows_of(head);
    const int64_t first_position = report.first_positions[static_cast<size_t>(head / report.shape.h_q)];
    std::map<int64_t, std::pair<double, double>> offsets;  // rows, and their largest weights
    double counted = 0;
    for (int64_t i = 0; i < report.shape.n_q; ++i) {
      const RowFigures& row = rows[i];
      if (row.keys == 0 || !std::isfinite(row.lse)) continue;
      ++counted;
      even_mass += 1 / static_cast<double>(row.keys);
      several += row.keys > 1;
      if (row.keys < kLeastKeys) continue;
      ++n;
      evenness += row.entropy / std::log(static_cast<double>(row.keys));
      auto& [times, weights] = offsets[row.largest_key - first_position - i];
      ++times;
      weights += row.largest_weight;
    }
    even_mass /= std::max(1.0, counted);
    evenness /= std::max(1.0, n);
    for (const auto& [place, seen] : offsets) {
      if (seen.first <= at_offset) continue;
      offset = place;
      at_offset = seen.first;
      of_offset = seen.second / seen.first;
    }
  }
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
    if (trace.rows > 0) add(Kind::not_finite, head, static_cast<double>(trace.rows) / rows_there(head));
    if (const double empty = empty_rows(head); empty > 0) add(Kind::empty, head, empty / rows_there(head));
    const auto counted = static_cast<double>(report_.counted(head));
    const LongRows rows(report_, head);
    const bool even = rows.n > 0 && rows.evenness >= kNearlyEven;
    even_.push_back(even);
    if (counted == 0) return;
    look_at_keys(head, rows);
    if (f.sink_mass >= kMuchMass) add(Kind::learned_sink, head, f.sink_mass);
    const double saturated = static_cast<double>(f.saturated) / std::max(1.0, rows.several);
    if (saturated >= kManySaturated) add(Kind::saturated, head, saturated, -1, 0, f.product_variance >= kWideScores);
    if (even) add(Kind::even, head, rows.evenness);
    const double at_offset = rows.at_offset / std::max(1.0, rows.n);
    if (rows.n > 1 && at_offset >= kMostRows && rows.of_offset >= kHalf) {
      add(Kind::offset, head, at_offset, -1, rows.offset);
    }
  }

  void look_at_keys(int64_t head, const LongRows& rows) {
    const double* const received = report_.received_of(head);
    const auto counted = static_cast<double>(report_.counted(head));
    if (rows.n < 2) return;  // of one row the largest weight says as much
    for (int64_t j = 0; j < report_.shape.n_kv; ++j) {
      const double share = received[j] / counted;
      if (share < kMuchMass || share < kAboveEven * rows.even_mass) continue;
      add(j < kFirstKeys ? Kind::sink : Kind::one_key, head, share, j);
    }
  }

  void add(Kind kind, int64_t head, double share, int64_t key = -1, int64_t offset = 0, bool wide = false) {
    found_.add({.kind = kind,
                .b = head / report_.shape.h_q,
                .heads = {head % report_.shape.h_q},
                .key = key,
                .offset = offset,
                .wide = wide,
                .least = share,
                .most = share});
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
  constexpr const char* kNames[] = {"not_finite", "empty", "sink",   "one_key", "learned_sink",
                                    "saturated",  "even",  "offset", "alike"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<Finding> findings(const Report& report) { return Finder(report).run(); }

}  // namespace foveate::insight
