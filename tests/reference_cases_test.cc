// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle over every folder of tests/cases: two programs written apart have to agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "reference/arrays.h"
#include "reference/attention.h"
#include "reference/attention_backward.h"
#include "tests/case.h"

namespace foveate::cases {
namespace {

std::array<int64_t, 4> four(const std::vector<int64_t>& shape) {
  std::array<int64_t, 4> padded = {1, 1, 1, 1};
  std::copy_backward(shape.begin(), shape.end(), padded.end());
  return padded;
}

/// Ones in front, up to `axes` axes.
Values with_axes(Values a, size_t axes) {
  while (a.shape.size() < axes) a.shape.insert(a.shape.begin(), 1);
  return a;
}

/// Four axes, in the order [b, h, n, d].
Values to_bhnd(const Values& a, const std::string& layout) {
  Values to = with_axes(a, 4);
  if (layout != "bnhd" || a.shape.size() < 3) return to;
  std::swap(to.shape[1], to.shape[2]);
  const auto [b, h, n, d] = four(to.shape);
  for (int64_t x = 0; x < b; ++x)
    for (int64_t y = 0; y < h; ++y)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t e = 0; e < d; ++e) {
          to.data[((x * h + y) * n + i) * d + e] = a.data[((x * n + i) * h + y) * d + e];
        }
  return to;
}

template <class Real>
void set_input(const std::string& name, const Values& a, reference::Problem<Real>* p) {
  const std::array<int64_t, 4> pairs = {p->b, p->h_q, p->n_q, p->n_kv};
  if (name == "mask") {
    p->mask = reference::broadcast(reference::widened<char>(a.data), four(a.shape), pairs);
  } else if (name == "bias") {
    p->bias = reference::broadcast(reference::widened<Real>(a.data), four(a.shape), pairs);
  } else if (name == "alibi") {
    p->alibi_slopes = reference::widened<Real>(a.data);
  } else if (name == "sinks") {
    p->sinks = reference::widened<Real>(a.data);
  } else if (name == "q-lengths") {
    p->q_lengths = reference::widened<int64_t>(a.data);
  } else if (name == "kv-lengths") {
    p->kv_lengths = reference::widened<int64_t>(a.data);
  } else if (name != "q" && name != "k" && name != "v" && name != "grad") {
    throw std::invalid_argument("the oracle has no input " + name);
  }
}

template <class Real>
void set_option(const std::string& name, const json& value, reference::Problem<Real>* p) {
  if (name == "causal") {
    p->causal = value;
  } else if (name == "align") {
    p->align = value == "top-left" ? reference::Align::top_left : reference::Align::bottom_right;
  } else if (name == "window") {
    p->window_left = value.at(0);
    p->window_right = value.at(1);
  } else if (name == "scale") {
    p->scale = value.get<double>();
  } else if (name == "softcap") {
    p->softcap = value.get<double>();
  } else if (name != "layout" && name != "threads") {
    throw std::invalid_argument("the oracle has no option " + name);
  }
}

std::string layout_of(const json& call) { return options_of(call).value("layout", "bhnd"); }

template <class Real>
reference::Problem<Real> problem(const Case& c, const json& call) {
  const json& inputs = call.at("inputs");
  const json options = options_of(call);
  const Values q = to_bhnd(c.read(inputs.at("q")), layout_of(call));
  const Values k = to_bhnd(c.read(inputs.at("k")), layout_of(call));
  const Values v = to_bhnd(c.read(inputs.at("v")), layout_of(call));

  reference::Problem<Real> p;
  p.b = q.shape[0], p.h_q = q.shape[1], p.n_q = q.shape[2], p.d_k = q.shape[3];
  p.h_kv = k.shape[1], p.n_kv = k.shape[2], p.d_v = v.shape[3];
  p.q = reference::widened<Real>(q.data);
  p.k = reference::widened<Real>(k.data);
  p.v = reference::widened<Real>(v.data);
  for (const auto& [name, file] : inputs.items()) set_input(name, c.read(file), &p);
  for (const auto& [name, value] : options.items()) set_option(name, value, &p);
  return p;
}

template <class Real>
std::map<std::string, Values> attend(const Case& c, const json& call) {
  const reference::Problem<Real> p = problem<Real>(c, call);
  const reference::Result<Real> r = reference::attention(p);
  return {{"out", {DType::f64, {p.b, p.h_q, p.n_q, p.d_v}, reference::widened<double>(r.o)}},
          {"lse", {DType::f64, {p.b, p.h_q, p.n_q}, reference::widened<double>(r.lse)}}};
}

/// The gradients, if the call has one of o.
template <class Real>
std::map<std::string, Values> gradients(const Case& c, const json& call) {
  const json& inputs = call.at("inputs");
  if (!inputs.contains("grad")) return {};
  const reference::Problem<Real> p = problem<Real>(c, call);
  const Values d_o = to_bhnd(c.read(inputs.at("grad")), layout_of(call));
  const reference::Gradients<Real> g = reference::attention_backward(p, reference::widened<Real>(d_o.data));
  std::map<std::string, Values> all = {
      {"dq", {DType::f64, {p.b, p.h_q, p.n_q, p.d_k}, reference::widened<double>(g.dq)}},
      {"dk", {DType::f64, {p.b, p.h_kv, p.n_kv, p.d_k}, reference::widened<double>(g.dk)}},
      {"dv", {DType::f64, {p.b, p.h_kv, p.n_kv, p.d_v}, reference::widened<double>(g.dv)}},
      {"dsinks", {DType::f64, {p.h_q}, reference::widened<double>(g.dsinks)}}};
  if (inputs.contains("bias")) {
    const std::vector<int64_t> shape = with_axes(c.read(inputs.at("bias")), 4).shape;
    const std::vector<Real> dbias = reference::reduced(g.dbias, {p.b, p.h_q, p.n_q, p.n_kv}, four(shape));
    all["dbias"] = {DType::f64, shape, reference::widened<double>(dbias)};
  }
  return all;
}

class Oracle : public testing::TestWithParam<Case> {};

TEST_P(Oracle, Forward) {
  const Case& c = GetParam();
  if (c.needs("f16") || c.needs("bf16")) GTEST_SKIP() << c.name << ": inputs narrower than float32";

  std::vector<std::map<std::string, Values>> outputs;
  for (const json& call : c.about.at("calls")) {
    const bool f64 = c.read(call.at("inputs").at("q")).dtype == DType::f64;
    outputs.push_back(f64 ? attend<long double>(c, call) : attend<double>(c, call));
  }
  expect_same_bits(c, [&](size_t call, const std::string& array) { return outputs[call].at(array); });

  if (!c.about.contains("close")) return;
  const json& close_to = c.about.at("close");
  const json& arrays = close_to.at("arrays");
  const Values out = to_bhnd(c.read(arrays.at("out")), layout_of(c.about.at("calls").at(0)));
  const Values lse = with_axes(c.read(arrays.at("lse")), 3);
  EXPECT_TRUE(close(outputs[0].at("out"), out, close_to.at("rtol"), close_to.at("atol"))) << "out";
  EXPECT_TRUE(close(outputs[0].at("lse"), lse, close_to.at("rtol"), close_to.at("atol"))) << "lse";
}

TEST_P(Oracle, Backward) {
  const Case& c = GetParam();
  if (c.needs("f16") || c.needs("bf16")) GTEST_SKIP() << c.name << ": inputs narrower than float32";
  if (!c.about.contains("close")) return;
  const json& close_to = c.about.at("close");
  const json& call = c.about.at("calls").at(0);
  const bool f64 = c.read(call.at("inputs").at("q")).dtype == DType::f64;
  for (const auto& [name, got] : f64 ? gradients<long double>(c, call) : gradients<double>(c, call)) {
    if (!close_to.at("arrays").contains(name)) continue;
    const Values want = c.read(close_to.at("arrays").at(name));
    EXPECT_TRUE(close(got, name == "dsinks" ? want : to_bhnd(want, name == "dbias" ? "bhnd" : layout_of(call)),
                      close_to.at("rtol"), close_to.at("atol")))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Oracle,
                         testing::ValuesIn(cases_where([](const Case& c) { return !c.about.contains("refused"); })),
                         test_name);

}  // namespace
}  // namespace foveate::cases
