// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnose.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "diagnosis/words.h"
#include "python/src/bindings.h"
#include "python/src/call.h"
#include "python/src/options.h"
#include "python/src/views.h"
#include "python/src/work.h"
#include "text/wrapped.h"

namespace foveate::python {
namespace {

using diagnosis::Diagnosis;

constexpr int kWidth = 80;  // columns

nb::list explanations_of(const Diagnosis& found, bool with_lse) {
  nb::list out;
  for (const diagnosis::Explanation& one : found.explanations) {
    nb::list mistakes;
    for (const diagnosis::Mistake* mistake : one.mistakes) {
      nb::dict entry;
      entry["id"] = mistake->id;
      entry["name"] = mistake->name.en;
      entry["name_zh"] = mistake->name.zh;
      entry["remedy"] = mistake->remedy.en;
      entry["remedy_zh"] = mistake->remedy.zh;
      mistakes.append(entry);
    }
    nb::dict explanation;
    explanation["mistakes"] = mistakes;
    explanation["residual"] = one.residual;
    explanation["lse_residual"] = with_lse ? nb::cast(one.lse_residual) : nb::none();
    explanation["rows_compared"] = one.rows_compared;
    out.append(explanation);
  }
  return out;
}

std::string text_of(const Diagnosis& found, const diagnosis::FileAxes& axes, bool with_lse, claims::Language language) {
  std::string text;
  for (const auto& [mark, words] : diagnosis::words(found, axes, with_lse, language)) {
    text += text::hanging(mark, words, static_cast<int>(mark.size()), kWidth);
  }
  if (!text.empty()) text.pop_back();
  return text;
}

nb::dict diagnose_arrays(nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle lse,
                         const nb::dict& given, size_t axes, bool bnhd, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const ConstTensor out_view = views.tensor(out), lse_view = views.tensor(lse);
  const AttentionOptions options = attention_options(given, views);
  const diagnosis::FileAxes file = {axes, bnhd ? Layout::bnhd : Layout::bhnd};
  Diagnosis found;
  call_engine(threads, kUnknownWork, [&](const Execution& execution) {
    return diagnosis::diagnose(q_view, k_view, v_view, out_view, lse_view, options, file.layout, execution, &found);
  });
  const bool differs = found.differing_rows > 0, with_lse = lse_view.present();
  nb::dict result;
  result["verdict"] = diagnosis::name_of(found.verdict);
  result["explanations"] = explanations_of(found, with_lse);
  result["scope"] = found.scope == diagnosis::Scope::wrong_rows ? "wrong_rows" : "all_rows";
  result["rows"] = found.rows;
  result["elements"] = found.elements;
  result["differing_rows"] = found.differing_rows;
  result["largest_difference"] = found.largest_difference;
  result["rms_difference"] = found.rms_difference;
  result["largest_lse_difference"] = with_lse ? nb::cast(found.largest_lse_difference) : nb::none();
  result["first_difference"] =
      differs ? nb::object(nb::make_tuple(found.first.d < 0 ? "lse" : "out",
                                          nb::tuple(nb::cast(diagnosis::index_of(found.first, file))), found.first.got,
                                          found.first.expected))
              : nb::none();
  result["wrong_heads"] = found.wrong_rows.heads;
  result["dropout"] = found.dropout;
  result["tried"] = found.tried;
  result["text"] = text_of(found, file, with_lse, claims::Language::en);
  result["text_zh"] = text_of(found, file, with_lse, claims::Language::zh);
  return result;
}

}  // namespace

void bind_diagnose(nb::module_& module) {
  using nb::arg;
  module.def("diagnose", diagnose_arrays, arg("q"), arg("k"), arg("v"), arg("out"), arg("lse").none(), arg("options"),
             arg("axes"), arg("bnhd"), arg("threads"));
}

}  // namespace foveate::python
