// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "foveate/target.h"
#include "insight/findings.h"
#include "insight/words.h"

namespace foveate::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostReceived = 5;

Json extreme(const Extreme& e) {
  if (e.row < 0) return nullptr;
  return {{"value", e.value}, {"query", e.row}, {"key", e.key}};
}

/// The keys that receive most, of a head.
Json most_received(const insight::Report& report, int64_t head) {
  const double* const received = report.received_of(head);
  std::vector<int64_t> keys(static_cast<size_t>(report.shape.n_kv));
  std::iota(keys.begin(), keys.end(), 0);
  const auto n = std::min<int64_t>(kMostReceived, report.shape.n_kv);
  std::partial_sort(keys.begin(), keys.begin() + n, keys.end(), [&](int64_t x, int64_t y) {
    return received[x] > received[y] || (received[x] == received[y] && x < y);
  });
  Json all = Json::array();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t key = keys[static_cast<size_t>(i)];
    all.push_back({{"key", key}, {"mass", received[key]}, {"share", insight::mass_on(report, head, {key})}});
  }
  return all;
}

Json trace_of(const NotFinite& t, const insight::Report& report) {
  if (t.rows == 0) return nullptr;
  const auto or_null = [](int64_t i) { return i < 0 ? Json() : Json(i); };
  return {{"rows", t.rows},
          {"query", t.row},
          {"origin", name_of(t.origin)},
          {"overflow", t.overflow},
          {"key", or_null(t.key)},
          {"component", or_null(t.component)},
          {"outcome", name_of(t.outcome)},
          {"text", insight::words(t, report).en}};
}

Json head_of(const insight::Report& report, int64_t head, const insight::View& view) {
  const HeadFigures& f = report.heads[static_cast<size_t>(head)];
  const double scale = report.scale;
  Json json = {{"batch", head / report.shape.h_q},
               {"head", head % report.shape.h_q},
               {"rows", f.rows},
               {"empty", f.empty},
               {"not_finite", f.not_finite},
               {"saturated", f.saturated},
               {"saturated_share", static_cast<double>(f.saturated) / static_cast<double>(report.counted(head))},
               {"pairs", f.pairs},
               {"mean_before_scaling", f.product_mean / scale},
               {"variance_before_scaling", f.product_variance / scale / scale},
               {"mean_after_scaling", f.product_mean},
               {"variance_after_scaling", f.product_variance},
               {"largest_score", extreme(f.largest_score)},
               {"largest_weight", extreme(f.largest_weight)},
               {"lse_mean", f.lse_mean},
               {"entropy_mean", f.entropy_mean},
               {"effective_keys_mean", f.effective_keys_mean},
               {"jacobian_mean", f.jacobian_mean},
               {"first_key_mass", f.first_key_mass},
               {"sink_mass", view.sinks ? Json(f.sink_mass) : Json()}};
  if (!view.sink_keys.empty()) json["sink_keys_mass"] = insight::mass_on(report, head, view.sink_keys);
  json["most_received"] = most_received(report, head);
  json["trace"] = trace_of(report.traces[static_cast<size_t>(head)], report);
  return json;
}

Json row_of(const insight::Report& report, int64_t head, int64_t i) {
  const RowFigures& row = report.rows_of(head)[i];
  Json top = Json::array();
  for (int64_t t = 0; t < report.top_keys; ++t) {
    const KeyWeight& one = report.top[static_cast<size_t>((head * report.shape.n_q + i) * report.top_keys + t)];
    if (one.key >= 0) top.push_back({{"key", one.key}, {"weight", one.weight}});
  }
  return {{"batch", head / report.shape.h_q},
          {"head", head % report.shape.h_q},
          {"query", i},
          {"keys", row.keys},
          {"mean_after_scaling", row.product_mean},
          {"variance_after_scaling", row.product_variance},
          {"largest_score", row.largest_score},
          {"largest_key", row.largest_key < 0 ? Json() : Json(row.largest_key)},
          {"largest_weight", row.largest_weight},
          {"lse", row.lse},
          {"entropy", row.entropy},
          {"effective_keys", std::exp(row.entropy)},
          {"jacobian", row.jacobian},
          {"top", top}};
}

Json findings_of(const insight::Report& report) {
  Json all = Json::array();
  for (const insight::Finding& finding : insight::findings(report)) {
    Json json = {{"kind", insight::name_of(finding.kind)}, {"batch", finding.b}, {"heads", finding.heads}};
    if (finding.key >= 0) json["key"] = finding.key;
    if (finding.kind == insight::Kind::offset) json["offset"] = finding.offset;
    if (finding.kind == insight::Kind::alike) {
      json["distance"] = finding.most;
    } else {
      json["least_share"] = finding.least;
      json["most_share"] = finding.most;
    }
    json["text"] = finding.text.en;
    all.push_back(json);
  }
  return all;
}

}  // namespace

std::string json_of(const insight::Report& report, const insight::View& view) {
  const AttentionShape& s = report.shape;
  Json json = {
      {"foveate", FOVEATE_VERSION},
      {"shape", {{"b", s.b}, {"h_q", s.h_q}, {"h_kv", s.h_kv}, {"n_q", s.n_q}, {"n_kv", s.n_kv}, {"d_k", s.d_k}}},
      {"dtype", name_of(s.dtype)},
      {"target", active_target()},
      {"scale", report.scale},
      {"sink_keys", view.sink_keys},
      {"findings", findings_of(report)},
      {"heads", Json::array()}};
  for (int64_t head = 0; head < report.n_heads(); ++head) json["heads"].push_back(head_of(report, head, view));
  if (view.rows.last > view.rows.first) {
    json["rows"] = Json::array();
    for (int64_t head = 0; head < report.n_heads(); ++head) {
      for (int64_t i = view.rows.first; i < view.rows.last; ++i) json["rows"].push_back(row_of(report, head, i));
    }
  }
  if (view.keys.last > view.keys.first) {
    json["keys"] = Json::array();
    for (int64_t head = 0; head < report.n_heads(); ++head) {
      for (int64_t j = view.keys.first; j < view.keys.last; ++j) {
        json["keys"].push_back({{"batch", head / s.h_q},
                                {"head", head % s.h_q},
                                {"key", j},
                                {"mass", report.received_of(head)[j]},
                                {"share", insight::mass_on(report, head, {j})}});
      }
    }
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace foveate::cli
