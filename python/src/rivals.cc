// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Additive and linear attention, and their gradients.
#include "foveate/additive.h"
#include "foveate/linear.h"
#include "python/src/bindings.h"
#include "python/src/call.h"
#include "python/src/options.h"
#include "python/src/views.h"
#include "python/src/work.h"

namespace foveate::python {
namespace {

AdditiveParameters parameters_of(Views& views, nb::handle w_q, nb::handle w_k, nb::handle w, nb::handle b) {
  return {.w_q = views.matrix(w_q), .w_k = views.matrix(w_k), .w = views.vector(w), .b = views.vector(b)};
}

/// Rows are projected, and a pair takes a tanh, worth some 8 multiply-adds, for each of d_a.
double work_of_additive(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, int64_t d_a) {
  return 8 * work_of_pairs(q, k.shape[2], d_a, v.shape[3]) + work_of_rows(q, q.shape[3], d_a) +
         work_of_rows(k, k.shape[3], d_a);
}

double work_of_linear(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v) {
  return work_of_rows(q, k.shape[3], v.shape[3]) + work_of_rows(k, k.shape[3], v.shape[3]);
}

void additive(nb::handle q, nb::handle k, nb::handle v, nb::handle w_q, nb::handle w_k, nb::handle w, nb::handle b,
              nb::handle o, nb::handle lse, nb::handle weights, const nb::dict& given, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const AdditiveParameters parameters = parameters_of(views, w_q, w_k, w, b);
  const AttentionOutputs outputs = {.o = views.output(o), .lse = views.output(lse), .weights = views.output(weights)};
  const AttentionOptions options = attention_options(given, views);
  const double work = work_of_additive(q_view, k_view, v_view, parameters.w.size);
  call_engine(
      threads, work,
      [&](const Execution& execution) {
        return additive_attention(q_view, k_view, v_view, parameters, outputs, options, execution);
      },
      "out");
}

void additive_backward(nb::handle q, nb::handle k, nb::handle v, nb::handle w_q, nb::handle w_k, nb::handle w,
                       nb::handle b, nb::handle o, nb::handle lse, nb::handle d_o, nb::handle dq, nb::handle dk,
                       nb::handle dv, nb::handle dbias, nb::handle dsinks, nb::handle dw_q, nb::handle dw_k,
                       nb::handle dw, nb::handle db, const nb::dict& given, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const AdditiveParameters parameters = parameters_of(views, w_q, w_k, w, b);
  const ConstTensor o_view = views.tensor(o), lse_view = views.tensor(lse), d_o_view = views.tensor(d_o);
  AdditiveGradients gradients;
  gradients.dq = views.output(dq);
  gradients.dk = views.output(dk);
  gradients.dv = views.output(dv);
  gradients.dbias = views.output(dbias);
  gradients.dsinks = views.output_vector(dsinks);
  gradients.dw_q = views.output_matrix(dw_q);
  gradients.dw_k = views.output_matrix(dw_k);
  gradients.dw = views.output_vector(dw);
  gradients.db = views.output_vector(db);
  const AttentionOptions options = attention_options(given, views);
  const double work = work_of_additive(q_view, k_view, v_view, parameters.w.size);
  call_engine(threads, work, [&](const Execution& execution) {
    return additive_attention_backward(q_view, k_view, v_view, parameters, o_view, lse_view, d_o_view, gradients,
                                       options, execution);
  });
}

void linear(nb::handle q, nb::handle k, nb::handle v, nb::handle o, const nb::dict& given, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const Tensor o_view = views.output(o);
  const LinearOptions options = linear_options(given, views);
  call_engine(
      threads, work_of_linear(q_view, k_view, v_view),
      [&](const Execution& execution) { return linear_attention(q_view, k_view, v_view, o_view, options, execution); },
      "out");
}

void linear_backward(nb::handle q, nb::handle k, nb::handle v, nb::handle d_o, nb::handle dq, nb::handle dk,
                     nb::handle dv, const nb::dict& given, int threads) {
  Views views;
  const ConstTensor q_view = views.tensor(q), k_view = views.tensor(k), v_view = views.tensor(v);
  const ConstTensor d_o_view = views.tensor(d_o);
  const LinearGradients gradients = {.dq = views.output(dq), .dk = views.output(dk), .dv = views.output(dv)};
  const LinearOptions options = linear_options(given, views);
  call_engine(threads, work_of_linear(q_view, k_view, v_view), [&](const Execution& execution) {
    return linear_attention_backward(q_view, k_view, v_view, d_o_view, gradients, options, execution);
  });
}

}  // namespace

void bind_rivals(nb::module_& module) {
  using nb::arg;
  module.def("additive_attention", additive, arg("q"), arg("k"), arg("v"), arg("w_q"), arg("w_k"), arg("w"),
             arg("b").none(), arg("o").none(), arg("lse").none(), arg("weights").none(), arg("options"),
             arg("threads"));
  module.def("additive_attention_backward", additive_backward, arg("q"), arg("k"), arg("v"), arg("w_q"), arg("w_k"),
             arg("w"), arg("b").none(), arg("o"), arg("lse"), arg("d_o"), arg("dq").none(), arg("dk").none(),
             arg("dv").none(), arg("dbias").none(), arg("dsinks").none(), arg("dw_q").none(), arg("dw_k").none(),
             arg("dw").none(), arg("db").none(), arg("options"), arg("threads"));
  module.def("linear_attention", linear, arg("q"), arg("k"), arg("v"), arg("o"), arg("options"), arg("threads"));
  module.def("linear_attention_backward", linear_backward, arg("q"), arg("k"), arg("v"), arg("d_o"), arg("dq").none(),
             arg("dk").none(), arg("dv").none(), arg("options"), arg("threads"));
}

}  // namespace foveate::python
