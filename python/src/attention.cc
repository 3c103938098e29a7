// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/attention.h"

#include "foveate/attention_backward.h"
#include "python/src/bindings.h"
#include "python/src/call.h"
#include "python/src/options.h"
#include "python/src/views.h"
#include "python/src/work.h"

namespace foveate::python {
namespace {

void forward(nb::handle q, nb::handle k, nb::handle v, nb::handle o, nb::handle lse, nb::handle weights,
             const nb::dict& given, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const AttentionOutputs outputs = {.o = views.output(o), .lse = views.output(lse), .weights = views.output(weights)};
  const AttentionOptions options = attention_options(given, views);
  call_engine(
      threads, work_of_attention(q_view, k_view, v_view, options),
      [&](const Execution& execution) { return attention(q_view, k_view, v_view, outputs, options, execution); },
      "out");
}

void backward(nb::handle q, nb::handle k, nb::handle v, nb::handle o, nb::handle lse, nb::handle d_o, nb::handle dq,
              nb::handle dk, nb::handle dv, nb::handle dbias, nb::handle dsinks, const nb::dict& given, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const ConstTensor o_view = views.tensor(o), lse_view = views.tensor(lse), d_o_view = views.tensor(d_o);
  const AttentionGradients gradients = {.dq = views.output(dq),
                                        .dk = views.output(dk),
                                        .dv = views.output(dv),
                                        .dbias = views.output(dbias),
                                        .dsinks = views.output_vector(dsinks)};
  const AttentionOptions options = attention_options(given, views);
  call_engine(threads, work_of_attention(q_view, k_view, v_view, options), [&](const Execution& execution) {
    return attention_backward(q_view, k_view, v_view, o_view, lse_view, d_o_view, gradients, options, execution);
  });
}

}  // namespace

void bind_attention(nb::module_& module) {
  module.def("attention", forward, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("o").none(), nb::arg("lse").none(),
             nb::arg("weights").none(), nb::arg("options"), nb::arg("threads"));
  module.def("attention_backward", backward, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("o"), nb::arg("lse"),
             nb::arg("d_o"), nb::arg("dq").none(), nb::arg("dk").none(), nb::arg("dv").none(), nb::arg("dbias").none(),
             nb::arg("dsinks").none(), nb::arg("options"), nb::arg("threads"));
}

}  // namespace foveate::python
