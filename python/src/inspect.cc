// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/inspect.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "insight/findings.h"
#include "insight/report.h"
#include "insight/tables.h"
#include "insight/view.h"
#include "insight/words.h"
#include "python/src/bindings.h"
#include "python/src/call.h"
#include "python/src/options.h"
#include "python/src/views.h"
#include "python/src/work.h"

namespace foveate::python {
namespace {

constexpr int kWidth = 80;  // columns

using insight::Report;
using ReportObject = nb::pointer_and_handle<Report>;

std::unique_ptr<Report> look(nb::handle q, nb::handle k, nb::handle v, const nb::dict& given, int64_t top_keys,
                             int64_t map_cells, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const AttentionOptions options = attention_options(given, views);
  auto report = std::make_unique<Report>();
  call_engine(threads, work_of_attention(q_view, k_view, v_view, options), [&](const Execution& execution) {
    return insight::make_report(q_view, k_view, v_view, options, {.top_keys = top_keys, .map_side = map_cells},
                                execution, report.get());
  });
  return report;
}

/// A field of records as an array of one axis, in the report's own memory. The vectors of a report have a record more
/// than the `count` that are figures.
template <class Record, class Field>
nb::object field(const ReportObject& report, const std::vector<Record>& records, size_t count,
                 const Field Record::*member) {
  static_assert(sizeof(Record) % sizeof(Field) == 0);
  const int64_t stride = sizeof(Record) / sizeof(Field);
  const Field* data = records.empty() ? nullptr : &(records.front().*member);
  return nb::cast(nb::ndarray<nb::numpy, const Field>(data, {count}, report.h, {stride}));
}

/// The same of a field of an Extreme of heads.
template <class Field>
nb::object field(const ReportObject& report, const Extreme HeadFigures::*extreme, const Field Extreme::*member) {
  const int64_t stride = sizeof(HeadFigures) / sizeof(Field);
  const Field* data = &(report.p->heads.front().*extreme.*member);
  return nb::cast(
      nb::ndarray<nb::numpy, const Field>(data, {static_cast<size_t>(report.p->n_heads())}, report.h, {stride}));
}

template <class Element>
nb::object whole(const ReportObject& report, const std::vector<Element>& elements, size_t count) {
  return nb::cast(nb::ndarray<nb::numpy, const Element>(elements.data(), {count}, report.h));
}

nb::dict heads(const ReportObject& report) {
  const auto count = static_cast<size_t>(report.p->n_heads());
  nb::dict out;
  const auto add = [&](const char* name, auto member) { out[name] = field(report, report.p->heads, count, member); };
  add("rows", &HeadFigures::rows);
  add("empty", &HeadFigures::empty);
  add("not_finite", &HeadFigures::not_finite);
  add("saturated", &HeadFigures::saturated);
  add("first_not_finite", &HeadFigures::first_not_finite);
  add("pairs", &HeadFigures::pairs);
  add("product_mean", &HeadFigures::product_mean);
  add("product_variance", &HeadFigures::product_variance);
  out["largest_score"] = field(report, &HeadFigures::largest_score, &Extreme::value);
  out["largest_score_row"] = field(report, &HeadFigures::largest_score, &Extreme::row);
  out["largest_score_key"] = field(report, &HeadFigures::largest_score, &Extreme::key);
  out["largest_weight"] = field(report, &HeadFigures::largest_weight, &Extreme::value);
  out["largest_weight_row"] = field(report, &HeadFigures::largest_weight, &Extreme::row);
  out["largest_weight_key"] = field(report, &HeadFigures::largest_weight, &Extreme::key);
  add("lse_mean", &HeadFigures::lse_mean);
  add("entropy_mean", &HeadFigures::entropy_mean);
  add("effective_keys_mean", &HeadFigures::effective_keys_mean);
  add("jacobian_mean", &HeadFigures::jacobian_mean);
  add("first_key_mass", &HeadFigures::first_key_mass);
  add("sink_mass", &HeadFigures::sink_mass);
  return out;
}

nb::dict rows(const ReportObject& report) {
  const auto count = static_cast<size_t>(report.p->n_heads() * report.p->shape.n_q);
  nb::dict out;
  const auto add = [&](const char* name, auto member) { out[name] = field(report, report.p->rows, count, member); };
  add("keys", &RowFigures::keys);
  add("product_mean", &RowFigures::product_mean);
  add("product_variance", &RowFigures::product_variance);
  add("largest_score", &RowFigures::largest_score);
  add("largest_key", &RowFigures::largest_key);
  add("largest_weight", &RowFigures::largest_weight);
  add("lse", &RowFigures::lse);
  add("entropy", &RowFigures::entropy);
  add("jacobian", &RowFigures::jacobian);
  return out;
}

nb::object received(const ReportObject& report) {
  return whole(report, report.p->received, static_cast<size_t>(report.p->n_heads() * report.p->shape.n_kv));
}

/// Keys and their weights, in rows of top_keys.
nb::tuple top(const ReportObject& report) {
  const auto count = static_cast<size_t>(report.p->n_heads() * report.p->shape.n_q * report.p->top_keys);
  return nb::make_tuple(field(report, report.p->top, count, &KeyWeight::key),
                        field(report, report.p->top, count, &KeyWeight::weight));
}

/// Cells an axis, the largest weights in them, and the mean ones.
nb::tuple maps(const ReportObject& report) {
  const auto count = static_cast<size_t>(report.p->n_heads() * report.p->map_rows * report.p->map_columns);
  return nb::make_tuple(report.p->map_rows, report.p->map_columns, whole(report, report.p->map_largest, count),
                        whole(report, report.p->map_mean, count));
}

nb::dict words_of(const claims::Text& text) {
  nb::dict out;
  out["en"] = text.en;
  out["zh"] = text.zh;
  return out;
}

nb::list findings(const Report& report) {
  nb::list out;
  for (const insight::Finding& one : insight::findings(report)) {
    nb::dict finding;
    finding["kind"] = insight::name_of(one.kind);
    finding["batch"] = one.b;
    finding["heads"] = one.heads;
    finding["key"] = one.key;
    finding["offset"] = one.offset;
    finding["least"] = one.least;
    finding["most"] = one.most;
    finding["text"] = words_of(one.text);
    out.append(finding);
  }
  return out;
}

/// Of each head with rows that are not finite.
nb::list not_finite(const Report& report) {
  nb::list out;
  for (size_t head = 0; head < report.traces.size(); ++head) {
    const NotFinite& one = report.traces[head];
    if (one.rows == 0) continue;
    nb::dict trace;
    trace["batch"] = static_cast<int64_t>(head) / report.shape.h_q;
    trace["head"] = static_cast<int64_t>(head) % report.shape.h_q;
    trace["rows"] = one.rows;
    trace["row"] = one.row;
    trace["origin"] = name_of(one.origin);
    trace["overflow"] = one.overflow;
    trace["key"] = one.key;
    trace["component"] = one.component;
    trace["value"] = one.value;
    trace["outcome"] = name_of(one.outcome);
    trace["text"] = words_of(insight::words(one, report));
    out.append(trace);
  }
  return out;
}

std::string text(const Report& report, bool sinks, bool bnhd, bool zh) {
  const Layout layout = bnhd ? Layout::bnhd : Layout::bhnd;
  const insight::View view = {.sinks = sinks, .asks_layout = insight::looks_exchanged(report.shape, layout)};
  return insight::tables(report, view, kWidth, zh ? claims::Language::zh : claims::Language::en);
}

nb::list similar(const Report& report) {
  nb::list out;
  for (const insight::SimilarHeads& one : report.similar) {
    out.append(nb::make_tuple(one.b, one.first, one.second, one.distance));
  }
  return out;
}

}  // namespace

void bind_inspect(nb::module_& module) {
  nb::class_<Report>(module, "Report")
      .def_ro("scale", &Report::scale)
      .def("batch", [](const Report& report) { return report.shape.b; })
      .def("heads", heads)
      .def("rows", rows)
      .def("received", received)
      .def("top", top)
      .def("maps", maps)
      .def("findings", findings)
      .def("not_finite", not_finite)
      .def("similar", similar)
      .def("text", text, nb::arg("sinks"), nb::arg("bnhd"), nb::arg("zh"));
  module.def("inspect", look, nb::arg("q"), nb::arg("k"), nb::arg("v").none(), nb::arg("options"), nb::arg("top_keys"),
             nb::arg("map_cells"), nb::arg("threads"));
}

}  // namespace foveate::python
